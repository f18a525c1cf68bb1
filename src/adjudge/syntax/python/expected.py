"""Where an expected value is written down, and the changes that make it another value.

Follows an expression to the literals that decide its value: through displays, signs, sums, a few pure
constructors, a local name assigned once, a parametrised argument, the rows of a loop. Every *choice* it
returns is a set of edits that changes the value for certain; nothing is said where that is not certain.
"""

from __future__ import annotations

import ast
import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from adjudge.syntax.python.definitions import called
from adjudge.syntax.python.literals import changed_literal
from adjudge.syntax.python.parametrize import Rows
from adjudge.syntax.python.source import Edit, PythonSource

__all__ = ["Binding", "Choice", "ExpectedValues"]

_MOST_CHOICES = 12
_DEEPEST = 12

_FIRST_ARGUMENT = frozenset({"approx", "date", "datetime", "round", "Fraction", "dedent", "Decimal"})
_EVERY_ARGUMENT = frozenset(
    (
        "set",
        "frozenset",
        "list",
        "tuple",
        "dict",
        "OrderedDict",
        "deque",
        "Counter",
        "str",
        "bytes",
        "bytearray",
        "float",
        "complex",
        "timedelta",
        "array",
        "asarray",
        "Path",
        "PurePath",
        "PosixPath",
        "PurePosixPath",
        "sorted",
        "reversed",
        "call",
        "namedtuple",
        "SimpleNamespace",
        "abs",
    )
)
_STRING_METHODS = frozenset({"encode", "format", "decode", "upper", "lower", "strip", "join"})


@dataclass(frozen=True)
class Choice:
    """One way to change a value."""

    edits: tuple[Edit, ...]
    rows: tuple[Rows, ...] = ()
    """Parametrisations whose ids have to be spelled out beside it."""
    wide: bool = True
    """Whether the new value is one of many, so that a wrong result hardly meets it by chance."""


@dataclass(frozen=True)
class Binding:
    """What a name stands for where the test uses it."""

    values: tuple[ast.expr, ...]
    every: bool
    """Whether all of the values have to change (each is a test of its own) or any one of them."""
    rows: Rows | None = None


@dataclass
class ExpectedValues:
    """Finds the choices for the expressions of one test function."""

    source: PythonSource
    random: random.Random
    bindings: Mapping[str, Binding] = field(default_factory=dict)

    def choices(self, node: ast.expr, depth: int = 0) -> list[Choice]:
        """Ways to change the value of an expression; empty where none is certain."""
        if depth > _DEEPEST:
            return []
        match node:
            case ast.Constant():
                return self._constant(node)
            case ast.UnaryOp(op=ast.USub() | ast.UAdd(), operand=ast.Constant() as operand):
                return self._constant(operand)
            case ast.List(elts=[]):
                return [Choice((self.source.replace(node, f"[{self.random.randrange(3, 10)}]"),))]
            case ast.Dict(keys=[]):
                number = self.random.randrange(3, 10)
                return [Choice((self.source.replace(node, f"{{{number}: {number}}}"),))]
            case ast.Tuple() | ast.List() | ast.Set():
                return self._any(node.elts, depth)
            case ast.Dict():
                if any(key is None for key in node.keys):
                    return []
                return self._any(_last_of_each_key(node), depth)
            case ast.BinOp(op=ast.Add() | ast.Sub()):
                return self._any([node.left, node.right], depth)
            case ast.BinOp(op=ast.Mod(), left=ast.Constant(value=str())):
                return self._constant(node.left, template=True)
            case ast.BinOp(op=ast.Mult(), left=ast.Constant() as left, right=ast.Constant() as right):
                return self._constant(left) if right.value else []
            case ast.Call():
                return self._call(node, depth)
            case ast.Name():
                return self._name(node, depth)
            case _:
                return []

    def names(self, node: ast.expr) -> Iterator[ast.Name]:
        """The names whose values decide the expression's, as `choices` would follow them."""
        match node:
            case ast.Name():
                yield node
            case ast.Tuple() | ast.List() | ast.Set():
                for element in node.elts:
                    yield from self.names(element)
            case ast.Dict():
                for value in node.values:
                    yield from self.names(value)
            case ast.BinOp(op=ast.Add() | ast.Sub()):
                yield from self.names(node.left)
                yield from self.names(node.right)
            case ast.Call():
                for argument in _deciding_arguments(node):
                    yield from self.names(argument)
            case _:
                pass

    def _constant(self, node: ast.expr, *, template: bool = False, pattern: bool = False) -> list[Choice]:
        if not isinstance(node, ast.Constant):
            return []
        text = self.source.segment(node)
        new = changed_literal(node.value, text, self.random, template=template, pattern=pattern)
        if new is None:
            return []
        return [Choice((self.source.replace(node, new),), wide=not isinstance(node.value, bool))]

    def pattern(self, node: ast.expr) -> list[Choice]:
        """Ways to change a regular expression so that it matches something else."""
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and "|" not in node.value:
            return self._constant(node, pattern=True)
        return []

    def _any(self, nodes: Sequence[ast.expr], depth: int) -> list[Choice]:
        found: list[Choice] = []
        for node in nodes:
            if not isinstance(node, ast.Starred):
                found += self.choices(node, depth + 1)
        if len(found) > _MOST_CHOICES:
            found = self.random.sample(found, _MOST_CHOICES)
        return found

    def _call(self, node: ast.Call, depth: int) -> list[Choice]:
        name = called(node.func)
        if isinstance(node.func, ast.Attribute) and isinstance(node.func.value, ast.Constant):
            if name in _STRING_METHODS:
                return self._constant(node.func.value, template=name == "format")
            return []
        arguments = _deciding_arguments(node)
        if name == "Decimal" and not (
            arguments and isinstance(arguments[0], ast.Constant) and _is_number(arguments[0].value)
        ):
            return []
        return self._any(arguments, depth)

    def _name(self, node: ast.Name, depth: int) -> list[Choice]:
        binding = self.bindings.get(node.id)
        if binding is None:
            return []
        rows = (binding.rows,) if binding.rows is not None else ()
        per_value = [self.choices(value, depth + 1) for value in binding.values]
        if not binding.every:
            return [choice for choices in per_value for choice in choices][:_MOST_CHOICES]
        edits: list[Edit] = []
        wide = True
        for value, choices in zip(binding.values, per_value, strict=True):
            if choices:
                choice = self.random.choice(choices)
                edits += choice.edits
                wide = wide and choice.wide
            elif isinstance(value, ast.Constant) and value.value is None:
                # There is no other None; a row that expects it gets a number instead.
                edits.append(self.source.replace(value, str(self.random.randrange(3, 10))))
            else:
                return []
        return [Choice(tuple(edits), rows, wide)]


def _deciding_arguments(node: ast.Call) -> list[ast.expr]:
    """Arguments that a call's value is made of, for calls known to be made of their arguments."""
    name = called(node.func)
    if name in _FIRST_ARGUMENT:
        return list(node.args[:1])
    values = [*node.args, *(keyword.value for keyword in node.keywords if keyword.arg is not None)]
    if name in _EVERY_ARGUMENT:
        return values
    if name[:1].isupper() and not name.isupper() and not name.endswith(("Error", "Exception", "Warning")):
        # Most likely a value object; numbers rarely make a constructor refuse.
        return [value for value in values if isinstance(value, ast.Constant) and _is_number(value.value)]
    return []


def _is_number(value: object) -> bool:
    if isinstance(value, str):
        return value.replace(".", "", 1).isdigit()
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _last_of_each_key(node: ast.Dict) -> list[ast.expr]:
    """The values that count: a later equal key hides an earlier one's."""
    values: dict[str, ast.expr] = {}
    for key, value in zip(node.keys, node.values, strict=True):
        values[ast.dump(key) if key is not None else ""] = value
    return list(values.values())
