"""What a candidate could leave where a report is looked for."""

import contextlib
import json
import time
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from importlib import metadata
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from adjudge import catalog
from adjudge.errors import PluginNotFound, ReportUnreadable
from adjudge.formats.testreports import builder
from adjudge.formats.testreports.console import parse_console
from adjudge.formats.testreports.detect import join_reports, parse_report, without_root
from adjudge.records.testreport import TestCase, TestCounts, TestOutcome, TestReport

SAMPLES = Path(__file__).parent / "samples"
SAMPLE_BYTES = [path.read_bytes() for path in sorted(SAMPLES.glob("*.*"))]
FORMATS = list(catalog.BUILTINS["testreports"])


def junit(body: str, **attributes: object) -> TestReport:
    written = " ".join(f'{name}="{value}"' for name, value in attributes.items())
    return parse_report(f'<testsuite name="s" {written}>{body}</testsuite>'.encode())


# Formats as a whole


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("data", [b"", b"  \n ", b"\xef\xbb\xbf", b"\xff\xfe"])
def test_an_empty_file_is_unreadable(format: str, data: bytes) -> None:
    with pytest.raises(ReportUnreadable, match="empty"):
        parse_report(data, format=format)


@pytest.mark.parametrize(
    "data", [b"hello", b"\x00\x01\x02", b"{}", b"[]", b"<html></html>", b"5 passed in 0.1s"]
)
def test_what_is_no_report_is_not_taken_for_one(data: bytes) -> None:
    with pytest.raises(ReportUnreadable, match=r"^r\.txt: ") as caught:
        parse_report(data, filename="r.txt")
    assert caught.value.hint is not None
    assert "junit" in caught.value.hint


def test_an_unknown_format_is_the_authors_mistake() -> None:
    with pytest.raises(PluginNotFound, match="no test report format is called 'juni'"):
        parse_report(b"<testsuite/>", format="juni")


def test_a_file_beyond_the_cap_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(builder, "MAX_BYTES", 10)
    with pytest.raises(ReportUnreadable, match="at most 10 are read"):
        parse_report(b"<testsuite></testsuite>")


def test_more_cases_than_a_report_may_hold_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(builder, "MAX_CASES", 2)
    with pytest.raises(ReportUnreadable, match="more than 2 tests"):
        junit('<testcase name="a"/>' * 3)


@settings(max_examples=200, suppress_health_check=[HealthCheck.too_slow], deadline=None)
@given(
    data=st.one_of(
        st.binary(max_size=300),
        st.sampled_from(SAMPLE_BYTES).flatmap(
            lambda sample: st.tuples(
                st.just(sample), st.integers(0, len(sample)), st.binary(max_size=12)
            ).map(lambda part: part[0][: part[1]] + part[2] + part[0][part[1] + len(part[2]) :])
        ),
        st.sampled_from(SAMPLE_BYTES).flatmap(
            lambda sample: st.integers(0, len(sample)).map(lambda end: sample[:end])
        ),
    ),
    format=st.sampled_from([None, *FORMATS]),
)
def test_any_bytes_give_a_report_or_one_error(data: bytes, format: str | None) -> None:
    readers: tuple[Callable[[bytes], TestReport], ...] = (partial(parse_report, format=format), parse_console)
    for read in readers:
        try:
            report = read(data)
        except ReportUnreadable:
            continue
        assert TestReport.model_validate_json(report.model_dump_json()) == report


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8) | st.just("passed"),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=6), inner, max_size=4),
    max_leaves=12,
)
NAMES = [
    "Action",
    "Elapsed",
    "Output",
    "Package",
    "Test",
    "ancestorTitles",
    "assertionResults",
    "duration",
    "event",
    "exception",
    "exec_time",
    "failed",
    "failureMessages",
    "filePath",
    "file_path",
    "flaky",
    "full_description",
    "id",
    "line",
    "line_number",
    "location",
    "message",
    "name",
    "passed",
    "run_time",
    "status",
    "stdout",
    "suite",
    "test_count",
    "title",
    "trace",
    "type",
]
FIELDS = st.dictionaries(st.sampled_from(NAMES), JSON, max_size=6)


@settings(max_examples=200, suppress_health_check=[HealthCheck.too_slow], deadline=None)
@given(
    items=st.lists(FIELDS, max_size=4),
    summary=JSON,
    shape=st.sampled_from(["jest", "ctrf", "rspec", "lines"]),
)
def test_any_json_in_a_known_shape_gives_a_report_or_one_error(
    items: list[dict[str, object]], summary: object, shape: str
) -> None:
    documents: dict[str, Callable[[], str]] = {
        "jest": lambda: json.dumps({"testResults": items, "numTotalTests": summary, "success": True}),
        "ctrf": lambda: json.dumps({"results": {"tests": items, "summary": summary}}),
        "rspec": lambda: json.dumps({"examples": items, "summary": summary, "messages": summary}),
        "lines": lambda: "\n".join(json.dumps({"type": "test", "Action": "pass", **item}) for item in items),
    }
    data = documents[shape]().encode()
    for format in ("go-json", "cargo") if shape == "lines" else (shape,):
        try:
            report = parse_report(data, format=format)
        except ReportUnreadable:
            continue
        assert TestReport.model_validate_json(report.model_dump_json()) == report


# JUnit


@pytest.mark.parametrize(
    "doctype",
    [
        '<!DOCTYPE t [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;">]>',
        '<!DOCTYPE t [<!ENTITY a SYSTEM "file:///etc/passwd">]>',
        '<!DOCTYPE t SYSTEM "http://127.0.0.1:1/x.dtd">',
        "<!DOCTYPE t>",
    ],
)
def test_entities_are_refused_before_they_are_read(doctype: str) -> None:
    data = f'<?xml version="1.0"?>{doctype}<testsuite><testcase name="&a;"/></testsuite>'
    with pytest.raises(ReportUnreadable, match=r"line 1, column \d+: a document type declaration is refused"):
        parse_report(data.encode())


@pytest.mark.parametrize(
    ("data", "place"),
    [
        ("<testsuite><testcase></testsuite>", "line 1, column 24: mismatched tag"),
        ("<testsuite>\n<testcase name=a/></testsuite>", "line 2, column 16: not well-formed"),
        ("<testsuite>&unknown;</testsuite>", "undefined entity"),
        ("<testsuite/><testsuite/>", "junk after document element"),
        ("<suite><testsuite/></suite>", "the root is <suite>"),
    ],
)
def test_malformed_xml_is_unreadable_and_says_where(data: str, place: str) -> None:
    with pytest.raises(ReportUnreadable) as caught:
        parse_report(data.encode(), filename="TEST-a.xml")
    assert caught.value.message.startswith("TEST-a.xml: junit report: line ")
    assert place in caught.value.message


def test_nesting_has_an_end() -> None:
    with pytest.raises(ReportUnreadable, match="nested more than 100 deep"):
        parse_report(b"<testsuite>" * 200_000)


@pytest.mark.parametrize("cut", [0.3, 0.5, 0.9, 0.97])
def test_a_truncated_report_is_incomplete_and_says_no_more_than_it_holds(cut: float) -> None:
    whole = (SAMPLES / "pytest.xml").read_bytes()
    report = parse_report(whole[: int(len(whole) * cut)])
    assert not report.complete
    full = parse_report(whole)
    passed = {case.id for case in full.cases if case.outcome is TestOutcome.PASSED}
    assert {case.id for case in report.cases if case.outcome is TestOutcome.PASSED} <= passed


def test_a_case_that_the_end_cuts_off_did_not_pass() -> None:
    report = parse_report(b'<testsuite><testcase name="a"/><testcase name="b">')
    assert [case.outcome for case in report.cases] == [TestOutcome.PASSED, TestOutcome.ERROR]


@pytest.mark.parametrize(
    ("attributes", "problem"),
    [
        ({"tests": 5}, "suite 's' states 5 tests, lists 3"),
        ({"tests": 2}, "suite 's' states 2 tests, lists 3"),
        ({"tests": -3}, "suite 's': tests: '-3' is not a count"),
        ({"tests": "1e3"}, "suite 's': tests: '1e3' is not a count"),
        ({"tests": 3, "failures": 0}, "suite 's' states 0 failures, lists 1"),
        ({"errors": 1}, "suite 's' states 1 errors, lists 0"),
        ({"skipped": 2}, "suite 's' states 2 skipped, lists 1"),
    ],
)
def test_counts_that_do_not_add_up_are_problems(attributes: dict[str, object], problem: str) -> None:
    body = (
        '<testcase name="a"/><testcase name="b"><failure/></testcase><testcase name="c"><skipped/></testcase>'
    )
    assert junit(body, **attributes).problems[:1] == (problem,)


@pytest.mark.parametrize("value", ["NaN", "-1", "inf", "1e999", "soon"])
def test_a_bad_duration_is_none_and_a_problem(value: str) -> None:
    report = junit(f'<testcase name="a" time="{value}"/>')
    assert report.cases[0].duration_s is None
    assert report.problems == (f"s::a: '{value}' is not a duration",)


def test_grouped_digits_are_a_duration() -> None:
    assert junit('<testcase name="a" time="1,234.5"/>').cases[0].duration_s == 1234.5


def test_equal_ids_are_both_kept() -> None:
    report = junit('<testcase classname="C" name="a"/><testcase classname="C" name="a"><error/></testcase>')
    assert [(case.id, case.outcome) for case in report.cases] == [
        ("C::a", TestOutcome.PASSED),
        ("C::a", TestOutcome.ERROR),
    ]


def test_a_result_wins_over_a_friendlier_one_beside_it() -> None:
    cases = junit(
        '<testcase name="a"><skipped/><failure/></testcase>'
        '<testcase name="b"><failure/><error/></testcase>'
        '<testcase name="c"><system-out>&lt;failure/&gt;</system-out></testcase>'
        '<testcase name="d" status="notrun"/><testcase name="e" status="fail"/>'
    ).cases
    assert [case.outcome.value for case in cases] == ["failed", "error", "passed", "skipped", "failed"]


def test_cases_hidden_in_a_case_are_not_cases() -> None:
    report = junit('<testcase name="a"><testsuite><testcase name="b"/></testsuite><failure/></testcase>')
    assert [(case.id, case.outcome.value) for case in report.cases] == [("s::a", "failed")]


def test_what_tests_printed_does_not_make_a_report_unreadable() -> None:
    message = b"&#27;[31mred &#xD800; \x1b[0m \xff\x00"
    data = b'<testsuite><testcase name="a"><failure message="%s"/></testcase></testsuite>'
    assert "red" in parse_report(data % message).cases[0].message


def test_other_encodings_are_read() -> None:
    text = '<?xml version="1.0" encoding="{}"?><testsuite><testcase name="grün"/></testsuite>'
    for declared, codec in (("iso-8859-1", "latin-1"), ("utf-16", "utf-16"), ("UTF-8", "utf-8")):
        report = parse_report(text.format(declared).encode(codec), filename="a.xml", format="junit")
        assert report.cases[0].id == "grün"


# The others


def test_lone_surrogates_are_replaced() -> None:
    event = (
        '{"Action":"run","Package":"p","Test":"T\\ud800"}\n{"Action":"pass","Package":"p","Test":"T\\ud800"}'
    )
    assert parse_report(event.encode()).cases[0].id == "p::T\ufffd"


@pytest.mark.parametrize("format", ["jest", "ctrf", "rspec"])
def test_json_that_is_malformed_is_unreadable_and_says_where(format: str) -> None:
    with pytest.raises(ReportUnreadable, match=rf"{format} report: line 2, column 3"):
        parse_report(b'{\n  nothing"', format=format)
    with pytest.raises(ReportUnreadable, match="nested too deeply"):
        parse_report(b"[" * 100_000, format=format)
    with pytest.raises(ReportUnreadable, match="digits"):
        parse_report(b'{"a": ' + b"1" * 5_000 + b"}", format=format)
    with pytest.raises(ReportUnreadable, match="expected a list"):
        parse_report(b'{"a": 1}', format=format)


def jest(tests: Sequence[Mapping[str, object]], **document: object) -> TestReport:
    files = [{"name": "/w/a.js", "status": "passed", "assertionResults": tests}]
    return parse_report(json.dumps({"testResults": files, "numTotalTests": len(tests), **document}).encode())


def test_jest_counts_that_do_not_add_up_are_problems() -> None:
    passed, failed = {"title": "a", "status": "passed"}, {"title": "b", "status": "failed"}
    assert jest([passed, failed], numPassedTests=1, numFailedTests=1, success=False).problems == ()
    assert jest([passed, failed], success=True).problems == ("states success, lists 1 that failed",)
    assert jest([passed], numPassedTests=9).problems == ("states 9 passed tests, lists 1",)
    assert jest([passed], numTotalTests=-1).problems == ("numTotalTests: -1 is not a count",)
    assert jest([passed], numTotalTests=True).problems == ("numTotalTests: True is not a count",)


def test_an_unknown_outcome_is_an_error_and_a_problem() -> None:
    report = jest([{"title": "a", "status": "PASSED"}])
    assert report.cases[0].outcome is TestOutcome.ERROR
    assert report.problems == ("/w/a.js::a: unknown status 'PASSED'",)


def go(*events: str) -> TestReport:
    return parse_report("\n".join(f'{{"Package":"p",{event}}}' for event in events).encode())


def test_go_tests_that_never_ended_are_errors() -> None:
    report = go(
        '"Action":"run","Test":"A"', '"Action":"output","Test":"A","Output":"panic"', '"Action":"fail"'
    )
    assert [(case.id, case.outcome.value) for case in report.cases] == [("p::A", "error")]
    assert report.complete
    assert not go('"Action":"run","Test":"A"').complete


def test_go_packages_that_contradict_their_tests_are_problems() -> None:
    run = '"Action":"run","Test":"A"'
    report = go(run, '"Action":"fail","Test":"A"', '"Action":"pass"')
    assert report.problems == ("package p passed, though 1 of its tests failed",)
    assert go(
        run, '"Action":"pass","Test":"A"', '"Action":"pass","Test":"A"', '"Action":"pass"'
    ).problems == ("p::A ended twice",)
    assert go('"Action":"win","Test":"A"').problems == ("p: unknown action 'win'",)


def test_go_runs_of_the_same_test_are_all_listed() -> None:
    once = ('"Action":"run","Test":"A"', '"Action":"pass","Test":"A","Elapsed":0.5')
    report = go(*once, *once, '"Action":"pass"')
    assert [case.duration_s for case in report.cases] == [0.5, 0.5]
    assert report.problems == ()


def test_a_go_package_that_fails_without_a_failing_test_is_an_error() -> None:
    report = go('"Action":"output","Output":"boom in init\\n"', '"Action":"fail"')
    assert [(case.id, case.outcome.value) for case in report.cases] == [("p", "error")]
    assert "boom in init" in report.cases[0].message


def test_an_event_cut_in_the_middle_makes_a_stream_incomplete() -> None:
    whole = (SAMPLES / "go-1.27.json").read_bytes()
    assert not parse_report(whole[:-20]).complete


def tap(text: str) -> TestReport:
    return parse_report(text.encode(), format="tap")


@pytest.mark.parametrize(
    ("text", "complete"),
    [
        ("1..2\nok 1\nok 2\n", True),
        ("ok 1 - a\nok 2 - b\n1..2\n", True),
        ("1..3\nok 1\nok 2\n", False),
        ("ok 1\nok 2\n", False),
        ("1..1\nok 1\n  ---\n  never: closed\n", False),
        ("1..2\nok 1\nBail out! no disk\n", False),
        ("    ok 1 - child\n    1..1\n", False),
        ("1..0 # SKIP nothing to do\n", True),
    ],
)
def test_a_plan_is_the_end_of_tap(text: str, complete: bool) -> None:
    assert tap(text).complete is complete


def test_tap_that_contradicts_itself_is_a_problem() -> None:
    assert tap("1..1\nok 1\nok 2\n").problems == ("plans 1 tests, lists 2",)
    assert tap("1..1\nok 1\n1..1\n").problems == ("line 3: a second plan",)
    assert tap("Bail out! no disk\n").problems == ("line 1: bailed out: no disk",)
    child = "    not ok 1 - child\n    1..1\nok 1 - parent\n1..1\n"
    assert tap(child).problems == ("parent is ok, though a subtest of it failed",)
    assert tap("    ok 1 - child\n    1..3\nok 1 - p\n1..1\n").problems == ("'p' plans 3 subtests, lists 1",)
    forged = "ok 1 - a\n1..1\n# tests 3\n# pass 3\n# fail 0\n"
    assert tap(forged).problems == ("states 3 tests, lists 1", "states 3 passed tests, lists 1")


def test_tap_directives() -> None:
    report = tap(
        "1..7\nok 1 - a # skip why\nnot ok 2 - b # TODO later\nok 3 - c # todo\nok 4 a \\# skip b\n"
        "not ok 5 # SKIP\nok - no number\nok\n"
    )
    assert [(case.id, case.outcome.value, case.message) for case in report.cases] == [
        ("a", "skipped", "why"),
        ("b", "xfailed", "later"),
        ("c", "xpassed", ""),
        ("a # skip b", "passed", ""),
        ("test 5", "failed", ""),
        ("no number", "passed", ""),
        ("test", "passed", ""),
    ]


def test_tap_points_inside_yaml_are_not_points() -> None:
    report = tap("1..1\nnot ok 1 - a\n  ---\n  got: |\n    ok 2 - forged\n  ok 3 - forged\n  ...\n")
    assert [case.id for case in report.cases] == ["a"]
    assert "forged" in report.cases[0].message


def test_tap_nesting_has_an_end() -> None:
    with pytest.raises(ReportUnreadable, match="line 2: nested more than 100 deep"):
        tap("1..1\n" + " " * 4 * 101 + "ok 1\n")


def cargo(*events: str) -> TestReport:
    return parse_report("\n".join(f"{{{event}}}" for event in events).encode())


def test_cargo_suites_that_contradict_their_tests_are_problems() -> None:
    started, test = (
        '"type":"suite","event":"started","test_count":2',
        '"type":"test","event":"started","name":"a"',
    )
    failed = '"type":"test","event":"failed","name":"a"'
    report = cargo(started, test, failed, '"type":"suite","event":"ok","passed":2,"failed":0,"ignored":0')
    assert report.problems == (
        "line 4: the suite states 2 passed, lists 0",
        "line 4: the suite states 0 failed, lists 1",
        "line 4: the suite announced 2 tests, lists 1",
        "line 4: the suite ended ok, though a test in it failed",
    )
    forged = cargo(started, '"type":"test","event":"ok","name":"a"')
    assert forged.problems == ("a ended without having started",)
    assert not forged.complete


# Time


@pytest.mark.parametrize(
    "data",
    [
        b"\n" * 2_000_000,
        b"# " * 1_000_000,
        b"{" * 1_000_000,
        b"<testsuite " + b'a="' * 300_000,
        b"1..1\n" + b"ok 1 # " * 300_000,
        b"ok 1 - " + b"\\" * 1_000_000,
        b'{"Action":"pass","Package":"p"}\n' * 60_000,
        b"".join(b'{"Action":"run","Package":"p","Test":"T%d"}\n' % n for n in range(15_000))
        + b'{"Action":"fail","Package":"p"}\n' * 15_000,
        b'{"numTotalTests":1,"testResults":['
        + b'{"assertionResults":[],"status":"failed","name":"a"},' * 30_000
        + b'{"assertionResults":[],"status":"failed","name":"a"}]}',
        b"FAIL" + b" " * 1_000_000,
        b"x" * 900 + b"\n" + b"= " * 500 + b"1 passed, " * 90,
    ],
    ids=lambda data: repr(data[:24]),
)
def test_nothing_takes_long(data: bytes) -> None:
    started = time.monotonic()
    for format in (None, *FORMATS):
        with contextlib.suppress(ReportUnreadable):
            parse_report(data, format=format)
    with contextlib.suppress(ReportUnreadable):
        parse_console(data)
    # Each takes well below two seconds; a quadratic reading would take minutes.
    assert time.monotonic() - started < 60


# Several files, and where they came from


def report_of(name: str, outcome: TestOutcome = TestOutcome.PASSED, **more: object) -> TestReport:
    case = TestCase(id=f"/workspace/{name}::t", outcome=outcome, file=f"/workspace/{name}")
    return TestReport.model_validate({"format": "junit", "cases": [case], **more})


def test_the_files_of_a_run_become_one_report() -> None:
    joined = join_reports(
        [
            ("a.xml", report_of("a", stated=TestCounts(total=1, failed=0))),
            ("b.xml", report_of("b", TestOutcome.FAILED, stated=TestCounts(total=1), complete=False)),
            ("c.xml", report_of("a", problems=("p",), notes=("n",), stated=TestCounts(total=1))),
        ]
    )
    assert [case.id for case in joined.cases] == ["/workspace/a::t", "/workspace/b::t", "/workspace/a::t"]
    assert joined.stated == TestCounts(total=3)
    assert not joined.complete
    assert (joined.problems, joined.notes) == (("c.xml: p",), ("c.xml: n",))


def test_no_file_is_no_report() -> None:
    with pytest.raises(ReportUnreadable, match="no report was written"):
        join_reports([])


def test_where_the_workspace_lay_is_taken_off() -> None:
    report = without_root(report_of("a.js"), "/workspace")
    assert (report.cases[0].id, report.cases[0].file) == ("a.js::t", "a.js")
    untouched = without_root(report_of("a.js"), "/work")
    assert untouched.cases[0].id == "/workspace/a.js::t"


def test_every_built_in_format_is_declared_as_an_entry_point() -> None:
    points = {point.name: point.value for point in metadata.entry_points(group="adjudge.testreports")}
    assert points == dict(catalog.BUILTINS["testreports"])
