"""Outputs of every format, sane and hostile: a value, or a refusal that names its place."""

from __future__ import annotations

import re
from typing import Any

import pytest

from adjudge.formats.outputs import MAX_OUTPUT_BYTES, check_output, format_of, missing_output
from adjudge.formats.schemas import OutputSchema
from adjudge.records.outputs import OutputFormat

pytestmark = pytest.mark.anyone

READ: list[tuple[str, bytes, Any]] = [
    ("json", b'{"a": [1, 2.5, "x", null, true]}', {"a": [1, 2.5, "x", None, True]}),
    ("json", b"\xef\xbb\xbf[1]", [1]),
    ("json", b"null", None),
    ("json", '{"ü": "\\u00fc"}'.encode(), {"ü": "ü"}),
    ("json", b'"\\ud83d\\ude00"', "\U0001f600"),
    ("json", b"1" * 300, int("1" * 300)),
    ("yaml", b"a:\n  - 1\n  - yes\nb: 2024-01-01\n", {"a": [1, "yes"], "b": "2024-01-01"}),
    ("yaml", b"\xef\xbb\xbf- 0x10\n", [16]),
    ("toml", b"a = 1\n[b]\nc = 2024-01-01T10:00:00Z\n", {"a": 1, "b": {"c": "2024-01-01T10:00:00+00:00"}}),
    ("toml", b"a = 10:00:00\nb = 2024-02-03\n", {"a": "10:00:00", "b": "2024-02-03"}),
    ("csv", b'x, y\n1,"a,b"\n\n2,c\n', [{"x": "1", "y": "a,b"}, {"x": "2", "y": "c"}]),
    ("csv", b"\xef\xbb\xbfx\r\n1\r\n", [{"x": "1"}]),
    ("csv", b"x,y\n", []),
    ("markdown", b"# Hi\n\n```json\n{\"a\": 1}\n```\nbye\n", {"a": 1}),
    ("markdown", b"~~~ JSON title\r\n[1]\r\n~~~\r\n", [1]),
    ("markdown", b"```\n```json\n```\n\n```json\n1\n```\n", 1),
    ("markdown", b"````json\n\"```\"\n````\n", "```"),
    ("text", "grüße\n".encode(), "grüße\n"),
]  # fmt: skip

REFUSED: list[tuple[str, bytes, str]] = [
    ("json", b"", "the file is empty"),
    ("json", b" \n\t", "the file is empty"),
    ("json", b'{"a": 1,\n "a": 2}', "line 2, column 2: key 'a' is there twice"),
    ("json", b'[{"b": {"a": 1, "\\u0061": 2}}]', "line 1, column 17: key 'a' is there twice"),
    ("json", b"[1,\n NaN]", "line 2, column 2: NaN is not a number in JSON"),
    ("json", b"-Infinity", "line 1, column 1: -Infinity is not a number in JSON"),
    ("json", b"[1e309]", "line 1, column 2: 1e309 is beyond the range of numbers"),
    ("json", b"-" + b"9" * 301, "line 1, column 1: a number with 302 characters is too long"),
    ("json", b"1" * 100_000, "a number with 100,000 characters is too long"),
    ("json", b"0." + b"1" * 400, "a number with 402 characters is too long"),
    ("json", b'{"a": "\\ud800"}', "line 1, column 7: half of a surrogate pair is not a character"),
    ("json", b'{"\\udfff": 1}', "line 1, column 2: half of a surrogate pair is not a character"),
    ("json", b"[" * 65 + b"]" * 65, "line 1, column 65: nested more than 64 levels deep"),
    ("json", b"[" * 100_000, "line 1, column 65: nested more than 64 levels deep"),
    ("json", b'{"a":' * 5_000 + b"1" + b"}" * 5_000, "nested more than 64 levels deep"),
    ("json", b"[" + b"1," * 1_000_001 + b"1]", "more than 1,000,000 brackets and commas"),
    ("json", b"{'a': 1}", "line 1, column 2: not JSON"),
    ("json", b"[1] [2]", "line 1, column 5: not JSON: Extra data"),
    ("json", b"[1,]", "not JSON"),
    ("json", b'"a\nb"', "line 1, column 3: not JSON"),
    ("json", b"[1\xff]", "line 1, column 3: not UTF-8: byte 0xff cannot be read"),
    ("json", b"[1, \x00]", "line 1, column 5: a NUL byte"),
    ("json", "[1]".encode("utf-16"), "line 1, column 1: UTF-16; write it as UTF-8"),
    ("json", "[1]".encode("utf-32"), "line 1, column 1: UTF-32; write it as UTF-8"),
    ("json", "[1]".encode("utf-16-le"), "a NUL byte"),
    ("json", b" " * (MAX_OUTPUT_BYTES + 1), "more than 8,388,608 bytes; it was not read"),
    ("yaml", b"a: &x [1]\nb: [*x, *x]\n", "line 1, column 4: a: anchor &x is not supported"),
    ("yaml", b"a: 1\na: 2\n", "line 2, column 1: key 'a' is already on line 1"),
    ("yaml", b"a: !!python/object/apply:os.system [id]\n", "line 1, column 4: a: tag !!python"),
    ("yaml", b"a: [1, .nan]\n", "line 1, column 8: a[1]: not a finite number"),
    ("yaml", b"a: 1e999\n", "line 1, column 1: a: not a finite number"),
    ("yaml", b"a: 1\n---\nb: 2\n", "a second document starts here; a file holds one document"),
    ("yaml", b"# nothing\n", "the file is empty; an output needs at least one value"),
    ("yaml", b"a: [1\n", "not valid YAML"),
    ("yaml", b"[" * 3_000, "nested more than"),
    ("yaml", b"a" * (1024 * 1024 + 1), "more than 1,048,576 bytes"),
    ("toml", b"a = 1\na = 2\n", "line 2, column 6: not TOML: Cannot overwrite a value"),
    ("toml", b"a = nan\n", "a: not a finite number"),
    ("toml", b"[b]\na = [1.0, -inf]\n", "b.a[1]: not a finite number"),
    ("toml", b"a = 1e400\n", "a: not a finite number"),
    ("toml", b"a = " + b"1" * 5_000, "not TOML: "),
    ("toml", b"a = " + b"1" * 400, "a: a number with more than 300 digits is too long"),
    ("toml", b"a = 0." + b"1" * 400, "a number with 402 characters is too long"),
    ("toml", b"a = " + b"[" * 50_000, "nested more than 64 levels deep"),
    ("toml", b"a = " + b"[" * 70 + b"]" * 70, "nested more than 64 levels deep"),
    ("toml", b"b = 1\n" + b"a." * 300_000 + b"a = 1", "line 2, column 1: nested more than 64 levels deep"),
    ("toml", b"['a' . " + b"\"b\" . " * 64 + b"c]", "line 1, column 2: nested more than 64 levels deep"),
    ("toml", b"a = 2024-13-01\n", "not TOML"),
    ("toml", b"a", "not TOML"),
    ("csv", b"x,x\n1,2\n", "line 1: column 'x' is there twice"),
    ("csv", b"x,\n1,2\n", "line 1: column 2 of the header has no name"),
    ("csv", b"x,y\n1\n", "line 2: 1 cells, where the header has 2"),
    ("csv", b'x\n"1\n', "line 2: not CSV"),
    ("csv", b"x\n" + b"a" * 140_000, "not CSV: field larger than field limit"),
    ("csv", b"x\n" + b"\n" * 1_000_001, "more than 1,000,000 cells"),
    ("markdown", b"# nothing here\n```python\n1\n```\n", "there is no fenced block marked json"),
    ("markdown", b"```json\n1\n```\n```json\n2\n```\n", "2 fenced blocks marked json (lines 1, 4)"),
    ("markdown", b"\n```json\n{}\n", "line 2: the fenced block is never closed"),
    ("markdown", b"\n\n```json\n{\n\"a\": oops}\n```\n", "line 5, column 6: not JSON"),
    ("markdown", b"```json\n```\n", "not JSON"),
    ("text", b"\xff", "line 1, column 1: not UTF-8"),
    ("text", b"a\0b", "a NUL byte"),
    ("text", b"  \n", "the file is empty"),
]  # fmt: skip


@pytest.mark.parametrize(("format", "data", "value"), READ)
def test_what_is_read(format: str, data: bytes, value: Any) -> None:
    checked = check_output(data, OutputFormat(format))
    assert checked.errors == ()
    assert (checked.output_parseable, checked.schema_valid, checked.value) == (True, True, value)
    assert type(checked).model_validate_json(checked.model_dump_json()) == checked


@pytest.mark.parametrize(
    ("format", "data", "message"), REFUSED, ids=[f"{row[0]}-{row[1][:12]!r}" for row in REFUSED]
)
def test_what_is_refused(format: str, data: bytes, message: str) -> None:
    checked = check_output(data, OutputFormat(format), OutputSchema(True))
    assert message in checked.errors[0]
    assert (checked.output_parseable, checked.schema_valid, checked.value) == (False, False, None)
    assert all(len(error) <= 300 for error in checked.errors)


def test_a_missing_output_is_neither_parseable_nor_valid() -> None:
    checked = missing_output("nothing is at out.json")
    assert (checked.present, checked.output_parseable, checked.schema_valid) == (False, False, False)


@pytest.mark.parametrize(
    ("path", "format"),
    [("a/out.JSON", "json"), ("x.yml", "yaml"), ("a.b/README", None), ("notes.md", "markdown"), ("a.", None)],
)
def test_a_name_speaks_of_a_format(path: str, format: str | None) -> None:
    assert format_of(path) == format


SCHEMA = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "$id": "https://example.org/answer.json",
    "type": "object",
    "required": ["drop"],
    "properties": {
        "drop": {"type": "number", "minimum": 0},
        "unit": {"pattern": "^(V|mV)$"},
        "loads": {"type": "array", "uniqueItems": True, "items": {"$ref": "#/$defs/load"}},
        "enum": {"type": "string"},
    },
    "patternProperties": {"^x_": {"type": "string"}},
    "additionalProperties": False,
    "$defs": {"load": {"type": "object", "properties": {"a": {"$ref": "#"}}}},
}


@pytest.mark.parametrize(
    ("data", "errors"),
    [
        (b'{"drop": 1.5, "unit": "mV", "x_note": "", "loads": [{}, {"a": {"drop": 0}}]}', []),
        (b"{}", ["the whole: 'drop' is a required property"]),
        (b'{"drop": "1"}', ["drop: '1' is not of type 'number'"]),
        (b'{"drop": 1, "unit": "kV"}', ["unit: 'kV' does not match '^(V|mV)$'"]),
        (b'{"drop": 1, "other": 2, "x_": 3}',
         ["x_: 3 is not of type 'string'", "the whole: unexpected 'other'"]),
        (b'{"drop": 1, "loads": [{"b": [1]}, {}, {"b": [1.0]}]}', ["loads: item 2 equals item 0"]),
        (b'{"drop": 1, "loads": [{"a": {"drop": -1}}]}',
         ["loads[0].a.drop: -1 is less than the minimum of 0"]),
    ],
)  # fmt: skip
def test_schemas_say_where(data: bytes, errors: list[str]) -> None:
    checked = check_output(data, OutputFormat.JSON, OutputSchema(SCHEMA))
    assert sorted(checked.errors) == sorted(errors)
    assert checked.output_parseable
    assert checked.schema_valid is not bool(errors)


@pytest.mark.parametrize(
    ("schema", "message"),
    [
        ([], "a schema is an object"),
        ({"type": "strin"}, "type: 'strin' is not valid"),
        ({"$schema": "https://example.org/x"}, "is not a known draft"),
        ({"properties": {"a": {"$ref": "https://example.org"}}}, "properties.a.$ref: 'https:"),
        ({"$ref": "other.json"}, "leads out of the schema"),
        ({"$ref": "file:///etc/passwd"}, "leads out of the schema"),
        ({"anyOf": [{"$ref": "#/$defs/none"}]}, "anyOf[0].$ref: '#/$defs/none' leads nowhere"),
        ({"$ref": "#"}, "refers to itself without end"),
        ({"allOf": [{"$ref": "#/$defs/a"}], "$defs": {"a": {"not": {"$ref": "#/$defs/a"}}}}, "without end"),
        ({"pattern": "(?=a)b"}, "pattern: '(?=a)b' is not a regular expression"),
        ({"properties": {"enum": {"pattern": r"(a)\1"}}}, "properties.enum.pattern"),
        ({"patternProperties": {"(?<!a)b": {}}}, "patternProperties"),
        ({"unevaluatedProperties": False, "patternProperties": {"a": {}}}, "not offered"),
        ({"properties": {"a": {"$id": "https://example.org/x"}}}, "only the whole schema has one"),
        ({"properties": {"a": {"$schema": "http://json-schema.org/draft-07/schema#"}}}, "only the whole"),
    ],
)  # fmt: skip
def test_schemas_that_cannot_be_used(schema: Any, message: str) -> None:
    with pytest.raises(ValueError, match=re.escape(message)):
        OutputSchema(schema)


@pytest.mark.parametrize("pattern", ["^(a+)+$", "^(a|a)*$", "^(.*?,){30}x$"])
def test_patterns_that_hang_others_do_not_hang_here(pattern: str) -> None:
    text = b'{"next": {"text": "' + b"a" * 50_000 + b'!"}}'
    schema = OutputSchema(
        {
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            "properties": {"text": {"pattern": pattern}, "next": {"$ref": "#"}},
        }
    )
    assert not check_output(text, OutputFormat.JSON, schema).schema_valid


def test_patterns_reached_through_data_are_refused_not_run() -> None:
    schema = OutputSchema(
        {"properties": {"a": {"$ref": "#/default/x"}}, "default": {"x": {"pattern": "(?=b)b"}}}
    )
    assert schema.errors({"a": "b"}) == ["a: 'b' does not match '(?=b)b'"]


def test_lists_of_equal_length_are_not_compared_pair_by_pair() -> None:
    data = b"[" + b",".join(b'{"a": %d}' % number for number in range(30_000)) + b"]"
    assert check_output(data, OutputFormat.JSON, OutputSchema({"uniqueItems": True})).schema_valid
    assert OutputSchema({"uniqueItems": True}).errors([1, True, "1", [1], 0, False, None]) == []


def test_an_output_too_large_for_its_schema_is_not_checked() -> None:
    data = b"[" + b"1," * 100_000 + b"1]"
    checked = check_output(data, OutputFormat.JSON, OutputSchema({"items": {"type": "integer"}}))
    assert (checked.output_parseable, checked.schema_valid) == (True, False)
    assert "more than 100,000 values" in checked.errors[0]


def test_deep_outputs_can_be_checked() -> None:
    data = b'{"a":' * 63 + b"1" + b"}" * 63
    schema = OutputSchema({"properties": {"a": {"anyOf": [{"type": "integer"}, {"$ref": "#"}]}}})
    assert check_output(data, OutputFormat.JSON, schema).errors == ()


def test_long_quotes_and_many_errors_are_cut() -> None:
    data = b"[" + b",".join([b'"' + b"x" * 5_000 + b'"'] * 100) + b"]"
    checked = check_output(data, OutputFormat.JSON, OutputSchema({"items": {"type": "integer"}}))
    assert len(checked.errors) == 20
    assert all(len(error) <= 300 for error in checked.errors)
