"""The report channel believes nothing and survives everything."""

from __future__ import annotations

import json
import random

import pytest

from adjudge.evidence.tests.channel import Channel, Phase
from adjudge.evidence.tests.outcomes import ended
from adjudge.records.testreport import TestOutcome


def line(**report: object) -> bytes:
    return json.dumps(report).encode() + b"\n"


def phases(*outcomes: str) -> list[list[object]]:
    whens = ("setup", "call", "teardown")
    return [[when, outcome, False, False, 0.5, ""] for when, outcome in zip(whens, outcomes, strict=False)]


def test_reports_arrive_in_any_pieces() -> None:
    data = line(k="collected", ids=["a::b"]) + line(k="test", id="a::b", phases=phases(*["passed"] * 3))
    data += line(k="end", exit=0)
    for size in (1, 7, 1000):
        channel = Channel()
        for at in range(0, len(data), size):
            channel.feed(data[at : at + size])
        channel.close()
        assert channel.collected == ["a::b"]
        assert len(channel.phases["a::b"]) == 3
        assert channel.ends == [0]
        assert channel.problems == ()


@pytest.mark.parametrize(
    "bad",
    [
        b"\n",
        b"not json\n",
        b"[]\n",
        b"{}\n",
        b"1" * 5000 + b"\n",
        b"[" * 100_000 + b"\n",
        b"\xff\xfe\n",
        line(k="test", id="x", phases=[["setup"]]),
        line(k="test", id="x", phases=[["setup", "great", False, False, 0.1, ""]]),
        line(k="test", id="x", phases=[["setup", "passed", False, False, "0", ""]]),
        line(k="test", id=["x"], phases=[]),
        line(k="test", id="x" * 5000, phases=[]),
        b'{"k": "test", "id": "\\ud800", "phases": []}\n',
        line(k="collected", ids=[1]),
        line(k="end", exit="0"),
        b'{"k": "end", "exit": 0',
    ],
)
def test_what_is_not_a_report_is_counted(bad: bytes) -> None:
    channel = Channel()
    channel.feed(line(k="collected", ids=["a"]))
    channel.feed(bad)
    channel.close()
    assert channel.unreadable == 1
    assert channel.collected == ["a"]
    assert channel.problems


def test_a_line_without_an_end_does_not_fill_the_memory() -> None:
    channel = Channel()
    for _ in range(100):
        channel.feed(b"x" * 65536)
    channel.feed(b"\n" + line(k="collected", ids=["a"]))
    channel.close()
    assert channel.unreadable == 1
    assert channel.collected == ["a"]


def test_noise_never_raises() -> None:
    random_ = random.Random(1)
    channel = Channel()
    for _ in range(300):
        channel.feed(bytes(random_.randrange(256) for _ in range(200)) + b"\n")
    channel.close()
    assert channel.phases == {}


def phase(when: str, outcome: str, *, expected_failure: bool = False, sub: bool = False) -> Phase:
    return Phase(when, outcome, expected_failure, sub, 0.1, f"{when} {outcome}")  # type: ignore[arg-type]


PASSED = [phase("setup", "passed"), phase("call", "passed"), phase("teardown", "passed")]


@pytest.mark.parametrize(
    ("seen", "outcome"),
    [
        ([], None),
        (PASSED, TestOutcome.PASSED),
        (PASSED[:2], None),
        (PASSED[1:2], None),
        ([*PASSED, *PASSED], TestOutcome.ERROR),
        ([*PASSED, phase("call", "passed")], TestOutcome.ERROR),
        ([PASSED[0], phase("call", "failed"), PASSED[2]], TestOutcome.FAILED),
        ([phase("setup", "failed"), PASSED[2]], TestOutcome.ERROR),
        ([*PASSED[:2], phase("teardown", "failed")], TestOutcome.ERROR),
        ([PASSED[0], phase("call", "failed", sub=True), *PASSED[1:]], TestOutcome.FAILED),
        ([PASSED[0], phase("call", "passed", sub=True), *PASSED[1:]], TestOutcome.PASSED),
        ([phase("setup", "skipped"), PASSED[2]], TestOutcome.SKIPPED),
        ([PASSED[0], phase("call", "skipped", expected_failure=True), PASSED[2]], TestOutcome.XFAILED),
        ([PASSED[0], phase("call", "passed", expected_failure=True), PASSED[2]], TestOutcome.XPASSED),
        ([PASSED[0], phase("call", "rerun"), PASSED[2], *PASSED], TestOutcome.ERROR),
        ([PASSED[0], phase("call", "rerun"), *PASSED[1:]], None),
        ([PASSED[0], phase("call", "rerun"), *PASSED], TestOutcome.PASSED),
        ([PASSED[0], phase("call", "rerun"), PASSED[0], phase("call", "failed")], TestOutcome.FAILED),
    ],
)
def test_outcome_of_a_test(seen: list[Phase], outcome: TestOutcome | None) -> None:
    assert ended(seen).outcome is outcome
