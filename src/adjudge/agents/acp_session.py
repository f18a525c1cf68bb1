"""An attempt over the Agent Client Protocol: the editor's side of the conversation.

What the program says is data: it is parsed by the protocol's own package, bounded, and turned into events.
Files and terminals are reached from inside the sandbox, as its user, so no request leads further than the
program could go by itself; paths outside the workspace are refused all the same.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
from pathlib import PurePosixPath
from typing import Any

import acp
from acp import schema

from adjudge.agents.acp import AcpConfig, answer_to
from adjudge.agents.command import environment_of, model_of
from adjudge.agents.session import MAX_RESPONSE, KeptOutput, Session, ending, sandbox_of
from adjudge.agents.terminals import Terminals, served_path
from adjudge.contracts import AgentPlace
from adjudge.errors import AdjudgeError
from adjudge.formats.traces.tools import tool_call
from adjudge.formats.traces.usage import RunningTotal
from adjudge.records.run import AgentOutcome, AgentStatus
from adjudge.records.sandbox import ExecRequest, ExecResult
from adjudge.records.trace import (
    Message,
    PermissionRequest,
    PermissionResponse,
    Stop,
    Thought,
    TokenCounts,
    ToolKind,
    ToolResult,
    TraceItem,
    TraceUsage,
)
from adjudge.version import __version__

__all__ = ["AcpSession"]

_LINE_BYTES = 32 * 1024 * 1024
_WIND_UP_S = 10.0
_START_S = 120.0
_MAX_FILE_BYTES = 10 * 1024 * 1024
_READ = (
    'p=$(realpath -e -- "$1") || exit 3; case "$p" in "$2"/*) ;; *) exit 4;; esac; '
    'test -f "$p" || exit 5; exec head -c "$3" -- "$p"'
)
_WRITE = (
    'p=$(realpath -m -- "$1") || exit 3; case "$p" in "$2"/*) ;; *) exit 4;; esac; '
    'mkdir -p -- "$(dirname -- "$p")" && exec cat > "$p"'
)
_WHY = {3: "there is no such file", 4: "it leads out of the workspace", 5: "it is not a file"}


class AcpSession(Session):
    """One program, started with the first turn and there until the last.

    Args:
        config: How it is started and what is answered.
        place: Where it works.
    """

    def __init__(self, config: AcpConfig, place: AgentPlace) -> None:
        super().__init__(place)
        self._config = config
        self._output = KeptOutput(place.blobs, hide=place.credentials)
        self._transport: _Transport | None = None
        self._running: asyncio.Task[ExecResult] | None = None
        self._connection: Any = None
        self._client: _Client | None = None
        self._session_id = ""
        self._total = RunningTotal()

    async def turn(self, message: str) -> str:
        """Prompt it, and serve what it asks for until it has answered."""
        turns = self.outcome.turns + 1
        try:
            if self._connection is None:
                await self._beside(self._connect(), _START_S)
            assert self._connection is not None
            assert self._client is not None
            self._client.begin()
            prompted = self._connection.prompt(session_id=self._session_id, prompt=[acp.text_block(message)])
            answer = await self._beside(prompted, None)
        except _Ended as ended:
            self._end(ended.status, ended.reason, turns)
        except AdjudgeError:
            raise
        except Exception as error:
            self._end(AgentStatus.GARBLED, f"{type(error).__name__}: {str(error)[:300]}", turns)
        else:
            self._take_answer(answer, turns)
        response = self._client.finish() if self._client is not None else ""
        self.outcome = self.outcome.model_copy(update={"response": response[-MAX_RESPONSE:]})
        return self.outcome.response

    def _take_answer(self, answer: schema.PromptResponse, turns: int) -> None:
        assert self._client is not None
        self._client.flush()
        if answer.usage is not None:
            used = TokenCounts(
                input=answer.usage.input_tokens,
                output=answer.usage.output_tokens,
                cache_read=answer.usage.cached_read_tokens,
                cache_write=answer.usage.cached_write_tokens,
                reasoning=answer.usage.thought_tokens,
            )
            if grown := self._total.increment(used):
                self.place.observe(TraceUsage(tokens=grown))
        reason = str(answer.stop_reason)
        self.place.observe(Stop(reason=reason, is_error=reason == "cancelled"))
        self.outcome = self.outcome.model_copy(update={"turns": turns})
        if reason == "cancelled":
            self._end(AgentStatus.CRASHED, "it says that it was cancelled", turns)

    def _end(self, status: AgentStatus, reason: str, turns: int) -> None:
        self.ended = True
        self.outcome = self.outcome.model_copy(update={"status": status, "reason": reason, "turns": turns})

    async def _connect(self) -> None:
        read, write = os.pipe()
        self._transport = _Transport(write, self._output)
        values = {"workspace": str(self.place.workspace)}
        if any("{model}" in part for part in self._config.argv):
            values["model"] = model_of(self.place, "acp")
        argv = []
        for part in self._config.argv:
            for name, value in values.items():
                part = part.replace(f"{{{name}}}", value)
            argv.append(part)
        request = ExecRequest(
            argv=tuple(argv), env=environment_of(self._config, self.place.credentials), keep=True
        )
        sandbox = sandbox_of(self.place, "acp")
        self._running = asyncio.create_task(sandbox.exec(request, on_output=self._transport.take, stdin=read))
        self._running.add_done_callback(lambda _: os.close(read))
        self._client = _Client(self._config, self.place)
        self._connection = acp.connect_to_agent(self._client, self._transport)
        await self._connection.initialize(
            protocol_version=acp.PROTOCOL_VERSION,
            client_capabilities=schema.ClientCapabilities(
                fs=schema.FileSystemCapabilities(read_text_file=True, write_text_file=True), terminal=True
            ),
            client_info=schema.Implementation(name="adjudge", version=__version__),
        )
        if self._config.authenticate is not None:
            await self._connection.authenticate(method_id=self._config.authenticate)
        made = await self._connection.new_session(cwd=str(self.place.workspace), mcp_servers=[])
        self._session_id = made.session_id

    async def _beside(self, doing: Any, patience_s: float | None) -> Any:
        """Wait for an answer, unless the program ends first."""
        answering = asyncio.ensure_future(doing)
        try:
            async with asyncio.timeout(patience_s):
                while not answering.done():
                    waited: set[asyncio.Future[Any]] = {answering}
                    if self._running is not None:
                        waited.add(self._running)
                    timeout = None if self._running is not None else 0.05
                    await asyncio.wait(waited, timeout=timeout, return_when=asyncio.FIRST_COMPLETED)
                    if self._running is not None and self._running.done() and not answering.done():
                        status, reason = ending(self._running.result())
                        if status is AgentStatus.COMPLETED:
                            status, reason = AgentStatus.CRASHED, "it ended before it had answered"
                        raise _Ended(status, reason)
            return answering.result()
        except TimeoutError:
            raise _Ended(AgentStatus.GARBLED, "it did not answer as the protocol has it") from None
        finally:
            if not answering.done():
                answering.cancel()
                with contextlib.suppress(asyncio.CancelledError, Exception):
                    await answering
            elif not answering.cancelled():
                answering.exception()

    async def finish(self) -> AgentOutcome:
        """Let it go, and tell how it went."""
        await self._close()
        if self._running is not None and self._running.done() and not self._running.cancelled():
            code = self._running.result().exit_code
            self.outcome = self.outcome.model_copy(update={"exit_code": code})
        stdout, stderr = self._output.commit()
        self.outcome = self.outcome.model_copy(
            update={"stdout": stdout, "stderr": stderr, "trace_format": "adjudge"}
        )
        return self.outcome

    async def _close(self) -> None:
        self.ended = True
        if self._client is not None:
            await self._client.close()
        if self._transport is not None:
            self._transport.hang_up()
        if self._connection is not None:
            with contextlib.suppress(Exception):
                await self._connection.close()
            self._connection = None
        if self._running is not None and not self._running.done():
            await asyncio.wait({self._running}, timeout=_WIND_UP_S)
        if self._running is not None and not self._running.done():
            # Ended as a whole below, when the attempt is captured; here only the program itself.
            await sandbox_of(self.place, "acp").freeze()
            await asyncio.wait({self._running})

    async def __aexit__(self, *exc: object) -> None:
        try:
            await self._close()
        finally:
            self._output.abort()


class _Ended(Exception):
    """The program is not there any more, or not to be talked to."""

    def __init__(self, status: AgentStatus, reason: str) -> None:
        super().__init__(reason)
        self.status = status
        self.reason = reason


class _Transport:
    """JSON lines to a pipe and from the output of an exec."""

    def __init__(self, write: int, output: KeptOutput) -> None:
        self._write = write
        self._output = output
        self._lines: asyncio.Queue[bytes | None] = asyncio.Queue()
        self._partial = bytearray()
        self._sending = asyncio.Lock()
        self._open = True
        os.set_blocking(write, False)

    def take(self, stream: Any, data: bytes) -> None:
        """A chunk of the program's output."""
        self._output(stream, data)
        if stream != "stdout":
            return
        self._partial += data
        if len(self._partial) > _LINE_BYTES:
            self._partial.clear()
            self._lines.put_nowait(None)
            return
        *lines, rest = self._partial.split(b"\n")
        if lines:
            self._partial = bytearray(rest)
            for line in lines:
                if line.strip():
                    self._lines.put_nowait(bytes(line))

    async def receive(self) -> dict[str, Any] | None:
        """The next message; lines that hold none are passed over."""
        while (line := await self._lines.get()) is not None:
            try:
                message = json.loads(line)
            except (ValueError, RecursionError):
                continue
            if isinstance(message, dict):
                return message
        return None

    async def send(self, message: dict[str, Any]) -> None:
        """Write a message, waiting for the program to read where it is slow."""
        data = memoryview(json.dumps(message, separators=(",", ":")).encode() + b"\n")
        async with self._sending:
            while data:
                if not self._open:
                    raise ConnectionError("the program is not there any more")
                try:
                    data = data[os.write(self._write, data) :]
                except BlockingIOError:
                    await asyncio.sleep(0.005)
                except OSError as error:
                    raise ConnectionError("the program does not read any more") from error

    async def close(self) -> None:
        """The connection is done with."""
        self.hang_up()

    def hang_up(self) -> None:
        """End of the program's input."""
        if self._open:
            self._open = False
            os.close(self._write)
            self._lines.put_nowait(None)


class _Client:
    """What the program may ask of an editor."""

    def __init__(self, config: AcpConfig, place: AgentPlace) -> None:
        self._config = config
        self._place = place
        self._sandbox = sandbox_of(place, "acp")
        self._terminals = Terminals(self._sandbox, place.workspace)
        self._said: list[str] = []
        self._thought: list[str] = []
        self._response = ""
        self._calls: set[str] = set()
        self._asked = 0

    def begin(self) -> None:
        """A new turn."""
        self._response = ""

    def finish(self) -> str:
        """What it said last in this turn."""
        self.flush()
        return self._response

    def flush(self) -> None:
        """The pieces of a message or a thought, as one event."""
        if self._thought:
            self._observe(Thought(text="".join(self._thought)))
            self._thought.clear()
        if self._said:
            text = "".join(self._said)
            self._said.clear()
            self._observe(Message(role="assistant", text=text))
            if text.strip():
                self._response = text

    async def close(self) -> None:
        """End its terminals."""
        await self._terminals.close()

    def _observe(self, item: TraceItem) -> None:
        self._place.observe(item)

    async def session_update(self, session_id: str, update: Any, **kwargs: Any) -> None:
        """Something happened."""
        kind = update.session_update
        if kind == "agent_message_chunk":
            if self._thought:
                self.flush()
            self._said.append(getattr(update.content, "text", ""))
        elif kind == "agent_thought_chunk":
            if self._said:
                self.flush()
            self._thought.append(getattr(update.content, "text", ""))
        elif kind in ("tool_call", "tool_call_update"):
            self.flush()
            self._tool(update)

    def _tool(self, update: Any) -> None:
        id_ = str(update.tool_call_id)
        if id_ not in self._calls:
            self._calls.add(id_)
            title = str(update.title or update.kind or "tool")
            self._observe(tool_call(title, update.raw_input, id=id_, kind=_kind(update.kind)))
        if update.status in ("completed", "failed"):
            text = "\n".join(_text_of(part) for part in update.content or ())
            if not text and update.raw_output is not None:
                text = json.dumps(update.raw_output)
            self._observe(ToolResult(call_id=id_, text=text, is_error=update.status == "failed"))

    async def request_permission(
        self, session_id: str, tool_call: Any, options: list[Any], **kwargs: Any
    ) -> schema.RequestPermissionResponse:
        """Answer by policy."""
        self.flush()
        self._asked += 1
        id_, call = f"permission-{self._asked}", str(tool_call.tool_call_id)
        title = str(tool_call.title or "")
        self._observe(PermissionRequest(id=id_, call_id=call, text=title))
        answer = answer_to(self._config, _kind(tool_call.kind), title)
        wanted = ("allow_once", "allow_always") if answer == "allow" else ("reject_once", "reject_always")
        chosen = next((option for kind in wanted for option in options if option.kind == kind), None)
        outcome = "cancelled" if chosen is None else "allowed" if answer == "allow" else "denied"
        self._observe(
            PermissionResponse.model_validate({"request_id": id_, "call_id": call, "outcome": outcome})
        )
        if chosen is None:
            return schema.RequestPermissionResponse(outcome=schema.DeniedOutcome(outcome="cancelled"))
        selected = schema.AllowedOutcome(outcome="selected", option_id=chosen.option_id)
        return schema.RequestPermissionResponse(outcome=selected)

    async def read_text_file(
        self, session_id: str, path: str, line: int | None = None, limit: int | None = None, **kwargs: Any
    ) -> schema.ReadTextFileResponse:
        """A file of the workspace."""
        data = await self._serve(_READ, path, str(_MAX_FILE_BYTES))
        text = data.decode("utf-8", "replace")
        if line is not None or limit is not None:
            lines = text.splitlines(keepends=True)
            start = max(0, (line or 1) - 1)
            text = "".join(lines[start : None if limit is None else start + limit])
        return schema.ReadTextFileResponse(content=text)

    async def write_text_file(
        self, session_id: str, path: str, content: str, **kwargs: Any
    ) -> schema.WriteTextFileResponse:
        """Write a file of the workspace."""
        await self._serve(_WRITE, path, stdin=content.encode("utf-8", "replace"))
        return schema.WriteTextFileResponse()

    async def _serve(self, script: str, path: str, *arguments: str, stdin: bytes = b"") -> bytes:
        place = served_path(path, self._place.workspace)
        said = bytearray()
        result = await self._sandbox.enter(
            ExecRequest(
                argv=("/bin/sh", "-c", script, "sh", place, str(self._place.workspace), *arguments),
                stdin=stdin,
            ),
            on_output=lambda stream, data: said.extend(data) if stream == "stdout" else None,
        )
        if not result.ok:
            why = _WHY.get(result.exit_code or 0, "it cannot be reached")
            raise acp.RequestError.invalid_params({"path": path, "reason": why})
        return bytes(said)

    async def create_terminal(
        self,
        session_id: str,
        command: str,
        args: list[str] | None = None,
        env: list[Any] | None = None,
        cwd: str | None = None,
        output_byte_limit: int | None = None,
        **kwargs: Any,
    ) -> schema.CreateTerminalResponse:
        """Run a command in the sandbox."""
        environment = {str(variable.name): str(variable.value) for variable in env or ()}
        id_ = self._terminals.create((command, *(args or ())), environment, cwd, output_byte_limit)
        return schema.CreateTerminalResponse(terminal_id=id_)

    async def terminal_output(
        self, session_id: str, terminal_id: str, **kwargs: Any
    ) -> schema.TerminalOutputResponse:
        """What it has printed so far."""
        terminal = self._terminals.get(terminal_id)
        status = None
        if terminal.task.done():
            code, signal = terminal.ended()
            status = schema.TerminalExitStatus(exit_code=code, signal=signal)
        return schema.TerminalOutputResponse(
            output=terminal.text, truncated=terminal.truncated, exit_status=status
        )

    async def wait_for_terminal_exit(
        self, session_id: str, terminal_id: str, **kwargs: Any
    ) -> schema.WaitForTerminalExitResponse:
        """Wait until it has ended."""
        terminal = self._terminals.get(terminal_id)
        await asyncio.wait({terminal.task})
        code, signal = terminal.ended()
        return schema.WaitForTerminalExitResponse(exit_code=code, signal=signal)

    async def kill_terminal(
        self, session_id: str, terminal_id: str, **kwargs: Any
    ) -> schema.KillTerminalResponse:
        """End it."""
        await self._terminals.get(terminal_id).kill()
        return schema.KillTerminalResponse()

    async def release_terminal(
        self, session_id: str, terminal_id: str, **kwargs: Any
    ) -> schema.ReleaseTerminalResponse:
        """End it, and forget it."""
        await self._terminals.release(terminal_id)
        return schema.ReleaseTerminalResponse()

    async def create_elicitation(self, message: str, mode: Any, **kwargs: Any) -> Any:
        """Nobody is there to be asked."""
        raise acp.RequestError.method_not_found("elicitation/create")

    async def complete_elicitation(self, elicitation_id: str, **kwargs: Any) -> None:
        """Nobody was asked."""

    async def ext_method(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        """Nothing beyond the protocol."""
        raise acp.RequestError.method_not_found(method)

    async def ext_notification(self, method: str, params: dict[str, Any]) -> None:
        """Nothing beyond the protocol."""

    def on_connect(self, conn: Any) -> None:
        """The session holds the connection."""


def _kind(given: Any) -> ToolKind:
    try:
        return ToolKind(str(given))
    except ValueError:
        return ToolKind.OTHER


def _text_of(part: Any) -> str:
    content = getattr(part, "content", None)
    text = getattr(content, "text", None)
    if isinstance(text, str):
        return text
    path = getattr(part, "path", None)
    return f"[{PurePosixPath(path)}]" if isinstance(path, str) else ""
