"""Steps of traces, and pages of them."""

import io
import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from adjudge.formats.traces.adjudge import encode_header
from adjudge.records.trace import BrokenLine, ToolCall, ToolResult
from adjudge.web.agenttrace.spools import Kept
from adjudge.web.agenttrace.steps import Step, StepKind, StepMaker
from adjudge.web.agenttrace.timeline import Timeline, TimelineQuery

pytestmark = pytest.mark.anyone


def steps(*events: Any) -> list[Step]:
    maker = StepMaker()
    for event in events:
        maker.add(event)
    assert len(maker.owners) == len(events)
    return maker.steps


def call(name: str, **more: Any) -> dict[str, Any]:
    return {"type": "tool_call", "id": name, "raw_name": "Bash", "name": "bash", "kind": "execute", **more}


def result(name: str, **more: Any) -> dict[str, Any]:
    return {"type": "tool_result", "call_id": name, "text": f"result of {name}", **more}


@contextmanager
def timeline(*events: Any, header: bool = True) -> Iterator[Timeline]:
    lines = [event if isinstance(event, bytes) else json.dumps(event).encode() for event in events]
    made = Timeline(io.BytesIO((encode_header("x") if header else b"") + b"\n".join(lines)))
    try:
        yield made
    finally:
        made.close()


class TestSteps:
    def test_a_call_takes_its_result_whatever_stands_between(self) -> None:
        found = steps(call("a"), call("b"), result("a", is_error=True), {"type": "thought"}, result("b"))
        assert [(step.kind, step.parts, step.failed) for step in found] == [
            (StepKind.TOOL, [0, 2], True),
            (StepKind.TOOL, [1, 4], False),
            (StepKind.THOUGHT, [3], False),
        ]

    def test_results_without_ids_belong_to_the_last_call(self) -> None:
        found = steps(call(""), result(""), result(""))
        assert [step.parts for step in found] == [[0, 1], [2]]

    def test_permission_belongs_to_its_call_even_when_it_was_asked_first(self) -> None:
        asked = {"type": "permission_request", "id": "p", "call_id": "a"}
        found = steps(
            asked, call("a"), {"type": "permission_response", "request_id": "p", "outcome": "denied"}
        )
        assert [(step.kind, step.parts, step.asked, step.denied) for step in found] == [
            (StepKind.TOOL, [1, 0, 2], True, True)
        ]
        alone = steps({"type": "permission_response", "outcome": "cancelled"})
        assert (alone[0].kind, alone[0].denied) == (StepKind.PERMISSION, True)

    def test_use_is_added_to_what_the_agent_did_last(self) -> None:
        used = {"type": "usage", "tokens": {"input": 5, "cache_read": 10}, "cost_usd": 0.5}
        found = steps(
            {"type": "message", "role": "assistant"}, used, used, {"type": "message", "role": "user"}, used
        )
        assert (found[0].tokens, found[0].cost_usd) == (45, 1.5)
        assert found[1].tokens is None
        total = steps(call("a"), {**used, "scope": "total", "tokens": {"total": 9}})
        assert [(step.kind, step.tokens) for step in total] == [(StepKind.TOOL, None), (StepKind.USAGE, 9)]
        assert steps(used)[0].kind is StepKind.USAGE

    def test_what_cannot_be_read_is_a_step(self) -> None:
        odd: list[Any] = [None, {}, {"type": 7}, {"type": "message", "role": 3, "time_s": "x", "agent": []}]
        assert [step.kind for step in steps(*odd)] == [StepKind.BROKEN] * 3 + [StepKind.MESSAGE]

    def test_any_number_of_results_on_one_call_is_bounded(self) -> None:
        found = steps(call("a"), *(result("a") for _ in range(500)))
        assert len(found) == 1
        assert len(found[0].parts) + found[0].left_out == 501
        assert len(found[0].parts) < 100


class TestTimeline:
    def test_pages_follow_each_other(self) -> None:
        with timeline(*({"type": "thought", "text": str(n)} for n in range(95))) as trace:
            seen, start = [], 1
            while True:
                page = trace.page(TimelineQuery(start))
                seen += [shown.number for shown in page.steps]
                if page.following is None:
                    break
                start = page.following
            assert seen == list(range(1, 96))
            assert page.previous == 41
            assert [shown.number for shown in trace.page(TimelineQuery(10**9)).steps][-1] == 95

    def test_reads_the_events_of_a_step(self) -> None:
        with timeline(call("a", input="ls"), b"{broken", result("a"), b"") as trace:
            first = trace.step(1)
            assert [type(item) for item in first.items] == [ToolCall, ToolResult]
            assert isinstance(trace.step(2).items[0], BrokenLine)
            with pytest.raises(IndexError):
                trace.step(3)

    def test_narrows_by_kind_agent_and_text(self) -> None:
        events = [
            {"type": "message", "role": "user", "text": 'Straße "quoted"\nnew line'},
            call("a", input="grep needle"),
            result("a", text="NEEDLE found", is_error=True),
            {"type": "thought", "text": "hm", "agent": "helper"},
            {"type": "stop", "reason": "end_turn"},
        ]

        def numbers(**wanted: Any) -> list[int]:
            return [shown.number for shown in trace.page(TimelineQuery(**wanted)).steps]

        with timeline(*events) as trace:
            assert numbers(text="needle") == [2]
            assert numbers(text="STRAßE") == [1]
            assert numbers(text='"QUOTED"\nnew') == [1]
            assert numbers(text="text") == []
            assert numbers(text="type") == []
            assert numbers(kind="error") == [2]
            assert numbers(kind="subagent") == numbers(agent="helper") == [3]
            assert numbers(kind="thought", text="hm", agent="nobody") == []
            assert (trace.first_error, trace.errors, trace.agents) == (2, 1, ("helper",))

    def test_a_search_is_bounded(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("adjudge.web.agenttrace.timeline.MAX_FOUND", 10)
        with timeline(*({"type": "thought", "text": "same"} for _ in range(50))) as trace:
            page = trace.page(TimelineQuery(text="same"))
            assert (page.matching, page.capped) == (10, True)
            assert trace.page(TimelineQuery(text="same")).matching == 10

    def test_an_index_is_bounded(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("adjudge.web.agenttrace.timeline.MAX_EVENTS", 3)
        with timeline(*({"type": "thought", "text": "x"} for _ in range(5))) as trace:
            assert (len(trace.steps), trace.incomplete) == (3, True)

    @pytest.mark.parametrize("data", [b"", b"\n\n", b"\xff\x00", b"[" * 100_000, b"null\n7\n"])
    def test_no_bytes_break_it(self, data: bytes) -> None:
        with timeline(data, header=False) as trace:
            assert all(shown.items for shown in trace.page(TimelineQuery()).steps)


class Thing:
    size_bytes = 10

    def __init__(self) -> None:
        self.closed = False

    def close(self) -> None:
        self.closed = True


class TestKept:
    def test_keeps_the_last_ones_and_closes_the_rest(self) -> None:
        kept: Kept[Thing] = Kept(items=2)
        made = [Thing() for _ in range(3)]
        for at, thing in enumerate(made):
            with kept.use(at, lambda thing=thing: thing):  # type: ignore[misc]
                pass
        assert [thing.closed for thing in made] == [True, False, False]
        with kept.use(1, Thing) as again:
            assert again is made[1]
        kept.close()
        assert all(thing.closed for thing in made)

    def test_what_is_read_stays_open(self) -> None:
        kept: Kept[Thing] = Kept(size_bytes=15)
        with kept.use("a", Thing) as first:
            with kept.use("b", Thing):
                pass
            assert not first.closed
        assert first.closed

    def test_a_failure_to_make_is_not_kept(self) -> None:
        kept: Kept[Thing] = Kept()

        def fail() -> Thing:
            raise ValueError("no")

        with pytest.raises(ValueError, match="no"), kept.use("a", fail):
            pass
        with kept.use("a", Thing) as thing:
            assert not thing.closed
