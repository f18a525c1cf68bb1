"""What the secret scan found is in no row."""

from __future__ import annotations

from adjudge.engine.score import redacted
from adjudge.formats.redaction import Redactor
from adjudge.records.score import Finding
from adjudge.testing.results import scorer_result


def test_no_field_of_a_row_keeps_it() -> None:
    row = scorer_result(
        "FAIL",
        reason="has opensesame",
        output_tail="prints opensesame",
        details={"stdout_tail": "opensesame", "paths": ["a/opensesame"]},
        findings=(Finding(rule="r", message="opensesame", path="a/opensesame", line=3),),
    )
    hidden = redacted(row, Redactor(["opensesame"]))
    assert "opensesame" not in hidden.model_dump_json()
    assert hidden.verdict is row.verdict
    assert hidden.findings[0].line == 3


def test_rows_stay_as_they_are_without_secrets() -> None:
    row = scorer_result("PASS")
    assert redacted(row, Redactor([])) == row
