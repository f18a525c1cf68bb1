"""Evidence: the middle noun. Scorers ask for it with requests; collectors answer each distinct request once.

The set is closed: a request and its answer are defined side by side here. A request is a value (equal
requests of different scorers are one piece of work) and its digest, with the subject's, is a cache key.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import ClassVar, Literal, Protocol, TypeVar

from pydantic import Field

from adjudge.records.base import Record, digest_json
from adjudge.records.change import ChangeSet, EntryType
from adjudge.records.paths import WorkspacePath
from adjudge.records.sandbox import ExecResult
from adjudge.records.score import Finding
from adjudge.records.testreport import CollectedTests, TrustedTestRun

__all__ = [
    "AnyRequest",
    "ChangedLine",
    "CommandOutcome",
    "CommandRun",
    "EvidenceRequest",
    "FileLines",
    "Isolation",
    "ParsedChange",
    "ParsedChangeSet",
    "PathState",
    "PathStatus",
    "RequestFor",
    "SecretFindings",
    "SecretScan",
    "TestCollection",
    "TestCommand",
    "TestProof",
    "TestRun",
]

Answer_co = TypeVar("Answer_co", covariant=True)


class RequestFor(Protocol[Answer_co]):
    """A request whose answer is of a known type; gives `evidence[request]` its static type."""

    @property
    def answer_type(self) -> type[Answer_co]:
        """The record that answers it."""

    @property
    def digest(self) -> str:
        """Identity of the request."""


class EvidenceRequest(Record):
    """Base of all requests."""

    kind: ClassVar[str]

    @property
    def digest(self) -> str:
        """Identity of the request: its kind and every field."""
        return digest_json([self.kind, self.model_dump(mode="json")])


class ChangedLine(Record):
    """One added or removed line of a text file."""

    number: int
    """1-based; in the final file for an added line, in the baseline's for a removed one."""
    text: str
    """Without its line ending, decoded with replacement."""
    added: bool


class FileLines(Record):
    """The changed lines of one file, in diff order."""

    path: WorkspacePath
    old_path: WorkspacePath | None = None
    lines: tuple[ChangedLine, ...]


class ParsedChangeSet(Record):
    """The change set, and the changed lines of the files asked for."""

    change_set: ChangeSet
    files: tuple[FileLines, ...] = ()
    """Files whose path (or old path) matched `ParsedChange.lines_of`; binary and oversized ones have no
    lines and are named in `without_lines`."""
    without_lines: tuple[WorkspacePath, ...] = ()


class ParsedChange(EvidenceRequest):
    """What changed. Lines are parsed only for the paths that some scorer looks into."""

    kind: ClassVar[str] = "parsed_change"
    lines_of: tuple[str, ...] = ()
    """fnmatch patterns; litter is included when it matches."""

    @property
    def answer_type(self) -> type[ParsedChangeSet]:
        """A parsed change set."""
        return ParsedChangeSet


class Isolation(StrEnum):
    """What a scorer that runs code sees of the workspace."""

    SNAPSHOT = "snapshot"
    """A private copy of the final workspace."""


class CommandOutcome(Record):
    """How a command went in its sandbox."""

    result: ExecResult


class CommandRun(EvidenceRequest):
    """A shell command run in a fresh sandbox over the final workspace."""

    kind: ClassVar[str] = "command_run"
    command: str
    timeout_s: float = Field(gt=0)
    isolation: Isolation = Isolation.SNAPSHOT

    @property
    def answer_type(self) -> type[CommandOutcome]:
        """A command's outcome."""
        return CommandOutcome


class PathStatus(Record):
    """What lies at a path of the final workspace. Links are followed as long as they stay inside it."""

    exists: bool
    type: EntryType | None = None
    """What the path itself is; a symlink that leads to something inside is `symlink`."""
    size_bytes: int | None = None
    note: str = ""
    """Why a path that seems to be there does not count, such as a symlink that leaves the workspace."""


class PathState(EvidenceRequest):
    """Asks what lies at a path of the final workspace."""

    kind: ClassVar[str] = "path_state"
    path: WorkspacePath

    @property
    def answer_type(self) -> type[PathStatus]:
        """A path's status."""
        return PathStatus


class SecretFindings(Record):
    """Secret-like strings in added lines; messages never contain the secret itself."""

    findings: tuple[Finding, ...]
    scanned_bytes: int
    unscanned: tuple[WorkspacePath, ...] = ()
    """Changed files whose text could not be scanned whole."""
    scanner: str = ""
    """What scanned, with its version: it decides what is found."""


class SecretScan(EvidenceRequest):
    """Asks for secret-like strings in what the attempt added, litter included."""

    kind: ClassVar[str] = "secret_scan"

    @property
    def answer_type(self) -> type[SecretFindings]:
        """Findings of the scan."""
        return SecretFindings


class TestCommand(Record):
    """How a suite is started."""

    __test__: ClassVar[bool] = False

    runner: Literal["pytest", "unittest"] = "pytest"
    python: tuple[str, ...] = ("python3",)
    """The interpreter, found on the sandbox's PATH or named by an absolute path."""
    args: tuple[str, ...] = ()
    """For the runner: files, folders and options. Never single ids: what is expected is not told inside."""
    path: tuple[str, ...] = (".",)
    """Import path, before everything else, relative to the workspace."""
    config: str | None = None
    """pytest's configuration file in the workspace; no other is read. None: none at all."""
    env: Mapping[str, str] = Field(default_factory=dict)


class TestCollection(EvidenceRequest):
    """Asks which tests there are in the baseline, and which plugins its environment has."""

    __test__: ClassVar[bool] = False

    kind: ClassVar[str] = "test_collection"
    command: TestCommand
    timeout_s: float = Field(default=300.0, gt=0)

    @property
    def answer_type(self) -> type[CollectedTests]:
        """What was found."""
        return CollectedTests


class TestProof(StrEnum):
    """How results are proven."""

    __test__ = False

    TWIN = "twin"
    """Two sessions; each test that can be falsified is falsified in one of them."""
    SINGLE = "single"
    """One session as written; every pass is unproven."""


class TestRun(EvidenceRequest):
    """Asks for a trusted run of the suite's test files over the final workspace."""

    __test__: ClassVar[bool] = False

    kind: ClassVar[str] = "test_run"
    command: TestCommand
    files: tuple[str, ...] = ()
    """The test files, relative to the workspace; they run as the baseline has them."""
    expected: tuple[str, ...] | None = None
    """Ids that have to be accounted for. None: every test the files define."""
    plugins: tuple[str, ...] = ()
    """pytest plugins to load, by entry-point name; none loads itself."""
    proof: TestProof = TestProof.TWIN
    timeout_s: float = Field(default=900.0, gt=0)
    """For a whole session."""
    test_timeout_s: float = Field(default=60.0, ge=0)
    """For one test; 0 for no limit."""
    isolation: Isolation = Isolation.SNAPSHOT

    @property
    def answer_type(self) -> type[TrustedTestRun]:
        """What can be believed of it."""
        return TrustedTestRun


AnyRequest = ParsedChange | CommandRun | PathState | SecretScan | TestCollection | TestRun
"""Every request there is."""

RequestKind = Literal[
    "parsed_change", "command_run", "path_state", "secret_scan", "test_collection", "test_run"
]
