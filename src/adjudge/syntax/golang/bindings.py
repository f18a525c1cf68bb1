"""Where values of a Go test come from: local names, and rows of the tables that tests loop over."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from tree_sitter import Node

from adjudge.syntax.golang.nodes import FAILING, called, inside, same, text

__all__ = ["Names", "Table"]

_DECLARATIONS = ("short_var_declaration", "var_spec", "const_spec")
_BASIC = frozenset(
    (
        "int",
        "int8",
        "int16",
        "int32",
        "int64",
        "uint",
        "uint8",
        "uint16",
        "uint32",
        "uint64",
        "byte",
        "string",
    )
)
_COMPARING = frozenset(
    ("DeepEqual", "Equal", "Diff", "Contains", "HasPrefix", "HasSuffix", "EqualFold", "Is", "len", "Compare")
)
_SAYING = frozenset(("Log", "Logf", *FAILING))


@dataclass(frozen=True)
class Table:
    """A composite literal that a test loops over."""

    rows: tuple[Node, ...]
    """Its elements, as literal values."""
    fields: tuple[tuple[str, str], ...]
    """Names and types of what a row holds, in order, when that is known."""
    keys: tuple[Node | None, ...] = ()
    """What the rows are called, where the table is a map."""

    def cells(self, field: str) -> list[Node | None]:
        """The value of one field in every row; None where a row leaves it out."""
        return [self._cell(row, field) for row in self.rows]

    def type_of(self, field: str) -> str:
        """The type of a field; empty when it is not known."""
        return dict(self.fields).get(field, "")

    def filler(self, row: Node, field: str) -> str | None:
        """What could be added to a row that leaves a field out, to give it another value."""
        keyed = not row.named_children or row.named_children[0].type == "keyed_element"
        type_ = self.type_of(field)
        if not keyed or type_ not in _BASIC:
            return None
        return '"q"' if type_ == "string" else "7"

    def _cell(self, row: Node, field: str) -> Node | None:
        elements = [node for node in row.named_children if node.type in ("keyed_element", "literal_element")]
        if elements and elements[0].type == "keyed_element":
            for element in elements:
                if text(element.child_by_field_name("key")) == field:
                    return _inner(element.child_by_field_name("value"))
            return None
        names = [name for name, _ in self.fields]
        if field not in names or names.index(field) >= len(elements):
            return None
        return _inner(elements[names.index(field)])


class Names:
    """What the names in one test function stand for.

    Args:
        function: The function, with its subtests.
        root: Its file.
        elsewhere: The other test files of the package.
    """

    def __init__(self, function: Node, root: Node, elsewhere: tuple[Node, ...] = ()) -> None:
        self._function = function
        self._roots = (root, *elsewhere)
        self._declared: dict[str, list[Node | None]] = {}
        self._used: dict[str, list[Node]] = {}
        self._ranges: dict[str, list[Node]] = {}
        self._fields_used: dict[tuple[str, str], list[Node]] = {}
        self._keys: dict[str, list[Node]] = {}
        for node in inside(function):
            if node.type == "selector_expression":
                row, part = node.child_by_field_name("operand"), node.child_by_field_name("field")
                self._fields_used.setdefault((text(row), text(part)), []).append(node)
            elif node.type == "identifier":
                self._used.setdefault(text(node), []).append(node)
            elif node.type in _DECLARATIONS:
                for name, value in _bound(node):
                    self._declared.setdefault(name, []).append(value)
            elif node.type == "assignment_statement":
                for name in _left(node):
                    self._declared.setdefault(name, []).append(None)
            elif node.type == "range_clause":
                names = _left(node)
                if len(names) == 2:
                    self._ranges.setdefault(names[1], []).append(node)
                    self._keys.setdefault(names[0], []).append(node)
                for name in names:
                    self._declared.setdefault(name, []).append(None)

    def expected(self, name: Node) -> Node | None:
        """The value of a name that is declared once and used for nothing but comparing."""
        values = self._declared.get(text(name), [])
        if len(values) != 1 or values[0] is None:
            return None
        uses = [node for node in self._used[text(name)] if not _is_declared(node)]
        return values[0] if all(map(_only_compared, uses)) else None

    def is_declared(self, name: str) -> bool:
        """Whether the function declares a name of its own, somewhere."""
        return name in self._declared

    def value(self, name: Node) -> Node | None:
        """The value of a name that is declared once."""
        values = self._declared.get(text(name), [])
        return values[0] if len(values) == 1 else None

    def table(self, row: Node) -> Table | None:
        """The table that a name is the row of, when it belongs to this function alone."""
        ranges = self._ranges.get(text(row), [])
        others = [value for value in self._declared.get(text(row), []) if value is not None]
        # `tt := tt` is how a row is kept for a parallel subtest.
        if len(ranges) != 1 or any(text(value) != text(row) for value in others):
            return None
        return self.ranged(ranges[0])

    def is_only_compared(self, row: Node, field: str) -> bool:
        """Whether a field of rows is used for nothing but comparing: what goes in must not be changed."""
        uses = self._fields_used.get((text(row), field), [])
        return all(map(_only_compared, uses))

    def keyed(self, name: Node) -> Table | None:
        """The table, a map, that a name is the key of a row in."""
        clauses = self._keys.get(text(name), [])
        table = self.ranged(clauses[0]) if len(clauses) == 1 else None
        return table if table is not None and table.keys else None

    def ranged(self, clause: Node) -> Table | None:
        """The table that a loop goes over."""
        right = clause.child_by_field_name("right")
        if right is not None and right.type == "identifier":
            name = text(right)
            declared = self._declared.get(name)
            if declared is not None:
                uses = [node for node in self._used[name] if not _is_declared(node)]
                right = declared[0] if len(declared) == 1 and all(map(_only_looped, uses)) else None
            else:
                right = self._package_level(name)
        if right is None or right.type != "composite_literal":
            return None
        return self._as_table(right)

    def _package_level(self, name: str) -> Node | None:
        """The value of a name of the package that nothing but this function uses."""
        values: list[Node] = []
        for root in self._roots:
            for node in inside(root):
                if node.type != "identifier" or text(node) != name or self._is_own(node):
                    continue
                spec = node.parent
                if (
                    spec is None
                    or spec.type != "var_spec"
                    or not same(spec.child_by_field_name("name"), node)
                ):
                    return None
                found = dict(_bound(spec)).get(name)
                if found is None:
                    return None
                values.append(found)
        return values[0] if len(values) == 1 else None

    def _is_own(self, node: Node) -> bool:
        return (
            self._function.start_byte <= node.start_byte < self._function.end_byte
            and _root(node).id == _root(self._function).id
        )

    def _as_table(self, literal: Node) -> Table | None:
        type_, body = literal.child_by_field_name("type"), literal.child_by_field_name("body")
        if type_ is None or body is None:
            return None
        element = type_.child_by_field_name("element") or type_.child_by_field_name("value")
        rows = []
        keys: list[Node | None] = []
        for node in body.named_children:
            if node.type == "comment":
                continue
            if type_.type == "map_type":
                keys.append(_inner(node.child_by_field_name("key")))
            value = node.child_by_field_name("value") if node.type == "keyed_element" else node
            inner = _inner(value)
            if inner is not None and inner.type == "unary_expression":
                inner = inner.child_by_field_name("operand")
            if inner is not None and inner.type == "composite_literal":
                inner = inner.child_by_field_name("body")
            if inner is None or inner.type != "literal_value":
                return None
            rows.append(inner)
        return Table(tuple(rows), tuple(self._fields(element)), tuple(keys)) if rows else None

    def _fields(self, type_: Node | None) -> Iterator[tuple[str, str]]:
        if type_ is not None and type_.type == "pointer_type":
            type_ = type_.named_children[0]
        if type_ is not None and type_.type == "type_identifier":
            type_ = self._struct(text(type_))
        if type_ is None or type_.type != "struct_type":
            return
        for node in inside(type_):
            if node.type == "field_declaration":
                kind = text(node.child_by_field_name("type"))
                for name in node.children_by_field_name("name"):
                    yield text(name), kind

    def _struct(self, name: str) -> Node | None:
        for root in (self._function, *self._roots):
            for node in inside(root):
                if node.type == "type_spec" and text(node.child_by_field_name("name")) == name:
                    return node.child_by_field_name("type")
        return None


def _root(node: Node) -> Node:
    while node.parent is not None:
        node = node.parent
    return node


def _inner(element: Node | None) -> Node | None:
    if element is None or element.type != "literal_element":
        return element
    return element.named_children[0] if element.named_children else None


def _left(node: Node) -> list[str]:
    left = node.child_by_field_name("left")
    return [text(name) for name in left.named_children if name.type == "identifier"] if left else []


def _bound(node: Node) -> Iterator[tuple[str, Node | None]]:
    """Names that a declaration declares, with their values where these are written side by side."""
    if node.type == "short_var_declaration":
        left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
        names = list(left.named_children) if left is not None else []
    else:
        names, right = node.children_by_field_name("name"), node.child_by_field_name("value")
    values = list(right.named_children) if right is not None else []
    for at, name in enumerate(names):
        yield text(name), values[at] if len(values) == len(names) else None


def _is_declared(name: Node) -> bool:
    at = name.parent
    if at is not None and at.type == "expression_list":
        left = at.parent.child_by_field_name("left") if at.parent is not None else None
        return same(at, left)
    return at is not None and at.type in _DECLARATIONS and name in at.children_by_field_name("name")


def _only_compared(use: Node) -> bool:
    """Whether a use of a name can do no more than decide whether the test fails, or say why it did."""
    parent = use.parent
    if parent is None:
        return False
    if parent.type == "binary_expression":
        operator = parent.child_by_field_name("operator")
        return operator is not None and operator.type in ("==", "!=")
    if parent.type == "index_expression":
        return same(parent.child_by_field_name("operand"), use)
    if parent.type == "range_clause":
        return True
    if parent.type != "argument_list" or parent.parent is None or parent.parent.type != "call_expression":
        return False
    before, name = called(parent.parent)
    return name in _COMPARING or (bool(before) and (name in _SAYING or before in ("assert", "require")))


def _only_looped(use: Node) -> bool:
    parent = use.parent
    return parent is not None and parent.type == "range_clause"
