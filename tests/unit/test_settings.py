from __future__ import annotations

import os
from pathlib import Path

import pytest

from adjudge.errors import ConfigInvalid
from adjudge.settings import load_settings


def test_the_state_is_where_the_environment_says(tmp_path: Path) -> None:
    assert load_settings({"ADJUDGE_HOME": "/x/y"}, tmp_path).state_dir == Path("/x/y")
    assert load_settings({"XDG_STATE_HOME": "/s", "HOME": "/h"}, tmp_path).state_dir == Path("/s/adjudge")
    assert load_settings({"XDG_STATE_HOME": "rel", "HOME": "/h"}, tmp_path).state_dir == (
        Path("/h/.local/state/adjudge")
    )


def test_a_relative_home_is_meant_from_here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert load_settings({"ADJUDGE_HOME": "state"}).state_dir == tmp_path / "state"


def test_without_any_home_there_is_a_hint(tmp_path: Path) -> None:
    with pytest.raises(ConfigInvalid) as caught:
        load_settings({}, tmp_path)
    assert caught.value.hint == "set ADJUDGE_HOME"


def test_defaults(tmp_path: Path) -> None:
    settings = load_settings({"HOME": "/h"}, tmp_path)
    assert settings.sandbox == "auto"
    assert settings.jobs == len(os.sched_getaffinity(0))


def test_the_environment_comes_before_the_project_file(tmp_path: Path) -> None:
    (tmp_path / "adjudge.toml").write_text('sandbox = "bubblewrap"\njobs = 3\n')
    settings = load_settings({"HOME": "/h"}, tmp_path)
    assert (settings.sandbox, settings.jobs) == ("bubblewrap", 3)
    settings = load_settings({"HOME": "/h", "ADJUDGE_SANDBOX": "process", "ADJUDGE_JOBS": "5"}, tmp_path)
    assert (settings.sandbox, settings.jobs) == ("process", 5)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('sandbox = "process"', "cannot switch isolation off"),
        ('state_dir = "here"', "unknown key 'state_dir'"),
        ("jobs = 0", "jobs: 0 is not a whole number from 1 to 1024"),
        ("jobs = true", "jobs: True is not"),
        ("jobs = ", "not valid TOML"),
        ("sandbox = 3", "the name of a sandbox expected"),
        ("# " + "x" * 70_000, "larger than 64 KiB"),
    ],
)
def test_a_bad_project_file_is_refused(tmp_path: Path, text: str, said: str) -> None:
    (tmp_path / "adjudge.toml").write_text(text)
    with pytest.raises(ConfigInvalid, match=said):
        load_settings({"HOME": "/h"}, tmp_path)


@pytest.mark.parametrize("jobs", ["0", "-1", "many", "1.5", "9999999999999"])
def test_bad_jobs_in_the_environment_are_refused(tmp_path: Path, jobs: str) -> None:
    with pytest.raises(ConfigInvalid, match="ADJUDGE_JOBS"):
        load_settings({"HOME": "/h", "ADJUDGE_JOBS": jobs}, tmp_path)


def test_the_command_line_comes_before_the_scenario_and_that_before_the_settings(tmp_path: Path) -> None:
    settings = load_settings({"HOME": "/h", "ADJUDGE_SANDBOX": "ours"}, tmp_path)
    assert settings.sandbox_for("asked", "named") == "asked"
    assert settings.sandbox_for(None, "named") == "named"
    assert settings.sandbox_for(None, "auto") == "ours"
