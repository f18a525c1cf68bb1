"""Puts a `TestReport` together from hostile values: capped, cleaned, and with every oddity written down.

Parsers hand over what they found as they found it; what may enter a record is decided here, once.
"""

from __future__ import annotations

import json
import math
import re
from typing import Any, Final

from adjudge.errors import ReportUnreadable
from adjudge.records.testreport import TestCase, TestCounts, TestOutcome, TestReport

__all__ = [
    "MAX_BYTES",
    "MAX_CASES",
    "MAX_DEPTH",
    "MAX_ID",
    "MAX_MESSAGE",
    "ReportBuilder",
    "clip",
    "decode",
    "load_json",
    "text_of",
]

MAX_BYTES: Final = 64 * 1024 * 1024
"""A report is read whole. A suite of 200,000 tests with a line of output each stays below this."""
MAX_CASES: Final = 200_000
MAX_DEPTH: Final = 100
"""Nesting of suites or subtests. Real suites stay below ten."""
MAX_MESSAGE: Final = 4_000
MAX_ID: Final = 4_000
MAX_REMARKS: Final = 50
MAX_COUNT: Final = 10**9

_SURROGATES = re.compile("[\ud800-\udfff]")
_TERMINAL_SEQUENCES = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\))")
_CONTROLS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f]")


def decode(data: bytes, format: str) -> str:
    """The text of a report: UTF-8, or UTF-16 with a byte order mark; what does not decode is replaced.

    Raises:
        ReportUnreadable: There is nothing in it, or more than is read.
    """
    if len(data) > MAX_BYTES:
        raise ReportUnreadable(f"{format} report: {len(data):,} bytes, at most {MAX_BYTES:,} are read")
    encoding = "utf-16" if data.startswith((b"\xff\xfe", b"\xfe\xff")) else "utf-8-sig"
    text = data.decode(encoding, "replace")
    if not text.strip():
        raise ReportUnreadable(f"{format} report: the file is empty")
    return _SURROGATES.sub("\ufffd", text)


def load_json(text: str, format: str) -> Any:
    """A JSON document.

    Raises:
        ReportUnreadable: It is not JSON, with line and column.
    """
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        place = f"line {error.lineno}, column {error.colno}"
        raise ReportUnreadable(f"{format} report: {place}: {error.msg}") from error
    except (RecursionError, ValueError) as error:
        # ValueError: an integer of more digits than Python converts.
        reason = "nested too deeply" if isinstance(error, RecursionError) else str(error)
        raise ReportUnreadable(f"{format} report: {reason}") from error


def text_of(value: object) -> str:
    """A text that a record can hold; other types than text give an empty one."""
    return _SURROGATES.sub("\ufffd", value) if isinstance(value, str) else ""


def clip(text: str, limit: int = MAX_MESSAGE) -> str:
    """Both ends of a long text: the first lines say what, the last ones where."""
    if len(text) <= limit:
        return text
    half = limit // 2
    return f"{text[:half]}\n[… {len(text) - 2 * half:,} characters left out …]\n{text[-half:]}"


def _message(text: str) -> str:
    return _CONTROLS.sub("\ufffd", _TERMINAL_SEQUENCES.sub("", clip(text))).strip()


class ReportBuilder:
    """A report in the making."""

    def __init__(self, format: str) -> None:
        self.format = format
        self.cases: list[TestCase] = []
        self._problems: list[str] = []
        self._notes: list[str] = []

    def add(
        self,
        id: str,
        outcome: TestOutcome,
        *,
        duration_s: float | None = None,
        message: str = "",
        file: str | None = None,
        line: int | None = None,
    ) -> None:
        """Append a case. A test without a name keeps its place and is a problem."""
        if len(self.cases) >= MAX_CASES:
            raise ReportUnreadable(f"{self.format} report: more than {MAX_CASES:,} tests")
        if not id.strip():
            self.problem(f"test {len(self.cases) + 1} has no name")
        self.cases.append(
            TestCase(
                id=clip(text_of(id), MAX_ID),
                outcome=outcome,
                duration_s=duration_s,
                message=_message(text_of(message)),
                file=clip(text_of(file), MAX_ID) or None,
                line=line,
            )
        )

    def problem(self, text: str) -> None:
        """Write down a contradiction."""
        _remark(self._problems, text)

    def note(self, text: str) -> None:
        """Write down an oddity that contradicts nothing."""
        _remark(self._notes, text)

    def duration(self, value: object, where: str, *, per_second: float = 1.0) -> float | None:
        """A duration in seconds, from a number or its text. None when there is none or it cannot be one."""
        if value is None or value == "":
            return None
        try:
            if isinstance(value, bool) or not isinstance(value, int | float | str):
                raise ValueError
            # Surefire groups digits in some locales: 1,234.5
            seconds = float(value.replace(",", "") if isinstance(value, str) else value) / per_second
        except (ValueError, OverflowError):
            seconds = math.nan
        if not math.isfinite(seconds) or seconds < 0:
            self.problem(f"{clip(where, 200)}: {clip(repr(value), 60)} is not a duration")
            return None
        return seconds

    def count(self, value: object, where: str) -> int | None:
        """A count, from a number or its text. None when there is none or it cannot be one."""
        if value is None or value == "":
            return None
        number = -1
        if isinstance(value, str) and re.fullmatch(r"\s*[0-9]{1,12}\s*", value):
            number = int(value)
        elif isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value <= MAX_COUNT:
            number = int(value) if value == int(value) else -1
        if not 0 <= number <= MAX_COUNT:
            self.problem(f"{clip(where, 200)}: {clip(repr(value), 60)} is not a count")
            return None
        return number

    def line_number(self, value: object) -> int | None:
        """A 1-based line, or None; a bad one is not worth a remark."""
        if isinstance(value, str) and value.isascii() and value.isdigit() and len(value) < 10:
            value = int(value)
        return (
            value
            if isinstance(value, int) and not isinstance(value, bool) and 0 < value < MAX_COUNT
            else None
        )

    def count_of(self, *outcomes: TestOutcome) -> int:
        """How many cases so far ended in one of `outcomes`."""
        return sum(case.outcome in outcomes for case in self.cases)

    def compare(self, what: str, stated: int | None, listed: int) -> None:
        """Write down when a stated count is not the listed one."""
        if stated is not None and stated != listed:
            self.problem(f"states {stated:,} {what}, lists {listed:,}")

    def build(self, *, stated: TestCounts | None = None, complete: bool = True) -> TestReport:
        """The finished report."""
        return TestReport(
            format=self.format,
            cases=tuple(self.cases),
            stated=stated or TestCounts(),
            complete=complete,
            problems=tuple(self._problems),
            notes=tuple(self._notes),
        )


def _remark(remarks: list[str], text: str) -> None:
    if len(remarks) < MAX_REMARKS:
        remarks.append(_CONTROLS.sub("\ufffd", text_of(clip(text, 600))))
    elif len(remarks) == MAX_REMARKS:
        remarks.append("and more of the kind")
