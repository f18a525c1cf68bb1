"""Every seam in one file. Implementations are found through `adjudge.catalog`, never imported by name.

A protocol says what its two sides may rely on; the suites in `adjudge.testing` check the same sentences on
every implementation.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import PurePosixPath
from typing import BinaryIO, ClassVar, Literal, Protocol, Self

from adjudge.records.base import BlobRef
from adjudge.records.sandbox import (
    ExecRequest,
    ExecResult,
    SandboxReport,
    SandboxSpec,
    SandboxSupport,
    WorkspaceTree,
)

__all__ = ["BlobStore", "BlobWriter", "OutputObserver", "Sandbox", "SandboxBackend"]

OutputObserver = Callable[[Literal["stdout", "stderr"], bytes], None]
"""Called with each chunk of output as it arrives, in order per stream. It must not block."""


class BlobWriter(Protocol):
    """Bytes on their way into a blob store. Either `commit` or `abort` ends it."""

    def write(self, data: bytes) -> None:
        """Append `data`."""

    def commit(self, *, size_bytes: int | None = None) -> BlobRef:
        """Keep the bytes. `size_bytes` says how many there were in all when some were dropped on the way."""

    def abort(self) -> None:
        """Forget the bytes. Harmless after `commit`."""


class BlobStore(Protocol):
    """Content-addressed bytes."""

    def writer(self) -> BlobWriter:
        """Start a new blob, streamed."""

    def open(self, ref: BlobRef) -> BinaryIO:
        """Open a stored blob for reading. Raises `StoreError` when it is missing or damaged."""


class Sandbox(Protocol):
    """A started sandbox: a private copy of a workspace in which commands of an untrusted party run.

    Execs of one sandbox run one at a time (a second waits) and share the workspace, /tmp and HOME; every
    process an exec leaves behind is ended when it returns. An async context manager that discards on exit.
    """

    @property
    def report(self) -> SandboxReport:
        """How this sandbox came about."""

    async def exec(self, request: ExecRequest, *, on_output: OutputObserver | None = None) -> ExecResult:
        """Run a command to its end. Failure of the command is a result; only our own failure raises.

        Cancelling the awaiting task ends the whole process tree before the cancellation propagates.
        """

    async def read_file(self, path: PurePosixPath, *, max_bytes: int) -> bytes:
        """Read a regular file as the sandbox sees it, at most `max_bytes` of it.

        Never follows a symlink in any part of the path, never opens anything but a regular file.

        Raises:
            FileNotFoundError: Nothing is there.
            SubjectError: Something is there, but not a regular file reachable without a symlink.
        """

    async def write_file(self, path: PurePosixPath, data: bytes, *, mode: int = 0o644) -> None:
        """Write a regular file in the workspace, owned by the sandbox's user, creating parents.

        Whatever lies at `path` is replaced, never followed; a symlink or non-directory among its parents
        is a `SubjectError`.
        """

    async def end_processes(self) -> None:
        """End every process; a running exec returns `cancelled`. None is alive when this returns."""

    def tree(self) -> WorkspaceTree:
        """The workspace on the host's disk, for capture and for snapshots. Valid until `discard`."""

    async def discard(self) -> None:
        """End every process and remove everything the sandbox left: files, mounts, cgroups, leases."""

    async def __aenter__(self) -> Self: ...

    async def __aexit__(self, *exc: object) -> None: ...


class SandboxBackend(Protocol):
    """A way of making sandboxes. Constructed without arguments; cheap until `start`."""

    name: ClassVar[str]

    def probe(self) -> SandboxSupport:
        """What this backend can do on this machine, found out by trying it. Never raises."""

    async def start(self, spec: SandboxSpec, *, blobs: BlobStore | None = None) -> Sandbox:
        """Start a sandbox. With `blobs`, command output is kept there whole (up to the output limit).

        Raises:
            SandboxUnavailable: This machine cannot run the backend, with what to install as the hint.
            SandboxError: It could, but not this time.
        """
