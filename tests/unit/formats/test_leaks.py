"""Leaks are seen in traces of every format that shows tools, and in any text."""

from __future__ import annotations

import io
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adjudge.formats.leaks.project import Project
from adjudge.formats.leaks.watch import LeakWatch
from adjudge.formats.traces.recorded import RecordedTrace
from adjudge.formats.traces.tools import tool_call
from adjudge.records.trace import ToolResult

pytestmark = pytest.mark.anyone

SAMPLES = Path(__file__).parent / "traces" / "samples"
PROJECT = Project(names=frozenset({"calc"}), repositories=frozenset({"acme/calc"}))


def leaks(data: bytes, name: str) -> list[str]:
    watch = LeakWatch(PROJECT)
    for item in RecordedTrace(lambda: io.BytesIO(data), filename=name).events():
        watch.see(item)
    return [leak.rule for leak in watch.leaks]


@pytest.mark.parametrize(
    ("name", "old", "new", "rule"),
    [
        ("anthropic.json", '"command": "ls"', '"command": "cat /tests/a"', "grader-path-probed"),
        ("atif.json", '"command": "ls"', '"command": "git reflog"', "foreign-history-read"),
        ("claude-code-stream.jsonl", "curl x", "pip download calc", "answer-from-package"),
        ("claude-code-stream.jsonl", "/workspace/a.py", "/verifier/a.py", "grader-path-probed"),
        ("codex-exec.jsonl", "rg TODO", "git log --all", "foreign-history-read"),
        ("codex-rollout.jsonl", r"[\"ls\"]", r"[\"ls\",\"/solution\"]", "grader-path-probed"),
        ("gemini-stream.jsonl", '"command":"ls"', '"command":"git fetch"', "history-fetched"),
        ("inspect.json", '"cmd": "ls"', '"cmd": "cat /tests/a.py"', "grader-path-probed"),
        ("opencode.jsonl", "echo hello", "npm pack calc", "answer-from-package"),
        (
            "otel.json",
            '\\"url\\":\\"x\\"',
            '\\"url\\":\\"https://github.com/acme/calc/pull/3\\"',
            "answer-from-web",
        ),
    ],
)
def test_every_format_that_shows_tools(name: str, old: str, new: str, rule: str) -> None:
    data = (SAMPLES / name).read_text()
    assert old in data
    assert rule in leaks(data.replace(old, new).encode(), name)


@pytest.mark.parametrize("sample", sorted(path.name for path in SAMPLES.iterdir()))
def test_the_samples_themselves_leak_nothing(sample: str) -> None:
    assert leaks((SAMPLES / sample).read_bytes(), sample) == []


@given(
    st.sampled_from(["bash", "read", "fetch", "python", "write", "other"]),
    st.text(max_size=300),
    st.text(max_size=200),
)
def test_any_call_is_looked_at(name: str, given_text: str, result: str) -> None:
    watch = LeakWatch(PROJECT, {"a line that is long enough to tell": "x"})
    watch.see(tool_call(name, given_text, id="a"))
    watch.see(tool_call(name, {"command": given_text, "path": result, "url": given_text}, id=""))
    watch.see(ToolResult(call_id="a", text=result))
    watch.see(ToolResult(call_id="", text=given_text))
    assert len(watch.leaks) <= 200


def test_commands_are_taken_apart_up_to_a_point() -> None:
    watch = LeakWatch(PROJECT, room=20)
    for _ in range(3):
        watch.see(tool_call("bash", {"command": "git reflog"}))
    assert len(watch.leaks) == 2
    assert watch.exhausted
