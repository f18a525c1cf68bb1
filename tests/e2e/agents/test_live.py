"""`live` isolation: what the agent left running is frozen while we look, and runs only for those who ask."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest
from tests.e2e.agents.attempting import Arena, changed

from adjudge.contracts import Subject
from adjudge.engine.collectors import Means
from adjudge.engine.grading import Grading
from adjudge.errors import ScenarioInvalid
from adjudge.records.score import ScorerResult
from adjudge.tasks.load import load_scenario
from adjudge.workflows.attempt import Attempted

SERVE = (
    "import socket, threading, time\n"
    "server = socket.create_server(('127.0.0.1', 8123))\n"
    "def beat():\n"
    "    while True:\n"
    "        open('beat', 'a').write('.')\n"
    "        time.sleep(0.01)\n"
    "threading.Thread(target=beat, daemon=True).start()\n"
    "open('up', 'w').write('up')\n"
    "while True:\n"
    "    peer = server.accept()[0]\n"
    "    peer.sendall(b'hello from the agent')\n"
    "    peer.close()\n"
)
AGENT = {
    "argv": [
        "sh",
        "-c",
        "nohup setsid python3 serve.py >log 2>&1 & until [ -s up ]; do sleep 0.01; done; echo x > new",
    ]
}


def scorers() -> str:
    quiet = "python3 ask.py"
    return f"""\
scorers:
  - {{name: asks, type: command, command: {quiet}, isolation: live}}
  - {{name: copy cannot ask, type: command, command: "echo more >> new; ! {quiet}"}}
  - {{name: asks again, type: command, command: "test $(cat new) = x && touch made-live", isolation: live}}
  - {{name: sees it, type: command, command: "ls made-live; id -u; cat /proc/self/status", isolation: live}}
  - {{type: forbid_paths, patterns: [made-live]}}
"""


async def graded(arena: Arena, subject: Subject) -> tuple[ScorerResult, ...]:
    scenario = subject.task.scenario
    means = Means(backend=lambda: arena.backend, settings=scenario.sandbox)
    with Grading(scenario.recipe, means, jobs=2) as grading:
        await asyncio.to_thread(grading.begin, subject)
        await grading.wait()
        if subject.live is None:
            assert any("ran as snapshot" in warning for warning in grading.warnings)
        return grading.conclude()


def arena_for(folder: Path, sandbox: str, limits: str = "") -> Arena:
    ask = "import socket\ns = socket.create_connection(('127.0.0.1', 8123), 30)\nprint(s.recv(99).decode())\n"
    files = {"src/serve.py": SERVE, "src/ask.py": ask}
    return Arena(folder, limits + scorers(), files, sandbox)


@pytest.mark.bwrap
def test_live_scorers_run_last_beside_what_the_agent_left(tmp_path: Path) -> None:
    arena = arena_for(tmp_path, "bubblewrap")
    rows: dict[str, ScorerResult] = {}

    async def inside(made: Attempted) -> None:
        assert made.subject is not None
        assert made.subject.live is not None
        beat = made.subject.workspace.layers[-1] / "beat"
        before = beat.stat().st_size
        await asyncio.sleep(0.3)
        assert beat.stat().st_size == before
        assert before > 0
        rows.update({row.name: row for row in await graded(arena, made.subject)})
        after = beat.stat().st_size
        assert after > before
        await asyncio.sleep(0.3)
        assert beat.stat().st_size == after

    made = arena.attempt("command", AGENT, inside=inside)
    assert {name: row.verdict.value for name, row in rows.items()} == {
        "asks": "PASS",
        "copy cannot ask": "PASS",
        "asks again": "PASS",
        "sees it": "PASS",
        "forbid_paths": "PASS",
    }, {name: (row.reason, row.output_tail) for name, row in rows.items()}
    assert "hello from the agent" in rows["asks"].output_tail
    assert "CapEff:\t0000000000000000" in rows["sees it"].output_tail
    assert "1000" in rows["sees it"].output_tail
    # What live scorers did is not the attempt's.
    assert "made-live" not in changed(made)
    (left,) = made.attempt.left_processes
    assert left.command == "python3 serve.py"
    assert left.detached


@pytest.mark.bwrap
def test_without_live_scorers_nothing_is_left(tmp_path: Path) -> None:
    arena = Arena(tmp_path, "", {"src/serve.py": SERVE})

    async def inside(made: Attempted) -> None:
        assert made.subject is not None
        assert made.subject.live is None
        beat = made.subject.workspace.layers[-1] / "beat"
        before = beat.stat().st_size
        await asyncio.sleep(0.2)
        assert beat.stat().st_size == before

    made = arena.attempt("command", AGENT, inside=inside)
    assert [left.command for left in made.attempt.left_processes] == ["python3 serve.py"]


@pytest.mark.bwrap
def test_an_agent_that_is_stopped_leaves_the_others_for_live_scorers(tmp_path: Path) -> None:
    arena = arena_for(tmp_path, "bubblewrap", "limits: {tool_calls: 0}\n")
    rows: dict[str, ScorerResult] = {}

    async def inside(made: Attempted) -> None:
        assert made.subject is not None
        rows.update({row.name: row for row in await graded(arena, made.subject)})

    call = {"type": "assistant", "parent_tool_use_id": None, "message": {"id": "m", "role": "assistant",
            "content": [{"type": "tool_use", "id": "t", "name": "Bash", "input": {}}]}}  # fmt: skip
    argv = [*AGENT["argv"][:2], AGENT["argv"][2] + f"; echo '{json.dumps(call)}'; sleep 1000"]
    made = arena.attempt("command", {"argv": argv, "trace_format": "claude-code"}, inside=inside)
    assert made.attempt.outcome is not None
    assert made.attempt.outcome.status.value == "over_limit"
    assert [left.command for left in made.attempt.left_processes if "serve" in left.command]
    assert rows["asks"].verdict.value == "PASS", rows["asks"]


@pytest.mark.bwrap
def test_without_an_agents_sandbox_it_is_a_snapshot(tmp_path: Path) -> None:
    arena = arena_for(tmp_path, "bubblewrap")
    rows: dict[str, ScorerResult] = {}

    async def inside(made: Attempted) -> None:
        assert made.subject is not None
        rows.update({row.name: row for row in await graded(arena, made.subject._replace(live=None))})

    arena.attempt("command", AGENT, inside=inside)
    assert rows["asks"].verdict.value == "FAIL"
    assert rows["asks again"].verdict.value == "PASS"
    assert rows["sees it"].verdict.value == "PASS"


def test_live_works_without_isolation_too(tmp_path: Path) -> None:
    scorers = (
        "scorers:\n"
        "  - {name: one, type: command, command: 'test -s up && touch made', isolation: live}\n"
        "  - {name: two, type: command, command: 'test -e made', isolation: live}\n"
        "  - {name: three, type: command, command: 'test ! -e made'}\n"
    )
    arena = Arena(tmp_path, scorers, sandbox="process")
    rows: dict[str, ScorerResult] = {}

    async def inside(made: Attempted) -> None:
        assert made.subject is not None
        rows.update({row.name: row for row in await graded(arena, made.subject)})

    argv = ["sh", "-c", "(while :; do echo . >> up; sleep 0.01; done) & until [ -s up ]; do sleep 0.01; done"]
    made = arena.attempt("command", {"argv": argv}, inside=inside)
    assert {row.verdict.value for row in rows.values()} == {"PASS"}, rows
    assert made.attempt.left_processes


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("{type: command, command: x, isolation: live, inject: [h.txt]}", "inject do not go together"),
        ("{type: pytest, isolation: live}", "live is for 'command' only"),
        ("{type: command, command: x, isolation: alive}", "live"),
    ],
)
@pytest.mark.anyone
def test_what_does_not_go_with_live_is_refused_at_load(tmp_path: Path, line: str, said: str) -> None:
    (tmp_path / "h.txt").write_text("hidden")
    (tmp_path / "adjudge.yaml").write_text(f"scorers:\n  - {line}\n")
    with pytest.raises(ScenarioInvalid, match=said) as caught:
        load_scenario(tmp_path)
    assert caught.value.problems[0].line == 2
