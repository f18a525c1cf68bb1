"""A source file as the rules see it: names without aliases, short texts, who is around a node.

Everything here costs time in the size of what is looked at, never in what lies around it: a file may be one
line of half a megabyte, or nested a hundred thousand deep.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

from tree_sitter import Node

from adjudge.syntax.bodies import COMMENTS
from adjudge.syntax.productcode.folding import unfolded

__all__ = ["CALLS", "FUNCTIONS", "LineRanges", "Place", "Source", "children", "places", "touches"]

CALLS: Final = frozenset(
    {"call", "call_expression", "new_expression", "method_invocation", "macro_invocation",
     "object_creation_expression"}
)  # fmt: skip
FUNCTIONS: Final = frozenset(
    {"function_definition", "function_declaration", "generator_function_declaration", "method_definition",
     "method_declaration", "constructor_declaration", "function_item", "method", "singleton_method",
     "lambda", "arrow_function", "function_expression", "generator_function", "func_literal",
     "lambda_expression", "closure_expression", "do_block"}
)  # fmt: skip
_CLASSES = frozenset(
    {"class_definition", "class_declaration", "class", "impl_item", "interface_declaration", "module"}
)
_BINDERS = {
    "assignment": "left", "variable_declarator": "name", "assignment_expression": "left", "pair": "key",
    "field_definition": "property", "public_field_definition": "name", "let_declaration": "pattern",
    "short_var_declaration": "left", "var_spec": "name",
}  # fmt: skip
_STRINGS = re.compile(r"""\[\s*(["'`])([A-Za-z_$][\w$]*)\1\s*\]""")
_GETATTR = re.compile(r"""\bgetattr\(([\w.]+),(["'])(\w+)\2(?:,\w+)?\)""")
_IMPORTED = re.compile(r"""\b(?:__import__|import_module|require)\((["'])(?:node:)?([\w.@/-]+)\1\)""")
_PY_FROM = re.compile(r"^[ \t]*from[ \t]+([\w.]+)[ \t]+import[ \t]+(\([^)]{0,4000}\)|[^\n]{0,1000})", re.M)
_PY_IMPORT = re.compile(r"^[ \t]*import[ \t]+([^\n]{1,1000})", re.M)
_ALIAS = re.compile(
    r"^[ \t]*(?:const |let |var )?(\w+)[ \t]*=[ \t]*([A-Za-z_][\w.]{2,80})[ \t]*;?[ \t]*(?:#.*|//.*)?$", re.M
)
_JS_IMPORT = re.compile(
    r"""\bimport[ \t]++(?:(\w++)[ \t]*+,?[ \t]*+)?(?:\*[ \t]++as[ \t]++(\w++)|\{([^}]{0,2000})\})?[ \t\n]*+"""
    r"""from[ \t]*+["'](?:node:)?([^"'\n]+)["']"""
)
_JS_REQUIRE = re.compile(
    r"""\b(?:const|let|var)[ \t]+(?:(\w+)|\{([^}]{0,2000})\})[ \t]*=[ \t]*"""
    r"""(?:require\(["'](?:node:)?([^"'\n]+)["']\)|(process|globalThis|global))[ \t]*[;\n.]"""
)
_LOADED = re.compile(
    r"""^[ \t]*(?:const |let |var )?(\w+)[ \t]*=[^=\n]{0,80}?"""
    r"""\b(__import__|import_module|require|getBuiltinModule)\(([^\n]{1,300})\)[^\n()]*$""",
    re.M,
)
_GO_IMPORT = re.compile(r'^[ \t]*(?:import[ \t]+)?(\w+)[ \t]+"([\w./-]+)"', re.M)
_MAX_NAME = 200
_MAX_SHOWN: Final = 160
_MAX_KEY: Final = 400
_MAX_ALIASES = 2_000
_MAX_NAMES: Final = 4_000
_MAX_AROUND = 400
"""Nodes around a place that are kept; what lies deeper is read as if nothing stood further out."""

LineRanges = Sequence[tuple[int, int]]


class Source:
    """The bytes of a file with what its names stand for."""

    def __init__(self, language: str, path: str, data: bytes) -> None:
        self.language = "javascript" if language in ("typescript", "tsx") else language
        self.path = path
        self.data = data
        self.text = data.decode("utf-8", "replace")
        self.aliases = dict(_aliases(self.language, self.text))
        self.loaded = frozenset(module for _, module in _loaded(self.language, self.text))
        """Modules that are loaded by a call, under a name of their own."""
        self._names: dict[tuple[int, int], str] = {}
        self._called: dict[int, str] = {}
        self._arguments: dict[int, list[Node]] = {}
        self.remembered: dict[tuple[object, ...], bool] = {}
        """Answers to questions that cost time in the size of a function or of the file."""

    def of(self, node: Node | None, limit: int = _MAX_KEY) -> str:
        """The text of a node, as much of it as the limit says."""
        if node is None:
            return ""
        start = node.start_byte
        return self.data[start : min(node.end_byte, start + limit)].decode("utf-8", "replace")

    def shown(self, node: Node) -> str:
        """A node as it is written, on one line."""
        text = " ".join(self.of(node, _MAX_SHOWN * 4).split())
        return text if len(text) <= _MAX_SHOWN else f"{text[:_MAX_SHOWN]}…"

    def key(self, node: Node) -> str:
        """A node without white space and the kind of quotes: equal for equal code."""
        return re.sub(r"[\s;]+", "", self.of(node)).replace("'", '"')

    def name(self, node: Node | None) -> str:
        """What a name or a chain of names stands for: `os._exit` for `getattr(o, "_exit")`."""
        if node is None:
            return ""
        place = (node.start_byte, node.end_byte)
        if place not in self._names:
            if len(self._names) > _MAX_NAMES:
                self._names.clear()
            self._names[place] = self._name(node)
        return self._names[place]

    def _name(self, node: Node) -> str:
        text = unfolded("".join(self.of(node, _MAX_NAME).split()))
        text = text.replace("?.", ".").replace("::", ".").replace("\\", "").removeprefix("::")
        if "getattr(" in text:
            text = _GETATTR.sub(r"\1.\3", text)
        if "import" in text or "require(" in text:
            text = _IMPORTED.sub(r"\2", text)
        if "[" in text and self.language == "javascript":
            text = _STRINGS.sub(r".\2", text)
        for _ in range(3):
            head = re.split(r"[.\[]", text, maxsplit=1)[0]
            rest = text[len(head) :]
            full = self.aliases.get(head)
            if full is None or full == head or (rest and full.startswith(f"{head}.")):
                break
            text = f"{full}{rest}"
        return text

    def called(self, call: Node) -> str:
        """The name of what a call calls."""
        known = self._called.get(call.id)
        if known is None:
            if len(self._called) > _MAX_NAMES:
                self._called.clear()
            known = self._called[call.id] = self._name_called(call)
        return known

    def _name_called(self, call: Node) -> str:
        if call.type == "method_invocation":
            return ".".join(
                part
                for part in (
                    self.name(call.child_by_field_name("object")),
                    self.of(call.child_by_field_name("name")),
                )
                if part
            )
        if call.type == "call" and self.language == "ruby":
            receiver, method = call.child_by_field_name("receiver"), call.child_by_field_name("method")
            return ".".join(part for part in (self.name(receiver), self.of(method)) if part)
        for field in ("function", "constructor", "macro", "type"):
            found = call.child_by_field_name(field)
            if found is not None:
                return self.name(found)
        return ""

    def arguments(self, call: Node) -> list[Node]:
        """The arguments of a call."""
        known = self._arguments.get(call.id)
        if known is None:
            if len(self._arguments) > _MAX_NAMES:
                self._arguments.clear()
            known = self._arguments[call.id] = children(call.child_by_field_name("arguments"))
        return known


class Place(NamedTuple):
    """A node, and what is around it."""

    node: Node
    around: tuple[Node, ...]
    """The nodes it lies in, outermost first."""
    functions: tuple[str, ...]
    """Names of the functions it lies in, outermost first; a function without a name has the one it is bound
    to, or none."""
    types: tuple[str, ...]
    """Names of the classes it lies in."""
    function: Node | None
    """The innermost function."""

    @property
    def at_import(self) -> bool:
        """Whether it runs when the file is loaded."""
        return not self.functions


def children(node: Node | None) -> list[Node]:
    """The parts of a node that are no comments."""
    return [] if node is None else [child for child in node.named_children if child.type not in COMMENTS]


def places(root: Node, source: Source, ranges: LineRanges | None) -> Iterator[Place]:
    """Every node in the order of the text; with ranges of lines, those that have to do with one of them."""
    pending = [Place(root, (), (), (), None)]
    if ranges is not None and not touches(root, ranges):
        return
    while pending:
        place = pending.pop()
        node, _, functions, types, function = place
        kind = node.type
        if kind in COMMENTS:
            continue
        yield place
        if not node.named_child_count:
            continue
        if kind in FUNCTIONS:
            functions, function = (*functions[-20:], _function_name(place, source)), node
        elif kind in _CLASSES:
            named = node.child_by_field_name("name") or node.child_by_field_name("type")
            types = (*types[-20:], source.of(named, 80))
        around = (*place.around[-_MAX_AROUND:], node) if len(place.around) < _MAX_AROUND else place.around
        for child in reversed(node.named_children):
            if ranges is None or touches(child, ranges):
                pending.append(Place(child, around, functions, types, function))


def touches(node: Node, ranges: LineRanges) -> bool:
    """Whether a node has to do with one of the ranges of lines."""
    first, last = node.start_point[0] + 1, node.end_point[0] + 1
    for start, end in ranges:  # noqa: SIM110 - asked of every node; a generator takes three times as long
        if first <= end and start <= last:
            return True
    return False


def _function_name(place: Place, source: Source) -> str:
    named = place.node.child_by_field_name("name")
    if named is not None:
        return source.of(named, 80)
    for outer in reversed(place.around[-3:]):
        field = _BINDERS.get(outer.type)
        if field is not None:
            return source.of(outer.child_by_field_name(field), 80)
    return ""


def _loaded(language: str, text: str) -> Iterator[tuple[str, str]]:
    """Names that are given a module by a call, with it."""
    if language not in ("python", "javascript"):
        return
    for match in _LOADED.finditer(text):
        loaded = re.match(r"""["'`](?:node:)?([\w.@/-]+)["'`]""", unfolded("".join(match[3].split())))
        if loaded is not None:
            yield match[1], loaded[1]


def _aliases(language: str, text: str) -> Iterator[tuple[str, str]]:
    """Local names → what they stand for."""
    count = 0
    if language == "python":
        for match in _PY_IMPORT.finditer(text):
            for part in match[1].split(","):
                words = part.split("#")[0].split()
                if len(words) == 3 and words[1] == "as":
                    yield words[2], words[0]
        for match in _PY_FROM.finditer(text):
            module = match[1]
            for part in re.sub(r"#[^\n]*", "", match[2]).strip("() \t").split(","):
                words = part.strip("() \n\t").split()
                if words and not module.startswith("."):
                    yield words[-1], f"{module}.{words[0]}"
    elif language == "javascript":
        for match in _JS_IMPORT.finditer(text):
            for name in (match[1], match[2]):
                if name:
                    yield name, match[4]
            yield from _members(match[3], match[4], " as ")
        for match in _JS_REQUIRE.finditer(text):
            module = match[3] or match[4]
            if match[1]:
                yield match[1], module
            yield from _members(match[2], module, ":")
    yield from _loaded(language, text)
    if language == "go":
        for match in _GO_IMPORT.finditer(text):
            yield match[1], match[2].rpartition("/")[2]
    if language in ("python", "javascript"):
        for match in _ALIAS.finditer(text):
            count += 1
            if count > _MAX_ALIASES:
                return
            if "." in match[2] and not match[2].startswith(("self.", "this.", "cls.")):
                yield match[1], match[2]


def _members(listed: str | None, module: str, renamed: str) -> Iterator[tuple[str, str]]:
    for part in (listed or "").split(","):
        name, _, alias = part.strip().removeprefix("type ").partition(renamed)
        if name.strip():
            yield (alias or name).strip(), f"{module}.{name.strip()}"
