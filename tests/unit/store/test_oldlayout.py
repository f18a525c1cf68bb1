"""What older versions kept can be taken over."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from adjudge.cli.main import main
from adjudge.contracts import GradedSubject
from adjudge.formats.evidence import dump_evidence
from adjudge.records.base import BlobRef, digest_bytes
from adjudge.records.evidence import PathState, PathStatus
from adjudge.settings import load_settings
from adjudge.store.opening import store_for
from adjudge.testing.runs import graded_run, make_run


def keep_as_before(state: Path, graded: GradedSubject, output: bytes) -> BlobRef:
    """The layout of old, written as it was then."""
    place = state / "evaluations" / graded.evaluation.id
    place.mkdir(parents=True)
    (place / "evaluation.json").write_text(graded.evaluation.to_json() + "\n")
    (place / "task.json").write_text(graded.task.model_dump_json(indent=2) + "\n")
    (place / "evidence.json").write_text(json.dumps(json.loads(dump_evidence(graded.evidence)), indent=2))
    ref = BlobRef(digest=digest_bytes(output), size_bytes=len(output), stored=True)
    blob = state / "blobs" / ref.digest[7:9] / ref.digest[9:]
    blob.parent.mkdir(parents=True, exist_ok=True)
    blob.write_bytes(output)
    return ref


def test_evaluations_are_taken_over_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    state = tmp_path / "state"
    monkeypatch.setenv("ADJUDGE_HOME", str(state))
    monkeypatch.chdir(tmp_path)
    assert main(["store", "import"]) == 2
    assert "neither a store nor evaluations" in capsys.readouterr().err
    run = make_run()
    evidence = ((PathState(path="latin\udce9"), PathStatus(exists=True)),)
    kept = [graded_run(run, verdict, evidence=evidence) for verdict in ("PASS", "FAIL")]
    for graded in kept:
        keep_as_before(state, graded, b"output")
    broken = state / "evaluations" / "broken"
    broken.mkdir()
    (broken / "evaluation.json").write_text("{}")
    assert main(["store", "import"]) == 1
    out = capsys.readouterr().out
    assert "2 evaluations" in out
    assert f"problem: {broken} cannot be read" in out
    with store_for(load_settings(), create=False) as store:
        assert {item.id for item in store.evaluations(run.id)} == {item.evaluation.id for item in kept}
        assert store.evidence(kept[0].evaluation.id) == evidence
    assert main(["store", "import"]) == 1
    assert "added 0 experiments, 0 tasks, 0 runs, 0 evaluations" in capsys.readouterr().out
