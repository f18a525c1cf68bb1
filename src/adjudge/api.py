"""The library's verbs, as `adjudge.grade` and `adjudge.agrade`. The work is done in `adjudge.workflows`."""

from __future__ import annotations

import importlib
from pathlib import Path

from adjudge.records.evaluation import Evaluation
from adjudge.records.task import Scenario
from adjudge.workflows.grade import GradeRequest, grade_now

__all__ = ["agrade", "grade"]


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
) -> Evaluation:
    """Grade a workspace, or a patch, and return the evaluation.

    How an attempt came out is in the evaluation, never in an exception: a failing test, a patch that does not
    apply and a sandbox that died are all verdicts. Only what could not be asked for raises.

    Args:
        scenario: The path of a scenario file, the folder or digest of a frozen task, or a loaded `Scenario`.
            None: the task the workspace was seeded from, else `adjudge.yaml` in the current folder.
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
        )
    )
    return evaluation
