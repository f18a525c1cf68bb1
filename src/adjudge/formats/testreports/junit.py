"""JUnit XML: pytest, Maven and Gradle surefire, jest-junit, vitest, `node --test`, gtest, ctest and the rest.

There is no standard, only habits, and honest runners break each other's. What is known of them, measured:

* surefire counts every rerun as a test (`tests="8"` over five cases) and lists it inside its case;
* node counts a suite's direct children, nested suites among them, and calls every class `test`;
* pytest counts passed subtests that it does not list, so `tests` may exceed the cases;
* jest-junit lists a `test.todo` as a passed case it did not count. That is a problem, not a habit to
  forgive: the case never ran.

The XML is read with expat from the standard library, as a stream of events, and a document type
declaration is refused before it is read. Without one there are no entities: neither bombs nor external ones.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import ClassVar, Final
from xml.parsers import expat

from adjudge.errors import ReportUnreadable
from adjudge.formats.testreports.builder import MAX_BYTES, MAX_DEPTH, MAX_ID, ReportBuilder, clip, decode
from adjudge.records.testreport import TestCounts, TestOutcome, TestReport

__all__ = ["JUnit"]

_ILLEGAL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]")
_REFERENCE = re.compile(r"&#(?:x([0-9a-fA-F]+)|([0-9]+));")
_DECLARED = re.compile(rb"""^\s*<\?xml[^>]*?encoding=["']([A-Za-z0-9._-]{1,40})["']""")
_ENCODINGS = {"iso-8859-1": "latin-1", "latin1": "latin-1", "windows-1252": "cp1252", "us-ascii": "utf-8"}
_TRUNCATED: Final = {
    expat.errors.codes[name]
    for name in (
        expat.errors.XML_ERROR_NO_ELEMENTS,
        expat.errors.XML_ERROR_UNCLOSED_TOKEN,
        expat.errors.XML_ERROR_PARTIAL_CHAR,
        expat.errors.XML_ERROR_UNCLOSED_CDATA_SECTION,
    )
}
"""What expat says when a document that made sense so far just ends."""

_OUTCOMES = {"failure": TestOutcome.FAILED, "error": TestOutcome.ERROR, "skipped": TestOutcome.SKIPPED}
_RERUNS = {
    "rerunFailure": "failures",
    "flakyFailure": "failures",
    "rerunError": "errors",
    "flakyError": "errors",
}
_NOT_RUN = {"notrun", "disabled", "suppressed", "skipped", "ignored"}
_NOT_PASSED = {"fail", "failed", "failure", "error", "timeout"}
_NO_CLASS = {"", "test"}
"""`test` is what node writes where others write a class."""


@dataclass(slots=True)
class _Tally:
    """What a suite holds, counted in the ways runners count."""

    cases: int = 0
    suites: int = 0
    failures: int = 0
    errors: int = 0
    skipped: int = 0
    rerun_failures: int = 0
    rerun_errors: int = 0

    def add(self, other: _Tally) -> None:
        for name in ("cases", "failures", "errors", "skipped", "rerun_failures", "rerun_errors"):
            setattr(self, name, getattr(self, name) + getattr(other, name))


@dataclass(slots=True)
class _Suite:
    name: str
    path: str
    """The names of the suites it lies in and its own, for cases whose class name says nothing."""
    stated: dict[str, str]
    root: bool
    own: _Tally = field(default_factory=_Tally)
    """Its direct children."""
    all: _Tally = field(default_factory=_Tally)
    """Everything beneath it."""


@dataclass(slots=True)
class _Case:
    attributes: dict[str, str]
    results: list[tuple[str, dict[str, str], list[str]]] = field(default_factory=list)
    """Each child that says how it went: its tag, its attributes, its text."""


class JUnit:
    """The JUnit format, in the dialects above."""

    name: ClassVar[str] = "junit"

    def recognises(self, data: bytes, filename: str) -> bool:
        """Whether this is XML with a suite at its root."""
        head = data[:4096]
        return b"<testsuite" in head or (data.lstrip()[:1] == b"<" and filename.endswith(".xml"))

    def parse(self, data: bytes) -> TestReport:
        """Read a report."""
        return _Reader().read(data)


class _Reader:
    def __init__(self) -> None:
        self._builder = ReportBuilder("junit")
        self._parser = expat.ParserCreate("utf-8")
        self._parser.buffer_text = True
        self._parser.StartDoctypeDeclHandler = self._refuse_doctype
        self._parser.StartElementHandler = self._start
        self._parser.EndElementHandler = self._end
        self._parser.CharacterDataHandler = self._text
        self._path: list[str] = []
        self._suites: list[_Suite] = []
        self._case: _Case | None = None
        self._tops: list[_Suite] = []
        self._cases_outside = False
        """node puts cases beside suites, where no count covers them."""

    def read(self, data: bytes) -> TestReport:
        source = _legal_xml(_decode_xml(data))
        complete = True
        try:
            self._parser.Parse(source.encode(), True)
        except expat.ExpatError as error:
            if error.code not in _TRUNCATED or not self._path:
                place = f"line {error.lineno}, column {error.offset + 1}"
                raise ReportUnreadable(
                    f"junit report: {place}: {expat.errors.messages[error.code]}"
                ) from error
            complete = False
            self._close_what_is_open()
        return self._builder.build(stated=self._sum_of_tops(), complete=complete)

    def _where(self) -> str:
        return f"line {self._parser.CurrentLineNumber}, column {self._parser.CurrentColumnNumber + 1}"

    def _refuse_doctype(self, *_: object) -> None:
        raise ReportUnreadable(
            f"junit report: {self._where()}: a document type declaration is refused",
            hint="reports have none; it is how entity bombs and external entities are written",
        )

    def _start(self, tag: str, attributes: dict[str, str]) -> None:
        tag = tag.rpartition(":")[2]
        if not self._path and tag not in ("testsuites", "testsuite"):
            raise ReportUnreadable(
                f"junit report: {self._where()}: the root is <{clip(tag, 60)}>, not <testsuites>"
            )
        if len(self._path) >= MAX_DEPTH:
            raise ReportUnreadable(f"junit report: {self._where()}: nested more than {MAX_DEPTH} deep")
        self._path.append(tag)
        if self._case is not None:
            if tag in _OUTCOMES or tag in _RERUNS:
                self._case.results.append((tag, attributes, []))
        elif tag in ("testsuites", "testsuite"):
            self._open_suite(attributes, root=tag == "testsuites")
        elif tag == "testcase":
            self._case = _Case(attributes)

    def _open_suite(self, attributes: dict[str, str], *, root: bool) -> None:
        name = clip(attributes.get("name", ""), MAX_ID)
        outer = self._suites[-1].path if self._suites else ""
        path = outer if root or name in ("", "pytest") else "::".join(part for part in (outer, name) if part)
        self._suites.append(_Suite(name, clip(path, MAX_ID), attributes, root))

    def _text(self, text: str) -> None:
        # Only what stands inside a result of a case is read; output (`system-out`) can be anything.
        if (
            self._case is not None
            and self._case.results
            and self._path[-1] in (*_OUTCOMES, *_RERUNS, "stackTrace")
        ):
            self._case.results[-1][2].append(text)

    def _end(self, _: str) -> None:
        tag = self._path.pop()
        if tag == "testcase" and self._case is not None and "testcase" not in self._path:
            self._finish_case()
        elif tag in ("testsuites", "testsuite") and self._case is None:
            self._finish_suite(whole=True)

    def _close_what_is_open(self) -> None:
        if self._case is not None:
            self._builder.add(
                _id(self._case.attributes, self._suites),
                TestOutcome.ERROR,
                message="the report ends inside this test",
            )
            self._case = None
        while self._suites:
            self._finish_suite(whole=False)

    def _finish_case(self) -> None:
        case, self._case = self._case, None
        assert case is not None
        id = _id(case.attributes, self._suites)
        tags = [tag for tag, _, _ in case.results]
        outcome = _outcome(case)
        message = next((_result_text(result) for result in case.results if result[0] not in _RERUNS), "")
        if outcome is TestOutcome.PASSED and any(tag in _RERUNS for tag in tags):
            message = f"passed after failing: {_result_text(case.results[0])}"
            self._builder.note(f"{clip(id, 200)} passed only when it was run again")
        attributes = case.attributes
        self._builder.add(
            id,
            outcome,
            duration_s=self._builder.duration(attributes.get("time"), id),
            message=message,
            file=attributes.get("file") or attributes.get("filepath"),
            line=self._builder.line_number(attributes.get("line")),
        )
        tally = _Tally(
            cases=1,
            failures=tags.count("failure"),
            errors=tags.count("error"),
            skipped=int(outcome in (TestOutcome.SKIPPED, TestOutcome.XFAILED)),
            rerun_failures=sum(_RERUNS.get(tag) == "failures" for tag in tags),
            rerun_errors=sum(_RERUNS.get(tag) == "errors" for tag in tags),
        )
        if self._suites:
            self._suites[-1].own.add(tally)
            self._suites[-1].all.add(tally)

    def _finish_suite(self, *, whole: bool) -> None:
        suite = self._suites.pop()
        if whole:
            self._check(suite)
        self._cases_outside |= suite.root and suite.own.cases > 0
        if self._suites:
            self._suites[-1].own.suites += 1
            self._suites[-1].all.add(suite.all)
        if not suite.root and (not self._suites or self._suites[-1].root):
            self._tops.append(suite)

    def _check(self, suite: _Suite) -> None:
        own, every = suite.own, suite.all
        where = f"suite {clip(suite.name, 200)!r}" if suite.name else "the report"
        tests = self._builder.count(suite.stated.get("tests"), f"{where}: tests")
        reruns = every.rerun_failures + every.rerun_errors
        if tests is not None and tests not in (
            own.cases, every.cases, own.cases + own.suites, every.cases + reruns
        ):  # fmt: skip
            if suite.name == "pytest" and tests > every.cases:
                self._builder.note(f"pytest counts {tests - every.cases} subtests that it does not list")
            else:
                self._builder.problem(f"{where} states {tests:,} tests, lists {every.cases:,}")
        for name, direct, deep, again in (
            ("failures", own.failures, every.failures, every.rerun_failures),
            ("errors", own.errors, every.errors, every.rerun_errors),
            ("skipped", own.skipped, every.skipped, 0),
        ):
            stated = self._builder.count(suite.stated.get(name), f"{where}: {name}")
            if stated is not None and stated not in (direct, deep, deep + again):
                self._builder.problem(f"{where} states {stated:,} {name}, lists {deep:,}")
        parts = [
            self._builder.count(suite.stated.get(name), where) for name in ("failures", "errors", "skipped")
        ]
        if tests is not None and sum(part or 0 for part in parts) > tests and suite.name != "pytest":
            self._builder.problem(f"{where} states more tests not passed than tests")

    def _sum_of_tops(self) -> TestCounts:
        quiet = ReportBuilder("junit")

        def total(name: str) -> int | None:
            counts = [quiet.count(suite.stated.get(name), name) for suite in self._tops]
            return (
                None
                if self._cases_outside or not counts or None in counts
                else sum(count or 0 for count in counts)
            )

        return TestCounts(
            total=total("tests"), failed=total("failures"), errors=total("errors"), skipped=total("skipped")
        )


def _decode_xml(data: bytes) -> str:
    declared = _DECLARED.match(data[:200])
    codec = _ENCODINGS.get(declared[1].decode().lower()) if declared else None
    if codec is not None and len(data) <= MAX_BYTES:
        return data.decode(codec, "replace")
    return decode(data, "junit")


def _legal_xml(text: str) -> str:
    """Runners write what tests printed, control characters and all; expat would refuse the whole file."""

    def legal(reference: re.Match[str]) -> str:
        digits, base = (reference[1], 16) if reference[1] else (reference[2], 10)
        code = int(digits, base) if len(digits) < 9 else 0
        legal = (
            code in (9, 10, 13)
            or 0x20 <= code < 0xD800
            or 0xE000 <= code < 0xFFFE
            or 0xFFFF < code < 0x110000
        )
        return reference[0] if legal else "\ufffd"

    return _REFERENCE.sub(legal, _ILLEGAL.sub("\ufffd", text))


def _id(attributes: dict[str, str], suites: list[_Suite]) -> str:
    name = attributes.get("name", "")
    owner = attributes.get("classname", "")
    if owner in _NO_CLASS:
        owner = suites[-1].path if suites else ""
    return f"{owner}::{name}" if owner and owner != name else name


def _outcome(case: _Case) -> TestOutcome:
    kinds = {tag: attributes for tag, attributes, _ in reversed(case.results)}
    skipped = kinds.get("skipped")
    if skipped is not None and skipped.get("type") == "todo":
        # node: a test marked as work to be done, which may fail.
        return TestOutcome.XFAILED if kinds.keys() & {"failure", "error"} else TestOutcome.XPASSED
    if "error" in kinds:
        return TestOutcome.ERROR
    if "failure" in kinds:
        return TestOutcome.FAILED
    if skipped is not None:
        return TestOutcome.XFAILED if skipped.get("type") == "pytest.xfail" else TestOutcome.SKIPPED
    said = {case.attributes.get(name, "").lower() for name in ("status", "result")}
    if said & _NOT_PASSED:
        return TestOutcome.FAILED
    return TestOutcome.SKIPPED if said & _NOT_RUN else TestOutcome.PASSED


def _result_text(result: tuple[str, dict[str, str], list[str]]) -> str:
    _, attributes, text = result
    said, body = attributes.get("message", ""), "".join(text).strip()
    return body if said and said in body else "\n".join(part for part in (said, body) if part)
