"""The tally of an experiment, and what its command exits with."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from adjudge.cli.run import exit_code
from adjudge.records.base import digest_bytes
from adjudge.records.evaluation import Evaluation, TaskRef
from adjudge.records.run import AgentOutcome, AgentRef, AgentStatus, Attempt, Experiment, Run, TokenUsage
from adjudge.records.score import Verdict
from adjudge.records.task import RunLimits
from adjudge.testing.results import evaluation
from adjudge.workflows.experiment import tighter
from adjudge.workflows.run import RunResult
from adjudge.workflows.runevents import Tally, agent_label

pytestmark = pytest.mark.anyone

DIGEST = digest_bytes(b"")


def run(cost_usd: float | None = None, *, workspace: bool = True, model: str | None = None) -> Run:
    outcome = AgentOutcome(status=AgentStatus.COMPLETED, usage=TokenUsage(cost_usd=cost_usd))
    return Run(
        id="abcdef",
        task=TaskRef(name="t", digest=DIGEST),
        agent=AgentRef(name="a", type="noop"),
        model=model,
        attempt=Attempt(outcome=outcome, baseline_digest=DIGEST if workspace else None),
    )


def graded(objective: Verdict, judge: Verdict = Verdict.NA) -> Evaluation:
    made = evaluation()
    gates = made.gates
    return made.model_copy(
        update={
            "gates": gates.model_copy(
                update={
                    "objective": gates.objective.model_copy(update={"verdict": objective}),
                    "judge": gates.judge.model_copy(update={"verdict": judge}),
                }
            )
        }
    )


def result(tally: Tally, *, drained: bool = False, fail_under: float | None = None) -> RunResult:
    experiment = Experiment(id="abcdef", name="e", created_at=datetime(2026, 1, 1, tzinfo=UTC))
    return RunResult(experiment, tally, drained, capped=False, fail_under=fail_under)


def test_cost_is_known_or_not_and_never_zero_for_unknown() -> None:
    tally = Tally(total=4)
    tally.add(run(0.25), graded(Verdict.PASS))
    tally.add(run(None), graded(Verdict.FAIL), kept=True)
    tally.add_fault(run(model="m"))
    assert (tally.cost_usd, tally.unknown_cost, tally.kept) == (0.25, 1, 1)
    assert (tally.done, tally.left, tally.pass_rate) == (3, 1, 0.5)
    assert tally.by_agent == {"a": {Verdict.PASS: 1, Verdict.FAIL: 1}, "a:m": {"fault": 1}}
    assert agent_label(run(model="m")) == "a:m"


def test_the_judge_decides_where_there_is_no_workspace() -> None:
    tally = Tally(total=1)
    tally.add(run(workspace=False), graded(Verdict.NA, Verdict.FAIL))
    assert tally.counting == {Verdict.FAIL: 1}
    assert exit_code(result(tally)) == 1


@pytest.mark.parametrize(
    ("verdicts", "fail_under", "code"),
    [
        ([Verdict.PASS], None, 0),
        ([Verdict.PASS, Verdict.FAIL], None, 1),
        ([Verdict.PASS, Verdict.ERROR], None, 0),
        ([Verdict.NA, Verdict.ERROR], None, 3),
        ([], None, 3),
        ([Verdict.PASS, Verdict.FAIL], 0.5, 0),
        ([Verdict.PASS, Verdict.FAIL, Verdict.FAIL], 0.5, 1),
        ([Verdict.PASS, Verdict.ERROR, Verdict.NA], 1.0, 0),
        ([Verdict.ERROR], 0.0, 3),
    ],
)
def test_exit_codes(verdicts: list[Verdict], fail_under: float | None, code: int) -> None:
    tally = Tally(total=len(verdicts))
    for verdict in verdicts:
        tally.add(run(), graded(verdict))
    assert exit_code(result(tally, fail_under=fail_under)) == code


def test_an_interrupted_experiment_says_so() -> None:
    tally = Tally(total=2)
    tally.add(run(), graded(Verdict.PASS))
    assert exit_code(result(tally, drained=True)) == 130
    tally.add(run(), graded(Verdict.PASS))
    assert exit_code(result(tally, drained=True)) == 0


def test_the_tighter_limit_holds() -> None:
    ours, theirs = RunLimits(wall_s=10, tokens=5), RunLimits(wall_s=3, cost_usd=1)
    assert tighter(ours, theirs) == RunLimits(wall_s=3, tokens=5, cost_usd=1)
    assert tighter(RunLimits(), RunLimits(tool_calls=0)) == RunLimits(tool_calls=0)
