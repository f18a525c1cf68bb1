"""The task a stored run is graded by again: the one it was graded by, or another revision of its recipe."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from adjudge.contracts import RunStore
from adjudge.errors import UsageError
from adjudge.records.evaluation import Evaluation
from adjudge.records.run import Run
from adjudge.records.task import Task
from adjudge.tasks.freeze import FrozenTask, freeze, task_digest
from adjudge.tasks.load import LoadedScenario
from adjudge.tasks.lookup import find_task

__all__ = ["OtherScorers", "Revisions"]


class OtherScorers(NamedTuple):
    """A task with the files its recipe refers to."""

    task: Task
    files: Path | None
    """None: wherever the run's own are."""


class Revisions:
    """Finds the task of each run; a task that several share is read once.

    Args:
        store: Where tasks are kept.
        state_dir: Where frozen tasks lie.
        given: What `--with` says: a scenario, or a frozen task; or a scenario that is loaded already.
    """

    def __init__(self, store: RunStore, state_dir: Path, given: str | LoadedScenario | None) -> None:
        self._store = store
        self._known: dict[str, Task] = {}
        self._given: FrozenTask | None = None
        if given is not None:
            found = find_task(given, state_dir) if isinstance(given, str) else given
            self._given = found if isinstance(found, FrozenTask) else freeze(found, state_dir)

    def of(self, run: Run, before: Evaluation | None) -> OtherScorers:
        """The task to grade a run by.

        Raises:
            UsageError: `--with` is another task: its instruction or its baseline differs.
        """
        held = self._task(run.task.digest if before is None else before.task.digest)
        if self._given is None:
            return OtherScorers(held, None)
        original = self._task(run.task.digest)
        return OtherScorers(_revised(original, self._given.task, run), self._given.files)

    def _task(self, digest: str) -> Task:
        if digest not in self._known:
            self._known[digest] = self._store.task(digest)
        return self._known[digest]


def _revised(original: Task, given: Task, run: Run) -> Task:
    """The original with the given one's recipe, files and all that only grading looks at."""
    ours, theirs = original.scenario, given.scenario
    recipe_only = not theirs.instruction and theirs.workspace is None
    if not recipe_only:
        differs = [
            what
            for what, same in (
                ("instruction", (ours.instruction, ours.turns) == (theirs.instruction, theirs.turns)),
                ("source", original.source_digest == given.source_digest),
                ("setup", ours.setup == theirs.setup),
            )
            if not same
        ]
        if differs:
            raise UsageError(
                f"run {run.id} was made for another task than {given.name}: another {' and '.join(differs)}",
                hint="a task stays frozen; only its scorers can be others",
            )
    scenario = ours.model_copy(
        update={"recipe": theirs.recipe, "sandbox": ours.sandbox if recipe_only else theirs.sandbox}
    )
    digest = task_digest(scenario, original.source_digest, given.files)
    return original.model_copy(update={"scenario": scenario, "files": given.files, "digest": digest})
