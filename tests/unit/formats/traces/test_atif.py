from __future__ import annotations

import copy
import io
import json
from pathlib import Path
from typing import Any

import atif
import pytest

from adjudge.errors import TraceUnreadable
from adjudge.formats.traces.atif import Atif, write_atif
from adjudge.formats.traces.detect import read_trace
from adjudge.formats.traces.summary import summarise
from adjudge.formats.traces.tools import tool_call
from adjudge.records.trace import (
    Message,
    Stop,
    Thought,
    TokenCounts,
    ToolResult,
    TraceItem,
    TraceUsage,
)

pytestmark = pytest.mark.anyone

SAMPLES = Path(__file__).parent / "samples"
SMALL: dict[str, Any] = {
    "schema_version": "ATIF-v1.8",
    "session_id": "s",
    "agent": {"name": "a", "version": "1"},
    "steps": [
        {"step_id": 1, "source": "user", "message": "go"},
        {
            "step_id": 2,
            "source": "agent",
            "message": "ok",
            "tool_calls": [{"tool_call_id": "c", "function_name": "bash", "arguments": {}}],
            "observation": {"results": [{"source_call_id": "c", "content": "out"}]},
            "metrics": {"prompt_tokens": 10, "completion_tokens": 2, "cached_tokens": 4},
        },
    ],
}


def read(document: object) -> list[TraceItem]:
    return list(Atif().events(io.BytesIO(json.dumps(document).encode())))


def changed(path: str, value: Any = ..., version: str | None = None) -> dict[str, Any]:
    """The small trajectory with the value at a dotted path replaced, or removed."""
    document = copy.deepcopy(SMALL)
    if version is not None:
        document["schema_version"] = version
    at: Any = document
    *way, last = [int(part) if part.isdigit() else part for part in path.split(".")]
    for part in way:
        at = at[part]
    if value is ...:
        del at[last]
    else:
        at[last] = value
    return document


@pytest.mark.parametrize("minor", range(9))
def test_every_version_is_read(minor: int) -> None:
    items = read(changed("schema_version", f"ATIF-v1.{minor}"))
    assert [item.type for item in items] == ["message", "message", "tool_call", "tool_result", "usage"]
    usage = items[-1]
    assert usage.type == "usage"
    assert usage.tokens == TokenCounts(input=6, output=2, cache_read=4)


@pytest.mark.parametrize(
    ("document", "problem"),
    [
        (
            changed("schema_version", "ATIF-v2.0"),
            "schema_version: 'ATIF-v2.0', expected ATIF-v1.0 to ATIF-v1.8",
        ),
        (changed("agent"), "agent: missing"),
        (changed("agent.version"), "agent.version: missing"),
        (changed("steps", []), "steps: missing, or empty"),
        (changed("steps", "x"), "steps: not a list"),
        (changed("surprise", 1), "surprise: no such field"),
        (changed("steps.0.surprise", 1), "steps[0].surprise: unknown key"),
        (changed("steps.1.step_id", 3), "steps[1].step_id: 3, expected 2"),
        (changed("steps.1.source", "robot"), "steps[1].source: 'robot' is not one of system, user, agent"),
        (changed("steps.1.message"), "steps[1].message: missing"),
        (changed("steps.0.metrics", {}), "steps[0]: metrics on a step of the user"),
        (changed("steps.1.timestamp", "yesterday"), "steps[1].timestamp: not an ISO 8601 time"),
        (changed("steps.1.observation.results.0.source_call_id", "d"), "'d' is no tool call of the step"),
        (
            changed("steps.1.tool_calls.0.arguments", "x"),
            "steps[1].tool_calls[0].arguments: a mapping expected, found",
        ),
        (changed("steps.1.llm_call_count", 0), "on a step without a call of a model"),
        (changed("steps.1.metrics.prompt_tokens", -1), "steps[1].metrics.prompt_tokens: -1 is below 0"),
        (changed("steps.1.metrics.cost_usd", "free"), "steps[1].metrics.cost_usd"),
        (changed("session_id", ..., "ATIF-v1.6"), "session_id: missing"),
        (changed("extra", {}, "ATIF-v1.0"), "extra: needs ATIF-v1.1"),
        (changed("trajectory_id", "t", "ATIF-v1.6"), "trajectory_id: needs ATIF-v1.7"),
        (
            changed("steps.1.llm_call_count", 1, "ATIF-v1.6"),
            "llm_call_count needs ATIF-v1.7, this is ATIF-v1.6",
        ),
        (changed("steps.1.is_copied_context", True, "ATIF-v1.4"), "is_copied_context needs ATIF-v1.5"),
        (
            changed("steps.0.message", [{"type": "text", "text": "x"}], "ATIF-v1.5"),
            "content in parts needs ATIF-v1.6",
        ),
        (
            changed(
                "steps.0.message",
                [{"type": "audio", "source": {"media_type": "audio/wav", "path": "x"}}],
                "ATIF-v1.7",
            ),
            "audio needs ATIF-v1.8",
        ),
        (changed("steps.0.message", [{"type": "text"}]), "a text part has `text`"),
        (changed("final_metrics", {"total_steps": -1}), "final_metrics.total_steps"),
        (changed("subagent_trajectories", [{**SMALL}]), "subagent_trajectories[0].trajectory_id: missing"),
        (
            changed("subagent_trajectories", [{**SMALL, "trajectory_id": "t"}] * 2),
            "subagent_trajectories[1].trajectory_id: not unique",
        ),
        ([SMALL], "not an object"),
        ("text", "not an object"),
    ],
)
def test_what_breaks_the_format_is_refused_with_its_place(document: object, problem: str) -> None:
    with pytest.raises(TraceUnreadable) as caught:
        read(document)
    assert problem in caught.value.message


def test_the_version_may_come_last() -> None:
    document = {key: SMALL[key] for key in ("steps", "agent", "session_id")} | {"schema_version": "ATIF-v1.2"}
    assert len(read(document)) == 5


def test_copied_context_counts_for_nothing() -> None:
    summary = summarise(read(changed("steps.1.is_copied_context", True)), "atif")
    assert (summary.tool_calls, summary.tokens.total, summary.by_type["message"]) == (0, None, 2)


def written(items: list[TraceItem]) -> dict[str, Any]:
    stream = io.BytesIO()
    write_atif(items, stream, format="text", agent_name="a", agent_version="1")
    document: dict[str, Any] = json.loads(stream.getvalue())
    atif.Trajectory.model_validate(document)
    read(document)
    return document


def test_steps_are_what_a_model_said_and_called_and_what_came_back() -> None:
    document = written(
        [
            Message(role="user", text="go", time_s=0),
            Thought(text="hm"),
            Message(role="assistant", text="one", model="m"),
            tool_call("Bash", {"command": "ls"}, id="c1"),
            tool_call("Read", "not json", id="c2"),
            TraceUsage(tokens=TokenCounts(input=1, cache_read=2, cache_write=3, output=4), cost_usd=0.5),
            ToolResult(call_id="c1", text="out", is_error=True),
            ToolResult(call_id="elsewhere", text="stray"),
            Message(role="assistant", text="two"),
            Message(role="assistant", text="aside", agent="sub"),
            Stop(reason="end_turn"),
        ]
    )
    assert document["schema_version"] == "ATIF-v1.7"
    assert [(step["source"], step["message"]) for step in document["steps"]] == [
        ("user", "go"),
        ("agent", "one"),
        ("agent", "two"),
        ("agent", "aside"),
    ]
    step = document["steps"][1]
    assert [call["arguments"] for call in step["tool_calls"]] == [{"command": "ls"}, {"input": "not json"}]
    assert [result.get("source_call_id") for result in step["observation"]["results"]] == ["c1", None]
    assert step["metrics"] == {
        "prompt_tokens": 6,
        "completion_tokens": 4,
        "cached_tokens": 2,
        "cost_usd": 0.5,
        "extra": {"cache_write_tokens": 3},
    }
    assert document["final_metrics"]["total_steps"] == 4
    assert document["extra"]["adjudge"]["stop_reason"] == "end_turn"
    assert document["steps"][3]["extra"] == {"subagent": "sub"}


def test_nothing_is_a_step_too() -> None:
    assert len(written([])["steps"]) == 1


@pytest.mark.parametrize("sample", sorted(SAMPLES.iterdir()), ids=lambda path: path.name)
def test_others_accept_what_is_written(sample: Path) -> None:
    opened = read_trace(io.BytesIO(sample.read_bytes()))
    stream = io.BytesIO()
    write_atif(opened.items, stream, format=opened.format)
    atif.Trajectory.model_validate_json(stream.getvalue())
