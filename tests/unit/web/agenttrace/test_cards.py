"""Cards from evaluations."""

from typing import Any

import pytest

from adjudge.records.annotation import Annotation, Judgment
from adjudge.records.evaluation import GateResult, Gates, ObjectiveGateResult
from adjudge.records.score import Finding, Verdict
from adjudge.records.task import RunLimits
from adjudge.testing.results import evaluation, scorer_result
from adjudge.testing.runs import make_run
from adjudge.web.agenttrace.cards import (
    explain_gates,
    judge_card,
    limit_rows,
    reward_card,
    scorer_row,
    scorers_card,
)
from adjudge.web.agenttrace.regrades import compare_evaluations

pytestmark = pytest.mark.anyone


def gates(objective: str, judge: str = "NA", run: str = "PASS") -> Gates:
    return Gates(
        objective=ObjectiveGateResult(verdict=Verdict(objective), reason="o"),
        judge=GateResult(verdict=Verdict(judge), reason="j"),
        run=GateResult(verdict=Verdict(run), reason="r"),
    )


class TestScorers:
    def test_hidden_without_a_workspace(self) -> None:
        assert scorers_card(evaluation()) is None

    def test_only_what_holds_a_run_back_is_hard(self) -> None:
        rows = [
            scorer_result("FAIL"),
            scorer_result("FAIL", required=False),
            scorer_result("FAIL", required=False, gate=True),
            scorer_result("FAIL", required=False, capped=True),
            scorer_result("ERROR"),
            scorer_result("NA"),
            scorer_result("PASS"),
        ]
        card = scorers_card(evaluation(rows))
        assert card is not None
        assert [row.hard for row in card.rows] == [True, False, True, True, True, False, False]
        assert [row.role for row in card.rows][:3] == ["required", "advisory", "gate"]
        assert dict(card.counts) == {Verdict.PASS: 1, Verdict.FAIL: 4, Verdict.NA: 1, Verdict.ERROR: 1}

    def test_a_row_shows_the_telling_part_and_says_what_is_left_out(self) -> None:
        tests = [
            {"id": str(n), "outcome": "passed" if n else "failed", "message": "m"} for n in range(99, -1, -1)
        ]
        result = scorer_result(
            "FAIL",
            findings=tuple(Finding(rule="r", message=str(n), path="a b.py", line=n) for n in range(1, 41)),
            output_tail="\n".join(map(str, range(1000))),
            details={
                "tests": tests,
                "counts": {"passed": 99, "failed": 1, "error": 0},
                "exit_code": 1,
                "x": None,
            },
        )
        few, whole = scorer_row(0, result), scorer_row(0, result, few=False)
        assert few.tests is not None
        assert whole.tests is not None
        assert few.tests.rows[0].outcome == "failed"
        assert few.tests.counts == (("passed", 99), ("failed", 1))
        assert len(few.tests.rows) + few.tests.left_out == 100
        assert (len(whole.tests.rows), whole.tests.left_out) == (100, 0)
        assert len(few.findings) + few.findings_left_out == 40
        assert few.findings[0].place == "a b.py:1"
        assert few.output.endswith("999")
        assert few.output_left_out + few.output.count("\n") + 1 == 1000
        assert whole.output == result.output_tail
        assert few.facts == (("exit code", "1"),)

    @pytest.mark.parametrize(
        "details",
        [{"tests": "x"}, {"tests": []}, {"tests": [1]}, {"tests": [{}], "counts": 3}, {"tests": {}}],
    )
    def test_details_of_any_form(self, details: dict[str, Any]) -> None:
        row = scorer_row(0, scorer_result(details=details))
        assert row.tests is None or len(row.tests.rows) == 1


class TestGates:
    @pytest.mark.parametrize(
        ("objective", "judge", "run", "said"),
        [
            ("FAIL", "PASS", "PASS", "hard constraint"),
            ("PASS", "FAIL", "PASS", "not convinced"),
            ("PASS", "NA", "FAIL", "within its limits"),
            ("PASS", "ERROR", "PASS", "fails nothing"),
        ],
    )
    def test_explains_disagreement(self, objective: str, judge: str, run: str, said: str) -> None:
        found = explain_gates(evaluation(gates=gates(objective, judge, run)))
        assert found is not None
        assert said in found.reading
        assert found.why in ("o", "j", "r")

    def test_explains_warnings_and_nothing_else(self) -> None:
        warned = evaluation(
            [scorer_result("FAIL", name="skips", required=False)], gates=gates("PASS", "PASS")
        )
        found = explain_gates(warned)
        assert found is not None
        assert found.why == "skips"
        for both in ("PASS", "FAIL"):
            assert explain_gates(evaluation(gates=gates(both, both))) is None


class TestJudge:
    def test_none_was_asked(self) -> None:
        assert judge_card(evaluation()) is None

    def test_a_form_of_another_version_is_shown_as_it_is(self) -> None:
        card = judge_card(evaluation(judge={"verdict": "PASS", "odd": 1}, gates=gates("NA", "PASS")))
        assert card is not None
        assert (card.judgement, card.word) == (None, "PASS")
        assert '"odd": 1' in card.document


class TestReward:
    def test_dimensions_of_any_form(self) -> None:
        given = {
            "usual": {"score": 1, "max_score": 4, "evidence": "e", "unit": "V"},
            "bare": 0.5,
            "zero": {"score": 1, "max_score": 0},
            "text": "said",
            "flag": True,
            "list": [1],
        }
        found = {item.name: item for item in reward_card(evaluation(breakdown=given)).dimensions}
        assert (found["usual"].share, found["usual"].evidence) == (0.25, 'e\n{"unit": "V"}')
        assert found["bare"].share == 0.5
        assert found["zero"].share is None
        assert (found["text"].evidence, found["flag"].evidence, found["list"].evidence) == (
            "said",
            "true",
            "[1]",
        )

    def test_reviews_say_what_they_disagree_with(self) -> None:
        said = [
            Annotation(reviewer_id=name, timestamp="2026-01-01T00:00:00Z", judgment=judgment)
            for name, judgment in (("ada", Judgment.PASS), ("bob", Judgment.FAIL), ("cy", Judgment.DEFER))
        ]
        card = reward_card(evaluation(gates=gates("PASS", "FAIL"), annotations=tuple(said)))
        assert ["judge gate" in review.disagrees for review in card.reviews] == [True, False, False]
        assert "objective gate" in card.reviews[1].disagrees


def test_usage_beside_limits() -> None:
    rows = {row.name: row for row in limit_rows(make_run(), RunLimits(wall_s=10, tokens=1000))}
    assert (rows["Time"].over, rows["Tokens"].over, rows["Cost"].over) == (True, False, False)
    assert rows["Tokens"].used == 120
    assert limit_rows(make_run(attempt=None), RunLimits(wall_s=10))[0].used is None


def test_compares_evaluations() -> None:
    before = evaluation([scorer_result("FAIL", name="a"), scorer_result(name="b"), scorer_result(name="old")])
    after = evaluation(
        [scorer_result(name="a"), scorer_result(name="b"), scorer_result("FAIL", name="new", required=False)],
        gates=gates("FAIL"),
        reward=0.5,
    )
    found = compare_evaluations(before, after)
    assert [(row.name, row.what) for row in found.rows] == [
        ("a", "verdict, score"),
        ("b", ""),
        ("new", "added"),
        ("old", "no longer in the recipe"),
    ]
    assert [change.name for change in (*found.gates, *found.values) if change.changed] == [
        "objective",
        "run",
        "reward",
    ]
    assert found.changed
    assert not compare_evaluations(before, before).changed
