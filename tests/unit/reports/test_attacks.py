"""The report on attacks, for people and as a document."""

from __future__ import annotations

import json

import pytest

from adjudge.records.attack import AttackResult, AttackStatus, AttackTarget, SuggestedLine
from adjudge.records.evaluation import Integrity
from adjudge.records.score import Recipe, Verdict
from adjudge.records.task import Scenario, Task
from adjudge.reports.attacks import HonestRow, Siege, render_attacks, siege_document

pytestmark = pytest.mark.anyone

TASK = Task(
    name="adding\x1b[31m",
    digest="sha256:" + "0" * 64,
    scenario=Scenario(name="adding", recipe=Recipe(scorers=())),
)


def result(name: str, status: AttackStatus, **more: object) -> AttackResult:
    fields = {"family": "lost_tests", "technique": "t", "how": "a trick", **more}
    return AttackResult.model_validate({"name": name, "status": status, **fields})


SIEGE = Siege(
    task=TASK,
    target=AttackTarget(language="python", runner=None),
    honest=[
        HonestRow("noop", True, "failed", Verdict.FAIL, 0.25, 0.25),
        HonestRow("oracle", None, "the scenario names no reference solution", None, None, None),
    ],
    results=[
        result("idle", AttackStatus.NOT_APPLICABLE, how="no tests\x07"),
        result(
            "stopped-one",
            AttackStatus.STOPPED,
            verdict="FAIL",
            stopped_by=("suite\x1b",),
            integrity=Integrity(outcome="suspect"),
            named=("lost_tests",),
        ),
        result("partly", AttackStatus.CREDITED, verdict="FAIL", score=0.5, reward=0.5, lines=("{type: x}",)),
        result("wholly", AttackStatus.PASSED, verdict="PASS", score=1.0, reward=1.0),
        result("broken", AttackStatus.UNGRADED, reason="no sandbox"),
    ],
    lines=[SuggestedLine(line="{type: x}", stops=("partly",))],
    warnings=["mind\x1b this"],
    advised=True,
    exit_code=1,
)


def rendered(*, every: bool = False, siege: Siege = SIEGE) -> str:
    return render_attacks(siege, width=100, paint=lambda word, verdict: word, every=every)


def test_what_got_through_comes_first() -> None:
    lines = rendered().splitlines()
    assert lines[1] == "workspace  python, no test runner we know; 0 visible test files"
    assert lines[2] == "noop       FAIL, must fail (as it must)"
    assert lines[3] == "oracle     not tried, must pass: the scenario names no reference solution"
    heads = [line.split()[0] for line in lines[5:10] if not line.startswith(" ")]
    assert heads == ["THROUGH", "CREDIT", "stopped", "ungraded"]
    assert (
        lines[5] == "THROUGH   wholly       lost_tests: a trick (PASS; integrity unchecked) no line stops it"
    )
    assert "FAIL, but reward 0.5; doing nothing gets 0.25" in " ".join(lines[6:8])
    assert "[1] stops it" in " ".join(" ".join(lines).split())
    assert "  [1] - {type: x}" in lines
    assert (
        "2 of 4 attacks got through (1 with credit short of a PASS), 1 stopped, 1 do not apply" in rendered()
    )
    assert "no line that was tried stops wholly." in rendered()


def test_what_does_not_apply_is_shown_when_asked_for() -> None:
    assert "idle" not in rendered()
    assert "n/a       idle" in rendered(every=True)


def test_nothing_hostile_reaches_a_terminal() -> None:
    shown = rendered(every=True)
    assert "\x1b" not in shown
    assert "\x07" not in shown


def test_doing_nothing_that_passes_is_said() -> None:
    passing = [HonestRow("noop", False, "passed", Verdict.PASS, 1.0, 1.0), SIEGE.honest[1]]
    assert "accepts doing nothing" in rendered(siege=SIEGE._replace(honest=passing))


def test_the_document() -> None:
    document = json.loads(siege_document(SIEGE))
    assert document["schema"] == "adjudge.attack/1"
    assert document["counts"] == {
        "passed": 1, "credited": 1, "stopped": 1, "not_applicable": 1, "ungraded": 1,
    }  # fmt: skip
    assert [one["name"] for one in document["attacks"]] == [one.name for one in SIEGE.results]
    assert document["lines"] == [{"line": "{type: x}", "stops": ["partly"]}]
    assert document["honest"][0]["behaves"] is True
