"""What a Go test program prints, read as it arrives: which tests began, and how they ended.

Since Go 1.20 the program marks its own lines (`-test.v=test2json`), and what a test prints by accident is not
mistaken for one. Before, anything at the end of a line is taken; who prints results on purpose is found out
by twin sessions.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field

from adjudge.evidence.tests.channel import Channel

__all__ = ["GoOutput", "top_of"]

_MAX_LINE = 64 * 1024
_MAX_MESSAGE = 2000
_MAX_TESTS = 200_000
_MARK = b"\x16"
_BEGAN = re.compile(r"=== (RUN|PAUSE|CONT|NAME)\s+(\S+)$")
_ENDED = re.compile(r"--- (PASS|FAIL|SKIP): (\S+) \((\d+(?:\.\d+)?)s\)$")
_OUTCOMES = {"PASS": "passed", "FAIL": "failed", "SKIP": "skipped"}
_ENDS = ("PASS", "FAIL")


def top_of(test: str) -> str:
    """The function behind the name of a test."""
    return test.partition("/")[0]


@dataclass
class GoOutput:
    """Takes in the bytes of one run of one program. `close` when there are no more."""

    channel: Channel
    id_of: Callable[[str], str]
    """The id of a test by its name."""
    marked: bool
    """Whether the program marks its own lines."""
    running: dict[str, None] = field(default_factory=dict)
    """Tests that began, or went on after a pause, and have not ended."""
    begun: set[str] = field(default_factory=set)
    ended: set[str] = field(default_factory=set)
    whole: bool = False
    """Whether the program said that it was done."""
    progress: int = 0
    """Grows whenever a test begins, goes on or ends."""
    failures: int = 0
    strange: int = 0
    """Results of tests that never began."""
    _said: dict[str, str] = field(default_factory=dict)
    _current: str = ""
    _rest: bytearray = field(default_factory=bytearray)

    def feed(self, data: bytes) -> None:
        """Take in what arrived."""
        self._rest += data
        *lines, rest = bytes(self._rest).split(b"\n")
        for line in lines:
            self._line(line)
        self._rest = bytearray(rest[-_MAX_LINE:])

    def close(self) -> None:
        """Read what was left without an end."""
        self._line(bytes(self._rest))
        self._rest.clear()

    def give_up(self, test: str, message: str) -> None:
        """Report a test that had begun and was ended from outside, or ended its program."""
        self._end(test, "failed", 0.0, message)

    def _line(self, line: bytes) -> None:
        *before, own = line.rsplit(_MARK, 1) if self.marked and _MARK in line else ("", line)
        marked = bool(before) and before != [""]
        text = own.decode("utf-8", "replace").rstrip("\r")
        if self.marked and not marked:
            self._say(text)
            if text in _ENDS:
                self.whole = True
            return
        if found := _BEGAN.search(text):
            self._begin(found[1], found[2])
        elif found := _ENDED.search(text):
            self._result(found[1], found[2], float(found[3]))
        else:
            self.whole = self.whole or text in _ENDS
            self._say(text)

    def _begin(self, how: str, test: str) -> None:
        self._current = test
        if how == "NAME":
            return
        self.progress += 1
        if how == "PAUSE":
            self.running.pop(test, None)
            return
        if how == "RUN" and len(self.begun) < _MAX_TESTS:
            self.begun.add(test)
        if test in self.begun and test not in self.ended:
            self.running[test] = None

    def _result(self, how: str, test: str, seconds: float) -> None:
        self._current = test
        if test not in self.begun:
            self.strange += 1
            return
        self._end(test, _OUTCOMES[how], seconds, "" if how == "PASS" else self._said.get(test, "").strip())

    def _end(self, test: str, outcome: str, seconds: float, message: str) -> None:
        self.progress += 1
        self.failures += outcome == "failed"
        self.ended.add(test)
        self.running.pop(test, None)
        phases = [
            ["setup", "passed", False, False, 0, ""],
            ["call", outcome, False, False, seconds, message],
            ["teardown", "passed", False, False, 0, ""],
        ]
        self.channel.report({"k": "test", "id": self.id_of(test), "phases": phases})

    def _say(self, text: str) -> None:
        if self._current in self.begun and text:
            said = self._said.get(self._current, "")
            if len(said) < _MAX_MESSAGE:
                self._said[self._current] = f"{said}{text[:_MAX_MESSAGE]}\n"
