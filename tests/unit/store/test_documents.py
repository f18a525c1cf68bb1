"""Annotating evaluation documents, and many writers at once on documents and the store."""

from __future__ import annotations

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
from adjudge.errors import UsageError
from adjudge.records.annotation import Annotation, ErrorSource, Judgment
from adjudge.records.base import digest_bytes
from adjudge.records.evaluation import Evaluation
from adjudge.records.score import Recipe
from adjudge.records.task import Scenario, Task
from adjudge.settings import Settings
from adjudge.store.documents import annotate_document, read_document
from adjudge.store.opening import store_for
from adjudge.testing.results import evaluation, scorer_result

TASK = Task(name="t", digest=digest_bytes(b"task"), scenario=Scenario(name="t", recipe=Recipe(scorers=())))


def review(who: str, judgment: str = "pass", minute: int = 0, **more: object) -> Annotation:
    when = datetime(2026, 1, 1, tzinfo=UTC) + timedelta(minutes=minute)
    fields = {"reviewer_id": who, "judgment": Judgment(judgment), "timestamp": when, **more}
    return Annotation.model_validate(fields)


def in_a_document(tmp_path: Path) -> tuple[Callable[[Annotation], object], Callable[[], Evaluation]]:
    file = tmp_path / "evaluation.json"
    file.write_text(evaluation([scorer_result("FAIL")], id="abc").to_json())
    return lambda said: annotate_document(file, said), lambda: read_document(file)


def test_annotations_are_appended_and_disagreement_is_visible(tmp_path: Path) -> None:
    annotate, load = in_a_document(tmp_path)
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
import os, sys
from datetime import UTC, datetime
from pathlib import Path
from adjudge.contracts import GradedSubject
from adjudge.records.annotation import Annotation, Judgment
from adjudge.records.base import digest_bytes
from adjudge.records.score import Recipe
from adjudge.records.task import Scenario, Task
from adjudge.settings import Settings
from adjudge.store.documents import annotate_document
from adjudge.store.opening import store_for
from adjudge.testing.results import evaluation

root, document, out = Path(sys.argv[1]), Path(sys.argv[2]), sys.stdout.fileno()
settings = Settings(
    state_dir=root / "state", sandbox="auto", jobs=1, store=str(root / "store"), blobs=None, folder=root
)
task = Task(name="t", digest=digest_bytes(b"task"), scenario=Scenario(name="t", recipe=Recipe(scorers=())))
children = []
for writer in range(10):
    child = os.fork()
    if child:
        children.append(child)
        continue
    with store_for(settings) as store:
        for number in range(10_000):
            who = f"{writer}-{number}"
            said = Annotation(reviewer_id=who, judgment=Judgment.PASS, timestamp=datetime.now(UTC))
            name = f"{writer}x{number:08}"
            store.save(GradedSubject(evaluation(id=name, run_id=f"run{name}"), task, None))
            os.write(out, f"saved {name}\\n".encode())
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
    document, log = tmp_path / "document.json", tmp_path / "log"
    settings = Settings(
        state_dir=tmp_path / "state",
        sandbox="auto",
        jobs=1,
        store=str(tmp_path / "store"),
        blobs=None,
        folder=tmp_path,
    )
    with store_for(settings) as store:
        store.save(GradedSubject(evaluation(id="shared", run_id="runshared"), TASK, None))
    document.write_text(evaluation(id="shared").to_json())
    with log.open("wb") as stream:
        program = subprocess.Popen([sys.executable, "-c", WRITER, tmp_path, document], stdout=stream)
    deadline = time.monotonic() + 120
    rng = random.Random(5)
    left: list[int] = []
    killed = 0
    try:
        # Each is killed once the others have got further, wherever it happens to be then.
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
    assert len(acknowledged["annotated"]) >= 10
    with store_for(settings) as store:
        reviewers = [said.reviewer_id for said in store.load("shared").annotations]
        assert {store.load(name).id for name in acknowledged["saved"]} == acknowledged["saved"]
    assert acknowledged["annotated"] <= set(reviewers)
    assert len(reviewers) == len(set(reviewers))
    written = [said.reviewer_id for said in read_document(document).annotations]
    assert acknowledged["written"] <= set(written)
    assert len(written) == len(set(written))
