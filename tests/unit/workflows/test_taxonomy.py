"""Validity, breakdown and tags of evaluations without a verifier, and what the table says of them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import adjudge
from adjudge.errors import PatchUnreadable, ScenarioInvalid, WorkspaceUnreadable
from adjudge.records.annotation import ErrorSource
from adjudge.records.evaluation import Evaluation, GateResult, Integrity
from adjudge.records.score import Finding, Verdict
from adjudge.reports.table import render_table
from adjudge.testing.results import scorer_result
from adjudge.workflows.taxonomy import mechanical_tags

pytestmark = pytest.mark.anyone

RUN = GateResult(verdict=Verdict.NA, reason="workspace given, no agent ran")


def tags(
    *rows: Any, integrity: Integrity | None = None, run: GateResult = RUN, fault: Any = None
) -> list[str]:
    found = mechanical_tags(rows, integrity=integrity or Integrity(), run=run, fault=fault)
    assert all(tag.source is ErrorSource.MECHANICAL for tag in found)
    return [tag.category for tag in found]


def row(verdict: str, type: str, *rules: str) -> Any:
    findings = tuple(Finding(rule=rule, message=f"{rule} {index}") for index, rule in enumerate(rules))
    return scorer_result(verdict, type=type, findings=findings, reason="why")


def test_what_happened_is_tagged() -> None:
    assert tags(row("FAIL", "command", "command-timed-out")) == ["timeout"]
    assert tags(row("FAIL", "file_exists", "path-missing")) == ["output missing"]
    assert tags(row("FAIL", "tests_unmodified", "x")) == ["tampering:edited_tests"]
    assert tags(integrity=Integrity(outcome="tampered", reasons=("a", "b"))) == ["tampering"]
    ran_out = GateResult(verdict=Verdict.FAIL, reason="timed out: 60 s were up")
    assert tags(run=ran_out) == ["timeout"]
    assert tags(fault=PatchUnreadable("line 3: not a patch")) == ["parse error"]
    assert len(tags(row("FAIL", "files", *["file-missing"] * 50))) == 5


def test_what_passed_or_could_not_be_read_is_not() -> None:
    assert tags(row("PASS", "tests_unmodified"), row("NA", "command", "command-timed-out")) == []
    assert tags(row("FAIL", "tests_unmodified"), fault=WorkspaceUnreadable("no")) == []
    crashed = GateResult(verdict=Verdict.FAIL, reason="crashed: timed out")
    assert tags(run=crashed) == []


SCENARIO = """\
error_categories: [unit mismatch, wrong formula]
scorers:
  - type: rubric
    output: out.json
    fields:
      - {path: a, equals: 1, category: wrong formula}
      - {path: b, equals: 2}
"""


@pytest.fixture
def graded(tmp_path: Path) -> Any:
    def grade(output: str | None, scenario: str = SCENARIO) -> Evaluation:
        for name in ("before", "after"):
            (tmp_path / name).mkdir(exist_ok=True)
        if output is not None:
            (tmp_path / "after" / "out.json").write_text(output)
        (tmp_path / "adjudge.yaml").write_text(scenario)
        return adjudge.grade(
            tmp_path / "adjudge.yaml", workspace=tmp_path / "after", baseline=tmp_path / "before"
        )

    return grade


def test_a_wrong_attempt_is_told_from_an_unusable_one(graded: Any) -> None:
    missing = graded(None)
    assert missing.validity.output_parseable is False
    assert [tag.category for tag in missing.error_taxonomy] == ["output missing"]
    assert "PRODUCED NOTHING USABLE: out.json is not there" in " ".join(render_table(missing).split())
    garbled = graded("{")
    assert [tag.category for tag in garbled.error_taxonomy] == ["parse error"]
    wrong = graded('{"a": 2, "b": 2}')
    assert wrong.validity.output_parseable is True
    assert wrong.reward == 0.5
    assert [tag.category for tag in wrong.error_taxonomy] == ["wrong formula"]
    assert "usable output, which was wrong" in render_table(wrong)
    right = graded('{"a": 1, "b": 2}')
    assert (right.reward, right.error_taxonomy) == (1.0, ())
    assert "attempt " not in render_table(right)
    assert json.loads(right.to_json())["breakdown"]["b"]["evidence"] == "2 as expected"
    assert right.result().breakdown == right.breakdown
    assert "breakdown" not in right.scorers[0].details


def test_no_reward_for_an_output_that_cannot_be_parsed(graded: Any) -> None:
    scenario = SCENARIO + "  - {type: max_files_changed, limit: 5}\n"
    evaluation = graded("{", scenario)
    assert evaluation.score == 0.5
    assert evaluation.reward == 0.0
    assert evaluation.validity.errors[0] == "reward 0.5 refused: output unparseable"


def test_two_rubrics_have_two_breakdowns(graded: Any) -> None:
    scenario = (
        SCENARIO + "  - {name: other, type: rubric, output: out.json, fields: [{path: b, equals: 2}]}\n"
    )
    breakdown = graded('{"a": 1, "b": 2}', scenario).breakdown
    assert breakdown is not None
    assert {name: list(part) for name, part in breakdown.items()} == {"rubric": ["a", "b"], "other": ["b"]}


@pytest.mark.parametrize(
    ("categories", "message"),
    [
        ("[wrong formulas]", "rubric: 'wrong formula' is not one of them; did you mean 'wrong formulas'"),
        ("[a, a]", "'a' is there twice"),
        ("['']", "error_categories"),
        ("wrong", "error_categories"),
    ],
)
def test_categories_are_checked(graded: Any, categories: str, message: str) -> None:
    with pytest.raises(ScenarioInvalid) as caught:
        graded("{}", SCENARIO.replace("[unit mismatch, wrong formula]", categories))
    assert message in str(caught.value)
    assert "adjudge.yaml:1:" in str(caught.value)


@pytest.mark.parametrize(
    ("schema", "message"),
    [
        (
            '{"type": "strin"}',
            "scorers[0].output_schema: 'schema.json' is not a JSON Schema that can be used: type",
        ),
        ("{", "line 1, column 2: not JSON"),
        ('{"$ref": "https://example.org/x"}', "leads out of the schema"),
    ],
)
def test_a_schema_is_checked_before_anything_is_spent(
    graded: Any, tmp_path: Path, schema: str, message: str
) -> None:
    (tmp_path / "schema.json").write_text(schema)
    with pytest.raises(ScenarioInvalid) as caught:
        graded("{}", SCENARIO.replace("    fields:", "    output_schema: schema.json\n    fields:"))
    assert message in str(caught.value)
