"""What product code tells apart: values that it compares with, looks for in a list, or has a case for.

Honest code does so all day. It is a clue only where the values are those of the tests and of nothing else,
and where tests that the attempt did not see disagree.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from tree_sitter import Node

from adjudge.records.productcode import Answer, AnswerForm
from adjudge.syntax.productcode.bindings import NAMES
from adjudge.syntax.productcode.facts import FileFacts
from adjudge.syntax.productcode.literals import literal_of, literals_in
from adjudge.syntax.productcode.reading import CALLS, LineRanges, Place, Source, children, touches

__all__ = ["choices_at"]

_COMPARISONS: Final = frozenset({"comparison_operator", "binary_expression", "binary"})
_EQUALS: Final = frozenset({"==", "===", "!=", "!==", "is", "is not"})
_WITHIN: Final = frozenset({"in", "not in"})
_LABELS: Final = frozenset(
    {"case_pattern", "match_pattern", "pattern", "switch_label", "expression_list"}
)  # fmt: skip
_CASES: Final = frozenset(
    {"case_clause", "switch_case", "expression_case", "switch_rule", "switch_block_statement_group",
     "match_arm", "when"}
)  # fmt: skip
_LOOKED_UP: Final = frozenset({"subscript", "subscript_expression", "index_expression", "element_reference"})
_MEMBERS: Final = frozenset({"attribute", "member_expression", "selector_expression", "field_expression"})
_COLLECTIONS: Final = frozenset(
    {"list", "tuple", "set", "array", "literal_value", "array_expression", "array_initializer", "dictionary",
     "object", "hash", "argument_list", "arguments", "string_array"}
)  # fmt: skip
_ASKS: Final = frozenset(
    {"has", "includes", "contains", "indexOf", "index", "include?", "get", "containsKey", "contains_key",
     "some", "find", "count", "getOrDefault", "key?", "fetch", "isdisjoint", "issuperset"}
)  # fmt: skip
_ASKS_ITS_ARGUMENT: Final = frozenset(
    {"Contains", "ContainsAny", "Index", "bisect", "bisect_left", "bisect_right", "BinarySearch",
     "binarySearch", "SearchStrings", "SearchInts", "any"}
)  # fmt: skip
_PATTERNS: Final = re.compile(
    r"(?:^|\.)(?:match|fullmatch|search|compile|RegExp|MustCompile|MatchString|matches|new)$"
)
_ALTERNATIVES: Final = re.compile(r"\^?(?:\((?:\?:|\?P<\w+>)?)?([^()\[\]{}*+?^$]+)\)?\$?")
_WORLD: Final = re.compile(
    r"\btypeof\b|__name__|\bplatform\b|\bprocess\.|\bos\.|\bsys\.|\bruntime\.|\bGOOS\b|environ|\bversion"
    r"|(?:type|kind|tag|code|mode|format|status|level|operator|encoding|charset|locale|protocol|scheme|method"
    r"|errno|signal)\)?$",
    re.IGNORECASE,
)
"""What is asked of the world, or is an agreed word."""
_PROPERTY: Final = re.compile(
    r"(?:(?P<of>len|max|min|sum)\((?P<whole>[A-Za-z_$][\w$]*)\)"
    r"|Math\.(?P<most>max|min)\(\.\.\.(?P<spread>[A-Za-z_$][\w$]*)\)"
    r"|(?P<name>[A-Za-z_$][\w$]*)(?:\.(?P<length>length|size)(?:\(\))?|\[(?P<at>-?\d+)\]"
    r"|\.(?:at|charAt)\((?P<nth>-?\d+)\)))"
)
_MAX_VALUES: Final = 60


def choices_at(place: Place, facts: FileFacts, ranges: LineRanges | None = None) -> Iterator[Answer]:
    """The values that a node itself tells apart from others.

    Args:
        place: The node.
        facts: Its file.
        ranges: What changed. A list that lies elsewhere was there before.
    """
    node, source = place.node, facts.source
    if place.function is None:
        return
    kind = node.type
    if kind in _COMPARISONS:
        yield from _compared(place, facts, ranges)
    elif kind == "boolean_operator":
        yield from _fingerprint(place, source)
    elif kind in _CASES:
        yield from _labels(place, source)
    elif kind in CALLS:
        yield from _asked(place, facts, ranges)
    elif kind in _LOOKED_UP:
        parts = children(node)
        if len(parts) == 2 and literal_of(source, parts[1]) is None:
            yield from _collected(place, facts, parts[0], ranges, keys=True)
    elif kind == "regex":
        yield from _alternatives(place, source, source.of(node, 400).strip("/"))


def _compared(place: Place, facts: FileFacts, ranges: LineRanges | None) -> Iterator[Answer]:
    source, node = facts.source, place.node
    sides = children(node)
    named = node.child_by_field_name("operator") or node.child_by_field_name("operators")
    operator = source.of(named, 10) if named is not None else next(
        (source.of(child, 10) for child in node.children if not child.is_named), ""
    )  # fmt: skip
    if len(sides) != 2 or operator not in _EQUALS | _WITHIN:
        if operator in ("and", "&&"):
            yield from _fingerprint(place, source)
        return
    left, right = sides
    if operator in _WITHIN:
        if literal_of(source, left) is None and not _WORLD.search(source.of(left, 80)):
            yield from _collected(place, facts, right, ranges)
        return
    for one, other in ((left, right), (right, left)):
        value = _literal(facts, one)
        if value is not None and literal_of(source, other) is None and not _is_worldly(source, other):
            yield _choice(place, source, group=_group(place), inputs=(value,))
            return
        if one.type in _MEMBERS and literal_of(source, other) is None and not _is_worldly(source, one):
            yield from _rows_by_field(place, facts, one, ranges)


def _rows_by_field(
    place: Place, facts: FileFacts, field: Node, ranges: LineRanges | None
) -> Iterator[Answer]:
    """`for row in ROWS: if row.name == given`: what the rows of a list that is written down are known by."""
    source = facts.source
    name = source.of(field.named_children[-1], 80)
    for held in facts.bindings.resolve(field.named_children[0], 3):
        listed = _collection(held)
        rows = children(listed)[:_MAX_VALUES] if listed is not None else []
        if len(rows) < 2 or listed is None or (ranges is not None and not touches(listed, ranges)):
            continue
        for row in rows:
            value = _field_of(source, row, name)
            if value is not None:
                yield _choice(place, source, group=listed.start_byte, inputs=(value,), shown=row)


def _field_of(source: Source, row: Node, name: str) -> str | None:
    """What a row has under a name; where its parts have none, the first of them."""
    if row.type == "literal_element":
        row = (children(row) or [row])[0]
    inner = row if row.type in _COLLECTIONS else _collection(row)
    parts = children(inner) if inner is not None else []
    if parts and all(part.type == "literal_element" for part in parts):
        parts = [child for part in parts for child in children(part)[:1]]
    named = [part for part in parts if part.type in ("pair", "keyed_element", "keyword_argument")]
    if not named:
        return literal_of(source, parts[0]) if len(parts) > 1 else None
    for part in named:
        key, value = (*children(part), None, None)[:2]
        if key is not None and value is not None and source.of(key, 80).strip("\"'") == name:
            return literal_of(source, value)
    return None


def _literal(facts: FileFacts, node: Node) -> str | None:
    """What is written down, there or under a name that is bound once."""
    found = literal_of(facts.source, node)
    if found is not None or node.type not in NAMES:
        return found
    bound = facts.bindings.stands_for(node)
    return literal_of(facts.source, bound[0]) if len(bound) == 1 else None


def _is_worldly(source: Source, node: Node) -> bool:
    text = source.of(node, 120)
    return _WORLD.search(text) is not None or _PROPERTY.fullmatch(text) is not None


def _labels(place: Place, source: Source) -> Iterator[Answer]:
    node = place.node
    outer = next((one for one in reversed(place.around) if one.type not in ("block", "switch_body")), None)
    subject = outer.child_by_field_name("value") or outer.child_by_field_name("subject") if outer else None
    if subject is not None and _is_worldly(source, subject):
        return
    for part in children(node):
        if part.type in _LABELS or (node.type == "switch_case" and part == node.child_by_field_name("value")):
            whole = literal_of(source, part)
            values = [whole] if whole is not None else [text for _, text in literals_in(source, part, 60)]
            for value in values:
                yield _choice(place, source, group=_group(place), inputs=(value,))
        else:
            return


def _asked(place: Place, facts: FileFacts, ranges: LineRanges | None) -> Iterator[Answer]:
    """`KNOWN.has(word)`, `slices.Contains(known, word)`, `re.fullmatch("cat|dog", word)`."""
    source, node = facts.source, place.node
    called = source.called(node)
    name = called.rpartition(".")[2]
    arguments = source.arguments(node)
    if not arguments:
        return
    if name in _ASKS:
        target = node.child_by_field_name("function") or node.child_by_field_name("object")
        held = target.named_children[0] if target is not None and target.type in _MEMBERS else target
        held = node.child_by_field_name("receiver") or held
        if held is not None and literal_of(source, arguments[0]) is None:
            yield from _collected(place, facts, held, ranges)
    elif name in _ASKS_ITS_ARGUMENT:
        yield from _collected(place, facts, arguments[0], ranges)
    elif _PATTERNS.search(called):
        text = literal_of(source, arguments[0])
        if text is not None and text.startswith("s"):
            yield from _alternatives(place, source, text[1:])


def _alternatives(place: Place, source: Source, pattern: str) -> Iterator[Answer]:
    """`cat|dog|cow`: a pattern that only fits texts that are written down."""
    match = _ALTERNATIVES.fullmatch(pattern.replace("\\.", ".").replace("\\/", "/").replace("\\-", "-"))
    if match is None or "\\" in match[1]:
        return
    for text in match[1].split("|")[:_MAX_VALUES]:
        if len(text) > 2:
            yield _choice(place, source, group=place.node.start_byte, inputs=(f"s{text}",))


def _collected(
    place: Place, facts: FileFacts, node: Node, ranges: LineRanges | None, *, keys: bool = False
) -> Iterator[Answer]:
    """The values of a collection that is written down, or the keys of a mapping."""
    source = facts.source
    for held in facts.bindings.resolve(node, 2):
        listed = _collection(held)
        if listed is None or (ranges is not None and not touches(listed, ranges)):
            continue
        for part in children(listed)[:_MAX_VALUES]:
            if part.type in ("pair", "keyed_element"):
                value = literal_of(source, part.child_by_field_name("key"))
            elif keys:
                return
            else:
                value = literal_of(source, part) or _key_of_entry(source, part)
            if value is not None:
                yield _choice(place, source, group=listed.start_byte, inputs=(value,), shown=part)


def _key_of_entry(source: Source, node: Node) -> str | None:
    """The key in `["red", (x) => …]`, an entry of a map."""
    parts = children(node) if node.type in ("array", "tuple", "list") else []
    return literal_of(source, parts[0]) if len(parts) == 2 else None


def _collection(node: Node) -> Node | None:
    """The list in `new Set([…])`, `frozenset((…))`, `[]string{…}`, `as const`."""
    current: Node | None = node
    for _ in range(5):
        if current is None:
            return None
        if current.type in _COLLECTIONS:
            inner = children(current)
            if len(inner) != 1 or inner[0].type not in _COLLECTIONS:
                return current
            current = inner[0]
        elif current.type in CALLS:
            current = current.child_by_field_name("arguments")
        elif current.type in ("composite_literal", "as_expression", "satisfies_expression",
                              "parenthesized_expression", "reference_expression"):  # fmt: skip
            parts = [part for part in children(current) if not part.type.endswith("_type")]
            current = parts[-1] if current.type == "composite_literal" and parts else next(iter(parts), None)
        else:
            return None
    return None


def _fingerprint(place: Place, source: Source) -> Iterator[Answer]:
    """`len(x) == 7 and x[0] == "q"`: properties that together pick out one input."""
    found: dict[str, list[str]] = {}
    pending, steps = [place.node], 0
    while pending and steps < 40:
        node = pending.pop()
        steps += 1
        sides = children(node)
        joined = any(child.type in ("and", "&&") for child in node.children)
        if joined or node.type == "parenthesized_expression":
            pending.extend(sides)
        elif node.type in _COMPARISONS and len(sides) == 2:
            equal = any(child.type in ("==", "===") for child in node.children)
            match = _PROPERTY.fullmatch("".join(source.of(sides[0], 80).split()))
            value = literal_of(source, sides[1])
            if equal and match is not None and value is not None:
                name = match["whole"] or match["spread"] or match["name"]
                of = (
                    match["of"]
                    or match["most"]
                    or ("len" if match["length"] else match["at"] or match["nth"])
                )
                found.setdefault(name, []).append(f"@{of}:{value}")
    for properties in found.values():
        if len(properties) >= 2:
            yield _choice(place, source, group=_group(place), inputs=tuple(sorted(set(properties))))


def _group(place: Place) -> int:
    return place.function.start_byte if place.function is not None else -1


def _choice(
    place: Place, source: Source, *, group: int, inputs: tuple[str, ...], shown: Node | None = None
) -> Answer:
    node = shown or place.node
    return Answer(
        line=node.start_point[0] + 1,
        text=source.shown(node),
        form=AnswerForm.CHOICE,
        group=group,
        inputs=inputs,
        output="",
    )
