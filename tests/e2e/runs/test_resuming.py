"""What happens to an experiment that is drained, stopped or killed: nothing is lost, nothing made twice."""

from __future__ import annotations

import json
import random
import signal
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.e2e.runs.conftest import TASK, Project, matrix, shell

from adjudge.records.run import RunStatus
from adjudge.settings import load_settings
from adjudge.store.opening import store_for

DEADLINE_S = 120.0


def events(process: subprocess.Popen[str]) -> Iterator[dict[str, Any]]:
    assert process.stdout is not None
    for line in process.stdout:
        yield json.loads(line)


def until(process: subprocess.Popen[str], wanted: str, phase: str | None = None) -> dict[str, Any]:
    for event in events(process):
        if event["event"] == wanted and (phase is None or event.get("phase") == phase):
            return event
    raise AssertionError(f"no {wanted} was told: {process.stderr.read() if process.stderr else ''}")


def ended(process: subprocess.Popen[str]) -> tuple[int, list[dict[str, Any]], str]:
    out, err = process.communicate(timeout=DEADLINE_S)
    return process.returncode, [json.loads(line) for line in out.splitlines()], err


def waiting(go: Path) -> dict[str, Any]:
    """An agent that works until a file is there, or the test is given up."""
    return shell(f"for i in $(seq 1200); do test -e {go} && break; sleep 0.1; done; sed -i s/1/2/ x.py")


@pytest.fixture
def three(project: Project) -> tuple[Project, Path, Path]:
    """Three runs of an agent that waits; one at a time."""
    project.task("login")
    go = project.root / "go"
    file = project.experiment(
        {"matrix": matrix(["tasks/*"], ["waits"], trials=3), "agents": {"waits": waiting(go)}, "jobs": 1}
    )
    return project, file, go


def test_one_interrupt_finishes_what_is_under_way(three: tuple[Project, Path, Path]) -> None:
    project, file, go = three
    process = project.start(file)
    until(process, "phase", "working")
    process.send_signal(signal.SIGINT)
    until(process, "draining")
    go.touch()
    code, told, _ = ended(process)
    assert code == 130
    assert (told[-1]["graded"], told[-1]["left"], told[-1]["interrupted"]) == (1, 2, True)
    (first,) = project.runs()
    assert first.status is RunStatus.FINISHED
    code, told, _ = ended(project.start(file))
    assert code == 0
    assert "1 of 3 runs are finished and kept" in told[0]["message"]
    assert (told[-1]["graded"], told[-1]["kept"]) == (3, 1)
    assert [len(project.store.evaluations(run.id)) for run in project.runs()] == [1, 1, 1]


@pytest.mark.parametrize("signals", [(signal.SIGINT, signal.SIGINT), (signal.SIGTERM,)])
def test_two_interrupts_or_one_sigterm_stop(
    three: tuple[Project, Path, Path], signals: tuple[signal.Signals, ...]
) -> None:
    project, file, go = three
    process = project.start(file)
    until(process, "phase", "working")
    for index, number in enumerate(signals):
        process.send_signal(number)
        if index + 1 < len(signals):
            # Told before the next is sent: two at once are one.
            until(process, "draining")
    code, _, err = ended(process)
    assert code == 130
    assert err.endswith("interrupted\n")
    (stopped,) = project.runs()
    assert stopped.status is RunStatus.RUNNING
    go.touch()
    code, told, _ = ended(project.start(file))
    assert code == 0
    assert (told[-1]["graded"], told[-1]["kept"]) == (3, 0)


def test_a_second_process_does_not_run_the_same_experiment(three: tuple[Project, Path, Path]) -> None:
    project, file, go = three
    process = project.start(file)
    until(process, "phase", "working")
    code, _, err = ended(project.start(file))
    assert code == 2
    assert "is being run by another process" in err
    go.touch()
    assert ended(process)[0] == 0


def test_kill_at_any_instant_loses_nothing_and_grades_nothing_twice(project: Project) -> None:
    chance = random.Random(6)
    for name in ("one", "two"):
        project.task(name, TASK.replace("Make", f"{name} make"))
    agents = {"worker": shell("echo once; sed -i s/1/2/ x.py")}
    file = project.experiment(
        {"matrix": matrix(["tasks/*"], ["worker"], trials=3), "agents": agents, "jobs": 2}
    )
    graded: set[str] = set()
    which: tuple[str | Path, ...] = (file,)
    for _ in range(3):
        process = project.start(*which)
        for count, event in enumerate(events(process)):
            if event["event"] == "begun":
                which = ("--resume", event["experiment"]["id"])
            if event["event"] == "graded":
                graded.add(event["run"]["id"])
            if count == chance.randrange(3, 12):
                break
        time.sleep(chance.random() / 20)
        process.kill()
        process.communicate()
        # What was told to be graded is, whatever came after.
        store = store_for(load_settings())
        assert all(len(store.evaluations(id_)) == 1 for id_ in graded)
    code, told, err = ended(project.start(*which))
    assert code == 0, err
    assert told[-1]["graded"] == 6
    assert graded <= {event["run"]["id"] for event in told if event.get("kept")}
    runs = project.runs()
    assert len(runs) == 6
    for run in runs:
        assert run.status is RunStatus.FINISHED
        assert len(project.store.evaluations(run.id)) == 1
        assert run.attempt is not None
        assert run.attempt.outcome is not None
        assert run.attempt.outcome.stdout is not None
        assert run.attempt.outcome.stdout.head == "once\n"


def test_runs_of_one_experiment_start_alike_although_setup_differs_each_time(project: Project) -> None:
    project.task("login", TASK + "setup: date +%N > stamp\n")
    file = project.experiment({"matrix": matrix(["tasks/*"], ["noop"], trials=2), "jobs": 1})
    process = project.start(file)
    until(process, "graded")
    process.kill()
    process.communicate()
    code, _, err = ended(project.start(file))
    assert code == 1, err
    digests = {run.attempt.baseline_digest for run in project.runs() if run.attempt is not None}
    assert len(project.runs()) in (2, 4)
    assert len(digests) == len(project.runs()) // 2


def test_a_run_that_was_captured_but_not_graded_is_graded_from_the_store(project: Project) -> None:
    go, counted = project.root / "go", project.root / "counted"
    project.task(
        "login",
        TASK.replace(
            "grep", f"for i in $(seq 1200); do test -e {go} \\&\\& break; sleep 0.1; done; grep"
        ).replace("\\&", "&"),
    )
    agents = {"worker": shell(f"echo made >> {counted}; sed -i s/1/2/ x.py")}
    file = project.experiment({"matrix": matrix(["tasks/*"], ["worker"]), "agents": agents})
    process = project.start(file)
    until(process, "phase", "grading")
    process.kill()
    process.communicate()
    (run,) = project.runs()
    assert run.status is RunStatus.FINISHED
    assert project.store.evaluations(run.id) == ()
    go.touch()
    code, told, err = ended(project.start(file))
    assert code == 0, err
    assert "starting" not in [event.get("phase") for event in told]
    assert counted.read_text() == "made\n"
    (evaluation,) = project.store.evaluations(run.id)
    assert [(row.name, str(row.verdict)) for row in evaluation.scorers] == [
        ("command", "PASS"), ("max_files_changed", "PASS"),
    ]  # fmt: skip
