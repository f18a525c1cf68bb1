"""Literals of every language as texts that are equal where the values are, and how telling each is.

`n42` a number, `shello` a string, `true`, `false`, `none`, `[n1,n2]` a list, tuple, array or set, `{sa:n1}` a
mapping. A value that is not written down has no text.
"""

from __future__ import annotations

import hashlib
import operator
import re
from collections.abc import Iterator
from typing import Final

from tree_sitter import Node

from adjudge.syntax.productcode.folding import folded
from adjudge.syntax.productcode.reading import Source, children

__all__ = ["COMPOSITES", "leaves_of", "literal_of", "literals_in", "text_of_value", "weight_of"]

_NUMBERS = frozenset(
    {"integer", "float", "number", "int_literal", "float_literal", "decimal_integer_literal",
     "decimal_floating_point_literal", "hex_integer_literal", "integer_literal"}
)  # fmt: skip
_STRINGS = frozenset(
    {"string", "interpreted_string_literal", "raw_string_literal", "template_string", "string_literal",
     "character_literal", "char_literal", "rune_literal", "simple_symbol", "hash_key_symbol"}
)  # fmt: skip
_USUAL = frozenset(
    {24, 60, 90, 180, 255, 360, 365, 366, 1440, 3600, 10080, 65535, 86400, 525600, 604800, 3600000, 86400000}
)
"""Numbers of clocks, calendars, angles and bytes."""
_FRACTION = re.compile(r"\d{1,2}/\d{1,2}|[\u00bc-\u00be\u2150-\u215e]")
_WORDS = {
    "true": "true", "false": "false", "True": "true", "False": "false", "none": "none", "None": "none",
    "null": "none", "nil": "none", "null_literal": "none", "undefined": "none",
}  # fmt: skip
COMPOSITES: Final = frozenset(
    {"list", "tuple", "set", "array", "literal_value", "array_expression", "tuple_expression",
     "array_initializer", "dictionary", "object", "hash", "list_pattern", "tuple_pattern"}
)  # fmt: skip
_WRAPPERS = frozenset(
    {"parenthesized_expression", "literal_element", "expression_list", "as_expression",
     "satisfies_expression", "composite_literal", "case_pattern", "match_pattern", "pattern",
     "reference_expression", "keyword_argument", "concatenated_string", "argument_list", "frozenset"}
)  # fmt: skip
_WORK: Final = {"+": operator.add, "-": operator.sub, "*": operator.mul}
_WHOLE: Final = re.compile(r"n-?\d{1,15}")
_MAX_DEPTH: Final = 6
_MAX_TEXT: Final = 300
_MAX_PARTS: Final = 200
_INTERPOLATED = frozenset({"interpolation", "template_substitution"})
_PREFIX = re.compile(r"^(?:[rRbBuUfF]{0,2}|#*)(\"\"\"|'''|\"|'|`)")
_SUFFIX = re.compile(r"[lLfFdDuU]$|_?(?:[iu](?:8|16|32|64|128|size)|f32|f64)$")
_QUOTED = re.compile(r"""(-?\d+(?:\.\d+)?)|["']([^"']*)["']""")
_LIST_LIKE = re.compile(r"[\[(].*[\])]|-?\d+(?:\.\d+)?(?:[,;:|/ _-]+-?\d+(?:\.\d+)?)+", re.DOTALL)
_CONSTRUCTOR = re.compile(r"[A-Z]\w+|date|datetime|timedelta|BigInt")
_WORD = re.compile(r"[A-Za-z_$][\w$.:/-]{0,23}|[^\w\s]{1,3}|\w")


def literal_of(source: Source, node: Node | None, depth: int = 0) -> str | None:
    """The text of a literal; None when the node is anything else."""
    if node is None or depth > _MAX_DEPTH:
        return None
    kind = node.type
    if kind in _WORDS:
        return _WORDS[kind]
    if kind == "boolean_literal":
        return source.of(node)
    if kind in _NUMBERS:
        return _number(source.of(node, 60))
    if kind in _STRINGS:
        return _string(source, node) or (_folded(source, node) if kind == "template_string" else None)
    if kind in ("unary_operator", "unary_expression", "unary"):
        inner = literal_of(source, _last(node), depth + 1)
        if inner is None or not inner.startswith("n"):
            return None
        sign = source.of(node, 1)
        return {"-": f"n-{inner[1:]}", "+": inner}.get(sign)
    if kind in ("binary_operator", "binary_expression", "binary"):
        return _sum(source, node, depth)
    if kind in _WRAPPERS:
        parts = [child for child in children(node) if not child.type.endswith("_type")]
        if kind == "concatenated_string":
            texts = [literal_of(source, part, depth + 1) for part in parts[:_MAX_PARTS]]
            return None if None in texts else _capped("s" + "".join((text or "s")[1:] for text in texts))
        return (
            literal_of(source, parts[-1], depth + 1)
            if len(parts) == 1 or (kind == "composite_literal" and parts)
            else None
        )
    if kind in COMPOSITES:
        return _composite(source, node, depth)
    if kind in ("call_expression", "method_invocation", "call", "new_expression"):
        return _wrapped(source, node, depth) or _folded(source, node)
    return _folded(source, node) if kind == "subscript" else None


def _folded(source: Source, node: Node) -> str | None:
    """`"tixe_"[::-1]`, `"".join(["a", "b"])`, `atob("…")`: what it comes to."""
    if node.end_byte - node.start_byte > _MAX_TEXT * 2:
        return None
    found = folded(source.of(node, _MAX_TEXT * 2))
    return None if found is None else _capped(f"s{_unescaped(found)}")


def literals_in(source: Source, node: Node, limit: int = 400) -> Iterator[tuple[Node, str]]:
    """Every literal in a node, composites as a whole and their parts as well."""
    pending = [node]
    while pending and limit > 0:
        current = pending.pop()
        limit -= 1
        found = literal_of(source, current)
        if found is not None:
            yield current, found
            if current.type not in COMPOSITES and current.type not in _WRAPPERS:
                continue
        pending.extend(reversed(current.named_children[:_MAX_PARTS]))


def text_of_value(value: object) -> str | None:
    """The text of a plain value, as that of the literal it would be written as."""
    if value is None or isinstance(value, bool):
        return "none" if value is None else str(value).lower()
    if isinstance(value, int | float):
        return f"n{_plain(str(value))}"
    if isinstance(value, str):
        return _capped(f"s{value}")
    if isinstance(value, list | tuple):
        parts = [text_of_value(part) for part in value[:_MAX_PARTS]]
        return None if None in parts else _capped(f"[{','.join(part or '' for part in parts)}]")
    if isinstance(value, dict):
        pairs = [(text_of_value(key), text_of_value(given)) for key, given in value.items()]
        if any(None in pair for pair in pairs):
            return None
        return _capped(f"{{{','.join(sorted(f'{key}:{given}' for key, given in pairs))}}}")
    return None


def leaves_of(value: str) -> tuple[str, ...]:
    """The plain values in a literal's text; a string that writes out a list or a tuple is taken apart too."""
    if value.startswith(("[", "{")):
        return tuple(part for part in _split(value) if part)
    if value.startswith("s") and _LIST_LIKE.fullmatch(value[1:]):
        found = [
            f"n{_plain(match[1])}" if match[1] else f"s{match[2]}" for match in _QUOTED.finditer(value[1:])
        ]
        if len(found) > 1:
            return tuple(found)
    return (value,)


def weight_of(value: str) -> float:
    """How telling it is that a value is the same in two places: 0 for none, 0 and 1, 1 for a sentence."""
    if value.startswith(("[", "{")):
        leaves = leaves_of(value)
        return min(2.0, sum(max(0.15, weight_of(leaf)) for leaf in leaves)) if len(leaves) > 1 else 0.25
    if value.startswith("n"):
        return _weight_of_number(value[1:])
    if not value.startswith("s"):
        return 0.0
    text = value[1:]
    if not text.strip():
        return 0.0
    parts = leaves_of(value)
    if len(parts) > 1:
        return min(2.0, sum(max(0.2, weight_of(part)) for part in parts))
    if _WORD.fullmatch(text) or _FRACTION.fullmatch(text):
        return 0.25
    return 0.5 if len(text) < 6 else 1.0


def _weight_of_number(text: str) -> float:
    try:
        number = abs(float(text))
    except ValueError:
        return 0.25
    if number <= 2:
        # Halves, quarters, eighths and tenths are anybody's.
        usual = number in (number * 8 // 1 / 8, round(number, 1))
        return 0.0 if number == int(number) else 0.15 if usual else 0.5
    if number != int(number):
        return 0.75
    digits = str(int(number)) if number < 1e18 else text
    if number <= 12 or digits.strip("0") in ("1", "2", "5"):
        return 0.15
    power = number < 1e18 and int(number) & (int(number) - 1) == 0
    if power or number in _USUAL or (100 <= number < 600 and number % 100 < 30):
        return 0.15
    return 0.4 if number < 100 else 0.75 if number < 1000 else 1.0


def _number(text: str) -> str | None:
    cleaned = _SUFFIX.sub("", text.replace("_", "")) if not text.startswith(("0x", "0X")) else text
    return f"n{_plain(cleaned)}"


def _plain(text: str) -> str:
    try:
        if text[:2].lower() in ("0x", "0o", "0b"):
            return str(int(text, 0))
        number = float(text)
    except (ValueError, OverflowError):
        return text
    if number == int(number) if abs(number) < 1e15 else False:
        return str(int(number))
    return text if abs(number) >= 1e15 else repr(number)


def _string(source: Source, node: Node) -> str | None:
    if any(child.type in _INTERPOLATED for child in node.named_children[:_MAX_PARTS]):
        return None
    if node.type in ("simple_symbol", "hash_key_symbol"):
        return "s" + source.of(node).strip(":")
    text = source.of(node, 100_000)
    quote = _PREFIX.match(text)
    if quote is None or not text.endswith(quote[1]) or len(text) < quote.end() + len(quote[1]):
        return None
    inner = text[quote.end() : -len(quote[1])]
    return _capped("s" + _unescaped(inner))


def _unescaped(text: str) -> str:
    if "\\" not in text:
        return text
    table = {"n": "\n", "t": "\t", "r": "\r", "\\": "\\", '"': '"', "'": "'", "`": "`", "0": "\0"}
    return re.sub(r"\\(.)", lambda match: table.get(match[1], match[0]), text)


def _sum(source: Source, node: Node, depth: int) -> str | None:
    """`"_ex" + "it"`, `48000 + 213`, `10 * 7`: as whoever takes literals apart would have them read."""
    work = next((_WORK[child.type] for child in node.children if child.type in _WORK), None)
    if work is None:
        return None
    sides = [literal_of(source, side, depth + 1) for side in children(node)]
    if len(sides) != 2 or sides[0] is None or sides[1] is None:
        return None
    left, right = sides[0], sides[1]
    if left[0] == right[0] == "s" and work is operator.add:
        return _capped(left + right[1:])
    if _WHOLE.fullmatch(left) and _WHOLE.fullmatch(right):
        return f"n{work(int(left[1:]), int(right[1:]))}"
    return None


def _composite(source: Source, node: Node, depth: int) -> str | None:
    parts: list[str] = []
    keyed = False
    for child in children(node)[:_MAX_PARTS]:
        if child.type in ("pair", "keyed_element"):
            keyed = True
            key, value = child.child_by_field_name("key"), child.child_by_field_name("value")
            written = literal_of(source, key, depth + 1)
            if written is None and key is not None:
                inner = key.named_children[0] if key.type == "literal_element" and key.named_children else key
                if inner.type in ("identifier", "property_identifier"):
                    written = "s" + source.of(inner)
            given = literal_of(source, value, depth + 1)
            if written is None or given is None:
                return None
            parts.append(f"{written}:{given}")
            continue
        part = literal_of(source, child, depth + 1)
        if part is None:
            return None
        parts.append(part)
    text = ",".join(sorted(parts) if keyed else parts)
    return _capped(f"{{{text}}}" if keyed else f"[{text}]")


def _wrapped(source: Source, node: Node, depth: int) -> str | None:
    """`String::from("x")`, `"x".to_string()`, `List.of(1, 2)`, `new Set([1])`: the value that is wrapped."""
    called = source.called(node)
    last = called.rpartition(".")[2]
    if last in ("to_string", "to_owned", "into", "freeze") and len(called) < 200:
        function = node.child_by_field_name("function") or node.child_by_field_name("receiver")
        inner = (
            function.named_children[0]
            if function is not None and function.type == "field_expression"
            else function
        )
        return literal_of(source, inner, depth + 1)
    arguments = source.arguments(node)
    if (
        called in ("String.from", "Some", "Ok", "frozenset", "tuple", "list", "set", "Object.freeze")
        and len(arguments) == 1
    ):
        return literal_of(source, arguments[0], depth + 1)
    if (
        _CONSTRUCTOR.fullmatch(last)
        and 0 < len(arguments) <= 6
        and source.language in ("python", "javascript")
    ):
        parts = [literal_of(source, part, depth + 1) for part in arguments]
        if None in parts:
            return None
        return parts[0] if len(parts) == 1 else _capped(f"[{','.join(part or '' for part in parts)}]")
    if called in ("List.of", "Set.of", "Arrays.asList"):
        parts = [literal_of(source, part, depth + 1) for part in arguments[:_MAX_PARTS]]
        return None if None in parts else _capped(f"[{','.join(part or '' for part in parts)}]")
    return None


def _capped(text: str) -> str:
    if len(text) <= _MAX_TEXT:
        return text
    digest = hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()[:16]
    return f"{text[0]}{text[1:_MAX_TEXT]}…{digest}" if text[0] == "s" else f"s{digest}"


def _last(node: Node) -> Node | None:
    return node.named_children[-1] if node.named_children else None


def _split(value: str) -> Iterator[str]:
    """The plain values of a composite's text. Commas inside of strings split them, on both sides alike."""
    for part in re.split(r"[\[\]{},:]", value):
        if part:
            yield part
