"""Which lines are tried on what got through, and which of those that worked are named."""

from __future__ import annotations

import pytest

from adjudge.formats.tasks.scenario import parse_scenario
from adjudge.records.attack import AttackResult, AttackStatus, AttackTarget
from adjudge.records.task import SourceKind, Task
from adjudge.workflows.advising import apply_line, candidate_lines, choose_lines, with_lines

pytestmark = pytest.mark.anyone


class _Folder:
    def __call__(self, path: str) -> None: ...

    def source(self, path: str, kind: SourceKind) -> None: ...

    def text(self, path: str) -> str:
        return ""


def task(recipe: str) -> Task:
    scenario = parse_scenario(recipe.encode(), file="x", default_name="x", folder=_Folder()).or_raise()
    return Task(name="x", digest="sha256:" + "0" * 64, scenario=scenario)


TARGET = AttackTarget(language="python", runner="pytest", tests=("tests/test_a.py",), product=("a.py",))
BARE = "scorers:\n  - {type: command, name: suite, command: pytest -q}\n"


def test_a_bare_command_can_be_run_by_a_run_that_is_not_believed() -> None:
    lines = [one.line for one in candidate_lines(task(BARE), TARGET, ())]
    assert lines[:2] == [
        '{type: tests, command: "pytest -q", gate: true}',
        "{preset: integrity, required: true}",
    ]
    assert '{type: tests_unmodified, paths: ["tests/test_a.py"], gate: true}' in lines
    assert '{type: allowed_paths, patterns: ["a.py"], gate: true}' in lines
    assert lines[-1] == "isolation: clean  # on 'suite'"


def test_what_is_there_already_is_not_proposed() -> None:
    recipe = (
        "integrity: strict\nscorers:\n  - {type: tests, command: pytest}\n"
        "  - {type: allowed_paths, patterns: [a]}\n"
        "  - {type: tests_unmodified, paths: [tests]}\n"
    )
    lines = [one.line for one in candidate_lines(task(recipe), TARGET, ())]
    assert not [line for line in lines if "preset" in line or "allowed" in line or "unmodified" in line]


def test_the_solution_says_which_paths_work_needs() -> None:
    lines = [one.line for one in candidate_lines(task(BARE), TARGET, ("b.py", "c.py"))]
    assert '{type: allowed_paths, patterns: ["b.py", "c.py"], gate: true}' in lines


def test_every_candidate_is_a_recipe_of_its_own_and_gives_no_credit() -> None:
    bare = task(BARE)
    candidates = candidate_lines(bare, TARGET, ())
    names = [spec.name for spec in with_lines(bare, candidates).scenario.recipe.scorers]
    assert len(names) == len(set(names))
    for candidate in candidates:
        specs = apply_line(bare, candidate).scenario.recipe.scorers
        assert all(not spec.counted or spec.weight == 0 for spec in specs if spec.name != "suite")
        if candidate.replaces is not None:
            assert [(spec.name, spec.config["isolation"]) for spec in specs] == [("suite", "clean")]


def result(name: str, *lines: str) -> AttackResult:
    return AttackResult(name=name, family="f", technique="t", status=AttackStatus.PASSED, lines=lines)


def test_few_lines_that_stop_everything_are_chosen() -> None:
    results = [result("a", "x", "y"), result("b", "y", "z"), result("c", "z"), result("d")]
    chosen = choose_lines(results, ["x", "y", "z"])
    assert [(line.line, line.stops) for line in chosen] == [("y", ("a", "b")), ("z", ("b", "c"))]
    assert choose_lines([result("d")], ["x"]) == ()
