"""Rows of `@pytest.mark.parametrize` as a test file writes them, and the ids pytest gives them.

A value in a row can change only if the row's id does not: ids that pytest would derive from the values are
spelled out. They are spelled as words that say nothing (see `falsify`), since an id that still shows the
old value would tell a reader in the process which test was falsified.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass

from adjudge.syntax.python.definitions import Function, called

__all__ = ["Constant", "Rows", "Shared", "parametrizations"]


@dataclass(frozen=True)
class Constant:
    """What a name of the module stands for."""

    value: ast.expr
    used_once: bool


@dataclass(frozen=True)
class Shared:
    """Rows written elsewhere in the module, for several users."""

    name: ast.Name
    values: ast.expr


@dataclass(frozen=True)
class Rows:
    """One parametrisation of a test function."""

    call: ast.Call
    names: tuple[str, ...]
    rows: tuple[tuple[ast.expr, ...], ...]
    """Each row's values, in the order of `names`."""
    ids: tuple[str | None, ...] | None
    """The id of each row where it depends on the values (None: it does not); the whole is None when some
    row's id cannot be known without running pytest."""
    shared: Shared | None
    """Set when changing the rows where they are written would change other tests as well."""

    @property
    def spelled(self) -> bool:
        """Whether no row's id depends on its values."""
        return self.ids is not None and all(id_ is None for id_ in self.ids)


def parametrizations(function: Function, constants: dict[str, Constant]) -> list[Rows]:
    """The parametrisations written on a function, those that can be read."""
    found = []
    for decorator in function.decorator_list:
        if not (isinstance(decorator, ast.Call) and called(decorator.func) == "parametrize"):
            continue
        if any(isinstance(argument, ast.Starred) for argument in decorator.args):
            continue
        if (rows := _read(decorator, constants)) is not None:
            found.append(rows)
    return found


def _read(call: ast.Call, constants: dict[str, Constant]) -> Rows | None:
    given = {keyword.arg: keyword.value for keyword in call.keywords}
    if None in given or "indirect" in given or len(call.args) > 3:
        return None
    arguments = dict(zip(("argnames", "argvalues", "indirect"), call.args, strict=False))
    if "indirect" in arguments:
        return None
    names = _names(given.get("argnames", arguments.get("argnames")))
    values = given.get("argvalues", arguments.get("argvalues"))
    shared: Shared | None = None
    if isinstance(values, ast.Name):
        constant = constants.get(values.id)
        if constant is None:
            return None
        shared = None if constant.used_once else Shared(values, constant.value)
        values = constant.value
    if names is None or not isinstance(values, (ast.List, ast.Tuple)) or not values.elts:
        return None
    rows: list[tuple[ast.expr, ...]] = []
    own_ids: list[bool] = []
    for element in values.elts:
        row, own_id = _row(element, len(names))
        if row is None:
            return None
        rows.append(row)
        own_ids.append(own_id)
    spelled = given.get("ids")
    if spelled is None:
        ids = _derived_ids(names, rows, own_ids)
    elif isinstance(spelled, (ast.List, ast.Tuple)) and all(
        isinstance(element, ast.Constant) and isinstance(element.value, str) for element in spelled.elts
    ):
        ids = (None,) * len(rows)
    else:
        ids = None
    return Rows(call, names, tuple(rows), ids, shared)


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
