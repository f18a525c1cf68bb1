"""Only an exact verdict is a verdict."""

from __future__ import annotations

import json
from typing import Any

import pytest

from adjudge.judge.parsing import AnswerInvalid, parse_opinion
from adjudge.records.judgement import FailureMode, JudgeVerdict

pytestmark = pytest.mark.anyone


def answer(**changes: Any) -> dict[str, Any]:
    fine: dict[str, Any] = {
        "scores": {"task_completion": 4, "instruction_adherence": 5, "efficiency": 3},
        "verdict": "PASS",
        "failure_mode": None,
        "reasoning": "The tests pass and the diff does what was asked.",
        "fact_checks": [
            {"statement": "Tests pass", "kind": "claim", "status": "supported", "evidence": "scorers: unit"}
        ],
    }
    return fine | changes


def test_a_plain_answer() -> None:
    opinion = parse_opinion(json.dumps(answer()))
    assert opinion.verdict is JudgeVerdict.PASS
    assert opinion.scores.efficiency == 3
    assert opinion.fact_checks[0].evidence == "scorers: unit"


def test_one_block_in_other_text() -> None:
    text = f"Here is my judgement:\n```json\n{json.dumps(answer())}\n```\nThank you."
    assert parse_opinion(text).verdict is JudgeVerdict.PASS


def test_a_failure_names_its_mode() -> None:
    opinion = parse_opinion(json.dumps(answer(verdict="FAIL", failure_mode="gamed_checks")))
    assert opinion.failure_mode is FailureMode.GAMED_CHECKS


def scores(**changes: Any) -> dict[str, Any]:
    return {"task_completion": 4, "instruction_adherence": 5, "efficiency": 3} | changes


WRONG = {
    "empty": ("", "the answer is empty"),
    "white space": (" \n\t", "the answer is empty"),
    "prose": ("I think it passes.", "no JSON"),
    "not JSON": ("{verdict: PASS}", "not valid JSON"),
    "cut off": (json.dumps(answer())[:-20], "not valid JSON"),
    "two answers": (f"```json\n{json.dumps(answer())}\n```\n" * 2, "several blocks"),
    "a list": ("```json\n[]\n```", "a JSON object was expected"),
    "verdict twice": ('{"verdict": "FAIL", "verdict": "PASS"}', "'verdict' stands twice"),
    "verdict a truth value": (json.dumps(answer(verdict=True)), "verdict"),
    "passed as text": (json.dumps({"passed": "false"}), "Field required"),
    "verdict in lower case": (json.dumps(answer(verdict="pass")), "verdict"),
    "verdict unknown": (json.dumps(answer(verdict="MAYBE")), "verdict"),
    "score too high": (json.dumps(answer(scores=scores(efficiency=6))), "less than or equal to 5"),
    "score zero": (json.dumps(answer(scores=scores(efficiency=0))), "greater than or equal to 1"),
    "score as text": (json.dumps(answer(scores=scores(efficiency="4"))), "valid integer"),
    "score a fraction": (json.dumps(answer(scores=scores(efficiency=4.5))), "valid integer"),
    "score a truth value": (json.dumps(answer(scores=scores(efficiency=True))), "valid integer"),
    "score missing": (json.dumps(answer(scores={"task_completion": 5})), "Field required"),
    "PASS with a failure mode": (json.dumps(answer(failure_mode="incorrect")), "contradicts"),
    "FAIL without one": (json.dumps(answer(verdict="FAIL")), "needs a failure_mode"),
    "unknown mode": (json.dumps(answer(verdict="FAIL", failure_mode="bad luck")), "failure_mode"),
    "no reasoning": (json.dumps(answer(reasoning="  ")), "reasoning"),
    "unknown key": (json.dumps(answer(confidence=1)), "Extra inputs"),
    "unknown status": (
        json.dumps(answer(fact_checks=[{"statement": "x", "kind": "claim", "status": "true"}])),
        "status",
    ),
    "NaN": ('{"scores": NaN}', "NaN is not a number"),
    "nested too deeply": ("{" + '"a":[' * 60, "nested deeper"),
    "too long": ("{" + " " * 500_000 + "}", "characters, at most"),
}


@pytest.mark.parametrize("name", WRONG)
def test_what_is_no_verdict(name: str) -> None:
    text, said = WRONG[name]
    with pytest.raises(AnswerInvalid) as raised:
        parse_opinion(text)
    assert said in raised.value.message
