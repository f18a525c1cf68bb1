"""The `acp` agent: any program that speaks the Agent Client Protocol over its stdin and stdout."""

from __future__ import annotations

import importlib
import re
from typing import Annotated, ClassVar, Literal

from pydantic import AfterValidator, Field

from adjudge.agents.command import ProgramConfig, command_needs
from adjudge.agents.session import Session
from adjudge.contracts import AgentNeeds, AgentPlace
from adjudge.errors import UsageError
from adjudge.records.base import Record
from adjudge.records.trace import ToolKind

__all__ = ["Acp", "AcpConfig", "PermissionRule", "answer_to"]

Answer = Literal["allow", "deny"]


def _pattern(text: str) -> str:
    try:
        re.compile(text)
    except re.error as error:
        raise ValueError(f"{text!r} is not a regular expression: {error}") from error
    return text


class PermissionRule(Record):
    """An answer to requests of one sort. A field that is left out fits everything."""

    kind: ToolKind | None = None
    """What the tool does: read, edit, delete, move, search, execute, think, fetch, other."""
    title: Annotated[str, Field(min_length=1), AfterValidator(_pattern)] | None = None
    """A regular expression that is found in what the agent calls the tool call."""
    answer: Answer
    """What is answered."""


class AcpConfig(ProgramConfig):
    """How the program is started, and what is answered when it asks."""

    argv: tuple[str, ...] = Field(min_length=1)
    """The program and its arguments; may hold `{workspace}` and `{model}`."""
    permissions: Literal["allow", "deny", "scripted"] = "allow"
    """The answer to every request for permission; `scripted`: by `rules`, the first that fits."""
    rules: tuple[PermissionRule, ...] = ()
    """With `scripted`: the answers."""
    otherwise: Answer = "deny"
    """With `scripted`: the answer where no rule fits."""
    authenticate: str | None = Field(default=None, min_length=1)
    """The id of the way to log in, for a program that asks for one; it finds its credentials itself."""


class Acp:
    """Talks to a program inside the sandbox as an editor would.

    Files and terminals that it asks for are those of the sandbox; a path outside the workspace is refused.
    Requests for permission are answered by policy. All of it is in the trace.
    """

    name: ClassVar[str] = "acp"
    Config = AcpConfig

    def needs(self, config: AcpConfig) -> AgentNeeds:
        """The program, and what was declared for it."""
        if config.rules and config.permissions != "scripted":
            raise UsageError("rules are for permissions: scripted", hint="set permissions to scripted")
        return command_needs(config, (config.argv,), continues=True)

    def start(self, config: AcpConfig, place: AgentPlace) -> Session:
        """Begin; the program is started with the first turn."""
        # Loaded here: the protocol's package is an extra.
        try:
            sessions = importlib.import_module("adjudge.agents.acp_session")
        except ModuleNotFoundError as error:
            raise UsageError(
                "the acp agent needs the package agent-client-protocol", hint="pip install 'adjudge[acp]'"
            ) from error
        session: Session = sessions.AcpSession(config, place)
        return session


def answer_to(config: AcpConfig, kind: ToolKind, title: str) -> Answer:
    """What a request for permission is answered with."""
    if config.permissions != "scripted":
        return config.permissions
    for rule in config.rules:
        if rule.kind not in (None, kind):
            continue
        if rule.title is not None and re.search(rule.title, title) is None:
            continue
        return rule.answer
    return config.otherwise
