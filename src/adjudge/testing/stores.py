"""The store conformance suites: what `contracts.RunStore`, `EvaluationStore` and `KeptBlobs` promise.

For a store of your own, in a test module:

    @pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.name)
    def test_my_store(check: StoreCheck, tmp_path: Path) -> None:
        check.run(MyStore(tmp_path))

Every check gets an empty store and raises `AssertionError` with what is wrong. `BLOB_CHECKS` are the same for
blob stores.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Protocol

from adjudge.contracts import BlobStore, EvaluationStore, KeptBlobs, RunStore
from adjudge.errors import AdjudgeError, StoreError, UsageError
from adjudge.records.annotation import Annotation, ErrorSource, ErrorTag, Judgment
from adjudge.records.base import BlobRef, digest_bytes
from adjudge.records.evidence import PathState, PathStatus, TestCommand, TestRun
from adjudge.records.listing import RunFilter
from adjudge.records.run import AgentOutcome, AgentRef, AgentStatus, Attempt, Experiment, RunStatus
from adjudge.records.score import Finding
from adjudge.records.testreport import Proof, TestOutcome, TrustedTest, TrustedTestRun
from adjudge.stats.reviews import with_reviews
from adjudge.testing.results import scorer_result
from adjudge.testing.runs import graded_run, keep_blob, make_run, make_task

__all__ = ["BLOB_CHECKS", "CHECKS", "BlobCheck", "CompleteStore", "StoreCheck"]

_ODD = "caf\u00e9 \u202e \0 \x1b[2J 😀 ' \" % \\ \n"


class CompleteStore(RunStore, EvaluationStore, Protocol):
    """Both contracts, and the blobs that rows refer to."""

    @property
    def blobs(self) -> BlobStore:
        """Where they lie."""


@dataclass(frozen=True)
class StoreCheck:
    """One promise."""

    name: str
    run: Callable[[CompleteStore], None]


@contextmanager
def _refused(kind: type[AdjudgeError], *words: str) -> Any:
    said = None
    try:
        yield
    except kind as error:
        said = str(error)
    assert said is not None, f"accepted what it has to refuse as a {kind.__name__}"
    for word in words:
        assert word in said, f"{word!r} is not said: {said}"


def _keeps_what_it_was_given(store: CompleteStore) -> None:
    task = make_task(f"task {_ODD}")
    run = make_run(task=task, tags={"suite": _ODD, "size": "small"}, model=_ODD)
    store.keep_task(task)
    store.keep_task(task)
    store.save_run(run)
    assert store.task(task.digest) == task
    assert store.run(run.id) == run
    graded = graded_run(
        run,
        "FAIL",
        scorers=(
            scorer_result("FAIL", name=_ODD, reason=_ODD, findings=(Finding(rule="r", message=_ODD),)),
            scorer_result("NA"),
            scorer_result("PASS", score=0.1 + 0.2, details={"nested": [1, None, {"deep": 1e-9}]}),
        ),
        judge={"model": _ODD, "verdict": "FAIL", "failure_mode": _ODD},
        error_taxonomy=(ErrorTag(category="slow", source=ErrorSource.HUMAN),),
    )
    store.save_evaluation(run.id, graded)
    assert store.current_evaluation(run.id) == graded.evaluation
    assert store.load(graded.evaluation.id) == graded.evaluation
    assert store.evaluations(run.id) == (graded.evaluation,)


def _keeps_experiments(store: CompleteStore) -> None:
    runs = [make_run(number, trial=number) for number in (1, 2)]
    experiment = Experiment(
        id="a1b2c3d4e5",
        name="first",
        created_at=datetime(2026, 3, 1, tzinfo=UTC),
        matrix=tuple(run.key for run in runs),
        settings={"jobs": 2},
    )
    store.add_experiment(experiment)
    with _refused(StoreError, "a1b2c3d4e5"):
        store.add_experiment(experiment)
    store.save_run(make_run(3))
    for run in runs:
        store.save_run(run.model_copy(update={"experiment_id": experiment.id}))
    assert store.experiment("a1b2") == experiment
    assert [run.id for run in store.runs(experiment_id=experiment.id)] == [runs[1].id, runs[0].id]
    assert len(list(store.runs())) == 3
    with _refused(UsageError, "nothing-like-it"):
        store.experiment("nothing-like-it")


def _follows_a_run_to_its_end(store: CompleteStore) -> None:
    pending = make_run(status=RunStatus.PENDING, attempts=0, started_at=None, ended_at=None, attempt=None)
    store.save_run(pending)
    for status in (RunStatus.RUNNING, RunStatus.INFRASTRUCTURE_FAULT, RunStatus.RUNNING):
        run = pending.model_copy(update={"status": status, "attempts": 1})
        store.save_run(run)
        assert store.run(run.id) == run
    finished = make_run(tags={"a": "b"})
    store.save_run(finished)
    store.save_run(finished)
    with _refused(StoreError, "finished", finished.id):
        store.save_run(finished.model_copy(update={"trial": 2}))
    assert store.run(finished.id) == finished
    assert len(list(store.runs())) == 1


def _adds_evaluations_and_never_changes_one(store: CompleteStore) -> None:
    run = make_run()
    store.save_run(run)
    assert store.current_evaluation(run.id) is None
    first, second, third = (graded_run(run, verdict) for verdict in ("FAIL", "PASS", "ERROR"))
    store.save_evaluation(run.id, first)
    store.save_evaluation(run.id, second)
    store.save_evaluation(run.id, third, current=False)
    assert [item.id for item in store.evaluations(run.id)] == [
        item.evaluation.id for item in (first, second, third)
    ]
    assert store.current_evaluation(run.id) == second.evaluation
    again = first._replace(evaluation=first.evaluation.model_copy(update={"score": 1.0}))
    with _refused(StoreError, first.evaluation.id):
        store.save_evaluation(run.id, again)
    assert store.load(first.evaluation.id) == first.evaluation
    assert store.current_evaluation(run.id) == second.evaluation


def _refuses_evaluations_of_nothing(store: CompleteStore) -> None:
    run, other = make_run(1), make_run(2)
    with _refused(StoreError, run.id):
        store.save_evaluation(run.id, graded_run(run))
    store.save_run(run)
    with _refused(StoreError, other.id):
        store.save_evaluation(run.id, graded_run(other))
    assert store.evaluations(run.id) == ()


def _keeps_gradings_of_attempts_made_elsewhere(store: CompleteStore) -> None:
    run = make_run()
    first, second = graded_run(run, "FAIL"), graded_run(run, "PASS")
    store.save(first)
    store.save(second)
    kept = store.run(run.id)
    assert kept.status is RunStatus.FINISHED
    assert kept.agent.type == "none"
    assert store.current_evaluation(run.id) == second.evaluation
    assert len(store.evaluations(run.id)) == 2
    assert store.task(run.task.digest) == first.task


def _finds_by_beginnings(store: CompleteStore) -> None:
    for run_id in ("abcdef000001", "abcdef000002", "abc000000000"):
        store.save_run(make_run(id=run_id))
    assert store.run("abc0").id == "abc000000000"
    assert store.run("abcdef000001").id == "abcdef000001"
    with _refused(UsageError, "several", "abcdef000001", "abcdef000002"):
        store.run("abcd")
    with _refused(UsageError, "did you mean", "abc000000000"):
        store.run("abc0000x")
    for unknown in ("", "%", "_bc", "abc'", "ABC0", "../x", "zz"):
        with _refused(UsageError):
            store.run(unknown)


def _keeps_evidence(store: CompleteStore) -> None:
    run = make_run()
    store.save_run(run)
    request = TestRun(command=TestCommand(args=("-q",)))
    answer = TrustedTestRun(
        tests=(
            TrustedTest(id=f"a.py::test[{_ODD}]", outcome=TestOutcome.PASSED, proof=Proof.VALUE),
            TrustedTest(id="a.py::test_b", outcome=TestOutcome.FAILED, duration_s=0.5),
        ),
        sessions=(),
        seed="s",
    )
    evidence = ((request, answer), (PathState(path="latin\udce9"), PathStatus(exists=True)))
    graded = graded_run(run, evidence=evidence)
    store.save_evaluation(run.id, graded)
    assert store.evidence(graded.evaluation.id) == evidence
    bare = graded_run(run, "FAIL")
    store.save_evaluation(run.id, bare)
    assert store.evidence(bare.evaluation.id) == ()


def _refers_only_to_blobs_it_has(store: CompleteStore) -> None:
    there = keep_blob(store.blobs, b"output")
    missing = BlobRef(digest=digest_bytes(b"gone"), size_bytes=4, stored=True)
    unkept = BlobRef(digest=digest_bytes(b"never kept"), size_bytes=10)

    def leaving(ref: BlobRef, number: int) -> Any:
        outcome = AgentOutcome(status=AgentStatus.CRASHED, stdout=there, stderr=ref)
        return make_run(number, attempt=Attempt(outcome=outcome))

    store.save_run(leaving(unkept, 1))
    with _refused(StoreError, missing.digest):
        store.save_run(leaving(missing, 2))
    assert len(list(store.runs())) == 1


def _adds_annotations_beside_a_result(store: CompleteStore) -> None:
    run = make_run()
    store.save_run(run)
    graded = graded_run(run)
    store.save_evaluation(run.id, graded)
    reviews = tuple(
        Annotation(
            reviewer_id=f"{name} {_ODD}",
            timestamp=datetime(2026, 2, day, tzinfo=UTC),
            judgment=judgment,
            notes=_ODD,
        )
        for day, (name, judgment) in enumerate((("ada", Judgment.PASS), ("bob", Judgment.FAIL)), start=1)
    )
    for review in reviews:
        store.annotate(graded.evaluation.id, review)
    expected = with_reviews(graded.evaluation, *reviews)
    assert store.load(graded.evaluation.id) == expected
    assert store.evaluations(run.id) == (expected,)
    assert list(store.annotated()) == [expected]
    with _refused(UsageError):
        store.annotate("0000000000", reviews[0])


def _lists_what_is_asked_for(store: CompleteStore) -> None:
    store.add_experiment(Experiment(id="experiment1", name="e", created_at=datetime(2026, 1, 1, tzinfo=UTC)))
    verdicts = ("PASS", "FAIL", "ERROR", "PASS", None, "FAIL")
    runs = [
        make_run(
            number,
            task=make_task(f"task-{number % 2}"),
            agent=AgentRef(name=f"agent-{number % 3}", type="command"),
            model=None if number == 0 else "m",
            experiment_id="experiment1" if number < 2 else None,
            tags={"half": str(number // 3)},
        )
        for number in range(len(verdicts))
    ]
    for run, verdict in zip(runs, verdicts, strict=True):
        store.save_run(run)
        if verdict is not None:
            store.save_evaluation(run.id, graded_run(run, "NA"))
            store.save_evaluation(run.id, graded_run(run, verdict))

    def numbers(limit: int | None = None, **wanted: Any) -> list[int]:
        ids = [run.id for run in runs]
        return [ids.index(row.id) for row in store.summaries(RunFilter(**wanted), limit=limit)]

    assert numbers() == [5, 4, 3, 2, 1, 0]
    assert numbers(limit=2) == [5, 4]
    assert numbers(task="task-1") == [5, 3, 1]
    assert numbers(task=make_task("task-1").digest[:16]) == [5, 3, 1]
    assert numbers(agent="agent-2") == [5, 2]
    assert numbers(model="m") == [5, 4, 3, 2, 1]
    assert numbers(experiment_id="experiment1") == [1, 0]
    assert numbers(objective="FAIL") == [5, 1]
    assert numbers(objective="NA") == []
    assert numbers(graded=False) == [4]
    assert numbers(graded=True, tags=(("half", "1"),)) == [5, 3]
    assert numbers(status="finished", run_gate="PASS", judge="NA", integrity="unchecked") == [5, 3, 2, 1, 0]
    page = list(store.summaries(limit=4))
    assert numbers(before=page[-1].seq) == [1, 0]
    row = page[2]
    assert (row.objective, row.score, row.cost_usd, row.total_tokens, row.wall_s) == (
        "PASS",
        1.0,
        0.25,
        120,
        30,
    )
    assert row.started_at == runs[3].started_at
    assert page[1].objective is None
    tallied = {(row.name, row.verdict): 0 for row in store.scorer_tallies()}
    for tally in store.scorer_tallies():
        tallied[tally.name, tally.verdict] += tally.runs
    assert tallied == {
        ("scope", "PASS"): 5,
        ("unit tests", "ERROR"): 1,
        ("unit tests", "FAIL"): 2,
        ("unit tests", "PASS"): 2,
    }


CHECKS: tuple[StoreCheck, ...] = tuple(
    StoreCheck(run.__name__.lstrip("_"), run)
    for run in (
        _keeps_what_it_was_given,
        _keeps_experiments,
        _follows_a_run_to_its_end,
        _adds_evaluations_and_never_changes_one,
        _refuses_evaluations_of_nothing,
        _keeps_gradings_of_attempts_made_elsewhere,
        _finds_by_beginnings,
        _keeps_evidence,
        _refers_only_to_blobs_it_has,
        _adds_annotations_beside_a_result,
        _lists_what_is_asked_for,
    )
)
"""Every check."""


@dataclass(frozen=True)
class BlobCheck:
    """One promise of a blob store."""

    name: str
    run: Callable[[KeptBlobs], None]


def _read(blobs: KeptBlobs, ref: BlobRef) -> bytes:
    with blobs.open(ref) as stream:
        return stream.read()


def _gives_back_what_it_was_given(blobs: KeptBlobs) -> None:
    large = bytes(range(256)) * 40_000
    for data in (b"", b"x", b"\0\xff\n" * 7, large):
        writer = blobs.writer()
        for start in range(0, len(data), 100_000):
            writer.write(data[start : start + 100_000])
        ref = writer.commit()
        writer.abort()
        assert (ref.digest, ref.size_bytes, ref.stored) == (digest_bytes(data), len(data), True)
        assert ref.head == data[:4096].decode("utf-8", "replace")
        assert _read(blobs, ref) == data
        with blobs.open(ref) as stream:
            assert stream.read(5) == data[:5]


def _keeps_equal_bytes_once(blobs: KeptBlobs) -> None:
    assert keep_blob(blobs, b"same") == keep_blob(blobs, b"same")
    keep_blob(blobs, b"other")
    assert sorted(blobs.digests()) == sorted([digest_bytes(b"same"), digest_bytes(b"other")])


def _forgets_what_was_aborted(blobs: KeptBlobs) -> None:
    writer = blobs.writer()
    writer.write(b"never mind" * 1000)
    writer.abort()
    writer.abort()
    assert list(blobs.digests()) == []


def _says_when_bytes_were_dropped(blobs: KeptBlobs) -> None:
    writer = blobs.writer()
    writer.write(b"kept")
    ref = writer.commit(size_bytes=1000)
    assert (ref.truncated, ref.size_bytes) == (True, 1000)
    assert _read(blobs, ref) == b"kept"


def _says_what_is_missing(blobs: KeptBlobs) -> None:
    gone = digest_bytes(b"gone")
    assert not blobs.has(gone)
    assert blobs.age_s(gone) is None
    assert blobs.remove(gone) == 0
    with _refused(StoreError, gone):
        _read(blobs, BlobRef(digest=gone, size_bytes=4))


def _removes(blobs: KeptBlobs) -> None:
    ref = keep_blob(blobs, b"content")
    age_s = blobs.age_s(ref.digest)
    assert blobs.has(ref.digest)
    assert age_s is not None
    assert 0 <= age_s < 3600
    assert blobs.remove(ref.digest) > 0
    assert not blobs.has(ref.digest)
    blobs.sweep(0)
    assert keep_blob(blobs, b"content") == ref
    assert _read(blobs, ref) == b"content"


BLOB_CHECKS: tuple[BlobCheck, ...] = tuple(
    BlobCheck(run.__name__.lstrip("_"), run)
    for run in (
        _gives_back_what_it_was_given,
        _keeps_equal_bytes_once,
        _forgets_what_was_aborted,
        _says_when_bytes_were_dropped,
        _says_what_is_missing,
        _removes,
    )
)
"""Every check of a blob store."""
