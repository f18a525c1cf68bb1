"""The scorers of traces, a summary in and a row out."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import ValidationError

from adjudge.formats.traces.summary import summarise
from adjudge.formats.traces.tools import tool_call
from adjudge.records.evidence import SummarisedTrace
from adjudge.records.score import ScorerOutcome, Verdict
from adjudge.records.trace import Stop, ToolKind, TraceItem, TraceSummary
from adjudge.scorers.process.efficiency import Efficiency
from adjudge.scorers.process.trace import Trace

pytestmark = pytest.mark.anyone


class Told:
    """Evidence of one summary."""

    def __init__(self, summary: TraceSummary | None) -> None:
        self._answer = SummarisedTrace(summary=summary)

    def __getitem__(self, request: Any) -> Any:
        return self._answer


def trace(summary: TraceSummary | None, **config: Any) -> ScorerOutcome:
    return Trace().score(Trace.Config.model_validate(config), Told(summary))


def efficiency(summary: TraceSummary | None, **config: Any) -> ScorerOutcome:
    return Efficiency().score(Efficiency.Config.model_validate(config), Told(summary))


def called(*names: str) -> TraceSummary:
    items: list[TraceItem] = [tool_call(name, {}) for name in names]
    return summarise([*items, Stop(reason="end_turn")], "x")


@pytest.mark.parametrize(
    "config",
    [
        {},
        {"require_no_denied": False},
        {"require_tools": [{}]},
        {"require_tools": [{"kind": "wriet"}]},
        {"require_tools": [{"tool": "x"}]},
        {"max_tool_calls": -1},
        {"max_tool_calls": {"wriet": 3}},
        {"max_tool_calls": {}},
        {"max_tokens": 1.5},
        {"max_cost_usd": float("nan")},
        {"pass_threshold": 2, "max_tokens": 1},
    ],
)
def test_what_checks_nothing_is_refused(config: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        Trace.Config.model_validate(config)


@pytest.mark.parametrize("config", [{}, {"target_tokens": -1}, {"pass_threshold": 0.5}, {"target_cost": 1}])
def test_what_measures_nothing_is_refused(config: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        Efficiency.Config.model_validate(config)


def test_write_is_edit_wherever_a_kind_is_named() -> None:
    config = Trace.Config.model_validate_json(
        '{"require_tools": [{"kind": "write"}], "max_tool_calls": {"write": 3}}'
    )
    assert config.require_tools[0].kind is ToolKind.EDIT
    assert config.max_tool_calls == {ToolKind.EDIT: 3}


@pytest.mark.parametrize("name", ["WebFetch", "webfetch", "web_fetch", "WEB_FETCH"])
def test_a_name_is_the_agents_or_ours_in_any_case(name: str) -> None:
    outcome = trace(called("WebFetch"), forbid_tools=[{"name": name}])
    assert outcome.verdict is Verdict.FAIL
    assert outcome.findings[0].rule == "tool-forbidden"


def test_a_name_and_a_kind_have_to_fit_both() -> None:
    assert trace(called("Bash"), require_tools=[{"name": "bash", "kind": "edit"}]).score == 0.0
    assert trace(called("Bash"), require_tools=[{"name": "bash", "kind": "execute"}]).score == 1.0


def test_no_forbidden_name_hides_behind_too_many_names() -> None:
    summary = called(*(f"tool{n}" for n in range(1100)))
    outcome = trace(summary, forbid_tools=[{"name": "evil"}])
    assert outcome.verdict is Verdict.FAIL
    assert "too many different tools" in outcome.findings[0].message


def test_every_check_has_its_line() -> None:
    outcome = trace(
        called("Bash", "Edit"), require_tools=[{"kind": "edit"}, {"kind": "move"}], max_tool_calls=1
    )
    assert outcome.score == pytest.approx(1 / 3)
    assert outcome.details["checks"] == [
        {"check": "require kind edit", "held": True, "seen": "1 call"},
        {"check": "require kind move", "held": False, "seen": "0 calls"},
        {"check": "max_tool_calls 1", "held": False, "seen": "2 tool calls"},
    ]
    assert (
        trace(called("Edit"), require_tools=[{"kind": "edit"}, {"kind": "move"}], pass_threshold=0.5).verdict
        == "PASS"
    )


def test_without_a_trace_neither_applies() -> None:
    assert trace(None, max_tokens=1).verdict is Verdict.NA
    assert efficiency(None, target_tokens=1).verdict is Verdict.NA


@pytest.mark.parametrize(("target", "score"), [(4, 1.0), (2, 1.0), (1, 0.5), (0, 0.0)])
def test_the_ramp(target: int, score: float) -> None:
    assert efficiency(called("a", "b"), target_tool_calls=target).score == score


def test_a_target_of_nothing_can_be_met() -> None:
    assert efficiency(called(), target_tool_calls=0).score == 1.0


@pytest.mark.parametrize("scorer", [Trace, Efficiency])
def test_both_are_advisory_unless_said(scorer: type[Trace] | type[Efficiency]) -> None:
    assert not scorer.required_by_default
