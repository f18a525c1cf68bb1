"""What can be asked of many runs, and what is refused before the database sees it."""

from __future__ import annotations

import pytest
from pydantic import ValidationError

from adjudge.records.exploring import (
    Condition,
    Exploration,
    GroupRow,
    Moments,
    Operator,
    Progress,
    RowOrder,
    field_of,
)

pytestmark = pytest.mark.anyone


@pytest.mark.parametrize(
    ("field", "operator", "value", "said"),
    [
        ("agnt", "is", "x", "'agnt' is no field; did you mean agent"),
        ("tag:", "is", "x", "'tag:' is no field"),
        ("objective", "is", "pass", "'pass' is none of PASS, FAIL, NA, ERROR"),
        ("score", "is", "high", "'high' is no number"),
        ("score", "at-least", "nan", "is no number"),
        ("score", "contains", "1", "is no text"),
        ("agent", "at-least", "a", "has no order"),
        ("started_at", "at-least", "yesterday", "is no date such as 2026-01-31"),
        ("agent", "is", "a\0b", "characters that no database keeps"),
        ("agent", "is", "\ud800", "valid string"),
        ("agent", "is", "x" * 501, "at most 500 characters"),
    ],
)
def test_conditions_that_cannot_hold_are_refused(field: str, operator: str, value: str, said: str) -> None:
    with pytest.raises(ValidationError, match=said.replace("(", r"\(")):
        Condition(field=field, operator=Operator(operator), value=value)


def test_conditions_that_can_hold_are_taken() -> None:
    for field, operator, value in (
        ("tag:suite", "contains", "x"),
        ("objective", "is-not", "PASS"),
        ("cost_usd", "at-most", "1e-3"),
        ("started_at", "at-least", "2026-01-31T10:00:00+02:00"),
        ("score", "unknown", ""),
    ):
        assert Condition(field=field, operator=Operator(operator), value=value).field == field
    assert field_of("tag:suite").title == "Tag suite"


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"by": ("agents",)}, "did you mean agent"),
        ({"by": ("agent", "agent")}, "twice"),
        ({"by": ()}, "at least 1 item"),
        ({"measures": ("speed",)}, "no measure; known: score"),
    ],
)
def test_explorations_that_make_no_sense_are_refused(fields: dict[str, tuple[str, ...]], said: str) -> None:
    with pytest.raises(ValidationError, match=said):
        Exploration.model_validate(fields)


def test_runs_are_not_sorted_by_what_they_have_several_of() -> None:
    with pytest.raises(ValidationError, match="a run has several"):
        RowOrder(field="scorer")


def test_moments_give_mean_and_variance() -> None:
    assert (Moments(0, 0.0, 0.0).mean, Moments(1, 3.0, 9.0).variance) == (None, None)
    assert Moments(4, 10.0, 30.0).variance == pytest.approx(5 / 3)
    # Rounding must not make a variance negative.
    assert Moments(3, 0.3, 0.03 - 1e-18).variance == 0.0


def test_a_group_says_what_its_rate_leaves_out() -> None:
    row = GroupRow(("a",), 10, 4, 2, 1, 1, 0, 0, 0, ())
    assert (row.graded, row.missing, row.unfinished) == (6, 3, 2)


def test_progress_in_words() -> None:
    assert Progress(4, 4, 0, 0, 0, None, 0).words == "All 4 runs are graded."
    assert Progress(9, 2, 1, 2, 1, 0.5, 3).words == (
        "2 of 9 runs are graded; 2 running, 1 to be graded, 1 could not be run, 3 not begun."
    )
