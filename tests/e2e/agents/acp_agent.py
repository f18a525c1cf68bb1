"""A small agent that speaks the Agent Client Protocol, written with the same package; it does as it is told.

say TEXT · think TEXT · tool KIND TITLE · ask KIND TITLE · read PATH · write PATH TEXT · run COMMAND
detach COMMAND · exit CODE · garbage · usage INPUT OUTPUT · hang
"""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
import time
from typing import Any, cast

import acp
from acp import schema


class ScriptedAgent:
    def __init__(self) -> None:
        self._client: Any = None
        self._used = (0, 0)
        self._calls = 0

    def on_connect(self, conn: Any) -> None:
        self._client = conn

    async def initialize(self, protocol_version: int, **kwargs: Any) -> schema.InitializeResponse:
        return schema.InitializeResponse(protocol_version=protocol_version)

    async def new_session(self, cwd: str, **kwargs: Any) -> schema.NewSessionResponse:
        self._cwd = cwd
        return schema.NewSessionResponse(session_id="s-1")

    async def prompt(self, session_id: str, prompt: list[Any], **kwargs: Any) -> schema.PromptResponse:
        usage = None
        for line in prompt[0].text.splitlines():
            word, _, rest = line.partition(" ")
            if word == "usage":
                self._used = tuple(map(sum, zip(self._used, map(int, rest.split()), strict=True)))  # type: ignore[assignment]
                usage = schema.Usage(
                    total_tokens=sum(self._used), input_tokens=self._used[0], output_tokens=self._used[1]
                )
            else:
                try:
                    await getattr(self, f"_{word}")(session_id, rest)
                except acp.RequestError as error:
                    await self._say(session_id, f"[refused: {error}]")
        return schema.PromptResponse(stop_reason="end_turn", usage=usage)

    async def _update(self, session_id: str, update: Any) -> None:
        await self._client.session_update(session_id=session_id, update=update)

    async def _say(self, session_id: str, text: str) -> None:
        for part in (text[: len(text) // 2], text[len(text) // 2 :]):
            await self._update(session_id, acp.update_agent_message_text(part))

    async def _think(self, session_id: str, text: str) -> None:
        await self._update(session_id, acp.update_agent_thought_text(text))

    async def _tool(self, session_id: str, rest: str) -> str:
        kind, _, title = rest.partition(" ")
        self._calls += 1
        id_ = f"call-{self._calls}"
        await self._update(
            session_id,
            acp.start_tool_call(id_, title, kind=cast(Any, kind), status="pending", raw_input={"a": 1}),
        )
        await self._update(
            session_id,
            acp.update_tool_call(
                id_, status="completed", content=[acp.tool_content(acp.text_block(f"did {title}"))]
            ),
        )
        return id_

    async def _ask(self, session_id: str, rest: str) -> None:
        kind, _, title = rest.partition(" ")
        options = [
            schema.PermissionOption(option_id="y", name="Yes", kind="allow_once"),
            schema.PermissionOption(option_id="n", name="No", kind="reject_once"),
        ]
        call = schema.ToolCallUpdate(tool_call_id="asked", title=title, kind=kind)
        answer = await self._client.request_permission(session_id=session_id, tool_call=call, options=options)
        await self._say(session_id, f"[{getattr(answer.outcome, 'option_id', 'cancelled')}]")

    async def _read(self, session_id: str, path: str) -> None:
        answer = await self._client.read_text_file(session_id=session_id, path=path)
        await self._say(session_id, f"[{answer.content.strip()}]")

    async def _write(self, session_id: str, rest: str) -> None:
        path, _, text = rest.partition(" ")
        await self._client.write_text_file(session_id=session_id, path=path, content=text + "\n")

    async def _run(self, session_id: str, command: str) -> None:
        made = await self._client.create_terminal(session_id=session_id, command="sh", args=["-c", command])
        ended = await self._client.wait_for_terminal_exit(session_id=session_id, terminal_id=made.terminal_id)
        shown = await self._client.terminal_output(session_id=session_id, terminal_id=made.terminal_id)
        await self._client.release_terminal(session_id=session_id, terminal_id=made.terminal_id)
        await self._say(session_id, f"[{ended.exit_code}: {shown.output.strip()}]")

    async def _kill(self, session_id: str, command: str) -> None:
        made = await self._client.create_terminal(session_id=session_id, command="sh", args=["-c", command])
        await self._client.kill_terminal(session_id=session_id, terminal_id=made.terminal_id)
        ended = await self._client.wait_for_terminal_exit(session_id=session_id, terminal_id=made.terminal_id)
        await self._say(session_id, f"[{ended.signal}]")

    async def _detach(self, session_id: str, command: str) -> None:
        subprocess.Popen(["sh", "-c", command], start_new_session=True, stdout=subprocess.DEVNULL)  # noqa: ASYNC220

    async def _exit(self, session_id: str, code: str) -> None:
        os._exit(int(code))

    async def _garbage(self, session_id: str, rest: str) -> None:
        os.write(
            1,
            b'\xff\xfe{"jsonrpc": "2.0", \n[1]\nnull\n'
            b'{"jsonrpc":"2.0","method":"session/update","params":7}\n',
        )

    async def _hang(self, session_id: str, rest: str) -> None:
        time.sleep(1000)  # noqa: ASYNC251  # it does hang


if __name__ == "__main__":
    if sys.argv[1:] == ["mute"]:
        time.sleep(1000)
    asyncio.run(acp.run_agent(cast(Any, ScriptedAgent())))
