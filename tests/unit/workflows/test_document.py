"""From rows to a document."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from adjudge.errors import PatchUnreadable
from adjudge.records.base import digest_bytes
from adjudge.records.change import BaselineOrigin, BaselineRef
from adjudge.records.sandbox import Network, SandboxReport
from adjudge.records.score import Recipe, Verdict
from adjudge.records.task import Scenario, Task
from adjudge.testing.results import scorer_result
from adjudge.workflows.document import Graded, evaluate, run_id

pytestmark = pytest.mark.anyone

TASK = Task(name="t", digest=digest_bytes(b"t"), scenario=Scenario(name="t", recipe=Recipe(scorers=())))


def graded(**fields: Any) -> Graded:
    given: dict[str, Any] = {
        "task": TASK,
        "results": (scorer_result("PASS"),),
        "fault": None,
        "baseline": BaselineRef(origin=BaselineOrigin.TASK, description="b"),
        "change_set": None,
        "patch": None,
        "sandboxes": (),
        "warnings": (),
        "hide": lambda text: text.replace("hunter2", "[redacted]"),
        "doubts": (),
        "ran_code": False,
        "started_at": datetime(2026, 1, 1, tzinfo=UTC),
        "duration_s": 1.0,
    }
    return Graded(**{**given, **fields})


def test_reward_is_the_score_without_a_verifier() -> None:
    evaluation = evaluate(graded(results=(scorer_result("FAIL", score=0.25),)))
    assert evaluation.reward == evaluation.score == 0.25
    assert evaluate(graded(results=(scorer_result("ERROR"),))).reward is None


def test_validity_says_whether_everything_could_be_run() -> None:
    evaluation = evaluate(graded(results=(scorer_result("ERROR", name="x", reason="died"),)))
    validity = evaluation.validity
    assert (validity.output_parseable, validity.schema_valid, validity.verifier_completed) == (
        True,
        True,
        False,
    )
    assert validity.errors == ["x: died"]


def test_an_unverified_baseline_is_a_warning_and_a_doubt() -> None:
    baseline = BaselineRef(origin=BaselineOrigin.UNVERIFIED, description="HEAD")
    evaluation = evaluate(graded(baseline=baseline, doubts=("recipe: in the workspace",)))
    assert evaluation.warnings == ("baseline: unverified",)
    assert evaluation.integrity.outcome == "unchecked"
    assert evaluation.integrity.reasons == ("baseline: unverified", "recipe: in the workspace")


def test_provenance_joins_all_sandboxes() -> None:
    def report(notes: tuple[str, ...], **held: str) -> SandboxReport:
        return SandboxReport(
            backend="process", isolated=False, copy_on_write="copy", network=Network.NONE,
            limits_held_by=held, notes=notes,
        )  # fmt: skip

    evaluation = evaluate(
        graded(
            sandboxes=(report(("no isolation",), memory="a"), report(("no isolation", "more"), disk="b")),
            ran_code=True,
        )
    )
    assert evaluation.provenance.sandbox == "process"
    assert evaluation.provenance.sandbox_notes == ("no isolation", "more")
    assert evaluation.provenance.limits_held_by == {"memory": "a", "disk": "b"}
    assert evaluation.warnings == ("no isolation",)
    assert {"system", "kernel", "machine"} <= set(evaluation.provenance.environment)


def test_warnings_are_said_once_and_without_secrets() -> None:
    evaluation = evaluate(graded(warnings=("path hunter2", "path hunter2", "other")))
    assert evaluation.warnings == ("path [redacted]", "other")


def test_a_fault_of_the_attempt_decides_the_gate() -> None:
    evaluation = evaluate(graded(fault=PatchUnreadable("no"), patch=b"x", results=()))
    assert evaluation.gates.objective.verdict is Verdict.FAIL
    assert evaluation.gates.run.reason == "patch given, no agent ran"


def test_the_run_id_depends_on_task_and_change_alone() -> None:
    one = run_id(digest_bytes(b"task"), digest_bytes(b"change"))
    assert one == run_id(digest_bytes(b"task"), digest_bytes(b"change"))
    assert len({one, run_id(digest_bytes(b"other"), digest_bytes(b"change")),
                run_id(digest_bytes(b"task"), digest_bytes(b"other"))}) == 3  # fmt: skip
