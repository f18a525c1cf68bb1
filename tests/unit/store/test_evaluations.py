"""Evaluations on disk."""

from __future__ import annotations

from pathlib import Path

import pytest

from adjudge.contracts import GradedSubject
from adjudge.errors import StoreError
from adjudge.records.base import digest_bytes
from adjudge.records.evidence import PathState, PathStatus
from adjudge.records.score import Recipe
from adjudge.records.task import Scenario, Task
from adjudge.store.evaluations import EvaluationDirectory
from adjudge.testing.results import evaluation, scorer_result

TASK = Task(name="t", digest=digest_bytes(b"t"), scenario=Scenario(name="t", recipe=Recipe(scorers=())))


def test_what_is_saved_can_be_loaded(tmp_path: Path) -> None:
    store = EvaluationDirectory(tmp_path)
    saved = evaluation([scorer_result("FAIL", reason="caf\u00e9")], id="abc")
    evidence = ((PathState(path="latin\udce9"), PathStatus(exists=True)),)
    store.save(GradedSubject(saved, TASK, None, evidence))
    assert store.load("abc") == saved
    assert sorted(path.name for path in (tmp_path / "evaluations").iterdir()) == ["abc"]
    assert '"latin\\\\351\\"' in (tmp_path / "evaluations" / "abc" / "evidence.json").read_text()


def test_an_id_is_kept_once(tmp_path: Path) -> None:
    store = EvaluationDirectory(tmp_path)
    store.save(GradedSubject(evaluation(id="abc"), TASK, None))
    with pytest.raises(StoreError, match="cannot be kept"):
        store.save(GradedSubject(evaluation(id="abc"), TASK, None))
    assert sorted(path.name for path in (tmp_path / "evaluations").iterdir()) == ["abc"]


@pytest.mark.parametrize("name", ["../x", "", ".", "a/b", "x" * 200])
def test_an_id_is_never_a_path(tmp_path: Path, name: str) -> None:
    store = EvaluationDirectory(tmp_path)
    with pytest.raises(StoreError, match="not the id"):
        store.load(name)


def test_what_is_missing_or_damaged_is_said(tmp_path: Path) -> None:
    store = EvaluationDirectory(tmp_path)
    with pytest.raises(StoreError, match="cannot be read"):
        store.load("abc")
    (tmp_path / "evaluations" / "abc").mkdir(parents=True)
    (tmp_path / "evaluations" / "abc" / "evaluation.json").write_text("{}")
    with pytest.raises(StoreError, match="cannot be read"):
        store.load("abc")
