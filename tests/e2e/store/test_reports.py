"""What stored runs add up to, in every format."""

from __future__ import annotations

import csv
import io
import json
import sys
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from adjudge.cli.main import main
from adjudge.records.run import (
    AgentOutcome,
    AgentRef,
    AgentStatus,
    Attempt,
    Experiment,
    RunStatus,
    TokenUsage,
)
from adjudge.settings import load_settings
from adjudge.store.opening import store_for
from adjudge.testing.runs import graded_run, make_run, make_task

pytestmark = pytest.mark.anyone

Command = Callable[..., str]

# Per task: what good and weak came to in three trials each; E is a fault, - is not graded yet.
OUTCOMES = {
    "easy": ("PPP", "PPF"),
    "hard": ("PFP", "FFF"),
    "broken": ("PPE", "EEE"),
    "=cmd|odd": ("PF-", "FFP"),
    **{f"more-{number}": ("PPP", "FFF") for number in range(6)},
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store that no test here changes."""
    place = tmp_path_factory.mktemp("reports")
    settings = load_settings(
        {"ADJUDGE_HOME": str(place / "state"), "ADJUDGE_STORE": str(place / "store")}, place
    )
    with store_for(settings) as store:
        created = datetime(2026, 1, 1, tzinfo=UTC)
        store.add_experiment(Experiment(id="e11111111111", name="first", created_at=created))
        store.add_experiment(Experiment(id="e22222222222", name="second", created_at=created))
        number = 0
        for name, sides in OUTCOMES.items():
            for agent, verdicts in zip(("good", "weak"), sides, strict=True):
                for trial, letter in enumerate(verdicts, start=1):
                    number += 1
                    fault = letter == "E"
                    usage = TokenUsage(cost_usd=None if trial == 3 else 0.5, input_tokens=100)
                    outcome = AgentOutcome(status=AgentStatus.COMPLETED, usage=usage, wall_s=10.0)
                    run = make_run(
                        number,
                        task=make_task(name),
                        agent=AgentRef(name=agent, type="command"),
                        model="m:1" if agent == "good" else None,
                        trial=trial,
                        experiment_id="e11111111111" if agent == "good" else "e22222222222",
                        status=RunStatus.INFRASTRUCTURE_FAULT if fault else RunStatus.FINISHED,
                        attempt=None if fault else Attempt(outcome=outcome),
                    )
                    store.save_run(run)
                    if letter in "PF":
                        graded = graded_run(run, "PASS" if letter == "P" else "FAIL")
                        store.save_evaluation(run.id, graded)

    return place


@pytest.fixture
def command(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Command:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("ADJUDGE_HOME", str(folder / "state"))
    monkeypatch.setenv("ADJUDGE_STORE", str(folder / "store"))

    def run_(*argv: str, code: int = 0) -> str:
        assert main(list(argv)) == code
        said = capsys.readouterr()
        return said.out if code == 0 else said.err

    return run_


def test_a_report_adds_up(command: Command) -> None:
    document = json.loads(command("report", "--format", "json"))
    assert (document["schema"], document["runs"], document["k"]) == ("adjudge.report/1", 60, 2)
    good, weak = document["agents"]
    assert (good["agent"], good["model"], weak["agent"], weak["model"]) == ("good", "m:1", "weak", None)
    counts = ("runs", "graded", "passed", "failed", "errors", "unfinished")
    assert [good[count] for count in counts] == [30, 28, 26, 2, 1, 1]
    assert [weak[count] for count in counts] == [30, 27, 3, 24, 3, 0]
    # Errors and what is not graded are in no rate and no mean.
    assert good["pass_rate"] == pytest.approx(26 / 28)
    assert good["mean_score"] == pytest.approx(26 / 28)
    assert good["pass_rate_low"] < 26 / 28 < good["pass_rate_high"]
    # Tasks count alike, however many trials each has.
    assert good["pass_at_1"] == pytest.approx((1 + 2 / 3 + 1 + 1 / 2 + 6) / 10)
    assert good["pass_at_k"] == pytest.approx(1.0)
    assert good["pass_hat_k"] == pytest.approx((1 + 1 / 3 + 1 + 0 + 6) / 10)
    assert (weak["tasks"], weak["tasks_with_fewer_trials"]) == (10, 1)
    assert (good["cost_usd"], good["mean_cost_usd"], good["cost_known"]) == (10.0, 0.5, 20)
    assert (good["mean_tokens"], good["mean_wall_s"]) == (100, 10)
    assert good["judge_pass_rate"] is None
    (worst,) = document["scorers"]
    assert (worst["name"], worst["failed"], worst["graded"], worst["tasks"]) == ("unit tests", 26, 55, 9)
    broken = next(task for task in document["tasks"] if task["name"] == "broken")
    assert [result["errors"] for result in broken["results"]] == [1, 3]


def test_every_format_says_the_same(command: Command, tmp_path: Path) -> None:
    table = command("report")
    assert "92.9%" in table
    assert "All stored runs" in table
    assert "4 runs could not be run or graded; they are in no rate and no mean." in table
    assert "0/0 (3 errors)" in table
    assert "$10.00+" in table
    markdown = command("report", "--format", "md")
    assert "| good:m:1 | 30 | 28 | 1 | 92.9% |" in markdown
    assert "=cmd\\|odd" in markdown
    rows = list(csv.DictReader(io.StringIO(command("report", "--format", "csv"))))
    assert [(row["agent"], row["passed"], row["model"]) for row in rows] == [
        ("good", "26", "m:1"),
        ("weak", "3", ""),
    ]
    # A spreadsheet would run it.
    tasks = list(csv.DictReader(io.StringIO(command("report", "--format", "csv", "--section", "tasks"))))
    assert {row["task"] for row in tasks} == {*OUTCOMES, "'=cmd|odd"} - {"=cmd|odd"}
    assert command("report", "--format", "csv", "--section", "scorers").startswith("name,type,failed")
    command("report", "--format", "md", "--output", "report.md")
    assert (tmp_path / "report.md").read_text() == markdown


def test_a_report_to_share_is_one_file(command: Command, tmp_path: Path) -> None:
    document = command("report", "--format", "html", "--runs", "3")
    assert document.startswith("<!doctype html>")
    assert "92.9 %" in document
    assert "4 runs could not be run or graded" in document
    assert document.count('<details class="card whole-run"') == 3
    assert document.count("<svg ") == 4
    command("report", "first", "--format", "html", "--output", "report.html")
    assert "Experiment first" in (tmp_path / "report.html").read_text()
    assert "always has every part" in command("report", "--format", "html", "--section", "agents", code=2)


def test_a_run_to_share_is_one_file(command: Command, tmp_path: Path) -> None:
    run_id = json.loads(command("list", "--limit", "1", "--json"))["runs"][0]["id"]
    command("show", run_id, "--html", "--output", "run.html")
    assert f"<code>{run_id}</code>" in (tmp_path / "run.html").read_text()
    assert "exclude each other" in command("show", run_id, "--html", "--json", code=2)
    assert "goes with" in command("show", run_id, "--output", "x", code=2)
    assert "no run" in command("show", "zzzz", "--html", code=2)


def test_documents_need_the_packages_of_the_view(command: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    for module in [name for name in sys.modules if name.startswith("adjudge.web")]:
        monkeypatch.delitem(sys.modules, module)
    monkeypatch.setitem(sys.modules, "jinja2", None)
    said = command("report", "--format", "html", code=2)
    assert "jinja2, which is not installed" in said
    assert "adjudge[web]" in said


def test_reports_can_be_narrowed(command: Command) -> None:
    def agents(*argv: str) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = json.loads(command("report", "--format", "json", *argv))["agents"]
        return found

    assert [group["agent"] for group in agents("first")] == ["good"]
    assert [group["agent"] for group in agents("e2")] == ["weak"]
    assert [group["runs"] for group in agents("--task", "easy")] == [3, 3]
    assert agents("first", "-k", "3")[0]["tasks_with_fewer_trials"] == 2
    assert "did you mean" in command("report", "--task", "esay", code=2)
    assert "no experiment 'third'" in command("report", "third", code=2)


def test_two_sides_are_compared_task_by_task(command: Command) -> None:
    document = json.loads(command("compare", "weak", "good", "--json"))
    assert document["verdict"] == "good passes more often than weak"
    objective = document["objective"]
    assert (objective["pairs"], objective["higher"], objective["lower"]) == (9, 9, 0)
    expected = [1 / 3, 2 / 3, 1 / 2 - 1 / 3, *[1.0] * 6]
    assert objective["mean"] == pytest.approx(sum(expected) / 9)
    assert 0 < objective["low"] < objective["mean"] < objective["high"]
    assert objective["p_value"] == pytest.approx(2 / 2**9)
    assert document["only_first"] == document["only_second"] == ["broken"]
    text = command("compare", "first", "second")
    assert text.startswith("first passes more often than second.\n")
    assert "tasks: 0 up, 9 down" in text
    assert "left out, only first has a grading: 1 task: broken" in text
    few = command("compare", "good:m:1", "weak", "--task", "easy")
    assert few.startswith("too few tasks to tell")


@pytest.mark.parametrize(
    ("argv", "said"),
    [
        (("good", "good"), "are the same side"),
        (("good", "bad"), "'bad' is neither an experiment nor an agent"),
        (("good", "weak", "--experiment", "first"), "no run of that experiment is by the agent 'weak'"),
    ],
)
def test_sides_that_are_none_are_refused(command: Command, argv: tuple[str, ...], said: str) -> None:
    assert said in command("compare", *argv, code=2)


def test_a_store_without_runs_gives_an_empty_report(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("ADJUDGE_STORE", str(tmp_path / "empty"))
    store_for(load_settings()).close()
    for format_ in ("table", "md", "json", "csv", "html"):
        assert main(["report", "--format", format_]) == 0
    assert "No experiment" not in capsys.readouterr().out
