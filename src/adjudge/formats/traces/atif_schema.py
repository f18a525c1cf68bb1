"""The Agent Trajectory Interchange Format, 1.0 to 1.8: every object knows its fields and no others.

A trajectory is never held whole, so there is no record of it: `atif` reads steps one by one and checks what
belongs to the whole as it comes.
"""

from typing import Annotated, Any, Literal, Self

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    StrictBool,
    StrictFloat,
    StrictInt,
    StrictStr,
    model_validator,
)

__all__ = ["VERSIONS", "AtifAgent", "AtifMetrics", "AtifStep", "FinalMetrics", "needed_version"]

VERSIONS = tuple(f"ATIF-v1.{minor}" for minor in range(9))

Number = StrictInt | StrictFloat
Count = Annotated[StrictInt, Field(ge=0)]
Extra = dict[str, Any]


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, defer_build=True, allow_inf_nan=False)


class Source(_Strict):
    """Where an image or a sound lies."""

    media_type: StrictStr
    path: StrictStr
    duration_sec: Number | None = None


class ContentPart(_Strict):
    """A part of a content."""

    type: Literal["text", "image", "audio"]
    text: StrictStr | None = None
    source: Source | None = None

    @model_validator(mode="after")
    def _one_of_both(self) -> Self:
        if (self.type == "text") != (self.text is not None) or (self.type != "text") != (
            self.source is not None
        ):
            raise ValueError("a text part has `text`, any other has `source`")
        if self.type == "image" and self.source is not None and self.source.media_type not in _IMAGES:
            raise ValueError(f"media_type is one of {', '.join(_IMAGES)}")
        return self


_IMAGES = ("image/jpeg", "image/png", "image/gif", "image/webp")
Content = StrictStr | list[ContentPart]


class AtifAgent(_Strict):
    """The agent."""

    name: StrictStr
    version: StrictStr
    model_name: StrictStr | None = None
    tool_definitions: list[dict[str, Any]] | None = None
    extra: Extra | None = None


class AtifCall(_Strict):
    """A tool call."""

    tool_call_id: StrictStr
    function_name: StrictStr
    arguments: dict[str, Any]
    extra: Extra | None = None


class SubagentRef(_Strict):
    """Where a sub-agent's trajectory is."""

    trajectory_id: StrictStr | None = None
    trajectory_path: StrictStr | None = None
    session_id: StrictStr | None = None
    extra: Extra | None = None


class AtifResult(_Strict):
    """What a tool gave back."""

    source_call_id: StrictStr | None = None
    content: Content | None = None
    subagent_trajectory_ref: list[SubagentRef] | None = None
    extra: Extra | None = None


class AtifObservation(_Strict):
    """What came back in a step."""

    results: list[AtifResult]


class AtifMetrics(_Strict):
    """What a step used."""

    prompt_tokens: Count | None = None
    """With what came from a cache."""
    completion_tokens: Count | None = None
    cached_tokens: Count | None = None
    cost_usd: Annotated[Number, Field(ge=0)] | None = None
    prompt_token_ids: list[StrictInt] | None = None
    completion_token_ids: list[StrictInt] | None = None
    logprobs: list[Number] | None = None
    extra: Extra | None = None


class FinalMetrics(_Strict):
    """What the whole used."""

    total_prompt_tokens: Count | None = None
    total_completion_tokens: Count | None = None
    total_cached_tokens: Count | None = None
    total_cost_usd: Annotated[Number, Field(ge=0)] | None = None
    total_steps: Count | None = None
    extra: Extra | None = None


class AtifStep(_Strict):
    """One step."""

    step_id: StrictInt
    source: Literal["system", "user", "agent"]
    message: Content
    timestamp: StrictStr | None = None
    model_name: StrictStr | None = None
    reasoning_effort: StrictStr | Number | None = None
    reasoning_content: StrictStr | None = None
    tool_calls: list[AtifCall] | None = None
    observation: AtifObservation | None = None
    metrics: AtifMetrics | None = None
    is_copied_context: StrictBool | None = None
    llm_call_count: Count | None = None
    extra: Extra | None = None

    @model_validator(mode="after")
    def _agents_only(self) -> Self:
        if self.source != "agent":
            wrong = [name for name in _AGENTS_ONLY if getattr(self, name) is not None]
            if wrong:
                raise ValueError(f"{', '.join(wrong)} on a step of the {self.source}")
        elif self.llm_call_count == 0 and (self.metrics or self.reasoning_content is not None):
            raise ValueError("metrics or reasoning_content on a step without a call of a model")
        calls = {call.tool_call_id for call in self.tool_calls or ()}
        for result in self.observation.results if self.observation else ():
            if result.source_call_id is not None and result.source_call_id not in calls:
                raise ValueError(
                    f"source_call_id {result.source_call_id[:100]!r} is no tool call of the step"
                )
            for ref in result.subagent_trajectory_ref or ():
                if ref.trajectory_id is None and ref.trajectory_path is None and ref.session_id is None:
                    raise ValueError("a subagent_trajectory_ref that names no trajectory")
        return self


_AGENTS_ONLY = ("model_name", "reasoning_effort", "reasoning_content", "tool_calls", "metrics")


def needed_version(step: AtifStep) -> tuple[int, str]:
    """The minor version in which everything a step uses is known, and what needs it."""
    observed = step.observation.results if step.observation else []
    contents = [step.message, *(result.content for result in observed)]
    parts = [part for content in contents if isinstance(content, list) for part in content]
    metrics = step.metrics
    used = (
        (8, "audio", any(part.type == "audio" for part in parts)),
        (7, "llm_call_count", step.llm_call_count is not None),
        (7, "extra of a tool call", any(call.extra is not None for call in step.tool_calls or ())),
        (7, "extra of a result", any(result.extra is not None for result in observed)),
        (6, "content in parts", bool(parts)),
        (5, "is_copied_context", step.is_copied_context is not None),
        (4, "prompt_token_ids", metrics is not None and metrics.prompt_token_ids is not None),
        (3, "completion_token_ids", metrics is not None and metrics.completion_token_ids is not None),
        (2, "an observation on a step of the system", step.source == "system" and bool(observed)),
    )
    return next(((minor, what) for minor, what, there in used if there), (0, ""))
