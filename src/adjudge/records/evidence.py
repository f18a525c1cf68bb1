"""Evidence: the middle noun. Scorers ask for it with requests; collectors answer each distinct request once.

The set is closed: a request and its answer are defined side by side here. A request is a value (equal
requests of different scorers are one piece of work) and its digest, with the subject's, is a cache key.
"""

from __future__ import annotations

from enum import StrEnum
from typing import ClassVar, Literal, Protocol, TypeVar

from pydantic import Field

from adjudge.records.base import Record, digest_json
from adjudge.records.change import ChangeSet, EntryType
from adjudge.records.paths import WorkspacePath
from adjudge.records.sandbox import ExecResult
from adjudge.records.score import Finding

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


AnyRequest = ParsedChange | CommandRun | PathState | SecretScan
"""Every request there is."""

RequestKind = Literal["parsed_change", "command_run", "path_state", "secret_scan"]
