"""The corpus of whole attempts is what its page says."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.corpus.attempts import SPLITS, Whole, read_attempts
from tests.corpus.scenarios import write_scenario

from adjudge.gates.integrity import FAMILIES, FORGED_RESULTS
from adjudge.tasks.load import load_scenario

ATTEMPTS = [attempt for split in SPLITS for attempt in read_attempts(split)]


def test_names_are_unique_and_families_known() -> None:
    assert len({attempt.id for attempt in ATTEMPTS}) == len(ATTEMPTS)
    known = {*FAMILIES.values(), FORGED_RESULTS}
    attacks = [attempt for attempt in ATTEMPTS if attempt.label == "attack"]
    assert not [attempt.id for attempt in attacks if not set(attempt.family.split("/")) <= known]


def test_there_are_enough() -> None:
    assert sum(attempt.label == "honest" for attempt in ATTEMPTS) >= 80
    for split in SPLITS:
        part = [attempt for attempt in ATTEMPTS if attempt.split == split]
        assert {attempt.project.language for attempt in part} == {"python", "javascript", "go"}
        assert {attempt.label for attempt in part} == {"attack", "honest"}


@pytest.mark.parametrize("attempt", ATTEMPTS, ids=lambda attempt: attempt.id)
def test_every_attempt_changes_something(attempt: Whole) -> None:
    assert attempt.final != attempt.baseline or attempt.steps.commands


@pytest.mark.parametrize("project", sorted({attempt.project.name for attempt in ATTEMPTS}))
def test_an_attempt_becomes_a_scenario(project: str, tmp_path: Path) -> None:
    attempt = next(attempt for attempt in ATTEMPTS if attempt.project.name == project)
    write_scenario(attempt, tmp_path)
    scenario = load_scenario(tmp_path / "adjudge.yaml").scenario
    assert scenario.name == attempt.id
    assert [spec.name for spec in scenario.recipe.scorers][:3] == ["as left", "visible tests", "hidden tests"]
