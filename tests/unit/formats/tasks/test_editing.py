"""Lines of a recipe, put back into the text they came from."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adjudge.formats.tasks.editing import (
    EditedLine,
    NotEditable,
    dump_value,
    parse_value,
    read_lines,
    write_lines,
)

pytestmark = pytest.mark.anyone

TEXT = """\
# What this is about.
name: slugs
instruction: |
  Mend slugify().

scorers:
  # The tests decide.
  - type: command      # quick
    name: unit tests
    command: python3 -m unittest -q
    timeout_s: 60

  - {type: forbid_secrets}  # always
  # Nothing may be skipped.
  - type: no_new_skips
    required: true
    # deeper comment

# Where it runs.
limits: {wall_s: 600}
"""


def kept(text: str = TEXT) -> list[EditedLine]:
    _, lines = read_lines(text)
    return [EditedLine(line.values, index) for index, line in enumerate(lines)]


def values_of(text: str) -> list[dict[str, Any]]:
    return [dict(line.values) for line in read_lines(text)[1]]


def test_reads_lines() -> None:
    dialect, lines = read_lines(TEXT)
    assert dialect == "scorers"
    assert [line.values["type"] for line in lines] == ["command", "forbid_secrets", "no_new_skips"]
    assert lines[0].values["timeout_s"] == 60


def test_nothing_changed_is_the_same_text() -> None:
    assert write_lines(TEXT, kept()) == TEXT


def test_one_field_changes_one_row() -> None:
    lines = kept()
    lines[0] = EditedLine({**lines[0].values, "timeout_s": 90}, 0)
    assert write_lines(TEXT, lines) == TEXT.replace("timeout_s: 60", "timeout_s: 90")


def test_the_first_field_changes_beside_its_dash() -> None:
    lines = kept()
    lines[2] = EditedLine({"type": "assertions_not_weakened", "required": True}, 2)
    assert write_lines(TEXT, lines) == TEXT.replace("no_new_skips", "assertions_not_weakened")


def test_fields_come_and_go() -> None:
    lines = kept()
    less = {key: value for key, value in lines[0].values.items() if key != "name"}
    lines[0] = EditedLine({**less, "weight": 2.0}, 0)
    text = write_lines(TEXT, lines)
    assert "unit tests" not in text
    assert "    timeout_s: 60\n" in text
    assert values_of(text)[0] == {
        "type": "command",
        "command": "python3 -m unittest -q",
        "timeout_s": 60,
        "weight": 2.0,
    }
    assert "# quick" in text


def test_lines_move_with_their_comments() -> None:
    one, two, three = kept()
    text = write_lines(TEXT, [three, one, two])
    assert text.index("# Nothing may be skipped.") < text.index("type: no_new_skips") < text.index("# quick")
    assert "# Where it runs.\nlimits: {wall_s: 600}\n" in text
    assert sorted(text.split()) == sorted(TEXT.split())


def test_a_line_goes_and_another_comes() -> None:
    one, _, three = kept()
    new = EditedLine({"type": "files", "patterns": ["a: b", "#c"], "required": False})
    text = write_lines(TEXT, [one, three, new])
    assert "forbid_secrets" not in text
    assert values_of(text)[2] == {"type": "files", "patterns": ["a: b", "#c"], "required": False}
    assert text.endswith("# Where it runs.\nlimits: {wall_s: 600}\n")


def test_a_flow_line_stays_one() -> None:
    lines = kept()
    lines[1] = EditedLine({"type": "forbid_secrets", "required": False}, 1)
    assert "  - {type: forbid_secrets, required: false}  # always\n" in write_lines(TEXT, lines)


def test_a_flow_list_becomes_lines() -> None:
    text = "name: x\ngraders: [{type: command, command: make}]\nrollup: min\n"
    lines = [*kept(text), EditedLine({"type": "implemented", "gate": True})]
    assert write_lines(text, lines) == (
        "name: x\ngraders:\n  - type: command\n    command: make\n"
        "  - type: implemented\n    gate: true\nrollup: min\n"
    )


def test_commands_of_several_lines() -> None:
    lines = kept()
    lines[0] = EditedLine({**lines[0].values, "command": "set -e\nmake test\n"}, 0)
    text = write_lines(TEXT, lines)
    assert "    command: |\n      set -e\n      make test\n" in text
    assert values_of(text)[0]["command"] == "set -e\nmake test\n"


def test_a_dash_on_a_row_of_its_own() -> None:
    text = "scorers:\n-\n  type: command\n  command: make\n- type: files\n"
    lines = kept(text)
    assert write_lines(text, lines) == text
    lines[0] = EditedLine({"type": "command", "command": "make test"}, 0)
    assert values_of(write_lines(text, lines))[0]["command"] == "make test"


@pytest.mark.parametrize(
    "text",
    [
        "",
        "name: x\n",
        "scorers: 3\n",
        "scorers: [1]\n",
        "scorers: [\n",
        "a: &x 1\nscorers: []\n",
        "- type: x\n",
    ],
)
def test_what_cannot_be_edited(text: str) -> None:
    with pytest.raises(NotEditable):
        read_lines(text)


def test_an_empty_list_gets_its_first_line() -> None:
    text = write_lines("name: x\nscorers: []\n", [EditedLine({"type": "forbid_secrets"})])
    assert text == "name: x\nscorers:\n  - type: forbid_secrets\n"


def test_the_last_line_goes() -> None:
    assert values_of(write_lines(TEXT, [])) == []


scalars = st.one_of(
    st.text(st.characters(codec="utf-8", categories=("L", "N", "P", "S", "Z")), max_size=20),
    st.text("ab:#-'\"\n [{", max_size=12),
    st.booleans(),
    st.integers(-(10**6), 10**6),
    st.floats(allow_nan=False, allow_infinity=False, width=32),
    st.sampled_from(["yes", "on", "1:30", "2024-01-01", "~", "null", "0x1F", "1e3", ".5"]),
)
values = st.one_of(
    scalars, st.lists(scalars, max_size=3), st.dictionaries(st.text("abc", min_size=1), scalars, max_size=2)
)


@given(
    st.lists(
        st.tuples(
            st.sampled_from([None, 0, 1, 2]),
            st.dictionaries(st.sampled_from(["type", "name", "command", "x"]), values, min_size=1),
        ),
        max_size=5,
    )
)
def test_whatever_is_written_is_read_back_or_refused(wanted: list[tuple[int | None, dict[str, Any]]]) -> None:
    lines = [EditedLine(line, origin) for origin, line in wanted]
    try:
        text = write_lines(TEXT, lines)
    except NotEditable:
        return
    assert values_of(text) == [dict(line.values) for line in lines]
    assert text.startswith("# What this is about.\nname: slugs\n")
    assert text.endswith("limits: {wall_s: 600}\n")


@pytest.mark.parametrize(
    "value", ["make test", "a: b", "#x", ["a", "b"], {"a": 1}, "two\nlines\n", 3, True, None]
)
def test_values_as_text_are_read_back(value: Any) -> None:
    assert parse_value(dump_value(value)) == value


def test_a_piece_that_is_no_yaml() -> None:
    with pytest.raises(NotEditable, match="not valid YAML"):
        parse_value("[a, b")
    with pytest.raises(NotEditable):
        parse_value("a: 1\n- b")
