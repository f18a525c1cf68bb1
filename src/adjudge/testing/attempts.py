r"""Attempts made of two dictionaries: what a workspace held before, and what it holds after.

For tests of scorers and collectors. An `Attempt` gives the change set, the contents behind it, and the
evidence a scorer asks for:

    attempt = Attempt(before={"a.py": "x = 1\n"}, after={"a.py": "x = 2\n", "b.py": Symlink("a.py")})
    outcome = attempt.score(MyScorer, {"limit": 1})

The real thing is `adjudge.capture`; this one knows files, symlinks, modes and exact renames, and is exact
about them.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from itertools import islice
from pathlib import Path
from typing import Any, TypeAlias

from adjudge.contracts import Scorer, Subject, WorkspaceEntry
from adjudge.errors import WorkspaceUnreadable
from adjudge.formats.harness.outline import outline_config
from adjudge.formats.outputs import MAX_OUTPUT_BYTES, check_output, missing_output
from adjudge.formats.patterns import PathPatterns
from adjudge.formats.regex import find_regex
from adjudge.records.base import BlobRef, Record, digest_bytes, digest_json
from adjudge.records.change import (
    BaselineOrigin,
    BaselineRef,
    ChangeKind,
    ChangeSet,
    EntryType,
    FileChange,
    Hunk,
)
from adjudge.records.differential import Comparison, SuiteInventories, TreeComparison
from adjudge.records.evidence import (
    AnyRequest,
    ChangedLine,
    CleanTree,
    CleanTreeChanges,
    CommandOutcome,
    CommandRun,
    ComparedFiles,
    Confinement,
    ConfinementRead,
    Differential,
    FileComparison,
    FileLines,
    FoundLeaks,
    HarnessFile,
    HarnessScan,
    LeakScan,
    ModelScores,
    ModelScoring,
    ModelVote,
    NearInputs,
    OutputFile,
    ParsedChange,
    ParsedChangeSet,
    PathState,
    PathStatus,
    PatternMatch,
    PatternMatches,
    PatternSearch,
    ProductScan,
    ReportedTests,
    ReportRun,
    Routes,
    ScannedExamples,
    ScannedFile,
    ScannedHarness,
    ScannedProduct,
    ScannedProducts,
    ScannedSources,
    ScannedSuite,
    ScannedSuites,
    SecretFindings,
    SecretScan,
    SourceScan,
    SuiteInventory,
    SuiteScan,
    SummarisedTrace,
    TestCollection,
    TestRun,
    TraceRead,
    VerifierOutcome,
    VerifierRun,
)
from adjudge.records.nearby import NearAnswers
from adjudge.records.paths import path_bytes
from adjudge.records.routes import TakenRoutes
from adjudge.records.sandbox import Ended, ExecResult, Usage, WorkspaceTree
from adjudge.records.score import Recipe, ScorerOutcome
from adjudge.records.task import Scenario, Task
from adjudge.records.testcode import SuiteOutline
from adjudge.records.testreport import (
    CollectedTests,
    Proof,
    TestCase,
    TestOutcome,
    TestReport,
    TestSession,
    TrustedTest,
    TrustedTestRun,
)
from adjudge.records.verifier import RewardReading, VerifierNotes
from adjudge.syntax.grammars import grammar_of
from adjudge.syntax.harness.outline import outline_harness
from adjudge.syntax.languages import is_third_party
from adjudge.syntax.productcode.compare import (
    ProductChange,
    added_answers,
    added_choices,
    added_keys,
    needle_of,
)
from adjudge.syntax.productcode.data import (
    examples_of_data,
    is_data_of_tests,
    may_hold_answers,
    outline_data,
)
from adjudge.syntax.productcode.files import may_be_product
from adjudge.syntax.productcode.imported import loads
from adjudge.syntax.productcode.outline import outline_examples, outline_product
from adjudge.syntax.stubs import outline_source
from adjudge.syntax.testcode.outline import outline_change, outline_tests, reads_tests_of
from adjudge.syntax.testcode.support import is_support

__all__ = [
    "Attempt",
    "Executable",
    "FakeEvidence",
    "Folder",
    "MemoryContents",
    "Repository",
    "Special",
    "Symlink",
    "Thing",
    "Unreadable",
    "exec_result",
    "suite_session",
]


@dataclass(frozen=True, slots=True)
class Symlink:
    """A symlink."""

    target: str


@dataclass(frozen=True, slots=True)
class Executable:
    """A file with the executable bit."""

    content: bytes | str = b""


@dataclass(frozen=True, slots=True)
class Repository:
    """A submodule, by its commit."""

    commit: str = "0" * 40


@dataclass(frozen=True, slots=True)
class Special:
    """A fifo, socket or device."""


@dataclass(frozen=True, slots=True)
class Folder:
    """A folder with nothing in it that is known."""

    listed: bool = True
    """Whether it could be listed; one that could not may hold anything."""


@dataclass(frozen=True, slots=True)
class Unreadable:
    """A file whose content cannot be read."""

    size_bytes: int = 1


Thing: TypeAlias = bytes | str | Symlink | Executable | Repository | Special | Folder | Unreadable

_MAX_BYTES = 1 << 30
_MAX_TESTS = 40
_MAX_IMPORTERS = 2_000
_MAX_IMPORTER_BYTES = 200_000
"""What the collector of product code looks at, and no more."""
_examples = lru_cache(maxsize=4096)(outline_examples)
"""Tests that did not change are the same in both trees, and in the next attempt of a series."""
_MODES = {
    EntryType.FILE: 0o100644,
    EntryType.SYMLINK: 0o120000,
    EntryType.REPOSITORY: 0o160000,
    EntryType.SPECIAL: 0o010000,
    EntryType.DIRECTORY: 0o040000,
}


@dataclass(frozen=True)
class Attempt:
    """Two trees, by path. A text stands for a file in UTF-8."""

    before: Mapping[str, Thing] = field(default_factory=dict)
    after: Mapping[str, Thing] = field(default_factory=dict)
    litter: tuple[str, ...] = ()
    """Patterns of paths that the baseline's ignore rules call litter."""
    renamed: Mapping[str, str] = field(default_factory=dict)
    """Old path → new path, for files that were moved and edited; unedited moves are found."""

    @cached_property
    def changes(self) -> tuple[FileChange, ...]:
        """Every change, sorted by the true bytes of its path."""
        before, after = dict(self.before), dict(self.after)
        moves = self._moves()
        found = [self._change(before.pop(old), after.pop(new), new, old) for old, new in moves.items()]
        found += [
            self._change(before.get(path), after.get(path), path)
            for path in before.keys() | after.keys()
            if before.get(path) != after.get(path)
        ]
        return tuple(sorted(found, key=lambda change: path_bytes(change.path)))

    @cached_property
    def change_set(self) -> ChangeSet:
        """The change set; its diff is left empty."""
        identity = [change.model_dump(mode="json") for change in self.changes]
        return ChangeSet(
            baseline=BaselineRef(origin=BaselineOrigin.DIRECTORY, description="a dictionary"),
            changes=self.changes,
            diff=BlobRef(digest=digest_bytes(b""), size_bytes=0),
            digest=digest_json(identity),
        )

    @cached_property
    def contents(self) -> MemoryContents:
        """The bytes behind the change set."""
        return MemoryContents(self.before, self.after)

    def subject(self, workspace: Path = Path("/nonexistent"), *, instruction: str = "") -> Subject:
        """What a collector is given. Nothing is on disk unless `workspace` says where."""
        scenario = Scenario(name="attempt", instruction=instruction, recipe=Recipe(scorers=()))
        return Subject(
            task=Task(name="attempt", digest=digest_bytes(b"attempt"), scenario=scenario),
            change_set=self.change_set,
            baseline=None,
            workspace=WorkspaceTree(layers=(workspace,)),
            contents=self.contents,
        )

    def answer(self, request: AnyRequest) -> Record:
        """What a collector would answer: commands and tests pass, rewards are full, nothing is secret."""
        if isinstance(request, ParsedChange):
            return self._parsed(request)
        if isinstance(request, PathState):
            return self._path_state(request.path)
        if isinstance(request, CommandRun):
            return CommandOutcome(result=exec_result())
        if isinstance(request, SourceScan):
            return self._sources(request)
        if isinstance(request, HarnessScan):
            return self._harness()
        if isinstance(request, SuiteScan):
            return self._suites(request)
        if isinstance(request, ProductScan):
            return self._product(request)
        if isinstance(request, PatternSearch):
            return self._search(request)
        if isinstance(request, FileComparison):
            return ComparedFiles(files=())
        if isinstance(request, TestCollection):
            return CollectedTests(session=suite_session(), ids=())
        if isinstance(request, TestRun):
            tests = tuple(
                TrustedTest(id=id_, outcome=TestOutcome.PASSED, proof=Proof.VALUE)
                for id_ in request.expected or ("tests/test_a.py::test_a",)
            )
            return TrustedTestRun(tests=tests, sessions=(suite_session(), suite_session()), seed="seed")
        if isinstance(request, ReportRun):
            cases = (TestCase(id="a", outcome=TestOutcome.PASSED),)
            return ReportedTests(
                result=exec_result(), report=TestReport(format="junit", cases=cases), source="files"
            )
        if isinstance(request, CleanTree):
            return CleanTreeChanges(left_out=())
        if isinstance(request, Differential):
            return TreeComparison(outcome=Comparison.NOT_RUN, why="no test was changed")
        if isinstance(request, SuiteInventory):
            return SuiteInventories(why="no test was changed")
        if isinstance(request, Routes):
            return TakenRoutes(why="nothing was run")
        if isinstance(request, NearInputs):
            return NearAnswers(why="nothing was run")
        if isinstance(request, LeakScan):
            return FoundLeaks(traced=False)
        if isinstance(request, ConfinementRead):
            return Confinement()
        if isinstance(request, TraceRead):
            return SummarisedTrace(summary=None)
        if isinstance(request, OutputFile):
            data = self.contents.read(request.path, max_bytes=MAX_OUTPUT_BYTES + 1)
            return missing_output("no file is there") if data is None else check_output(data, request.format)
        if isinstance(request, VerifierRun):
            reading = RewardReading(reward=1.0, source="reward.json", rewards={"reward": 1.0})
            return VerifierOutcome(result=exec_result(), reading=reading, notes=VerifierNotes())
        if isinstance(request, ModelScoring):
            return ModelScores(
                votes=tuple(ModelVote(model=juror.model, score=1.0) for juror in request.jurors)
            )
        assert isinstance(request, SecretScan)
        return SecretFindings(findings=(), scanned_bytes=0)

    def evidence(
        self, requests: Iterable[AnyRequest], answers: Mapping[AnyRequest, Record] | None = None
    ) -> FakeEvidence:
        """Evidence for exactly these requests; `answers` overrides what the attempt itself would answer."""
        given = answers or {}
        return FakeEvidence({ask: given[ask] if ask in given else self._answered(ask) for ask in requests})

    def _answered(self, request: AnyRequest) -> Record:
        """An answer, made once: suites ask the same of an attempt many times."""
        if request not in self._answers:
            self._answers[request] = self.answer(request)
        return self._answers[request]

    @cached_property
    def _answers(self) -> dict[AnyRequest, Record]:
        return {}

    def score(
        self,
        scorer: type[Scorer[Any]],
        config: Mapping[str, object] | None = None,
        answers: Mapping[AnyRequest, Record] | None = None,
    ) -> ScorerOutcome:
        """What a scorer says of the attempt, with its fields as a recipe would write them."""
        made = scorer()
        checked = made.Config.model_validate(dict(config or {}))
        return made.score(checked, self.evidence(made.needs(checked), answers))

    def _moves(self) -> dict[str, str]:
        moves = dict(self.renamed)
        gone = [path for path in self.before if path not in self.after and path not in moves]
        come = [path for path in self.after if path not in self.before and path not in moves.values()]
        for old in gone:
            new = next((path for path in come if self.after[path] == self.before[old]), None)
            if new is not None and _type(self.before[old]) is EntryType.FILE and _data(self.before[old]):
                moves[old] = new
                come.remove(new)
        return moves

    def _change(
        self, old: Thing | None, new: Thing | None, path: str, moved_from: str | None = None
    ) -> FileChange:
        hunks = _hunks(old, new)
        return FileChange(
            path=path,
            old_path=moved_from,
            kind=_kind(old, new, moved=moved_from is not None),
            old_type=_type(old),
            new_type=_type(new),
            old_mode=_mode(old),
            new_mode=_mode(new),
            old_digest=_digest(old),
            new_digest=_digest(new),
            old_size_bytes=_size(old),
            new_size_bytes=_size(new),
            binary=hunks is None and not isinstance(new, Unreadable),
            hunks=hunks or (),
            added_lines=None if hunks is None else sum(hunk.new_lines for hunk in hunks),
            removed_lines=None if hunks is None else sum(hunk.old_lines for hunk in hunks),
            litter=path in PathPatterns(self.litter),
            unreadable=_why_unreadable(new),
        )

    def _parsed(self, request: ParsedChange) -> ParsedChangeSet:
        patterns = PathPatterns(request.lines_of)
        matching = [change for change in self.changes if any(path in patterns for path in change.paths)]
        cut = {change.path: self._lines(change) for change in matching}
        return ParsedChangeSet(
            change_set=self.change_set,
            files=tuple(lines for lines in cut.values() if lines is not None),
            without_lines=tuple(path for path, lines in cut.items() if lines is None),
        )

    def _lines(self, change: FileChange) -> FileLines | None:
        hunks = self.contents.hunks(change)
        if hunks is None:
            return None
        old, new = (_split(data) for data in (self._old(change), self._new(change)))
        lines: list[ChangedLine] = []
        for hunk in hunks:
            for numbered, start, count, added in (
                (old, hunk.old_start, hunk.old_lines, False),
                (new, hunk.new_start, hunk.new_lines, True),
            ):
                lines += [
                    ChangedLine(number=number, text=_text(numbered[number - 1]), added=added)
                    for number in range(start, start + count)
                ]
        return FileLines(path=change.path, old_path=change.old_path, lines=tuple(lines))

    def _old(self, change: FileChange) -> bytes:
        return _data(self.before.get(change.old_path or change.path))

    def _new(self, change: FileChange) -> bytes:
        return _data(self.after.get(change.path))

    def _sources(self, request: SourceScan) -> ScannedSources:
        changed = {change.path: change for change in self.change_set.changes}
        files: list[ScannedFile] = []
        for path in request.files or tuple(changed):
            source = self.contents.read(path, max_bytes=_MAX_BYTES)
            if source is None:
                files.append(ScannedFile(path=path, present=False, changed=path in changed))
                continue
            before = self._old(changed[path]) if path in changed else source
            files.append(
                ScannedFile(
                    path=path,
                    changed=path in changed,
                    before=outline_source(path, before) if before else None,
                    after=outline_source(path, source),
                )
            )
        return ScannedSources(files=tuple(files))

    def _suites(self, request: SuiteScan) -> ScannedSuites:
        patterns = PathPatterns(request.test_globset)
        files: list[ScannedSuite] = []
        for change in self.change_set.changes:
            old_path = change.old_path or change.path
            known = [
                path in patterns
                and reads_tests_of(path)
                and (request.third_party or not is_third_party(path))
                for path in (old_path, change.path)
            ]
            support = request.support and not any(known) and self._is_support(change)
            if not any(known) and not support:
                continue
            before, after = self._outlines(change, [True, True] if support else known)
            files.append(
                ScannedSuite(
                    path=change.path,
                    old_path=old_path,
                    before=before,
                    after=after,
                    readable=after is None or after.error_line is None,
                    support=support,
                )
            )
        return ScannedSuites(files=tuple(files))

    def _is_support(self, change: FileChange) -> bool:
        old_path = change.old_path or change.path
        there = change.old_type is EntryType.FILE and change.new_type is EntryType.FILE and not change.litter
        if not there or is_third_party(old_path) or not reads_tests_of(old_path):
            return False
        return is_support(old_path, self.contents.old(change, max_bytes=1024 * 1024))

    def _outlines(
        self, change: FileChange, known: list[bool]
    ) -> tuple[SuiteOutline | None, SuiteOutline | None]:
        old_path = change.old_path or change.path
        is_file = [kind is EntryType.FILE for kind in (change.old_type, change.new_type)]
        if all((*known, *is_file)):
            return outline_change(old_path, self._old(change), change.path, self._new(change))
        return (
            outline_tests(old_path, self._old(change)) if known[0] and is_file[0] else None,
            outline_tests(change.path, self._new(change)) if known[1] and is_file[1] else None,
        )

    def _product(self, request: ProductScan) -> ScannedProducts:
        patterns = PathPatterns(request.test_globset)
        files: list[ScannedProduct] = []
        for change in self.change_set.changes:
            path = change.path
            if path in patterns or grammar_of(path) is None:
                continue
            if not may_be_product(path) and not any(
                loads(other, _data(self.after[other]).decode("utf-8", "replace"), path)
                for other in self._importers(patterns)
            ):
                continue
            before, after = self._old(change), self._new(change)
            files.append(
                ScannedProduct(
                    path=path,
                    before=outline_product(change.old_path or path, before) if before else None,
                    after=outline_product(path, after) if after else None,
                )
            )
        code = b"".join(_data(self.after.get(file.path)) for file in files)
        for change in self.change_set.changes if files else ():
            path, added = change.path, self._new(change)
            known = change.old_type is not None or grammar_of(path) is not None or path in patterns
            if not known and added and may_hold_answers(path, code=code):
                files.append(ScannedProduct(path=path, after=outline_data(path, added)))
        sides = [ProductChange(file.path, file.before, file.after) for file in files]
        needles = [
            needle
            for side in sides
            for answer in (*added_answers(side), *added_choices(side), *added_keys(side))
            if (needle := needle_of(answer))
        ]
        tests = tuple(islice(self._examples(patterns, needles), _MAX_TESTS)) if needles else ()
        return ScannedProducts(files=tuple(files), tests=tests)

    def _importers(self, patterns: PathPatterns) -> Iterator[str]:
        """Product code that may load a changed file: as much of it as is looked at for real."""
        named = (
            path
            for path, thing in self.after.items()
            if grammar_of(path) is not None
            and path not in patterns
            and may_be_product(path)
            and len(_data(thing)) < _MAX_IMPORTER_BYTES
        )
        return islice(named, _MAX_IMPORTERS)

    def _examples(
        self, patterns: PathPatterns, needles: Sequence[tuple[bytes, ...]]
    ) -> Iterator[ScannedExamples]:
        """The examples of tests, before and after, that have the literals of an answer together."""
        for tree in (self.before, self.after):
            for path in sorted(tree):
                own = tree is self.after and self.before.get(path) != self.after.get(path)
                data = is_data_of_tests(path) and not own
                source = _data(tree[path]) if path in patterns or data else b""
                if not any(all(part in source for part in needle) for needle in needles):
                    continue
                if data:
                    yield ScannedExamples(path=path, examples=examples_of_data(path, source))
                elif (outline := _examples(path, source)) is not None:
                    yield ScannedExamples(path=path, own=own, examples=outline.examples)

    def _harness(self) -> ScannedHarness:
        files: list[HarnessFile] = []
        for change in self.change_set.changes:
            sides = [(change.old_path or change.path, self._old(change)), (change.path, self._new(change))]
            before, after = (
                (outline_config(path, data) or outline_harness(path, data)) if data else None
                for path, data in sides
            )
            if before is not None or after is not None:
                files.append(HarnessFile(path=change.path, role="config", before=before, after=after))
        return ScannedHarness(files=tuple(files))

    def _search(self, request: PatternSearch) -> PatternMatches:
        texts = {
            path: (self.contents.read(path, max_bytes=_MAX_BYTES) or b"").decode("utf-8", "replace")
            for path, _ in self.contents.walk()
        }
        matches = [
            PatternMatch(
                pattern=pattern,
                path=next(
                    (path for path, text in texts.items() if find_regex(pattern, text) is not None), None
                ),
            )
            for pattern in request.patterns
        ]
        return PatternMatches(matches=tuple(matches), searched_files=len(texts), searched_bytes=0)

    def _path_state(self, path: str) -> PathStatus:
        entry = self.contents.look(path)
        if entry is None:
            return PathStatus(exists=False, note="nothing is there")
        if entry.type is EntryType.SYMLINK and self.contents.look(entry.target or "") is None:
            return PathStatus(exists=False, note=f"a symlink to {entry.target}, which is not there")
        return PathStatus(exists=True, type=entry.type, size_bytes=entry.size_bytes)


class MemoryContents:
    """`contracts.Contents` over two dictionaries."""

    def __init__(self, before: Mapping[str, Thing], after: Mapping[str, Thing]) -> None:
        self._before = before
        self._after = after

    def look(self, path: str) -> WorkspaceEntry | None:
        """What lies at a path afterwards, itself."""
        if path not in self._after:
            below = any(other.startswith(f"{path}/") for other in self._after)
            return WorkspaceEntry(EntryType.DIRECTORY) if below else None
        thing = self._after[path]
        kind = _type(thing)
        assert kind is not None
        target = thing.target if isinstance(thing, Symlink) else None
        return WorkspaceEntry(kind, size_bytes=_size(thing), target=target)

    def read(self, path: str, *, max_bytes: int) -> bytes | None:
        """A file afterwards."""
        thing = self._after.get(path)
        readable = _type(thing) is EntryType.FILE and not isinstance(thing, Unreadable)
        return _data(thing)[:max_bytes] if readable else None

    def walk(self) -> Iterator[tuple[str, WorkspaceEntry]]:
        """Everything afterwards that is not a folder."""
        for path in sorted(self._after, key=path_bytes):
            entry = self.look(path)
            if entry is not None and entry.type is not EntryType.DIRECTORY and ".git" not in path.split("/"):
                yield path, entry

    def hunks(self, change: FileChange) -> tuple[Hunk, ...] | None:
        """Which lines changed."""
        return None if change.binary or change.unreadable is not None else change.hunks

    def old(self, change: FileChange, *, max_bytes: int) -> bytes:
        """The content before."""
        return _data(self._before.get(change.old_path or change.path))[:max_bytes]

    def new(self, change: FileChange, *, max_bytes: int) -> bytes:
        """The content afterwards."""
        thing = self._after.get(change.path)
        if isinstance(thing, Unreadable):
            raise WorkspaceUnreadable(f"{change.path} cannot be read: permission denied")
        return _data(thing)[:max_bytes]


class FakeEvidence:
    """`contracts.Evidence` from given answers; asking for anything else is a `KeyError`, as for real."""

    def __init__(self, answers: Mapping[AnyRequest, Record]) -> None:
        self._answers = dict(answers)

    def __getitem__(self, request: Any) -> Any:
        if request not in self._answers:
            raise KeyError(f"{request!r} was not declared in needs()")
        return self._answers[request]


def suite_session(complete: bool = True, **more: Any) -> TestSession:
    """One run of a suite, as seen from outside."""
    return TestSession(result=exec_result(), runner="pytest 9.0", complete=complete, collected=1, **more)


def exec_result(
    exit_code: int | None = 0,
    *,
    ended: Ended = Ended.EXITED,
    signal: int | None = None,
    stdout: str = "",
    stderr: str = "",
    reason: str = "",
) -> ExecResult:
    """How a command went: by default, exit code 0 and no output."""
    return ExecResult(
        ended=ended,
        exit_code=exit_code if ended is Ended.EXITED else None,
        signal=signal,
        stdout=_blob(stdout),
        stderr=_blob(stderr),
        usage=Usage(wall_s=0.1),
        reason=reason,
    )


def _blob(text: str) -> BlobRef:
    data = text.encode("utf-8", "replace")
    return BlobRef(digest=digest_bytes(data), size_bytes=len(data), head=text)


def _why_unreadable(thing: Thing | None) -> str | None:
    if isinstance(thing, Unreadable):
        return "permission denied"
    return "cannot be listed: permission denied" if isinstance(thing, Folder) and not thing.listed else None


def _type(thing: Thing | None) -> EntryType | None:
    match thing:
        case None:
            return None
        case Symlink():
            return EntryType.SYMLINK
        case Repository():
            return EntryType.REPOSITORY
        case Special():
            return EntryType.SPECIAL
        case Folder():
            return EntryType.DIRECTORY
        case _:
            return EntryType.FILE


def _data(thing: Thing | None) -> bytes:
    match thing:
        case bytes():
            return thing
        case str():
            return thing.encode()
        case Executable(content):
            return content.encode() if isinstance(content, str) else content
        case Symlink(target):
            return path_bytes(target)
        case _:
            return b""


def _mode(thing: Thing | None) -> int | None:
    kind = _type(thing)
    if kind is None:
        return None
    return 0o100755 if isinstance(thing, Executable) else _MODES[kind]


def _has_content(thing: Thing | None) -> bool:
    return _type(thing) in (EntryType.FILE, EntryType.SYMLINK) and not isinstance(thing, Unreadable)


def _digest(thing: Thing | None) -> str | None:
    if isinstance(thing, Repository):
        return digest_bytes(thing.commit.encode())
    return digest_bytes(_data(thing)) if _has_content(thing) else None


def _size(thing: Thing | None) -> int | None:
    if isinstance(thing, Unreadable):
        return thing.size_bytes
    return len(_data(thing)) if _has_content(thing) else None


def _kind(old: Thing | None, new: Thing | None, *, moved: bool) -> ChangeKind:
    if moved:
        return ChangeKind.RENAMED
    if old is None:
        return ChangeKind.ADDED
    if new is None:
        return ChangeKind.DELETED
    if _type(old) is not _type(new):
        return ChangeKind.TYPE_CHANGED
    return (
        ChangeKind.MODE_CHANGED
        if _data(old) == _data(new) and _mode(old) != _mode(new)
        else ChangeKind.MODIFIED
    )


def _split(data: bytes) -> list[bytes]:
    lines = data.split(b"\n")
    return lines[:-1] if lines[-1] == b"" else lines


def _text(line: bytes) -> str:
    return line.removesuffix(b"\r").decode("utf-8", "replace")


def _hunks(old: Thing | None, new: Thing | None) -> tuple[Hunk, ...] | None:
    if isinstance(old, Unreadable) or isinstance(new, Unreadable):
        return None
    a, b = _data(old), _data(new)
    if b"\0" in a or b"\0" in b:
        return None
    old_lines, new_lines = _split(a), _split(b)
    # Comparing takes the square of what is compared: lines at both ends that are the same need none.
    same = _common(old_lines, new_lines)
    ending = _common(old_lines[same:][::-1], new_lines[same:][::-1])
    matcher = difflib.SequenceMatcher(
        None,
        old_lines[same : len(old_lines) - ending],
        new_lines[same : len(new_lines) - ending],
        autojunk=False,
    )
    return tuple(
        Hunk(
            old_start=same + i1 + (i2 > i1),
            old_lines=i2 - i1,
            new_start=same + j1 + (j2 > j1),
            new_lines=j2 - j1,
        )
        for tag, i1, i2, j1, j2 in matcher.get_opcodes()
        if tag != "equal"
    )


def _common(old: Sequence[bytes], new: Sequence[bytes]) -> int:
    """How many lines at the beginning are the same."""
    pairs = enumerate(zip(old, new, strict=False))
    return next((index for index, (one, other) in pairs if one != other), min(len(old), len(new)))
