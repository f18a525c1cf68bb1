"""How much a comparison that a class brings along really compares.

The expressions that it gives back are read for what they ask: whether all of a thing is compared, only how
large it is or of which kind the other one is, or whether two numbers are somewhere near. What cannot be read
is taken for a full comparison.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import IntEnum
from typing import Final

from tree_sitter import Node

from adjudge.syntax.productcode.bindings import NAMES
from adjudge.syntax.productcode.facts import BRANCHES, RETURNS, FileFacts
from adjudge.syntax.productcode.literals import literal_of
from adjudge.syntax.productcode.reading import CALLS, FUNCTIONS, Place, children

__all__ = ["Asks", "asked_by"]


class Asks(IntEnum):
    """What must hold for a yes, from nothing on."""

    NOTHING = 0
    KIND = 1
    """Of which kind the other one is, or that there is one."""
    OWN = 2
    """That it is of the same kind."""
    SIZE = 3
    """How large it is, what it begins with, which of two is larger, or a part of it."""
    NEAR = 4
    """That two numbers are not too far apart."""
    ORDERLESS = 5
    """The same parts or names, in any order and whatever they hold."""
    ALL = 6
    """More than that, or what cannot be told."""
    NEVER = 7
    """It says no."""


_WIDE: Final = 0.5
"""From here on a distance is none that comes from rounding."""
_PRODUCT: Final = re.compile(
    r"(-?\d*\.?\d+(?:e-?\d{1,2})?)(?:\*\*(-?\d{1,2}))?(?:\*(\d*\.?\d+))?", re.IGNORECASE
)
"""A number, or one that is worked out, as `10**4` and `24*60`."""
_AND: Final = frozenset({"and", "&&"})
_OR: Final = frozenset({"or", "||"})
_SAME: Final = frozenset({"==", "===", "is"})
_OTHER: Final = frozenset({"!=", "!==", "is not", "<>"})
_LARGER: Final = frozenset({"<", "<=", ">", ">="})
_SIZES: Final = frozenset({"len", "bool", "sum", "min", "max", "any", "size", "length", "count", "typeof"})
_ORDERLESS: Final = frozenset({"set", "frozenset", "sorted", "keys", "Counter"})
_BLOCKS: Final = frozenset(
    {"block", "statement_block", "statement_list", "body_statement", "then", "else_clause", "else",
     "try_statement", "with_statement", "expression_statement", "except_clause", "catch_clause"}
)  # fmt: skip
_BEGINS: Final = frozenset(
    {"startswith", "endswith", "startsWith", "endsWith", "includes", "HasPrefix", "HasSuffix", "Contains",
     "start_with?", "end_with?", "include?", "starts_with", "ends_with", "issubset", "issuperset"}
)  # fmt: skip
_CHOICES: Final = frozenset({"conditional_expression", "ternary_expression", "conditional"})
_LOOPS: Final = frozenset(
    {"for_statement", "while_statement", "for_in_statement", "for_expression", "while_expression",
     "match_statement", "switch_statement", "match_expression", "enhanced_for_statement", "do_statement",
     "expression_switch_statement", "switch_expression", "case", "type_switch_statement"}
)  # fmt: skip
_COMPREHENSIONS: Final = frozenset({"generator_expression", "list_comprehension"})
_MAX_DEPTH: Final = 8


@dataclass(frozen=True, slots=True)
class _Reading:
    facts: FileFacts
    own: frozenset[str]
    other: frozenset[str]
    types: frozenset[str]
    """Names of the class it is in."""
    fractions: bool
    """Whether its numbers have fractions, which `int` and `round` take away."""

    def text(self, node: Node | None) -> str:
        return "".join(self.facts.source.of(node, 400).split())

    def speaks_of(self, node: Node | None, names: frozenset[str]) -> bool:
        if node is None:
            return False
        return any(
            not names.isdisjoint(re.findall(r"[@A-Za-z_$][\w$]*", self.facts.source.of(part, 400)))
            for part in self._meant(node)
        )

    def _meant(self, node: Node) -> Iterator[Node]:
        yield node
        for part in _names_in(node):
            if part.type in NAMES and self.text(part) not in self.own | self.other:
                yield from self.facts.bindings.bound(self.text(part), part)[:2]


def asked_by(
    place: Place,
    facts: FileFacts,
    own: Iterable[str],
    other: Iterable[str],
    *,
    types: Iterable[str],
    fractions: bool = False,
) -> Asks:
    """What a method asks before it says that two things are equal.

    Args:
        place: The method.
        facts: Of its file.
        own: Names of the object itself in it, and of its fields where they stand alone.
        other: Names of what it is compared with.
        types: Names of the class it is in.
        fractions: Whether it holds a number that has fractions.
    """
    return _of_function(
        place.node, _Reading(facts, frozenset(own), frozenset(other), frozenset(types), fractions), 0
    )


def _of_function(function: Node, reading: _Reading, depth: int) -> Asks:
    body = function.child_by_field_name("body")
    if body is None:
        return Asks.ALL
    if body.type not in _BLOCKS:
        return _of(body, reading, depth)
    found: list[Asks] = []
    if not _paths(body, Asks.NOTHING, found, reading, depth):
        return Asks.ALL
    said = [one for one in found if one is not Asks.NEVER]
    return min(said, default=Asks.NEVER)


def _paths(block: Node, before: Asks, found: list[Asks], reading: _Reading, depth: int) -> bool:
    """Gather what each path that gives something back has asked; False where one cannot be followed."""
    parts = children(block) if block.type in _BLOCKS else [block]
    for number, part in enumerate(parts):
        last = number == len(parts) - 1 and reading.facts.source.language in ("rust", "ruby")
        if part.type in RETURNS:
            given = children(part)
            given = (
                children(given[0])
                if given and given[0].type in ("expression_list", "argument_list")
                else given
            )
            found.append(_both(before, _of(given[0], reading, depth)) if given else Asks.NEVER)
            return True
        if part.type in ("expression_statement", "parenthesized_expression") and any(
            inner.type in RETURNS for inner in children(part)
        ):
            return _paths(part, before, found, reading, depth)
        if part.type in _LOOPS or part.type in ("assert_statement", "raise_statement", "throw_statement"):
            return False
        if part.type in BRANCHES:
            condition = part.child_by_field_name("condition")
            if condition is None or part.type in ("if_modifier", "unless_modifier", "unless"):
                return False
            yes, no = _of(condition, reading, depth), _denied(condition, reading, depth)
            branch = part.child_by_field_name("consequence")
            otherwise = part.child_by_field_name("alternative")
            had = len(found)
            for side, asked in ((branch, yes), (otherwise, no)):
                if side is not None and not _paths(side, _both(before, asked), found, reading, depth):
                    return False
            said = set(found[had:])
            if Asks.NEVER in said and (branch is None or otherwise is not None or not _leaves(branch)):
                before = Asks.ALL
            elif said == {Asks.NEVER}:
                # What was not refused here is as it has to be; after a yes nothing is asked yet.
                before = _both(before, no)
            if otherwise is not None and branch is not None and _leaves(branch) and _leaves(otherwise):
                return True
        elif part.type in _BLOCKS and part.type != "expression_statement":
            if not _paths(part, before, found, reading, depth):
                return False
        elif last and part.type not in ("let_declaration", "assignment"):
            found.append(_both(before, _of(part, reading, depth)))
    return True


def _leaves(block: Node) -> bool:
    """Whether a block ends in giving something back, or in an error."""
    parts = [part for part in children(block) if part.type not in ("comment",)]
    if not parts:
        return False
    last = parts[-1]
    if last.type in RETURNS or last.type in ("raise_statement", "throw_statement"):
        return True
    return block.type in RETURNS or (last.type in ("expression_statement", *_BLOCKS) and _leaves(last))


def _both(first: Asks, second: Asks) -> Asks:
    return max(first, second)


def _of(node: Node, reading: _Reading, depth: int) -> Asks:
    """What an expression asks for."""
    source = reading.facts.source
    if depth > _MAX_DEPTH:
        return Asks.ALL
    literal = literal_of(source, node)
    if literal is not None:
        return {"true": Asks.NOTHING, "false": Asks.NEVER, "none": Asks.NEVER}.get(literal, Asks.ALL)
    if reading.text(node) == "NotImplemented":
        return Asks.NEVER
    if node.type in ("parenthesized_expression", "expression_list", "expression_statement", "await"):
        parts = children(node)
        return _of(parts[0], reading, depth + 1) if len(parts) == 1 else Asks.ALL
    if node.type in _CHOICES:
        return _of_choice(node, reading, depth)
    if node.type in ("not_operator", "unary_expression", "unary"):
        inner = children(node)[-1:]
        negates = source.of(node, 4).lstrip().startswith(("not", "!"))
        return _denied(inner[0], reading, depth + 1) if inner and negates else Asks.ALL
    if node.type == "instanceof_expression":
        return _kind(node, reading)
    sides, operator = _operands(node)
    if sides:
        return _of_operator(node, sides, operator, reading, depth)
    if node.type in CALLS:
        return _of_call(node, reading, depth)
    if node.type in NAMES:
        bound = reading.facts.bindings.bound(reading.text(node), node)
        if len(bound) == 1 and bound[0] != node:
            return (
                _kind(bound[0], reading)
                if bound[0].type == "type_assertion_expression"
                else _of(bound[0], reading, depth + 1)
            )
    return Asks.ALL


def _kind(node: Node, reading: _Reading) -> Asks:
    """Whether a thing is of a kind: of that of the object itself, or of another one."""
    named = set(re.findall(r"\w+", reading.facts.source.of(node, 400)))
    return Asks.OWN if named & (reading.types | {"__class__", "Self", "self", "cls"}) else Asks.KIND


def _of_choice(node: Node, reading: _Reading, depth: int) -> Asks:
    parts = children(node)
    if len(parts) != 3:
        return Asks.ALL
    yes, condition, no = parts if node.type == "conditional_expression" else (parts[1], parts[0], parts[2])
    if node.type == "conditional_expression" and reading.facts.source.language != "python":
        yes, condition, no = parts[1], parts[0], parts[2]
    sides = (
        _both(_of(condition, reading, depth + 1), _of(yes, reading, depth + 1)),
        _both(_denied(condition, reading, depth + 1), _of(no, reading, depth + 1)),
    )
    return min(sides)


def _denied(node: Node, reading: _Reading, depth: int) -> Asks:
    """What an expression asks for where it has to be false."""
    if depth > _MAX_DEPTH:
        return Asks.ALL
    if node.type == "parenthesized_expression" and len(children(node)) == 1:
        return _denied(children(node)[0], reading, depth + 1)
    if node.type in ("not_operator", "unary_expression", "unary"):
        inner = children(node)[-1:]
        return _of(inner[0], reading, depth + 1) if inner else Asks.ALL
    sides, operator = _operands(node)
    if sides and operator in _AND | _OR:
        each = [_denied(side, reading, depth + 1) for side in sides]
        return min(each) if operator in _AND else max(each)
    if sides and operator in _OTHER:
        return _compared(sides, reading)
    if sides and operator in _LARGER:
        return _measured(node, sides, reading)
    if sides and operator in _SAME:
        # Another one than itself, one that is there: anything may be that.
        return Asks.NOTHING
    if node.type in CALLS or node.type == "instanceof_expression":
        # It is of another kind.
        return Asks.NOTHING if _of(node, reading, depth + 1) in (Asks.KIND, Asks.OWN) else Asks.ALL
    return Asks.ALL


def _operands(node: Node) -> tuple[list[Node], str]:
    if node.type not in ("boolean_operator", "binary_expression", "binary", "comparison_operator"):
        return [], ""
    operators = [child.type for child in node.children if not child.is_named]
    sides = children(node)
    chained = len(sides) == 3 and all(one in _LARGER for one in operators)
    if not operators or (len(sides) != 2 and not chained):
        return [], ""
    return sides, " ".join(operators) if operators[0] in ("is", "not") and len(operators) > 1 else operators[
        0
    ]


def _of_operator(node: Node, sides: list[Node], operator: str, reading: _Reading, depth: int) -> Asks:
    if operator in _AND | _OR:
        each = [_of(side, reading, depth + 1) for side in sides]
        return max(each) if operator in _AND else min(each)
    if operator in _SAME:
        return _compared(sides, reading)
    if operator in _LARGER:
        return _measured(node, sides, reading)
    if operator == "instanceof":
        return _kind(node, reading)
    if operator in ("in", "not in"):
        if operator == "in" and not reading.speaks_of(node, reading.own):
            return Asks.KIND
        plain = {reading.text(side) for side in sides}
        whole = plain & reading.own and (plain & reading.other or reading.speaks_of(sides[0], reading.other))
        return Asks.SIZE if operator == "in" and whole else Asks.ALL
    if operator in _OTHER:
        return Asks.KIND if not reading.speaks_of(node, reading.own) else Asks.ALL
    return Asks.ALL


def _compared(sides: list[Node], reading: _Reading) -> Asks:
    """Two things that have to be the same."""
    own = [reading.speaks_of(side, reading.own) for side in sides]
    other = [reading.speaks_of(side, reading.other) for side in sides]
    if not any(own) and any(other):
        # `len(other) == 2`, `type(other) is int`
        return Asks.ALL if reading.text(sides[0]) == reading.text(sides[1]) else Asks.KIND
    if not (any(own) and any(other)):
        return Asks.ALL
    forms = {_form(side, reading) for side in sides}
    return forms.pop() if len(forms) == 1 else Asks.ALL


def _form(node: Node, reading: _Reading) -> Asks:
    """What of a thing an expression is."""
    if node.type in (
        "subscript",
        "subscript_expression",
        "index_expression",
        "element_reference",
        "slice_expression",
    ):
        index = children(node)[-1]
        bounds = re.findall(r"\d+", reading.text(index))
        return (
            Asks.SIZE
            if bounds and reading.text(index).strip("[]") == re.sub(r"[^\d:.-]", "", reading.text(index))
            else Asks.ALL
        )
    text = reading.text(node)
    if node.type in CALLS:
        called = reading.facts.source.called(node).rpartition(".")[2]
        arguments = reading.facts.source.arguments(node)
        if called == "round":
            digits = literal_of(reading.facts.source, arguments[1]) if len(arguments) > 1 else "n0"
            return Asks.SIZE if digits in ("n0", "n-1", "n-2") or digits is None else Asks.ALL
        if called in ("int", "floor", "ceil", "trunc", "Floor", "Round"):
            return Asks.SIZE if reading.fractions or called != "int" else Asks.ALL
        if called in ("getClass", "GetType", "type"):
            held = reading.text(arguments[0]) if arguments else text.rpartition(".")[0] or "this"
            return Asks.OWN if held in reading.own | reading.other else Asks.SIZE
        return Asks.SIZE if called in _SIZES else Asks.ORDERLESS if called in _ORDERLESS else Asks.ALL
    if found := re.search(r"\.(?:length|size|(__class__|constructor|class))$", text):
        return Asks.OWN if found[1] else Asks.SIZE
    return Asks.SIZE if text.startswith("typeof") else Asks.ALL


def _measured(node: Node, sides: list[Node], reading: _Reading) -> Asks:
    """Two things that have to be near each other, or one larger than the other."""
    apart = [side for side in sides if _distance(side, reading)]
    if not apart:
        whole = [reading.text(side) for side in sides if len(sides) == 2]
        if all(reading.speaks_of(node, names) for names in (reading.own, reading.other)) and len(whole) == 2:
            return Asks.SIZE
        return (
            Asks.KIND
            if reading.speaks_of(node, reading.other) and not reading.speaks_of(node, reading.own)
            else Asks.ALL
        )
    if re.search(r"(?i)second|time|date|stamp|duration", reading.text(node)):
        return Asks.ALL
    bounds = [_number(side, reading) for side in sides if side not in apart]
    wide = [bound for bound in bounds if bound is not None and bound >= _WIDE]
    return (
        Asks.NEAR
        if wide and len(wide) + sum(1 for one in bounds if one is not None and one < 0) >= len(bounds)
        else Asks.ALL
    )


def _distance(node: Node, reading: _Reading) -> bool:
    """Whether an expression is how far two things are apart."""
    for part in (node, *reading.facts.bindings.stands_for(node)):
        text = reading.facts.source.of(part, 400)
        if re.search(r"\w[\w.()\[\]]*\s*-\s*\w", text) and all(
            reading.speaks_of(part, names) for names in (reading.own, reading.other)
        ):
            return True
    return False


def _number(node: Node, reading: _Reading) -> float | None:
    if node.type in ("unary_operator", "unary_expression", "unary") and children(node):
        inner = _number(children(node)[-1], reading)
        return -inner if inner is not None and reading.text(node).startswith("-") else None
    for part in reading.facts.bindings.resolve(node, 2):
        found = _worked_out(reading.text(part).replace("_", ""))
        if found is not None:
            return found
    return None


def _worked_out(text: str) -> float | None:
    product = _PRODUCT.fullmatch(text)
    try:
        if product is None:
            return float(text)
        base, power, factor = (float(one) if one else 1.0 for one in product.groups())
        return float(base**power * factor)
    except (ValueError, OverflowError, ZeroDivisionError):
        return None


def _of_call(node: Node, reading: _Reading, depth: int) -> Asks:
    source = reading.facts.source
    called = source.called(node)
    last = called.rpartition(".")[2]
    arguments = source.arguments(node)
    if last in (
        "isinstance",
        "issubclass",
        "hasattr",
        "is_a?",
        "kind_of?",
        "instance_of?",
        "callable",
        "isArray",
    ):
        if arguments and last in ("isinstance", "hasattr") and reading.text(arguments[0]) in reading.own:
            return Asks.NOTHING
        return _kind(node, reading)
    if last in ("isclose", "allclose"):
        return _of_tolerance(arguments, reading)
    if last in ("bool", "Boolean") and len(arguments) == 1:
        inner = arguments[0]
        both = all(reading.speaks_of(inner, names) for names in (reading.own, reading.other))
        if inner.type in ("binary_operator", "binary_expression") and "&" in reading.text(inner) and both:
            return Asks.SIZE
        return _of(inner, reading, depth + 1)
    if last in _BEGINS:
        both = all(reading.speaks_of(node, names) for names in (reading.own, reading.other))
        return Asks.SIZE if both else Asks.ALL
    if last in ("all", "any") and len(arguments) == 1 and arguments[0].type in _COMPREHENSIONS:
        body = arguments[0].child_by_field_name("body")
        if last == "any":
            return Asks.SIZE if reading.speaks_of(arguments[0], reading.own) else Asks.ALL
        return (
            _of(body, reading, depth + 1) if body is not None and " in " in source.of(body, 200) else Asks.ALL
        )
    return _of_helper(called, arguments, reading, depth)


def _of_tolerance(arguments: list[Node], reading: _Reading) -> Asks:
    for argument in arguments:
        named = argument.child_by_field_name("name")
        value = argument.child_by_field_name("value")
        if argument.type != "keyword_argument" or value is None:
            continue
        wide = {"rel_tol": 0.05, "rtol": 0.05, "abs_tol": _WIDE, "atol": _WIDE}.get(reading.text(named))
        given = _number(value, reading)
        if wide is not None and given is not None and given >= wide:
            return Asks.NEAR
    return Asks.ALL


def _of_helper(called: str, arguments: list[Node], reading: _Reading, depth: int) -> Asks:
    """A function of the same file that is asked instead."""
    function = reading.facts.bindings.function(called.rpartition(".")[2])
    if function is None or depth > 3 or function.type not in FUNCTIONS:
        return Asks.ALL
    named: list[str] = [reading.text(part) for part in children(function.child_by_field_name("parameters"))]
    named = [re.split(r"[:=]", name)[0] for name in named if name not in ("self", "cls")]
    if len(named) != len(arguments):
        return Asks.ALL
    own, other = set(reading.own), set()
    for name, argument in zip(named, arguments, strict=True):
        if reading.speaks_of(argument, reading.own):
            own.add(name)
        elif reading.speaks_of(argument, reading.other):
            other.add(name)
    if not other or not own - reading.own:
        return Asks.ALL
    inner = _Reading(reading.facts, frozenset(own), frozenset(other), reading.types, reading.fractions)
    return _of_function(function, inner, depth + 2)


def _names_in(node: Node) -> Iterator[Node]:
    pending, left = [node], 60
    while pending and left > 0:
        current = pending.pop()
        left -= 1
        if current.type in NAMES:
            yield current
        pending.extend(current.named_children[:20])
