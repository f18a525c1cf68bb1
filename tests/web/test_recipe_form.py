"""Rows of a form, made from lines of a recipe and read back."""

from __future__ import annotations

from typing import Any

import pytest

from adjudge.formats.tasks.editing import EditedLine, RecipeLine, read_lines, write_lines
from adjudge.web.recipeform import FormRow, parse_rows, rows_of

pytestmark = pytest.mark.anyone

TEXT = """\
scorers:
  - type: command
    name: unit tests
    cmd: |
      set -e
      make test
    timeout_s: 60.0
    inject:
      - {src: a.py, dest: b.py}
  - {type: allowed_paths, patterns: ["src/**", "*.md"], weight: 2}
  - type: trace
    require_no_denied: true
    max_tool_calls: {Bash: 3}
  - preset: integrity
  - type: no_such_type
    odd: [1, 2]
"""


def sent(rows: list[FormRow]) -> dict[str, str]:
    """What a browser sends for rows that nobody touched."""
    form: dict[str, str] = {}
    for row in rows:
        form |= {f"{row.key}.origin": str(row.origin), f"{row.key}.type": row.type}
        form |= {f"{row.key}.name": row.name, f"{row.key}.weight": row.weight}
        form |= {f"{row.key}.required": "on"} if row.required else {}
        form |= {f"{row.key}.gate": "on"} if row.gate else {}
        form |= {f"{row.key}.field.{one.docs.name}": one.shown.replace("\n", "\r\n") for one in row.fields}
    return form


def read(text: str = TEXT) -> tuple[tuple[RecipeLine, ...], list[FormRow]]:
    dialect, lines = read_lines(text)
    return lines, rows_of([EditedLine(line.values, at) for at, line in enumerate(lines)], dialect)


def back(changes: dict[str, str], text: str = TEXT, order: str = "") -> str:
    lines, rows = read(text)
    keys = order.split() or [row.key for row in rows]
    form = {**sent(rows), **changes}
    items = [("row", key) for key in keys] + list(form.items())
    return write_lines(text, parse_rows(items, lines, read_lines(text)[0]))


def values(text: str, at: int) -> dict[str, Any]:
    return dict(read_lines(text)[1][at].values)


def test_untouched_rows_change_nothing() -> None:
    assert back({}) == TEXT


def test_what_a_row_shows() -> None:
    _, (tests, paths, trace, preset, unknown) = read()
    shown = {one.key: one.shown for one in tests.fields}
    assert shown["cmd"] == "set -e\nmake test\n"
    assert shown["timeout_s"] == "60"
    assert shown["inject"] == "- src: a.py\n  dest: b.py"
    assert (tests.required, paths.weight, trace.required) == (True, "2", False)
    assert next(one.shown for one in paths.fields if one.key == "patterns") == "src/**\n*.md"
    assert (preset.type, preset.docs) == ("preset:integrity", None)
    assert (unknown.docs, unknown.others) == (None, ("odd",))


def test_another_spelling_stays_the_one_that_is_written() -> None:
    text = back({"0.field.command": "make check"})
    assert values(text, 0)["cmd"] == "make check"
    assert "command" not in values(text, 0)


@pytest.mark.parametrize(
    ("name", "given", "key", "want"),
    [
        ("0.field.timeout_s", "7.5", "timeout_s", 7.5),
        ("0.field.timeout_s", "7", "timeout_s", 7),
        ("0.field.timeout_s", "soon", "timeout_s", "soon"),
        ("0.field.expect_exit", "3", "expect_exit", 3),
        ("0.field.isolation", "clean", "isolation", "clean"),
        ("0.field.allow", " a \r\n\r\nb\r\n", "allow", ["a", "b"]),
        ("0.field.inject", "[x.py]", "inject", ["x.py"]),
        ("0.field.inject", "[x.py", "inject", "[x.py"),
        ("0.weight", "0.5", "weight", 0.5),
        ("0.gate", "on", "gate", True),
        ("0.name", " other ", "name", "other"),
    ],
)
def test_what_is_typed_is_read_by_its_kind(name: str, given: str, key: str, want: object) -> None:
    assert values(back({name: given}), 0)[key] == want


def test_emptied_fields_go() -> None:
    written = values(back({"0.field.timeout_s": "", "0.field.inject": "", "0.name": ""}), 0)
    assert written == {"type": "command", "cmd": "set -e\nmake test\n"}


def test_required_is_written_only_where_it_says_something() -> None:
    lines, rows = read()
    form = sent(rows)
    del form["0.required"]
    items = [("row", row.key) for row in rows] + list(form.items())
    text = write_lines(TEXT, parse_rows(items, lines, "scorers"))
    assert values(text, 0)["required"] is False
    assert "required" not in values(back({}, text.replace("    required: false\n", "")), 0)
    assert values(back({"2.required": "on"}), 2)["required"] is True
    assert values(back({"3.required": "on"}), 3) == {"preset": "integrity", "required": True}


def test_another_type_takes_only_what_it_knows() -> None:
    written = values(back({"1.type": "max_files_changed"}), 1)
    assert written == {"type": "max_files_changed", "weight": 2}


def test_rows_change_places_and_go() -> None:
    text = back({}, order="2 0")
    assert [values(text, 0)["type"], values(text, 1)["type"]] == ["trace", "command"]
    assert len(read_lines(text)[1]) == 2


@pytest.mark.parametrize("origin", ["", "x", "99", "-1", "1e3"])
def test_a_row_from_nowhere_is_a_new_one(origin: str) -> None:
    lines, _ = read()
    items = [("row", "n"), ("n.origin", origin), ("n.type", "forbid_secrets"), ("n.required", "on")]
    (line,) = parse_rows(items, lines, "scorers")
    assert (line.origin, dict(line.values)) == (None, {"type": "forbid_secrets"})


def test_odd_characters_come_back_as_they_were() -> None:
    text = 'scorers:\n  - {type: command, command: "echo \\u202e\\a x", name: "a\\u2066b"}\n'
    _, (row,) = read(text)
    assert "\u202e" not in row.fields[4].shown
    assert back({}, text) == text
