"""Who judges stored runs that are graded again with `--judge`."""

from __future__ import annotations

import contextlib
from pathlib import Path
from types import TracebackType
from typing import Self

from adjudge.contracts import BlobStore, GradedSubject, RunStore
from adjudge.judge.cache import AnswerDirectory
from adjudge.judge.court import Court
from adjudge.records.judging import JudgeConfig
from adjudge.records.run import Run
from adjudge.workflows.judgeruns import judge_one
from adjudge.workflows.judging import parse_judge

__all__ = ["Judges"]


class Judges:
    """Finds the judge of each run; runs of one judge share its connections and what it may spend.

    Args:
        store: Where experiments are kept.
        blobs: Where raw answers are kept.
        given: Who judges all of them; None: the judge of each run's experiment, if it had one.
        answers: Where answers are remembered; None: everything is asked afresh.
    """

    def __init__(
        self, store: RunStore, blobs: BlobStore, given: JudgeConfig | None, answers: Path | None
    ) -> None:
        self._store = store
        self._blobs = blobs
        self._given = given
        self._cache = None if answers is None else AnswerDirectory(answers)
        self._of_experiment: dict[str, JudgeConfig | None] = {}
        self._courts: dict[str, Court] = {}
        self._open = contextlib.AsyncExitStack()

    async def __aenter__(self) -> Self:
        await self._open.__aenter__()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._open.__aexit__(kind, error, trace)

    def of(self, run: Run) -> JudgeConfig | None:
        """Who judges a run; None: nobody."""
        if self._given is not None or run.experiment_id is None:
            return self._given
        id_ = run.experiment_id
        if id_ not in self._of_experiment:
            kept = self._store.experiment(id_).judge
            self._of_experiment[id_] = (
                None if kept is None else parse_judge(kept, where=f"experiment {id_}: judge")
            )
        return self._of_experiment[id_]

    async def judge(self, run: Run, graded: GradedSubject) -> GradedSubject:
        """A grading with the verdict of the run's judge in it, who must be there."""
        config = self.of(run)
        assert config is not None
        if config.digest not in self._courts:
            court = Court(config, cache=self._cache, blobs=self._blobs)
            self._courts[config.digest] = await self._open.enter_async_context(court)
        return await judge_one(self._courts[config.digest], run, graded, self._blobs)
