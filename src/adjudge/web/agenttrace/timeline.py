"""A stored trace that is read page by page: indexed once, then only the lines of a page are read.

Memory holds an entry per step and an offset per event, whatever the length of the texts.
"""

from __future__ import annotations

import io
import json
import os
import re
import weakref
from array import array
from bisect import bisect_left
from collections import OrderedDict
from collections.abc import Iterator, Sequence
from threading import Lock
from typing import Any, BinaryIO, NamedTuple

from adjudge.formats.traces.adjudge import AdjudgeTrace, encode_header
from adjudge.formats.traces.lines import MAX_LINE, decode_line
from adjudge.records.trace import TRACE_SCHEMA, TraceItem
from adjudge.web.agenttrace.spools import spool
from adjudge.web.agenttrace.steps import KINDS, Step, StepMaker

__all__ = ["PAGE_STEPS", "ShownStep", "Timeline", "TimelinePage", "TimelineQuery"]

PAGE_STEPS = 40
"""Steps on a page."""
MAX_EVENTS = 1_000_000
"""Events that are indexed; of a longer trace, the first ones."""
MAX_FOUND = 2_000
"""Steps that a search finds; of more, the first ones."""
MAX_QUERY = 200
"""Characters of a search."""
_SEARCHED = ("text", "input", "raw_name", "reason", "outcome")
_REMEMBERED = 8


class TimelineQuery(NamedTuple):
    """Which steps are wanted."""

    start: int = 1
    """The number of the first step, from 1."""
    kind: str = ""
    """One of `KINDS`; empty: all."""
    agent: str = ""
    """A sub-agent; empty: all."""
    text: str = ""
    """What to find, upper and lower case being one."""
    limit: int = PAGE_STEPS

    @property
    def narrows(self) -> bool:
        """Whether it leaves steps out."""
        return bool(self.kind or self.agent or self.text)


class ShownStep(NamedTuple):
    """A step with its events."""

    number: int
    """From 1."""
    step: Step
    items: tuple[TraceItem, ...]


class TimelinePage(NamedTuple):
    """Some steps, and where the others are."""

    steps: tuple[ShownStep, ...]
    total: int
    """How many steps there are."""
    matching: int
    """How many of them are wanted."""
    capped: bool
    """Whether a search found more than is shown."""
    previous: int | None
    """Where the page before starts."""
    following: int | None
    """Where the next page starts."""
    first_error: int | None
    """The number of the first step that failed."""
    errors: int
    agents: tuple[str, ...]
    started_s: float | None
    incomplete: bool
    """Whether the trace is longer than what is indexed."""


class Timeline:
    """A trace with its index. Called from any thread.

    Args:
        source: The normalised trace, from its beginning.

    Raises:
        StoreError: It cannot be read.
    """

    def __init__(self, source: BinaryIO) -> None:
        self._file, self.size_bytes, cut = spool(source)
        # A view that is ended in the midst of things closes nothing itself.
        weakref.finalize(self, self._file.close)
        self._lock = Lock()
        self._found: OrderedDict[str, tuple[list[int], bool]] = OrderedDict()
        self._offsets = array("Q")
        maker = StepMaker()
        self.format = ""
        self.incomplete = cut
        self._file.seek(0)
        at, whole = 0, True
        for raw in iter(lambda: self._file.readline(MAX_LINE), b""):
            began, at = at, at + len(raw)
            # Of a line that is too long, what follows its beginning is no line of its own.
            begins, whole = whole, raw.endswith(b"\n")
            if not begins or not raw.strip():
                continue
            event = _parsed(raw)
            if began == 0 and event is not None and event.get("schema") == TRACE_SCHEMA:
                self.format = str(event.get("format", ""))[:100]
                continue
            if len(self._offsets) >= MAX_EVENTS:
                self.incomplete = True
                break
            self._offsets.append(began)
            maker.add(event)
        self.steps = maker.steps
        self.agents = tuple(maker.agents)
        self._owners = maker.owners
        errors = [number for number, step in enumerate(self.steps, start=1) if step.is_of("error")]
        self.first_error = errors[0] if errors else None
        self.errors = len(errors)
        self.started_s = next((step.time_s for step in self.steps if step.time_s is not None), None)

    def close(self) -> None:
        """Let go of the copy."""
        self._file.close()

    def page(self, query: TimelineQuery) -> TimelinePage:
        """The steps that are wanted, from one on."""
        wanted, capped = self._wanted(query)
        limit = max(1, query.limit)
        begin = bisect_left(wanted, query.start)
        if begin >= len(wanted) and wanted:
            # Past the end: the last page there is.
            begin = max(0, len(wanted) - limit)
        shown = wanted[begin : begin + limit]
        after = begin + limit
        return TimelinePage(
            steps=tuple(self.step(number) for number in shown),
            total=len(self.steps),
            matching=len(wanted),
            capped=capped,
            previous=wanted[max(0, begin - limit)] if begin else None,
            following=wanted[after] if after < len(wanted) else None,
            first_error=self.first_error,
            errors=self.errors,
            agents=self.agents,
            started_s=self.started_s,
            incomplete=self.incomplete,
        )

    def step(self, number: int) -> ShownStep:
        """A step by its number, from 1.

        Raises:
            IndexError: There is none.
        """
        if not 1 <= number <= len(self.steps):
            raise IndexError(number)
        step = self.steps[number - 1]
        lines = [self._line(part) for part in step.parts]
        stream = io.BytesIO(encode_header("adjudge") + b"".join(lines))
        return ShownStep(number, step, tuple(AdjudgeTrace().events(stream)))

    def _line(self, event: int) -> bytes:
        data = os.pread(self._file.fileno(), self._length(event), self._offsets[event])
        line = data.split(b"\n", 1)[0]
        return line + b"\n"

    def _length(self, event: int) -> int:
        following = event + 1
        end = self._offsets[following] if following < len(self._offsets) else self.size_bytes
        return min(end - self._offsets[event], MAX_LINE)

    def _wanted(self, query: TimelineQuery) -> tuple[Sequence[int], bool]:
        if not query.narrows:
            return range(1, len(self.steps) + 1), False
        found, capped = self._search(query.text) if query.text else (None, False)
        kind = query.kind if query.kind in KINDS else ""
        numbers: Sequence[int] = range(1, len(self.steps) + 1) if found is None else found
        return [
            number
            for number in numbers
            if (not kind or self.steps[number - 1].is_of(kind))
            and (not query.agent or self.steps[number - 1].agent == query.agent)
        ], capped

    def _search(self, text: str) -> tuple[list[int], bool]:
        """The steps in which a text occurs; remembered, for paging asks again and again."""
        text = text[:MAX_QUERY].lower()
        with self._lock:
            if text in self._found:
                self._found.move_to_end(text)
                return self._found[text]
        numbers: set[int] = set()
        capped = False
        for event in self._candidates(text):
            number = self._owners[event] + 1
            if number in numbers or not _says(_parsed(self._line(event)), text):
                continue
            if len(numbers) >= MAX_FOUND:
                capped = True
                break
            numbers.add(number)
        found = (sorted(numbers), capped)
        with self._lock:
            self._found[text] = found
            while len(self._found) > _REMEMBERED:
                self._found.popitem(last=False)
        return found

    def _candidates(self, text: str) -> Iterator[int]:
        """Events whose line may hold a text: what is ASCII is looked for before anything is parsed."""
        written = json.dumps(text, ensure_ascii=False)[1:-1]
        pattern = re.compile(re.escape(written.encode()), re.IGNORECASE) if written.isascii() else None
        for event in range(len(self._offsets)):
            if pattern is None or pattern.search(self._line(event)):
                yield event


def _parsed(raw: bytes) -> dict[str, Any] | None:
    if len(raw) > MAX_LINE:
        return None
    try:
        value = decode_line(raw)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def _says(event: dict[str, Any] | None, text: str) -> bool:
    if event is None:
        return False
    return any(isinstance(said := event.get(name), str) and text in said.lower() for name in _SEARCHED)
