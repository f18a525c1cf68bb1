"""Traces written to break their reader: whatever the bytes, there are events or one kind of error."""

from __future__ import annotations

import copy
import io
import json
import random
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from adjudge import catalog
from adjudge.errors import TraceUnreadable
from adjudge.formats.traces import inspect_log
from adjudge.formats.traces.adjudge import encode_item
from adjudge.formats.traces.atif import write_atif
from adjudge.formats.traces.detect import read_trace
from adjudge.formats.traces.summary import summarise
from adjudge.records.trace import TraceItem, TraceSummary

pytestmark = pytest.mark.anyone

SAMPLES = sorted((Path(__file__).parent / "samples").iterdir())
FORMATS = catalog.names("traceformats")
JUNK: list[Any] = [
    None,
    True,
    -5,
    10**30,
    1e308,
    -0.0,
    "",
    "\ud800\u202e\x1b[2J\x00",
    "x" * 3000,
    [],
    {},
    [[]],
    {"a": {"b": []}},
    [None, 3, "x", {}],
    "2026-99-99T99:99:99Z",
]


def read(data: bytes, format: str | None = None) -> TraceSummary:
    """Reads it all, and makes sure that everything read can be written."""
    opened = read_trace(io.BytesIO(data), format=format)

    def written() -> Iterator[TraceItem]:
        for item in opened.items:
            encode_item(item)
            yield item

    summary = summarise(written(), opened.format)
    summary.model_dump_json()
    return summary


def tolerant(data: bytes, format: str | None = None) -> TraceSummary | None:
    try:
        return read(data, format)
    except TraceUnreadable:
        return None


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    inside = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, member in inside:
        yield (*path, key)
        yield from places(member, (*path, key))


def spoiled(value: Any, path: tuple[Any, ...], junk: Any) -> Any:
    made = copy.deepcopy(value)
    at = made
    for key in path[:-1]:
        at = at[key]
    at[path[-1]] = junk
    return made


@pytest.mark.parametrize(
    "sample", [path for path in SAMPLES if path.suffix != ".md"], ids=lambda path: path.name
)
def test_junk_in_the_place_of_any_value(sample: Path) -> None:
    """Every place of a sample takes every piece of junk; none may raise anything else than the one error."""
    format = read_trace(io.BytesIO(sample.read_bytes()), filename=sample.name).format
    pieces = (
        [json.loads(line) for line in sample.read_text().splitlines() if line.startswith("{")]
        if sample.suffix == ".jsonl"
        else [json.loads(sample.read_text())]
    )
    chance = random.Random(sample.name)
    for number, piece in enumerate(pieces):
        for path in places(piece):
            junk = chance.sample(JUNK, 3 if sample.suffix == ".json" else 2)
            for value in junk:
                lines = [*pieces[:number], spoiled(piece, path, value)]
                tolerant("\n".join(json.dumps(line) for line in lines[-3:]).encode(), format)


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\n\n\n",
        b"{",
        b"[",
        b"null",
        b"3",
        b'"text"',
        b"[1, null, [], {}]",
        b"{}\n{}\n[]\n",
        b'{"type": "assistant"}\n{"type": 3}\n{"type": "result"}\n{"type": "item.completed"}\n',
        b"[" * 100_000,
        b'{"a":' * 100_000,
        b'{"messages":' + b"[" * 5_000 + b"]" * 5_000 + b"}",
        b"\xff\xfe\x00\x01" * 100,
        b"PK\x03\x04" + b"\x00" * 100,
        b'{"type": "result", "total_cost_usd": NaN, "usage": {"input_tokens": -1e999}}',
        b'{"steps": [' + b"9" * 5000 + b"]}",
    ],
)
def test_no_trace_at_all(format: str, data: bytes) -> None:
    tolerant(data, format)


@pytest.mark.parametrize("sample", SAMPLES, ids=lambda path: path.name)
def test_a_trace_that_is_cut_off_is_read_as_far_as_it_goes(sample: Path) -> None:
    data = sample.read_bytes()
    whole = read(data)
    for share in (0.3, 0.6, 0.95):
        cut = tolerant(data[: int(len(data) * share)], whole.format)
        assert cut is not None
        assert cut.tool_calls <= whole.tool_calls
    if sample.suffix == ".json" and whole.format not in ("gemini",):
        cut = read(data[: int(len(data) * 0.95)], whole.format)
        assert cut.broken >= 1
        assert cut.events > 0


def test_numbers_that_are_none_are_said_and_left_out() -> None:
    lines = [
        {
            "type": "assistant",
            "parent_tool_use_id": None,
            "message": {"id": "m", "content": [], "usage": {"input_tokens": -7, "output_tokens": 3}},
        },
        {"type": "result", "total_cost_usd": -1, "subtype": "success"},
    ]
    summary = read("\n".join(json.dumps(line) for line in lines).encode())
    assert (summary.tokens.input, summary.tokens.output, summary.cost_usd) == (None, 3, None)
    assert [sample.reason for sample in summary.broken_samples] == [
        "no counts of tokens: input_tokens is -7",
        "total_cost_usd is no cost",
    ]


def test_nan_is_not_a_cost() -> None:
    summary = read(
        b'{"type": "result", "session_id": "s", "total_cost_usd": NaN, "subtype": "success"}', "claude-code"
    )
    assert summary.cost_usd is None


def test_a_huge_line_is_one_broken_line_and_what_follows_is_read() -> None:
    message = b'{"content":[{"type":"tool_use","name":"Bash"}]}'
    line = b'{"type":"assistant","parent_tool_use_id":null,"message":' + message + b"}\n"
    data = line + b'{"x":"' + b"y" * (17 * 1024 * 1024) + b'"}\n' + line
    summary = read(data)
    assert (summary.tool_calls, summary.broken) == (2, 1)
    assert "17,825," in summary.broken_samples[0].reason


def test_many_values_in_a_line_are_refused() -> None:
    data = b'{"type":"x","parent_tool_use_id":[' + b"{}," * 2_000_000 + b"{}]}\n"
    assert read(data).broken == 1


@pytest.mark.parametrize("sample", SAMPLES, ids=lambda path: path.name)
def test_every_sample_can_be_written_as_atif(sample: Path) -> None:
    opened = read_trace(io.BytesIO(sample.read_bytes()))
    stream = io.BytesIO()
    written = write_atif(opened.items, stream, format=opened.format)
    again = read(stream.getvalue())
    assert again.format == "atif"
    assert again.tool_calls == written.tool_calls
    assert again.tokens.total == written.tokens.total
    assert again.cost_usd == written.cost_usd


def test_long_ids_are_not_remembered_whole() -> None:
    """A thousand ids of 20 kB each, twice: every message still counts once."""
    message = '{"id":"%s","content":[],"usage":{"input_tokens":2}}'
    line = '{"type":"assistant","parent_tool_use_id":null,"message":' + message + "}"
    ids = [f"{number}{'x' * 20_000}" for number in range(1000)]
    data = "\n".join(line % id for id in [*ids, *ids]).encode()
    assert read(data).tokens.input == 2000


def test_a_part_of_many_long_texts_is_refused_and_what_follows_is_read() -> None:
    text = json.dumps("y" * 1_000_000)
    data = (
        f'[{{"role":"user","content":[{",".join([text] * 40)}]}},{{"role":"user","content":"hi"}}]'.encode()
    )
    summary = read(data, "openai")
    assert (summary.broken, summary.by_type["message"]) == (1, 1)
    assert summary.broken_samples[0].reason == "*: too large a part"


def test_an_archive_that_unpacks_to_too_much(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(inspect_log, "_MOST_UNPACKED", 1_000_000)
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", compression=zipfile.ZIP_DEFLATED) as made:
        for number in range(3):
            made.writestr(f"samples/x_epoch_{number}.json", '{"id":"' + "x" * 600_000 + '","messages":[]}')
    summary = read(stream.getvalue(), "inspect")
    assert summary.broken == 2
    assert "bytes unpacked" in summary.broken_samples[0].reason


def test_no_count_makes_more_events_than_a_trace_can_have() -> None:
    tools = {f"t{n}": {"count": 10**12, "decisions": {"reject": 10**12}} for n in range(50)}
    summary = read(json.dumps({"stats": {"tools": {"byName": tools}, "models": {}}}).encode())
    assert (summary.tool_calls, summary.denied) == (10_000, 10_000)


@pytest.mark.parametrize("name", ["gemini-stream.jsonl", "openai-completions.jsonl"])
def test_a_broken_first_line_hides_nothing_after_it(name: str) -> None:
    data = (Path(__file__).parent / "samples" / name).read_bytes()
    whole = read(data)
    broken = read(b'{"cut off": \n' + data, whole.format)
    assert (broken.tool_calls, broken.tokens, broken.broken) == (whole.tool_calls, whole.tokens, 1)
