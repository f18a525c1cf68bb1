"""A bug of a small package, graded in every outcome a SWE-bench instance has."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

import adjudge
from adjudge.records.evaluation import Evaluation

pytestmark = pytest.mark.bwrap

INSTANCE = Path(__file__).parent / "swebench_instance"


@pytest.fixture
def instance(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The instance where hidden files can be kept apart from what is graded."""
    monkeypatch.setenv("ADJUDGE_HOME", str(tmp_path / "state"))
    return Path(shutil.copytree(INSTANCE, tmp_path / "instance"))


def grade(instance: Path, attempt: str) -> Evaluation:
    return adjudge.grade(instance / "adjudge.yaml", patch=instance / "attempts" / f"{attempt}.patch")


@pytest.mark.parametrize(
    ("attempt", "resolution", "score", "failing", "broken"),
    [
        ("resolved", "full", 1.0, 0, 0),
        ("partial", "partial", 0.6, 2, 0),
        ("none", "none", 0.0, 5, 0),
        ("breaks", "none", 0.0, 0, 1),
        ("edits-tests", "none", 0.0, 5, 0),
    ],
)
def test_outcomes(
    instance: Path, attempt: str, resolution: str, score: float, failing: int, broken: int
) -> None:
    evaluation = grade(instance, attempt)
    (row,) = evaluation.scorers
    rules = [finding.rule for finding in row.findings]
    assert row.details["resolution"] == resolution, row.reason
    assert row.score == score
    assert evaluation.score == score
    assert evaluation.gates.objective.verdict == ("PASS" if resolution == "full" else "FAIL")
    assert rules.count("fail-to-pass-failed") == failing
    assert rules.count("pass-to-pass-broken") == broken
    assert row.capped is bool(broken)
    assert row.details["unproven"] == 0


def test_what_is_broken_was_run_twice(instance: Path) -> None:
    (row,) = grade(instance, "breaks").scorers
    assert row.details["again"] == {"tests/test_money.py::test_str": "failed"}


def test_edited_tests_and_settings_are_left_out_and_shown(instance: Path) -> None:
    (row,) = grade(instance, "edits-tests").scorers
    assert [finding.path for finding in row.findings if finding.rule == "left-out-of-clean"] == [
        "pyproject.toml",
        "tests/conftest.py",
        "tests/test_money.py",
    ]
