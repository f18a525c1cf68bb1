"""`adjudge agents`."""

from __future__ import annotations

import json

import pytest

from adjudge import catalog
from adjudge.cli.main import main

pytestmark = pytest.mark.anyone


def test_every_agent_with_what_it_needs(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["agents", "--json"]) == 0
    listed = {agent["name"]: agent for agent in json.loads(capsys.readouterr().out)["agents"]}
    assert list(listed) == list(catalog.names("agents"))
    assert all(agent["summary"] for agent in listed.values())
    assert listed["codex"]["needs"] == ["the program codex", "OPENAI_API_KEY", "the network"]
    assert listed["command"]["needs"] == ["argv, in an experiment file"]
    assert listed["oracle"]["needs"] == ["a solution in the scenario"]
    assert listed["noop"]["needs"] == []


def test_one_agent_in_full(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["agents", "http"]) == 0
    said = capsys.readouterr().out
    assert "url: text; needed" in said


def test_an_agent_that_is_not_there(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["agents", "codx"]) == 2
    assert "did you mean codex?" in capsys.readouterr().err
