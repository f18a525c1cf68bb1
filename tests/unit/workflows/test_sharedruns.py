"""Runs are shared between attempts whose clean trees are equal, and between no others."""

from __future__ import annotations

import pytest

from adjudge.records.evidence import CommandOutcome, CommandRun, GradedTree, Isolation
from adjudge.testing.attempts import Attempt, Executable, exec_result
from adjudge.workflows.sharedruns import SharedRuns

pytestmark = pytest.mark.anyone

BEFORE = {"a.py": "x = 1\n", "tests/test_a.py": "assert x\n", "run.sh": "true\n"}
CLEAN = CommandRun(command="pytest", timeout_s=60.0, tree=GradedTree(isolation=Isolation.CLEAN))
OPEN = CommandRun(
    command="pytest", timeout_s=60.0, tree=GradedTree(isolation=Isolation.CLEAN, allow=("tests/*",))
)
SNAPSHOT = CommandRun(command="pytest", timeout_s=60.0)
ANSWER = CommandOutcome(result=exec_result())


def shared(*requests: CommandRun) -> SharedRuns:
    """What is known after nothing was done."""
    runs = SharedRuns()
    runs.keep(Attempt(BEFORE, BEFORE).subject(), tuple((request, ANSWER) for request in requests))
    return runs


def known(runs: SharedRuns, after: dict[str, object]) -> list[CommandRun]:
    subject = Attempt(BEFORE, {**BEFORE, **after}).subject()  # type: ignore[dict-item]
    return [request for request, _ in runs.of(subject) if isinstance(request, CommandRun)]


def test_what_a_clean_tree_leaves_out_makes_no_difference() -> None:
    assert known(shared(CLEAN), {"tests/test_a.py": "", "conftest.py": "", "sitecustomize.py": ""}) == [CLEAN]


@pytest.mark.parametrize(
    "after",
    [{"a.py": "x = 2\n"}, {"b.py": ""}, {"run.sh": Executable("true\n")}, {"reward.json": "1"}],
)
def test_any_other_change_does(after: dict[str, object]) -> None:
    assert known(shared(CLEAN), after) == []


def test_what_a_line_allows_makes_a_difference_to_it_alone() -> None:
    assert known(shared(CLEAN, OPEN), {"tests/test_a.py": ""}) == [CLEAN]


def test_a_snapshot_is_never_shared() -> None:
    assert known(shared(SNAPSHOT), {}) == []


def test_equal_work_is_run_once() -> None:
    runs = shared(CLEAN)
    done = Attempt(BEFORE, {**BEFORE, "a.py": "x = 3\n"}).subject()
    runs.keep(done, ((CLEAN, ANSWER),))
    assert known(runs, {"a.py": "x = 3\n", "tests/test_a.py": ""}) == [CLEAN]
    assert known(runs, {"a.py": "x = 4\n"}) == []
