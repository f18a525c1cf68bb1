"""Rows of `@pytest.mark.parametrize` as a test file writes them, and the ids pytest gives them.

A value in a row can change only if the row's id does not: ids that pytest would derive from the values are
spelled out. They are spelled as words that say nothing (see `falsify`), since an id that still shows the
old value would tell a reader in the process which test was falsified. An id that cannot be known without
running pytest is found among those the caller expects, or named by its number where none are expected.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass

from adjudge.syntax.python.definitions import Function, called

__all__ = ["Rows", "parametrizations"]


@dataclass(frozen=True)
class Rows:
    """One parametrisation of a test function."""

    call: ast.Call
    names: tuple[str, ...]
    rows: tuple[tuple[ast.expr, ...], ...]
    """Each row's values, in the order of `names`."""
    ids: tuple[str | None, ...] | None
    """The id of each row where it depends on the values (None: it does not); the whole is None when some
    row's id cannot be known."""
    certain_ids: bool
    """Whether the ids are those that pytest would give, and not made up here."""
    values: ast.expr
    """The argument of the call that gives the rows."""
    elements: tuple[ast.expr, ...]
    """The rows as they are written, here or where the names in `values` lead."""

    @property
    def elsewhere(self) -> bool:
        """Whether rows are written outside of the call, where other tests may use them too."""
        return not isinstance(self.values, (ast.List, ast.Tuple))

    @property
    def spelled(self) -> bool:
        """Whether no row's id depends on its values."""
        return self.ids is not None and all(id_ is None for id_ in self.ids)


def parametrizations(
    function: Function, constants: Mapping[str, ast.expr], known: Collection[str] = ()
) -> list[Rows]:
    """The parametrisations written on a function, those that can be read.

    Args:
        function: The test.
        constants: Module names bound once, and to what.
        known: Parameter parts of the test's ids, where they are known; empty when no one asks for them.
    """
    calls = [
        decorator
        for decorator in function.decorator_list
        if isinstance(decorator, ast.Call) and called(decorator.func) == "parametrize"
    ]
    found = []
    for call in calls:
        if any(isinstance(argument, ast.Starred) for argument in call.args):
            continue
        # Parts of ids of several parametrisations cannot be told apart.
        alone = len(calls) == 1
        rows = _read(call, constants, known if alone else (), made_up=alone and not known)
        if rows is not None:
            found.append(rows)
    return found


def _read(
    call: ast.Call, constants: Mapping[str, ast.expr], known: Collection[str], *, made_up: bool
) -> Rows | None:
    given = {keyword.arg: keyword.value for keyword in call.keywords}
    if None in given or "indirect" in given or len(call.args) > 2:
        return None
    arguments = dict(zip(("argnames", "argvalues"), call.args, strict=False))
    names = _names(given.get("argnames", arguments.get("argnames")))
    values = given.get("argvalues", arguments.get("argvalues"))
    elements = _elements(values, constants) if values is not None else None
    if names is None or values is None or not elements:
        return None
    rows: list[tuple[ast.expr, ...]] = []
    own_ids: list[bool] = []
    for element in elements:
        row, own_id = _row(element, len(names))
        if row is None:
            return None
        rows.append(row)
        own_ids.append(own_id)
    spelled = given.get("ids")
    ids: tuple[str | None, ...] | None = None
    certain = True
    if spelled is None:
        ids = _derived_ids(names, rows, own_ids)
        if ids is None and known:
            ids = _matched_ids(names, rows, own_ids, known)
        elif ids is None and made_up:
            ids = tuple(None if own else f"row {at}" for at, own in enumerate(own_ids))
            certain = False
    elif isinstance(spelled, (ast.List, ast.Tuple)) and all(
        isinstance(element, ast.Constant) and isinstance(element.value, str) for element in spelled.elts
    ):
        ids = (None,) * len(rows)
    return Rows(call, names, tuple(rows), ids, certain, values, tuple(elements))


def _elements(values: ast.expr, constants: Mapping[str, ast.expr], depth: int = 0) -> list[ast.expr] | None:
    """Rows of a list, of a name for one, or of a sum of them."""
    match values:
        case ast.List() | ast.Tuple():
            return values.elts
        case ast.Name() if depth < 5 and values.id in constants:
            return _elements(constants[values.id], constants, depth + 1)
        case ast.BinOp(op=ast.Add(), left=left, right=right) if depth < 5:
            sides = [_elements(side, constants, depth + 1) for side in (left, right)]
            return [*sides[0], *sides[1]] if sides[0] is not None and sides[1] is not None else None
        case _:
            return None


def _names(node: ast.expr | None) -> tuple[str, ...] | None:
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return tuple(name.strip() for name in node.value.split(",") if name.strip()) or None
    if isinstance(node, (ast.List, ast.Tuple)):
        names = [
            part.value for part in node.elts if isinstance(part, ast.Constant) and isinstance(part.value, str)
        ]
        return tuple(names) if names and len(names) == len(node.elts) else None
    return None


def _row(element: ast.expr, width: int) -> tuple[tuple[ast.expr, ...] | None, bool]:
    """A row's values, and whether it spells its own id."""
    if isinstance(element, ast.Call) and called(element.func) == "param":
        if any(isinstance(argument, ast.Starred) for argument in element.args) or len(element.args) != width:
            return None, False
        return tuple(element.args), any(keyword.arg == "id" for keyword in element.keywords)
    if isinstance(element, ast.Starred):
        return None, False
    if width == 1:
        return (element,), False
    if isinstance(element, (ast.Tuple, ast.List)) and len(element.elts) == width:
        if any(isinstance(part, ast.Starred) for part in element.elts):
            return None, False
        return tuple(element.elts), False
    return None, False


def _derived_ids(
    names: tuple[str, ...], rows: list[tuple[ast.expr, ...]], own_ids: list[bool]
) -> tuple[str | None, ...] | None:
    ids: list[str | None] = []
    for number, (row, own) in enumerate(zip(rows, own_ids, strict=True)):
        if own:
            ids.append(None)
            continue
        parts = [_id_of(value, f"{name}{number}") for name, value in zip(names, row, strict=True)]
        if any(part is None for part in parts):
            return None
        ids.append("-".join(part for part in parts if part is not None))
    known = [id_ for id_ in ids if id_ is not None]
    # pytest numbers duplicates, differently from version to version; empty ids have rules of their own.
    return tuple(ids) if len(set(known)) == len(known) and "" not in known else None


def _matched_ids(
    names: tuple[str, ...], rows: list[tuple[ast.expr, ...]], own_ids: list[bool], known: Collection[str]
) -> tuple[str | None, ...] | None:
    """The known id of each row, if exactly one fits each and none fits two."""
    ids: list[str | None] = []
    for number, (row, own) in enumerate(zip(rows, own_ids, strict=True)):
        if own:
            ids.append(None)
            continue
        parts = [_pattern(value, f"{name}{number}") for name, value in zip(names, row, strict=True)]
        pattern = re.compile("-".join(parts), re.DOTALL)
        fitting = [id_ for id_ in known if pattern.fullmatch(id_)]
        if len(fitting) != 1:
            # A value that is no plain literal most often shows as its argument's name and number.
            named = [
                _pattern(value, f"{name}{number}", wild=False) for name, value in zip(names, row, strict=True)
            ]
            fitting = [id_ for id_ in fitting if re.fullmatch("-".join(named), id_, re.DOTALL)]
        if len(fitting) != 1:
            return None
        ids.append(fitting[0])
    found = [id_ for id_ in ids if id_ is not None]
    return tuple(ids) if len(set(found)) == len(found) else None


def _pattern(value: ast.expr, fallback: str, *, wild: bool = True) -> str:
    exact = _id_of(value, fallback)
    if exact is not None:
        return re.escape(exact)
    if isinstance(value, ast.Constant) and isinstance(value.value, str):
        escaped = value.value.encode("unicode_escape").decode("ascii")
        return f"(?:{re.escape(escaped)}|{re.escape(value.value)})"
    return ".*" if wild else re.escape(fallback)


def _id_of(value: ast.expr, fallback: str) -> str | None:
    """What pytest makes of a value: its text for plain ones, the argument's name and number for others."""
    try:
        plain = ast.literal_eval(value)
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
        return None
    if isinstance(plain, (str, bytes)):
        if isinstance(plain, bytes):
            plain = plain.decode("ascii", "backslashreplace")
        return plain if plain.isascii() and plain.isprintable() and "\\" not in plain else None
    if plain is None or isinstance(plain, (bool, int, float, complex)):
        return str(plain)
    return fallback
