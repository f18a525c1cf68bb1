"""Taking in what a command prints: streamed, capped, observed; shared by every backend.

With a blob store the bytes go there as they arrive; without one only both ends are kept. Nothing is held
whole in memory, and nothing printed is ever trusted or executed.
"""

from __future__ import annotations

import asyncio
import contextlib
import fcntl
import os
from collections.abc import Callable
from typing import Literal

from adjudge.contracts import BlobStore, BlobWriter, OutputObserver
from adjudge.formats.blobs import UnstoredBlob
from adjudge.records.base import BlobRef

__all__ = ["OutputPump", "sealed_stdin"]

_CHUNK = 64 * 1024
_ALL_SEALS = fcntl.F_SEAL_SEAL | fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_GROW | fcntl.F_SEAL_WRITE

Stream = Literal["stdout", "stderr"]


class OutputPump:
    """Reads the two output pipes of one exec in the running event loop.

    The pump never waits for the writers: once the tree is dead, `finish` takes what is still in the pipes
    and closes them, so that a descriptor which leaked somewhere cannot hold an exec open.

    Args:
        stdout: Read end of the command's stdout; owned by the pump from here on.
        stderr: Read end of its stderr, likewise.
        limit_bytes: How much of both together is kept. The rest is counted and dropped.
        blobs: Where the bytes go; None keeps both ends only.
        on_output: Sees each kept chunk as it arrives.
        on_limit: Called once, from the event loop, when the limit is exceeded.
        on_failure: Called once, from the event loop, when the store or the observer raised; `finish` will
            raise the same, so there is no point in letting the command run on.
    """

    def __init__(
        self,
        stdout: int,
        stderr: int,
        *,
        limit_bytes: int,
        blobs: BlobStore | None = None,
        on_output: OutputObserver | None = None,
        on_limit: Callable[[], None] | None = None,
        on_failure: Callable[[], None] | None = None,
    ) -> None:
        self._loop = asyncio.get_running_loop()
        self._left = limit_bytes
        self._on_output = on_output
        self._on_limit = on_limit
        self._on_failure = on_failure
        self._limited = False
        self._open: dict[Stream, int] = {"stdout": stdout, "stderr": stderr}
        self._writers: dict[Stream, BlobWriter] = {}
        self._sizes: dict[Stream, int] = {"stdout": 0, "stderr": 0}
        self.failure: BaseException | None = None
        """What the blob store or the observer raised; the pipes are still emptied so nothing blocks."""
        try:
            for stream, descriptor in self._open.items():
                self._writers[stream] = UnstoredBlob() if blobs is None else blobs.writer()
                os.set_blocking(descriptor, False)
            for stream, descriptor in self._open.items():
                self._loop.add_reader(descriptor, self._read, stream)
        except BaseException:
            self.abort()
            raise

    @property
    def ended(self) -> bool:
        """Whether both pipes were closed by their writers."""
        return not self._open

    def _read(self, stream: Stream) -> bool:
        """Take one chunk; whether there may be more right now."""
        descriptor = self._open.get(stream)
        if descriptor is None:
            return False
        try:
            data = os.read(descriptor, _CHUNK)
        except BlockingIOError:
            return False
        except OSError:
            # A pseudo-terminal whose last writer left reads as EIO; there is nothing more to come.
            data = b""
        if not data:
            self._close(stream)
            return False
        self._take(stream, data)
        return True

    def _take(self, stream: Stream, data: bytes) -> None:
        self._sizes[stream] += len(data)
        kept = data[: self._left]
        self._left -= len(kept)
        if kept and self.failure is None:
            try:
                self._writers[stream].write(kept)
                if self._on_output is not None:
                    self._on_output(stream, kept)
            except Exception as error:
                self.failure = error
                if self._on_failure is not None:
                    self._on_failure()
        if len(kept) < len(data) and not self._limited:
            self._limited = True
            if self._on_limit is not None:
                self._on_limit()

    def _close(self, stream: Stream) -> None:
        descriptor = self._open.pop(stream, None)
        if descriptor is not None:
            self._loop.remove_reader(descriptor)
            os.close(descriptor)

    def finish(self) -> tuple[BlobRef, BlobRef]:
        """Take what is left in the pipes and close them. Call it when the whole tree is dead.

        Raises:
            Exception: What the blob store or the observer raised on the way.
        """
        for stream in list(self._open):
            # A writer that survived (a backend without isolation) must not keep us here: the kernel's pipe
            # buffer bounds what honest output can be left.
            for _ in range(1024 * 1024 // _CHUNK + 1):
                if not self._read(stream):
                    break
            self._close(stream)
        if self.failure is not None:
            self.abort()
            raise self.failure
        stdout = self._writers["stdout"].commit(size_bytes=self._sizes["stdout"])
        stderr = self._writers["stderr"].commit(size_bytes=self._sizes["stderr"])
        return stdout, stderr

    def detach(self) -> tuple[BlobRef, BlobRef]:
        """What was printed so far; from here on bytes are taken and dropped, so that no writer blocks.

        For a tree that outlives its command. `abort` closes the pipes.
        """
        for stream in list(self._open):
            for _ in range(1024 * 1024 // _CHUNK + 1):
                if not self._read(stream):
                    break
        if self.failure is not None:
            self.abort()
            raise self.failure
        stdout = self._writers["stdout"].commit(size_bytes=self._sizes["stdout"])
        stderr = self._writers["stderr"].commit(size_bytes=self._sizes["stderr"])
        self._left = 0
        self._limited = True
        return stdout, stderr

    def abort(self) -> None:
        """Close the pipes and forget the bytes. Harmless after `finish`."""
        for stream in list(self._open):
            self._close(stream)
        for writer in self._writers.values():
            writer.abort()


def sealed_stdin(data: bytes) -> int:
    """A descriptor from which a command reads `data` and then end of file.

    A sealed memory file: nothing has to feed it while the command runs, and the command can neither grow
    nor change it.
    """
    if not data:
        return os.open(os.devnull, os.O_RDONLY | os.O_CLOEXEC)
    writer = os.memfd_create("stdin", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
    try:
        view = memoryview(data)
        while view:
            view = view[os.write(writer, view) :]
        fcntl.fcntl(writer, fcntl.F_ADD_SEALS, _ALL_SEALS)
        # Opened anew, so that the command gets a descriptor that was never writable.
        return os.open(f"/proc/self/fd/{writer}", os.O_RDONLY | os.O_CLOEXEC)
    finally:
        with contextlib.suppress(OSError):
            os.close(writer)
