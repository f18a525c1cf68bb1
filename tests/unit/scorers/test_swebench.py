"""How outcomes of tests become credit and a gate."""

from __future__ import annotations

import pytest
from pydantic import ValidationError

from adjudge.records.evidence import TestRun
from adjudge.records.score import ScorerOutcome, Verdict
from adjudge.records.testreport import Proof, TestOutcome, TrustedTest, TrustedTestRun
from adjudge.scorers.behaviour.swebench import SweBench
from adjudge.testing.attempts import Attempt, suite_session

pytestmark = pytest.mark.anyone

CONFIG = {"fail_to_pass": ["a.py::bug", "a.py::more"], "pass_to_pass": ["a.py::kept"]}
PASSED, FAILED, SKIPPED = TestOutcome.PASSED, TestOutcome.FAILED, TestOutcome.SKIPPED


def ended(id_: str, outcome: TestOutcome) -> TrustedTest:
    return TrustedTest(id=id_, outcome=outcome, proof=Proof.VALUE if outcome is PASSED else None)


def score(
    outcomes: dict[str, TestOutcome], again: dict[str, TestOutcome] | None = None, *, inverted: int = 0
) -> ScorerOutcome:
    config = SweBench.Config.model_validate(CONFIG)
    (request,) = (need for need in SweBench().needs(config) if isinstance(need, TestRun))
    run = TrustedTestRun(
        tests=tuple(ended(id_, outcome) for id_, outcome in outcomes.items()),
        again=tuple(ended(id_, outcome) for id_, outcome in (again or {}).items()),
        sessions=(suite_session(),),
        seed="s",
        inverted=inverted,
    )
    return Attempt().score(SweBench, CONFIG, {request: run})


def test_resolved() -> None:
    outcome = score({"a.py::bug": PASSED, "a.py::more": PASSED, "a.py::kept": PASSED})
    assert (outcome.verdict, outcome.score, outcome.capped) == (Verdict.PASS, 1.0, False)
    assert outcome.details["resolution"] == "full"


@pytest.mark.parametrize(
    "other", [FAILED, SKIPPED, TestOutcome.ERROR, TestOutcome.XFAILED, TestOutcome.XPASSED]
)
def test_anything_but_a_pass_is_none(other: TestOutcome) -> None:
    partial = score({"a.py::bug": PASSED, "a.py::more": other, "a.py::kept": PASSED})
    assert (partial.score, partial.details["resolution"]) == (0.5, "partial")
    assert [finding.rule for finding in partial.findings] == ["fail-to-pass-failed"]
    broken = score({"a.py::bug": PASSED, "a.py::more": PASSED, "a.py::kept": other}, {"a.py::kept": other})
    assert (broken.verdict, broken.score, broken.capped) == (Verdict.FAIL, 0.0, True)
    assert broken.details["resolution"] == "none"


def test_an_id_that_nothing_is_known_of_did_not_pass() -> None:
    outcome = score({"a.py::bug": PASSED, "a.py::kept": PASSED})
    assert outcome.score == 0.5
    assert outcome.findings[0].message == "a.py::more: no result arrived"


def test_an_unstable_test_is_shown_and_closes_no_gate() -> None:
    outcome = score({"a.py::bug": PASSED, "a.py::more": PASSED, "a.py::kept": FAILED}, {"a.py::kept": PASSED})
    assert (outcome.verdict, outcome.capped) == (Verdict.PASS, False)
    assert [finding.rule for finding in outcome.findings] == ["unstable-test"]
    assert outcome.details["again"] == {"a.py::kept": "passed"}


def test_guesses_cost_what_they_gained() -> None:
    outcome = score({"a.py::bug": PASSED, "a.py::more": FAILED, "a.py::kept": PASSED}, inverted=1)
    assert outcome.score == 0.0


def test_nothing_to_keep_is_no_gate() -> None:
    outcome = Attempt().score(SweBench, {"fail_to_pass": ["a.py::bug"]})
    assert (outcome.verdict, outcome.score) == (Verdict.PASS, 1.0)


@pytest.mark.parametrize("prefix", ["node --test", "npx jest", "npx vitest run"])
def test_an_id_of_a_javascript_test_names_its_file(prefix: str) -> None:
    SweBench.Config(fail_to_pass=("a.test.js::adds",), cmd_prefix=prefix)
    with pytest.raises(ValidationError, match="'adds' names no file; ids are 'path::suite > test' here"):
        SweBench.Config(fail_to_pass=("a.test.js::adds",), pass_to_pass=("adds",), cmd_prefix=prefix)
    # The runner of Go finds a name by itself.
    SweBench.Config(fail_to_pass=("TestAdd",), cmd_prefix="go test")
