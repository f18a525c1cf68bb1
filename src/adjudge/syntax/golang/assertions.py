"""What can be made false in the body of a Go test.

Understood are `if` statements that fail the test (`t.Errorf` and its relatives), calls of `assert`, `require`
and libraries like them, gomega's `Expect`, and helpers of the same package that are given the test. An
expected literal gets another value wherever it is written: in the comparison, behind a name, or in the table
that the test loops over. Where there is none, the test is told to fail as it comes to the assertion
(`t.Fail()`): a comparison that is turned round would let a test go on with a value that it has just refused,
and a panic in Go ends all tests of a package.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from tree_sitter import Node

from adjudge.syntax.golang.bindings import Names
from adjudge.syntax.golang.definitions import Definition, reported_name
from adjudge.syntax.golang.literals import LITERALS, change
from adjudge.syntax.golang.nodes import (
    FAILING,
    arguments,
    called,
    failing_call,
    fails,
    inside,
    same,
    statement_of,
    string_value,
    text,
)
from adjudge.syntax.python.source import Edit

__all__ = ["Finder", "Helper", "Site"]

_LIBRARIES = ("assert", "require", "is", "must", "should", "check", "ass", "req")
_TESTIFY = ("assert", "require", "ass", "req")
"""Libraries that take a message last, and what is expected first."""
_STRINGS = ("interpreted_string_literal", "raw_string_literal")
_EQUAL = ("Equal", "Equalf", "EqualValues", "EqualValuesf", "Exactly", "Exactlyf", "DeepEqual", "Equals")
_PLAIN = (*_EQUAL, "EqualError", "EqualErrorf", "ElementsMatch", "ElementsMatchf", "Len", "Lenf")
_PARTS = ("Contains", "Containsf", "ErrorContains", "ErrorContainsf")
_ASSERTS = re.compile(
    r"(?:Not)?(?:Equal|EqualValues|Exactly|DeepEqual|Equals|EqualError|ElementsMatch|Len|Contains|ErrorContains"
    r"|True|False|Nil|Zero|Empty|Error|NoError|ErrorIs|ErrorAs|Panics|PanicsWithValue|PanicsWithError|Regexp"
    r"|JSONEq|YAMLEq|InDelta|InEpsilon|InDeltaSlice|WithinDuration|Greater|GreaterOrEqual|Less|LessOrEqual"
    r"|Positive|Negative|Same|Subset|Implements|IsType|Condition|Eventually|Never|FileExists|NoFileExists"
    r"|DirExists|HTTP\w+|NilError|Assert|Check)f?"
)
_COMPARERS = {
    "reflect.DeepEqual": 2, "cmp.Equal": 2, "cmp.Diff": 2, "bytes.Equal": 2, "slices.Equal": 2,
    "maps.Equal": 2, "strings.EqualFold": 2,
}  # fmt: skip
_MATCHERS = ("Equal", "BeEquivalentTo", "HaveLen", "MatchError")
_FINDERS = ("strings.Contains", "strings.HasPrefix", "strings.HasSuffix", "bytes.Contains")
_CONVERSIONS = frozenset((
    "int", "int8", "int16", "int32", "int64", "uint", "uint8", "uint16", "uint32", "uint64", "byte", "rune",
    "float32", "float64", "string", "errors.New", "big.NewInt", "time.Duration", "json.Number",
    "json.RawMessage",
))  # fmt: skip
_WANTED = re.compile(r"want|wanted|expect|expected|exp|result", re.IGNORECASE)
_SHORT = 3
"""A part that is shorter may be found elsewhere after it was changed."""
_LEAVING = ("return_statement", "break_statement", "continue_statement", "goto_statement")


@dataclass(frozen=True)
class Site:
    """One place that can be changed so that its test fails."""

    edits: tuple[Edit, ...]
    statement: int
    """Which assertion it belongs to."""
    strong: bool
    """A value changes."""
    wide: bool
    certain: bool
    """It is reached whenever the test passes, and decides it."""


@dataclass(frozen=True)
class Helper:
    """A function of the package's test files that is given the test and fails it."""

    parameters: tuple[str, ...]


_Change = tuple[tuple[Edit, ...], bool]
"""Edits, and whether the new value is one of many."""


class Finder:
    """Finds the sites of one definition.

    Args:
        definition: A test or subtest whose body is written down.
        without: Calls in it that define tests of their own.
        names: What names stand for in its function.
        helpers: Functions that fail the test they are given, by name.
        random_: Where choices come from.
    """

    def __init__(
        self,
        definition: Definition,
        without: frozenset[int],
        names: Names,
        helpers: Mapping[str, Helper],
        random_: random.Random,
    ) -> None:
        assert definition.body is not None
        self._definition = definition
        self._body = definition.body
        self._without = without - {definition.call.id}
        self._names = names
        self._helpers = helpers
        self._random = random_
        self._looped = loop_around(definition)

    def sites(self) -> list[Site]:
        """Every place, in the order of the text."""
        found: list[Site] = []
        for node in inside(self._body, self._without):
            if node.type == "if_statement" and fails(node.child_by_field_name("consequence")):
                condition = node.child_by_field_name("condition")
                if condition is not None:
                    call = failing_call(node.child_by_field_name("consequence"))
                    assert call is not None
                    found += self._made(node, self._condition(condition), called(call)[0])
            elif node.type == "call_expression":
                changes = self._call(node)
                if changes is not None:
                    found += self._made(node, changes, self._own_test(node))
        return found

    def _own_test(self, call: Node) -> str:
        """What the test is called where a call stands; empty where that name may mean something else."""
        t = self._definition.t
        takes_test = any(text(node) == t for node in arguments(call))
        return t if takes_test or not self._names.is_declared(t) else ""

    def _made(self, node: Node, changes: Iterator[_Change], t: str) -> Iterator[Site]:
        """The sites of one assertion: values that can change, and the test `t` told to fail before it."""
        certain = self.is_certain(node)
        if certain is None:
            return
        strong = False
        for edits, wide in changes:
            strong = True
            yield Site(edits, node.start_byte, strong=True, wide=wide, certain=certain)
        statement = statement_of(node)
        if not strong and statement is not None and t:
            edit = Edit(statement.start_byte, statement.start_byte, f"{t}.Fail(); ")
            yield Site((edit,), node.start_byte, strong=False, wide=False, certain=certain)

    def is_certain(self, node: Node) -> bool | None:
        """Whether a node is reached whenever the test passes; None where it may run after the test."""
        certain = True
        at = node
        while not same(at, self._body):
            parent = at.parent
            if parent is None:
                return False
            if parent.type == "func_literal":
                call = parent.parent
                # A function that is called where it stands, or when the test ends.
                if call is None or call.type != "call_expression" or not _calls_itself(call, parent):
                    return None
                around = call.parent
                if around is None or around.type not in ("defer_statement", "expression_statement"):
                    return None
                at = around
                continue
            if parent.type == "for_statement":
                clause = next((c for c in parent.named_children if c.type == "range_clause"), None)
                table = self._names.ranged(clause) if clause is not None else None
                certain = certain and table is not None
            elif parent.type == "if_statement":
                # What the next `if` of a chain finds is reached when this one did not fail the test.
                chained = same(parent.child_by_field_name("alternative"), at) and fails(
                    parent.child_by_field_name("consequence")
                )
                checked = same(parent.child_by_field_name("condition"), at) or same(
                    parent.child_by_field_name("initializer"), at
                )
                certain = certain and (chained or checked)
            elif parent.type not in ("statement_list", "block", "expression_statement", "defer_statement"):
                certain = certain and parent.type in (
                    "unary_expression",
                    "parenthesized_expression",
                    "argument_list",
                    "call_expression",
                    "selector_expression",
                )
            at = parent
        return certain and not self._left_before(node)

    def names_of(self, child: Definition) -> list[str]:
        """What subtests that one call makes are called, as far as that is written down."""
        given = arguments(child.call)
        written: list[Node | None] = list(given[:1]) if len(given) == 2 else []
        if loop_around(child):
            written = self._looped_names(given[0]) if len(given) == 2 else []
        found: list[str] = []
        for node in written:
            value = string_value(node) if node is not None else None
            if value is None:
                return []
            name = reported_name(value)
            times = sum(re.fullmatch(re.escape(name) + r"(?:#\d\d)?", other) is not None for other in found)
            found.append(f"{name}#{times:02}" if times else name)
        return found

    def _looped_names(self, name: Node) -> list[Node | None]:
        """Where the names of subtests are written that a loop over a table makes."""
        if name.type == "selector_expression":
            row = name.child_by_field_name("operand")
            table = self._names.table(row) if row is not None and row.type == "identifier" else None
            return table.cells(text(name.child_by_field_name("field"))) if table is not None else []
        if name.type == "identifier":
            table = self._names.keyed(name)
            return list(table.keys) if table is not None else []
        return []

    def _left_before(self, node: Node) -> bool:
        """Whether the body may be left, by a passing test, before a node is reached."""
        for other in inside(self._body, self._without, nested=False):
            if other.type in _LEAVING and other.end_byte <= node.start_byte:
                block = other.parent
                while block is not None and block.type in ("statement_list", "block"):
                    if block.type == "block" and fails(block):
                        break
                    block = block.parent
                else:
                    return True
        return False

    def _condition(self, condition: Node) -> Iterator[_Change]:
        """Changes that make a condition hold which does not hold when the test passes."""
        match condition.type:
            case "parenthesized_expression":
                yield from self._condition(condition.named_children[0])
            case "binary_expression":
                left, right = condition.child_by_field_name("left"), condition.child_by_field_name("right")
                operator = condition.child_by_field_name("operator")
                assert left is not None
                assert right is not None
                assert operator is not None
                if operator.type == "||":
                    yield from self._condition(left)
                    yield from self._condition(right)
                elif operator.type == "!=":
                    yield from self._unequal(left, right)
            case "unary_expression" if text(condition).startswith("!"):
                operand = condition.child_by_field_name("operand")
                if operand is not None and operand.type == "identifier":
                    operand = self._names.value(operand)
                if operand is not None and operand.type == "call_expression":
                    yield from self._compared(operand)
            case _:
                pass

    def _unequal(self, left: Node, right: Node) -> Iterator[_Change]:
        for one, other in ((left, right), (right, left)):
            if text(other) in ('""', "``"):
                # The difference of two values: what it was found between says more than that it is empty.
                made = self._names.value(one) if one.type == "identifier" else one
                if (
                    made is not None
                    and made.type == "call_expression"
                    and ".".join(called(made)) == "cmp.Diff"
                ):
                    yield from self._compared(made)
                    return
        yield from list(self._values(right)) or list(self._values(left))

    def _compared(self, call: Node) -> Iterator[_Change]:
        """Changes of what a comparing function is given."""
        name, given = ".".join(called(call)), arguments(call)
        if _COMPARERS.get(name) == len(given):
            # With options a value may be one that does not matter.
            yield from list(self._values(given[1])) or list(self._values(given[0]))
        elif name in _FINDERS and len(given) == 2:
            yield from self._part(given[1])

    def _part(self, node: Node) -> Iterator[_Change]:
        if node.type in _STRINGS and len(text(node)) > _SHORT + 1:
            yield from self._values(node)

    def _call(self, call: Node) -> Iterator[_Change] | None:
        """Changes of an assertion; None for a call that is none."""
        before, name = called(call)
        given = arguments(call)
        if not before:
            helper = self._helpers.get(name)
            if helper is None or not any(text(node) == self._definition.t for node in given):
                return None
            return self._helped(helper, given)
        if name in ("To", "Should", "ToNot", "NotTo", "ShouldNot"):
            return self._gomega(call, name, given)
        first = before.split(".")[0].split("(")[0]
        takes_test = bool(given) and text(given[0]) == self._definition.t
        checked = name in ("Assert", "Check") and len(given) >= 3 and text(given[1]).endswith("Equals")
        if not _ASSERTS.fullmatch(name) or not (takes_test or checked or first in _LIBRARIES):
            return None
        if first == self._definition.t and name in FAILING:
            return None
        given = given[1:] if takes_test else given
        if first not in _TESTIFY and len(given) > 2 and given[0].type in _STRINGS:
            # A helper of the project's own: what is compared has a name in front of it.
            given = [given[2], given[1]]
        return self._asserted(name, given)

    def _asserted(self, name: str, given: list[Node]) -> Iterator[_Change]:
        if name in ("Assert", "Check") and len(given) >= 3 and text(given[1]).endswith("Equals"):
            yield from self._values(given[2])
        elif name in _PLAIN and len(given) >= 2:
            yield from list(self._values(given[0])) or list(self._values(given[1]))
        elif name in _PARTS and len(given) >= 2:
            yield from self._part(given[1])

    def _gomega(self, call: Node, name: str, given: list[Node]) -> Iterator[_Change] | None:
        if not re.search(r"\b(?:Expect|Ω)\(", text(call)) or not given:
            return None
        matcher = given[0]
        equal = matcher.type == "call_expression" and called(matcher)[1] in _MATCHERS
        wanted = arguments(matcher)[:1] if equal and name in ("To", "Should") else []
        return iter([change for node in wanted for change in self._values(node)])

    def _helped(self, helper: Helper, given: list[Node]) -> Iterator[_Change]:
        for parameter, node in zip(helper.parameters, given, strict=False):
            if _WANTED.fullmatch(parameter):
                yield from self._values(node)

    def _values(self, node: Node) -> Iterator[_Change]:
        """Changes of an expected value, each of one literal, or of one in each row that has to fail."""
        if node.type == "identifier":
            bound = self._names.expected(node)
            if bound is not None:
                yield from self._literals(bound)
            return
        if node.type == "selector_expression":
            row, field = node.child_by_field_name("operand"), node.child_by_field_name("field")
            if row is not None and row.type == "identifier":
                yield from self._cells(row, text(field))
            return
        yield from self._literals(node)

    def _cells(self, row: Node, field: str) -> Iterator[_Change]:
        table = self._names.table(row)
        if table is None or not self._names.is_only_compared(row, field):
            return
        changed: list[_Change | None] = []
        for at, cell in enumerate(table.cells(field)):
            if cell is None:
                filler = table.filler(table.rows[at], field)
                place = table.rows[at].start_byte + 1
                comma = ", " if table.rows[at].named_children else ""
                changed.append(
                    ((Edit(place, place, f"{field}: {filler}{comma}"),), False)
                    if filler is not None
                    else None
                )
            else:
                choices = list(self._literals(cell))
                changed.append(self._random.choice(choices) if choices else None)
        if self._looped:
            # Every row is a test of its own and has to fail.
            if all(change is not None for change in changed):
                edits = tuple(edit for change in changed if change is not None for edit in change[0])
                yield edits, all(change is not None and change[1] for change in changed)
            return
        yield from (change for change in changed if change is not None)

    def _literals(self, node: Node) -> Iterator[_Change]:
        """Changes of single literals whose value is part of a node's own: elements and values, never keys."""
        pending = [node]
        while pending:
            at = pending.pop()
            if at.type in LITERALS:
                made = change(at, self._random)
                if made is not None:
                    yield (Edit(at.start_byte, at.end_byte, made[0]),), made[1]
                continue
            match at.type:
                case "literal_value" | "literal_element" | "parenthesized_expression":
                    pending += at.named_children
                case "composite_literal":
                    pending += at.children_by_field_name("body")
                case "keyed_element":
                    pending += at.children_by_field_name("value")
                case "unary_expression" if text(at)[:1] in ("-", "&"):
                    pending += at.children_by_field_name("operand")
                case "binary_expression" if text(at.child_by_field_name("operator")) in ("+", "*"):
                    pending += [*at.children_by_field_name("left"), *at.children_by_field_name("right")]
                case "call_expression" if ".".join(called(at)).removeprefix(".") in _CONVERSIONS:
                    pending += arguments(at)[:1]
                case "type_conversion_expression":
                    pending += at.children_by_field_name("operand")
                case _:
                    pass


def _calls_itself(call: Node, function: Node) -> bool:
    return same(call.child_by_field_name("function"), function)


def loop_around(definition: Definition) -> bool:
    """Whether a subtest is made in a loop, so that each turn of it is a test."""
    at = definition.call.parent if definition.parent is not None else None
    while at is not None and at.type not in ("func_literal", "function_declaration"):
        if at.type == "for_statement":
            return True
        at = at.parent
    return False
