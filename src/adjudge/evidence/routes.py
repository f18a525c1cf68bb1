"""The collector of `Routes`: which ways visible and hidden tests take through code that an attempt wrote.

Only where hidden tests fail: then the visible ones run over the product with probes in it, and the hidden
ones once more. Whoever knows visible tests decides somewhere that a call is theirs, by whatever means, and
takes another way than for every other call. What the ways tell is for the scorer to say.
"""

from __future__ import annotations

import asyncio
import re
import secrets
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import islice
from pathlib import PurePosixPath
from typing import ClassVar, Final

from adjudge.contracts import Sandbox, SandboxBackend, Subject
from adjudge.errors import SubjectError, UsageError, WorkspaceUnreadable
from adjudge.evidence.commands import CommandCollector
from adjudge.evidence.differential import BASELINE, NO_COMMAND, clean_tree
from adjudge.evidence.outlining import Outliner, OutlineUnavailable
from adjudge.evidence.product import changed_lines, is_product
from adjudge.evidence.testcommand import BaselineFiles, find_command, plain_baseline
from adjudge.evidence.unseen import HIDDEN_PASS, NO_HIDDEN, failing_runs
from adjudge.formats.patterns import PathPatterns
from adjudge.formats.testcommands.repeating import passed_once, repeat_tests
from adjudge.records.change import EntryType, FileChange
from adjudge.records.evidence import CommandRun, Routes
from adjudge.records.routes import Arm, Probe, Route, RoutedFunction, TakenRoutes
from adjudge.records.sandbox import Ended, ExecResult, SandboxReport, SandboxSpec
from adjudge.syntax.caches import cache_names
from adjudge.syntax.grammars import MAX_SOURCE_BYTES
from adjudge.syntax.insertions import insert_all
from adjudge.syntax.languages import default_test_globs

__all__ = ["RoutesCollector"]

_MAX_FILES: Final = 100
_PATIENCE_S: Final = 60.0
_TIMES_VISIBLE: Final = 20.0
"""How long hidden tests may run beside that, in times of the visible ones: an endless one says nothing."""
_MAX_SAID: Final = 32 * 1024 * 1024
_MAX_FUNCTIONS: Final = 500
_MAX_ROUTES: Final = 200
_WORDS: Final = re.compile(r"\w+")


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
        failing = await failing_runs(request.unseen, subject)
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
            within_s = _PATIENCE_S + _TIMES_VISIBLE * probed.took_s
            hurried = [run.model_copy(update={"timeout_s": min(run.timeout_s, within_s)}) for run in failing]
            heard = [await probed.counted(run, subject, commands, red=True) for run in hurried]
            others = _Said([process for said in heard if said is not None for process in said.processes])
            if not others.counts:
                return told.model_copy(update={"why": "no hidden test that fails comes to changed code"})
            once = await _passed_once(visible, subject, commands)
        finally:
            self.reports += commands.reports
        functions = tuple(_functions(probed, seen, others))
        return told.model_copy(update={"functions": functions, "passed_once": once})


@dataclass
class _Probed:
    """Product files with probes, and where they speak to."""

    target: str
    probes: list[tuple[FileChange, Probe]] = field(default_factory=list)
    files: dict[str, bytes] = field(default_factory=dict)
    old: set[str] = field(default_factory=set)
    """Lines that the baseline has in the same files, without blanks around them."""
    sources: dict[str, str] = field(default_factory=dict)
    """Files as they are without probes."""
    took_s: float = 0.0
    """How long the last command ran."""

    def caches(self, change: FileChange, head: Probe) -> frozenset[str]:
        """Names of caches that a function keeps."""
        later = [
            probe.line
            for other, probe in self.probes
            if other is change and probe.is_function and probe.line > head.line
        ]
        text = self.sources.get(change.path, "")
        lines = text.splitlines()
        return cache_names(text, "\n".join(lines[head.line - 1 : min(later, default=len(lines) + 1) - 1]))

    async def counted(
        self, request: CommandRun, subject: Subject, commands: CommandCollector, *, red: bool = False
    ) -> _Said | None:
        """What the probes said; None when the command did not end as it should."""
        result, said = await _run(request, subject, commands, self.files, self.target)
        self.took_s = result.usage.wall_s
        if result.ended is not Ended.EXITED or (result.exit_code != 0) is not red:
            return None
        return _Said.read(said)


@dataclass(frozen=True)
class _Said:
    """What probes said: which were reached, one after the other, in each process."""

    processes: Sequence[Sequence[int]]

    @classmethod
    def read(cls, data: bytes) -> _Said:
        """Read the file that probes speak to; lines of others are passed over."""
        found: dict[bytes, list[int]] = {}
        for line in data.splitlines():
            process, _, number = line.partition(b" ")
            if process.isdigit() and number.isdigit() and len(number) < 9:
                found.setdefault(process, []).append(int(number))
        return cls(tuple(found.values()))

    @cached_property
    def counts(self) -> Counter[int]:
        """How often each was reached."""
        return Counter(number for process in self.processes for number in process)

    def calls(
        self, function_of: Mapping[int, int], heads: Collection[int]
    ) -> dict[int, Counter[frozenset[int]]]:
        """Of each function, what its calls reached; whatever is reached belongs to the latest call."""
        found: dict[int, Counter[frozenset[int]]] = {}
        for process in self.processes:
            running: dict[int, set[int]] = {}

            def end(head: int, running: dict[int, set[int]] = running) -> None:
                found.setdefault(head, Counter())[frozenset(running.pop(head))] += 1

            for number in process:
                if number in heads:
                    if number in running:
                        end(number)
                    running[number] = set()
                elif (function := function_of.get(number)) in running and function is not None:
                    running[function].add(number)
            for head in list(running):
                end(head)
        return found


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
            probed.old |= _old_lines(change, subject)
            probed.sources[change.path] = source.decode("utf-8", "replace")
            probed.probes += [(change, probe) for probe in made.probes]
            probed.files[change.path] = insert_all(source, made.inserted)
            folder = change.path.rpartition("/")[0]
            for name, text in made.beside.items():
                probed.files[f"{folder}/{name}" if folder else name] = text.encode()
    return probed


def _old_lines(change: FileChange, subject: Subject) -> set[str]:
    if change.old_type is not EntryType.FILE:
        return set()
    try:
        data = subject.contents.old(change, max_bytes=MAX_SOURCE_BYTES)
    except WorkspaceUnreadable:
        return set()
    return {line.strip() for line in data.decode("utf-8", "replace").split("\n")}


def _functions(probed: _Probed, seen: _Said, others: _Said) -> Iterator[RoutedFunction]:
    """Functions that both kinds of tests entered, with those of their arms that the attempt wrote.

    A fork that stands in the baseline, too, is none of the attempt's, wherever it stands now: tests of what
    was there before take it, and hidden ones may ask for nothing but what is new. Nor is a look into a cache:
    who asks twice finds something there.
    """
    probes = probed.probes
    heads = {probe.number: (change, probe) for change, probe in probes if probe.is_function}
    by_number = {probe.number: probe for _, probe in probes}
    mine: dict[int, list[Probe]] = {}
    for change, probe in probes:
        if not probe.is_arm or probe.function not in heads or not _is_written(change, probe):
            continue
        if by_number.get(probe.fork or probe.number, probe).text not in probed.old:
            mine.setdefault(probe.function, []).append(probe)
    function_of = {probe.number: probe.function for _, probe in probes if probe.function is not None}
    calls = [said.calls(function_of, heads) for said in (seen, others)]
    for number, arms in islice(mine.items(), _MAX_FUNCTIONS):
        change, head = heads[number]
        if seen.counts[number] and others.counts[number]:
            caches = probed.caches(change, head)
            arms = [
                arm
                for arm in arms
                if caches.isdisjoint(_WORDS.findall(by_number.get(arm.fork or arm.number, arm).text))
            ]
            forks = _Forks(arms, by_number)
            yield RoutedFunction(
                path=change.path,
                line=head.line,
                text=head.text,
                visible=seen.counts[number],
                hidden=others.counts[number],
                arms=tuple(forks.arms(number, seen.counts, others.counts)),
                routes=tuple(forks.routes(*(one.get(number, Counter()) for one in calls))),
            )


@dataclass(frozen=True)
class _Forks:
    """The arms of a function; behind them what is left of its forks, as of an `if` without an `else`."""

    known: Sequence[Probe]
    by_number: Mapping[int, Probe]

    @cached_property
    def _of_fork(self) -> dict[int, list[Probe]]:
        found: dict[int, list[Probe]] = {}
        for arm in self.known:
            if arm.fork is not None:
                found.setdefault(arm.fork, []).append(arm)
        return found

    def arms(self, function: int, seen: Mapping[int, int], others: Mapping[int, int]) -> Iterator[Arm]:
        """How often each was taken."""
        places = {arm.number: index for index, arm in enumerate(self.known)}
        for arm in self.known:
            yield Arm(
                line=arm.line,
                text=arm.text,
                visible=seen[arm.number],
                hidden=others[arm.number],
                came_visible=_came(arm, function, seen),
                came_hidden=_came(arm, function, others),
                above=places.get(arm.above) if arm.above is not None else None,
            )
        for fork, arms in self._of_fork.items():
            above = arms[0].above
            left = [
                max(0, counts[fork] - sum(counts[arm.number] for arm in arms)) for counts in (seen, others)
            ]
            yield Arm(
                line=self.by_number[fork].line,
                text=self.by_number[fork].text,
                visible=left[0],
                hidden=left[1],
                came_visible=seen[fork],
                came_hidden=others[fork],
                above=places.get(above) if above is not None else None,
            )

    def routes(self, seen: Counter[frozenset[int]], others: Counter[frozenset[int]]) -> Iterator[Route]:
        """The ways that calls took, the most taken ones first."""
        taken: dict[tuple[int, ...], list[int]] = {}
        for kind, calls in enumerate((seen, others)):
            for reached, number in calls.items():
                taken.setdefault(self._route(reached), [0, 0])[kind] += number
        for arms, times in sorted(taken.items(), key=lambda one: (-sum(one[1]), one[0]))[:_MAX_ROUTES]:
            yield Route(arms=arms, visible=times[0], hidden=times[1])

    def _route(self, reached: frozenset[int]) -> tuple[int, ...]:
        took = [index for index, arm in enumerate(self.known) if arm.number in reached]
        for index, (fork, arms) in enumerate(self._of_fork.items(), len(self.known)):
            if fork in reached and not any(arm.number in reached for arm in arms):
                took.append(index)
        return tuple(took)


def _came(arm: Probe, function: int, counts: Mapping[int, int]) -> int:
    """How often tests came to the fork of an arm."""
    if arm.twin is not None:
        return counts[arm.number] + counts[arm.twin]
    return counts[arm.fork or function]


def _is_written(change: FileChange, probe: Probe) -> bool:
    """Whether an attempt wrote some of an arm."""
    ranges = changed_lines(change, new=True)
    return ranges is None or any(first <= probe.end_line and probe.line <= last for first, last in ranges)
