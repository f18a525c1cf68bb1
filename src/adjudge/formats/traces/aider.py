"""aider: its chat history (`.aider.chat.history.md`), and what it prints.

Text, so only what it says in a fixed form can be told apart: prompts, the report of tokens and cost after
each answer, edits it applied, commands it ran. Its counts are rounded (`2.3k`), and what it sent includes
caches.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import BinaryIO, ClassVar, Final

from adjudge.formats.traces.blocks import TextBuffer
from adjudge.formats.traces.lines import read_lines
from adjudge.formats.traces.tools import tool_call
from adjudge.formats.traces.usage import without
from adjudge.formats.traces.values import cost_of, count_of, time_of
from adjudge.records.trace import MAX_TEXT, Message, TokenCounts, ToolKind, TraceItem, TraceUsage

__all__ = ["Aider"]

_TRACE: Final = re.compile(
    rb"^# aider chat started at |^(?:> )?Aider v\d|^(?:> )?Tokens: [\d.,]+[kM]? sent", re.MULTILINE
)
_STARTED: Final = re.compile(r"^# aider chat started at (.{1,40})$")
_NUMBER: Final = r"([\d.,]{1,20}[kM]?)"
_TOKENS: Final = re.compile(
    rf"^Tokens: {_NUMBER} sent(?:, {_NUMBER} cache write)?(?:, {_NUMBER} cache hit)?, {_NUMBER} received\."
    r"(?: Cost: \$([\d.,]{1,20}) message)?"
)
_EDIT: Final = re.compile(r"^(?:Applied edit to|Creating empty file) (.{1,500})$")
_RUN: Final = re.compile(r"^Running (.{1,2000})$")
_MODEL: Final = re.compile(r"^(?:Main m|M)odel: (\S{1,200})")


class Aider:
    """What aider writes down."""

    name: ClassVar[str] = "aider"

    def recognises(self, head: bytes, filename: str) -> bool:
        """Whether it says that it is aider, or reports tokens as aider does."""
        return _TRACE.search(head) is not None

    def events(self, stream: BinaryIO) -> Iterator[TraceItem]:
        """Read a history or an output."""
        reader = _Reader()
        for line in read_lines(stream):
            yield from reader.take(line.data[: 4 * MAX_TEXT].decode("utf-8", "replace"))
        yield from reader.flush()


class _Reader:
    def __init__(self) -> None:
        self._said, self._asked = TextBuffer(), TextBuffer()
        self._model: str | None = None
        self._time_s: float | None = None

    def flush(self) -> Iterator[TraceItem]:
        """What was asked or said up to here."""
        for buffer in (self._asked, self._said):
            text, dropped = buffer.take()
            if not text.strip():
                continue
            if buffer is self._asked:
                yield Message(role="user", text=text.strip(), dropped=dropped, time_s=self._time_s)
            else:
                yield Message(
                    role="assistant",
                    text=text.strip(),
                    dropped=dropped,
                    model=self._model,
                    time_s=self._time_s,
                )
            self._time_s = None

    def take(self, line: str) -> Iterator[TraceItem]:
        line = line.rstrip()
        if started := _STARTED.match(line):
            yield from self.flush()
            self._time_s = time_of(started[1])
        elif line.startswith("#### "):
            yield from self._switch(asking=True)
            self._asked.add(line[5:] + "\n")
        else:
            own = line.removeprefix("> ")
            events = list(self._own_line(own))
            if events:
                yield from self.flush()
                yield from events
            elif own == line:
                if line or not self._asked_last:
                    yield from self._switch(asking=False)
                self._said.add(line + "\n")

    _asked_last = False

    def _switch(self, *, asking: bool) -> Iterator[TraceItem]:
        if asking != self._asked_last:
            self._asked_last = asking
            yield from self.flush()

    def _own_line(self, line: str) -> Iterator[TraceItem]:
        """What aider itself says in a form that can be read."""
        if tokens := _TOKENS.match(line):
            sent, wrote, hit, received = (_count(tokens[n]) for n in range(1, 5))
            yield TraceUsage(
                tokens=TokenCounts(
                    input=without(sent, wrote, hit), output=received, cache_read=hit, cache_write=wrote
                ),
                cost_usd=_cost(tokens[5]),
                model=self._model,
            )
        elif edit := _EDIT.match(line):
            yield tool_call("edit", edit[1], kind=ToolKind.EDIT)
        elif run := _RUN.match(line):
            yield tool_call("run", run[1], kind=ToolKind.EXECUTE)
        elif model := _MODEL.match(line):
            self._model = model[1]


def _count(text: str | None) -> int | None:
    if text is None:
        return None
    scale = {"k": 1000, "M": 1_000_000}.get(text[-1], 1)
    try:
        return count_of(round(float(text.rstrip("kM").replace(",", "")) * scale))
    except (ValueError, OverflowError):
        return None


def _cost(text: str | None) -> float | None:
    try:
        return None if text is None else cost_of(float(text.replace(",", "").rstrip(".")))
    except ValueError:
        return None
