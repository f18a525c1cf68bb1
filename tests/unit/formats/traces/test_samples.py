"""Traces as the agents write them, shortened by hand: what is read of each, and what it adds up to."""

from __future__ import annotations

import io
import json
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from adjudge.formats.traces.detect import read_trace
from adjudge.formats.traces.summary import summarise
from adjudge.records.trace import TokenCounts, TraceItem, TraceSummary

pytestmark = pytest.mark.anyone

SAMPLES = Path(__file__).parent / "samples"


def items_of(name: str) -> tuple[str, list[TraceItem]]:
    opened = read_trace(io.BytesIO((SAMPLES / name).read_bytes()), filename=name)
    return opened.format, list(opened.items)


def summary_of(name: str) -> TraceSummary:
    format, items = items_of(name)
    return summarise(items, format)


FIGURES: dict[str, tuple[str, dict[str, int], dict[str, Any]]] = {
    "claude-code-stream.jsonl": (
        "claude-code",
        {"input": 37, "output": 98, "cache_read": 6200, "cache_write": 2100, "total": 8435},
        {"cost_usd": 0.0421, "tool_calls": 4, "denied": 1, "broken": 1, "turns": 1, "stop_reason": "success"},
    ),
    "claude-code-session.jsonl": (
        "claude-code",
        {"input": 11, "output": 36, "cache_read": 70, "cache_write": 50, "total": 167},
        {"cost_usd": None, "tool_calls": 1, "denied": 0, "stop_reason": "end_turn", "duration_s": 10.5},
    ),
    "codex-exec.jsonl": (
        "codex",
        {"input": 2000, "output": 200, "cache_read": 48000, "total": 50200},
        {"cost_usd": None, "tool_calls": 5, "denied": 1, "turns": 2, "response": "And again."},
    ),
    "codex-rollout.jsonl": (
        "codex",
        {"input": 1100, "output": 90, "cache_read": 1400, "reasoning": 25, "total": 2590},
        {"cost_usd": None, "tool_calls": 2, "models": ("gpt-5-codex",), "response": "Fixed."},
    ),
    "gemini-stream.jsonl": (
        "gemini",
        {"input": 400, "output": 200, "cache_read": 600, "total": 1300},
        {"cost_usd": None, "tool_calls": 1, "response": "There is a.py.", "duration_s": 4.0},
    ),
    "gemini.json": (
        "gemini",
        {"input": 400, "output": 300, "cache_read": 600, "reasoning": 100, "total": 1300},
        {"cost_usd": None, "tool_calls": 2, "denied": 1, "response": "There is a.py."},
    ),
    "opencode.jsonl": (
        "opencode",
        {
            "input": 771,
            "output": 15,
            "cache_read": 43415,
            "cache_write": 12,
            "reasoning": 3,
            "total": 44213,
        },
        {"cost_usd": 0.003, "tool_calls": 2, "denied": 1, "tool_errors": 1, "stop_reason": "stop"},
    ),
    "aider.md": (
        "aider",
        {"input": 1900, "output": 226, "cache_read": 200, "cache_write": 1100, "total": 3426},
        {"cost_usd": 0.01, "tool_calls": 1, "turns": 2, "response": "You are welcome.", "duration_s": None},
    ),
    "atif.json": (
        "atif",
        {"input": 550, "output": 35, "cache_read": 600, "total": 1185},
        {"cost_usd": 0.016, "tool_calls": 1, "subagents": ("sub-1",), "response": "Done"},
    ),
    "openai.json": ("openai", {}, {"cost_usd": None, "tool_calls": 1, "response": "Sunny."}),
    "openai-completions.jsonl": (
        "openai",
        {"input": 40, "output": 20, "cache_read": 60, "reasoning": 12, "total": 120},
        {"cost_usd": None, "stop_reason": "stop", "models": ("gpt-5",)},
    ),
    "anthropic.json": (
        "anthropic",
        {"input": 12, "output": 7, "cache_read": 300, "cache_write": 40, "total": 359},
        {"tool_calls": 1, "stop_reason": "end_turn", "response": "a.py"},
    ),
    "otel.json": (
        "otel",
        {"input": 1900, "output": 60, "cache_read": 300, "total": 2260},
        {"tool_calls": 1, "response": "Sunny.", "duration_s": 4.5},
    ),
    "inspect.json": (
        "inspect",
        {"input": 100, "output": 30, "cache_read": 500, "reasoning": 12, "total": 630},
        {"tool_calls": 1, "denied": 1, "stop_reason": "stop", "duration_s": 9.0},
    ),
}


def test_every_sample_is_here() -> None:
    assert set(FIGURES) == {path.name for path in SAMPLES.iterdir()}


@pytest.mark.parametrize("name", FIGURES)
def test_figures(name: str) -> None:
    format, tokens, figures = FIGURES[name]
    summary = summary_of(name)
    assert summary.format == format
    assert summary.tokens == TokenCounts(**tokens)
    assert {field: getattr(summary, field) for field in figures} == figures
    assert summary.broken == figures.get("broken", 0), summary.broken_samples


def test_kinds_of_tools() -> None:
    kinds = {
        name: dict(summary_of(name).tool_kinds) for name in ("claude-code-stream.jsonl", "codex-exec.jsonl")
    }
    assert kinds == {
        "claude-code-stream.jsonl": {"read": 1, "search": 1, "execute": 1, "other": 1},
        "codex-exec.jsonl": {"edit": 1, "search": 1, "execute": 2, "think": 1},
    }


def test_what_a_subagent_did_is_its_own() -> None:
    _, items = items_of("claude-code-stream.jsonl")
    assert {item.agent for item in items if item.type == "tool_call" and item.raw_name == "Grep"} == {
        "toolu_2"
    }


def test_a_format_that_is_named_is_used() -> None:
    data = (SAMPLES / "claude-code-stream.jsonl").read_bytes()
    opened = read_trace(io.BytesIO(data), format="text")
    assert [item.type for item in opened.items] == ["message"]


def test_opencode_without_counts_knows_nothing() -> None:
    line = (
        b'{"type":"step_finish","timestamp":1,"sessionID":"s","part":{"reason":"stop","cost":0,'
        b'"tokens":{"input":%d,"output":0,"reasoning":0,"cache":{"read":0,"write":0}}}}\n'
    )
    nothing = summarise(read_trace(io.BytesIO(line % 0)).items, "opencode")
    assert (nothing.tokens.total, nothing.cost_usd) == (None, None)
    unpriced = summarise(read_trace(io.BytesIO(line % 7)).items, "opencode")
    assert (unpriced.tokens.total, unpriced.cost_usd) == (7, None)


def archive(method: str, entries: dict[str, bytes]) -> io.BytesIO:
    zipfile = import_module("zipfile" if sys.version_info >= (3, 14) else "backports.zstd.zipfile")
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", compression=getattr(zipfile, method)) as made:
        for name, data in entries.items():
            made.writestr(name, data)
    stream.seek(0)
    return stream


SAMPLE = b"""{"id":"one","epoch":1,"input":"Do","target":"x","messages":[%s],
"output":{"choices":[{"stop_reason":"stop"}]},"model_usage":{"m":{"input_tokens":5,"total_tokens":5}}}"""
ASKED = b'{"role":"user","content":"Do"}'
CALLED = b'{"role":"assistant","content":"","tool_calls":[{"id":"c","function":"bash","arguments":{}}]}'


@pytest.mark.parametrize("method", ["ZIP_ZSTANDARD", "ZIP_DEFLATED"])
def test_samples_of_an_eval_file(method: str) -> None:
    sample = SAMPLE % b",".join([ASKED, CALLED])
    stream = archive(
        method,
        {
            "_journal/start.json": b"{}",
            "samples/one_epoch_1.json": sample,
            "samples/one_epoch_2.json": sample,
            "header.json": b"{}",
        },
    )
    opened = read_trace(stream, filename="x.eval")
    summary = summarise(opened.items, opened.format)
    assert summary.format == "inspect"
    assert (summary.tool_calls, summary.tokens.total, summary.turns) == (2, 10, 2)


def test_a_sample_split_over_entries() -> None:
    stream = archive(
        "ZIP_ZSTANDARD",
        {
            "samples/one_epoch_1/sample.json": SAMPLE % b"",
            "samples/one_epoch_1/messages/0.json": b"[" + ASKED + b"]",
            "samples/one_epoch_1/messages/1.json": b"[" + CALLED + b"]",
        },
    )
    items = list(read_trace(stream, filename="x.eval").items)
    assert [item.type for item in items] == ["message", "tool_call", "usage", "stop"]


def turn(id: str, tokens: int, stated: int, cost: float) -> str:
    usage = {"input_tokens": tokens, "output_tokens": 0}
    message = {"id": id, "role": "assistant", "content": "ok", "usage": usage}
    result = {
        "type": "result",
        "subtype": "success",
        "total_cost_usd": cost,
        "usage": usage,
        "modelUsage": {"m": {"inputTokens": stated, "outputTokens": 0}},
    }
    said = {"type": "assistant", "parent_tool_use_id": None, "message": message}
    return f"{json.dumps(said)}\n{json.dumps(result)}\n"


@pytest.mark.parametrize("stated", [[100, 300, 360], [100, 200, 60]], ids=["one process", "resumed"])
def test_results_of_several_turns_state_all_so_far_or_their_own(stated: list[int]) -> None:
    """Turns of 100, 200 and 50 tokens; the last also used a helper model for 10 that no message shows."""
    lines = [
        turn(f"m{number}", tokens, total, total / 1000)
        for number, (tokens, total) in enumerate(zip([100, 200, 50], stated, strict=True))
    ]
    opened = read_trace(io.BytesIO("".join(lines).encode()))
    summary = summarise(opened.items, opened.format)
    assert (summary.tokens.total, summary.cost_usd) == (360, 0.36)


def test_what_is_printed_before_an_object_does_not_hide_it() -> None:
    greeting = b"Loaded cached credentials.\nYOLO mode is enabled.\n"
    opened = read_trace(io.BytesIO(greeting + (SAMPLES / "gemini.json").read_bytes()))
    summary = summarise(opened.items, opened.format)
    assert (summary.format, summary.tool_calls, summary.tokens.total, summary.broken) == (
        "gemini",
        2,
        1300,
        2,
    )
