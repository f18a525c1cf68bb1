"""Putting stored runs before a judge: `adjudge judge`, and every run of an experiment that has one.

A run is judged from what is stored of it, so that asking later sees what asking at once would have seen. Each
judgement is a further evaluation of its run; the scorers' rows and every other gate are carried over.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from adjudge.contracts import BlobStore, GradedSubject, RunStore
from adjudge.errors import AdjudgeError, UsageError
from adjudge.formats.traces.recorded import RecordedTrace
from adjudge.judge.court import Court
from adjudge.records.evaluation import Evaluation
from adjudge.records.judgement import Judgement
from adjudge.records.run import Run, RunStatus
from adjudge.records.score import Verdict
from adjudge.records.task import Task
from adjudge.workflows.judging import Heard, case_of, judged

__all__ = ["JudgedRun", "Selection", "heard_of", "judge_one", "judge_runs", "judgement_of", "select_runs"]


@dataclass(frozen=True, slots=True)
class Selection:
    """Which runs; one way of naming them."""

    runs: tuple[str, ...] = ()
    experiment: str | None = None
    everything: bool = False
    failed_only: bool = False
    """Only runs whose judge failed, or that were never judged."""


@dataclass(frozen=True, slots=True)
class JudgedRun:
    """What became of one run."""

    run: Run
    before: Evaluation
    after: Evaluation | None = None
    problem: str = ""
    """Why it could not be judged."""


def judgement_of(evaluation: Evaluation | None) -> Judgement | None:
    """What the judge said; None when nobody was asked."""
    if evaluation is None or evaluation.judge is None:
        return None
    return Judgement.model_validate(evaluation.judge)


def select_runs(selection: Selection, store: RunStore) -> list[Run]:
    """The runs that are meant, in the order they are judged in.

    Raises:
        UsageError: None were named, or one that is not finished.
    """
    chosen = sum((bool(selection.runs), selection.experiment is not None, selection.everything))
    if chosen > 1 or (not chosen and not selection.failed_only):
        raise UsageError(
            "name runs, an experiment, or all" if chosen else "no run to judge was named",
            hint="adjudge judge RUN…, --experiment ID, --all, or --retry-failed",
        )
    if selection.runs:
        runs = [store.run(text) for text in dict.fromkeys(selection.runs)]
        for run in runs:
            if run.status is not RunStatus.FINISHED:
                raise UsageError(
                    f"run {run.id} is {run.status.value.replace('_', ' ')}, so there is nothing to judge"
                )
    else:
        id_ = None if selection.experiment is None else store.experiment(selection.experiment).id
        runs = [run for run in store.runs(experiment_id=id_) if run.status is RunStatus.FINISHED]
    if selection.failed_only:
        runs = [run for run in runs if _is_left_to_judge(store.current_evaluation(run.id))]
    return list({run.id: run for run in runs}.values())


def heard_of(run: Run, task: Task, blobs: BlobStore) -> Heard:
    """What is stored of a run that a judge reads."""
    attempt = run.attempt
    if attempt is None:
        return Heard(task)
    kept = attempt.trace
    return Heard(
        task=task,
        change_set=attempt.change_set,
        trace=None if kept is None else RecordedTrace(lambda: blobs.open(kept), format="adjudge"),
        session=() if attempt.transcript is None else _exchanges(blobs, attempt.transcript),
        response=attempt.response,
        outcome=attempt.outcome,
        blobs=blobs,
    )


async def judge_one(court: Court, run: Run, graded: GradedSubject, blobs: BlobStore) -> GradedSubject:
    """A grading of a run with the judge's verdict in it."""
    heard = await asyncio.to_thread(heard_of, run, graded.task, blobs)
    case = await asyncio.to_thread(case_of, heard, graded.evaluation, court.config)
    judgement = await court.judge(case)
    return graded._replace(evaluation=judged(graded.evaluation, judgement))


async def judge_runs(
    court: Court,
    runs: Sequence[Run],
    store: RunStore,
    blobs: BlobStore,
    *,
    jobs: int,
    observe: Callable[[JudgedRun], None] = lambda _: None,
) -> list[JudgedRun]:
    """Judge stored runs and record it; each is recorded as soon as it is judged."""
    slots = asyncio.Semaphore(jobs)
    writing = asyncio.Lock()
    done: list[JudgedRun | None] = [None] * len(runs)

    async def work(index: int, run: Run) -> None:
        async with slots:
            result = await _judge_stored(court, run, store, blobs, writing)
        done[index] = result
        observe(result)

    async with asyncio.TaskGroup() as group:
        for index, run in enumerate(runs):
            group.create_task(work(index, run))
    return [result for result in done if result is not None]


async def _judge_stored(
    court: Court, run: Run, store: RunStore, blobs: BlobStore, writing: asyncio.Lock
) -> JudgedRun:
    async with writing:
        before = await asyncio.to_thread(store.current_evaluation, run.id)
        if before is None:
            raise UsageError(f"run {run.id} was never graded", hint=f"adjudge regrade {run.id}")
        task = await asyncio.to_thread(store.task, before.task.digest)
        evidence = await asyncio.to_thread(store.evidence, before.id)
    change_set = None if run.attempt is None else run.attempt.change_set
    graded = GradedSubject(before, task, change_set, tuple(evidence))
    try:
        after = await judge_one(court, run, graded, blobs)
    except AdjudgeError as error:
        return JudgedRun(run, before, problem=error.message)
    async with writing:
        await asyncio.to_thread(store.save_evaluation, run.id, after)
    return JudgedRun(run, before, after.evaluation)


def _is_left_to_judge(evaluation: Evaluation | None) -> bool:
    return evaluation is not None and evaluation.gates.judge.verdict in (Verdict.ERROR, Verdict.NA)


def _exchanges(blobs: BlobStore, ref: Any) -> tuple[tuple[str, str], ...]:
    """What was said in a session, as it was kept: a JSON object a line."""
    with blobs.open(ref) as stream:
        return tuple(_spoken(stream))


def _spoken(lines: Iterable[bytes]) -> Iterable[tuple[str, str]]:
    for line in lines:
        said = json.loads(line)
        yield str(said.get("role", "")), str(said.get("content", ""))
