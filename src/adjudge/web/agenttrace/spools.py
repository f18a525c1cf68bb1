"""Copies of stored blobs that can be read at any place, made once and kept for a while.

A blob is compressed and checked as a whole, so that its middle can only be reached from its beginning. The
copies have no name in the file system and are gone with the process.
"""

from __future__ import annotations

import tempfile
import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterator
from contextlib import contextmanager
from typing import BinaryIO, Generic, Protocol, TypeVar

__all__ = ["MAX_SPOOLED_BYTES", "Closing", "Kept", "spool"]

MAX_SPOOLED_BYTES = 256 << 20
"""Of one blob; what is beyond can be had as a download."""
_CHUNK = 1 << 20


class Closing(Protocol):
    """Something that holds a file open."""

    size_bytes: int

    def close(self) -> None:
        """Let go of it."""


Item = TypeVar("Item", bound=Closing)


class Kept(Generic[Item]):
    """The things used last, by key, within a number and an amount of bytes.

    What somebody is reading is not closed under them: it goes when the last reader is done.

    Args:
        items: How many are kept.
        size_bytes: How much they may take together.
    """

    def __init__(self, *, items: int = 8, size_bytes: int = 512 << 20) -> None:
        self._max_items = items
        self._max_bytes = size_bytes
        self._lock = threading.Lock()
        self._making: dict[Hashable, threading.Lock] = {}
        self._held: OrderedDict[Hashable, _Holding[Item]] = OrderedDict()

    @contextmanager
    def use(self, key: Hashable, make: Callable[[], Item]) -> Iterator[Item]:
        """The thing under a key, made when it is not there; two who ask at once make it once."""
        holding = self._take(key)
        if holding is None:
            with self._lock:
                alone = self._making.setdefault(key, threading.Lock())
            with alone:
                holding = self._take(key) or self._add(key, make())
            with self._lock:
                self._making.pop(key, None)
        try:
            yield holding.item
        finally:
            with self._lock:
                holding.readers -= 1
                self._settle(holding)

    def _take(self, key: Hashable) -> _Holding[Item] | None:
        with self._lock:
            holding = self._held.get(key)
            if holding is not None:
                self._held.move_to_end(key)
                holding.readers += 1
            return holding

    def _add(self, key: Hashable, item: Item) -> _Holding[Item]:
        holding = _Holding(item)
        with self._lock:
            self._held[key] = holding
            while len(self._held) > 1 and (
                len(self._held) > self._max_items
                or sum(held.item.size_bytes for held in self._held.values()) > self._max_bytes
            ):
                _, oldest = self._held.popitem(last=False)
                oldest.dropped = True
                self._settle(oldest)
        return holding

    def _settle(self, holding: _Holding[Item]) -> None:
        if holding.dropped and not holding.readers and not holding.closed:
            holding.closed = True
            holding.item.close()

    def close(self) -> None:
        """Let go of everything."""
        with self._lock:
            while self._held:
                _, holding = self._held.popitem()
                holding.dropped = True
                self._settle(holding)


class _Holding(Generic[Item]):
    """A thing, and who is at it."""

    def __init__(self, item: Item) -> None:
        self.item = item
        self.readers = 1
        self.dropped = False
        self.closed = False


def spool(source: BinaryIO) -> tuple[BinaryIO, int, bool]:
    """A copy that can be read at any place, how many bytes it has, and whether it is cut."""
    copy = tempfile.TemporaryFile(prefix="adjudge-view-")  # noqa: SIM115  # the caller's to close
    size = 0
    try:
        while size < MAX_SPOOLED_BYTES and (chunk := source.read(min(_CHUNK, MAX_SPOOLED_BYTES - size))):
            copy.write(chunk)
            size += len(chunk)
        cut = size >= MAX_SPOOLED_BYTES and bool(source.read(1))
        copy.flush()
    except BaseException:
        copy.close()
        raise
    return copy, size, cut
