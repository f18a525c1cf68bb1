"""From the name and the fields of an agent to one that can be started, with everything wrong said before."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from pydantic import ValidationError

from adjudge import catalog
from adjudge.contracts import AgentConfig, AgentNeeds
from adjudge.errors import ConfigInvalid, PluginError, UsageError, boundary
from adjudge.records.run import AgentRef

__all__ = ["ReadyAgent", "agent_ref", "ready_agent", "ready_agent_of", "refuse_misfit"]


class ReadyAgent(NamedTuple):
    """An agent with its configuration."""

    agent: Any
    config: AgentConfig
    needs: AgentNeeds


def agent_ref(type_: str, config: Mapping[str, Any] | None = None, *, name: str | None = None) -> AgentRef:
    """An agent by its name in the catalogue, its fields checked and filled in.

    Raises:
        PluginNotFound: Nobody provides an agent of that name.
        ConfigInvalid: A field is wrong.
    """
    ready = ready_agent_of(type_, config or {})
    fields = ready.config.model_dump(mode="json")
    return AgentRef(name=name or type_, type=type_, config=fields)


def ready_agent(ref: AgentRef) -> ReadyAgent:
    """The agent that a reference means."""
    return ready_agent_of(ref.type, ref.config)


def refuse_misfit(ref: AgentRef, *, workspace: bool, several_turns: bool) -> AgentNeeds:
    """What an agent needs, unless it cannot do what is asked of it.

    Raises:
        UsageError: It cannot; nothing has been spent yet.
    """
    ready = ready_agent(ref)
    needs = ready.needs
    if needs.workspace and not workspace:
        raise UsageError(
            f"agent {ref.name!r} works on a workspace, and the scenario has none",
            hint="add 'workspace:' to the scenario, or take an agent that only answers",
        )
    if needs.answers_only and workspace:
        raise UsageError(
            f"agent {ref.name!r} only answers, and the scenario has a workspace to change",
            hint="take an agent that runs in the sandbox, such as command",
        )
    if several_turns and not needs.continues:
        raise UsageError(
            f"agent {ref.name!r} cannot continue after a turn, and the scenario has several",
            hint="command needs 'resume' for further turns; acp, python and http take them as they are",
        )
    return needs


def ready_agent_of(type_: str, config: Mapping[str, Any]) -> ReadyAgent:
    """An agent by its name in the catalogue, with its fields checked.

    Raises:
        PluginNotFound: Nobody provides an agent of that name.
        ConfigInvalid: A field is wrong.
    """
    agent_class = catalog.load("agents", type_)
    try:
        checked: AgentConfig = agent_class.Config.model_validate(dict(config))
    except ValidationError as error:
        problems = "; ".join(
            f"{'.'.join(map(str, problem['loc'])) or 'config'}: {_message(problem['msg'])}"
            for problem in error.errors(include_url=False, include_input=False)[:5]
        )
        raise ConfigInvalid(
            f"agent {type_!r}: {problems}", hint=f"its fields: {', '.join(agent_class.Config.model_fields)}"
        ) from error
    agent = agent_class()
    with boundary(PluginError, f"agent {type_!r} of {catalog.distribution_of('agents', type_)!r}"):
        needs: AgentNeeds = agent.needs(checked)
    return ReadyAgent(agent, checked, needs)


def _message(text: str) -> str:
    return text.removeprefix("Value error, ")
