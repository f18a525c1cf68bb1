"""The reward of an evaluation, and what goes with it: validity, breakdown, error taxonomy.

With a verifier its reward counts as it is, whatever our own gates and weights say; without one, the combined
score does.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from pydantic import JsonValue, TypeAdapter

from adjudge.records.annotation import ErrorTag
from adjudge.records.evaluation import ValidityCheck
from adjudge.records.score import ScorerResult, Verdict

__all__ = ["Rewarded", "conclude_reward"]

_VERIFIER = "verifier"
_MOVED = ("validity", "breakdown", "error_taxonomy")
"""Details of a verifier's row that are fields of the document."""
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
        validity = ValidityCheck(
            output_parseable=True, schema_valid=True, verifier_completed=not errors, errors=errors
        )
        return Rewarded(score, validity, tuple(results))
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
        error_taxonomy=TypeAdapter(tuple[ErrorTag, ...]).validate_python(details.get("error_taxonomy", ())),
        warnings=(f"reward channel: {_SHARED}",) if channel == _SHARED else (),
    )
