"""Known coding agents, each as a stand-in that takes its flags and prints its format, in real sandboxes."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.e2e.agents.attempting import Arena, changed
from tests.e2e.agents.standins import PROGRAMS, install

from adjudge.formats.traces.detect import read_trace
from adjudge.records.run import AgentOutcome, AgentStatus
from adjudge.records.trace import Message
from adjudge.workflows.attempt import Attempted

pytestmark = pytest.mark.bwrap

KEYS = {"ANTHROPIC_API_KEY": "k-a", "OPENAI_API_KEY": "k-o", "GEMINI_API_KEY": "k-g", "OTHER_API_KEY": "k-x"}
TOKENS = {"claude-code": (10, 7, 5, 2), "codex": (20, 12, 4, None), "gemini": (20, 16, 5, None),
          "aider": (2500, 120, None, None), "opencode": (20, 10, 4, 3)}  # fmt: skip
COST = {"claude-code": 0.02, "codex": None, "gemini": None, "aider": 0.01, "opencode": 0.03}


@pytest.fixture(scope="module")
def programs() -> Iterator[dict[str, str]]:
    with tempfile.TemporaryDirectory(prefix="adjudge-standins-") as folder:
        Path(folder).chmod(0o755)
        yield install(Path(folder) / "bin")


@pytest.fixture(scope="module")
def arena(tmp_path_factory: pytest.TempPathFactory) -> Arena:
    return Arena(tmp_path_factory.mktemp("arena"), "limits: {wall_s: 300, tool_calls: 20}\n")


def attempt(arena: Arena, programs: dict[str, str], agent: str, talk: str = "", **order: Any) -> Attempted:
    program = programs[agent]
    config = {"program": program, "expose": [str(Path(program).parent)], "network": False}
    if talk:
        config["env"] = {"TALK": talk}
    return arena.attempt(agent, config, environment=KEYS, **order)


def outcome_of(made: Attempted) -> AgentOutcome:
    assert made.attempt.outcome is not None
    return made.attempt.outcome


def told(made: Attempted) -> list[dict[str, Any]]:
    assert made.subject is not None
    data = made.subject.contents.read("told.txt", max_bytes=1 << 20) or b""
    return [json.loads(line) for line in data.splitlines()]


@pytest.mark.parametrize("agent", PROGRAMS)
def test_a_session_of_two_turns(arena: Arena, programs: dict[str, str], agent: str) -> None:
    seen: list[list[dict[str, Any]]] = []
    replies: list[str] = []

    async def inside(made: Attempted) -> None:
        seen.append(told(made))

    def following(exchanges: Any) -> str | None:
        replies[:] = [reply for _, reply in exchanges]
        return ["Do it.", "Now the rest.", None][len(exchanges)]

    made = attempt(arena, programs, agent, inside=inside, next_message=following, model="some-model")
    outcome = outcome_of(made)
    assert (outcome.status, outcome.reason, outcome.turns) == (AgentStatus.COMPLETED, "", 2)
    assert "told.txt" in changed(made)
    (turns,) = seen
    assert [turn["turn"] for turn in turns] == ["first", "again"]
    assert [turn["message"].strip() for turn in turns] == ["Do it.", "Now the rest."]
    assert all("some-model" in turn["argv"] for turn in turns)
    assert set(turns[0]["env"].values()) == {KEYS[name] for name in turns[0]["env"] if name in KEYS}
    assert "k-x" not in turns[0]["env"].values()
    assert [reply for reply in replies if "Done: " in reply] == replies
    assert outcome.response.endswith("Now the rest.") or agent == "aider"
    assert outcome.trace is not None
    with arena.blobs.open(outcome.trace) as stream:
        items = list(read_trace(stream).items)
    assert [item.text.strip() for item in items if isinstance(item, Message) and item.role == "user"] == [
        "Do it.",
        "Now the rest.",
    ]
    assert outcome.usage.tool_calls == 2
    assert outcome.raw_trace == outcome.stdout


@pytest.mark.parametrize("agent", PROGRAMS)
def test_what_it_used(arena: Arena, programs: dict[str, str], agent: str) -> None:
    usage = outcome_of(attempt(arena, programs, agent)).usage
    counted = (usage.input_tokens, usage.output_tokens, usage.cache_read_tokens, usage.cache_write_tokens)
    assert counted == TOKENS[agent]
    assert usage.cost_usd == COST[agent]
    assert usage.tool_calls == 1


@pytest.mark.parametrize("agent", PROGRAMS)
def test_one_that_says_it_failed(arena: Arena, programs: dict[str, str], agent: str) -> None:
    outcome = outcome_of(attempt(arena, programs, agent, "error"))
    assert outcome.status is AgentStatus.CRASHED
    assert outcome.reason


@pytest.mark.parametrize("agent", ["claude-code", "codex"])
def test_one_that_crashes(arena: Arena, programs: dict[str, str], agent: str) -> None:
    made = attempt(arena, programs, agent, "crash")
    assert (outcome_of(made).status, outcome_of(made).reason) == (AgentStatus.CRASHED, "exit 9")
    assert changed(made) == {"half.txt": "added"}


def test_one_that_prints_garbage(arena: Arena, programs: dict[str, str]) -> None:
    outcome = outcome_of(attempt(arena, programs, "claude-code", "garbage"))
    assert outcome.status is AgentStatus.GARBLED
    assert "claude-code" in outcome.reason
    assert outcome.usage.total_tokens is None


def test_one_that_calls_too_many_tools(arena: Arena, programs: dict[str, str]) -> None:
    outcome = outcome_of(attempt(arena, programs, "claude-code", "calls"))
    assert outcome.status is AgentStatus.OVER_LIMIT
    assert "limit 20" in outcome.reason
    # It was stopped on the way, not after it was done.
    assert outcome.usage.cost_usd is None
