from __future__ import annotations

import time
from typing import Any

import pytest

from adjudge.formats.tasks.document import MAX_BYTES, parse_document

pytestmark = pytest.mark.anyone


def read(text: str) -> Any:
    document = parse_document(text.encode(), file="f")
    assert document.problems == []
    assert document.root is not None
    return document.root.plain()


def refused(data: bytes) -> str:
    document = parse_document(data, file="f")
    assert document.root is None
    return "\n".join(map(str, document.problems))


@pytest.mark.parametrize(
    ("written", "value"),
    [
        ("on", "on"), ("yes", "yes"), ("no", "no"), ("off", "off"), ("y", "y"),
        ("2024-01-31", "2024-01-31"), ("1:30", "1:30"), ("1_000", "1_000"), ("0b11", "0b11"),
        ("true", True), ("False", False), ("null", None), ("~", None), ("'true'", "true"), ('"1"', "1"),
        ("12", 12), ("-7", -7), ("010", 10), ("0o17", 15), ("0x1F", 31), ("1.5", 1.5), ("1e3", 1000.0),
        (".5", 0.5), ("-.inf", float("-inf")), ("1.2.3", "1.2.3"), ("v1", "v1"), ("=", "="),
    ],
)  # fmt: skip
def test_scalars_are_read_as_yaml_1_2_has_them(written: str, value: object) -> None:
    found = read(f"key: {written}")
    assert found == {"key": value}
    assert type(found["key"]) is type(value)


def test_places_are_those_of_keys_and_items() -> None:
    root = parse_document(b"a:\n  - x: 1\n    y: [2,\n     3]\n", file="f").root
    assert root is not None
    assert isinstance(root.value, dict)
    items = root.value["a"].value
    assert isinstance(items, list)
    fields = items[0].value
    assert isinstance(fields, dict)
    assert (items[0].line, items[0].column) == (2, 5)
    assert (fields["y"].line, fields["y"].column) == (3, 5)
    inner = fields["y"].value
    assert isinstance(inner, list)
    assert (inner[1].line, inner[1].column) == (4, 6)


def test_text_may_have_a_mark_and_any_line_ends() -> None:
    assert read("\ufeffa: 1\r\nb: 2\r\n") == {"a": 1, "b": 2}


def test_block_text_keeps_its_lines() -> None:
    assert read("a: |\n  one\n  two\n") == {"a": "one\ntwo\n"}


def test_bytes_that_are_not_utf_8_are_named_with_their_place() -> None:
    assert refused(b"name: ok\nother: caf\xe9\n") == "f:2:11: not UTF-8: byte 0xe9 cannot be read"


def test_utf_16_is_refused() -> None:
    assert "not UTF-8" in refused("name: x\n".encode("utf-16"))


@pytest.mark.parametrize("char", ["\0", "\x07", "\x1b", "\ufeff", "\x7f"])
def test_control_characters_are_named_with_their_place(char: str) -> None:
    assert refused(f"a: 1\nb: {char}\n".encode()) == (
        f"f:2:4: control character U+{ord(char):04X} is not allowed"
    )


def test_a_file_that_is_too_large_is_not_parsed() -> None:
    data = b"a: [" + b"x, " * (50 * 1024 * 1024 // 3) + b"]"
    started = time.process_time()
    said = refused(data)
    assert said == f"f:1:1: the file has more than {MAX_BYTES // 1024} KiB; it was not read"
    assert time.process_time() - started < 1.0


def test_the_billion_laughs_end_at_the_first_anchor() -> None:
    levels = "\n".join(f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]" for n in range(1, 9))
    assert (
        refused(f"a0: &a0 [lol]\n{levels}\n".encode()) == "f:1:5: a0: anchor &a0 is not supported; remove it"
    )


def test_an_alias_without_an_anchor_is_refused_too() -> None:
    assert "alias *x is not supported" in refused(b"a: *x\n")


@pytest.mark.parametrize("opening", [b"[", b"{a: ", b"- ", b"? "])
def test_nesting_without_end_is_refused(opening: bytes) -> None:
    assert refused(opening * 100_000) != ""


def test_a_full_megabyte_is_read_in_reasonable_time() -> None:
    line = b"  - {type: command, command: make}\n"
    data = b"scorers:\n" + line * ((MAX_BYTES - 10) // len(line))
    started = time.process_time()
    assert "holds more than 50000 values" in refused(data)
    assert time.process_time() - started < 10


def test_keys_that_are_anchored_tagged_or_aliased_are_refused() -> None:
    assert "anchor &k" in refused(b"&k a: 1\n")
    assert "tag !x" in refused(b"!x a: 1\n")
    assert "alias *k" in refused(b"*k : 1\n")


def test_a_quoted_merge_key_is_an_ordinary_key() -> None:
    assert read("'<<': 1") == {"<<": 1}


@pytest.mark.parametrize("data", [b"", b"\n\n", b"# only a comment\n", b"---\n", b"~\n", b"---\n...\n"])
def test_an_empty_file_says_what_is_needed(data: bytes) -> None:
    assert refused(data) == "f:1:1: the file is empty; a recipe needs at least 'scorers'"


def test_problems_that_leave_the_rest_readable_do_not_stop_reading() -> None:
    document = parse_document(b"a: 1\na: 2\nb: 3\n", file="f")
    assert [str(problem) for problem in document.problems] == ["f:2:1: key 'a' is already on line 1"]
    assert document.root is not None
    assert document.root.plain() == {"a": 1, "b": 3}
