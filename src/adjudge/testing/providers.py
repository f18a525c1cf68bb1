"""A provider of language models that says what a test wants, over real HTTP on loopback.

It speaks both wire protocols (Anthropic's messages, OpenAI's chat completions), so that everything between a
judge and the wire is tested as it is. What it answers, or how it fails, is up to a script.
"""

from __future__ import annotations

import contextlib
import json
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from email.message import Message
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

__all__ = ["Asked", "ScriptedFault", "ScriptedReply", "ScriptedServer", "scripted_server"]

_LONGEST_S = 600.0


@dataclass(frozen=True)
class Asked:
    """What a call asked, whatever protocol it came by."""

    protocol: str
    """`anthropic` or `openai`."""
    model: str
    system: str
    messages: tuple[tuple[str, str], ...]
    """Role and text."""
    number: int
    """Which call of the server it is, from 0."""
    body: dict[str, Any]
    headers: dict[str, str]

    @property
    def prompt(self) -> str:
        """The first message of the user."""
        return self.messages[0][1]


@dataclass(frozen=True)
class ScriptedReply:
    """An answer."""

    text: str
    end: str = "done"
    """`done`, `length` or `refused`."""
    input_tokens: int = 100
    output_tokens: int = 20
    cached_tokens: int = 0


@dataclass(frozen=True)
class ScriptedFault:
    """A way of not answering."""

    kind: str
    """`status`, `drop` (the connection ends), `drip` (a byte now and then, without end), `malformed` (not
    JSON), `truncated` (half of a body), `empty` (no choices, no content), `silent` (nothing is ever sent)."""
    status: int = 500
    retry_after: str | None = None


Script = Callable[[Asked], ScriptedReply | ScriptedFault]


@dataclass
class ScriptedServer:
    """A running server."""

    url: str
    """Without a path: what `base_url` of an Anthropic juror takes."""
    asked: list[Asked] = field(default_factory=list)
    """Every call so far."""
    stopping: threading.Event = field(default_factory=threading.Event)

    @property
    def openai_url(self) -> str:
        """What `base_url` of an OpenAI juror takes."""
        return f"{self.url}/v1"


@contextlib.contextmanager
def scripted_server(script: Script) -> Iterator[ScriptedServer]:
    """Serve on a free port of loopback until the block ends."""
    lock = threading.Lock()

    class Handler(_Handler):
        def answer(self, protocol: str, body: dict[str, Any]) -> ScriptedReply | ScriptedFault:
            with lock:
                asked = _asked(protocol, body, _lowered(self.headers), len(running.asked))
                running.asked.append(asked)
            return script(asked)

        @property
        def stopping(self) -> threading.Event:
            return running.stopping

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    running = ScriptedServer(f"http://127.0.0.1:{server.server_address[1]}")
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield running
    finally:
        running.stopping.set()
        server.shutdown()
        server.server_close()
        thread.join()


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def answer(self, protocol: str, body: dict[str, Any]) -> ScriptedReply | ScriptedFault:
        raise NotImplementedError

    @property
    def stopping(self) -> threading.Event:
        raise NotImplementedError

    def log_message(self, *_: object) -> None:
        """Tests read nothing of it."""

    def do_POST(self) -> None:
        protocols = {"/v1/messages": "anthropic", "/v1/chat/completions": "openai"}
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        protocol = protocols.get(self.path)
        if protocol is None:
            self._send(404, {"error": {"message": f"no such path: {self.path}", "type": "not_found"}})
            return
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):
            answer = self.answer(protocol, body)
            if isinstance(answer, ScriptedReply):
                self._send(200, _RENDER[protocol](answer, body))
            else:
                self._fail(answer, protocol)

    def _send(self, status: int, body: dict[str, Any], headers: dict[str, str] | None = None) -> None:
        data = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(data)))
        for name, value in (headers or {}).items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(data)

    def _fail(self, fault: ScriptedFault, protocol: str) -> None:
        self.close_connection = True
        if fault.kind == "status":
            headers = {} if fault.retry_after is None else {"retry-after": fault.retry_after}
            error = {"type": "error", "error": {"type": "scripted", "message": f"scripted {fault.status}"}}
            self._send(fault.status, error, headers)
        elif fault.kind == "empty":
            self._send(200, _RENDER[protocol](None, {"model": "scripted"}))
        elif fault.kind == "drop":
            self.connection.close()
        elif fault.kind == "silent":
            self.stopping.wait(_LONGEST_S)
        else:
            self._send_badly(fault.kind)

    def _send_badly(self, kind: str) -> None:
        self.send_response(200)
        self.send_header("content-type", "application/json")
        if kind == "malformed":
            self.send_header("content-length", "9")
            self.end_headers()
            self.wfile.write(b'{"id": "x')
        elif kind == "truncated":
            self.send_header("content-length", "5000")
            self.end_headers()
            self.wfile.write(b'{"id": "')
        else:
            self.end_headers()
            end = time.monotonic() + _LONGEST_S
            while time.monotonic() < end and not self.stopping.wait(0.05):
                self.wfile.write(b" ")
                self.wfile.flush()


def _lowered(headers: Message) -> dict[str, str]:
    return {name.lower(): value for name, value in headers.items()}


def _asked(protocol: str, body: dict[str, Any], headers: dict[str, str], number: int) -> Asked:
    messages = [(message["role"], message["content"]) for message in body["messages"]]
    parts = [messages.pop(0)[1]] if protocol == "openai" else [part["text"] for part in body["system"]]
    system = "".join(parts)
    return Asked(protocol, body["model"], system, tuple(messages), number, body, headers)


def _render_openai(reply: ScriptedReply | None, body: dict[str, Any]) -> dict[str, Any]:
    choices: list[dict[str, Any]] = []
    usage: dict[str, Any] | None = None
    if reply is not None:
        message: dict[str, Any] = {"role": "assistant", "content": reply.text}
        ends = {"done": "stop", "length": "length", "refused": "content_filter"}
        if "tools" in body and reply.end == "done":
            function = {"name": body["tools"][0]["function"]["name"], "arguments": reply.text}
            message["content"] = None
            message["tool_calls"] = [{"id": "call_1", "type": "function", "function": function}]
        choices = [{"index": 0, "message": message, "finish_reason": ends[reply.end]}]
        usage = {
            "prompt_tokens": reply.input_tokens,
            "completion_tokens": reply.output_tokens,
            "total_tokens": reply.input_tokens + reply.output_tokens,
            "prompt_tokens_details": {"cached_tokens": reply.cached_tokens},
        }
    return {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1,
        "model": body["model"],
        "choices": choices,
        "usage": usage,
    }


def _render_anthropic(reply: ScriptedReply | None, body: dict[str, Any]) -> dict[str, Any]:
    content: list[dict[str, Any]] = []
    end = "end_turn"
    if reply is not None:
        end = {"done": "end_turn", "length": "max_tokens", "refused": "refusal"}[reply.end]
        arguments = _as_object(reply.text)
        if "tools" in body and arguments is not None and reply.end == "done":
            end = "tool_use"
            name = body["tools"][0]["name"]
            content = [{"type": "tool_use", "id": "toolu_1", "name": name, "input": arguments}]
        else:
            content = [{"type": "text", "text": reply.text}]
    used = reply or ScriptedReply("")
    return {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": body["model"],
        "content": content,
        "stop_reason": end,
        "stop_sequence": None,
        "usage": {
            "input_tokens": used.input_tokens - used.cached_tokens,
            "output_tokens": used.output_tokens,
            "cache_read_input_tokens": used.cached_tokens,
            "cache_creation_input_tokens": 0,
        },
    }


def _as_object(text: str) -> dict[str, Any] | None:
    try:
        value = json.loads(text)
    except ValueError:
        return None
    return value if isinstance(value, dict) else None


_RENDER = {"openai": _render_openai, "anthropic": _render_anthropic}
