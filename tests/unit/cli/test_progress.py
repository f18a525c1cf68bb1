"""What a terminal, a log and a program are shown of an experiment."""

from __future__ import annotations

import io
import json
import sys
from datetime import UTC, datetime

import pytest

from adjudge.cli.progress import progress_for, render_cost, render_duration
from adjudge.records.base import digest_bytes
from adjudge.records.evaluation import TaskRef
from adjudge.records.run import (
    AgentOutcome,
    AgentRef,
    AgentStatus,
    Attempt,
    Experiment,
    Run,
    RunKey,
    TokenUsage,
)
from adjudge.testing.results import evaluation
from adjudge.workflows.runevents import EventKind, RunEvent, Tally

pytestmark = pytest.mark.anyone

DIGEST = digest_bytes(b"")
EXPERIMENT = Experiment(
    id="abcdef",
    name="e",
    created_at=datetime(2026, 1, 1, tzinfo=UTC),
    matrix=tuple(RunKey(task_digest=DIGEST, agent_digest=DIGEST, trial=trial) for trial in (1, 2, 3)),
)


def run(number: int, cost_usd: float | None = None) -> Run:
    outcome = AgentOutcome(status=AgentStatus.COMPLETED, usage=TokenUsage(cost_usd=cost_usd), wall_s=2.0)
    return Run(
        id=f"run{number:03}",
        task=TaskRef(name="evil\x1b[31m\nname", digest=DIGEST),
        agent=AgentRef(name="a", type="noop"),
        model="m",
        trial=number,
        attempt=Attempt(outcome=outcome, baseline_digest=DIGEST),
    )


EVENTS = (
    RunEvent(EventKind.BEGUN, message="experiment abcdef: 3 runs", experiment=EXPERIMENT),
    RunEvent(EventKind.PHASE, run=run(1), phase="working"),
    RunEvent(EventKind.GRADED, run=run(1, 0.25), evaluation=evaluation()),
    RunEvent(EventKind.PHASE, run=run(2), phase="grading"),
    RunEvent(EventKind.RETRY, run=run(2), message="no sandbox"),
    RunEvent(EventKind.FAULT, run=run(2), message="no sandbox"),
    RunEvent(EventKind.GRADED, run=run(3), evaluation=evaluation(), kept=True),
    RunEvent(EventKind.CAPPED, message="$1.00 spent, cap $0.50"),
    RunEvent(EventKind.DRAINING),
    RunEvent(EventKind.ENDED),
)
NAME = "evil\\x1b[31m\\nname"


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_plain_lines_name_each_run_once(capsys: pytest.CaptureFixture[str]) -> None:
    with progress_for(quiet=False, as_json=False) as tell:
        for event in EVENTS:
            tell(event)
    assert capsys.readouterr().err.splitlines() == [
        "experiment abcdef: 3 runs",
        f"[1/3] PASS    run001  {NAME}  a:m  run NA: workspace given, no agent ran  2 s  $0.25",
        f"again: run002  {NAME}  a:m #2: no sandbox",
        f"[2/3] fault   run002  {NAME}  a:m #2: no sandbox",
        "cost cap reached: $1.00 spent, cap $0.50; no further run is started",
        "finishing the runs that are under way; Ctrl-C once more stops them",
    ]


def test_quiet_says_only_what_must_not_be_missed(capsys: pytest.CaptureFixture[str]) -> None:
    with progress_for(quiet=True, as_json=False) as tell:
        for event in EVENTS:
            tell(event)
    assert [line.split()[0] for line in capsys.readouterr().err.splitlines()] == [
        "[2/3]",
        "cost",
        "finishing",
    ]


def test_events_are_json_lines_on_stdout(capsys: pytest.CaptureFixture[str]) -> None:
    with progress_for(quiet=False, as_json=True) as tell:
        for event in EVENTS:
            tell(event)
    told = capsys.readouterr()
    documents = [json.loads(line) for line in told.out.splitlines()]
    assert told.err == ""
    assert [document["event"] for document in documents] == [event.kind.value for event in EVENTS]
    assert documents[0]["experiment"] == {"id": "abcdef", "name": "e", "runs": 3}
    assert documents[2]["evaluation"]["gates"]["objective"]["verdict"] == "PASS"
    assert documents[6]["kept"] is True


def test_a_terminal_is_drawn_over_and_left_clean(monkeypatch: pytest.MonkeyPatch) -> None:
    stream = Terminal()
    monkeypatch.setattr(sys, "stderr", stream)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("NO_COLOR", "1")
    with progress_for(quiet=False, as_json=False) as tell:
        for event in EVENTS[:4]:
            tell(event)
        drawn = stream.getvalue()
        assert "1/3 runs  PASS 1  $0.25" in drawn
        assert f"  grading    run002  {NAME}  a:m #2" in drawn
        assert "left" in drawn
    # The two lines of the block that were drawn last are gone.
    assert stream.getvalue().endswith("\x1b[2A\x1b[J")


def test_figures() -> None:
    assert [render_duration(seconds) for seconds in (3.4, 150, 5400)] == ["3 s", "2 min", "1.5 h"]
    tally = Tally(total=2)
    assert render_cost(tally) == ""
    tally.add(run(1, 0.5), evaluation())
    tally.add(run(2), evaluation())
    assert render_cost(tally) == "$0.50 + 1 unknown"
