from __future__ import annotations

import pytest
from pydantic import ValidationError

from adjudge.records.trace import (
    MAX_NAME,
    MAX_TEXT,
    Message,
    TokenCounts,
    ToolCall,
    ToolKind,
    TraceUsage,
    clip_text,
)

pytestmark = pytest.mark.anyone


def test_write_is_edit() -> None:
    assert ToolKind("write") is ToolKind.EDIT
    assert ToolCall.model_validate({"raw_name": "W", "name": "w", "kind": "write"}).kind is ToolKind.EDIT


def test_long_texts_keep_both_ends_and_say_what_is_missing() -> None:
    event = Message(role="user", text="a" * MAX_TEXT + "b" * MAX_TEXT)
    assert len(event.text) <= MAX_TEXT
    assert event.text.startswith("aaa")
    assert event.text.endswith("bbb")
    assert f"{2 * MAX_TEXT} characters in all" in event.text
    assert event.dropped >= MAX_TEXT
    again = Message.model_validate(event.model_dump())
    assert again == event, "clipping is done once"


@pytest.mark.parametrize("limit", [0, 1, 10, 60, 1000])
def test_clipping_never_exceeds_the_limit(limit: int) -> None:
    text, dropped = clip_text("x" * 5000, limit)
    assert len(text) <= limit
    assert dropped > 0


def test_names_are_short() -> None:
    event = ToolCall(raw_name="x" * 10_000, name="y" * 10_000, kind=ToolKind.OTHER, id="z" * 10_000)
    assert max(map(len, (event.raw_name, event.name, event.id))) <= MAX_NAME


def test_lone_surrogates_do_not_get_in() -> None:
    assert Message(role="user", text="a\ud800b").text == "a\ufffdb"


@pytest.mark.parametrize("value", [-1, 10**18, float("nan"), 1.5])
def test_no_such_count_of_tokens(value: float) -> None:
    with pytest.raises(ValidationError):
        TokenCounts.model_validate({"input": value})


@pytest.mark.parametrize("value", [-0.01, float("nan"), float("inf")])
def test_no_such_cost(value: float) -> None:
    with pytest.raises(ValidationError):
        TraceUsage(cost_usd=value)


def test_parts_are_known_or_not() -> None:
    assert TokenCounts().parts is None
    assert TokenCounts(input=0).parts == 0
    assert TokenCounts(input=1, output=2, cache_read=4, cache_write=8, reasoning=1).parts == 15
