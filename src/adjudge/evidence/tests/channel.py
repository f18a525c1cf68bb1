"""The reports that leave a test session, read as what they are: lines somebody in there may have forged.

Every line is parsed into a closed type or counted as unreadable; sizes and numbers are capped. Nothing is
believed here. What follows from the reports is decided in `outcomes` and `reconcile`.
"""

from __future__ import annotations

import json
import math
from dataclasses import dataclass, field
from typing import Any, Literal

__all__ = ["Channel", "Phase"]

_MAX_LINE = 256 * 1024
_MAX_ID = 4096
_MAX_MESSAGE = 4096
_MAX_REPORTS = 2_000_000
_MAX_UNCOLLECTED = 50
_MAX_NOTED = 20
_MAX_FILES = 200
_MAX_WATCHED = 100_000


@dataclass(frozen=True, slots=True)
class Phase:
    """One phase of one test, or of a subtest of it."""

    when: Literal["setup", "call", "teardown"]
    outcome: Literal["passed", "failed", "skipped", "rerun"]
    expected_failure: bool
    sub: bool
    duration_s: float
    message: str


@dataclass
class Channel:
    """Takes in the bytes of one session. `close` when there are no more."""

    collected: list[str] = field(default_factory=list)
    phases: dict[str, list[Phase]] = field(default_factory=dict)
    uncollected: list[tuple[str, str, str]] = field(default_factory=list)
    """What could not be loaded: its id, `failed` or `skipped`, and why."""
    plugins: list[str] = field(default_factory=list)
    ran: dict[str, tuple[str, ...]] = field(default_factory=dict)
    """In which files of the project each test ran functions, where that was watched."""
    modules: dict[str, str] = field(default_factory=dict)
    """Where modules came from."""
    runner: str = ""
    unavailable: str = ""
    """Why the runner could not be loaded."""
    ends: list[int] = field(default_factory=list)
    noted: list[str] = field(default_factory=list)
    unreadable: int = 0
    first_unreadable: str = ""
    _rest: bytearray = field(default_factory=bytearray)
    _skipping: bool = False
    _reports: int = 0

    def feed(self, data: bytes) -> None:
        """Take in what arrived."""
        self._rest += data
        while (end := self._rest.find(b"\n")) >= 0:
            line = bytes(self._rest[:end])
            del self._rest[: end + 1]
            if self._skipping:
                self._skipping = False
            else:
                self._line(line)
        if len(self._rest) > _MAX_LINE:
            if not self._skipping:
                self._bad(bytes(self._rest[:200]))
            self._rest.clear()
            self._skipping = True

    def close(self) -> None:
        """Count what was left without an end."""
        if self._rest and not self._skipping:
            self._bad(bytes(self._rest))
        self._rest.clear()

    def report(self, report: dict[str, Any]) -> None:
        """Take in one report that was put together outside, from what a runner printed."""
        self._reports += 1
        if self._reports <= _MAX_REPORTS and not self._take(report):
            self._bad(repr(report).encode("utf-8", "replace"))

    def note(self, problem: str) -> None:
        """Add to the problems something that was seen outside."""
        if len(self.noted) < _MAX_NOTED:
            self.noted.append(_clean(problem))

    @property
    def problems(self) -> tuple[str, ...]:
        """What was wrong with the reports."""
        found = list(self.noted)
        if self.unreadable:
            found.append(f"{self.unreadable} lines on the report channel are not reports")
        if self._reports > _MAX_REPORTS:
            found.append(f"more than {_MAX_REPORTS} reports")
        if len(self.ends) > 1:
            found.append("the runner reported its end more than once")
        return tuple(found)

    def _bad(self, line: bytes) -> None:
        self.unreadable += 1
        if not self.first_unreadable:
            self.first_unreadable = line[:500].decode("utf-8", "replace")

    def _line(self, line: bytes) -> None:
        self._reports += 1
        if self._reports > _MAX_REPORTS:
            return
        try:
            report = json.loads(line)
        except (ValueError, RecursionError):
            self._bad(line)
            return
        if not isinstance(report, dict) or not self._take(report):
            self._bad(line)

    def _take(self, report: dict[str, Any]) -> bool:
        """Take one report in; whether it was one."""
        match report:
            case {"k": "test", "id": str(id_), "phases": list(written)}:
                phases = [_phase(phase) for phase in written]
                if not _is_id(id_) or any(phase is None for phase in phases):
                    return False
                self.phases.setdefault(id_, []).extend(phase for phase in phases if phase is not None)
            case {"k": "collected", "ids": list(ids)}:
                if not all(isinstance(id_, str) and _is_id(id_) for id_ in ids):
                    return False
                self.collected += ids
            case {"k": "uncollected", "id": str(id_), "outcome": str(outcome), "message": str(message)}:
                if len(self.uncollected) < _MAX_UNCOLLECTED:
                    self.uncollected.append((_clean(id_)[:_MAX_ID], _clean(outcome)[:20], _clean(message)))
            case {"k": "ran", "id": str(id_), "files": list(files)}:
                named = [file for file in files if isinstance(file, str) and _is_id(file)]
                if not _is_id(id_) or len(self.ran) >= _MAX_WATCHED:
                    return False
                self.ran[id_] = tuple(named[:_MAX_FILES])
            case {"k": "modules", "modules": dict(modules)}:
                for name, place in modules.items():
                    if not (isinstance(place, str) and _is_id(name) and _is_id(place)):
                        return False
                    if len(self.modules) < _MAX_WATCHED:
                        self.modules[name] = place
            case {"k": "started", "runner": str(runner)}:
                self.runner = _clean(runner)[:100]
            case {"k": "plugins", "names": list(names)}:
                self.plugins = [name for name in names if isinstance(name, str) and _is_id(name)][:1000]
            case {"k": "unavailable", "message": str(message)}:
                self.unavailable = _clean(message)
            case {"k": "end", "exit": int(code)}:
                self.ends.append(code)
            case _:
                return False
        return True


def _is_id(text: str) -> bool:
    """Whether a document can carry it: JSON lets lone surrogates in that UTF-8 cannot write."""
    return len(text) <= _MAX_ID and not any("\ud800" <= char <= "\udfff" for char in text)


def _clean(text: str) -> str:
    return text[:_MAX_MESSAGE].encode("utf-8", "replace").decode("utf-8")


def _phase(written: Any) -> Phase | None:
    match written:
        case [
            "setup" | "call" | "teardown" as when,
            "passed" | "failed" | "skipped" | "rerun" as outcome,
            bool(expected_failure),
            bool(sub),
            int(duration) | float(duration),
            str(message),
        ]:
            seconds = float(duration) if math.isfinite(duration) and 0 <= duration < 1e9 else 0.0
            return Phase(when, outcome, expected_failure, sub, seconds, _clean(message))
        case _:
            return None
