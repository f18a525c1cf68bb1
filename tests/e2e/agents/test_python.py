"""The `python` agent: functions called inside real sandboxes."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.e2e.agents.attempting import Arena, changed

from adjudge.errors import ConfigInvalid, UsageError
from adjudge.records.run import AgentOutcome, AgentStatus
from adjudge.workflows.agents import agent_ref

MODULE = """\
import os, pathlib

def solve(message, model, workspace, history):
    print("noise")
    pathlib.Path("new.txt").write_text(f"{message} {model} {len(history)}")
    return f"did {message!r} in {os.getcwd()} after {history}"

async def later(message):
    return message.upper()

class Agent:
    @staticmethod
    def run(message, **options):
        return ",".join(sorted(options))

def fail(message):
    open("half.txt", "w").write("half")
    raise RuntimeError("no idea")

def wrong(message):
    return 7

def leave(message):
    os.write(1, b"not a reply")
    os._exit(0)
"""


@pytest.fixture(scope="module")
def folder() -> Iterator[str]:
    with tempfile.TemporaryDirectory(prefix="adjudge-module-") as place:
        Path(place).chmod(0o755)
        (Path(place) / "agents_of_mine.py").write_text(MODULE)
        (Path(place) / "agents_of_mine.py").chmod(0o644)
        yield place


@pytest.fixture(
    scope="module", params=[pytest.param("bubblewrap", marks=pytest.mark.bwrap), pytest.param("process")]
)
def arena(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Arena:
    return Arena(tmp_path_factory.mktemp("arena"), "limits: {wall_s: 300}\n", None, request.param)


def call(arena: Arena, folder: str, name: str, **order: Any) -> tuple[AgentOutcome, dict[str, str]]:
    made = arena.attempt("python", {"callable": f"agents_of_mine:{name}", "path": [folder]}, **order)
    assert made.attempt.outcome is not None
    return made.attempt.outcome, changed(made)


def test_a_function_takes_several_turns(arena: Arena, folder: str) -> None:
    def following(exchanges: Any) -> str | None:
        return ["one", "two", None][len(exchanges)]

    outcome, changes = call(arena, folder, "solve", model="m", next_message=following)
    assert (outcome.status, outcome.turns) == (AgentStatus.COMPLETED, 2)
    assert outcome.response.startswith("did 'two' in /")
    assert "did 'one'" in outcome.response
    assert "new.txt" in changes
    assert outcome.stderr is not None
    assert "noise" in outcome.stderr.text


@pytest.mark.parametrize(
    ("name", "status", "response", "reason"),
    [
        ("later", AgentStatus.COMPLETED, "DO IT.", ""),
        ("Agent.run", AgentStatus.COMPLETED, "history,model,workspace", ""),
        ("fail", AgentStatus.CRASHED, "", "it raised an exception"),
        ("wrong", AgentStatus.CRASHED, "", "it raised an exception"),
        ("leave", AgentStatus.GARBLED, "", "it returned nothing that can be read"),
        ("nothing", AgentStatus.CRASHED, "", "it raised an exception"),
    ],
)
def test_how_it_ends(
    arena: Arena, folder: str, name: str, status: AgentStatus, response: str, reason: str
) -> None:
    outcome, changes = call(arena, folder, name)
    assert (outcome.status, outcome.response, outcome.reason) == (status, response, reason)
    assert ("half.txt" in changes) == (name == "fail")


def test_what_cannot_work_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigInvalid, match="module:function"):
        agent_ref("python", {"callable": "os.system('x')"})
    with pytest.raises(UsageError, match="not a folder"):
        agent_ref("python", {"callable": "a:b", "path": [str(tmp_path / "nowhere")]})
