"""What an `EvaluationResult` refuses, and that it comes out of a document as it went in."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

import adjudge.records as records
from adjudge.errors import UsageError
from adjudge.records import (
    Annotation,
    ConfidenceInterval,
    ConfidenceMetadata,
    ErrorSource,
    ErrorTag,
    Evaluation,
    EvaluationResult,
    Judgment,
    ValidityCheck,
    VerifierSpec,
)
from adjudge.testing.results import evaluation, scorer_result

pytestmark = pytest.mark.anyone

FIT = ValidityCheck(output_parseable=True, schema_valid=True, verifier_completed=True)
UNREADABLE = ValidityCheck(output_parseable=False, schema_valid=False, verifier_completed=True)
FULL = EvaluationResult(
    reward=0.93,
    validity=ValidityCheck(
        output_parseable=True, schema_valid=False, verifier_completed=True, errors=["'x' is missing"]
    ),
    breakdown={"voltage_drop_v": {"score": 0.95, "max_score": 1.0, "evidence": "within 2% of reference"}},
    error_taxonomy=[ErrorTag(category="unit mismatch", source=ErrorSource.MECHANICAL)],
    confidence=ConfidenceMetadata(
        annotator_count=2,
        inter_rater_agreement=0.5,
        confidence_interval=ConfidenceInterval(low=0.1, high=0.9),
        confidence_method="Wilson",
    ),
    annotations=[
        Annotation(reviewer_id="r", timestamp=datetime(2026, 1, 1, tzinfo=UTC), judgment=Judgment.FAIL)
    ],
)


def test_every_name_is_found_and_nothing_else() -> None:
    for name in records.__all__:
        assert getattr(records, name).__name__ == name
        assert name in dir(records)
    with pytest.raises(AttributeError, match="nothing"):
        _ = records.nothing


@pytest.mark.parametrize("reward", [-0.1, 1.0000001, float("nan"), float("inf"), True, "0.5", None])
def test_a_reward_is_a_number_from_0_to_1(reward: Any) -> None:
    with pytest.raises(ValidationError):
        EvaluationResult(reward=reward, validity=FIT)


def test_a_reward_for_unparseable_output_is_refused_everywhere() -> None:
    assert EvaluationResult(reward=0.0, validity=UNREADABLE).reward == 0.0
    with pytest.raises(ValidationError, match="not parseable"):
        EvaluationResult(reward=0.1, validity=UNREADABLE)
    with pytest.raises(ValidationError, match="not parseable"):
        evaluation(reward=0.1, validity=UNREADABLE)


def test_a_completed_verifier_has_a_reward() -> None:
    row = scorer_result("ERROR", type="verifier")
    with pytest.raises(ValidationError, match="has a reward"):
        evaluation([row], reward=None, validity=FIT)
    died = ValidityCheck(output_parseable=True, schema_valid=True, verifier_completed=False)
    assert evaluation([row], reward=None, validity=died).reward is None
    assert evaluation([scorer_result("NA")], reward=None, validity=FIT).reward is None


@pytest.mark.parametrize("reward", [-0.1, 1.1, float("nan")])
def test_a_document_refuses_such_rewards_too(reward: float) -> None:
    with pytest.raises(ValidationError):
        evaluation(reward=reward)


@pytest.mark.parametrize(
    ("record", "fields"),
    [
        (ValidityCheck, {"output_parseable": "yes", "schema_valid": True, "verifier_completed": True}),
        (ValidityCheck, {"output_parseable": 1, "schema_valid": True, "verifier_completed": True}),
        (ValidityCheck, {**FIT.model_dump(), "errors": [" "]}),
        (ValidityCheck, {**FIT.model_dump(), "more": 1}),
        (ErrorTag, {"category": " ", "source": "mechanical"}),
        (ErrorTag, {"category": "x", "source": "robot"}),
        (Annotation, {"reviewer_id": "r", "timestamp": "2026-01-01T00:00:00", "judgment": "pass"}),
        (Annotation, {"reviewer_id": "", "timestamp": "2026-01-01T00:00:00Z", "judgment": "pass"}),
        (Annotation, {"reviewer_id": "r", "timestamp": "2026-01-01T00:00:00Z", "judgment": "maybe"}),
        (ConfidenceMetadata, {"annotator_count": -1}),
        (ConfidenceMetadata, {"annotator_count": True}),
        (ConfidenceMetadata, {"inter_rater_agreement": 1.5}),
        (ConfidenceMetadata, {"confidence_interval": {"low": 0.9, "high": 0.1}}),
        (ConfidenceMetadata, {"confidence_interval": {"low": -0.1, "high": 0.1}}),
        (VerifierSpec, {"script": "tests/test.sh", "expected_output_path": " ", "reward_path": "/r"}),
        (VerifierSpec, {"script": "tests/test.sh"}),
    ],
)
def test_records_are_strict(record: type[records.Evaluation], fields: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        record.model_validate(fields)


def test_it_survives_json() -> None:
    assert EvaluationResult.model_validate_json(FULL.model_dump_json()) == FULL


def test_it_goes_into_a_document_and_comes_out_equal() -> None:
    document = evaluation([scorer_result("FAIL", type="verifier")], reward=0.5).with_result(FULL)
    assert document.result() == FULL
    assert Evaluation.model_validate_json(document.to_json()).result() == FULL


@given(
    reward=st.floats(0, 1),
    errors=st.lists(st.text(min_size=1).filter(lambda text: text.strip() == text), max_size=2),
    breakdown=st.none()
    | st.dictionaries(st.text(max_size=5), st.none() | st.booleans() | st.text(max_size=5)),
    tags=st.none()
    | st.lists(st.builds(ErrorTag, category=st.just("c"), source=st.sampled_from(ErrorSource))),
)
def test_any_result_round_trips(
    reward: float, errors: list[str], breakdown: dict[str, Any] | None, tags: list[ErrorTag] | None
) -> None:
    result = EvaluationResult(
        reward=reward,
        validity=FIT.model_copy(update={"errors": errors}),
        breakdown=breakdown,
        error_taxonomy=tags,
    )
    document = evaluation(reward=0.0).with_result(result)
    assert Evaluation.model_validate_json(document.to_json()).result() == result


def test_putting_a_result_into_a_document_keeps_its_rules() -> None:
    with pytest.raises(ValidationError, match="not parseable"):
        evaluation(reward=0.0).with_result(FULL.model_copy(update={"validity": UNREADABLE}))


def test_nothing_graded_has_no_result() -> None:
    with pytest.raises(UsageError, match="no reward"):
        evaluation(reward=None).result()
