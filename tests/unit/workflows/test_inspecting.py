"""Looking at one stored run."""

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from adjudge.errors import UsageError
from adjudge.records.run import Experiment
from adjudge.store.blobs import BlobDirectory
from adjudge.store.database import sqlite_database
from adjudge.store.runs import RunDatabase
from adjudge.testing.runs import graded_run, make_run
from adjudge.workflows.inspecting import inspect_run

pytestmark = pytest.mark.anyone


@pytest.fixture
def store(tmp_path: Path) -> Iterator[RunDatabase]:
    with RunDatabase(sqlite_database(tmp_path / "store.db"), BlobDirectory(tmp_path / "blobs")) as opened:
        yield opened


def test_one_of_its_evaluations_is_looked_at(store: RunDatabase) -> None:
    run, other = make_run(1), make_run(2)
    for item in (run, other):
        store.save_run(item)
    assert inspect_run(store, run.id).evaluation is None
    assert inspect_run(store, run.id).task is None
    first, second = graded_run(run, "FAIL"), graded_run(run, "PASS")
    for graded in (first, second):
        store.save_evaluation(run.id, graded)
    store.save_evaluation(other.id, graded_run(other))
    seen = inspect_run(store, run.id[:6])
    assert (seen.evaluation, seen.is_current, len(seen.evaluations)) == (second.evaluation, True, 2)
    assert seen.task == second.task
    earlier = inspect_run(store, run.id, first.evaluation.id[:8])
    assert (earlier.evaluation, earlier.is_current) == (first.evaluation, False)
    for wrong in ("", "zz", graded_run(other).evaluation.id):
        with pytest.raises(UsageError, match="has no evaluations"):
            inspect_run(store, run.id, wrong)


def test_limits_are_those_it_ran_under(store: RunDatabase) -> None:
    settings = {"options": {"limits": {"wall_s": 30.0, "tokens": 100}}}
    store.add_experiment(
        Experiment(
            id="e11111111111", name="first", created_at=datetime(2026, 1, 1, tzinfo=UTC), settings=settings
        )
    )
    run, stray = make_run(1, experiment_id="e11111111111"), make_run(2)
    for item in (run, stray):
        store.save_run(item)
    assert inspect_run(store, run.id).limits.wall_s == 30.0
    assert inspect_run(store, stray.id).limits.wall_s is None
