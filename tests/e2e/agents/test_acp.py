"""The `acp` agent against a small real agent, inside real sandboxes."""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.e2e.agents.attempting import Arena, changed

from adjudge.agents.acp import AcpConfig, PermissionRule, answer_to
from adjudge.formats.traces.detect import read_trace
from adjudge.records.run import AgentOutcome, AgentStatus
from adjudge.records.trace import Message, ToolKind, TraceItem
from adjudge.workflows.attempt import Attempted

AGENT = Path(__file__).with_name("acp_agent.py")


@pytest.fixture(scope="module")
def program() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="adjudge-acp-") as folder:
        Path(folder).chmod(0o755)
        place = Path(folder) / "agent.py"
        place.write_bytes(AGENT.read_bytes())
        place.chmod(0o644)
        yield place


@pytest.fixture(
    scope="module", params=[pytest.param("bubblewrap", marks=pytest.mark.bwrap), pytest.param("process")]
)
def arena(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Arena:
    return Arena(
        tmp_path_factory.mktemp("arena"), "limits: {wall_s: 300, tool_calls: 9}\n", None, request.param
    )


@pytest.fixture(scope="module")
def caged(tmp_path_factory: pytest.TempPathFactory) -> Arena:
    return Arena(tmp_path_factory.mktemp("caged"), "limits: {wall_s: 300, tool_calls: 9}\n")


def attempt(arena: Arena, program: Path, *turns: str, **config: Any) -> tuple[Attempted, list[str]]:
    replies: list[str] = []

    def following(exchanges: Any) -> str | None:
        replies[:] = [reply for _, reply in exchanges]
        return turns[len(exchanges)] if len(exchanges) < len(turns) else None

    argv = [sys.executable, str(program)]
    made = arena.attempt(
        "acp",
        {"argv": argv, "expose": [str(program.parent)], **config},
        next_message=following,
    )
    return made, replies


def outcome_of(made: Attempted) -> AgentOutcome:
    assert made.attempt.outcome is not None
    return made.attempt.outcome


def trace_of(arena: Arena, made: Attempted) -> list[TraceItem]:
    trace = outcome_of(made).trace
    assert trace is not None
    with arena.blobs.open(trace) as stream:
        return list(read_trace(stream).items)


def test_a_session_with_files_terminals_and_tools(arena: Arena, program: Path) -> None:
    made, replies = attempt(
        arena,
        program,
        "think hm\nsay I will\ntool edit Write a file\nwrite new/deep.txt text\nread a.txt\nusage 10 5",
        "run cat new/deep.txt; pwd; exit 3\nkill sleep 1000\nusage 7 3\nsay done",
    )
    outcome = outcome_of(made)
    assert (outcome.status, outcome.reason, outcome.turns) == (AgentStatus.COMPLETED, "", 2)
    assert changed(made) == {"new/deep.txt": "added"}
    assert replies[0] == "[one]"
    assert replies[1].startswith("[3: text")
    assert replies[1].endswith("[SIGKILL]done")
    assert (outcome.usage.input_tokens, outcome.usage.output_tokens, outcome.usage.tool_calls) == (17, 8, 1)
    kinds = [item.type for item in trace_of(arena, made)]
    assert kinds[:5] == ["message", "thought", "message", "tool_call", "tool_result"]
    assert kinds.count("stop") == 2


@pytest.mark.bwrap
def test_nothing_outside_the_workspace_is_served(caged: Arena, program: Path) -> None:
    paths = ["/etc/passwd", "../outside", "link-out", "/workspace/../etc/passwd", "nowhere", "dir"]
    script = "\n".join(f"read {path}" for path in paths)
    made, replies = attempt(caged, program, f"run ln -s /etc/passwd link-out\n{script}")
    assert replies[0].count("refused") == len(paths), replies
    assert "root:" not in replies[0]
    assert changed(made) == {"link-out": "added"}


@pytest.mark.bwrap
def test_nothing_outside_the_workspace_is_written(caged: Arena, program: Path) -> None:
    _, replies = attempt(caged, program, "run ln -s /tmp out\nwrite out/x y\nwrite ../x y\nrun ls /tmp/x")
    assert replies[0].count("refused") == 2, replies


@pytest.mark.bwrap
@pytest.mark.parametrize(
    ("config", "answers"),
    [
        ({}, "[y][y]"),
        ({"permissions": "deny"}, "[n][n]"),
        ({"permissions": "scripted", "rules": [{"kind": "execute", "title": "^rm ", "answer": "deny"},
                                               {"answer": "allow"}]}, "[n][y]"),
        ({"permissions": "scripted", "rules": [{"kind": "edit", "answer": "allow"}]}, "[n][y]"),
    ],
)  # fmt: skip
def test_permissions_are_answered_by_policy(
    caged: Arena, program: Path, config: dict[str, Any], answers: str
) -> None:
    made, _ = attempt(caged, program, "ask execute rm -rf x\nask edit a.txt", **config)
    items = trace_of(caged, made)
    said = [item.text for item in items if isinstance(item, Message) and item.role == "assistant"]
    assert "".join(said) == answers
    trace = [item for item in items if item.type.startswith("permission")]
    assert [item.type for item in trace] == ["permission_request", "permission_response"] * 2
    told = {"y": "allowed", "n": "denied"}
    outcomes = [item.outcome for item in trace if item.type == "permission_response"]
    assert outcomes == [told[answer] for answer in answers if answer in told]


@pytest.mark.bwrap
def test_bad_ends_are_captured(caged: Arena, program: Path) -> None:
    made, _ = attempt(caged, program, "write half.txt x\nexit 4", "say never")
    assert (outcome_of(made).status, outcome_of(made).reason) == (AgentStatus.CRASHED, "exit 4")
    assert outcome_of(made).turns == 1
    assert changed(made) == {"half.txt": "added"}
    made, replies = attempt(caged, program, "garbage\nsay still here")
    assert outcome_of(made).status is AgentStatus.COMPLETED
    assert replies == ["still here"]
    made, _ = attempt(caged, program, "\n".join(["tool read x"] * 11) + "\nhang")
    assert outcome_of(made).status is AgentStatus.OVER_LIMIT
    assert "limit 9" in outcome_of(made).reason


def test_what_it_leaves_behind_is_told(arena: Arena, program: Path) -> None:
    made, _ = attempt(
        arena, program, "detach echo $$ > pid; exec sleep 1234\nrun until [ -s pid ]; do sleep 0.01; done"
    )
    assert ("sleep 1234", True) in [(left.command, left.detached) for left in made.attempt.left_processes]


@pytest.mark.anyone
def test_the_first_rule_that_fits_answers() -> None:
    rules = (
        PermissionRule(kind=ToolKind.EXECUTE, title="curl|wget", answer="deny"),
        PermissionRule(kind=ToolKind.EXECUTE, answer="allow"),
        PermissionRule(title="secret", answer="deny"),
    )
    config = AcpConfig(argv=("x",), permissions="scripted", rules=rules, otherwise="allow")
    assert answer_to(config, ToolKind.EXECUTE, "curl x") == "deny"
    assert answer_to(config, ToolKind.EXECUTE, "ls secret") == "allow"
    assert answer_to(config, ToolKind.READ, "secret.txt") == "deny"
    assert answer_to(config, ToolKind.READ, "a.txt") == "allow"
