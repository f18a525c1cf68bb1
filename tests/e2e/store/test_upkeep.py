"""Stores that are checked, cleared up and moved, from the command line."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import text

from adjudge.cli.main import main
from adjudge.records.annotation import Annotation, Judgment
from adjudge.records.evidence import PathState, PathStatus
from adjudge.records.run import AgentOutcome, AgentStatus, Attempt, Experiment
from adjudge.settings import Settings
from adjudge.store.check import collect_garbage
from adjudge.store.opening import store_for
from adjudge.store.runs import RunDatabase
from adjudge.testing.runs import graded_run, keep_blob, make_run

Command = Callable[..., tuple[int, str, str]]


@pytest.fixture
def command(
    store_settings: Settings, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Command:
    monkeypatch.chdir(store_settings.folder)
    for name, value in (
        ("STORE", store_settings.store),
        ("BLOBS", store_settings.blobs),
        ("HOME", store_settings.state_dir),
    ):
        monkeypatch.setenv(f"ADJUDGE_{name}", str(value))

    def run(*argv: str) -> tuple[int, str, str]:
        code = main(["store", *argv])
        said = capsys.readouterr()
        return code, said.out, said.err

    return run


def fill(store: RunDatabase) -> None:
    store.add_experiment(Experiment(id="experiment1", name="e", created_at=datetime(2026, 1, 1, tzinfo=UTC)))
    for number in range(3):
        output = keep_blob(store.blobs, f"output {number}".encode())
        outcome = AgentOutcome(status=AgentStatus.COMPLETED, stdout=output)
        run = make_run(
            number,
            experiment_id="experiment1" if number else None,
            attempt=Attempt(outcome=outcome),
            tags={"a": "b"},
        )
        store.save_run(run)
        evidence = ((PathState(path="x"), PathStatus(exists=True)),)
        for verdict in ("FAIL", "PASS"):
            graded = graded_run(run, verdict, judge={"verdict": verdict}, evidence=evidence)
            store.save_evaluation(run.id, graded, current=verdict == "FAIL")
        review = Annotation(
            reviewer_id="ada", timestamp=datetime(2026, 2, 1, tzinfo=UTC), judgment=Judgment.PASS
        )
        store.annotate(graded.evaluation.id, review)


def contents(store: RunDatabase) -> dict[str, Any]:
    """All there is to know, without numbers of rows."""
    runs = list(store.runs())
    return {
        "experiments": list(store.experiments()),
        "runs": runs,
        "evaluations": [store.evaluations(run.id) for run in runs],
        "current": [store.current_evaluation(run.id) for run in runs],
        "evidence": [store.evidence(item.id) for run in runs for item in store.evaluations(run.id)],
        "rows": [row._replace(seq=0) for row in store.summaries()],
        "tallies": list(store.scorer_tallies()),
        "outputs": [
            run.attempt.outcome.stdout.digest
            for run in runs
            if run.attempt and run.attempt.outcome and run.attempt.outcome.stdout
        ],
    }


def test_everything_moves_there_and_back(
    store_settings: Settings, command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with store_for(store_settings) as store:
        fill(store)
        before = contents(store)
    other = tmp_path / "other"
    code, out, _ = command("export", str(other))
    assert (code, out) == (
        0, "added 1 experiments, 1 tasks, 3 runs, 6 evaluations, 3 annotations, 4 blobs\n",
    )  # fmt: skip
    with store_for(replace(store_settings, store=str(other), blobs=None)) as store:
        assert contents(store) == before
    # Nothing is added twice.
    assert command("export", str(other))[1].startswith("added 0 experiments, 0 tasks, 0 runs, 0 eval")
    # And back into an empty store.
    third = replace(store_settings, store=str(tmp_path / "third"), blobs=None)
    monkeypatch.setenv("ADJUDGE_STORE", str(third.store))
    monkeypatch.delenv("ADJUDGE_BLOBS")
    code, out, _ = command("import", str(other), "--json")
    assert (code, json.loads(out)["runs"], json.loads(out)["problems"]) == (0, 3, [])
    with store_for(third) as store:
        assert contents(store) == before
    assert command("check")[0] == 0


def test_a_folder_moves_into_a_database(
    postgres_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("ADJUDGE_HOME", str(tmp_path / "state"))
    settings = Settings(tmp_path / "state", "auto", 1, folder=tmp_path)
    with store_for(settings) as store:
        fill(store)
        before = contents(store)
    assert main(["store", "export", postgres_url]) == 2
    assert "--blobs" in capsys.readouterr().err
    assert main(["store", "export", postgres_url, "--blobs", str(tmp_path / "blobs")]) == 0
    with store_for(replace(settings, store=postgres_url, blobs=str(tmp_path / "blobs"))) as store:
        assert contents(store) == before
    assert main(["store", "export", ".adjudge"]) == 2
    assert "own store" in capsys.readouterr().err


def test_a_store_in_order_checks_out(store_settings: Settings, command: Command) -> None:
    with store_for(store_settings) as store:
        fill(store)
    code, out, _ = command("check")
    assert code == 0
    assert out.startswith("1 experiments, 1 tasks, 3 runs, 6 evaluations, 4 blobs\n")


def test_damage_is_found_and_named(store_settings: Settings, command: Command) -> None:
    with store_for(store_settings) as store:
        fill(store)
        runs = list(store.runs())
        with store.database.writing("tamper") as connection:
            for table, column in (("runs", "id"), ("scorer_results", "position")):
                connection.execute(
                    text(
                        f"UPDATE {table} SET document = "
                        f"{'' if store.database.is_sqlite else 'CAST('}"
                        "REPLACE(CAST(document AS TEXT), 'because', 'no reason')"
                        f"{'' if store.database.is_sqlite else ' AS JSON)'} WHERE {column} = {column}"
                    )
                )
            connection.execute(text("UPDATE runs SET digest = 'sha256:0' WHERE trial = 1"))
        digests = sorted(store.blobs.digests())
    blobs = Path(str(store_settings.blobs))
    gone, damaged = (blobs / digest[7:9] / f"{digest[9:]}.zst" for digest in digests[:2])
    gone.unlink()
    damaged.write_bytes(damaged.read_bytes()[:-3])
    code, out, _ = command("check", "--json")
    assert code == 1
    problems = json.loads(out)["problems"]
    assert sum("was changed" in problem for problem in problems) == 9
    assert any(f"blob {digests[0]} is missing, needed by " in problem for problem in problems)
    assert any(digests[1] in problem and "damaged" in problem for problem in problems)
    assert runs[0].id in "".join(problems)


def test_garbage_is_what_nothing_refers_to(store_settings: Settings, command: Command) -> None:
    with store_for(store_settings) as store:
        fill(store)
        needed = set(store.blobs.digests())
        for number in range(5):
            keep_blob(store.blobs, f"garbage {number}".encode())
        assert command("gc")[1] == "0 blobs removed, 0 bytes freed; 4 are needed, 5 are too young to tell\n"
        assert command("gc", "--older-than", "0", "--dry-run")[1].startswith("5 blobs would be removed")
        assert len(set(store.blobs.digests())) == 9
        assert json.loads(command("gc", "--older-than", "0m", "--json")[1])["removed"] == 5
        assert set(store.blobs.digests()) == needed
    assert command("check")[0] == 0
    code, _, err = command("gc", "--older-than", "soon")
    assert code == 2
    assert "'soon' is not a time" in err


def test_garbage_collection_never_takes_what_a_writer_keeps(store_settings: Settings) -> None:
    """Collected between the blob and its row, the row is refused; then the blob is kept again, and stays."""
    with store_for(store_settings) as store:
        output = keep_blob(store.blobs, b"about to be used")
        assert collect_garbage(store, older_than_s=0).removed == 1
        run = make_run(attempt=Attempt(outcome=AgentOutcome(status=AgentStatus.COMPLETED, stdout=output)))
        with pytest.raises(Exception, match="is referred to, but is not in"):
            store.save_run(run)
        keep_blob(store.blobs, b"about to be used")
        store.save_run(run)
        assert collect_garbage(store, older_than_s=0) == (0, 0, 1, 0)
        assert store.blobs.has(output.digest)
