"""Which links lead out of the workspace, and what an environment's templates become."""

from __future__ import annotations

from pathlib import PurePosixPath

import pytest

from adjudge.errors import UsageError
from adjudge.evidence.verifier.environment import resolve_environment
from adjudge.evidence.verifier.links import leads_out

pytestmark = pytest.mark.anyone

TOPS = (PurePosixPath("/workspace"), PurePosixPath("/app"))


@pytest.mark.parametrize(
    ("path", "target", "out"),
    [
        ("a", "b", False),
        ("a", "b/c", False),
        ("d/a", "../b", False),
        ("d/e/a", "../../b", False),
        ("a", "./b", False),
        ("a", "/workspace/b", False),
        ("a", "/app/b", False),
        ("a", "", True),
        ("a", "..", True),
        ("a", "../tests/expected.json", True),
        ("d/a", "../../tests", True),
        ("a", "/tests/expected.json", True),
        ("a", "/workspace2/b", True),
        ("a", "/workspace/../tests", True),
        ("a", "/", True),
        ("a", "/proc/self/root/tests", True),
        # `b` may be a link to `.`, and then `b/..` is the root.
        ("a", "b/../tests", True),
    ],
)
def test_links(path: str, target: str, out: bool) -> None:
    assert leads_out(path, target, TOPS) is out


def test_templates() -> None:
    env = {"A": "x${ONE}y", "B": "${TWO:-two}", "C": "$ONE ${}", "D": "${LONG}"}
    resolved, secrets = resolve_environment(env, {"ONE": "1", "LONG": "long-enough"})
    assert resolved == {"A": "x1y", "B": "two", "C": "$ONE ${}", "D": "long-enough"}
    assert secrets == ("long-enough",)
    with pytest.raises(UsageError, match="THREE"):
        resolve_environment({"A": "${THREE}"}, {})
