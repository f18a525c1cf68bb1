"""Evaluations on disk."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from adjudge.contracts import GradedSubject
from adjudge.errors import StoreError, UsageError
from adjudge.records.annotation import Annotation, ErrorSource, Judgment
from adjudge.records.base import digest_bytes
from adjudge.records.evaluation import Evaluation
from adjudge.records.evidence import PathState, PathStatus
from adjudge.records.score import Recipe
from adjudge.records.task import Scenario, Task
from adjudge.store.documents import annotate_document, read_document
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
    with pytest.raises(UsageError, match="not the id"):
        store.load(name)


def test_what_is_missing_or_damaged_is_said(tmp_path: Path) -> None:
    store = EvaluationDirectory(tmp_path)
    with pytest.raises(UsageError, match="no evaluation 'abc' is kept"):
        store.load("abc")
    (tmp_path / "evaluations" / "abc").mkdir(parents=True)
    (tmp_path / "evaluations" / "abc" / "evaluation.json").write_text("{}")
    with pytest.raises(StoreError, match="cannot be read"):
        store.load("abc")


def review(who: str, judgment: str = "pass", minute: int = 0, **more: object) -> Annotation:
    when = datetime(2026, 1, 1, tzinfo=UTC) + timedelta(minutes=minute)
    fields = {"reviewer_id": who, "judgment": Judgment(judgment), "timestamp": when, **more}
    return Annotation.model_validate(fields)


def in_a_folder(tmp_path: Path) -> tuple[Callable[[Annotation], object], Callable[[], Evaluation]]:
    store = EvaluationDirectory(tmp_path)
    store.save(GradedSubject(evaluation([scorer_result("FAIL")], id="abc"), TASK, None))
    return lambda said: store.annotate("ab", said), lambda: store.load("abc")


def in_a_document(tmp_path: Path) -> tuple[Callable[[Annotation], object], Callable[[], Evaluation]]:
    file = tmp_path / "evaluation.json"
    file.write_text(evaluation([scorer_result("FAIL")], id="abc").to_json())
    return lambda said: annotate_document(file, said), lambda: read_document(file)


@pytest.mark.parametrize("kept", [in_a_folder, in_a_document])
def test_annotations_are_appended_and_disagreement_is_visible(
    tmp_path: Path,
    kept: Callable[[Path], tuple[Callable[[Annotation], object], Callable[[], Evaluation]]],
) -> None:
    annotate, load = kept(tmp_path)
    before = load()
    said = [
        review("ada", "pass", 1, categories=["unit mismatch"], notes="a V is missing"),
        review("bob", "fail", 2, reviewer_discipline="electrical"),
        review("ada", "pass", 3, categories=["unit mismatch"]),
        review("cyd", "defer", 4),
    ]
    for annotation in said:
        annotate(annotation)
    after = load()
    assert after.annotations == tuple(said)
    assert (after.reward, after.score, after.gates, after.scorers) == (
        before.reward, before.score, before.gates, before.scorers,
    )  # fmt: skip
    assert after.warnings == ("review by bob: fail disagrees with the objective gate (PASS)",)
    assert [(tag.category, tag.source) for tag in after.error_taxonomy] == [
        ("unit mismatch", ErrorSource.HUMAN)
    ]
    assert after.confidence is not None
    assert (after.confidence.annotator_count, after.confidence.inter_rater_agreement) == (3, 0.0)
    assert Evaluation.model_validate_json(after.to_json()) == after


def test_a_beginning_finds_one_or_none(tmp_path: Path) -> None:
    store = EvaluationDirectory(tmp_path)
    for name in ("abc1", "abc2", "b"):
        store.save(GradedSubject(evaluation(id=name), TASK, None))
    assert store.load("b").id == "b"
    assert store.load("abc2").id == "abc2"
    with pytest.raises(UsageError, match="beginning of several evaluations: abc1, abc2"):
        store.annotate("abc", review("ada"))
    with pytest.raises(UsageError, match="no evaluation"):
        store.annotate("abd", review("ada"))
    store.annotate("abc2", review("ada"))
    assert [found.id for found in store.annotated()] == ["abc2"]


def test_a_damaged_annotation_is_said(tmp_path: Path) -> None:
    annotate, load = in_a_folder(tmp_path)
    annotate(review("ada"))
    (file,) = (tmp_path / "evaluations" / "abc" / "annotations").iterdir()
    file.write_text("{")
    with pytest.raises(StoreError, match="cannot be read"):
        load()


@pytest.mark.parametrize("text", ["", "{}", "[]", '{"schema": "adjudge.evaluation/2"}', "\ud800"])
def test_what_is_no_document_is_said_and_left_alone(tmp_path: Path, text: str) -> None:
    file = tmp_path / "x.json"
    data = text.encode("utf-8", "surrogatepass")
    file.write_bytes(data)
    with pytest.raises(UsageError, match="is not an evaluation document"):
        annotate_document(file, review("ada"))
    assert file.read_bytes() == data
    with pytest.raises(UsageError, match="No such file"):
        annotate_document(tmp_path / "none.json", review("ada"))
    with pytest.raises(UsageError, match="is not a file"):
        annotate_document(tmp_path, review("ada"))


WRITER = """
import os, sys, time
from datetime import UTC, datetime
from pathlib import Path
from adjudge.contracts import GradedSubject
from adjudge.records.annotation import Annotation, Judgment
from adjudge.records.base import digest_bytes
from adjudge.records.score import Recipe
from adjudge.records.task import Scenario, Task
from adjudge.store.documents import annotate_document
from adjudge.store.evaluations import EvaluationDirectory
from adjudge.testing.results import evaluation

root, document, out = Path(sys.argv[1]), Path(sys.argv[2]), sys.stdout.fileno()
task = Task(name="t", digest=digest_bytes(b"t"), scenario=Scenario(name="t", recipe=Recipe(scorers=())))
store = EvaluationDirectory(root)
children = []
for writer in range(10):
    child = os.fork()
    if child:
        children.append(child)
        continue
    for number in range(10_000):
        who = f"{writer}-{number}"
        said = Annotation(reviewer_id=who, judgment=Judgment.PASS, timestamp=datetime.now(UTC))
        store.save(GradedSubject(evaluation(id=f"e{writer}x{number}"), task, None))
        os.write(out, f"saved e{writer}x{number}\\n".encode())
        store.annotate("shared", said)
        os.write(out, f"annotated {who}\\n".encode())
        annotate_document(document, said)
        os.write(out, f"written {who}\\n".encode())
    os._exit(0)
os.write(out, f"started {' '.join(map(str, children))}\\n".encode())
for child in children:
    os.waitpid(child, 0)
"""


def test_ten_writers_killed_at_any_instant_lose_nothing_they_acknowledged(tmp_path: Path) -> None:
    root, document, log = tmp_path / "state", tmp_path / "document.json", tmp_path / "log"
    store = EvaluationDirectory(root)
    store.save(GradedSubject(evaluation(id="shared"), TASK, None))
    document.write_text(evaluation(id="shared").to_json())
    with log.open("wb") as stream:
        program = subprocess.Popen([sys.executable, "-c", WRITER, root, document], stdout=stream)
    deadline = time.monotonic() + 120
    rng = random.Random(5)
    left: list[int] = []
    killed = 0
    try:
        # Each is killed once it and the others have got further, wherever it happens to be then.
        while program.poll() is None and time.monotonic() < deadline:
            lines = log.read_text().splitlines()
            started = [line for line in lines if line.startswith("started ")]
            if started and not left:
                left = [int(pid) for pid in started[0].split()[1:]]
                rng.shuffle(left)
            if left and killed < len(left) and len(lines) > 60 + 8 * killed:
                os.kill(left[killed], signal.SIGKILL)
                killed += 1
            time.sleep(0.001)
    finally:
        for pid in left[killed:]:
            os.kill(pid, signal.SIGKILL)
        program.wait(timeout=60)
    acknowledged: dict[str, set[str]] = {"saved": set(), "annotated": set(), "written": set()}
    for line in log.read_text().splitlines():
        what, _, which = line.partition(" ")
        if what in acknowledged:
            acknowledged[what].add(which)
    assert len(acknowledged["annotated"]) > 20
    shared = store.load("shared")
    reviewers = [said.reviewer_id for said in shared.annotations]
    assert acknowledged["annotated"] <= set(reviewers)
    assert len(reviewers) == len(set(reviewers))
    written = [said.reviewer_id for said in read_document(document).annotations]
    assert acknowledged["written"] <= set(written)
    assert len(written) == len(set(written))
    kept = {name for name in os.listdir(root / "evaluations") if not name.startswith(".")}
    assert acknowledged["saved"] | {"shared"} <= kept
    for name in kept:
        assert store.load(name).id == name
        assert json.loads((root / "evaluations" / name / "task.json").read_text())["name"] == "t"
