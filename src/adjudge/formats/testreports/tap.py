r"""TAP 12, 13 and 14, with the nested dialects of `node --test`, vitest and the `tap` package.

A nested block of subtests stands, indented by four, before the test point it belongs to (TAP 14, node), or
after it inside braces (vitest, `tap`). A point in braces, or one that node marks `type: 'suite'`, only holds
others: it is a case of its own only when it failed and none of its children did (a hook, an empty file).

node starts numbering again for each file, so numbers prove nothing here; the plan is what is checked.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import ClassVar

from adjudge.errors import ReportUnreadable
from adjudge.formats.testreports.builder import MAX_DEPTH, MAX_ID, MAX_MESSAGE, ReportBuilder, clip, decode
from adjudge.records.testreport import TestCounts, TestOutcome, TestReport

__all__ = ["Tap"]

_HEAD = re.compile(rb"^(?:TAP version 1[0-9]|1\.\.[0-9]|(?:not )?ok [0-9])", re.MULTILINE)
_POINT = re.compile(r"(not )?ok(?=\s|$)(?:\s+([0-9]{1,9})(?=\s|$))?(.*)$", re.DOTALL)
_PLAN = re.compile(r"1\.\.([0-9]{1,9})(?:\s*#.*)?$", re.DOTALL)
_DIRECTIVE = re.compile(r"(?<!\\)#\s*(skip|todo)(?:[^\s]*)(.*)$", re.IGNORECASE | re.DOTALL)
_TIME = re.compile(r"(?<!\\)# time=([0-9.]{1,20})(ms|s)\s*$")
_DURATION_MS = re.compile(r"^\s*duration_ms:\s*(\S{1,40})\s*$")
_SUITE = re.compile(r"^\s*type:\s*['\"]?suite['\"]?\s*$")
_STATISTIC = re.compile(r"#\s+(tests|pass|fail|skipped|todo|cancelled)\s+([0-9]{1,9})\s*$")
_INDENT = 4


@dataclass(slots=True)
class _Point:
    ok: bool
    name: str
    directive: str = ""
    reason: str = ""
    duration: tuple[str, float] | None = None
    """As written, and how many of its unit make a second."""
    details: list[str] = field(default_factory=list)
    details_size: int = 0
    children: list[_Point] = field(default_factory=list)
    suite: bool = False


class Tap:
    """The test anything protocol."""

    name: ClassVar[str] = "tap"

    def recognises(self, data: bytes, filename: str) -> bool:
        """Whether a line near the top is a version, a plan or a numbered test point."""
        return _HEAD.search(data[:65536]) is not None

    def parse(self, data: bytes) -> TestReport:
        """Read a report."""
        return _Reader(decode(data, self.name)).read()


class _Reader:
    def __init__(self, text: str) -> None:
        self._lines = text.split("\n")
        self._builder = ReportBuilder("tap")
        self._pending: dict[int, list[_Point]] = {}
        """Points by depth that no parent has claimed yet."""
        self._plans: dict[int, int] = {}
        self._open: list[tuple[int, _Point]] = []
        """Points whose braces are open, with their depth."""
        self._last: _Point | None = None
        self._bailed_out = False
        self._nested = False
        self._seen_anything = False

    def read(self) -> TestReport:
        cut_off = self._read_lines()
        if not self._seen_anything:
            raise ReportUnreadable("tap report: line 1: neither a version, a plan nor a test point in it")
        points = self._pending.pop(0, [])
        orphans = [point for depth in sorted(self._pending) for point in self._pending[depth]]
        plan = self._plans.get(0)
        if plan is not None and len(points) > plan:
            self._builder.problem(f"plans {plan:,} tests, lists {len(points):,}")
        complete = not (
            cut_off or orphans or self._open or self._bailed_out or plan is None or len(points) < plan
        )
        for point in [*points, *orphans]:
            self._emit(point, "")
        return self._builder.build(stated=self._statistics(), complete=complete)

    def _read_lines(self) -> bool:
        """Read everything. True when the text ends inside a YAML block."""
        yaml_indent = -1
        for number, line in enumerate(self._lines, start=1):
            stripped = line.strip()
            indent = len(line) - len(line.lstrip(" "))
            if yaml_indent >= 0:
                if stripped == "..." and indent == yaml_indent:
                    yaml_indent = -1
                else:
                    self._take_detail(line[yaml_indent:])
            elif stripped == "---" and self._last is not None:
                yaml_indent = indent
            elif stripped and indent % _INDENT == 0:
                self._take_line(stripped, indent // _INDENT, number)
        return yaml_indent >= 0

    def _take_detail(self, line: str) -> None:
        point = self._last
        assert point is not None
        if (duration := _DURATION_MS.match(line)) and point.duration is None:
            point.duration = (duration[1], 1000.0)
        elif _SUITE.match(line):
            point.suite = True
        elif point.details_size < MAX_MESSAGE:
            point.details.append(line)
            point.details_size += len(line)

    def _take_line(self, line: str, depth: int, number: int) -> None:
        if (point := _POINT.match(line)) is not None:
            if depth > MAX_DEPTH:
                raise ReportUnreadable(f"tap report: line {number}: nested more than {MAX_DEPTH} deep")
            self._take_point(point, depth)
        elif (plan := _PLAN.match(line)) is not None and depth <= MAX_DEPTH:
            if depth in self._plans and not depth:
                self._builder.problem(f"line {number}: a second plan")
            self._plans[depth] = int(plan[1])
        elif line == "}" and self._open and self._open[-1][0] == depth:
            _, parent = self._open.pop()
            self._check_plan(parent, depth + 1)
        elif line.startswith("Bail out!"):
            self._bailed_out = True
            self._builder.problem(
                f"line {number}: bailed out: {clip(line[9:].strip(), 200) or 'no reason given'}"
            )
        elif not line.startswith("TAP version"):
            return
        self._seen_anything = True

    def _take_point(self, found: re.Match[str], depth: int) -> None:
        point = _read_point(found)
        for deeper in sorted(key for key in self._pending if key > depth):
            point.children.extend(self._pending.pop(deeper))
        if point.children:
            self._check_plan(point, depth + 1)
        while self._open and self._open[-1][0] >= depth:
            # Its brace was never closed; what follows is not its child.
            self._builder.problem(f"the block of {clip(self._open.pop()[1].name, 200)!r} is never closed")
        if self._open and self._open[-1][0] == depth - 1:
            self._open[-1][1].children.append(point)
        else:
            self._pending.setdefault(depth, []).append(point)
        if point.suite:
            self._open.append((depth, point))
            self._plans.pop(depth + 1, None)
        self._last = point

    def _check_plan(self, parent: _Point, depth: int) -> None:
        plan = self._plans.pop(depth, None)
        if plan is not None and plan != len(parent.children):
            self._builder.problem(
                f"{clip(parent.name, 200)!r} plans {plan:,} subtests, lists {len(parent.children):,}"
            )

    def _emit(self, point: _Point, outer: str) -> bool:
        """Add a point and what is beneath it. True when any of them failed."""
        id = clip(f"{outer}::{point.name}" if outer else point.name, MAX_ID)
        self._nested |= bool(point.children)
        failed_inside = False
        for child in point.children:
            failed_inside |= self._emit(child, id)
        outcome = _outcome(point)
        failed = outcome is TestOutcome.FAILED
        if point.ok and failed_inside and not point.directive:
            self._builder.problem(f"{clip(id, 200)} is ok, though a subtest of it failed")
        if not point.suite or (failed and not failed_inside):
            duration = self._builder.duration(point.duration[0], id, per_second=point.duration[1]) if (
                point.duration
            ) else None  # fmt: skip
            details = "" if outcome is TestOutcome.PASSED else "\n".join(point.details)
            message = "\n".join(part for part in (point.reason, details) if part)
            self._builder.add(id, outcome, duration_s=duration, message=message)
        return failed or failed_inside

    def _statistics(self) -> TestCounts:
        found: dict[str, int] = {}
        for line in self._trailing_comments():
            if statistic := _STATISTIC.match(line):
                found.setdefault(statistic[1], int(statistic[2]))
        if not {"tests", "pass", "fail"} <= found.keys():
            return TestCounts(total=None if self._nested else self._plans.get(0))
        self._builder.compare("tests", found["tests"], len(self._builder.cases))
        self._builder.compare("passed tests", found["pass"], self._builder.count_of(TestOutcome.PASSED))
        return TestCounts(
            total=found["tests"], passed=found["pass"], failed=found["fail"], skipped=found.get("skipped")
        )

    def _trailing_comments(self) -> Iterator[str]:
        """Comments at the very end: what tests print is a comment too, but stands before."""
        for line in reversed(self._lines):
            if line.startswith("#"):
                yield line
            elif line.strip():
                return


def _read_point(found: re.Match[str]) -> _Point:
    rest = found[3].strip()
    braced = rest.endswith("{") and not rest.endswith("\\{")
    if braced:
        rest = rest[:-1].rstrip()
    point = _Point(ok=found[1] is None, name="", suite=braced)
    if time := _TIME.search(rest):
        point.duration = (time[1], 1000.0 if time[2] == "ms" else 1.0)
        rest = rest[: time.start()].rstrip()
    if directive := _DIRECTIVE.search(rest):
        point.directive, point.reason = directive[1].lower(), clip(directive[2].strip(), MAX_MESSAGE)
        rest = rest[: directive.start()].rstrip()
    name = re.sub(r"\\([#\\])", r"\1", rest.removeprefix("- ").strip()) if rest != "-" else ""
    point.name = clip(name or f"test {found[2] or ''}".strip(), MAX_ID)
    return point


def _outcome(point: _Point) -> TestOutcome:
    if point.directive == "skip":
        # A failed skip is not a thing the protocol knows.
        return TestOutcome.SKIPPED if point.ok else TestOutcome.FAILED
    if point.directive == "todo":
        return TestOutcome.XPASSED if point.ok else TestOutcome.XFAILED
    return TestOutcome.PASSED if point.ok else TestOutcome.FAILED
