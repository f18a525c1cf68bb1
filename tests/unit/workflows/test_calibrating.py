"""When a judge is ready to be relied on, and what is said when it is not."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from adjudge.records.base import digest_bytes
from adjudge.records.judgement import FailureMode, Judgement, JudgeVerdict
from adjudge.workflows.calibrating import Calibration, Label, Repeated, compare

pytestmark = pytest.mark.anyone


def judged(passed: bool) -> Judgement:
    return Judgement(
        verdict=JudgeVerdict.PASS if passed else JudgeVerdict.FAIL,
        failure_mode=None if passed else FailureMode.INCORRECT,
        config_digest=digest_bytes(b""),
        evidence_digest=digest_bytes(b""),
        judged_at=datetime(2026, 1, 1, tzinfo=UTC),
    )


def calibration(right: int, wrong: int, repeated: Repeated | None = None) -> Calibration:
    """Half of the labels pass; the judge is wrong about the last ones."""
    pairs = []
    for number in range(right + wrong):
        passed = number % 2 == 0
        pairs.append((Label(str(number), passed), judged(passed if number < right else not passed)))
    return compare([label for label, _ in pairs], pairs, repeated)


def test_a_good_judge_is_ready() -> None:
    found = calibration(58, 2)
    assert found.ready, found.concerns
    assert found.accuracy == pytest.approx(58 / 60)
    assert found.kappa is not None
    assert found.kappa == pytest.approx(0.9333, abs=1e-3)
    assert found.kappa_interval is not None
    assert found.kappa_interval[0] < found.kappa < found.kappa_interval[1]
    assert found.confusion == {"PASS/pass": 29, "PASS/fail": 1, "FAIL/pass": 1, "FAIL/fail": 29}
    assert found.failure_modes == {"incorrect": (29, 30)}


@pytest.mark.parametrize(
    ("found", "concern"),
    [
        (calibration(10, 0), "10 labelled runs with a verdict, 30 are needed"),
        (calibration(40, 20), "is below 0.6"),
        (calibration(24, 6), "wide, at most 0.5 is useful"),
        (calibration(0, 0), "kappa is undefined"),
        (calibration(60, 0, Repeated(10, 3, 7)), "the same again on 70% of runs"),
        (calibration(60, 0, Repeated(10, 3, 10, {"length": (3, 10)})), "length: 3 of 10 verdicts change"),
    ],
)
def test_why_a_judge_is_not(found: Calibration, concern: str) -> None:
    assert not found.ready
    assert any(concern in said for said in found.concerns), found.concerns


def test_labels_without_a_verdict_are_counted() -> None:
    found = compare([Label("a", True), Label("b", False)], [(Label("a", True), judged(True))], None)
    assert "1 labelled runs have no verdict" in found.concerns
