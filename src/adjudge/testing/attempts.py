r"""Attempts made of two dictionaries: what a workspace held before, and what it holds after.

For tests of scorers and collectors. An `Attempt` gives the change set, the contents behind it, and the
evidence a scorer asks for:

    attempt = Attempt(before={"a.py": "x = 1\n"}, after={"a.py": "x = 2\n", "b.py": Symlink("a.py")})
    outcome = attempt.score(MyScorer, {"limit": 1})

The real thing is `adjudge.capture`; this one knows files, symlinks, modes and exact renames, and is exact
about them. What takes the two trees alone is answered by the real collectors; what would run something is
answered as if all went well, unless a test says otherwise.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, TypeAlias

from adjudge.contracts import SandboxBackend, Scorer, Subject, WorkspaceEntry
from adjudge.engine.collect import collect_at_once
from adjudge.engine.collectors import Means, make_collector
from adjudge.errors import WorkspaceUnreadable
from adjudge.formats.patterns import PathPatterns
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
    CleanTree,
    CleanTreeChanges,
    CommandOutcome,
    CommandRun,
    ComparedFiles,
    Confinement,
    ConfinementRead,
    Differential,
    FileComparison,
    FoundLeaks,
    LeakScan,
    ModelScores,
    ModelScoring,
    ModelVote,
    NearInputs,
    ReportedTests,
    ReportRun,
    Routes,
    SecretFindings,
    SecretScan,
    SuiteInventory,
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
from adjudge.records.task import SandboxSettings, Scenario, Task
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

_LOOKED_AT = frozenset(
    {
        "parsed_change", "path_state", "source_scan", "suite_scan", "product_scan", "harness_scan",
        "pattern_search", "output_file",
    }
)  # fmt: skip
"""Kinds of evidence that take the two trees and nothing else: the real collectors answer them."""


def _no_backend() -> SandboxBackend:
    raise AssertionError("nothing is run")


_MEANS = Means(_no_backend, SandboxSettings())
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
        if request.kind in _LOOKED_AT:
            return self._collected(request)
        if isinstance(request, CommandRun):
            return CommandOutcome(result=exec_result())
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
        if isinstance(request, VerifierRun):
            reading = RewardReading(reward=1.0, source="reward.json", rewards={"reward": 1.0})
            return VerifierOutcome(result=exec_result(), reading=reading, notes=VerifierNotes())
        if isinstance(request, ModelScoring):
            return ModelScores(
                votes=tuple(ModelVote(model=juror.model, score=1.0) for juror in request.jurors)
            )
        assert isinstance(request, SecretScan)
        return SecretFindings(findings=(), scanned_bytes=0)

    def _collected(self, request: AnyRequest) -> Record:
        """What the real collector answers."""
        collector = make_collector(request.kind, _MEANS)
        piece = collect_at_once([("", request)], {request.kind: collector}, self.subject())[""]
        if piece.answer is None:
            assert piece.error is not None
            raise piece.error
        return piece.answer

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
