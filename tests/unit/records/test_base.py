import pytest
from pydantic import ValidationError

from adjudge.records.base import BlobRef, digest_bytes, digest_json
from adjudge.records.score import ScorerOutcome, ScorerSpec, Verdict


def test_the_digest_of_json_ignores_key_order_and_sees_every_value() -> None:
    assert digest_json({"a": 1, "b": [2, "x"]}) == digest_json({"b": [2, "x"], "a": 1})
    assert digest_json({"a": 1}) != digest_json({"a": 2})
    assert digest_json([1, 2]) != digest_json([2, 1])


def test_json_that_is_not_finite_has_no_digest() -> None:
    with pytest.raises(ValueError, match="not JSON compliant"):
        digest_json(float("nan"))


def test_records_are_frozen_and_strict() -> None:
    blob = BlobRef(digest=digest_bytes(b""), size_bytes=0)
    with pytest.raises(ValidationError, match="frozen"):
        blob.size_bytes = 3  # type: ignore[misc]
    with pytest.raises(ValidationError, match="extra"):
        BlobRef.model_validate({"digest": digest_bytes(b""), "size_bytes": 0, "colour": "red"})
    with pytest.raises(ValidationError, match="pattern"):
        BlobRef(digest="md5:00", size_bytes=0)


def test_the_text_of_a_blob_marks_what_is_left_out() -> None:
    whole = BlobRef(digest=digest_bytes(b"x"), size_bytes=1, head="x")
    cut = BlobRef(digest=digest_bytes(b"x"), size_bytes=90, head="start", tail="end")
    assert whole.text == "x"
    assert cut.text == "start\n[… 90 bytes in all …]\nend"


@pytest.mark.parametrize("weight", [-1.0, float("nan"), float("inf")])
def test_a_weight_is_finite_and_not_negative(weight: float) -> None:
    with pytest.raises(ValidationError):
        ScorerSpec(name="x", type="command", required=True, counted=True, weight=weight)


@pytest.mark.parametrize("verdict", [Verdict.PASS, Verdict.FAIL])
def test_a_graded_verdict_carries_a_score(verdict: Verdict) -> None:
    with pytest.raises(ValidationError, match="carries a score"):
        ScorerOutcome(verdict=verdict, reason="")


@pytest.mark.parametrize("verdict", [Verdict.NA, Verdict.ERROR])
def test_an_ungraded_verdict_has_no_score(verdict: Verdict) -> None:
    with pytest.raises(ValidationError, match="has no score"):
        ScorerOutcome(verdict=verdict, reason="", score=0.0)
