"""How trees are compared: which runs are asked for, and which changes are found to make the difference."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from adjudge.evidence.differential import BASELINE, DifferentialCollector, clean_tree
from adjudge.formats.patterns import PathPatterns
from adjudge.records.differential import Comparison, TreeComparison
from adjudge.records.evidence import (
    AnyRequest,
    CleanTree,
    CleanTreeChanges,
    CommandOutcome,
    CommandRun,
    Differential,
    GradedTree,
    Isolation,
    LeftOutChange,
    ReportedTests,
    ReportRun,
    TestProof,
    TestRun,
)
from adjudge.records.sandbox import SandboxSpec, WorkspaceTree
from adjudge.records.testreport import Proof, TestOutcome, TrustedTest, TrustedTestRun
from adjudge.testing.attempts import Attempt, exec_result

pytestmark = pytest.mark.anyone

Green = Callable[[set[str], Mapping[str, bytes]], bool]
"""Whether the command is green with these protected changes in, and these files laid over."""


class Commands:
    """Stands in for sandboxes."""

    def __init__(self, world: World) -> None:
        self.reports: list[Any] = []
        self._world = world

    async def run(self, request: CommandRun, subject: Any, over: Mapping[str, bytes]) -> CommandOutcome:
        green = self._world.is_green(request.tree, over)
        said = b"".join(over.values()).decode() if self._world.talks else ""
        return CommandOutcome(result=exec_result(0 if green else 1, stdout="" if green else said))


class World:
    """A baseline on disk, changes to protected files, and what the command makes of them."""

    def __init__(
        self,
        root: Path,
        changed: Mapping[str, str],
        green: Green,
        *,
        command: str | None = "python3 -m pytest",
        red: Mapping[str, tuple[TestOutcome, TestOutcome]] | None = None,
        as_left: bool = True,
        talks: bool = True,
        twins: bool = False,
        product: bool = True,
        litter: bool = False,
    ) -> None:
        self.changed = dict(changed)
        self.asked: list[AnyRequest] = []
        self._green = green
        self._red = red or {}
        self._as_left = as_left
        self.talks = talks
        self._command = command
        before = {
            "tests/test_a.py": "def test_a():\n    assert 1\n",
            "tests/test_b.py": "def test_b(): ...\n",
        }
        for path, text in before.items():
            (root / path).parent.mkdir(parents=True, exist_ok=True)
            (root / path).write_text(text)
        after = {**before, **dict.fromkeys(changed, "changed\n")}
        if product:
            after["product.py"] = "1\n"
        if litter:
            after["__pycache__/product.pyc"] = "2\n"
        attempt = Attempt(before, after, litter=("__pycache__/*",))
        tree = WorkspaceTree(layers=(root,))
        self._subject = attempt.subject(root)._replace(baseline=tree, ask=self.ask)
        if twins:
            self._subject = self._subject._replace(
                expects=lambda request: isinstance(request, TestRun) and request.proof is TestProof.TWIN
            )

    def is_green(self, tree: GradedTree, over: Mapping[str, bytes] | None = None) -> bool:
        if tree.isolation is Isolation.SNAPSHOT:
            return self._as_left
        back = {path for path in self.changed if path in PathPatterns(tree.allow)}
        return "*" not in tree.protect and self._green(back, over or {})

    async def ask(self, request: AnyRequest) -> Any:
        self.asked.append(request)
        if isinstance(request, CleanTree):
            left_out = [LeftOutChange(path=p, group=g, message="") for p, g in self.changed.items()]
            return CleanTreeChanges(left_out=tuple(left_out))
        if isinstance(request, CommandRun):
            return CommandOutcome(result=exec_result(0 if self.is_green(request.tree) else 1))
        if isinstance(request, ReportRun):
            return ReportedTests(result=exec_result(1))
        assert isinstance(request, TestRun)
        at = 1 if "*" in request.tree.protect else 0
        tests = tuple(
            TrustedTest(
                id=id_,
                outcome=ends[at],
                written=ends[at],
                proof=Proof.VALUE if ends[at] is TestOutcome.PASSED else None,
            )
            for id_, ends in self._red.items()
        )
        return TrustedTestRun(tests=tests, sessions=(), seed="s")

    def compare(self, **fields: Any) -> TreeComparison:
        collector = DifferentialCollector(_no_sandbox, SandboxSpec())
        request = Differential(command=self._command, **fields)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("adjudge.evidence.differential.CommandCollector", lambda *_: Commands(self))
            return asyncio.run(collector.collect(request, self._subject))


def _no_sandbox() -> Any:
    """Nothing is started."""


FAILED, PASSED = TestOutcome.FAILED, TestOutcome.PASSED
RED = {"tests/test_b.py::test_b": (FAILED, FAILED), "tests/test_a.py::test_a": (PASSED, PASSED)}
INI = {"pytest.ini": "test configuration"}


def test_nothing_runs_without_protected_changes(tmp_path: Path) -> None:
    world = World(tmp_path, {}, lambda back, over: False)
    assert world.compare().outcome is Comparison.NOT_RUN
    assert not [request for request in world.asked if isinstance(request, CommandRun)]


def test_no_command(tmp_path: Path) -> None:
    (tmp_path / "tests").mkdir()
    world = World(tmp_path, INI, lambda back, over: False, command=None)
    for test in (tmp_path / "tests").iterdir():
        test.unlink()
    told = world.compare()
    assert told.outcome is Comparison.NOT_RUN
    assert "says how tests are run" in told.why


def test_the_command_is_found_in_the_baseline(tmp_path: Path) -> None:
    told = World(tmp_path, INI, lambda back, over: True, command=None).compare()
    assert (told.command, told.source) == ("python -m pytest -q", "tests/test_a.py")
    assert told.outcome is Comparison.GREEN_CLEAN


def test_red_as_left_runs_once(tmp_path: Path) -> None:
    told = World(tmp_path, INI, lambda back, over: True, as_left=False).compare()
    assert (told.outcome, told.runs) == (Comparison.RED_AS_LEFT, 1)


@pytest.mark.parametrize("twins", [True, False])
def test_requests_are_those_of_the_recipe(tmp_path: Path, twins: bool) -> None:
    world = World(tmp_path, INI, lambda back, over: bool(back), red=RED, twins=twins)
    told = world.compare()
    assert told.runs == 3
    command = "python3 -m pytest"
    clean = GradedTree(isolation=Isolation.CLEAN)
    assert CommandRun(command=command, timeout_s=900.0) in world.asked
    assert CommandRun(command=command, timeout_s=900.0, tree=clean) in world.asked
    runs = [request for request in world.asked if isinstance(request, TestRun)]
    proof = TestProof.TWIN if twins else TestProof.SINGLE
    assert {(run.tree.protect, run.proof) for run in runs} >= {((), proof)}
    assert len({run.digest for run in runs}) == 2


def test_tests_that_pass_anyway_save_a_run_of_the_command(tmp_path: Path) -> None:
    green = {"tests/test_b.py::test_b": (PASSED, FAILED)}
    told = World(tmp_path, INI, lambda back, over: False, red=green, twins=True).compare()
    assert (told.outcome, told.runs) == (Comparison.GREEN_CLEAN, 1)


def test_a_clean_tree_that_is_the_baseline_is_run_once(tmp_path: Path) -> None:
    world = World(tmp_path, INI, lambda back, over: bool(back), red=RED, product=False)
    told = world.compare()
    assert told.baseline == told.clean
    assert not [request for request in world.asked if getattr(request, "tree", None) == BASELINE]


def test_flaky(tmp_path: Path) -> None:
    world = World(tmp_path, INI, lambda back, over: False)
    first = [False]

    def green(back: set[str], over: Mapping[str, bytes]) -> bool:
        first.append(True)
        return first[-2]

    world._green = green
    assert world.compare().outcome is Comparison.FLAKY


def test_a_difference_that_no_change_explains(tmp_path: Path) -> None:
    told = World(tmp_path, INI, lambda back, over: False, litter=True).compare()
    assert told.outcome is Comparison.UNRESOLVED


def test_the_change_that_suffices_is_found_among_others(tmp_path: Path) -> None:
    changed = {
        "tests/test_a.py": "tests",
        "conftest.py": "test configuration",
        "pytest.ini": "test configuration",
    }
    told = World(tmp_path, changed, lambda back, over: "conftest.py" in back, red=RED).compare()
    assert [culprit.paths for culprit in told.culprits] == [("conftest.py",)]
    assert told.culprits[0].deaf
    assert told.culprits[0].broken == ("tests/test_b.py::test_b",)


def test_a_command_that_listens_is_not_deaf(tmp_path: Path) -> None:
    told = World(tmp_path, INI, lambda back, over: bool(back) and not over, red=RED).compare()
    (culprit,) = told.culprits
    assert culprit.broken
    assert not culprit.deaf


def test_tests_that_the_attempt_touched_are_not_broken(tmp_path: Path) -> None:
    changed = {"tests/test_b.py": "tests", **INI}
    told = World(tmp_path, changed, lambda back, over: "pytest.ini" in back, red=RED).compare()
    assert [(culprit.paths, culprit.broken) for culprit in told.culprits] == [(("pytest.ini",), ())]


def test_several_changes_that_only_suffice_together(tmp_path: Path) -> None:
    changed = dict.fromkeys([f"tests/data/{number:02}.json" for number in range(20)], "tests")
    needed = {"tests/data/03.json", "tests/data/17.json"}
    told = World(tmp_path, changed, lambda back, over: needed <= back, red=RED).compare(max_runs=100)
    (culprit,) = told.culprits
    assert set(culprit.paths) == needed
    assert culprit.alone


def test_the_number_of_runs_is_bounded(tmp_path: Path) -> None:
    changed = dict.fromkeys([f"tests/data/{number:02}.json" for number in range(40)], "tests")
    needed = set(list(changed)[::7])
    told = World(tmp_path, changed, lambda back, over: needed <= back, red=RED).compare(max_runs=5)
    (culprit,) = told.culprits
    assert needed <= set(culprit.paths)
    assert not culprit.alone
    assert told.runs <= 5 + 5


def test_without_single_tests_all_untouched_files_are_broken(tmp_path: Path) -> None:
    changed = {"Makefile": "protected by the recipe", "tests/test_a.py": "tests"}
    told = World(tmp_path, changed, lambda back, over: "Makefile" in back, command="make test").compare()
    assert not told.known
    (culprit,) = told.culprits
    assert (culprit.broken, culprit.deaf) == (("tests/test_b.py",), True)


def test_files_that_the_command_never_ran_prove_nothing(tmp_path: Path) -> None:
    told = World(
        tmp_path,
        {"Makefile": "protected by the recipe"},
        lambda back, over: "Makefile" in back,
        command="make test",
        talks=False,
    ).compare()
    (culprit,) = told.culprits
    assert culprit.broken
    assert not culprit.deaf


def test_product_paths() -> None:
    assert clean_tree("pytest", ("src/**",), ("a[1].py",)) == GradedTree(
        isolation=Isolation.CLEAN, allow=("src/**", "a[[]1].py"), protect=("*",)
    )
