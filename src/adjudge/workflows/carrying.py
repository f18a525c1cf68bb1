"""What of an earlier evaluation still holds, so that a regrade computes only what changed.

A row holds while nothing it rests on changed: the version and the fields of its scorer, the files its task
refers to, what is asked of the sandbox and, where code ran for it, the environment. What code did is evidence
of its own, and holds under the same conditions for whichever scorer asks for the same.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from itertools import accumulate
from typing import NamedTuple

from pydantic import JsonValue

from adjudge.engine.collectors import runs_code
from adjudge.engine.environment import environment_fingerprint
from adjudge.engine.plan import make_plan
from adjudge.records.base import digest_json
from adjudge.records.evaluation import Evaluation
from adjudge.records.score import Recipe, ScorerResult, ScorerSpec, Verdict
from adjudge.records.stability import StabilityRecord
from adjudge.records.task import Task
from adjudge.records.tree import TreeEntry

__all__ = ["ASKS_MODELS", "Carried", "RecipeFacts", "carry", "changed_environment", "facts_of", "same_files"]

ASKS_MODELS = ("model_judge",)
"""Types whose answer is carried over unless a judge is asked again."""


class ScorerFacts(NamedTuple):
    """What this installation makes of a line of a recipe."""

    version: str
    runs_code: bool


RecipeFacts = Mapping[str, ScorerFacts]
"""By the name of the scorer."""


@dataclass(frozen=True, slots=True)
class Carried:
    """What holds of an earlier evaluation."""

    rows: Mapping[str, ScorerResult]
    evidence: bool
    """Whether what code did then is what it would do now."""
    environment: tuple[str, ...]
    """What differs in the environment, where something rests on it."""


def facts_of(recipe: Recipe) -> RecipeFacts:
    """Make every scorer ready once to learn its version and what it asks for."""
    plan = make_plan(recipe)
    try:
        return {
            planned.spec.name: ScorerFacts(
                planned.ready.version if planned.ready is not None else "unknown",
                any(runs_code(plan.requests[digest].kind) for digest in planned.requests),
            )
            for planned in plan.scorers
        }
    finally:
        plan.close()


def changed_environment(before: Mapping[str, str]) -> tuple[str, ...]:
    """Which parts of the fingerprint are others now."""
    now = _environment()
    return tuple(sorted(part for part in {*before, *now} if before.get(part) != now.get(part)))


@lru_cache(maxsize=1)
def _environment() -> Mapping[str, str]:
    return environment_fingerprint()


def carry(
    before: Evaluation,
    old: Task,
    new: Task,
    facts: RecipeFacts,
    *,
    stability: StabilityRecord | None,
    only: Collection[str] = (),
    force: bool = False,
    ask_models: bool = False,
) -> Carried:
    """Decide which rows of an evaluation hold for a task.

    Args:
        before: The evaluation.
        old: The task it is of.
        new: The task to grade by; often the same.
        facts: What this installation makes of the new task's recipe.
        stability: What is known about unstable tests.
        only: Scorers to compute; every other keeps its row where it has one. Empty: whatever changed.
        force: Compute everything that can be.
        ask_models: Whether scorers that ask a model are computed, too; else they say what they said, or N/A.
    """
    rows = {row.name: row for row in before.scorers}
    same_sandbox = _asked(old) == _asked(new)
    differs = changed_environment(before.provenance.environment) if before.provenance.environment else ()
    evidence = not force and same_sandbox and not differs
    held: dict[str, ScorerResult] = {}
    rests_on_environment = False
    for spec in new.scenario.recipe.scorers:
        row = rows.get(spec.name) or _of_same_kind(spec, before)
        if spec.type in ASKS_MODELS and ask_models:
            continue
        if row is None:
            if spec.type in ASKS_MODELS:
                held[spec.name] = _not_asked(spec, facts[spec.name].version)
            continue
        if _stays(spec, row) or (only and spec.name not in only):
            held[spec.name] = _flagged(row, spec)
            continue
        if only or force or row.verdict is Verdict.ERROR or _is_newer(stability, spec.name, before):
            continue
        known = facts[spec.name]
        same = (row.type, row.version, row.config_digest) == (
            spec.type,
            known.version,
            digest_json(dict(spec.config)),
        )
        if not same or not same_files(dict(spec.config), old, new):
            continue
        if known.runs_code and (differs or not same_sandbox):
            rests_on_environment = rests_on_environment or bool(differs)
            continue
        held[spec.name] = _flagged(row, spec)
    return Carried(held, evidence, differs if rests_on_environment else ())


def same_files(mentions: JsonValue, old: Task, new: Task) -> bool:
    """Whether all files of the scenario that something mentions are the same in both tasks.

    Args:
        mentions: The fields of a scorer, or of a request.
        old: One task.
        new: The other.
    """
    if old.files == new.files:
        return True
    named = set(_texts(mentions))
    return _mentioned(named, old) == _mentioned(named, new)


def _mentioned(named: Collection[str], task: Task) -> list[TreeEntry]:
    """Files by their own path, or by that of a folder they lie in."""
    return [
        file
        for file in task.files
        if any(part in named for part in accumulate(file.path.split("/"), "{}/{}".format))
    ]


def _texts(value: JsonValue) -> Iterator[str]:
    if isinstance(value, str):
        yield value.removeprefix("./").removesuffix("/")
    elif isinstance(value, Mapping):
        for item in value.values():
            yield from _texts(item)
    elif isinstance(value, list):
        for item in value:
            yield from _texts(item)


def _stays(spec: ScorerSpec, row: ScorerResult) -> bool:
    """Whether a row can only be carried: what it looked at is gone, or a model would have to be asked."""
    same = (row.type, row.config_digest) == (spec.type, digest_json(dict(spec.config)))
    return same and (spec.type in ASKS_MODELS or spec.config.get("isolation") == "live")


def _not_asked(spec: ScorerSpec, version: str) -> ScorerResult:
    """The row of a scorer that would have to ask a model, which nobody asked for."""
    return ScorerResult(
        name=spec.name,
        type=spec.type,
        verdict=Verdict.NA,
        score=None,
        required=spec.required,
        gate=spec.gate,
        weight=spec.weight,
        counted=spec.counted,
        reason="no model was asked; regrade with --judge does",
        version=version,
        config_digest=digest_json(dict(spec.config)),
    )


def _of_same_kind(spec: ScorerSpec, before: Evaluation) -> ScorerResult | None:
    """The row of a scorer that only got another name."""
    config = digest_json(dict(spec.config))
    found = [row for row in before.scorers if (row.type, row.config_digest) == (spec.type, config)]
    return found[0] if len(found) == 1 else None


def _flagged(row: ScorerResult, spec: ScorerSpec) -> ScorerResult:
    """A row under the flags its line of the recipe has now."""
    return row.model_copy(
        update={
            "name": spec.name,
            "required": spec.required,
            "gate": spec.gate,
            "weight": spec.weight,
            "counted": spec.counted,
        }
    )


def _asked(task: Task) -> object:
    return task.scenario.sandbox.model_dump(mode="json", exclude={"backend"})


def _is_newer(stability: StabilityRecord | None, scorer: str, before: Evaluation) -> bool:
    """Whether unstable tests of a scorer were found after it was graded."""
    if stability is None:
        return False
    graded_at = before.provenance.started_at.isoformat(timespec="seconds")
    return any(
        suite.scorer == scorer and suite.unstable and measurement.measured_at >= graded_at
        for measurement in stability.measurements
        for suite in measurement.suites
    )
