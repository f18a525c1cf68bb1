"""Anything that speaks OpenAI's chat completions: OpenAI, vLLM, Ollama, llama.cpp, gateways."""

from __future__ import annotations

import json
from typing import Any, ClassVar

import openai

from adjudge.errors import ProviderError
from adjudge.judge.prices import cost_usd
from adjudge.judge.providers.errors import no_answer, refused_by_status
from adjudge.records.judgement import JudgeUsage
from adjudge.records.judging import Juror, ProviderReply, ProviderRequest, ReplyEnd

__all__ = ["OpenAI"]

_ENDS = {"stop": ReplyEnd.DONE, "tool_calls": ReplyEnd.DONE, "length": ReplyEnd.LENGTH}
_NO_KEY = "none"
"""What is sent where no key is needed: the SDK insists on one."""


class OpenAI:
    """The provider `openai`."""

    name: ClassVar[str] = "openai"
    default_key_env: ClassVar[str | None] = "OPENAI_API_KEY"

    def __init__(self, juror: Juror, key: str | None) -> None:
        self._client = openai.AsyncOpenAI(
            api_key=key or _NO_KEY,
            base_url=juror.base_url or "https://api.openai.com/v1",
            max_retries=0,
            timeout=None,
        )

    async def close(self) -> None:
        """Let go of connections."""
        await self._client.close()

    async def ask(self, request: ProviderRequest) -> ProviderReply:
        """One chat completion."""
        try:
            completion = await self._client.chat.completions.create(**_arguments(request))
        except openai.APIStatusError as error:
            raise refused_by_status(error.status_code, error.message, error.response.headers) from error
        except (openai.APIError, ValueError) as error:
            raise no_answer(error) from error
        return _reply(completion, request)


def _arguments(request: ProviderRequest) -> dict[str, Any]:
    messages = [{"role": "system", "content": request.system}]
    messages += [{"role": message.role, "content": message.text} for message in request.messages]
    arguments: dict[str, Any] = {
        "model": request.model,
        "messages": messages,
        "max_tokens": request.max_output_tokens,
        "temperature": request.temperature,
    }
    if _thinks(request.model):
        # Reasoning models take neither a temperature nor the old name of the limit.
        del arguments["temperature"]
        arguments["max_completion_tokens"] = arguments.pop("max_tokens")
    if request.seed is not None:
        arguments["seed"] = request.seed
    schema = dict(request.schema_)
    how = request.structured or "schema"
    if how == "schema":
        named = {"name": request.schema_name, "schema": schema, "strict": True}
        arguments["response_format"] = {"type": "json_schema", "json_schema": named}
    elif how == "tool":
        function = {"name": request.schema_name, "parameters": schema, "strict": True}
        arguments["tools"] = [{"type": "function", "function": function}]
        arguments["tool_choice"] = {"type": "function", "function": {"name": request.schema_name}}
    return arguments


def _thinks(model: str) -> bool:
    name = model.rsplit("/", 1)[-1]
    return name.startswith(("o1", "o3", "o4", "gpt-5"))


def _reply(completion: Any, request: ProviderRequest) -> ProviderReply:
    """Servers are many and their answers differ; whatever is missing is no crash."""
    choices = getattr(completion, "choices", None)
    if not choices:
        raise ProviderError("the answer has no choices", retryable=True)
    choice = choices[0]
    message = choice.message
    text = getattr(message, "content", None) or ""
    end = _ENDS.get(choice.finish_reason or "stop", ReplyEnd.REFUSED)
    calls = getattr(message, "tool_calls", None)
    if calls:
        arguments = calls[0].function.arguments
        text = arguments if isinstance(arguments, str) else json.dumps(arguments)
    refusal = getattr(message, "refusal", None)
    if refusal and not text:
        text, end = str(refusal), ReplyEnd.REFUSED
    return ProviderReply(
        text=str(text),
        end=end,
        model=str(completion.model or ""),
        usage=_usage(completion.usage, request.model),
    )


def _usage(usage: Any, model: str) -> JudgeUsage:
    if usage is None:
        return JudgeUsage(calls=1)
    details = getattr(usage, "prompt_tokens_details", None)
    cached = getattr(details, "cached_tokens", None) or 0
    prompt, written = usage.prompt_tokens, usage.completion_tokens
    if not isinstance(prompt, int) or not isinstance(written, int) or min(prompt, written) < 0:
        return JudgeUsage(calls=1)
    # `prompt_tokens` includes what came from the cache.
    known = JudgeUsage(
        calls=1,
        input_tokens=max(0, prompt - cached),
        output_tokens=written,
        cache_read_tokens=cached,
        cache_write_tokens=0,
    )
    return known.model_copy(update={"cost_usd": cost_usd(model, known)})
