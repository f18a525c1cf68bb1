"""What names of a file stand for: the expressions they are bound to, and what functions of it give back.

A table that is made in one walk through the file, when a rule first asks for it. Following names is bounded
in depth and in number, so that a file cannot make it costly.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import product
from typing import Final

from tree_sitter import Node

from adjudge.syntax.bodies import COMMENTS
from adjudge.syntax.productcode.literals import literal_of
from adjudge.syntax.productcode.reading import CALLS, FUNCTIONS, Source, children

__all__ = ["NAMES", "UNKNOWN", "Bindings"]

NAMES: Final = frozenset({"identifier", "constant", "shorthand_property_identifier"})
UNKNOWN: Final = "\x00"
"""Stands in a text for a piece that is not written down."""
_BOUND: Final = {
    "assignment": ("left", "right"), "named_expression": ("name", "value"),
    "for_statement": ("left", "right"), "for_in_clause": ("left", "right"),
    "variable_declarator": ("name", "value"), "assignment_expression": ("left", "right"),
    "field_definition": ("property", "value"), "public_field_definition": ("name", "value"),
    "for_in_statement": ("left", "right"), "short_var_declaration": ("left", "right"),
    "var_spec": ("name", "value"), "const_spec": ("name", "value"), "range_clause": ("left", "right"),
    "let_declaration": ("pattern", "value"), "const_item": ("name", "value"),
    "static_item": ("name", "value"), "default_parameter": ("name", "value"),
    "typed_default_parameter": ("name", "value"), "assignment_pattern": ("left", "right"),
    "required_parameter": ("pattern", "value"), "optional_parameter": ("pattern", "value"),
}  # fmt: skip
_STEPS: Final = frozenset(
    {"augmented_assignment", "augmented_assignment_expression", "operator_assignment",
     "compound_assignment_expr"}
)  # fmt: skip
"""A name that is made of itself and something more: bound to the whole statement."""
_LISTS: Final = frozenset(
    {
        "expression_list",
        "pattern_list",
        "tuple_pattern",
        "tuple",
        "left_assignment_list",
        "right_assignment_list",
    }
)
_FIELDS: Final = frozenset({"attribute", "member_expression", "selector_expression", "field_expression"})
_MEMBERS: Final = frozenset(
    {"instance_variable", "property_identifier", "private_property_identifier", "field_identifier"}
)
_RETURNS: Final = frozenset({"return_statement", "return_expression", "return", "yield", "yield_expression"})
_PARAMETERS: Final = frozenset(
    {"parameters", "parameter", "formal_parameters", "parameter_list", "method_parameters"}
)
_SUMS: Final = frozenset({"binary_operator", "binary_expression", "binary"})
_JOINERS: Final = frozenset(
    {"join", "joinpath", "Join", "resolve", "Path", "PurePath", "PosixPath", "URL", "with_name",
     "with_suffix", "of", "get", "File", "expand_path"}
)  # fmt: skip
_KEPT: Final = frozenset(
    {"str", "String", "fspath", "abspath", "realpath", "normpath", "as_posix", "resolve", "absolute", "strip",
     "toString", "fileURLToPath", "Clean", "expanduser", "to_string", "to_str", "format"}
)  # fmt: skip
"""Calls that give back, or speak of, the text they are made on."""
_TEMPLATES: Final = frozenset({"interpolation", "template_substitution"})
_MAX_NODES: Final = 60_000
_MAX_BOUND: Final = 8
"""Expressions of one name that are kept."""
_MAX_REACHED: Final = 200
_MAX_DEPTH: Final = 4
_MAX_TEXTS: Final = 8
_MAX_TEXT: Final = 400


@dataclass
class _Scope:
    index: int
    """Its place among the functions of the file."""
    above: int
    """That of the function around it; -1 for none."""
    start: int
    end: int
    node: Node | None
    names: defaultdict[str, list[Node]] = field(default_factory=lambda: defaultdict(list))
    inputs: set[str] = field(default_factory=set)
    returns: list[Node] = field(default_factory=list)


class Bindings:
    """The names of a file."""

    def __init__(self, root: Node, source: Source) -> None:
        self._source = source
        self._module = _Scope(-1, -1, root.start_byte, root.end_byte, None)
        self._scopes: list[_Scope] = []
        self._starts: list[int] = []
        self._functions: dict[str, _Scope] = {}
        self._fields: defaultdict[str, list[Node]] = defaultdict(list)
        self._later: list[tuple[str, int]] = []
        self._read(root)
        places = {scope.start: scope for scope in reversed(self._scopes)}
        for name, start in self._later:
            # `const key = (text) => …`
            if start in places:
                self._functions.setdefault(name, places[start])

    def bound(self, name: str, at: Node) -> tuple[Node, ...]:
        """What a name is given, in the order of the text, in the innermost function that binds it."""
        for scope in self._around(at):
            if name in scope.names:
                return tuple(scope.names[name])
            if name in scope.inputs:
                return ()
        return ()

    def is_input(self, node: Node) -> bool:
        """Whether an expression is a parameter of the function around it, or made of one without a call."""
        current: Node | None = node
        for _ in range(6):
            if current is None:
                return False
            if current.type in NAMES:
                name = self._source.of(current, 80)
                return any(name in scope.inputs for scope in self._around(current))
            parts = children(current)
            current = parts[0] if parts and current.type not in CALLS else None
        return False

    def field_values(self, name: str) -> tuple[Node, ...]:
        """What an attribute of that name is given anywhere in the file."""
        return tuple(self._fields.get(name, ()))

    def function(self, name: str) -> Node | None:
        """The function or method of the file that has a name."""
        scope = self._functions.get(name)
        return None if scope is None else scope.node

    def returned(self, name: str) -> tuple[Node, ...]:
        """What a function or method of the file gives back."""
        scope = self._functions.get(name)
        return () if scope is None else tuple(scope.returns)

    def stands_for(self, node: Node) -> tuple[Node, ...]:
        """The expressions that a name, an attribute or a call of a function of the file stands for."""
        if node.type in NAMES:
            return self.bound(self._source.of(node, 80), node)
        if node.type in _FIELDS or node.type == "instance_variable":
            return self.field_values(self._last_name(node))
        if node.type in CALLS:
            return self.returned(self._source.called(node).rpartition(".")[2])
        return ()

    def resolve(self, node: Node, depth: int = _MAX_DEPTH) -> Iterator[Node]:
        """An expression, or where it is a name, an attribute or a call: all that it stands for in the end."""
        pending, seen = [(node, depth)], 0
        while pending and seen < _MAX_REACHED:
            current, left = pending.pop()
            seen += 1
            meant = self.stands_for(current) if left > 0 else ()
            if not meant:
                yield current
            pending.extend((other, left - 1) for other in reversed(meant) if other != current)

    def reached(self, node: Node, depth: int = _MAX_DEPTH) -> Iterator[Node]:
        """An expression, and every expression that its names and its calls of functions stand for."""
        pending = [(node, depth)]
        seen: set[tuple[int, int]] = set()
        while pending and len(seen) < _MAX_REACHED:
            current, left = pending.pop()
            place = (current.start_byte, current.end_byte)
            if place in seen:
                continue
            seen.add(place)
            yield current
            if left <= 0:
                continue
            for part in self._parts(current):
                pending.extend((other, left - 1) for other in self.stands_for(part))

    def texts(self, node: Node, depth: int = _MAX_DEPTH) -> tuple[str, ...]:
        """The texts that an expression may come to: names followed, pieces put together, paths joined.

        Pieces that are not written down are `UNKNOWN`.
        """
        return tuple(dict.fromkeys(text[:_MAX_TEXT] for text in self._texts(node, depth)))[:_MAX_TEXTS]

    def _texts(self, node: Node, depth: int) -> Iterable[str]:
        literal = literal_of(self._source, node)
        if literal is not None:
            return (literal[1:],) if literal[:1] in "sn" else (UNKNOWN,)
        if depth <= 0:
            return (UNKNOWN,)
        kind = node.type
        if kind in _SUMS:
            sides = children(node)
            operator = next((child.type for child in node.children if not child.is_named), "")
            if len(sides) == 2 and operator in ("+", "/"):
                return self._joined(sides, "" if operator == "+" else "/", depth)
            return (UNKNOWN,)
        if kind in _STEPS:
            return self._joined(
                [node.child_by_field_name("left"), node.child_by_field_name("right")], "", depth
            )
        if kind in ("string", "template_string"):
            return self._filled(node, depth)
        if kind in ("parenthesized_expression", "keyword_argument", "await", "reference_expression"):
            parts = children(node)
            return self._texts(parts[-1], depth) if parts else (UNKNOWN,)
        if kind in CALLS:
            return self._of_call(node, depth)
        if kind in ("list", "tuple", "array"):
            # What a loop goes through.
            return [text for part in children(node)[:_MAX_TEXTS] for text in self.texts(part, depth - 1)[:1]]
        meant = self.stands_for(node)
        if meant:
            return self._bound_texts(node, meant, depth)
        if kind in _FIELDS:
            return self._texts(node.named_children[0], depth - 1) if node.named_children else (UNKNOWN,)
        return (UNKNOWN,)

    def _bound_texts(self, node: Node, meant: Iterable[Node], depth: int) -> Iterable[str]:
        """What a name is given, one statement after the other."""
        found: list[str] = []
        before: tuple[str, ...] = (UNKNOWN,)
        name = self._source.of(node, 80)
        for value in meant:
            if value.type in _STEPS:
                added = self.texts(value.child_by_field_name("right") or value, depth - 1)
                before = tuple(f"{a}{b}" for a, b in product(before[:2], added[:2]))
            elif any(self._source.of(part, 80) == name for part in self._parts(value) if part.type in NAMES):
                # `path = path / "golden"`
                made = self.texts(value, min(1, depth - 1))
                before = tuple(text.replace(UNKNOWN, old, 1) for text, old in product(made[:2], before[:2]))
            else:
                before = self.texts(value, depth - 1)
            found.extend(before)
        return reversed(found)

    def _of_call(self, node: Node, depth: int) -> Iterable[str]:
        source = self._source
        called = source.called(node).rpartition(".")[2]
        arguments = source.arguments(node)
        function = node.child_by_field_name("function") or node.child_by_field_name("object")
        target = function.named_children[0] if function is not None and function.type in _FIELDS else None
        if node.type == "method_invocation":
            target = function
        if called == "join" and len(arguments) == 1 and target is not None:
            # `"".join(pieces)` and `pieces.join("")`
            for listed, between in ((arguments[0], target), (target, arguments[0])):
                glue = literal_of(source, between)
                whole = next(
                    (one for one in self.resolve(listed, 2) if one.type in ("list", "tuple", "array")), None
                )
                if glue is not None and whole is not None:
                    return self._joined(children(whole), glue[1:], depth)
        if called in _JOINERS:
            texts = self._joined(
                [target, *arguments[:8]] if target is not None else arguments[:8], "/", depth
            )
            return [text.removeprefix(f"{UNKNOWN}/") for text in texts]
        if called in _KEPT:
            kept = arguments[0] if arguments else target
            return (UNKNOWN,) if kept is None else self._texts(kept, depth - 1)
        given = self.stands_for(node)
        if given:
            return [text for one in given[:2] for text in self.texts(one, depth - 1)]
        return (UNKNOWN,)

    def _filled(self, node: Node, depth: int) -> Iterable[str]:
        """An f-string, a template."""
        texts: tuple[str, ...] = ("",)
        start, source = node.start_byte, self._source
        inner = [child for child in node.named_children if child.type in _TEMPLATES]
        first = next(
            (child for child in node.children if not child.is_named or child.type == "string_start"), None
        )
        start = first.end_byte if first is not None else start + 1
        for child in inner[:8]:
            plain = source.data[start : child.start_byte].decode("utf-8", "replace")
            parts = children(child)
            pieces = self.texts(parts[0], depth - 1) if parts else (UNKNOWN,)
            texts = tuple(f"{a}{plain}{b}" for a, b in product(texts, pieces))[:_MAX_TEXTS]
            start = child.end_byte
        rest = source.data[start : max(start, node.end_byte - 1)].decode("utf-8", "replace")
        return tuple(f"{text}{rest}" for text in texts)

    def _joined(self, parts: Iterable[Node | None], between: str, depth: int) -> Iterable[str]:
        pieces = [self.texts(part, depth - 1)[:2] for part in parts if part is not None]
        return [between.join(chosen) for _, chosen in zip(range(_MAX_TEXTS), product(*pieces), strict=False)]

    def _parts(self, node: Node) -> Iterator[Node]:
        """The names and calls in an expression."""
        pending, left = [node], _MAX_REACHED
        while pending and left > 0:
            current = pending.pop()
            left -= 1
            if current.type in COMMENTS:
                continue
            if current.type in NAMES or current.type in CALLS or current.type in _FIELDS:
                yield current
            pending.extend(reversed(current.named_children[:60]))

    def _last_name(self, node: Node) -> str:
        return self._source.of(node, 120).rpartition(".")[2].lstrip("#@")

    def _around(self, node: Node) -> Iterator[_Scope]:
        start, end = node.start_byte, node.end_byte
        # Whoever contains a place contains the start of the last function that begins before it.
        index = bisect_right(self._starts, start) - 1
        while index >= 0:
            scope = self._scopes[index]
            if end <= scope.end:
                yield scope
            index = scope.above
        yield self._module

    def _read(self, root: Node) -> None:
        pending: list[tuple[Node, _Scope]] = [(root, self._module)]
        left = _MAX_NODES
        while pending and left > 0:
            node, scope = pending.pop()
            left -= 1
            kind = node.type
            if kind in COMMENTS:
                continue
            if kind in FUNCTIONS:
                scope = self._enter(node, scope)
            elif kind in _RETURNS:
                scope.returns.extend(_values(node))
            elif kind in _STEPS or kind == "assignment_statement":
                self._bind_statement(node, scope)
            fields = _BOUND.get(kind)
            if fields is not None:
                self._bind(node.child_by_field_name(fields[0]), node.child_by_field_name(fields[1]), scope)
            if node.named_child_count:
                pending.extend([(child, scope) for child in reversed(node.named_children)])

    def _enter(self, node: Node, around: _Scope) -> _Scope:
        scope = _Scope(len(self._scopes), around.index, node.start_byte, node.end_byte, node)
        self._scopes.append(scope)
        self._starts.append(scope.start)
        name = self._source.of(node.child_by_field_name("name"), 80)
        if name:
            self._functions.setdefault(name, scope)
        for part in children(node):
            if part.type in _PARAMETERS:
                scope.inputs.update(self._named(part))
        single = node.child_by_field_name("parameter")
        if single is not None:
            scope.inputs.update(self._named(single))
        body = node.child_by_field_name("body")
        if body is not None and not body.type.endswith(("block", "body", "_statement")):
            scope.returns.append(body)
        elif body is not None and self._source.language in ("rust", "ruby"):
            last = children(body)[-1:]
            scope.returns.extend(part for part in last if not part.type.endswith("_statement"))
        return scope

    def _named(self, node: Node) -> Iterator[str]:
        pending = [node]
        while pending:
            current = pending.pop()
            if current.type in NAMES or current.type == "shorthand_property_identifier_pattern":
                yield self._source.of(current, 80)
            pending.extend(
                child
                for child in current.named_children
                if not child.type.endswith("type") and child != current.child_by_field_name("value")
            )

    def _bind_statement(self, node: Node, scope: _Scope) -> None:
        left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
        operator = self._source.of(node.child_by_field_name("operator"), 4)
        step = node.type in _STEPS or operator not in ("", "=")
        self._bind(left, node if step else right, scope)

    def _bind(self, name: Node | None, value: Node | None, scope: _Scope) -> None:
        if name is None or value is None:
            return
        if name.type in _LISTS:
            names = children(name)
            values = children(value) if value.type in _LISTS else []
            if len(names) == 1 and len(values) == 1:
                self._bind(names[0], values[0], scope)
            elif len(values) == len(names):
                for one, given in zip(names, values, strict=True):
                    self._bind(one, given, scope)
            else:
                for one in names:
                    self._bind(one, values[0] if len(values) == 1 else value, scope)
            return
        if value.type == "expression_list" and len(children(value)) == 1:
            value = children(value)[0]
        if name.type in _FIELDS or name.type in _MEMBERS:
            held = self._fields[self._last_name(name)]
        else:
            held = scope.names[self._source.of(name, 80)]
            if value.type in FUNCTIONS:
                self._later.append((self._source.of(name, 80), value.start_byte))
            if scope is self._module or scope.node is None:
                self._fields[self._source.of(name, 80)].append(value)
        if len(held) < _MAX_BOUND:
            held.append(value)


def _values(node: Node) -> list[Node]:
    parts = children(node)
    if len(parts) == 1 and parts[0].type in ("expression_list", "argument_list"):
        return children(parts[0])[:1]
    return parts[:1]
