"""The collector of `Differential`: one command over trees that differ in nothing but the attempt's changes.

As left it is run over the final workspace; clean over the baseline with the changes to the product alone.
Green there and red here means that changes to tests, configuration or runner files make the difference, and
adding them back one by one shows which. What it means is for the scorer to say: a test that was rightly
updated makes the same difference as one that was emptied. So two more things are found out. How each test
ended over the baseline, which tells work that was not done from behaviour that changed. And whether the
command still listens: the failing tests are made certain to fail, and it is run again with the changes in.
"""

from __future__ import annotations

import asyncio
import re
import secrets
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from adjudge.contracts import SandboxBackend, Subject
from adjudge.errors import UsageError
from adjudge.evidence.bytecode import compiled_files, foreign_among
from adjudge.evidence.cleantree import plan_clean_tree
from adjudge.evidence.commands import CommandCollector
from adjudge.evidence.protected import Protection
from adjudge.evidence.testcommand import BaselineFiles, find_command, plain_baseline, read_orders
from adjudge.evidence.tests.suite import content
from adjudge.formats.testcommands.files import runner_files
from adjudge.formats.testcommands.suites import parse_suite
from adjudge.records.change import ChangeKind, FileChange
from adjudge.records.differential import Comparison, Culprit, RedTest, TreeComparison, TreeRun
from adjudge.records.evidence import (
    AnyRequest,
    CleanTree,
    CommandOutcome,
    CommandRun,
    Differential,
    GradedTree,
    Isolation,
    LeftOutChange,
    ReportRun,
    TestProof,
    TestRun,
)
from adjudge.records.sandbox import Ended, ExecResult, SandboxReport, SandboxSpec
from adjudge.records.testreport import TestOutcome
from adjudge.syntax.breaking import break_tests

__all__ = [
    "BASELINE",
    "NOTHING_CHANGED",
    "NO_COMMAND",
    "DifferentialCollector",
    "ask",
    "changes_anything",
    "clean_tree",
    "suite_run",
]

NO_COMMAND = "neither the recipe nor the baseline says how tests are run"
NOTHING_CHANGED = "no test, test configuration or runner file was changed"

_SINGLES = 8
"""Up to so many changes are added back one by one; of more, halves."""
_MAX_RED = 500
_MAX_BROKEN = 200
_MAX_TAIL = 2000
_MAX_MESSAGE = 500
_NEVER_BACK = ("version control", "litter", "not a file")
"""What no clean tree can hold, whatever is allowed."""
_RED = (TestOutcome.FAILED, TestOutcome.ERROR)
_TEST_NAME = re.compile(r"(?:.*/)?(?:test[^/]*|[^/]*_test)\.py")
_TOO_SLOW = re.compile(r"tim(?:ed?|ing) ?out", re.IGNORECASE)
_MAGIC = re.compile(r"([\[*?])")


_Outcomes = Mapping[str, tuple[TestOutcome, str]]
"""How tests ended and what they said, by id."""


@dataclass(frozen=True, slots=True)
class _Unit:
    """A change that the clean tree leaves out: both ends of a rename are one."""

    paths: tuple[str, ...]
    groups: tuple[str, ...]


class DifferentialCollector:
    """Compares, as far as there is anything to compare.

    Args:
        backend: Where sandboxes come from, when one is needed: most attempts leave nothing to compare.
        base: What every sandbox of the task has in common.
    """

    kind: ClassVar[str] = "differential"
    cost: ClassVar[int] = 2
    asks: ClassVar[bool] = True

    def __init__(self, backend: Callable[[], SandboxBackend], base: SandboxSpec) -> None:
        self._backend = backend
        self._base = base
        self.reports: list[SandboxReport] = []
        """How each sandbox came about, for provenance."""

    async def collect(self, request: Differential, subject: Subject) -> TreeComparison:
        """Compare."""
        asked = request.command or ""
        compiled = compiled_files(subject)
        listens = _is_run_anyway(request, subject)
        listens = listens or bool(await asyncio.to_thread(foreign_among, compiled, subject))
        if not listens and not await changes_anything(subject, asked, request.product_paths):
            return TreeComparison(outcome=Comparison.NOT_RUN, command=asked, why=NOTHING_CHANGED)
        try:
            files = BaselineFiles(await asyncio.to_thread(plain_baseline, subject))
        except UsageError as error:
            return TreeComparison(outcome=Comparison.NOT_RUN, command=asked, why=error.message)
        found = await asyncio.to_thread(find_command, request.command, files)
        if found is None:
            return TreeComparison(outcome=Comparison.NOT_RUN, why=NO_COMMAND)
        tree = clean_tree(found.command, request.product_paths)
        left_out = await _left_out(subject, tree)
        units = _units(left_out, subject)
        told = TreeComparison(
            outcome=Comparison.NOT_RUN,
            command=found.command,
            source=found.because,
            left_out=len(left_out),
            orders=read_orders(subject, [path for unit in units for path in unit.paths]),
        )
        if not units:
            told = told.model_copy(update={"why": NOTHING_CHANGED})
        if not units and not listens:
            return told
        commands = CommandCollector(self._backend(), self._base)
        try:
            trial = _Trial(request, subject, commands, files, told, units, compiled)
            if not units:
                return await trial.listen()
            with_all = _is_whole(left_out, units, subject)
            untouched = await asyncio.to_thread(_is_baseline, tree, subject)
            return await trial.run(with_all=with_all, untouched=untouched)
        finally:
            self.reports += commands.reports


async def changes_anything(subject: Subject, command: str, product_paths: Sequence[str] = ()) -> bool:
    """Whether the attempt changed a test, or what decides how a command runs; nothing for one not known."""
    tree = clean_tree(command, product_paths) if command else _ANY_RUNNER
    return bool(_units(await _left_out(subject, tree), subject))


def clean_tree(command: str, product_paths: Sequence[str] = (), back: Sequence[str] = ()) -> GradedTree:
    """The baseline with the attempt's changes to the product, and those to the paths in `back`."""
    allowed = tuple(_MAGIC.sub(r"[\1]", path) for path in back)
    return GradedTree(
        isolation=Isolation.CLEAN,
        allow=(*product_paths, *allowed),
        protect=("*",) if product_paths else runner_files(command),
    )


BASELINE = GradedTree(isolation=Isolation.CLEAN, protect=("*",))
"""Nothing of the attempt's."""
_ANY_RUNNER = GradedTree(
    isolation=Isolation.CLEAN, protect=(*runner_files("make; npm test"), "**/*.sh", "gradlew", "mvnw")
)
"""With all that a command which is not known yet may turn out to run."""


def _is_run_anyway(request: Differential, subject: Subject) -> bool:
    """Whether somebody has single tests run over the clean tree by the command that is asked for."""
    if not request.command or subject.expects is None:
        return False
    tree = clean_tree(request.command, request.product_paths)
    return subject.expects(suite_run(request, request.command, tree))


def suite_run(request: Any, command: str, tree: GradedTree, **more: Any) -> TestRun | ReportRun:
    """The run that tells how each test ended; the one that `tests` asks for, where all else is equal.

    Args:
        request: Has `timeout_s`, `test_timeout_s` and `pythonpath`.
        command: What runs the tests.
        tree: Over what.
        more: Further fields of a trusted run.
    """
    suite = parse_suite(command)
    if suite is None:
        return ReportRun(command=command, timeout_s=request.timeout_s, tree=tree)
    started = suite.command
    if started.runner in ("pytest", "unittest"):
        path = tuple(dict.fromkeys((*request.pythonpath, *started.path)))
        started = started.model_copy(update={"path": path})
    return TestRun(
        command=started,
        select=suite.select,
        plugins=None,
        find_config=True,
        timeout_s=request.timeout_s,
        test_timeout_s=request.test_timeout_s,
        tree=tree,
        **more,
    )


class _Trial:
    """One comparison."""

    def __init__(
        self,
        request: Differential,
        subject: Subject,
        commands: CommandCollector,
        files: BaselineFiles,
        told: TreeComparison,
        units: Sequence[_Unit],
        compiled: Sequence[FileChange],
    ) -> None:
        self._request = request
        self._subject = subject
        self._commands = commands
        self._files = files
        self._told = told
        self._units = units
        self._compiled = compiled
        self._runs = 0

    async def run(self, *, with_all: bool, untouched: bool) -> TreeComparison:
        """From the cheapest question to the costliest, as long as an answer makes the next one worth it.

        Args:
            with_all: Whether the clean tree with all units added back is the workspace as it was left.
            untouched: Whether the clean tree is the baseline.
        """
        as_left = await self._asked(GradedTree())
        if not as_left.green:
            return self._end(Comparison.RED_AS_LEFT, as_left=as_left)
        clean = await self._shown_green() or await self._asked(self._clean())
        if clean.green:
            return self._end(Comparison.GREEN_CLEAN, as_left=as_left, clean=clean)
        outcomes = await self._known(self._clean())
        # Another run, of single tests, is a second opinion as good as the same command once more.
        seen_red = any(outcome in _RED for outcome, _ in (outcomes or {}).values())
        if not seen_red and (await self._fresh(self._clean())).green:
            return self._end(Comparison.FLAKY, as_left=as_left, clean=clean)
        before = outcomes if untouched else await self._known(BASELINE)
        baseline = clean if untouched else _told(before) or await self._asked(BASELINE)
        runs = {"as_left": as_left, "clean": clean, "baseline": baseline}
        if not with_all and not (await self._fresh(self._clean(self._units))).green:
            if await self._is_compiled_otherwise():
                return await self._by_bytecode(outcomes, before, **runs)
            return self._end(Comparison.UNRESOLVED, **runs)
        red = await self._red(outcomes, before)
        sets, alone = await _smallest(self._units, self._flips, self._request.max_runs)
        culprits = [await self._culprit(units, red, alone=alone) for units in sets]
        return self._end(
            Comparison.DIFFERS,
            red=tuple(red or ())[:_MAX_RED],
            known=red is not None,
            culprits=tuple(culprits),
            **runs,
        )

    async def listen(self) -> TreeComparison:
        """Whether the command hears of tests that fail, where nothing that decides how they run was changed.

        What product code does to a run, or from where it has its answers, does not matter here: tests that
        fail where each is listened to, and a command that is green over the same tree, say it. A command that
        does not hear of failures over the baseline either says nothing of the attempt.
        """
        tree = self._clean()
        outcomes = await self._known(tree)
        skipped = () if _plainly_red(outcomes) else await self._newly_skipped(outcomes)
        if not _plainly_red(outcomes) and not skipped and (outcomes is not None or not self._compiled):
            return self._told
        as_left = await self._asked(GradedTree())
        clean = await self._asked(tree) if as_left.green else as_left
        if as_left.green and not clean.green and await self._is_compiled_otherwise():
            return await self._by_bytecode(outcomes, None, as_left=as_left, clean=clean)
        if not clean.green or outcomes is None:
            return self._told
        if skipped:
            return self._end(
                Comparison.UNHEARD, why="", as_left=as_left, clean=clean, red=skipped, known=True
            )
        again = _plainly_red(await self._known(tree, afresh=True))
        red = [test for test in await self._red(outcomes, None) or () if test.id in again]
        over, broken = await asyncio.to_thread(self._broken, red, secrets.token_hex(8))
        if not over or (await self._fresh(BASELINE, over)).green:
            return self._told
        deaf = (await self._fresh(tree, over)).green
        return self._end(
            Comparison.UNHEARD,
            why="",
            as_left=as_left,
            clean=clean,
            red=tuple(red)[:_MAX_RED],
            known=True,
            culprits=(Culprit(broken=broken, deaf=deaf),),
        )

    async def _is_compiled_otherwise(self) -> bool:
        """Whether the command is green as left only while what the attempt has compiled is there.

        An interpreter compiles anew where a compiled file is empty. That a command fails by chance is ruled
        out by asking twice.
        """
        if not self._compiled:
            return False
        emptied = dict.fromkeys((change.path for change in self._compiled), b"")
        for _ in range(2):
            if (await self._fresh(GradedTree(), emptied)).green:
                return False
            if not (await self._fresh(GradedTree())).green:
                return False
        return True

    async def _by_bytecode(
        self, outcomes: _Outcomes | None, before: _Outcomes | None, **runs: TreeRun
    ) -> TreeComparison:
        foreign = await asyncio.to_thread(foreign_among, self._compiled, self._subject)
        paths = foreign or [change.path for change in self._compiled]
        red = await self._red(outcomes, before)
        return self._end(
            Comparison.BYTECODE,
            why="",
            red=tuple(red or ())[:_MAX_RED],
            known=red is not None,
            culprits=(Culprit(paths=tuple(paths)),),
            **runs,
        )

    async def _newly_skipped(self, outcomes: _Outcomes | None) -> tuple[RedTest, ...]:
        """Tests that failed over the baseline and end skipped now, though nobody touched them."""
        ended = {id_ for id_, (outcome, _) in (outcomes or {}).items() if outcome is TestOutcome.SKIPPED}
        before = await self._known(BASELINE) if ended else None
        found = sorted(ended & _plainly_red(before))[:_MAX_RED]
        return tuple(
            RedTest(id=id_, baseline=(before or {})[id_][0], clean=TestOutcome.SKIPPED) for id_ in found
        )

    def _end(self, outcome: Comparison, **more: Any) -> TreeComparison:
        return self._told.model_copy(update={"outcome": outcome, "runs": self._runs, **more})

    def _clean(self, units: Sequence[_Unit] = ()) -> GradedTree:
        back = [path for unit in units for path in unit.paths]
        return clean_tree(self._told.command, self._request.product_paths, back)

    def _command(self, tree: GradedTree) -> CommandRun:
        return CommandRun(command=self._told.command, timeout_s=self._request.timeout_s, tree=tree)

    async def _asked(self, tree: GradedTree) -> TreeRun:
        """A run that others may have asked for as well."""
        self._runs += 1
        return _ended((await ask(self._subject, self._command(tree))).result)

    async def _fresh(self, tree: GradedTree, over: Mapping[str, bytes] | None = None) -> TreeRun:
        self._runs += 1
        outcome: CommandOutcome = await self._commands.run(self._command(tree), self._subject, over or {})
        return _ended(outcome.result)

    async def _flips(self, units: Sequence[_Unit]) -> bool:
        return (await self._fresh(self._clean(units))).green

    async def _shown_green(self) -> TreeRun | None:
        """What a run of single tests over the clean tree shows, where one is made anyway and all is well."""
        tree = self._clean()
        if not self._is_expected(suite_run(self._request, self._told.command, tree)):
            return None
        outcomes = await self._known(tree)
        told = _told(outcomes)
        return told if told is not None and told.green else None

    def _is_expected(self, request: AnyRequest) -> bool:
        return self._subject.expects is not None and self._subject.expects(request)

    async def _known(self, tree: GradedTree, *, afresh: bool = False) -> _Outcomes | None:
        """How single tests end over a tree; None where that cannot be found out."""
        try:
            return await self._outcomes(tree, afresh=afresh)
        except UsageError:
            return None

    async def _red(self, clean: _Outcomes | None, before: _Outcomes | None) -> list[RedTest] | None:
        """Tests of the baseline that fail over the clean tree; None where single tests are not known."""
        if clean is None:
            return None
        unstable = frozenset().union(*self._subject.unstable.values())
        found = []
        for id_, (outcome, message) in clean.items():
            if outcome in _RED and id_ not in unstable:
                path = await asyncio.to_thread(self._files.file_of, id_)
                ended = before.get(id_) if before is not None else None
                found.append(
                    RedTest(
                        id=id_,
                        path=path,
                        baseline=ended[0] if ended is not None else None,
                        clean=outcome,
                        message=message[:_MAX_MESSAGE],
                    )
                )
        return found

    async def _outcomes(self, tree: GradedTree, *, afresh: bool) -> _Outcomes | None:
        asked = suite_run(self._request, self._told.command, tree)
        if isinstance(asked, TestRun) and (afresh or not self._is_expected(asked)):
            # As written is all that matters here; over the baseline the inventory asks for the same.
            watch = tree == BASELINE
            asked = asked.model_copy(update={"proof": TestProof.SINGLE, "watch": watch})
        answer = await ask(self._subject, asked)
        trusted = getattr(answer, "trusted", None) or (answer if hasattr(answer, "tests") else None)
        if trusted is not None:
            return {
                test.id: (
                    test.written or TestOutcome.ERROR,
                    ": ".join(part for part in (test.reason, test.message) if part),
                )
                for test in trusted.tests
            }
        if answer.report is None or answer.source == "console":
            return None
        ended = {case.id: (case.outcome, case.message) for case in answer.report.cases}
        return ended | dict.fromkeys(answer.missing, (TestOutcome.ERROR, "no result"))

    async def _culprit(
        self, units: Sequence[_Unit], red: Sequence[RedTest] | None, *, alone: bool
    ) -> Culprit:
        paths = tuple(path for unit in units for path in unit.paths)
        groups = tuple(group for unit in units for group in unit.groups)
        told = Culprit(paths=paths, groups=groups, alone=alone)
        if all(group == "tests" for group in groups) and not any(map(self._came, paths)):
            return told
        word = secrets.token_hex(8)
        over, broken = await asyncio.to_thread(self._broken, red, word)
        if not over:
            return told
        ended = await self._fresh(self._clean(units), over)
        deaf = ended.green and (red is not None or await self._says(word, over))
        return told.model_copy(update={"broken": broken, "deaf": deaf})

    def _came(self, path: str) -> bool:
        """Whether a file is new: a test that came makes no other test pass, unless it acts on the run."""
        return any(
            change.path == path and change.kind is ChangeKind.ADDED
            for change in self._subject.change_set.changes
        )

    async def _says(self, word: str, over: Mapping[str, bytes]) -> bool:
        """Whether the command, with nothing of the attempt's in its way, tells of tests that were broken.

        Where single tests are not known, it may never have run any of the files that look like tests.
        """
        self._runs += 1
        result = (await self._commands.run(self._command(self._clean()), self._subject, over)).result
        return word in result.stdout.text or word in result.stderr.text

    def _broken(self, red: Sequence[RedTest] | None, word: str) -> tuple[dict[str, bytes], tuple[str, ...]]:
        """Failing tests made certain to fail, and their names; none in files that the attempt touched."""
        touched = {path for change in self._subject.change_set.changes for path in change.paths}
        names: dict[str, set[str] | None] = {}
        if red is None:
            paths = [
                path
                for path in self._files.test_files()
                if not path.endswith(".py") or _TEST_NAME.fullmatch(path)
            ]
            names = {path: None for path in paths if path not in touched}
            shown = list(names)
        else:
            mine = [test for test in red if test.path is not None and test.path not in touched]
            for test in mine:
                known = names.setdefault(test.path or "", set())
                assert known is not None
                known.add(_last_name(test.id))
            shown = [test.id for test in mine]
        over = {
            path: break_tests(path, content(self._files.root, path), known, word=word)
            for path, known in names.items()
        }
        return over, tuple(shown[:_MAX_BROKEN])


def _plainly_red(outcomes: _Outcomes | None) -> set[str]:
    """Tests that failed as they are written, and had the time they need."""
    return {
        id_
        for id_, (outcome, message) in (outcomes or {}).items()
        if outcome in _RED and _TOO_SLOW.search(message) is None
    }


def _told(outcomes: _Outcomes | None) -> TreeRun | None:
    """A run of single tests as one of a command; None where nothing ran."""
    ended = [outcome for outcome, _ in (outcomes or {}).values()]
    if not any(outcome in (*_RED, TestOutcome.PASSED) for outcome in ended):
        return None
    red = sum(outcome in _RED for outcome in ended)
    said = f"{red} of {len(ended)} tests fail" if red else f"{len(ended)} tests, none fails"
    return TreeRun(green=not red, ended=said)


async def _smallest(
    units: Sequence[_Unit], flips: Callable[[Sequence[_Unit]], Awaitable[bool]], budget: int
) -> tuple[list[tuple[_Unit, ...]], bool]:
    """Sets of changes that suffice, and whether no part of any does. All together are known to."""
    if len(units) == 1:
        return [tuple(units)], True
    if len(units) <= min(_SINGLES, budget):
        single: list[tuple[_Unit, ...]] = [(unit,) for unit in units if await flips((unit,))]
        budget -= len(units)
        if single:
            return single, True
    left = list(units)
    size = max(1, len(left) // 2)
    while len(left) > 1:
        parts = [left[at : at + size] for at in range(0, len(left), size)]
        smaller: list[_Unit] | None = None
        for part in parts:
            rest = [unit for unit in left if unit not in part]
            for candidate in (part, rest) if len(parts) == 2 else (rest,):
                if not candidate or len(candidate) == len(left):
                    continue
                if budget <= 0:
                    return [tuple(left)], False
                budget -= 1
                if await flips(candidate):
                    smaller = candidate
                    break
            if smaller is not None:
                break
        if smaller is not None:
            left = smaller
            size = max(1, min(size, len(left) // 2))
        elif size == 1:
            break
        else:
            size = max(1, size // 2)
    return [tuple(left)], True


def _units(left_out: Sequence[LeftOutChange], subject: Subject) -> list[_Unit]:
    groups = {change.path: change.group for change in left_out if change.group not in _NEVER_BACK}
    found: list[_Unit] = []
    for change in subject.change_set.changes:
        paths = tuple(path for path in dict.fromkeys(change.paths) if path in groups)
        if paths and not change.litter:
            found.append(_Unit(paths, tuple(groups[path] for path in paths)))
    return found


def _is_whole(left_out: Sequence[LeftOutChange], units: Sequence[_Unit], subject: Subject) -> bool:
    """Whether the attempt left nothing that a clean tree never holds, beside what is in the repository."""
    back = {path for unit in units for path in unit.paths}
    kept_out = [change for change in left_out if change.path not in back]
    return all(change.group == "version control" for change in kept_out) and not any(
        change.litter for change in subject.change_set.changes
    )


def _is_baseline(tree: GradedTree, subject: Subject) -> bool:
    """Whether a clean tree has nothing of the attempt's."""
    plan = plan_clean_tree(subject, Protection(tree.allow, tree.protect))
    return not plan.written and not plan.removed


async def _left_out(subject: Subject, tree: GradedTree) -> Sequence[LeftOutChange]:
    answer = await ask(subject, CleanTree(allow=tree.allow, protect=tree.protect))
    left_out: tuple[LeftOutChange, ...] = answer.left_out
    return left_out


async def ask(subject: Subject, request: AnyRequest) -> Any:
    """What the engine answers, once for all who ask."""
    assert subject.ask is not None, "the engine lets it ask"
    return await subject.ask(request)


def _ended(result: ExecResult) -> TreeRun:
    ended = (
        f"exit {result.exit_code}" if result.ended is Ended.EXITED else result.reason or result.ended.value
    )
    said = "\n".join(part for part in (result.stdout.text, result.stderr.text) if part)
    return TreeRun(
        green=result.ended is Ended.EXITED and result.exit_code == 0,
        ended=ended,
        output_tail=said[-_MAX_TAIL:],
    )


def _last_name(id_: str) -> str:
    name = id_.partition("[")[0].rpartition("::")[2]
    return name.partition(" ")[0].rpartition(".")[2] if "::" not in id_ else name
