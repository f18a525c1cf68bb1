"""What is known while the tests of a file are read, in any language: values, surroundings, checks."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Final

from tree_sitter import Node

from adjudge.records.testcode import Check, CheckState, SkipCondition, SkipMark
from adjudge.syntax.testcode.nodes import line_of, plain, shown

__all__ = [
    "Around",
    "Dialect",
    "Helper",
    "Reading",
    "aliased",
    "depends",
    "is_literal",
    "make_check",
    "mark",
    "resolved",
    "resolved_text",
    "same_value",
    "split_words",
    "truth",
    "when",
]

_MAX_WORDS: Final = 120
_MAX_HELD: Final = 200
_TRUE = frozenset({"True", "true", "1", '"True"', '"1"'})
_FALSE = frozenset(
    {"False", "false", "0", "None", "null", "nil", "undefined", '""', "[ ]", "( )", "{ }", "!1"}
)
_LITERAL = re.compile(
    r"""(?:\s|-?\d[\w.]*+|[bru]{0,2}"(?:[^"#]|\#(?!\{[ ]))*"|[rR]?[fF][rR]?"[^"{]*"|[\[\](){}:-]
    |\b(?:None|True|False|true|false|null|nil|undefined|new|set|frozenset|list|dict|tuple)\b)++""",
    re.VERBOSE,
)
"""Possessive: a number can be cut into numbers in as many ways as it has digits, and all would be tried."""
_COMPARED = re.compile(r'(-?[\d.]+|"[^"]*") (==|===|!=|!==|<|>|<=|>=|is|is not) (-?[\d.]+|"[^"]*")')
_ITSELF = re.compile(r"(\w+) (?:==|===|is) (\w+)")
_TEXT = re.compile(r'"[^"]*"')
_DEPENDS = re.compile(
    r"(?<!\. )\b(?!(?:True|False|None|true|false|nil|null|not|and|or|in|is|len|bool|int|str|min|max|abs|sum"
    r"|float|isinstance|String|Number|Boolean|__debug__|__name__)\b)[A-Za-z_]"
)
"""A name that a condition hangs on."""
_MEMBER = re.compile(r"(?:self|cls|this|type \( self \)|self \. __class__|@@?) ?\.? ?(\w+)$")


@dataclass(frozen=True, slots=True)
class Around:
    """What stands around a statement."""

    state: CheckState = CheckState.LIVE
    conditions: tuple[tuple[Node, bool], ...] = ()
    """Conditions it stands under, the nearest last, and whether they have to hold."""
    awaited: bool = False


@dataclass(frozen=True, slots=True)
class Helper:
    """A function of the file that tests may call."""

    body: Node
    parameters: tuple[str, ...] = ()
    awaited: bool = False
    """It does nothing until somebody waits for it."""
    entered: bool = False
    """It does nothing until it is entered, as a context manager."""


@dataclass(frozen=True, slots=True)
class Dialect:
    """What a language adds to the common reading of its statements."""

    assigned: Callable[[Node], list[tuple[str, Node | None]]]
    """Names that a node gives a value, with it."""
    statement: Callable[[Reading, Node, Around, int], bool]
    """Reads a statement of the language's own; False leaves it to the common reading."""
    expression: Callable[[Reading, Node, Around, int], bool]
    """Reads a call or another expression that is a check, a skip or a helper; False looks inside."""
    swallows: Callable[[Node], bool]
    """Whether a handler takes a failed assertion and says nothing of it."""
    functions: frozenset[str]
    """Functions without a name, whose bodies are read where they stand."""
    environment: re.Pattern[str]
    platform: re.Pattern[str]


@dataclass(slots=True)
class Reading:
    """What a function turns out to hold."""

    dialect: Dialect
    values: dict[str, str | None] = field(default_factory=dict)
    """Names that are given one value once, with it; None for those given more."""
    nodes: dict[str, Node] = field(default_factory=dict)
    """The same, as nodes."""
    known: Mapping[str, Helper] = field(default_factory=dict)
    """Functions of the file, by name: what one of them checks, the test that calls it checks."""
    constants: Mapping[str, str] = field(default_factory=dict)
    """Names of the file and of its classes that hold a literal."""
    tables: Mapping[str, Node] = field(default_factory=dict)
    """Names of the file that hold a list or another collection that is written down."""
    lenient: Mapping[str, frozenset[str]] = field(default_factory=dict)
    """Classes of the file, with those of their methods that hold for anything."""
    live: frozenset[str] | None = None
    """Functions inside the one that is read that something is done with; None where that is not known."""
    seen: dict[int, tuple[dict[str, str | None], dict[str, Node]]] = field(default_factory=dict)
    """What bodies of the file give values to, by the body's node, so that none is gone through twice."""
    depth: int = 0
    """How many calls lie between the test and what is read."""
    looped: bool = False
    """Whether a check stands in a loop, and so is made for more than one value."""
    handed_on: bool = False
    """Whether the test says itself when it is over, so that nobody has to wait for what it starts."""
    written: set[str] = field(default_factory=set)
    """Names that were given a table that is written down, where the reading has come to."""
    empty: set[str] = field(default_factory=set)
    """Names that hold no rows where the reading has come to."""
    checks: list[Check] = field(default_factory=list)
    skips: list[SkipMark] = field(default_factory=list)
    narrowed: list[str] = field(default_factory=list)
    rows: list[str] = field(default_factory=list)
    """Rows of tables that checks are made for."""


def make_check(
    node: Node,
    operator: str,
    subject: str,
    expected: str,
    strength: int,
    state: CheckState,
    tolerance: float | None = None,
) -> Check:
    """A check as it is written at a node. One that compares literals cannot tell anything."""
    if strength and subject and expected and is_literal(subject) and is_literal(expected):
        strength = 0
    return Check(
        line=line_of(node),
        text=shown(node),
        operator=operator,
        subject=subject,
        expected=expected,
        strength=strength,
        state=state,
        tolerance=tolerance,
    )


def mark(node: Node, condition: SkipCondition = SkipCondition.ALWAYS, *, focus: bool = False) -> SkipMark:
    """A mark as it is written at a node."""
    return SkipMark(line=line_of(node), text=shown(node), when=condition, focus=focus)


def is_literal(text: str) -> bool:
    """Whether a text is made of nothing but literals."""
    return bool(text) and bool(_LITERAL.fullmatch(text))


def same_value(one: str, other: str) -> bool | None:
    """Whether two literals come to the same; None where that cannot be told."""
    if one == other:
        return True
    left, right = _value(one), _value(other)
    if left is None or right is None:
        return False if is_literal(one) and is_literal(other) else None
    return left == right


def _value(text: str) -> str | float | None:
    """What a sum, product or difference of plain values comes to."""
    try:
        tree = ast.parse(text[:_MAX_HELD], mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    return _folded(tree, 0)


def _folded(node: ast.expr, depth: int) -> str | float | None:
    if isinstance(node, ast.Constant) and isinstance(node.value, str | int | float) and depth < 20:
        return node.value
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub) and depth < 20:
        value = _folded(node.operand, depth + 1)
        return None if value is None or isinstance(value, str) else -value
    if not isinstance(node, ast.BinOp) or depth >= 20:
        return None
    left, right = _folded(node.left, depth + 1), _folded(node.right, depth + 1)
    if isinstance(left, str) and isinstance(right, str):
        return left + right if isinstance(node.op, ast.Add) else None
    if left is None or right is None or isinstance(left, str) or isinstance(right, str):
        return None
    if abs(left) > 1e12 or abs(right) > 1e12:
        return None
    sums = {ast.Add: left + right, ast.Sub: left - right, ast.Mult: left * right}
    if right:
        sums |= {ast.Div: left / right, ast.FloorDiv: left // right, ast.Mod: left % right}
    return sums.get(type(node.op))


def aliased(reading: Reading, text: str) -> str:
    """The name that a plain name is another word for."""
    for _ in range(3):
        held = reading.values.get(text)
        if not held or not held.isidentifier():
            break
        text = held
    return text


def resolved(reading: Reading, node: Node | None) -> str:
    """The text of a node, with what its names hold in their place."""
    return resolved_text(reading, plain(node))


def resolved_text(reading: Reading, text: str) -> str:
    """A text with what its names hold in their place."""
    words = text.split(" ")
    for _ in range(3):
        held = [_held(reading, words, index) for index in range(min(len(words), _MAX_WORDS))]
        if not any(held):
            break
        words = " ".join(value or word for value, word in zip(held, words, strict=False)).split(" ")
    return " ".join(words[:_MAX_WORDS]).removeprefix("await ")


def _held(reading: Reading, words: list[str], index: int) -> str | None:
    """What the name at a place in an expression holds; an attribute or a keyword is no such name."""
    word = words[index]
    if (index and words[index - 1] == ".") or (index + 1 < len(words) and words[index + 1] in ("=", ":")):
        return None
    held = reading.values[word] if word in reading.values else reading.constants.get(word)
    # A name that is given a value made of itself, or a long one, stays a name.
    if not held or len(held) >= _MAX_HELD or held in _FALSE or word in held.split(" "):
        return None
    return held.removeprefix("await ")


def truth(reading: Reading, text: str) -> bool | None:
    """What a condition comes to, where it is plain to see."""
    return _truth(reading, resolved_text(reading, text).split(" "), 0)


def _truth(reading: Reading, words: list[str], depth: int) -> bool | None:
    while len(words) > 2 and words[0] == "(" and _closes(words) == len(words) - 1:
        words = words[1:-1]
    text = " ".join(words)
    if text in _TRUE or text in _FALSE:
        return text in _TRUE
    if depth > 20 or len(words) > 80:
        return None
    for signs, decisive in ((("or", "||"), True), (("and", "&&"), False)):
        parts = split_words(words, signs)
        if len(parts) > 1:
            values = [_truth(reading, part, depth + 1) for part in parts]
            if decisive in values:
                return decisive
            return (not decisive) if set(values) == {not decisive} else None
    if words[0] in ("not", "!") and len(words) > 1:
        inner = _truth(reading, words[1:], depth + 1)
        return None if inner is None else not inner
    compared = _COMPARED.fullmatch(text)
    if compared:
        return _compare(*compared.groups())
    itself = _ITSELF.fullmatch(text)
    if itself and itself[1] == itself[2]:
        return True
    member = _MEMBER.fullmatch(text)
    if member and member[1] in reading.constants:
        return _truth(reading, reading.constants[member[1]].split(" "), depth + 1)
    return None


def _closes(words: list[str]) -> int:
    depth = 0
    for index, word in enumerate(words):
        depth += (word in "([{") - (word in ")]}") if len(word) == 1 else 0
        if depth == 0:
            return index
    return -1


def split_words(words: list[str], signs: tuple[str, ...]) -> list[list[str]]:
    """The parts of an expression between some signs; signs inside of brackets do not count."""
    parts: list[list[str]] = [[]]
    depth = 0
    for word in words:
        if len(word) == 1:
            depth += (word in "([{") - (word in ")]}")
        if depth == 0 and word in signs:
            parts.append([])
        else:
            parts[-1].append(word)
    return parts if all(parts) else [words]


def _compare(left: str, sign: str, right: str) -> bool | None:
    try:
        one, other = (text if text.startswith('"') else float(text) for text in (left, right))
    except ValueError:
        return None
    if sign in ("==", "===", "is"):
        return one == other
    if sign in ("!=", "!==", "is not"):
        return one != other
    if isinstance(one, str) or isinstance(other, str):
        return None
    return {"<": one < other, ">": one > other, "<=": one <= other, ">=": one >= other}[sign]


_ONE_CASE: Final = r"\w+ \. (?:name|title|desc|description|label|id) ===? \"[^\"]*\""
_NAMES_CASES: Final = re.compile(rf"{_ONE_CASE}(?: (?:\|\||or) {_ONE_CASE})*", re.IGNORECASE)
"""A condition that picks rows of a table by their names: those never run."""


def depends(condition: str) -> bool:
    """Whether a condition hangs on a name; words inside a text, and plain functions of values, are none."""
    # A condition that is one text is code, as older runners take it.
    is_code = bool(_TEXT.fullmatch(condition))
    return bool(_DEPENDS.search(condition if is_code else _TEXT.sub('""', condition)))


def when(reading: Reading, around: Around) -> SkipCondition:
    """When what stands somewhere applies: what the conditions around it say."""
    found = SkipCondition.ALWAYS
    for node, holds in around.conditions:
        text = plain(node)
        value = truth(reading, text)
        if (value is not None and value is holds) or (holds and _NAMES_CASES.fullmatch(text)):
            continue
        if value is None and holds and not node.type.endswith(("clause", "statement")) and not depends(text):
            continue
        if reading.dialect.platform.search(text):
            return SkipCondition.PLATFORM
        found = SkipCondition.ENVIRONMENT if reading.dialect.environment.search(text) else SkipCondition.OTHER
    return found
