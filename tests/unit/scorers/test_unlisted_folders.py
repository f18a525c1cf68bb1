"""A folder that an attempt locked may hold anything, so nothing is certified that depends on its content."""

from __future__ import annotations

import pytest

from adjudge.records.score import Verdict
from adjudge.scorers.change.forbid_paths import ForbidPaths
from adjudge.scorers.change.max_files_changed import MaxFilesChanged
from adjudge.testing.attempts import Attempt, Folder

pytestmark = pytest.mark.anyone

LOCKED = Attempt({}, {"src/locked": Folder(listed=False)})
OPEN = Attempt({}, {"src/open": Folder()})


@pytest.mark.parametrize("pattern", ["*.pem", "src/*", "src/locked/keys/**", "src/l*/x"])
def test_forbidden_paths_may_be_in_it(pattern: str) -> None:
    outcome = LOCKED.score(ForbidPaths, {"patterns": [pattern]})
    assert outcome.verdict is Verdict.FAIL
    assert [finding.path for finding in outcome.findings] == ["src/locked"]


def test_a_pattern_for_another_place_does_not_care() -> None:
    assert LOCKED.score(ForbidPaths, {"patterns": [".github/**"]}).verdict is Verdict.PASS


def test_its_files_cannot_be_counted() -> None:
    assert LOCKED.score(MaxFilesChanged, {"limit": 1000}).verdict is Verdict.FAIL


def test_one_that_can_be_listed_is_none_of_it() -> None:
    assert OPEN.score(ForbidPaths, {"patterns": ["*.pem"]}).verdict is Verdict.PASS
    assert OPEN.score(MaxFilesChanged, {"limit": 0}).verdict is Verdict.PASS
