"""Anthropic's messages, with the system prompt cached and the answer's form enforced by a schema.

There is no temperature and no seed to set: the protocol has neither.
"""

from __future__ import annotations

import json
from typing import Any, ClassVar

import anthropic

from adjudge.judge.prices import cost_usd
from adjudge.judge.providers.errors import no_answer, refused_by_status
from adjudge.records.judgement import JudgeUsage
from adjudge.records.judging import Juror, ProviderReply, ProviderRequest, ReplyEnd

__all__ = ["Anthropic"]

_ENDS = {"max_tokens": ReplyEnd.LENGTH, "model_context_window_exceeded": ReplyEnd.LENGTH}
_REFUSED = "refusal"


class Anthropic:
    """The provider `anthropic`."""

    name: ClassVar[str] = "anthropic"
    default_key_env: ClassVar[str | None] = "ANTHROPIC_API_KEY"

    def __init__(self, juror: Juror, key: str | None) -> None:
        self._client = anthropic.AsyncAnthropic(
            api_key=key or "none",
            base_url=juror.base_url or "https://api.anthropic.com",
            max_retries=0,
            timeout=None,
        )

    async def close(self) -> None:
        """Let go of connections."""
        await self._client.close()

    async def ask(self, request: ProviderRequest) -> ProviderReply:
        """One message."""
        try:
            message = await self._client.messages.create(**_arguments(request))
        except anthropic.APIStatusError as error:
            raise refused_by_status(error.status_code, error.message, error.response.headers) from error
        except (anthropic.APIError, ValueError) as error:
            raise no_answer(error) from error
        return _reply(message, request)


def _arguments(request: ProviderRequest) -> dict[str, Any]:
    arguments: dict[str, Any] = {
        "model": request.model,
        "system": [{"type": "text", "text": request.system, "cache_control": {"type": "ephemeral"}}],
        "messages": [{"role": message.role, "content": message.text} for message in request.messages],
        "max_tokens": request.max_output_tokens,
    }
    schema = dict(request.schema_)
    how = request.structured or "schema"
    if how == "tool":
        tool = {
            "name": request.schema_name,
            "description": "Hand in the judgement.",
            "input_schema": schema,
        }
        arguments["tools"] = [tool]
        arguments["tool_choice"] = {"type": "tool", "name": request.schema_name}
    elif how == "schema":
        arguments["output_config"] = {"format": {"type": "json_schema", "schema": schema}}
    return arguments


def _reply(message: Any, request: ProviderRequest) -> ProviderReply:
    text = ""
    for block in message.content or ():
        if block.type == "tool_use":
            text = json.dumps(block.input)
            break
        if block.type == "text":
            text += block.text
    end = (
        ReplyEnd.REFUSED if message.stop_reason == _REFUSED else _ENDS.get(message.stop_reason, ReplyEnd.DONE)
    )
    return ProviderReply(
        text=text, end=end, model=str(message.model or ""), usage=_usage(message.usage, request.model)
    )


def _usage(usage: Any, model: str) -> JudgeUsage:
    if usage is None:
        return JudgeUsage(calls=1)
    counts = {
        "input_tokens": usage.input_tokens,
        "output_tokens": usage.output_tokens,
        "cache_read_tokens": getattr(usage, "cache_read_input_tokens", None) or 0,
        "cache_write_tokens": getattr(usage, "cache_creation_input_tokens", None) or 0,
    }
    if any(not isinstance(count, int) or count < 0 for count in counts.values()):
        return JudgeUsage(calls=1)
    known = JudgeUsage(calls=1, **counts)
    return known.model_copy(update={"cost_usd": cost_usd(model, known)})
