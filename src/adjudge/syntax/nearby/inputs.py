"""Which literals of a test file are inputs that can be others, and which are chosen for one run.

What a test expects is left as it is, as far as its place says that it is expected: nobody compares it in such
a run, and time spent on it is lost. A literal that is neither, such as one in a table of examples, is tried.
"""

from __future__ import annotations

import random
import re
import string
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from tree_sitter import Node

from adjudge.syntax.nearby.literals import NUMBERS, TEXTS, near_literal

__all__ = ["Input", "Replaced", "choose_inputs", "find_inputs", "takes_others", "unit_of"]

_LITERALS: Final = NUMBERS | TEXTS
_FUNCTIONS: Final = frozenset(
    {
        "function_definition", "decorated_definition",
        "function_declaration", "function_expression", "arrow_function", "method_definition",
        "method_declaration",
    }
)  # fmt: skip
_CLOSED: Final = frozenset(
    {
        "import_statement", "import_from_statement", "future_import_statement", "import_declaration",
        "package_clause", "export_statement", "interpolation", "type", "type_annotation", "slice",
        "field_declaration", "class_heritage",
    }
)  # fmt: skip
"""Nothing below is an input."""
_CALLS: Final = frozenset({"call", "call_expression", "new_expression"})
_COMPARISONS: Final = frozenset({"comparison_operator", "binary_expression"})
_COMPARING: Final = frozenset(
    {"==", "!=", "===", "!==", "<", ">", "<=", ">=", "is", "in", "not in", "is not"}
)
_ASSERTING: Final = re.compile(
    r"(?:^|\.)(?:assert\w*|expect\w*|to[A-Z]\w*|require|equal|equals|deepEqual|strictEqual|notEqual|same|is|ok|"
    r"rejects|throws|approx|raises\w*|fail|subTest)$|^(?:assert|require|t|tb|b)\.\w+$|^(?:fmt|log|console)\.|^print$"
)
_NAMING: Final = re.compile(
    r"(?:^|\.)(?:test|it|describe|suite|context|each|only|skip|todo|Run|skipif|skipIf|mark\.\w+)$"
)
"""What takes the name of a test first."""
_EXPECTED: Final = re.compile(
    r"^(?:want|wants|expect|expected|exp|out|output|result|res|err|error|errors|name|desc|title|id|ids|label|why|reason|match|msg|message|encoding)"
    r"(?:[A-Z_]|$)",
    re.IGNORECASE,
)
_BLOCKS: Final = frozenset({"block", "statement_block", "statement_list"})
_TABLES: Final = frozenset({"list", "tuple", "array", "literal_value"})
_ROWS: Final = frozenset(
    {
        "tuple",
        "list",
        "dictionary",
        "call",
        "array",
        "object",
        "literal_element",
        "keyed_element",
        "literal_value",
    }
)
_MIN_TABLE: Final = 3
_SHARE_OF_ROWS: Final = 3
"""Of a table, one row in so many is changed at a time."""
_WORDS: Final = re.compile(r"(?<![\\%A-Za-z])[A-Za-z]+(?=[^A-Za-z\"'`]|[\"'`]$)")
"""Words in a text; not its prefix, nor what follows a sign that means something."""
_SHARE_OF_WORDS: Final = 0.4
_LETTERS: Final = re.compile(r"[A-Za-z]+")
_DIGITS: Final = re.compile(r"[0-9]+")
_MAX_INPUTS: Final = 5000
_MAX_DEPTH: Final = 150


@dataclass(frozen=True, slots=True)
class Input:
    """A literal that a test hands to the product, or may."""

    node: Node
    unit: int
    """Where the function or statement begins that it is in."""
    statement: int
    """Where the statement of a function begins that it is in, or the unit."""
    row: int
    """Where the row of a table begins that it is in; -1 outside of one."""
    shared: bool
    """Whether it stands outside of any function, so that several tests may use it."""


@dataclass(frozen=True, slots=True)
class Replaced:
    """One literal and what stands in its place."""

    start: int
    end: int
    line: int
    text: str
    unit: int
    """Where the test begins that it is in, or the statement outside of tests."""


def find_inputs(root: Node) -> list[Input]:
    """Every literal that may be another, in order."""
    found: list[Input] = []
    _walk(root, found, unit=-1, statement=-1, row=-1, inside=False, depth=0)
    return found


def choose_inputs(inputs: list[Input], source: bytes, *, turn: int, seed: str, of_all: str) -> list[Replaced]:
    """Literals for one run: one in each test, and in tables one in some of the rows.

    Args:
        inputs: Those there are.
        source: What they stand in.
        turn: Which run, from 1 on. In one of six it is a literal in each statement; in another one, what
            several tests share is changed and nothing else, if there is any; in a third one, some words are
            others wherever they stand. The more is changed at a time, the further away it is.
        seed: Fixes what is chosen.
        of_all: The same for all files of tests, so that words are others in all of them.
    """
    if turn % 6 == 5:
        renamed = list(_renamed(inputs, source, f"{of_all} {turn}"))
        if renamed:
            return renamed
    shared = turn % 6 == 0 and any(one.shared for one in inputs)
    pool = _pool(inputs, source) if takes_others(turn) else {}
    units: dict[int, dict[int, list[Input]]] = {}
    for one in inputs:
        if one.shared is shared:
            unit = one.statement if turn % 6 == 3 else one.unit
            units.setdefault(unit, {}).setdefault(one.row, []).append(one)
    chosen: list[Replaced] = []
    for unit, rows in units.items():
        order = sorted(rows)
        random.Random(f"{seed} {unit}").shuffle(order)
        tables = [row for row in order if row >= 0]
        taken = [row for index, row in enumerate(tables) if index % _SHARE_OF_ROWS == turn % _SHARE_OF_ROWS]
        if len(tables) < _MIN_TABLE:
            taken = [order[(turn - 1) % len(order)]]
        elif -1 in rows and turn % 2:
            taken.append(-1)
        for row in taken:
            replaced = _one_of(rows[row], source, turn, f"{seed} {unit} {row}", pool)
            if replaced is not None:
                chosen.append(replaced)
    return sorted(chosen, key=lambda one: one.start)


def _renamed(inputs: list[Input], source: bytes, seed: str) -> Iterator[Replaced]:
    """Texts in which some words are others: the same ones wherever they stand, in any case."""
    for one in inputs:
        node = one.node
        if node.type not in TEXTS:
            continue
        written = source[node.start_byte : node.end_byte].decode("utf-8", "replace")
        text = _WORDS.sub(lambda word: _other_word(word[0], seed), written)
        if text != written:
            yield Replaced(node.start_byte, node.end_byte, node.start_point[0] + 1, text, one.unit)


def _other_word(word: str, seed: str) -> str:
    random_ = random.Random(f"{seed} {word.lower()}")
    if random_.random() > _SHARE_OF_WORDS:
        return word
    at = random_.randrange(len(word))
    letter = random_.choice([one for one in string.ascii_lowercase if one != word[at].lower()])
    return word[:at] + (letter.upper() if word[at].isupper() else letter) + word[at + 1 :]


def takes_others(turn: int) -> bool:
    """Whether texts of a run are taken from other places of the same file.

    Where only certain words are valid, no letter can be another; but what is valid in one place of a file of
    tests mostly is in another. What is asked then may be what another test asks.
    """
    return turn % 6 == 2


def _pool(inputs: list[Input], source: bytes) -> dict[str, list[str]]:
    """Texts by their shape."""
    found: dict[str, set[str]] = {}
    for one in inputs:
        if one.node.type in TEXTS:
            text = source[one.node.start_byte : one.node.end_byte].decode("utf-8", "replace")
            found.setdefault(_shape(text), set()).add(text)
    return {shape: sorted(texts) for shape, texts in found.items()}


def _shape(text: str) -> str:
    return _LETTERS.sub("a", _DIGITS.sub("0", text))


def _one_of(
    inputs: list[Input], source: bytes, turn: int, seed: str, pool: dict[str, list[str]]
) -> Replaced | None:
    order = list(inputs)
    random.Random(seed).shuffle(order)
    for index in range(len(order)):
        at = turn - 1 + index
        one = order[at % len(order)]
        node = one.node
        written = source[node.start_byte : node.end_byte].decode("utf-8", "replace")
        tries = random.Random(f"{seed} {turn} {index}")
        others = [text for text in pool.get(_shape(written), ()) if text != written]
        text = tries.choice(others) if others else None
        if text is None:
            text = near_literal(node.type, written, at // len(order) + index, tries)
        if text is not None and text != written:
            return Replaced(node.start_byte, node.end_byte, node.start_point[0] + 1, text, one.unit)
    return None


def unit_of(node: Node) -> int:
    """Where the test begins that a node is in, as `Input` has it."""
    above: Node | None = node
    found = outermost = -1
    while above is not None and above.parent is not None:
        if above.type in _FUNCTIONS:
            outermost = above.start_byte
            if found < 0 and above.parent.type in ("arguments", "block"):
                found = above.start_byte
        above = above.parent
    return found if found >= 0 else outermost


def _walk(
    node: Node, found: list[Input], *, unit: int, statement: int, row: int, inside: bool, depth: int
) -> None:
    if depth > _MAX_DEPTH or len(found) >= _MAX_INPUTS or node.type in _CLOSED:
        return
    if node.type in _LITERALS:
        if not any(child.type in ("interpolation", "template_substitution") for child in node.children):
            found.append(Input(node, unit, max(unit, statement), row, shared=not inside))
        return
    if node.type in _FUNCTIONS and not inside:
        inside, unit = True, node.start_byte
    elif unit < 0 and node.parent is not None and node.parent.parent is None:
        unit = node.start_byte
    elif node.type in _FUNCTIONS and node.parent is not None and node.parent.type in ("arguments", "block"):
        # Tests within a suite, and methods of a class, are units of their own.
        unit = node.start_byte
    for child in _open_children(node):
        below = row
        if row < 0 and _is_row(node, child):
            below = child.start_byte
        part = child.start_byte if node.type in _BLOCKS else statement
        _walk(child, found, unit=unit, statement=part, row=below, inside=inside, depth=depth + 1)


def _is_row(table: Node, child: Node) -> bool:
    if table.type not in _TABLES or child.type not in _ROWS:
        return False
    return sum(other.type in _ROWS for other in table.named_children) >= _MIN_TABLE


def _open_children(node: Node) -> Iterator[Node]:
    """The children in which inputs may stand."""
    children = node.named_children
    if node.type in _CALLS:
        yield from _of_call(node)
    elif node.type in _COMPARISONS and any(child.type in _COMPARING for child in node.children):
        yield from (child for child in children if _has_call(child))
    elif node.type == "expression_statement" and len(children) == 1 and children[0].type in TEXTS:
        return
    elif node.type == "decorator":
        yield from (child for child in children if b"parametrize" in (child.text or b""))
    elif node.type in ("pair", "keyed_element", "keyword_argument") and len(children) >= 2:
        name = (children[0].text or b"").decode("utf-8", "replace").strip("\"'")
        if not _EXPECTED.match(name):
            yield from children[1:]
    elif node.type in ("subscript", "subscript_expression", "index_expression"):
        yield children[0]
    elif node.type in ("assignment", "variable_declarator", "short_var_declaration", "var_spec") and children:
        name = (children[0].text or b"").decode("utf-8", "replace")
        if not _EXPECTED.match(name):
            yield from children[1:]
    else:
        yield from children


def _of_call(node: Node) -> Iterator[Node]:
    function = node.child_by_field_name("function") or node.child_by_field_name("constructor")
    arguments = node.child_by_field_name("arguments")
    if function is not None:
        yield function
    if arguments is None or function is None:
        return
    name = (function.text or b"").decode("utf-8", "replace")
    if len(name) > 200:
        name = name[-200:]
    given = arguments.named_children
    if name.endswith("parametrize"):
        yield from given[1:]
    elif _NAMING.search(name):
        yield from (one for one in given if one.type not in TEXTS)
    elif _ASSERTING.search(name):
        yield from (one for one in given if _has_call(one))
    else:
        yield from given


def _has_call(node: Node) -> bool:
    pending = [node]
    while pending:
        one = pending.pop()
        if one.type in _CALLS:
            return True
        pending += one.named_children
    return False
