"""Which links may lead to a verifier's own files, and what an environment's templates become."""

from __future__ import annotations

from pathlib import PurePosixPath

import pytest

from adjudge.errors import UsageError
from adjudge.evidence.verifier.environment import resolve_environment
from adjudge.evidence.verifier.links import reaches_verifier

pytestmark = pytest.mark.anyone

TOPS = (PurePosixPath("/workspace"), PurePosixPath("/srv/task"))


@pytest.mark.parametrize(
    ("path", "target", "risky"),
    [
        ("a", "b", False),
        ("a", "b/c", False),
        ("d/a", "../b", False),
        ("d/e/a", "../../b", False),
        ("a", "./b", False),
        ("a", "/workspace/b", False),
        ("a", "/srv/task/tests", False),
        (".venv/bin/python", "/usr/bin/python3", False),
        (".venv/lib64", "lib", False),
        ("a", "../usr/bin/env", False),
        ("a", "/var/lib/x", False),
        ("a", "", True),
        ("a", "/", True),
        ("a", "..", True),
        ("a", "../tests/expected.json", True),
        ("a", "../../../../tests", True),
        ("d/a", "../../tests", True),
        ("a", "/tests/expected.json", True),
        ("a", "//tests/./x", True),
        ("a", "/../tests", True),
        ("a", "/logs/verifier/reward.json", True),
        ("a", "/solution", True),
        ("a", "/opt/adjudge/bin/socket", True),
        ("a", "/workspace/../tests", True),
        ("a", "/usr/../tests", True),
        ("a", "/proc/self/root/tests", True),
        ("a", "/dev/fd/3", True),
        # What lies in there is not part of the change set, so it may be a link that leads anywhere.
        ("a", ".git/x", True),
        ("a", "sub/.git", True),
        ("a", ".github/x", False),
        # `b` may be a link to `.`, and then `b/..` is the root.
        ("a", "b/../tests", True),
        # From where the workspace is shown deeper, one step up is not the root, but two are.
        ("a", "../../logs", True),
    ],
)
def test_links(path: str, target: str, risky: bool) -> None:
    assert reaches_verifier(path, target, TOPS) is risky


def test_templates() -> None:
    env = {"A": "x${ONE}y", "B": "${TWO:-two}", "C": "$ONE ${}", "D": "${LONG}"}
    resolved, secrets = resolve_environment(env, {"ONE": "1", "LONG": "long-enough"})
    assert resolved == {"A": "x1y", "B": "two", "C": "$ONE ${}", "D": "long-enough"}
    assert secrets == ("long-enough",)
    with pytest.raises(UsageError, match="THREE"):
        resolve_environment({"A": "${THREE}"}, {})
