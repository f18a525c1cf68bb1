r"""`go test -json`: one event a line, from every package's test binary through test2json.

test2json reads the binary's text. Before Go 1.20 a test that prints `--- PASS: TestOther (0.00s)` makes it
report a pass of a test that never started; such an end without a start is a problem here. (Since 1.20 the
binary frames its own lines, and what a test prints stays output.)

A test that started and never ended (a panic in another one, `os.Exit`, a timeout) is an error, as is a
package that failed without a failing test: a build that broke, `TestMain`, an `init`.
"""

from __future__ import annotations

import re
from collections import defaultdict
from dataclasses import dataclass, field
from typing import Any, ClassVar

from adjudge.errors import ReportUnreadable
from adjudge.formats.testreports.builder import MAX_MESSAGE, ReportBuilder, clip, decode, text_of
from adjudge.formats.testreports.json_lines import read_json_lines
from adjudge.records.testreport import TestOutcome, TestReport

__all__ = ["GoJson"]

_EVENT = re.compile(rb'^[ \t]*\{[^\n]*"Action"\s*:|^FAIL\t[^\s]+ \[[a-z ]+ failed\]', re.MULTILINE)
_BROKEN_PACKAGE = re.compile(r"^FAIL\s+(\S+)\s+\[([^\]]+ failed)\]\s*$")
_OUTCOMES = {"pass": TestOutcome.PASSED, "fail": TestOutcome.FAILED, "skip": TestOutcome.SKIPPED}
_OTHER_ACTIONS = {"start", "pause", "cont", "bench", "attr", "artifacts"}


class GoJson:
    """The event stream of Go's test command."""

    name: ClassVar[str] = "go-json"

    def recognises(self, data: bytes, filename: str) -> bool:
        """Whether a line near the top is an event, or the one for a package that did not build."""
        return _EVENT.search(data[:65536]) is not None

    def parse(self, data: bytes) -> TestReport:
        """Read a report."""
        reader = _Reader()
        text = decode(data, self.name)
        events = 0
        for number, event, line in read_json_lines(text):
            if event is not None and isinstance(event.get("Action"), str):
                events += 1
                reader.take(event)
            elif broken := _BROKEN_PACKAGE.match(line):
                reader.package(broken[1]).broken = broken[2]
                events += 1
            elif line.startswith("{"):
                reader.cut_off = True
                reader.builder.note(f"line {number} is not an event")
        if not events:
            raise ReportUnreadable("go-json report: line 1: no event of `go test -json` in it")
        return reader.finish()


@dataclass(slots=True)
class _Test:
    output: list[str] = field(default_factory=list)
    size: int = 0
    ended: bool = False

    def take_output(self, text: str) -> None:
        # Twice the message's cap: the ends are cut out of it later, framing lines before that.
        if self.size < 2 * MAX_MESSAGE and not text.startswith(("=== RUN ", "=== PAUSE ", "=== CONT ")):
            self.output.append(text)
            self.size += len(text)


@dataclass(slots=True)
class _Package:
    tests: dict[str, _Test] = field(default_factory=lambda: defaultdict(_Test))
    running: dict[str, _Test] = field(default_factory=dict)
    """Those of `tests` that started and have not ended."""
    own: _Test = field(default_factory=_Test)
    failures: int = 0
    ended: str | None = None
    broken: str = ""
    build: str = ""


class _Reader:
    def __init__(self) -> None:
        self.builder = ReportBuilder("go-json")
        self.cut_off = False
        self._packages: dict[str, _Package] = {}
        self._builds: dict[str, _Test] = defaultdict(_Test)

    def package(self, name: str) -> _Package:
        return self._packages.setdefault(name, _Package())

    def take(self, event: dict[str, Any]) -> None:
        action = event["Action"]
        if action in ("build-output", "build-fail"):
            self._builds[text_of(event.get("ImportPath"))].take_output(text_of(event.get("Output")))
            return
        name, test_name = text_of(event.get("Package")), text_of(event.get("Test"))
        package = self.package(name)
        test = package.tests[test_name] if test_name else package.own
        if action == "run":
            if test_name in package.running:
                self._never_ended(name, package, test_name)
            package.tests[test_name] = package.running[test_name] = _Test()
        elif action == "output":
            test.take_output(text_of(event.get("Output")))
        elif action in _OUTCOMES and test_name:
            self._end_test(name, package, test_name, test, event)
        elif action in _OUTCOMES:
            package.build = text_of(event.get("FailedBuild"))
            self._end_package(name, package, action)
        elif action not in _OTHER_ACTIONS:
            self.builder.problem(f"{clip(name, 200)}: unknown action {clip(repr(action), 60)}")

    def _end_test(
        self, name: str, package: _Package, test_name: str, test: _Test, event: dict[str, Any]
    ) -> None:
        id, outcome = f"{name}::{test_name}", _OUTCOMES[event["Action"]]
        if package.running.pop(test_name, None) is None:
            how = "ended twice" if test.ended else "ended without having started"
            self.builder.problem(f"{clip(id, 200)} {how}")
        package.failures += outcome is TestOutcome.FAILED
        message = "" if outcome is TestOutcome.PASSED else "".join(test.output)
        duration = self.builder.duration(event.get("Elapsed"), id)
        self.builder.add(id, outcome, duration_s=duration, message=message)
        package.tests[test_name] = _Test(ended=True)

    def _never_ended(self, name: str, package: _Package, test_name: str) -> None:
        package.failures += 1
        message = "it started and never ended\n" + "".join(package.running.pop(test_name).output)
        self.builder.add(f"{name}::{test_name}", TestOutcome.ERROR, message=message)

    def _leave(self, name: str, package: _Package) -> None:
        for test_name in tuple(package.running):
            self._never_ended(name, package, test_name)

    def _end_package(self, name: str, package: _Package, action: str) -> None:
        self._leave(name, package)
        if package.ended is not None:
            self.builder.problem(f"package {clip(name, 200)} ended twice")
        package.ended = action
        if action == "fail" and not package.failures:
            built = self._builds.get(package.build)
            reason = package.broken or ("build failed" if built else "failed outside of any test")
            output = "".join((built or package.own).output)
            self.builder.add(name, TestOutcome.ERROR, message=f"{reason}\n{output}")
        elif action != "fail" and package.failures:
            self.builder.problem(
                f"package {clip(name, 200)} passed, though {package.failures} of its tests failed"
            )

    def finish(self) -> TestReport:
        complete = not self.cut_off
        for name, package in self._packages.items():
            if package.ended is None and package.broken:
                self._end_package(name, package, "fail")
            elif package.ended is None:
                complete = False
                self._leave(name, package)
        return self.builder.build(complete=complete)
