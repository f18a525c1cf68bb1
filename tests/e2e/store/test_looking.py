"""Runs that are listed and shown, as a person and as a program reads them."""

from __future__ import annotations

import io
import json
import sys
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest

from adjudge.cli.main import main
from adjudge.formats.traces.adjudge import write_trace
from adjudge.records.annotation import Annotation, Judgment
from adjudge.records.base import digest_bytes
from adjudge.records.change import BaselineOrigin, BaselineRef, ChangeSet
from adjudge.records.judgement import FailureMode, Judgement, JudgeVerdict
from adjudge.records.run import AgentOutcome, AgentRef, AgentStatus, Attempt, Experiment, RunStatus
from adjudge.records.trace import Message
from adjudge.settings import load_settings
from adjudge.store.opening import store_for
from adjudge.testing.runs import graded_run, keep_blob, make_run, make_task

pytestmark = pytest.mark.anyone

HOSTILE = "evil\x1b[2J\u202ename"
JUDGEMENT = Judgement(
    verdict=JudgeVerdict.FAIL,
    failure_mode=FailureMode.INCORRECT,
    reasoning=HOSTILE,
    config_digest=digest_bytes(b"config"),
    evidence_digest=digest_bytes(b"evidence"),
    judged_at=datetime(2026, 1, 2, tzinfo=UTC),
)
Command = Callable[..., tuple[int, str, str]]


@pytest.fixture
def command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Command:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("ADJUDGE_HOME", str(tmp_path / "state"))

    def run(*argv: str) -> tuple[int, str, str]:
        code = main(list(argv))
        said = capsys.readouterr()
        return code, said.out, said.err

    return run


@pytest.fixture
def ids(command: Command) -> list[str]:
    """Five runs: two graded twice and annotated, one that changed something, one fault, one hostile."""
    with store_for(load_settings()) as store:
        store.add_experiment(
            Experiment(id="e0123456789a", name="nightly", created_at=datetime(2026, 1, 1, tzinfo=UTC))
        )
        diff = keep_blob(store.blobs, b"--- a/x\n+++ b/x\n@@ -1 +1 @@\n-old\n+new \x1b[2J\n")
        written = io.BytesIO()
        write_trace([Message(role="assistant", text=f"done {HOSTILE}")], written, format="text")
        trace = keep_blob(store.blobs, written.getvalue())
        changed = ChangeSet(
            baseline=BaselineRef(origin=BaselineOrigin.TASK, description="task"),
            changes=(),
            diff=diff,
            digest=digest_bytes(b"changes"),
        )
        runs = [
            make_run(1, experiment_id="e0123456789a", tags={"suite": "small"}),
            make_run(2, attempt=Attempt(change_set=changed), model=None),
            make_run(
                3,
                task=make_task("parser"),
                agent=AgentRef(name="other", type="command"),
                attempt=Attempt(outcome=AgentOutcome(status=AgentStatus.COMPLETED, trace=trace)),
            ),
            make_run(4, status=RunStatus.INFRASTRUCTURE_FAULT, fault="disk full", attempt=None),
            make_run(5, task=make_task(HOSTILE), model=HOSTILE),
        ]
        for run in runs:
            store.save_run(run)
        first = graded_run(runs[0], "FAIL", judge=JUDGEMENT.model_dump(mode="json"))
        for graded in (graded_run(runs[0]), first, graded_run(runs[2]), graded_run(runs[4], "FAIL")):
            store.save_evaluation(graded.evaluation.run_id, graded)
        review = Annotation(
            reviewer_id="ada",
            timestamp=datetime(2026, 2, 1, tzinfo=UTC),
            judgment=Judgment.PASS,
            notes=HOSTILE,
        )
        store.annotate(first.evaluation.id, review)
    return [run.id for run in runs]


def test_runs_are_listed_newest_first(command: Command, ids: list[str]) -> None:
    code, out, _ = command("list")
    assert code == 0
    lines = out.splitlines()
    assert lines[0].split()[:5] == ["RUN", "STARTED", "TASK", "AGENT", "TRIAL"]
    assert [line.split()[0] for line in lines[1:]] == ids[::-1]
    assert "\x1b" not in out
    assert "\u202e" not in out
    assert "evil\\x1b[2J" in lines[1]
    assert lines[2].split()[5:8] == ["1", "fault", "-"]
    assert lines[5].split()[-5:] == ["FAIL", "NA", "PASS", "0.00", "$0.25"]


def test_filters_and_pages(command: Command, ids: list[str]) -> None:
    def listed(*argv: str) -> list[str]:
        return [run["id"] for run in json.loads(command("list", "--json", *argv)[1])["runs"]]

    assert listed("--task", "parser") == [ids[2]]
    assert listed("--agent", "other") == [ids[2]]
    assert listed("--model", "m-1", "--objective", "fail") == [ids[0]]
    assert listed("--experiment", "e01") == listed("--experiment", "nightly") == [ids[0]]
    assert listed("--status", "infrastructure_fault") == [ids[3]]
    assert listed("--tag", "suite=small") == [ids[0]]
    assert listed("--judge", "NA", "--run-gate", "PASS", "--integrity", "unchecked") == [
        ids[4],
        ids[2],
        ids[0],
    ]
    document = json.loads(command("list", "--json", "--limit", "2")[1])
    assert (document["schema"], document["next"]) == ("adjudge.runs/1", ids[3])
    assert listed("--before", ids[3][:8], "--limit", "2") == [ids[2], ids[1]]
    assert listed("--before", ids[1]) == [ids[0]]
    assert document["runs"][1]["objective"] is None
    code, _, err = command("list", "--limit", "1")
    assert code == 0
    assert f"--before {ids[4]}" in err


@pytest.mark.parametrize(
    ("argv", "said"),
    [
        (("list", "--task", "parsr"), "did you mean parser?"),
        (("list", "--agent", "bilder"), "did you mean builder?"),
        (("list", "--experiment", "nigthly"), "no experiment 'nigthly' is stored"),
        (("list", "--objective", "GREAT"), "'GREAT' is not one of"),
        (("list", "--tag", "x"), "not KEY=VALUE"),
        (("show", "zzzzzz"), "no run 'zzzzzz' is stored"),
        (("diff", "\x1b[2J"), "is stored"),
    ],
)
def test_what_is_not_there_is_said(
    command: Command, ids: list[str], argv: tuple[str, ...], said: str
) -> None:
    code, out, err = command(*argv)
    assert (code, out) == (2, "")
    assert said in err
    assert "\x1b" not in err


def test_a_run_is_shown_with_everything(command: Command, ids: list[str]) -> None:
    code, out, _ = command("show", ids[0][:7])
    assert code == 0
    assert "\x1b" not in out
    assert "\u202e" not in out
    for line in (
        f"run         {ids[0]}",
        "agent       builder:m-1  trial 1",
        "experiment  e0123456789a",
        "usage       30.0s, tokens 100 in, 20 out, tool calls 3, cost $0.25",
        "tag         suite=small",
        "objective FAIL    because",
        "judge     NA      no judge was asked",
        "reasoning  evil\\x1b[2J\\u202ename",
        "  2026-02-01 00:00  pass  ada: evil\\x1b[2J\\u202ename",
    ):
        assert line in out.splitlines(), out
    assert out.splitlines()[-1].endswith("current")
    document = json.loads(command("show", ids[0], "--json")[1])
    assert document["schema"] == "adjudge.run/1"
    assert document["run"]["id"] == ids[0]
    assert [item["id"] for item in document["evaluations"]][1] == document["current_evaluation"]
    assert document["evaluations"][1]["annotations"][0]["reviewer_id"] == "ada"


def test_a_run_that_never_was_is_shown_too(command: Command, ids: list[str]) -> None:
    out = command("show", ids[3])[1]
    assert "status      infrastructure fault: disk full" in out
    assert out.endswith("not graded\n")


def test_a_diff_comes_as_it_is_unless_a_person_looks(
    command: Command, ids: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert command("diff", ids[1])[1].endswith("-old\n+new \x1b[2J\n")
    assert json.loads(command("diff", ids[1], "--json")[1])["diff"]["stored"] is True
    assert command("diff", ids[0])[0] == 2

    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    terminal = Terminal()
    monkeypatch.setattr(sys, "stdout", terminal)
    monkeypatch.setenv("NO_COLOR", "1")
    assert main(["diff", ids[1]]) == 0
    assert terminal.getvalue().endswith("-old\n+new \\x1b[2J\n")


def test_a_trace_is_shown_by_its_run(command: Command, ids: list[str], tmp_path: Path) -> None:
    code, out, _ = command("trace", ids[2][:8])
    assert code == 0
    assert "done evil" in out
    assert "\x1b" not in out
    assert json.loads(command("trace", ids[2], "--json")[1])["events"] == 1
    code, _, err = command("trace", ids[0])
    assert (code, "has no trace" in err) == (2, True)
    # A file of that name comes first.
    (tmp_path / ids[2]).write_text("something else\n")
    assert "something else" in command("trace", ids[2])[1]


def test_without_a_store_nothing_is_made(command: Command, tmp_path: Path) -> None:
    code, _, err = command("list")
    assert code == 2
    assert "nothing is stored yet" in err
    assert not (tmp_path / ".adjudge").exists()
