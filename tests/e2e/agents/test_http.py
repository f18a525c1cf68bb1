"""The `http` agent against a server on loopback: conversations without a workspace."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from tests.e2e.agents.attempting import Arena

from adjudge.errors import ConfigInvalid, RunFault, UsageError
from adjudge.records.run import AgentOutcome, AgentStatus
from adjudge.workflows.agents import agent_ref

pytestmark = pytest.mark.anyone


class Server:
    """Answers by path, and remembers what it was asked."""

    def __init__(self) -> None:
        self.asked: list[tuple[dict[str, str], Any]] = []
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                outer.asked.append((dict(self.headers), body))
                code, answer = outer.answer(self.path, body)
                self.send_response(code)
                if code == 302:
                    self.send_header("Location", "/chat")
                self.end_headers()
                self.wfile.write(answer)

            def log_message(self, *given: Any) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}"
        self.thread = threading.Thread(target=self.server.serve_forever, daemon=True)
        self.thread.start()

    @staticmethod
    def answer(path: str, body: Any) -> tuple[int, bytes]:
        said = f"answer {len(body['messages'])} to {body['messages'][-1]['content']}"
        if path == "/chat":
            usage = {
                "prompt_tokens": 30,
                "completion_tokens": 4,
                "prompt_tokens_details": {"cached_tokens": 10},
            }
            return 200, json.dumps({"choices": [{"message": {"content": said}}], "usage": usage}).encode()
        return {
            "/plain": (200, json.dumps({"response": said}).encode()),
            "/garbage": (200, b"\xff not json"),
            "/elsewhere": (200, b'{"response": {"text": 1}}'),
            "/broken": (500, b"{}"),
            "/busy": (503, b"{}"),
            "/moved": (302, b"{}"),
        }[path]

    def close(self) -> None:
        self.server.shutdown()
        self.server.server_close()
        self.thread.join()


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    made = Server()
    yield made
    made.close()


@pytest.fixture(scope="module")
def arena(tmp_path_factory: pytest.TempPathFactory) -> Arena:
    recipe = "limits: {tokens: 60}\nscorers: [{type: llm_judge, rubric: Is it right?}]\n"
    return Arena(tmp_path_factory.mktemp("arena"), recipe, workspace=False, sandbox="process")


def ask(arena: Arena, url: str, *turns: str, **config: Any) -> AgentOutcome:
    def following(exchanges: Any) -> str | None:
        return turns[len(exchanges)] if len(exchanges) < len(turns) else None

    environment = {"MY_KEY": "k-1"}
    made = arena.attempt(
        "http", {"url": url, **config}, next_message=following, model="m", environment=environment
    )
    assert made.subject is None
    assert made.attempt.outcome is not None
    return made.attempt.outcome


def test_a_conversation(arena: Arena, server: Server) -> None:
    server.asked.clear()
    outcome = ask(
        arena, f"{server.url}/chat", "one", reply="choices.0.message.content",
        headers={"Authorization": "Bearer {MY_KEY}"}, credentials=["MY_KEY"], extra={"temperature": 0},
    )  # fmt: skip
    assert (outcome.status, outcome.response) == (AgentStatus.COMPLETED, "answer 1 to one")
    assert (outcome.usage.input_tokens, outcome.usage.cache_read_tokens) == (20, 10)
    headers, body = server.asked[0]
    assert headers["Authorization"] == "Bearer k-1"
    assert (body["model"], body["temperature"], body["task"]["name"]) == ("m", 0, "small")


def test_the_whole_conversation_is_posted_each_time(arena: Arena, server: Server) -> None:
    server.asked.clear()
    outcome = ask(arena, f"{server.url}/plain", "one", "two")
    assert (outcome.response, outcome.turns) == ("answer 3 to two", 2)
    roles = [message["role"] for message in server.asked[-1][1]["messages"]]
    assert roles == ["user", "assistant", "user"]


def test_limits_hold(arena: Arena, server: Server) -> None:
    outcome = ask(arena, f"{server.url}/chat", *["more"] * 9, reply="choices.0.message.content")
    assert outcome.status is AgentStatus.OVER_LIMIT
    assert "limit 60" in outcome.reason
    assert outcome.turns == 2


@pytest.mark.parametrize(
    ("path", "status", "said"),
    [
        ("/garbage", AgentStatus.GARBLED, "not JSON"),
        ("/elsewhere", AgentStatus.GARBLED, "not a text"),
        ("/broken", AgentStatus.CRASHED, "500"),
        ("/moved", AgentStatus.CRASHED, "302"),
    ],
)
def test_bad_answers_are_the_agents(
    arena: Arena, server: Server, path: str, status: AgentStatus, said: str
) -> None:
    outcome = ask(arena, server.url + path, "one", "two")
    assert outcome.status is status
    assert said in outcome.reason
    assert outcome.turns == 1


def test_what_cannot_be_reached_is_ours(arena: Arena, server: Server) -> None:
    with pytest.raises(RunFault, match="503"):
        ask(arena, f"{server.url}/busy", "one")
    with pytest.raises(RunFault, match="cannot be reached"):
        ask(arena, "http://127.0.0.1:9/x", "one")


def test_what_cannot_work_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigInvalid, match="http://"):
        agent_ref("http", {"url": "file:///etc/passwd"})
    with pytest.raises(ConfigInvalid, match="password"):
        agent_ref("http", {"url": "https://me:secret@example.org/"})
    with pytest.raises(UsageError, match="not among the credentials"):
        agent_ref("http", {"url": "https://example.org/", "headers": {"X": "{KEY}"}})
    with pytest.raises(UsageError, match="only answers"):
        Arena(tmp_path, sandbox="process").attempt("http", {"url": "https://example.org/"})
