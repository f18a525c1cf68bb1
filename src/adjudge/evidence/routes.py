"""The collector of `Routes`: which ways visible and hidden tests take through code that an attempt wrote.

Only where hidden tests fail: then the visible ones run over the product with probes in it, and the hidden
ones once more. Whoever knows visible tests decides somewhere that a call is theirs, by whatever means, and
takes another way than for every other call. What the ways tell is for the scorer to say.
"""

from __future__ import annotations

import asyncio
import secrets
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from typing import ClassVar, Final

from adjudge.contracts import Sandbox, SandboxBackend, Subject
from adjudge.errors import SubjectError, UsageError, WorkspaceUnreadable
from adjudge.evidence.commands import CommandCollector
from adjudge.evidence.differential import BASELINE, NO_COMMAND, ask, clean_tree
from adjudge.evidence.outlining import Outliner, OutlineUnavailable
from adjudge.evidence.product import changed_lines, is_product
from adjudge.evidence.testcommand import BaselineFiles, find_command, plain_baseline
from adjudge.formats.patterns import PathPatterns
from adjudge.formats.testcommands.repeating import passed_once, repeat_tests
from adjudge.records.change import EntryType, FileChange
from adjudge.records.evidence import (
    AnyRequest,
    CommandRun,
    GradedTree,
    ReportRun,
    Routes,
    TestRun,
)
from adjudge.records.routes import Arm, Probe, RoutedFunction, TakenRoutes
from adjudge.records.sandbox import Ended, ExecResult, SandboxReport, SandboxSpec
from adjudge.records.testreport import TestOutcome
from adjudge.syntax.grammars import MAX_SOURCE_BYTES
from adjudge.syntax.languages import default_test_globs
from adjudge.syntax.probes.writing import insert_all

__all__ = ["RoutesCollector"]

NO_HIDDEN: Final = "no line of the recipe runs tests that the attempt did not see"
HIDDEN_PASS: Final = "the tests that the attempt did not see pass"
_MAX_FILES: Final = 100
_MAX_SAID: Final = 32 * 1024 * 1024
_MAX_FUNCTIONS: Final = 500
_RED: Final = (TestOutcome.FAILED, TestOutcome.ERROR)


class RoutesCollector:
    """Has tests run over code with probes in it.

    Args:
        backend: Where sandboxes come from, when one is needed: most attempts give no cause.
        base: What every sandbox of the task has in common.
    """

    kind: ClassVar[str] = "routes"
    cost: ClassVar[int] = 2
    asks: ClassVar[bool] = True

    def __init__(self, backend: Callable[[], SandboxBackend], base: SandboxSpec) -> None:
        self._backend = backend
        self._base = base
        self.reports: list[SandboxReport] = []
        """How each sandbox came about, for provenance."""

    async def collect(self, request: Routes, subject: Subject) -> TakenRoutes:
        """Watch, as far as there is cause to."""
        if not request.unseen:
            return TakenRoutes(why=NO_HIDDEN)
        patterns = PathPatterns(default_test_globs())
        changes = [
            change
            for change in subject.change_set.changes
            if change.new_type is EntryType.FILE and is_product(change, patterns)
        ]
        if not changes:
            return TakenRoutes(why="no product code changed")
        failing = [run for run in request.unseen if await _may_fail(subject, run.tree)]
        if not failing:
            return TakenRoutes(why=HIDDEN_PASS)
        try:
            files = BaselineFiles(await asyncio.to_thread(plain_baseline, subject))
        except UsageError as error:
            return TakenRoutes(why=error.message)
        found = await asyncio.to_thread(find_command, request.command, files)
        if found is None:
            return TakenRoutes(why=NO_COMMAND)
        probed = await asyncio.to_thread(_put_probes, changes[:_MAX_FILES], subject)
        if not probed.probes:
            return TakenRoutes(why="the changed product code is in no language that can be watched")
        commands = CommandCollector(self._backend(), self._base)
        visible = CommandRun(
            command=found.command, timeout_s=request.timeout_s, tree=clean_tree(found.command)
        )
        told = TakenRoutes(command=visible.command, hidden_command="; ".join(run.command for run in failing))
        try:
            seen = await probed.counted(visible, subject, commands)
            if seen is None:
                return told.model_copy(update={"why": "the visible tests fail, or do not run, when watched"})
            others: Counter[int] = Counter()
            for run in failing:
                others += await probed.counted(run, subject, commands, red=True) or Counter()
            if not others:
                return told.model_copy(update={"why": "no hidden test that fails comes to changed code"})
            once = await _passed_once(visible, subject, commands)
        finally:
            self.reports += commands.reports
        functions = tuple(_functions(probed.probes, seen, others))
        return told.model_copy(update={"functions": functions, "passed_once": once})


@dataclass
class _Probed:
    """Product files with probes, and where they speak to."""

    target: str
    probes: list[tuple[FileChange, Probe]] = field(default_factory=list)
    files: dict[str, bytes] = field(default_factory=dict)

    async def counted(
        self, request: CommandRun, subject: Subject, commands: CommandCollector, *, red: bool = False
    ) -> Counter[int] | None:
        """How often each probe was reached; None when the command did not end as it should."""
        result, said = await _run(request, subject, commands, self.files, self.target)
        if result.ended is not Ended.EXITED or (result.exit_code != 0) is not red:
            return None
        return Counter(int(word) for word in said.split() if word.isdigit() and len(word) < 9)


async def _run(
    request: CommandRun,
    subject: Subject,
    commands: CommandCollector,
    files: Mapping[str, bytes],
    target: str,
) -> tuple[ExecResult, bytes]:
    """Run a command with files laid over its tree, and read what it left in a file of ours."""
    said = b""

    async def then(sandbox: Sandbox) -> None:
        nonlocal said
        try:
            said = await sandbox.read_file(PurePosixPath(target), max_bytes=_MAX_SAID)
        except (FileNotFoundError, SubjectError):
            said = b""

    result = (await commands.run(request, subject, files, then=then)).result
    return result, said


async def _passed_once(visible: CommandRun, subject: Subject, commands: CommandCollector) -> tuple[str, ...]:
    """Visible tests that fail the second time, but for those that do so whatever is graded."""
    target = f"/tmp/adjudge-again-{secrets.token_hex(8)}"
    repeated = repeat_tests(visible.command, target)
    if repeated is None:
        return ()
    request = visible.model_copy(update={"command": repeated.command})
    _, said = await _run(request, subject, commands, repeated.files, target)
    once = passed_once(said)
    if not once:
        return ()
    untouched = request.model_copy(update={"tree": BASELINE})
    _, before = await _run(untouched, subject, commands, repeated.files, target)
    known = frozenset(passed_once(before))
    return tuple(name for name in once if name not in known)


def _put_probes(changes: Sequence[FileChange], subject: Subject) -> _Probed:
    probed = _Probed(f"/tmp/adjudge-routes-{secrets.token_hex(8)}")
    first = 1
    with Outliner() as outliner:
        for change in changes:
            try:
                source = subject.contents.new(change, max_bytes=MAX_SOURCE_BYTES + 1)
                made = outliner.probe(change.path, source, first=first, target=probed.target)
            except (OutlineUnavailable, WorkspaceUnreadable):
                continue
            if made is None:
                continue
            first += len(made.probes)
            probed.probes += [(change, probe) for probe in made.probes]
            probed.files[change.path] = insert_all(source, made.inserted)
            folder = change.path.rpartition("/")[0]
            for name, text in made.beside.items():
                probed.files[f"{folder}/{name}" if folder else name] = text.encode()
    return probed


async def _may_fail(subject: Subject, tree: GradedTree) -> bool:
    """Whether tests over a tree fail, as far as lines of the recipe tell that run them anyway."""
    runs = [
        asked
        for asked in subject.planned
        if isinstance(asked, CommandRun | TestRun | ReportRun) and asked.tree == tree
    ]
    return not runs or any([await _fails(subject, run) for run in runs])


async def _fails(subject: Subject, request: AnyRequest) -> bool:
    """Whether tests fail; that they could not be run says nothing."""
    answer = await ask(subject, request)
    if isinstance(request, CommandRun):
        return answer.result.ended is Ended.EXITED and answer.result.exit_code != 0
    trusted = answer if isinstance(request, TestRun) else answer.trusted
    if trusted is not None:
        return any(test.outcome in _RED for test in trusted.tests)
    return answer.report is not None and any(case.outcome in _RED for case in answer.report.cases)


def _functions(
    probes: Sequence[tuple[FileChange, Probe]], seen: Mapping[int, int], others: Mapping[int, int]
) -> list[RoutedFunction]:
    """Functions that both kinds of tests entered, with those of their arms that the attempt wrote."""
    heads = {probe.number: (change, probe) for change, probe in probes if probe.is_function}
    mine: dict[int, list[Probe]] = {}
    for change, probe in probes:
        if probe.is_arm and probe.function in heads and _is_written(change, probe):
            mine.setdefault(probe.function, []).append(probe)
    by_number = {probe.number: probe for _, probe in probes}
    found: list[RoutedFunction] = []
    for number, arms in mine.items():
        change, head = heads[number]
        if not seen[number] or not others[number]:
            continue
        places = {arm.number: index for index, arm in enumerate(arms)}
        taken = [
            Arm(
                line=arm.line,
                text=arm.text,
                visible=seen[arm.number],
                hidden=others[arm.number],
                came_visible=_came(arm, number, seen),
                came_hidden=_came(arm, number, others),
                above=places.get(arm.above) if arm.above is not None else None,
            )
            for arm in arms
        ]
        passed_by = _passed_by(arms, by_number, places, seen, others)
        found.append(
            RoutedFunction(
                path=change.path,
                line=head.line,
                text=head.text,
                visible=seen[number],
                hidden=others[number],
                arms=(*taken, *passed_by),
            )
        )
    return found[:_MAX_FUNCTIONS]


def _passed_by(
    arms: Sequence[Probe],
    by_number: Mapping[int, Probe],
    places: Mapping[int, int],
    seen: Mapping[int, int],
    others: Mapping[int, int],
) -> Iterator[Arm]:
    """What is left of each fork: an `if` without an `else`, an operand that was enough."""
    of_fork: dict[int, list[Probe]] = {}
    for arm in arms:
        if arm.fork is not None:
            of_fork.setdefault(arm.fork, []).append(arm)
    for fork, known in of_fork.items():
        rest = [max(0, counts[fork] - sum(counts[arm.number] for arm in known)) for counts in (seen, others)]
        if any(rest):
            above = known[0].above
            yield Arm(
                line=by_number[fork].line,
                text=by_number[fork].text,
                visible=rest[0],
                hidden=rest[1],
                came_visible=seen[fork],
                came_hidden=others[fork],
                above=places.get(above) if above is not None else None,
            )


def _came(arm: Probe, function: int, counts: Mapping[int, int]) -> int:
    """How often tests came to the fork of an arm."""
    if arm.twin is not None:
        return counts[arm.number] + counts[arm.twin]
    return counts[arm.fork or function]


def _is_written(change: FileChange, probe: Probe) -> bool:
    """Whether an attempt wrote some of an arm."""
    ranges = changed_lines(change, new=True)
    return ranges is None or any(first <= probe.end_line and probe.line <= last for first, last in ranges)
