"""Reads the corpus of traces: what an agent did, written as files of real agents, and what is said of it."""

from __future__ import annotations

import asyncio
import io
import json
import re
import shlex
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from adjudge.evidence.confinement import ConfinementCollector
from adjudge.evidence.leaks import LeakScanCollector
from adjudge.formats.traces.detect import read_trace
from adjudge.formats.traces.summary import summarise
from adjudge.records.base import digest_bytes
from adjudge.records.evidence import ConfinementRead, LeakScan
from adjudge.records.score import Verdict
from adjudge.records.trace import TraceItem, TraceSummary
from adjudge.records.tree import FILE, TreeEntry
from adjudge.scorers.integrity.no_leaks import NoLeaks
from adjudge.scorers.integrity.workspace_confined import WorkspaceConfined
from adjudge.testing.attempts import Attempt

TRACES = Path(__file__).parent / "traces"
_CALL = re.compile(r"> (?:(?:bash|read|write|edit|fetch|search|grep|glob|user|task): |tool \w)")
_SHELLS = {"claude": "Bash", "codex": "shell", "openhands": "execute_bash", "atif": "bash_command"}


@dataclass
class Told:
    """One trace: what was called and what came back."""

    source: str
    name: str
    label: str
    family: str
    style: str
    calls: list[tuple[str, list[str], list[str]]] = field(default_factory=list)
    """What is called, in the corpus' own words; more lines of it; its result."""

    @property
    def id(self) -> str:
        """For people."""
        return f"{self.source}: {self.name}"

    @property
    def task(self) -> str:
        """What the task says, where the trace has a line for that."""
        return "\n".join(
            "\n".join([call.removeprefix("task: "), *more])
            for call, more, _ in self.calls
            if call.startswith("task: ")
        )

    @property
    def project(self) -> str:
        """Whose workspace it is."""
        return self.source.rpartition("/")[2]


def read_traces(split: str) -> Iterator[Told]:
    """The traces of a part of the corpus."""
    for file in sorted((TRACES / split).glob("*.txt")):
        yield from _parse(file)


def findings_of(told: Told) -> list[str]:
    """What the detectors that read traces find, as `rule message`."""
    return findings_of_trace(write_trace(told), told.project, told.task)


def findings_of_trace(data: bytes, project: str, instruction: str = "") -> list[str]:
    """What they find in a trace of any format, made in the workspace of a project."""
    facts = _facts(project)
    attempt = Attempt(before=facts.tree, after={**facts.tree, "notes.txt": "done\n"})
    subject = attempt.subject()
    entries = tuple(
        TreeEntry(path=path, mode=FILE, digest=digest_bytes(text.encode()))
        for path, text in facts.hidden.items()
    )
    scenario = subject.task.scenario
    if instruction:
        scenario = scenario.model_copy(update={"instruction": instruction})
    task = subject.task.model_copy(update={"files": entries, "scenario": scenario})
    found: list[str] = []
    with tempfile.TemporaryDirectory() as folder:
        for path, text in facts.hidden.items():
            (Path(folder) / path).parent.mkdir(exist_ok=True)
            (Path(folder) / path).write_text(text, encoding="utf-8")
        source = _Source(tuple(read_trace(io.BytesIO(data)).items))
        subject = subject._replace(task=task, scenario_files=Path(folder), trace=source)
        leaks = asyncio.run(LeakScanCollector().collect(LeakScan(), subject))
        confinement = asyncio.run(ConfinementCollector().collect(ConfinementRead(), subject))
    for outcome in (
        attempt.score(NoLeaks, answers={LeakScan(): leaks}),
        attempt.score(WorkspaceConfined, answers={ConfinementRead(): confinement}),
    ):
        if outcome.verdict is Verdict.FAIL:
            found += [f"{finding.rule} {finding.message}" for finding in outcome.findings]
    return found


@dataclass(frozen=True)
class _Facts:
    tree: Mapping[str, str]
    hidden: Mapping[str, str]


@cache
def _facts(project: str) -> _Facts:
    texts: dict[str, str] = {}
    wanted, path = False, ""
    for line in (TRACES / "projects.txt").read_text(encoding="utf-8").splitlines(keepends=True):
        if line.startswith("=== "):
            wanted = line[4:].strip() == project
        elif line.startswith("--- ") and wanted:
            path = line[4:].strip()
            texts[path] = ""
        elif wanted:
            texts[path] += line
    hidden = {path: text for path, text in texts.items() if path.startswith("hidden/")}
    return _Facts(tree={path: text for path, text in texts.items() if path not in hidden}, hidden=hidden)


class _Source:
    def __init__(self, items: Sequence[TraceItem]) -> None:
        self._items = items

    def events(self) -> Iterator[TraceItem]:
        return iter(self._items)

    def summary(self) -> TraceSummary:
        return summarise(self._items, format="corpus")


def write_trace(told: Told) -> bytes:
    """The trace as a file of the agent that its style names."""
    steps: list[_Step] = []
    for number, (call, more, result) in enumerate(told.calls):
        text = "\n".join(result)
        verb, _, rest = call.partition(" ")
        if verb == "task:":
            continue
        if verb == "user:":
            steps.append((f"c{number}", "", {}, rest))
            continue
        name, given = _tool(told.style, verb.rstrip(":"), "\n".join([rest, *more]))
        steps.append((f"c{number}", name, given, text))
    writer = {"claude": _claude, "codex": _codex, "openhands": _chat, "atif": _atif}[told.style]
    return writer(steps)


_Step = tuple[str, str, dict[str, Any], str]


def _tool(style: str, verb: str, rest: str) -> tuple[str, dict[str, Any]]:
    """A call in the words of an agent."""
    first, _, content = rest.partition("\n")
    if verb == "tool":
        name, _, given = first.partition(" ")
        return name, json.loads(given)
    if verb == "bash" or style == "codex":
        command = rest if verb == "bash" else f"cat {shlex.quote(first)}"
        if style == "codex":
            return "shell", {"command": ["bash", "-lc", command]}
        return _SHELLS[style], {"keystrokes": f"{command}\n"} if style == "atif" else {"command": command}
    if verb == "read":
        return "Read", {"file_path": first}
    if verb == "write":
        return "Write", {"file_path": first, "content": content}
    if verb == "edit":
        return "Edit", {"file_path": first, "old_string": "", "new_string": content}
    if verb == "fetch":
        return "WebFetch", {"url": first, "prompt": "What does it say?"}
    if verb == "search":
        return "WebSearch", {"query": first}
    words = first.split(" ")
    where = {"path": words[1]} if len(words) > 1 else {}
    return {"grep": "Grep", "glob": "Glob"}[verb], {"pattern": words[0], **where}


def _claude(steps: Sequence[_Step]) -> bytes:
    lines: list[dict[str, Any]] = [
        {"type": "system", "subtype": "init", "session_id": "s", "tools": ["Bash"], "model": "m"}
    ]
    for id_, name, given, text in steps:
        if not name:
            lines.append({"type": "user", "message": {"role": "user", "content": text}, "session_id": "s"})
            continue
        use = {"type": "tool_use", "id": id_, "name": name, "input": given}
        said = {"id": f"m{id_}", "role": "assistant", "model": "m", "content": [use]}
        lines.append({"type": "assistant", "message": said, "session_id": "s"})
        back = {"type": "tool_result", "tool_use_id": id_, "content": text}
        lines.append({"type": "user", "message": {"role": "user", "content": [back]}, "session_id": "s"})
    return _lines(lines)


def _codex(steps: Sequence[_Step]) -> bytes:
    stamp = "2026-02-03T10:00:00.000Z"
    lines: list[dict[str, Any]] = [
        {"timestamp": stamp, "type": "session_meta", "payload": {"id": "s", "originator": "codex_exec"}}
    ]
    for id_, name, given, text in steps:
        call = {"type": "function_call", "name": name, "arguments": json.dumps(given), "call_id": id_}
        back = {
            "type": "function_call_output",
            "call_id": id_,
            "output": json.dumps({"output": text, "metadata": {"exit_code": 0}}),
        }
        lines += [{"timestamp": stamp, "type": "response_item", "payload": one} for one in (call, back)]
    return _lines(lines)


def _chat(steps: Sequence[_Step]) -> bytes:
    messages: list[dict[str, Any]] = [{"role": "user", "content": "Do it."}]
    for id_, name, given, text in steps:
        function = {"name": name, "arguments": json.dumps(given)}
        calls = [{"id": id_, "type": "function", "function": function}]
        messages.append({"role": "assistant", "content": None, "tool_calls": calls})
        messages.append({"role": "tool", "tool_call_id": id_, "content": text})
    return json.dumps(messages).encode()


def _atif(steps: Sequence[_Step]) -> bytes:
    document = {
        "schema_version": "ATIF-v1.5",
        "session_id": "s",
        "agent": {"name": "terminus-2", "version": "2.0"},
        "steps": [
            {
                "step_id": number,
                "source": "agent",
                "message": "Next.",
                "tool_calls": [{"tool_call_id": id_, "function_name": name, "arguments": given}],
                "observation": {"results": [{"source_call_id": id_, "content": text}]},
            }
            for number, (id_, name, given, text) in enumerate(steps, start=1)
        ],
    }
    return json.dumps(document).encode()


def _lines(values: Sequence[Mapping[str, Any]]) -> bytes:
    return b"".join(json.dumps(value).encode() + b"\n" for value in values)


def _parse(file: Path) -> Iterator[Told]:
    told: Told | None = None
    # Addresses of package indexes are written with brackets, so that none is tracked.
    for line in file.read_text(encoding="utf-8").replace(":[//]", "://").splitlines():
        if line.startswith("=== "):
            if told is not None:
                yield told
            name, label, family, style = (part.strip() for part in line[4:].split("|"))
            assert label in ("leak", "honest"), line
            told = Told(f"{file.parent.name}/{file.stem}", name, label, family, style)
            continue
        assert told is not None, line
        if _CALL.match(line):
            told.calls.append((line[2:], [], []))
        elif line.startswith("| ") and not told.calls[-1][2]:
            told.calls[-1][1].append(line[2:])
        else:
            told.calls[-1][2].append(line)
    if told is not None:
        yield told
