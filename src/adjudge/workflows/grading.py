"""From a subject to its evaluation: the one road of `adjudge grade`, `adjudge run` and `adjudge regrade`.

Whoever has a subject (a workspace handed in, an attempt that just stopped, a stored run made again) gives it
to a `SubjectGrading` and gets back the evaluation with what it was concluded from.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from types import MappingProxyType, TracebackType
from typing import Self

from adjudge.contracts import GradedSubject, Subject
from adjudge.engine.collectors import Means
from adjudge.engine.grading import Grading
from adjudge.errors import InfraError, SubjectError
from adjudge.records.base import Record
from adjudge.records.change import BaselineRef, ChangeSet
from adjudge.records.evaluation import GateResult
from adjudge.records.evidence import EvidenceRequest
from adjudge.records.score import ScorerResult
from adjudge.workflows.document import Graded, evaluate
from adjudge.workflows.recipes import GradedBy

__all__ = ["SubjectGrading"]


class SubjectGrading:
    """One grading, as steps: begin, wait, conclude. A context manager that removes all it made.

    Args:
        by: The task, with what should be known about where it came from.
        means: What collecting may need.
        jobs: How many sandboxes may run at once.
        unstable: Ids of tests that do not count, by the name of the scorer that runs them.
        carried: Rows that hold as they are, by the name of their scorer; these scorers are not run again.
        known: What code did before on the same subject, in the same environment.
    """

    def __init__(
        self,
        by: GradedBy,
        means: Means,
        *,
        jobs: int,
        unstable: Mapping[str, frozenset[str]] = MappingProxyType({}),
        carried: Mapping[str, ScorerResult] = MappingProxyType({}),
        known: Sequence[tuple[EvidenceRequest, Record]] = (),
    ) -> None:
        self._by = by
        self._started_at = datetime.now(UTC)
        self._began = time.perf_counter()
        self._carried = carried
        self._known = known
        recipe = by.task.scenario.recipe
        if carried:
            left = tuple(spec for spec in recipe.scorers if spec.name not in carried)
            recipe = recipe.model_copy(update={"scorers": left})
        answers = {request.digest: answer for request, answer in known}
        self._grading = Grading(recipe, means, jobs=jobs, unstable=unstable, known=answers)

    def __enter__(self) -> Self:
        self._grading.__enter__()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._grading.__exit__(kind, error, trace)

    @property
    def runs_code(self) -> bool:
        """Whether `wait` has anything to wait for."""
        return self._grading.runs_code

    @property
    def asides(self) -> tuple[tuple[EvidenceRequest, Record], ...]:
        """What code did that was run only for other evidence to build on."""
        return self._grading.asides

    def begin(self, subject: Subject | SubjectError | InfraError) -> None:
        """Plan, and collect what is cheap."""
        self._grading.begin(subject)

    def begin_nothing(self) -> None:
        """Plan nothing, where every row is carried."""
        self._grading.begin(SubjectError("every row is carried"))

    async def wait(self) -> None:
        """Run what has to be run."""
        await self._grading.wait()

    def conclude(
        self,
        *,
        baseline: BaselineRef | None,
        change_set: ChangeSet | None,
        patch: bytes | None = None,
        fault: SubjectError | InfraError | None = None,
        void: SubjectError | InfraError | None = None,
        run_id: str | None = None,
        run_gate: GateResult | None = None,
    ) -> GradedSubject:
        """Score, roll up and conclude.

        Args:
            baseline: What the attempt was compared with.
            change_set: What it changed; None when there was nothing to compare.
            patch: The patch, where one was handed in.
            fault: Why there was nothing to grade.
            void: Why what was collected no longer holds.
            run_id: The run this grades; None: worked out from the task and the changes.
            run_gate: What is concluded on the agent; None when no agent ran.
        """
        grading = self._grading
        scored = grading.conclude() if void is None else grading.void(void)
        results = scored
        if self._carried:
            rows = {**self._carried, **{row.name: row for row in scored}}
            results = tuple(rows[spec.name] for spec in self._by.task.scenario.recipe.scorers)
        evaluation = evaluate(
            Graded(
                task=self._by.task,
                results=results,
                fault=fault or void,
                baseline=baseline,
                change_set=change_set,
                patch=patch,
                sandboxes=grading.sandboxes,
                warnings=(*self._by.warnings, *grading.warnings),
                hide=grading.redactor.text,
                doubts=self._by.doubts,
                ran_code=grading.rests_on_code or bool(self._carried and self._known),
                started_at=self._started_at,
                duration_s=time.perf_counter() - self._began,
                run_id=run_id,
                run_gate=run_gate,
            )
        )
        return GradedSubject(evaluation, self._by.task, change_set, self._evidence())

    def _evidence(self) -> tuple[tuple[EvidenceRequest, Record], ...]:
        """What code did, now or before: also what only rows that were carried rest on."""
        found = {request.digest: (request, answer) for request, answer in self._known}
        found |= {request.digest: (request, answer) for request, answer in self._grading.evidence}
        return tuple(found.values())
