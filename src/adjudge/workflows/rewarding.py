"""The reward of an evaluation, and what goes with it: validity, breakdown, error taxonomy.

With a verifier its reward counts as it is, whatever our own gates and weights say; without one, the combined
score does, unless the output that a `rubric` looked at cannot be parsed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple, cast

from pydantic import JsonValue, TypeAdapter

from adjudge.records.annotation import ErrorTag
from adjudge.records.evaluation import ValidityCheck
from adjudge.records.score import ScorerResult, Verdict

__all__ = ["Rewarded", "conclude_reward"]

_VERIFIER = "verifier"
_RUBRIC = "rubric"
_MOVED = ("validity", "breakdown", "error_taxonomy")
"""Details of a verifier's or a rubric's row that are fields of the document."""
_TAGS = TypeAdapter(tuple[ErrorTag, ...])
_SHARED = "shared with candidate code"


class Rewarded(NamedTuple):
    """What an evaluation says about the reward."""

    reward: float | None
    validity: ValidityCheck
    results: tuple[ScorerResult, ...]
    """The rows, without what is told above them."""
    breakdown: Mapping[str, JsonValue] | None = None
    error_taxonomy: tuple[ErrorTag, ...] = ()
    warnings: tuple[str, ...] = ()


def conclude_reward(results: Sequence[ScorerResult], score: float | None) -> Rewarded:
    """Conclude from all rows and their combined score."""
    row = next((row for row in results if row.type == _VERIFIER), None)
    errors = [f"{row.name}: {row.reason}" for row in results if row.verdict is Verdict.ERROR]
    if row is None:
        return _by_rubrics(results, score, errors)
    if not row.verdict.graded:
        # Ours, so nothing is known about the output.
        validity = ValidityCheck(
            output_parseable=True, schema_valid=True, verifier_completed=False, errors=errors or [row.reason]
        )
        return Rewarded(None, validity, tuple(results))
    if "validity" not in row.details:
        # There was nothing to verify, such as after a patch that does not apply.
        validity = ValidityCheck(
            output_parseable=False, schema_valid=False, verifier_completed=False, errors=[row.reason]
        )
        return Rewarded(0.0, validity, tuple(results))
    details = row.details
    kept = {key: value for key, value in details.items() if key not in _MOVED}
    breakdown = details.get("breakdown")
    channel = details.get("reward_channel")
    return Rewarded(
        reward=row.score,
        validity=ValidityCheck.model_validate(details["validity"]),
        results=tuple(row.model_copy(update={"details": kept}) if one is row else one for one in results),
        breakdown=breakdown if isinstance(breakdown, dict) else None,
        error_taxonomy=_tags_of((row, *(one for one in results if one.type == _RUBRIC))),
        warnings=(f"reward channel: {_SHARED}",) if channel == _SHARED else (),
    )


def _by_rubrics(results: Sequence[ScorerResult], score: float | None, errors: list[str]) -> Rewarded:
    """Without a verifier: the combined score, and what rubrics found out about the outputs."""
    rubrics = [row for row in results if row.type == _RUBRIC and "validity" in row.details]
    checks = [cast("dict[str, JsonValue]", row.details["validity"]) for row in rubrics]
    parseable = all(check["output_parseable"] for check in checks)
    said = [str(error) for check in checks for error in cast("list[JsonValue]", check["errors"])]
    reward = score
    if reward and not parseable:
        said.insert(0, f"reward {reward} refused: output unparseable")
        reward = 0.0
    breakdowns = {
        row.name: breakdown for row in rubrics if isinstance(breakdown := row.details.get("breakdown"), dict)
    }
    whole: Mapping[str, JsonValue] | None = breakdowns or None
    if len(breakdowns) == 1:
        (whole,) = breakdowns.values()
    return Rewarded(
        reward=reward,
        validity=ValidityCheck(
            output_parseable=parseable,
            schema_valid=all(check["schema_valid"] for check in checks),
            verifier_completed=not errors,
            errors=list(dict.fromkeys((*said, *errors))),
        ),
        results=tuple(
            row.model_copy(update={"details": {k: v for k, v in row.details.items() if k not in _MOVED}})
            if row.type == _RUBRIC
            else row
            for row in results
        ),
        breakdown=whole,
        error_taxonomy=_tags_of(rubrics),
    )


def _tags_of(rows: Sequence[ScorerResult]) -> tuple[ErrorTag, ...]:
    tags = [tag for row in rows for tag in _TAGS.validate_python(row.details.get("error_taxonomy", ()))]
    return tuple(dict.fromkeys(tags))
