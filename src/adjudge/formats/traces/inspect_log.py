"""Inspect logs: `.json`, `.eval`, and single samples taken out of either.

A log of several samples is read as one trace, sample after sample. `.eval` is a zip whose entries are
compressed with Zstandard or deflate; its samples are read one at a time, streamed, also where one is split
over several entries. Input leaves caches out.
"""

from __future__ import annotations

import importlib
import re
import sys
from collections.abc import Iterator, Mapping
from typing import Any, BinaryIO, ClassVar, Final

from adjudge.errors import TraceUnreadable
from adjudge.formats.traces.documents import END, Part, read_parts
from adjudge.formats.traces.lines import broken
from adjudge.formats.traces.openai_chat import openai_message
from adjudge.formats.traces.usage import bad_counts
from adjudge.formats.traces.values import (
    cost_of,
    count_of,
    json_text,
    mapping_of,
    name_of,
    seconds_of,
    text_of,
    time_of,
)
from adjudge.records.trace import (
    BrokenLine,
    PermissionResponse,
    Stop,
    Thought,
    TokenCounts,
    TraceItem,
    TraceUsage,
)

__all__ = ["InspectLog"]

_LOG: Final = re.compile(
    rb'\A\s*\{(?=.*"version"\s*:\s*\d)(?=.*"eval"\s*:\s*\{)(?=.*"status"\s*:)', re.DOTALL
)
_SAMPLE: Final = re.compile(
    rb'\A\s*\{(?=.*"epoch"\s*:)(?=.*"(?:target|messages)"\s*:)(?=.*"id"\s*:)', re.DOTALL
)
_ENTRY: Final = re.compile(
    r"^samples/(?P<sample>[^/]+_epoch_\d+)(?:\.json$|/(?:(?:sample|metadata|skeleton)\.json|messages/(?P<n>\d+)\.json)$)"
)
_MOST_UNPACKED: Final = 4 * 1024**3
_LISTS: Final = (("samples", "*", "messages"), ("messages",), ())


class InspectLog:
    """Samples of Inspect."""

    name: ClassVar[str] = "inspect"

    def recognises(self, head: bytes, filename: str) -> bool:
        """Whether it is a log or a sample, or a zip that holds samples."""
        if head.startswith(b"PK\x03\x04"):
            return filename.endswith(".eval") or b"_journal/" in head[:200] or b"samples/" in head[:200]
        return _LOG.search(head) is not None or _SAMPLE.search(head) is not None

    def events(self, stream: BinaryIO) -> Iterator[TraceItem]:
        """Read a log or a sample."""
        magic = stream.peek(4)[:4] if hasattr(stream, "peek") else b""
        if not magic and stream.seekable():
            magic = stream.read(4)
            stream.seek(-len(magic), 1)
        if magic == b"PK\x03\x04":
            yield from _of_archive(stream)
        else:
            yield from _Reader().read(stream)


def _of_archive(stream: BinaryIO) -> Iterator[TraceItem]:
    # Loaded here: the standard library reads Zstandard entries from Python 3.14 on.
    module = "zipfile" if sys.version_info >= (3, 14) else "backports.zstd.zipfile"
    zipfile = importlib.import_module(module)
    try:
        archive = zipfile.ZipFile(stream)
    except (zipfile.BadZipFile, OSError, ValueError, NotImplementedError) as error:
        raise TraceUnreadable(f"inspect log: not a readable zip file: {error}") from error
    entries = [(match, name) for name in archive.namelist() if (match := _ENTRY.match(name))]
    if not entries:
        raise TraceUnreadable("inspect log: no sample in it")
    samples: dict[str, list[tuple[int, str]]] = {}
    for match, name in entries:
        samples.setdefault(match["sample"], []).append((int(match["n"] or -1), name))
    budget = _Budget(_MOST_UNPACKED)
    with archive:
        for names in samples.values():
            reader = _Reader()
            # What a sample says of itself comes last: its end belongs behind its messages.
            for number, name in sorted(names, key=lambda entry: (entry[0] < 0, entry)):
                try:
                    with archive.open(name) as entry:
                        yield from reader.read(budget.of(entry), close=False)
                except (
                    zipfile.BadZipFile,
                    OSError,
                    EOFError,
                    ValueError,
                    NotImplementedError,
                    RuntimeError,
                ) as error:
                    yield broken(max(number, 0), f"{name[:200]}: {error}", b"")
            yield from reader.close()


class _Budget:
    """How much may be unpacked in all: entries of a zip file can hold a thousand times their size."""

    def __init__(self, left: int) -> None:
        self._left = left

    def of(self, entry: BinaryIO) -> _Metered:
        """An entry that is read on this budget."""
        return _Metered(self, entry)

    def spend(self, size: int) -> None:
        """Take what was read off it."""
        self._left -= size
        if self._left < 0:
            raise ValueError(f"more than {_MOST_UNPACKED:,} bytes unpacked")


class _Metered:
    def __init__(self, budget: _Budget, entry: BinaryIO) -> None:
        self._budget = budget
        self._entry = entry

    def read(self, size: int = -1) -> bytes:
        data = self._entry.read(size)
        self._budget.spend(len(data))
        return data


class _Reader:
    def __init__(self) -> None:
        self._about: dict[str, Any] = {}

    def read(self, stream: Any, *, close: bool = True) -> Iterator[TraceItem]:
        """The events of a document; a sample's end with them, unless more of it is to come."""
        for part in read_parts(stream, _LISTS):
            if isinstance(part, BrokenLine):
                yield part
            else:
                yield from self._take(part)
        if close:
            yield from self.close()

    def _take(self, part: Part) -> Iterator[TraceItem]:
        path = part.path[2:] if part.path[:2] == ("samples", "*") else part.path
        if part.value is END:
            if part.path == ("samples", "*"):
                yield from self.close()
        elif path in (("messages", "*"), ("*",)):
            yield from _message(part.number, mapping_of(part.value))
        elif len(path) == 1 and path[0] in _ABOUT:
            self._about[path[0]] = part.value

    def close(self) -> Iterator[TraceItem]:
        """What a sample says of itself: usage, how it ended."""
        about, self._about = self._about, {}
        if not about:
            return
        for model, given in mapping_of(about.get("model_usage")).items():
            usage = mapping_of(given)
            if problem := bad_counts(usage):
                yield broken(0, problem, json_text(usage))
            yield TraceUsage(
                tokens=TokenCounts(
                    input=count_of(usage.get("input_tokens")),
                    output=count_of(usage.get("output_tokens")),
                    cache_read=count_of(usage.get("input_tokens_cache_read")),
                    cache_write=count_of(usage.get("input_tokens_cache_write")),
                    reasoning=count_of(usage.get("reasoning_tokens")),
                    total=count_of(usage.get("total_tokens")),
                ),
                cost_usd=cost_of(usage.get("total_cost")),
                model=model,
            )
        error, limit = mapping_of(about.get("error")), mapping_of(about.get("limit"))
        choices = mapping_of(about.get("output")).get("choices")
        last = mapping_of(choices[0] if isinstance(choices, list) and choices else None)
        yield Stop(
            reason="error"
            if error
            else text_of(limit.get("type")) or text_of(last.get("stop_reason")) or "end",
            is_error=bool(error),
            text=text_of(error.get("message")),
            duration_s=seconds_of(about.get("total_time")),
            time_s=time_of(about.get("completed_at")),
        )


_ABOUT: Final = frozenset({"model_usage", "error", "limit", "output", "total_time", "completed_at"})


def _message(number: int, message: Mapping[str, Any]) -> Iterator[TraceItem]:
    content = message.get("content")
    if isinstance(content, list):
        for block in content:
            if mapping_of(block).get("type") == "reasoning":
                yield Thought(text=text_of(mapping_of(block).get("reasoning")))
        content = [block for block in content if mapping_of(block).get("type") != "reasoning"]
    error = mapping_of(message.get("error"))
    if text_of(error.get("type")) in ("permission", "approval"):
        yield PermissionResponse(
            call_id=text_of(message.get("tool_call_id")), outcome="denied", text=text_of(error.get("message"))
        )
    if error and not content:
        content = text_of(error.get("message"))
    plain = {**message, "content": content, "usage": None}
    yield from openai_message(number, plain, model=name_of(message.get("model")))
