"""Makes tests of `it.each` false in their table: every row expects another value.

A title that shows the changed value would tell the old one or betray the new one. It is replaced by a
meaningless word and the number of the row, in every version of the file, and put back outside.
"""

from __future__ import annotations

import random
import re
from collections.abc import Sequence

from tree_sitter import Node

from adjudge.syntax.javascript.assertions import changed_value, expected_name, is_certain
from adjudge.syntax.javascript.definitions import Definition, inside, node_text
from adjudge.syntax.python.falsify import Falsification
from adjudge.syntax.python.source import Edit

__all__ = ["falsify_rows"]

_PRINTED = re.compile(r"%%|%[sdifjoOpc#$]")
_LETTERS = "bcdfghjklmnpqrstvwxz"


def falsify_rows(
    found: Definition, names: Sequence[str], without: frozenset[int], random_: random.Random
) -> Falsification | None:
    """A change of what each row expects; None when that cannot be done.

    Args:
        found: A test with a table.
        names: Names of its tests, one for each row, in their order; none when they are not known.
        without: Calls that define tests of their own.
        random_: Where choices come from.
    """
    table, body, title = found.table, found.body, found.title
    assert table is not None
    assert body is not None
    assert title is not None
    if table.type != "array":
        return None
    rows = [row for row in table.named_children if row.type != "comment"]
    for call in inside(body, without):
        name = expected_name(call) if call.type == "call_expression" else None
        column = _column(body, name) if name is not None else None
        if column is None or not is_certain(call, body, without):
            continue
        assert name is not None
        changed = [
            changed_value(cell, random_) if cell is not None else None for cell in _cells(rows, column)
        ]
        edits = [change[0] for change in changed if change is not None]
        if not edits or len(edits) < len(rows):
            continue
        wide = all(change is not None and change[1] for change in changed)
        plan = Falsification(found.name, edits=tuple(edits), strong=True, wide=wide, certain=True)
        if not _shows(node_text(title), column, name):
            return plan
        return _hidden(plan, found, title, names, len(rows), random_)
    return None


def _hidden(
    plan: Falsification,
    found: Definition,
    title: Node,
    names: Sequence[str],
    rows: int,
    random_: random.Random,
) -> Falsification | None:
    """The same with a title that shows nothing."""
    if len(names) != rows or title.type not in ("string", "template_string"):
        return None
    prefix = found.name[: len(found.name) - len(_plain(title))]
    if not found.name.endswith(_plain(title)) or any(not name.startswith(prefix) for name in names):
        return None
    word = "".join(random_.choice(_LETTERS) for _ in range(8))
    return Falsification(
        plan.name,
        edits=plan.edits,
        neutral=(Edit(title.start_byte, title.end_byte, f"'{word} %#'"),),
        ids={f"{prefix}{word} {at}": name for at, name in enumerate(names)},
        strong=plan.strong,
        wide=plan.wide,
        certain=plan.certain,
    )


def _plain(title: Node) -> str:
    return node_text(title)[1:-1]


def _shows(title: str, column: int | str, name: str) -> bool:
    """Whether the value of a column is part of the title."""
    if "${" in title or re.search(rf"\$(?:{re.escape(name)}\b|#)", title):
        return True
    fields = [field for field in _PRINTED.findall(title) if field not in ("%%", "%#", "%$")]
    if isinstance(column, str):
        return bool(fields) or re.search(rf"\${re.escape(column)}\b", title) is not None
    return len(fields) > column


def _column(body: Node, name: str) -> int | str | None:
    """Which part of a row the name stands for: its number, or its key where rows are objects."""
    parameters = body.child_by_field_name("parameters")
    if parameters is None:
        single = body.child_by_field_name("parameter")
        return 0 if single is not None and node_text(single) == name else None
    for at, parameter in enumerate(parameters.named_children):
        pattern = parameter.child_by_field_name("pattern") or parameter
        if pattern.type == "identifier" and node_text(pattern) == name:
            return at
        if pattern.type == "object_pattern" and at == 0:
            for part in pattern.named_children:
                if part.type == "shorthand_property_identifier_pattern" and node_text(part) == name:
                    return name
    return None


def _cells(rows: Sequence[Node], column: int | str) -> list[Node | None]:
    """The values of a column, row by row."""
    return [_cell(row, column) for row in rows]


def _cell(row: Node, column: int | str) -> Node | None:
    if row.type == "array" and isinstance(column, int):
        cells = [cell for cell in row.named_children if cell.type != "comment"]
        return cells[column] if column < len(cells) and cells[column].type != "spread_element" else None
    if row.type == "object" and isinstance(column, str):
        for pair in row.named_children:
            key = pair.child_by_field_name("key")
            if pair.type == "pair" and key is not None and node_text(key).strip("'\"") == column:
                return pair.child_by_field_name("value")
        return None
    return row if column == 0 and row.type not in ("array", "object", "spread_element") else None
