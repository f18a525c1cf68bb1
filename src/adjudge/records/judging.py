"""How a judge is set up and asked: one configuration for a whole experiment, outside every task's digest."""

from collections.abc import Mapping
from enum import StrEnum
from typing import Annotated, Any, Literal, Self

from pydantic import BeforeValidator, Field, JsonValue, StringConstraints, field_validator, model_validator

from adjudge.records.base import Record, digest_json
from adjudge.records.judgement import Aggregate, JudgeUsage

__all__ = [
    "DEFAULT_BUDGET",
    "GivenJuror",
    "JudgeConfig",
    "Juror",
    "ProviderMessage",
    "ProviderReply",
    "ProviderRequest",
    "ReplyEnd",
]

DEFAULT_BUDGET: Mapping[str, int] = {
    "instruction": 24_000,
    "transcript": 60_000,
    "response": 16_000,
    "diff": 80_000,
    "objective": 8_000,
    "test_output": 8_000,
    "scorers": 16_000,
    "notes": 8_000,
    "output": 8_000,
}
"""Characters of each section that a judge is shown."""

Name = Annotated[str, StringConstraints(pattern=r"^\S+$", max_length=200)]


class Juror(Record):
    """One model, and where it is asked."""

    model: Name
    """The model's name, as its provider knows it."""
    provider: Name | None = None
    """`anthropic` or `openai` (anything that speaks its protocol), or a plugin's. Left out: `anthropic` for
    models called claude, else `openai`."""
    base_url: str | None = Field(default=None, pattern=r"^https?://[^\s/?#]+[^\s?#]*$")
    """Where the provider is asked, for gateways and local servers."""
    api_key_env: Annotated[str, StringConstraints(pattern=r"^[A-Za-z_][A-Za-z0-9_]*$")] | None = None
    """The environment variable that holds the key. The key itself is never part of a configuration."""
    structured: Literal["schema", "tool", "json"] | None = None
    """How the answer is made to have its form: the provider's own schema feature, a tool call, or a block of
    JSON in plain text. Left out: the best that the provider offers."""

    @property
    def provider_name(self) -> str:
        """The provider that is asked."""
        if self.provider is not None:
            return self.provider
        return "anthropic" if self.model.startswith("claude") else "openai"


def _spelled_out(value: Any) -> Any:
    return {"model": value} if isinstance(value, str) else value


GivenJuror = Annotated[Juror, BeforeValidator(_spelled_out, json_schema_input_type=str | Juror)]
"""A juror as people write one: a model's name alone stands for a mapping with it."""


class JudgeConfig(Record):
    """The judge of an experiment: one model, or a jury."""

    model: GivenJuror | None = None
    """A single judge: a model's name, or a mapping with `model`, `provider`, `base_url`, …"""
    models: tuple[GivenJuror, ...] = ()
    """A jury: several of the same."""
    votes: int = Field(default=1, ge=1, le=25)
    """How often each model is asked."""
    aggregate: Aggregate = Aggregate.MAJORITY
    """`majority`, `unanimous` or `mean`."""
    quorum: int | None = Field(default=None, ge=1)
    """How many votes must have an opinion. Left out: more than half of them."""
    pass_threshold: float = Field(default=0.7, ge=0.0, le=1.0)
    """For `mean`: what the mean of all rubric scores, put on 0 to 1, has to reach."""
    temperature: float = Field(default=0.0, ge=0.0, le=2.0)
    """Given to models that take one."""
    seed: int = Field(default=0, ge=0, le=2**31 - 1)
    """Given to providers that take one; each vote of a model adds its number."""
    timeout_s: float = Field(default=180.0, gt=0, le=3600)
    """Wall time of one call, retries not included."""
    retries: int = Field(default=4, ge=0, le=20)
    """How often a call is made again after a rate limit, a server's fault or a lost connection."""
    max_output_tokens: int = Field(default=4096, ge=256, le=64_000)
    concurrency: int = Field(default=4, ge=1, le=64)
    """Calls at once to one provider."""
    max_cost_usd: float | None = Field(default=None, ge=0)
    """No further call is made once this much was spent in an experiment."""
    budget: Mapping[str, int] = Field(default_factory=dict)
    """Characters shown of a section, instead of the default: `diff`, `transcript`, …"""

    @field_validator("budget")
    @classmethod
    def _known_sections(cls, value: Mapping[str, int]) -> Mapping[str, int]:
        for section, characters in value.items():
            if section not in DEFAULT_BUDGET:
                raise ValueError(f"unknown section {section!r}; known: {', '.join(DEFAULT_BUDGET)}")
            if not 200 <= characters <= 2_000_000:
                raise ValueError(f"{section}: {characters} is not between 200 and 2000000")
        return value

    @model_validator(mode="after")
    def _somebody_judges(self) -> Self:
        if (self.model is None) == (not self.models):
            raise ValueError("give either 'model' or 'models'")
        if self.quorum is not None and self.quorum > self.seats:
            raise ValueError(f"quorum {self.quorum} cannot be reached with {self.seats} votes")
        return self

    @property
    def jurors(self) -> tuple[Juror, ...]:
        """Who is asked."""
        return self.models if self.model is None else (self.model,)

    @property
    def seats(self) -> int:
        """How many votes there are."""
        return len(self.jurors) * self.votes

    @property
    def needed(self) -> int:
        """How many votes must have an opinion."""
        return self.quorum if self.quorum is not None else self.seats // 2 + 1

    @property
    def digest(self) -> str:
        """Identity of the configuration, as far as it can change a verdict."""
        without = {"retries", "concurrency", "timeout_s", "max_cost_usd"}
        return digest_json(self.model_dump(mode="json", exclude=without))

    def budget_of(self, section: str) -> int:
        """How many characters of a section are shown."""
        return self.budget.get(section, DEFAULT_BUDGET[section])


class ProviderMessage(Record):
    """One message of a conversation with a model."""

    role: Literal["user", "assistant"]
    text: str


class ProviderRequest(Record):
    """What a provider is asked."""

    model: str
    system: str
    messages: tuple[ProviderMessage, ...] = Field(min_length=1)
    schema_: Mapping[str, JsonValue] = Field(alias="schema")
    """The JSON Schema that the answer has to fit."""
    schema_name: str
    structured: Literal["schema", "tool", "json"] | None = None
    temperature: float = 0.0
    seed: int | None = None
    max_output_tokens: int = 4096


class ReplyEnd(StrEnum):
    """How an answer came to its end."""

    DONE = "done"
    LENGTH = "length"
    """Cut off at the limit on tokens."""
    REFUSED = "refused"
    """The model, or a filter before it, declined to answer."""


class ProviderReply(Record):
    """What a provider answered."""

    text: str
    """The answer; of a tool call, its arguments as JSON."""
    end: ReplyEnd = ReplyEnd.DONE
    model: str = ""
    """Which model says it answered."""
    usage: JudgeUsage = JudgeUsage(calls=1)
