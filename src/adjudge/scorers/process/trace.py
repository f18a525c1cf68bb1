"""`trace`: the agent worked as it should, as its trace tells it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated, ClassVar, NamedTuple, Self

from pydantic import Discriminator, Field, JsonValue, StringConstraints, Tag, WithJsonSchema, model_validator

from adjudge.contracts import Evidence
from adjudge.records.base import Record
from adjudge.records.evidence import AnyRequest, TraceRead
from adjudge.records.score import Finding, ScorerConfig, ScorerOutcome
from adjudge.records.trace import MAX_NAME, ToolKind, TraceSummary
from adjudge.scorers.process.tracechecks import (
    Metric,
    broken_note,
    cost_metric,
    no_trace,
    tokens_metric,
    tool_calls_metric,
)
from adjudge.scorers.wording import counted, first_findings

__all__ = ["Trace"]

Kind = Annotated[
    ToolKind, WithJsonSchema({"type": "string", "enum": [*(kind.value for kind in ToolKind), "write"]})
]


Limit = Annotated[int, Field(ge=0, strict=True)]
CallLimit = Annotated[
    Annotated[Limit, Tag("all")] | Annotated[Mapping[Kind, Limit], Field(min_length=1), Tag("kinds")],
    Discriminator(lambda value: "kinds" if isinstance(value, Mapping) else "all"),
]


class ToolPattern(Record):
    """Tools, by what they do, by their name, or by both."""

    kind: Kind | None = None
    """What the tool does: read, edit (or write), delete, move, search, execute, think, fetch or other."""
    name: Annotated[str, StringConstraints(min_length=1, max_length=MAX_NAME)] | None = None
    """The tool's name, as the agent has it or in snake case; upper and lower case are the same."""

    @model_validator(mode="after")
    def _says_something(self) -> Self:
        if self.kind is None and self.name is None:
            raise ValueError("give a kind, a name or both")
        return self

    def __str__(self) -> str:
        parts = [f"kind {self.kind.value}" if self.kind else "", f"name {self.name!r}" if self.name else ""]
        return " and ".join(part for part in parts if part)


class _Check(NamedTuple):
    """One check: whether it holds, None where the trace does not tell."""

    rule: str
    asked: str
    held: bool | None
    seen: str


class Trace:
    """The agent worked as it should: which tools it called, how often, and what it spent.

    Measures:
        Each of `require_tools`, each of `forbid_tools`, each limit of `max_tool_calls`, `max_tokens`,
        `max_cost_usd` and `require_no_denied` is one check. The score is the fraction of checks that hold;
        PASS when it reaches `pass_threshold`. Limits are cliffs; `efficiency` has ramps. A check whose figure
        the trace does not tell is left out and said; when that is so of all, and when there is no trace, the
        row is N/A.

    Evidence:
        The trace in figures. Tokens are those read and written, caches included. The details have every
        check with what was seen, findings those that do not hold.

    How it is fooled:
        A trace is what the agent says about itself. One that leaves a call out, calls a tool by another name
        or states fewer tokens is believed. A shell does everything: `forbid_tools` of the kind `delete`
        does not see `rm`. What counts should be checked on the change itself.

    Example:
        ```yaml
        graders:
          - type: trace
            weight: 1.0
            require_tools: [{kind: write}]
            forbid_tools: [{name: WebFetch}]
            max_tool_calls: {execute: 20}
            require_no_denied: true
        ```
    """

    name: ClassVar[str] = "trace"
    version: ClassVar[str] = "1"
    required_by_default: ClassVar[bool] = False
    advisory_only: ClassVar[bool] = False

    class Config(ScorerConfig):
        """Fields of `trace`."""

        require_tools: tuple[ToolPattern, ...] = Field(default=(), max_length=100)
        """Tools of each of these kinds or names were called at least once."""
        forbid_tools: tuple[ToolPattern, ...] = Field(default=(), max_length=100)
        """No tool of these kinds or names was called."""
        max_tool_calls: CallLimit | None = None
        """The most tool calls there may be: a number for all together, or one for each of some kinds."""
        max_tokens: int | None = Field(default=None, ge=0, strict=True)
        """The most tokens that may be read and written, caches included."""
        max_cost_usd: float | None = Field(default=None, ge=0)
        """The most it may cost, in US dollars."""
        require_no_denied: bool = False
        """Whether no request for permission may have been denied."""
        pass_threshold: float = Field(default=1.0, ge=0.0, le=1.0)
        """The score from which on it is a PASS."""

        @model_validator(mode="after")
        def _checks_something(self) -> Self:
            limits = (self.max_tool_calls, self.max_tokens, self.max_cost_usd)
            if not (self.require_tools or self.forbid_tools or self.require_no_denied) and not any(
                limit is not None for limit in limits
            ):
                raise ValueError("nothing to check: give require_tools, forbid_tools, a limit, …")
            return self

    def needs(self, config: Config) -> Sequence[AnyRequest]:
        """The trace in figures."""
        return (TraceRead(),)

    def score(self, config: Config, evidence: Evidence) -> ScorerOutcome:
        """The fraction of checks that hold."""
        summary = evidence[TraceRead()].summary
        if summary is None:
            return no_trace()
        checks = list(_checks(config, summary))
        told = [check for check in checks if check.held is not None]
        lines: list[JsonValue] = [
            {"check": check.asked, "held": check.held, "seen": check.seen} for check in checks
        ]
        details: dict[str, JsonValue] = {"format": summary.format, "broken": summary.broken, "checks": lines}
        unknown = [check.asked for check in checks if check.held is None]
        left_out = f"; not told by the trace: {', '.join(unknown)}" if unknown else ""
        if not told:
            return ScorerOutcome.not_applicable(
                f"the trace tells nothing of {', '.join(unknown)}", details=details
            )
        failed = [check for check in told if not check.held]
        held = len(told) - len(failed)
        if failed:
            reason = f"{held:,} of {counted(len(told), 'check')} hold: {failed[0].asked}: {failed[0].seen}"
        else:
            reason = "the check holds" if held == 1 else f"all {held:,} checks hold"
        return ScorerOutcome.fraction(
            held / len(told),
            config.pass_threshold,
            reason + left_out + broken_note(summary),
            findings=first_findings(
                Finding(rule=check.rule, message=f"{check.asked}: {check.seen}") for check in failed
            ),
            details=details,
        )


def _checks(config: Trace.Config, summary: TraceSummary) -> Iterator[_Check]:
    for pattern in config.require_tools:
        calls, doubt = _calls(pattern, summary)
        held = calls > 0 if summary.tools_known else None
        yield _Check("tool-missing", f"require {pattern}", held, counted(calls, "call") + doubt)
    for pattern in config.forbid_tools:
        calls, doubt = _calls(pattern, summary)
        held = calls == 0 and not doubt if summary.tools_known else None
        yield _Check("tool-forbidden", f"forbid {pattern}", held, counted(calls, "call") + doubt)
    if isinstance(config.max_tool_calls, int):
        yield _limit(
            "too-many-tool-calls", "max_tool_calls", config.max_tool_calls, tool_calls_metric(summary)
        )
    elif config.max_tool_calls is not None:
        for kind, limit in config.max_tool_calls.items():
            calls = summary.tool_kinds.get(kind, 0)
            metric = Metric(kind, calls if summary.tools_known else None, counted(calls, "call"))
            yield _limit("too-many-tool-calls", f"max_tool_calls of kind {kind.value}", limit, metric)
    if config.max_tokens is not None:
        yield _limit("too-many-tokens", "max_tokens", config.max_tokens, tokens_metric(summary))
    if config.max_cost_usd is not None:
        yield _limit("too-expensive", "max_cost_usd", config.max_cost_usd, cost_metric(summary))
    if config.require_no_denied:
        held = summary.denied == 0 if summary.tools_known else None
        yield _Check("permission-denied", "require_no_denied", held, f"{summary.denied:,} denied")


def _limit(rule: str, name: str, limit: float, metric: Metric) -> _Check:
    held = None if metric.value is None else metric.value <= limit
    return _Check(rule, f"{name} {limit:,}", held, metric.shown)


def _calls(pattern: ToolPattern, summary: TraceSummary) -> tuple[int, str]:
    """How often matching tools were called, and what makes that uncertain."""
    if pattern.name is None:
        return summary.tool_kinds.get(pattern.kind, 0) if pattern.kind else 0, ""
    name = pattern.name.casefold()
    calls = sum(
        tool.calls
        for tool in summary.tools
        if name in (tool.raw_name.casefold(), tool.name) and pattern.kind in (None, tool.kind)
    )
    doubt = summary.unnamed_tool_calls
    return (
        calls,
        f", and {counted(doubt, 'call')} of too many different tools to tell by name" if doubt else "",
    )
