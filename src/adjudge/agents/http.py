"""The `http` agent: something behind a URL that answers. For runs without a workspace."""

from __future__ import annotations

import asyncio
import json
import re
import urllib.error
import urllib.request
from collections.abc import Mapping
from typing import Annotated, Any, ClassVar

from pydantic import AfterValidator, Field, JsonValue

from adjudge.agents.command import Variable
from adjudge.agents.session import MAX_RESPONSE, Session
from adjudge.contracts import AgentConfig, AgentNeeds, AgentPlace
from adjudge.errors import RunFault, UsageError
from adjudge.formats.traces.usage import openai_tokens
from adjudge.records.run import AgentOutcome, AgentStatus
from adjudge.records.trace import Message, Stop, TraceUsage

__all__ = ["Http", "HttpConfig"]

_MAX_BYTES = 16 * 1024 * 1024
_BUSY = (429, 502, 503, 504)
"""Answers that say nothing about the agent: it could not be asked."""
_PLACEHOLDER = re.compile(r"\{([A-Za-z_][A-Za-z0-9_]*)\}")


def _address(url: str) -> str:
    if not re.match(r"https?://[^\s/]", url):
        raise ValueError(f"{url[:100]!r} is not an address that starts with http:// or https://")
    if "@" in url.split("/", 3)[2]:
        raise ValueError("an address must not hold a password; it would be kept with every run")
    return url


def _header(name: str) -> str:
    if not re.match(r"[A-Za-z0-9-]+\Z", name):
        raise ValueError(f"{name[:60]!r} is not the name of a header")
    return name


class HttpConfig(AgentConfig):
    """Where to ask, and how the answer is read."""

    url: Annotated[str, AfterValidator(_address)]
    """Where the task is posted, as JSON: `model`, `messages` (each with `role` and `content`), `task`."""
    headers: Mapping[Annotated[str, AfterValidator(_header)], str] = Field(default_factory=dict)
    """Further headers. `{NAME}` stands for a credential, such as `Bearer {MY_API_KEY}`."""
    credentials: tuple[Variable, ...] = ()
    """Names of the variables of ours that headers may use. A missing one stops the run."""
    reply: str = Field(default="response", min_length=1)
    """Where the reply is in the answer: names and numbers with dots between, such as
    `choices.0.message.content`."""
    extra: Mapping[str, JsonValue] = Field(default_factory=dict)
    """Further fields of what is posted."""
    timeout_s: float = Field(default=600.0, gt=0, le=86400)
    """Seconds for an answer."""


class Http:
    """Posts the conversation so far and takes the answer as the reply."""

    name: ClassVar[str] = "http"
    Config = HttpConfig

    def needs(self, config: HttpConfig) -> AgentNeeds:
        """No workspace; whoever answers has none of ours."""
        for value in config.headers.values():
            for name in _PLACEHOLDER.findall(value):
                if name not in config.credentials:
                    raise UsageError(f"headers: {name} is not among the credentials")
        return AgentNeeds(workspace=False, answers_only=True, credentials=config.credentials, continues=True)

    def start(self, config: HttpConfig, place: AgentPlace) -> Session:
        """Begin with an empty conversation."""
        return _Asking(config, place)


class _Asking(Session):
    def __init__(self, config: HttpConfig, place: AgentPlace) -> None:
        super().__init__(place)
        self._config = config
        self._messages: list[dict[str, str]] = []
        self._turns = 0

    async def turn(self, message: str) -> str:
        """Post the conversation with one more message."""
        self._turns += 1
        self._messages.append({"role": "user", "content": message})
        try:
            answer = await asyncio.to_thread(self._post)
            response = _find(answer, self._config.reply)[:MAX_RESPONSE]
        except _Failed as error:
            return self._end(error.status, str(error))
        self._messages.append({"role": "assistant", "content": response})
        self.place.observe(Message(role="assistant", text=response))
        usage = answer.get("usage") if isinstance(answer, dict) else None
        if isinstance(usage, dict) and (tokens := openai_tokens(usage)).parts is not None:
            self.place.observe(TraceUsage(tokens=tokens))
        self.place.observe(Stop(reason="end_turn", is_error=False))
        self.outcome = self.outcome.model_copy(update={"response": response, "turns": self._turns})
        return response

    def _end(self, status: AgentStatus, reason: str) -> str:
        self.ended = True
        self.outcome = self.outcome.model_copy(
            update={"status": status, "reason": reason, "response": "", "turns": self._turns}
        )
        return ""

    def _post(self) -> Any:
        config, place = self._config, self.place
        body = {
            **config.extra,
            "model": place.model,
            "messages": self._messages,
            "task": {"name": place.task.name, "digest": place.task.digest},
        }
        headers = {
            name: _PLACEHOLDER.sub(lambda found: place.credentials[found[1]], value)
            for name, value in config.headers.items()
        }
        request = urllib.request.Request(
            config.url,
            json.dumps(body).encode(),
            {"Content-Type": "application/json", "Accept": "application/json", **headers},
            method="POST",
        )
        timeout_s = min(config.timeout_s, place.limits.wall_s or config.timeout_s)
        try:
            with _OPENER.open(request, timeout=timeout_s) as answer:
                data = answer.read(_MAX_BYTES + 1)
        except urllib.error.HTTPError as error:
            with error:
                if error.code in _BUSY:
                    raise RunFault(f"{config.url} cannot answer now: {error.code}") from error
                raise _Failed(AgentStatus.CRASHED, f"it answered with status {error.code}") from error
        except TimeoutError as error:
            raise _Failed(AgentStatus.TIMED_OUT, f"no answer within {timeout_s:g} s") from error
        except OSError as error:
            if isinstance(getattr(error, "reason", None), TimeoutError):
                raise _Failed(AgentStatus.TIMED_OUT, f"no answer within {timeout_s:g} s") from error
            raise RunFault(f"{config.url} cannot be reached: {error}") from error
        if len(data) > _MAX_BYTES:
            raise _Failed(AgentStatus.GARBLED, f"it answered with more than {_MAX_BYTES >> 20} MiB")
        try:
            return json.loads(data)
        except (ValueError, RecursionError) as error:
            raise _Failed(AgentStatus.GARBLED, "its answer is not JSON") from error

    async def finish(self) -> AgentOutcome:
        """What came of it."""
        self.ended = True
        return self.outcome


class _Failed(Exception):
    """The agent's own failure."""

    def __init__(self, status: AgentStatus, reason: str) -> None:
        super().__init__(reason)
        self.status = status


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    """Credentials go where they were meant to go, and nowhere else."""

    def redirect_request(self, *given: Any, **named: Any) -> None:
        """Never: the redirect is an answer with its own status."""


_OPENER = urllib.request.build_opener(_NoRedirect, urllib.request.ProxyHandler({}))


def _find(answer: Any, where: str) -> str:
    found = answer
    for name in where.split("."):
        if isinstance(found, dict) and name in found:
            found = found[name]
        elif isinstance(found, list) and name.isdigit() and int(name) < len(found):
            found = found[int(name)]
        else:
            raise _Failed(AgentStatus.GARBLED, f"its answer has nothing at {where!r}")
    if not isinstance(found, str):
        raise _Failed(AgentStatus.GARBLED, f"what its answer has at {where!r} is not a text")
    return found
