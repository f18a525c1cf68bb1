"""What follows from what was found out about a task."""

from __future__ import annotations

from typing import Any

import pytest

from adjudge.records.evidence import VerifierOutcome
from adjudge.records.score import ScorerOutcome
from adjudge.records.verifier import RewardProblem, RewardReading, VerifierNotes
from adjudge.testing.attempts import exec_result
from adjudge.workflows.fitness.checks import conclude
from adjudge.workflows.fitness.facts import Facts, Verified

pytestmark = pytest.mark.anyone


def verified(
    reward: float, *, problem: RewardProblem | None = None, separate: bool = True, said: str = ""
) -> Verified:
    reading = (
        RewardReading(reward=reward, source="reward.json")
        if problem is None
        else RewardReading(problem=problem, reason="because")
    )
    run = VerifierOutcome(
        result=exec_result(0, stderr=said), reading=reading, notes=VerifierNotes(), separate=separate
    )
    return Verified(run, ScorerOutcome.fraction(reward, 1.0, "why"))


def found(**fields: Any) -> dict[str, tuple[str, str]]:
    good: dict[str, Any] = {
        "solved": [verified(1.0)] * 3,
        "untouched": [verified(0.0)] * 3,
        "unusable": verified(0.0),
        "deaf": verified(0.0),
        "golden": {"pass/a": verified(1.0), "fail/b": verified(0.5)},
        "scripts": {"test.sh": "candidate ./x\n"},
    }
    return {check.name: (check.status.value, check.detail) for check in conclude(Facts(**{**good, **fields}))}


def test_a_good_task_is_fit() -> None:
    assert {status for status, _ in found().values()} == {"ok"}


MISSING = verified(0.0, problem=RewardProblem.MISSING)


@pytest.mark.parametrize(
    ("name", "fields", "status", "detail"),
    [
        ("reference solution", {"solved": [verified(0.9)]}, "FAIL", "gets 0.9, expected 1: why"),
        ("reference solution", {"solved": [], "no_solution": "it fails: exit 1"}, "FAIL", "it fails: exit 1"),
        ("reference solution", {"solved": [], "has_solution": False, "no_solution": "none"}, "warn", "none"),
        ("reference solution", {"solved": [verified(0.9)], "max_reward": 0.9}, "FAIL", "1 is needed to pass"),
        ("untouched workspace", {"untouched": [verified(1.0)]}, "FAIL", "although nothing was done"),
        ("untouched workspace", {"untouched": [verified(0.2)]}, "warn", "gets 0.2 for nothing"),
        ("repeats", {"solved": [verified(1.0), verified(0.5)]}, "FAIL", "solved workspace: rewards 1, 0.5"),
        ("repeats", {"solved": [verified(1.0)], "untouched": [verified(0.0)]}, "skipped", "one run only"),
        ("golden outputs", {"golden": {}}, "skipped", "none"),
        ("golden outputs", {"golden": {"pass/a": verified(0.5)}}, "FAIL", "pass/a gets 0.5"),
        ("golden outputs", {"golden": {"fail/a": verified(1.0)}}, "FAIL", "fail/a gets 1"),
        ("golden outputs", {"golden": {"pass/a": "no place"}}, "FAIL", "pass/a: no place"),
        ("reward on failure", {"untouched": [MISSING]}, "FAIL", "no reward for an untouched workspace"),
        ("reward on failure", {"unusable": MISSING}, "FAIL", "no reward for an unusable output"),
        (
            "reward on failure",
            {"untouched": [MISSING], "scripts": {"test.sh": "#!/bin/bash\nset -euo pipefail\n"}},
            "FAIL",
            "test.sh stops at the first failure",
        ),
        ("reward on failure", {"unusable": verified(0.0, problem=RewardProblem.EMPTY)}, "FAIL", "because"),
        ("network", {"network": True}, "warn", "asks for it"),
        (
            "network",
            {"untouched": [verified(0.0, said="curl: (6) Could not resolve host: x")]},
            "FAIL",
            "needs it",
        ),
        ("network", {"scripts": {"test.sh": "uvx pytest\n"}}, "warn", "test.sh, line 1: uvx"),
        ("hidden files", {"reachable": ["tests/a as b"]}, "FAIL", "tests/a as b"),
        ("hidden files", {"answers": ["c"]}, "warn", "only copies c"),
        ("exit codes", {"deaf": verified(1.0)}, "FAIL", "every command of the candidate failed"),
        (
            "exit codes",
            {"deaf": None, "scripts": {"t.sh": "make test || true\n"}},
            "warn",
            "t.sh, line 1: || true",
        ),
        ("exit codes", {"scripts": {"t.sh": "pytest -q | tee log\n"}}, "warn", "t.sh, line 1"),
        ("exit codes", {"scripts": {"t.sh": "set -o pipefail\npytest -q | tee log\n"}}, "ok", "noticed"),
        ("git history", {"history": ["repo.git"]}, "FAIL", "repo.git"),
        ("reward channel", {"untouched": [verified(0.0, separate=False)]}, "warn", "shared"),
    ],
)
def test_each_flaw_is_named(name: str, fields: dict[str, Any], status: str, detail: str) -> None:
    seen_status, seen_detail = found(**fields)[name]
    assert seen_status == status
    assert detail in seen_detail


def test_what_cannot_be_run_has_one_line() -> None:
    assert found(unsupported="it needs an image") == {"gradable": ("FAIL", "it needs an image")}


def test_differing_details_alone_are_only_remarkable() -> None:
    one, other = verified(1.0), verified(1.0)
    other = Verified(other.run, other.outcome.model_copy(update={"details": {"breakdown": {"a": 1}}}))
    status, detail = found(solved=[one, other])["repeats"]
    assert (status, detail) == ("warn", "solved workspace: equal rewards with differing details")
