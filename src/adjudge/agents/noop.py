"""The `noop` agent: changes nothing and says nothing. What a recipe must not pass."""

from __future__ import annotations

from typing import ClassVar

from adjudge.agents.session import Session
from adjudge.contracts import AgentConfig, AgentNeeds, AgentPlace

__all__ = ["Noop"]


class Noop:
    """Leaves the workspace as it is.

    Run it to see that a recipe fails an attempt that did nothing.
    """

    name: ClassVar[str] = "noop"

    class Config(AgentConfig):
        """Nothing to set."""

    def needs(self, config: Config) -> AgentNeeds:
        """Nothing."""
        return AgentNeeds(workspace=False, continues=True)

    def start(self, config: Config, place: AgentPlace) -> Session:
        """Begin doing nothing."""
        return _Silence(place)


class _Silence(Session):
    async def turn(self, message: str) -> str:
        """Nothing."""
        self.outcome = self.outcome.model_copy(update={"turns": self.outcome.turns + 1})
        return ""
