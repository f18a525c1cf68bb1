"""Which functions of a source file are stubs. From bytes to a `SourceOutline`; nothing is run.

Left to others: which stubs matter. A `pass` in a callback is right, in an exercise it is the missing answer,
and only a comparison with the baseline tells them apart.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from dataclasses import dataclass

from tree_sitter import Node

from adjudge.records.source import BodyKind, FunctionShape, SourceOutline
from adjudge.syntax.bodies import COMMENTS, Body, read_body, text_of
from adjudge.syntax.grammars import MAX_SOURCE_BYTES, Grammar, grammar_of, parse_source

__all__ = ["outline_source"]

_FUNCTIONS = frozenset(
    {"function_definition", "function_declaration", "generator_function_declaration", "method_definition",
     "method_declaration", "constructor_declaration", "function_item", "method", "singleton_method",
     "lambda", "arrow_function", "function_expression", "generator_function", "func_literal",
     "lambda_expression", "closure_expression"}
)  # fmt: skip
_UNNAMED = frozenset(
    {"lambda", "arrow_function", "function_expression", "generator_function", "func_literal",
     "lambda_expression", "closure_expression"}
)  # fmt: skip
_BINDERS = {
    "assignment": "left", "variable_declarator": "name", "assignment_expression": "left", "pair": "key",
    "field_definition": "property", "public_field_definition": "name", "var_spec": "name",
    "short_var_declaration": "left", "let_declaration": "pattern", "named_expression": "name",
}  # fmt: skip
"""What gives a function without a name one, and in which field."""
_CLASSES = frozenset(
    {"class_definition", "class_declaration", "abstract_class_declaration", "interface_declaration",
     "impl_item", "trait_item", "class", "module", "mod_item", "enum_declaration", "record_declaration"}
)  # fmt: skip
_SKIPPED_STATEMENTS = frozenset(
    {"import_statement", "import_from_statement", "future_import_statement", "import_declaration",
     "use_declaration", "package_clause", "package_declaration", "attribute_item", "function_signature",
     "function_signature_item", "method_signature", "abstract_method_signature", "ambient_declaration",
     "empty_statement", "pass_statement"}
)  # fmt: skip
_ABSTRACT_DECORATOR = re.compile(r"abstractmethod|abstractproperty|abstractclassmethod|overload")
_ABSTRACT_BASE = re.compile(r"\b(?:ABC|ABCMeta|Protocol|Interface)\b")
_MAX_NAMES = 20
_MAX_ABOVE = 4
_TEST_MODULE = re.compile(r"#!?\[\s*cfg\s*\(\s*test\s*\)|#\[\s*(?:\w+::)*test\b")
_ALIAS = re.compile(rb"^[ \t]*(\w+)[ \t]*=[ \t]*NotImplementedError\b", re.MULTILINE)
_SUBCLASS = re.compile(rb"^[ \t]*class[ \t]+(\w+)\([^)\n]*NotImplementedError", re.MULTILINE)
_IMPORTED_AS = re.compile(rb"\bNotImplementedError[ \t]+as[ \t]+(\w+)")


@dataclass(frozen=True, slots=True)
class _Scope:
    names: tuple[str, ...] = ()
    owner: str = ""
    """The innermost class, if that is what the function lies in directly."""
    abstract: bool = False
    in_function: bool = False


@dataclass(frozen=True, slots=True)
class _Place:
    """A node and what is around it."""

    node: Node
    above: tuple[Node, ...]
    """The nodes it lies in, innermost last, as far up as is ever asked for."""
    attributes: str
    """Rust's attributes stand before what they are about, as siblings of it."""
    scope: _Scope


def outline_source(path: str, source: bytes) -> SourceOutline | None:
    """The functions of a file, and which of them are stubs.

    None when the language is not one of those with a grammar, when the file only declares (`.pyi`, `.d.ts`),
    or when it is larger than is looked into.
    """
    grammar = grammar_of(path)
    if grammar is None or len(source) > MAX_SOURCE_BYTES:
        return None
    root = parse_source(grammar, source)
    aliases = frozenset(
        name.decode() for pattern in (_ALIAS, _SUBCLASS, _IMPORTED_AS) for name in pattern.findall(source)
    )
    walk = _Walk(grammar, source, aliases)
    walk.run(root)
    return SourceOutline(
        functions=tuple(_mark_overridden(walk.functions, walk.bases)),
        statements=tuple(walk.statements),
        error_line=_first_error(root),
    )


class _Walk:
    """A pass over the tree with a stack of its own, so that no source is too deep for it."""

    def __init__(self, grammar: Grammar, source: bytes, aliases: frozenset[str]) -> None:
        self._source = source
        self._indented = grammar.name == "python"
        self._implicit_return = grammar.name in ("rust", "ruby")
        self._aliases = aliases
        self.functions: list[FunctionShape] = []
        self.statements: list[str] = []
        self.bases: dict[str, set[str]] = {}
        """Class → the names it derives from, in this file."""

    def run(self, root: Node) -> None:
        pending: list[_Place] = [_Place(root, (), "", _Scope())]
        while pending:
            place = pending.pop()
            node = place.node
            inner = self._enter(place)
            if inner is None:
                continue
            children = list(_places_in(place, inner))
            if node is root or node.type in ("block", "class_body", "declaration_list", "body_statement"):
                self._take_statements(children, place.scope)
            pending.extend(reversed(children))

    def _enter(self, place: _Place) -> _Scope | None:
        """Note what a node is. The scope of what is beneath it, or None when that is not looked into."""
        node, scope = place.node, place.scope
        if _TEST_MODULE.search(place.attributes):
            return None
        if node.type in _CLASSES:
            return self._enter_class(node, scope)
        if node.type in _FUNCTIONS:
            return self._enter_function(place)
        if node.type == "if_statement" and text_of(node.child_by_field_name("condition")).endswith(
            "TYPE_CHECKING"
        ):
            return None
        return None if node.type == "ambient_declaration" else scope

    def _enter_class(self, node: Node, scope: _Scope) -> _Scope:
        name = text_of(node.child_by_field_name("name") or node.child_by_field_name("type"))
        parents = node.child_by_field_name("superclasses") or node.child_by_field_name("superclass")
        derived = text_of(parents)
        for child in node.named_children:
            if child.type in ("class_heritage", "super_interfaces"):
                derived += " " + text_of(child)
        self.bases.setdefault(name, set()).update(re.findall(r"\w+", derived))
        abstract = (
            bool(_ABSTRACT_BASE.search(derived))
            or node.type in ("abstract_class_declaration", "trait_item", "interface_declaration")
            or (node.type == "class_declaration" and _has_modifier(node, "abstract"))
        )
        return _Scope(_inside(scope.names, name), owner=name, abstract=abstract)

    def _enter_function(self, place: _Place) -> _Scope:
        node, scope = place.node, place.scope
        body = node.child_by_field_name("body")
        name = _name_of(place)
        inner = _Scope(_inside(scope.names, name), in_function=True)
        if not name or (body is None and node.type not in ("method", "singleton_method")):
            return inner
        # Only Ruby has functions without a body that are not mere declarations.
        amounts_to = Body(BodyKind.EMPTY, "has an empty body")
        if body is not None:
            amounts_to = read_body(
                body,
                aliases=self._aliases,
                is_expression=node.type in _UNNAMED and body.type not in ("block", "statement_block"),
                implicit_return=self._implicit_return,
            )
        receiver = _receiver(node)
        kind = BodyKind.REAL if _is_harmless(node, name, amounts_to.kind) else amounts_to.kind
        self.functions.append(
            FunctionShape(
                name=".".join(_inside(_inside(scope.names, receiver), name))[:500],
                line=node.start_point[0] + 1,
                kind=kind,
                why="" if kind is BodyKind.REAL else amounts_to.why,
                abstract=scope.abstract or bool(_ABSTRACT_DECORATOR.search(_decorators(place))),
                method=bool(scope.owner) or bool(receiver),
                code=_code_of(place, self._source, indented=self._indented),
            )
        )
        return inner

    def _take_statements(self, places: list[_Place], scope: _Scope) -> None:
        if scope.in_function:
            return
        for place in places:
            child = place.node
            definition = (
                child.child_by_field_name("definition") or child.child_by_field_name("declaration") or child
            )
            if definition.type in _FUNCTIONS or definition.type in _CLASSES:
                continue
            if child.type in _SKIPPED_STATEMENTS or _is_docstring(child) or _binds_function(place):
                continue
            self.statements.append(_code_of(place, self._source, indented=self._indented))


def _inside(names: tuple[str, ...], name: str) -> tuple[str, ...]:
    # The innermost names tell functions apart; a tower of a thousand would only take room.
    return (*names, name)[-_MAX_NAMES:] if name else names


def _places_in(place: _Place, scope: _Scope) -> Iterator[_Place]:
    """The children of a node, with what stands above them. Asking a node for its parent costs a search."""
    above = (*place.above, place.node)[-_MAX_ABOVE:]
    attributes = ""
    for child in place.node.named_children:
        if child.type == "attribute_item":
            attributes += text_of(child)
        elif child.type not in COMMENTS:
            yield _Place(child, above, attributes, scope)
            attributes = ""


def _name_of(place: _Place) -> str:
    named = place.node.child_by_field_name("name")
    if named is not None or place.node.type not in _UNNAMED:
        return text_of(named)
    for parent in reversed(place.above):
        if parent.type in _BINDERS:
            return text_of(parent.child_by_field_name(_BINDERS[parent.type])).rpartition(".")[2]
        if parent.type not in ("expression_list", "parenthesized_expression", "await"):
            break
    return ""


def _receiver(node: Node) -> str:
    """The type a Go method belongs to."""
    receiver = node.child_by_field_name("receiver")
    found = re.findall(r"\w+", text_of(receiver).partition("[")[0]) if receiver is not None else []
    return found[-1] if found else ""


def _decorators(place: _Place) -> str:
    parent = place.above[-1] if place.above else None
    if parent is None or parent.type != "decorated_definition":
        return ""
    return " ".join(text_of(child) for child in parent.named_children if child.type == "decorator")


def _has_modifier(node: Node, modifier: str) -> bool:
    return any(
        child.type == "modifiers" and modifier in text_of(child).split() for child in node.named_children
    )


def _is_harmless(node: Node, name: str, kind: BodyKind) -> bool:
    """Bodies that are empty because there is nothing to do: a constructor with parameter properties."""
    return kind is BodyKind.EMPTY and (
        node.type == "constructor_declaration" or (name == "constructor" and node.type == "method_definition")
    )


def _is_docstring(node: Node) -> bool:
    children = node.named_children
    return (
        node.type == "expression_statement"
        and len(children) == 1
        and children[0].type in ("string", "ellipsis")
    )


def _binds_function(statement: _Place) -> bool:
    """Whether a statement is `const f = () => …` or its like, which counts as the function."""
    pending = [statement]
    while pending:
        place = pending.pop()
        if place.node.type in _UNNAMED:
            if _name_of(place):
                return True
        elif place.node.type not in _FUNCTIONS:
            pending.extend(_places_in(place, place.scope))
    return False


def _code_of(place: _Place, source: bytes, *, indented: bool) -> str:
    """Identity of a node's code without comments, docstrings and the named functions in it.

    Each byte belongs to one function only, so nesting does not multiply the work. White space inside a line
    is evened out; indentation counts where it means something.
    """
    kept = bytearray()
    node = place.node
    position = node.start_byte
    pending = _all_places_in(place)
    while pending:
        inner = pending.pop()
        current = inner.node
        named_function = current.type in _FUNCTIONS and _name_of(inner)
        if current.type in COMMENTS or _is_docstring(current) or named_function:
            kept += source[position : current.start_byte]
            position = current.end_byte
        elif current.named_child_count:
            pending.extend(_all_places_in(inner))
    kept += source[position : node.end_byte]
    digest = hashlib.sha256()
    for line in bytes(kept).split(b"\n"):
        words = line.split()
        if words:
            indent = line[: len(line) - len(line.lstrip())] if indented else b""
            digest.update(indent + b" ".join(words) + b"\n")
    return digest.hexdigest()[:16]


def _all_places_in(place: _Place) -> list[_Place]:
    """The children of a node, comments among them, last first."""
    above = (*place.above, place.node)[-_MAX_ABOVE:]
    return [_Place(child, above, "", place.scope) for child in reversed(place.node.named_children)]


def _first_error(root: Node) -> int | None:
    if not root.has_error:
        return None
    pending = [root]
    while pending:
        node = pending.pop()
        if node.is_error or node.is_missing:
            return int(node.start_point[0]) + 1
        pending.extend(reversed([child for child in node.children if child.has_error or child.is_missing]))
    return 1


def _mark_overridden(functions: list[FunctionShape], bases: dict[str, set[str]]) -> Iterator[FunctionShape]:
    """A method that a class of the same file overrides with real code is there to be overridden."""
    overrides = {
        (base, function.name.rpartition(".")[2])
        for function in functions
        if function.method and function.kind is BodyKind.REAL
        for base in bases.get(function.name.split(".")[-2] if "." in function.name else "", ())
    }
    for function in functions:
        owner, _, name = function.name.rpartition(".")
        overridden = function.method and (owner.rpartition(".")[2], name) in overrides
        yield function.model_copy(update={"abstract": True}) if overridden else function
