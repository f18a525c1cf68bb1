"""The library's verbs: `adjudge.grade`, `adjudge.agrade`, `adjudge.reward`. Work is done in `workflows`."""

from __future__ import annotations

import importlib
from pathlib import Path

from adjudge.errors import UsageError
from adjudge.records.evaluation import Evaluation
from adjudge.records.judging import JudgeConfig
from adjudge.records.task import Scenario
from adjudge.workflows.grade import GradeRequest, grade_now

__all__ = ["agrade", "grade", "reward"]


def grade(
    scenario: str | Path | Scenario | None = None,
    *,
    workspace: str | Path | None = None,
    patch: str | Path | bytes | None = None,
    baseline: str | Path | None = None,
    jobs: int | None = None,
    sandbox: str | None = None,
    save: bool = False,
    trace: str | Path | None = None,
    trace_format: str | None = None,
    response: str | Path | None = None,
    judge: str | JudgeConfig | None = None,
) -> Evaluation:
    """Grade a workspace, or a patch, and return the evaluation.

    How an attempt came out is in the evaluation, never in an exception: a failing test, a patch that does not
    apply and a sandbox that died are all verdicts. Only what could not be asked for raises.

    Args:
        scenario: The path of a scenario file or a task directory, the folder or digest of a frozen task, or a
            loaded `Scenario`. None: the task the workspace was seeded from, else `adjudge.yaml` in the
            current folder.
        workspace: The folder to grade. It is read, never written.
        patch: A patch to grade instead of a workspace: the path of a file, or the patch itself as bytes. It
            is applied to the baseline.
        baseline: What to compare with: a directory, a full commit id, or another revision of the workspace's
            git (which is then noted as unverified). None: what was recorded when the workspace was seeded,
            else the merge base with the default branch, or HEAD where that branch is checked out.
        jobs: How many sandboxes may run at once. None: as many as there are processors.
        sandbox: `auto`, `bubblewrap`, or `process` (no isolation). None: what the scenario or the settings
            say.
        save: Keep the evaluation and its evidence in the state directory.
        trace: The file that tells how the agent worked, for the scorers of traces and the limits of the
            scenario.
        trace_format: What the trace is written in, such as `claude-code`. None: found out.
        response: The file with what the agent said last.
        judge: Who judges: a YAML file, a model's name, or a configuration. None: what ADJUDGE_JUDGE says.

    Returns:
        The evaluation document as a record; `evaluation.to_json()` is what `adjudge grade --json` writes.

    Raises:
        UsageError: The scenario is not valid, there is no baseline, an argument cannot be used, or the caller
            is in an event loop (use `agrade` there).
        InfraError: We failed before there was anything to grade, or could not save the result.

    Example:
        ```python
        import adjudge

        evaluation = adjudge.grade("adjudge.yaml", workspace="attempt", baseline="before")
        print(evaluation.gates.objective.verdict, evaluation.score)
        for row in evaluation.scorers:
            print(row.verdict, row.name, row.reason)
        ```
    """
    return grade_now(
        GradeRequest(
            scenario=scenario,
            workspace=workspace,
            patch=patch,
            baseline=baseline,
            jobs=jobs,
            sandbox=sandbox,
            save=save,
            trace=trace,
            trace_format=trace_format,
            response=response,
            judge=judge,
        )
    )


async def agrade(
    scenario: str | Path | Scenario | None = None,
    *,
    workspace: str | Path | None = None,
    patch: str | Path | bytes | None = None,
    baseline: str | Path | None = None,
    jobs: int | None = None,
    sandbox: str | None = None,
    save: bool = False,
    trace: str | Path | None = None,
    trace_format: str | None = None,
    response: str | Path | None = None,
    judge: str | JudgeConfig | None = None,
) -> Evaluation:
    """Grade without blocking the event loop; the arguments and errors are those of `grade`.

    Cancelling the awaiting task ends every process and removes every file of the grading before the
    cancellation propagates.

    Example:
        ```python
        import asyncio

        import adjudge


        async def grade_all(patches: list[bytes]) -> list[float | None]:
            evaluations = await asyncio.gather(
                *(adjudge.agrade("adjudge.yaml", patch=patch, baseline="before") for patch in patches)
            )
            return [evaluation.reward for evaluation in evaluations]
        ```
    """
    # Loaded here: asyncio is for those who use it.
    grade_soon = importlib.import_module("adjudge.workflows.grade_async").grade_soon
    evaluation: Evaluation = await grade_soon(
        GradeRequest(
            scenario=scenario,
            workspace=workspace,
            patch=patch,
            baseline=baseline,
            jobs=jobs,
            sandbox=sandbox,
            save=save,
            trace=trace,
            trace_format=trace_format,
            response=response,
            judge=judge,
        )
    )
    return evaluation


def reward(
    graded: Evaluation | str | Path | Scenario | None = None,
    *,
    workspace: str | Path | None = None,
    patch: str | Path | bytes | None = None,
    baseline: str | Path | None = None,
    jobs: int | None = None,
    sandbox: str | None = None,
) -> float | None:
    """The reward to train with: a verifier's own, or the combined score, and 0 for an attempt that tampered.

    Args:
        graded: An evaluation, or what `grade` takes as its scenario; then the other arguments are those of
            `grade`, and the attempt is graded first.
        workspace: As for `grade`.
        patch: As for `grade`.
        baseline: As for `grade`.
        jobs: As for `grade`.
        sandbox: As for `grade`.

    Returns:
        A number from 0 to 1, as it is in the evaluation. 0.0 when integrity is `tampered`. None when the
        attempt could not be graded: leave such a sample out instead of training on a guess.

    Raises:
        UsageError: As for `grade`; or an evaluation was given together with something to grade.

    Example:
        ```python
        import adjudge

        print(adjudge.reward("examples/tasks/voltage-drop", workspace="attempt"))
        ```
    """
    if isinstance(graded, Evaluation):
        if any(given is not None for given in (workspace, patch, baseline, jobs, sandbox)):
            raise UsageError("an evaluation is graded already; give it alone")
        evaluation = graded
    else:
        evaluation = grade(
            graded, workspace=workspace, patch=patch, baseline=baseline, jobs=jobs, sandbox=sandbox
        )
    return 0.0 if evaluation.integrity.outcome == "tampered" else evaluation.reward
