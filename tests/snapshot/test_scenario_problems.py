"""Bad scenario files and exactly what is said about them.

Each `scenarios/NAME.yaml` has its messages in `NAME.txt`. After a deliberate change of wording:
`ADJUDGE_UPDATE_SNAPSHOTS=1 pytest tests/snapshot/test_scenario_problems.py`, then read the difference.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from adjudge.errors import ScenarioInvalid
from adjudge.tasks.load import load_scenario

HERE = Path(__file__).parent / "scenarios"
NAMES = sorted(file.stem for file in HERE.glob("*.yaml"))


@pytest.mark.parametrize("name", NAMES)
def test_messages(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(HERE)
    with pytest.raises(ScenarioInvalid) as caught:
        load_scenario(Path(f"{name}.yaml"))
    said = "".join(f"{problem}\n" for problem in caught.value.problems)
    expected = HERE / f"{name}.txt"
    if os.environ.get("ADJUDGE_UPDATE_SNAPSHOTS"):
        expected.write_text(said, encoding="utf-8")
    assert said == expected.read_text(encoding="utf-8")


@pytest.mark.parametrize("name", NAMES)
def test_no_phrase_of_a_library_reaches_the_reader(name: str) -> None:
    said = (HERE / f"{name}.txt").read_text(encoding="utf-8")
    for phrase in (
        "Input should",
        "pydantic",
        "Extra inputs",
        "Field required",
        "https://errors",
        "Value error",
    ):
        assert phrase not in said


def test_every_snapshot_has_its_file() -> None:
    assert sorted(file.stem for file in HERE.glob("*.txt")) == NAMES
