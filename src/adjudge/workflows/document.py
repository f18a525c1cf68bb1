"""From what a grading found to the evaluation document: roll-up, gates, validity, provenance."""

from __future__ import annotations

import os
from collections.abc import Callable
from datetime import datetime
from typing import NamedTuple

from adjudge.engine.environment import environment_fingerprint
from adjudge.errors import InfraError, SubjectError
from adjudge.gates.corroboration import rows_with_unseen_tests
from adjudge.gates.integrity import conclude_integrity
from adjudge.gates.judge import judge_gate
from adjudge.gates.objective import objective_gate
from adjudge.gates.run import no_agent_ran
from adjudge.records.annotation import ErrorTag
from adjudge.records.base import digest_bytes, digest_json
from adjudge.records.change import BaselineRef, ChangeSet
from adjudge.records.evaluation import Evaluation, GateResult, Gates, Provenance, TaskRef
from adjudge.records.sandbox import SandboxReport
from adjudge.records.score import ScorerResult, Verdict
from adjudge.records.task import Task
from adjudge.rollup.combined import combined_score
from adjudge.version import __version__
from adjudge.workflows.rewarding import conclude_reward
from adjudge.workflows.taxonomy import mechanical_tags, unknown_categories

__all__ = ["Graded", "evaluate", "run_id"]

UNVERIFIED = "baseline: unverified"


class Graded(NamedTuple):
    """What a grading found."""

    task: Task
    results: tuple[ScorerResult, ...]
    fault: SubjectError | InfraError | None
    baseline: BaselineRef | None
    change_set: ChangeSet | None
    patch: bytes | None
    sandboxes: tuple[SandboxReport, ...]
    warnings: tuple[str, ...]
    hide: Callable[[str], str]
    """Takes secrets out of a text."""
    doubts: tuple[str, ...]
    ran_code: bool
    started_at: datetime
    duration_s: float
    run_id: str | None = None
    """The run that was graded; None: worked out from the task and the changes."""
    run_gate: GateResult | None = None
    """What is concluded on the agent; None when no agent ran."""


def evaluate(graded: Graded) -> Evaluation:
    """Conclude, and write down how it came about."""
    recipe = graded.task.scenario.recipe
    doubts = list(graded.doubts)
    warnings = list(graded.warnings)
    if graded.baseline is not None and not graded.baseline.trusted:
        doubts.insert(0, UNVERIFIED)
        warnings.insert(0, UNVERIFIED)
    if graded.change_set is not None:
        warnings += graded.change_set.warnings
    warnings += [note for report in graded.sandboxes[:1] if not report.isolated for note in report.notes[:1]]
    instruction = graded.task.scenario.instruction
    unseen = rows_with_unseen_tests(recipe)
    integrity = conclude_integrity(doubts, graded.results, instruction=instruction, unseen=unseen)
    score = combined_score(graded.results, recipe.rollup, tampered=integrity.outcome == "tampered")
    rewarded = conclude_reward(graded.results, score)
    run = graded.run_gate or no_agent_ran("workspace" if graded.patch is None else "patch")
    objective = objective_gate(
        graded.results,
        score=score,
        pass_threshold=recipe.pass_threshold,
        integrity=integrity,
        fault=graded.fault,
    )
    mechanical = mechanical_tags(
        graded.results,
        integrity=integrity,
        run=run,
        fault=graded.fault,
        failed=objective.verdict is Verdict.FAIL,
        instruction=instruction,
        unseen=unseen,
    )
    tags = tuple(dict.fromkeys((*rewarded.error_taxonomy, *mechanical)))
    warnings += (*rewarded.warnings, *unknown_categories(tags, graded.task.scenario.error_categories))
    change_digest = graded.change_set.digest if graded.change_set is not None else None
    subject_digest = change_digest or digest_bytes(graded.patch or b"")
    return Evaluation(
        id=os.urandom(16).hex(),
        run_id=graded.run_id or run_id(graded.task.digest, subject_digest),
        task=TaskRef(name=graded.task.name, digest=graded.task.digest),
        gates=Gates(
            objective=objective,
            judge=judge_gate(),
            run=run,
        ),
        score=score,
        pass_threshold=recipe.pass_threshold,
        reward=rewarded.reward,
        scorers=rewarded.results,
        integrity=integrity,
        validity=rewarded.validity,
        breakdown=rewarded.breakdown,
        error_taxonomy=tuple(_hidden(tag, graded.hide) for tag in tags),
        warnings=tuple(dict.fromkeys(map(graded.hide, warnings))),
        provenance=_provenance(graded, change_digest),
    )


def _hidden(tag: ErrorTag, hide: Callable[[str], str]) -> ErrorTag:
    """The tag without the secrets."""
    return tag if tag.description is None else tag.model_copy(update={"description": hide(tag.description)})


def run_id(task_digest: str, subject_digest: str) -> str:
    """The id of a run that no agent of ours made: the same task and the same change are the same run."""
    return digest_json(["adjudge.run/1", task_digest, subject_digest]).removeprefix("sha256:")[:32]


def _provenance(graded: Graded, change_digest: str | None) -> Provenance:
    reports = graded.sandboxes
    held_by = {limit: holder for report in reports for limit, holder in report.limits_held_by.items()}
    return Provenance(
        adjudge=__version__,
        recipe_digest=digest_json(graded.task.scenario.recipe.model_dump(mode="json")),
        baseline=graded.baseline,
        change_digest=change_digest,
        sandbox=reports[0].backend if reports else None,
        sandbox_notes=tuple(dict.fromkeys(note for report in reports for note in report.notes)),
        limits_held_by=held_by,
        environment=environment_fingerprint() if graded.ran_code else {},
        started_at=graded.started_at,
        duration_s=round(graded.duration_s, 6),
    )
