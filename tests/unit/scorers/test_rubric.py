"""`rubric`: what a recipe may ask for, and corners of its verdict. Cases are in `tests/scorers/rubric`."""

from __future__ import annotations

import re
from typing import Any

import pytest

from adjudge.formats.outputs import check_output
from adjudge.records.outputs import OutputFormat
from adjudge.records.score import Verdict
from adjudge.scorers.change.rubric import Rubric

pytestmark = pytest.mark.anyone


def made(*fields: dict[str, Any], **more: Any) -> Rubric.Config:
    return Rubric.Config.model_validate({"output": "a.json", "fields": list(fields), **more})


@pytest.mark.parametrize(
    ("config", "message"),
    [
        ({"fields": []}, "fields"),
        ({"fields": [{"path": "a"}]}, "give one of equals, near, one_of, matches, quantity; found none"),
        ({"fields": [{"path": "a", "equals": 1, "near": 1}]}, "found equals and near"),
        ({"fields": [{"path": "a", "near": 1}]}, "near needs absolute, relative or both"),
        ({"fields": [{"path": "a", "quantity": "1 V"}]}, "quantity needs absolute"),
        ({"fields": [{"path": "a", "equals": 1, "relative": 1}]}, "go with near or quantity"),
        ({"fields": [{"path": "a", "near": float("nan"), "absolute": 1}]}, "near"),
        ({"fields": [{"path": "a", "near": 1, "absolute": -1}]}, "absolute"),
        ({"fields": [{"path": "a", "quantity": "1 foo", "absolute": 1}]}, "unit 'foo' is unknown"),
        ({"fields": [{"path": "a", "quantity": "1", "absolute": 1}]}, "has no unit"),
        ({"fields": [{"path": "a", "quantity": "1 V", "absolute": 1, "unit": "A"}]}, "cannot be compared"),
        ({"fields": [{"path": "a", "equals": 1, "unit": "A"}]}, "unit goes with quantity"),
        ({"fields": [{"path": "a", "matches": "(?=x)"}]}, "is not a regular expression"),
        ({"fields": [{"path": "a", "matches": "\\Qx"}]}, "is not a regular expression"),
        ({"fields": [{"path": "a..b", "equals": 1}]}, "is not a path"),
        ({"fields": [{"path": "a", "equals": 1, "weight": -1}]}, "weight"),
        ({"fields": [{"path": "a", "equals": 1, "weight": 0}]}, "every weight is 0"),
        ({"fields": [{"path": "a", "equals": 1, "max_score": 0}]}, "max_score"),
        ({"fields": [{"path": "a", "equals": 1}, {"path": "a", "equals": 2}]}, "'a' is there twice"),
        ({"fields": [{"path": "a", "equals": 1}], "output": "../a.json"}, "output"),
        ({"fields": [{"path": "a", "equals": 1}], "output": "a"}, "does not tell its format"),
        ({"fields": [{"path": "a", "equals": 1}], "rollup": "max"}, "rollup"),
    ],
)
def test_what_makes_no_sense_is_refused(config: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=re.escape(message)):
        Rubric.Config.model_validate({"output": "a.json", **config})


def test_a_configuration_survives_being_written_down() -> None:
    config = made(
        {"path": "a", "one_of": [None, 1]},
        {"path": "b", "equals": []},
        {"path": "c", "quantity": "3 V", "unit": "mV", "relative": 0.1},
    )
    assert Rubric.Config.model_validate(config.model_dump(mode="json")) == config


def scored(data: bytes, config: Rubric.Config) -> Any:
    scorer = Rubric()
    (request,) = scorer.needs(config)
    return scorer.score(config, {request: check_output(data, OutputFormat.JSON)})  # type: ignore[arg-type]


def test_a_score_that_is_rounded_up_does_not_pass() -> None:
    config = made({"path": "a", "equals": 1, "weight": 1e6}, {"path": "b", "equals": 1})
    outcome = scored(b'{"a": 1}', config)
    assert (outcome.verdict, outcome.score) == (Verdict.FAIL, 1.0)


def test_an_unparseable_output_never_passes() -> None:
    config = made({"path": "a", "equals": 1}, pass_threshold=0.0)
    outcome = scored(b"{", config)
    assert (outcome.verdict, outcome.score) == (Verdict.FAIL, 0.0)
    assert outcome.details["validity"]["output_parseable"] is False
    assert scored(b"{}", config).verdict is Verdict.PASS


def test_the_breakdown_and_the_tags() -> None:
    config = made(
        {"path": "a", "equals": 1, "max_score": 5, "weight": 3, "evidence": "as in the table"},
        {"path": "i", "name": "current", "quantity": "16 A", "relative": 0.01, "category": "unit mismatch"},
        {"path": "n", "quantity": "1 V", "absolute": 0, "unit": "mV"},
    )
    outcome = scored(b'{"a": 1, "i": "16 V", "n": 1000}', config)
    assert outcome.score == 0.8
    assert outcome.details["breakdown"] == {
        "a": {"score": 5.0, "max_score": 5.0, "weight": 3.0, "evidence": "as in the table: 1 as expected"},
        "current": {
            "score": 0.0,
            "max_score": 1.0,
            "weight": 1.0,
            "evidence": "'V' cannot be compared with 'A'; 16 A within 1 % expected",
        },
        "n": {"score": 1.0, "max_score": 1.0, "weight": 1.0, "evidence": "1000 is 1 V within 0"},
    }
    assert [tag["category"] for tag in outcome.details["error_taxonomy"]] == ["unit mismatch"]
    worst = scored(b'{"a": 1}', config.model_copy(update={"rollup": "min"}).model_validate(
        {**config.model_dump(mode="json"), "rollup": "min"}))  # fmt: skip
    assert worst.score == 0.0


@pytest.mark.parametrize("value", [b"true", b"null", b"[]", b"{}", b'""', b"1e300", b"-0.0", b'"16 A 16 A"'])
def test_odd_values_are_wrong_and_no_more(value: bytes) -> None:
    config = made({"path": "a", "quantity": "16 A", "unit": "A", "relative": 0.1})
    assert scored(b'{"a": %s}' % value, config).verdict is Verdict.FAIL
