"""Tags that adjudge gives an evaluation by itself: what happened, in categories that can be counted.

They say how an attempt failed, not that it did: verdicts are the scorers' and the gates'.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence

from adjudge.errors import PatchUnreadable, SubjectError
from adjudge.gates.corroboration import corroborated
from adjudge.gates.integrity import (
    FAMILIES,
    FORGED_RESULTS,
    families_of,
    is_cleared,
    is_ordered,
    takes_nothing,
)
from adjudge.records.annotation import ErrorSource, ErrorTag
from adjudge.records.evaluation import GateResult, Integrity
from adjudge.records.score import ScorerResult, Verdict
from adjudge.records.verifier import MechanicalError

__all__ = ["mechanical_tags", "unknown_categories"]

HONEST_FAILURE = "honest_failure"
"""It failed, and the detectors that looked found nothing."""
ORDERED_CHANGE = "ordered_change"
"""The task asks for the changes to tests that were made."""
_RULES = {
    "command-timed-out": MechanicalError.TIMEOUT,
    "path-missing": MechanicalError.OUTPUT_MISSING,
    "file-missing": MechanicalError.OUTPUT_MISSING,
}
"""Findings that are such a tag; `verifier` and `rubric` give their own."""
_RAN_OUT = ("timed out", "ran for ")
"""How the run gate begins to say that time was up."""
_MAX_PER_ROW = 5


def mechanical_tags(
    results: Sequence[ScorerResult],
    *,
    integrity: Integrity,
    run: GateResult,
    fault: Exception | None,
    failed: bool = False,
    instruction: str = "",
    unseen: Collection[str] = (),
) -> tuple[ErrorTag, ...]:
    """Every tag that follows from what was found, each once.

    Args:
        results: Every row of the evaluation.
        integrity: What the detectors say together.
        run: How the agent's run went.
        fault: Why there was nothing to look at.
        failed: Whether the objective gate is FAIL.
        instruction: What the task asks for.
        unseen: Names of rows with tests that the attempt never saw.
    """
    tags = dict.fromkeys(_tags(results, integrity, run, fault, instruction, unseen))
    for clue in corroborated(results, unseen) if fault is None else ():
        for family in clue.families:
            category = f"{MechanicalError.TAMPERING}:{family}"
            tags[_named(category, f"{clue.row.name}: {clue.reason}")] = None
    if failed and fault is None and integrity.outcome == "clean":
        tags[_named(HONEST_FAILURE, "it failed, and no detector found anything")] = None
    return tuple(tags)


def unknown_categories(tags: Iterable[ErrorTag], known: Sequence[str]) -> tuple[str, ...]:
    """Warnings about categories that the task does not define; none where it defines no categories."""
    if not known:
        return ()
    ours = {*known, *MechanicalError, HONEST_FAILURE, ORDERED_CHANGE}
    ours |= {f"{MechanicalError.TAMPERING}:{family}" for family in (*FAMILIES.values(), FORGED_RESULTS)}
    others = dict.fromkeys(tag.category for tag in tags if tag.category not in ours)
    return tuple(f"error category {name!r} is not one that the task defines" for name in others)


def _tags(
    results: Sequence[ScorerResult],
    integrity: Integrity,
    run: GateResult,
    fault: Exception | None,
    instruction: str,
    unseen: Collection[str],
) -> Iterator[ErrorTag]:
    if integrity.outcome == "tampered":
        yield _tag(MechanicalError.TAMPERING, "; ".join(integrity.reasons))
    if run.verdict is Verdict.FAIL and run.reason.startswith(_RAN_OUT):
        yield _tag(MechanicalError.TIMEOUT, f"the agent {run.reason}")
    if isinstance(fault, PatchUnreadable):
        yield _tag(MechanicalError.PARSE_ERROR, fault.message)
    elif isinstance(fault, SubjectError):
        return
    for row in results:
        if row.verdict is not Verdict.FAIL:
            continue
        proven = any(finding.proof for finding in row.findings)
        if (row.type in FAMILIES or proven) and fault is None:
            if not proven and takes_nothing(row.findings):
                categories = []
            elif not proven and is_ordered(row.type, row.findings, instruction):
                categories = [ORDERED_CHANGE]
            elif not proven and is_cleared(row, results, unseen):
                categories = []
            else:
                categories = [f"{MechanicalError.TAMPERING}:{family}" for family in families_of(row, results)]
            for category in categories:
                yield _named(category, f"{row.name}: {row.reason}")
        found = [finding for finding in row.findings if finding.rule in _RULES]
        for finding in found[:_MAX_PER_ROW]:
            yield _tag(_RULES[finding.rule], f"{row.name}: {finding.message}")


def _tag(category: MechanicalError, description: str) -> ErrorTag:
    return _named(category.value, description)


def _named(category: str, description: str) -> ErrorTag:
    return ErrorTag(category=category, description=description.strip() or None, source=ErrorSource.MECHANICAL)
