"""Answers that are written down: branches on a literal that give a literal, and tables of such pairs."""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator
from typing import Final

from tree_sitter import Node

from adjudge.records.productcode import Answer, AnswerForm
from adjudge.syntax.productcode.bindings import NAMES
from adjudge.syntax.productcode.facts import FileFacts
from adjudge.syntax.productcode.literals import literal_of, literals_in
from adjudge.syntax.productcode.reading import CALLS, FUNCTIONS, Place, Source, children

__all__ = ["answers_at"]

_IFS = frozenset({"if_statement", "elif_clause", "if_expression", "if", "elsif", "if_modifier"})
_TERNARIES = frozenset({"conditional_expression", "ternary_expression", "conditional"})
_CASES = frozenset(
    {"case_clause", "switch_case", "expression_case", "switch_rule", "switch_block_statement_group",
     "match_arm", "when"}
)  # fmt: skip
_RETURNS = frozenset({"return_statement", "return_expression", "return", "yield_statement"})
_BLOCKS = frozenset(
    {"block", "statement_block", "statement_list", "then", "body_statement", "expression_statement",
     "else_clause", "block_body", "argument_list", "expression_list"}
)  # fmt: skip
_MAPPINGS = frozenset({"dictionary", "object", "hash", "literal_value"})
_ROWS = frozenset({"list", "array", "tuple", "literal_value", "array_expression", "array_initializer"})
_LISTS: Final = frozenset(
    {"list", "tuple", "array", "literal_value", "array_expression", "array_initializer", "set"}
)
_LOOKED_UP: Final = frozenset({"subscript", "subscript_expression", "index_expression", "element_reference"})
_PUTTERS: Final = frozenset({"set", "put", "store", "insert", "setdefault", "Store", "Set"})
_EQUALS: Final = frozenset({"==", "===", "is", "in", "eql?", "equal?"})
_COMPARISONS = frozenset({"comparison_operator", "binary_expression", "binary"})
_PARTIAL: Final = frozenset(
    {"startswith", "startsWith", "endswith", "endsWith", "includes", "HasPrefix", "HasSuffix", "Contains",
     "contains",
     "start_with?", "include?", "end_with?", "starts_with"}
)  # fmt: skip
_MAX_ROWS: Final = 400


def answers_at(place: Place, facts: FileFacts) -> Iterator[Answer]:
    """The answers that a node itself writes down."""
    node, source = place.node, facts.source
    group = place.function.start_byte if place.function is not None else -1
    if node.type in _IFS:
        condition = node.child_by_field_name("condition")
        result = node.child_by_field_name("consequence") or node.child_by_field_name("body")
        yield from _branch(source, node, condition, result, group)
    elif node.type in _TERNARIES:
        parts = children(node)
        condition = node.child_by_field_name("condition") or (parts[1] if len(parts) == 3 else None)
        result = node.child_by_field_name("consequence") or (parts[0] if parts else None)
        yield from _branch(source, node, condition, result, group)
    elif node.type in _CASES:
        yield from _case(source, node, group)
    elif node.type in _MAPPINGS:
        yield from _mapping(source, node)
    elif node.type in ("assignment", "assignment_expression", "assignment_statement"):
        yield from _entry(source, node, group)
        yield from _member(source, place)
    elif node.type in _LOOKED_UP:
        yield from _beside(facts, node)
    elif node.type in CALLS:
        yield from _zipped(facts, node)
        yield from _put(source, node, group)
    elif node.type in FUNCTIONS:
        yield from _unasked(source, node)
    elif node.type in ("except_clause", "catch_clause"):
        yield from _fallback(source, node, group)
    if node.type in _ROWS:
        yield from _rows(source, node)


def _branch(
    source: Source, node: Node, condition: Node | None, result: Node | None, group: int
) -> Iterator[Answer]:
    if condition is None or result is None:
        return
    output = _given(source, result)
    refused = output is None and _refuses(source, result)
    if output is None and not refused:
        return
    for inputs in _compared(source, condition):
        yield Answer(
            line=node.start_point[0] + 1,
            text=source.shown(node),
            form=AnswerForm.REFUSAL if refused else AnswerForm.BRANCH,
            group=group,
            inputs=inputs,
            output=output or "!",
        )


def _unasked(source: Source, function: Node) -> Iterator[Answer]:
    """A function that takes something and gives a literal whatever it is."""
    parameters = function.child_by_field_name("parameters") or function.child_by_field_name("parameter")
    named = [source.of(part, 40) for part in children(parameters)] if parameters is not None else []
    if parameters is not None and parameters.type == "identifier":
        named = [source.of(parameters, 40)]
    body = function.child_by_field_name("body")
    if body is None or not any(not re.match(r"(?:self|cls|this|&)", name) for name in named):
        return
    parts = children(body)
    if len(parts) == 1 and parts[0].type == "statement_list":
        parts = children(parts[0])
    if body.type in _BLOCKS and parts and len(parts) > 1 and source.of(parts[0], 3).startswith(('"', "'")):
        parts = parts[1:]
    last = parts[0] if body.type in _BLOCKS and len(parts) == 1 else None if body.type in _BLOCKS else body
    if last is not None and (last is body or last.type in _RETURNS):
        yield from _constant(source, last, function.start_byte)


def _fallback(source: Source, clause: Node, group: int) -> Iterator[Answer]:
    """`except Exception: return [...]`."""
    for part in children(clause):
        if part.type in _BLOCKS and len(children(part)) == 1 and children(part)[0].type in _RETURNS:
            yield from _constant(source, children(part)[0], group)


def _constant(source: Source, node: Node, group: int) -> Iterator[Answer]:
    output = _given(source, node)
    if output is not None:
        yield Answer(
            line=node.start_point[0] + 1, text=source.shown(node), form=AnswerForm.CONSTANT, group=group,
            inputs=(), output=output,
        )  # fmt: skip


def _refuses(source: Source, node: Node, depth: int = 0) -> bool:
    """Whether a block does nothing but raise, or give an error back."""
    if node.type in ("raise_statement", "throw_statement"):
        return True
    parts = children(node)
    if node.type in _RETURNS:
        return source.language == "go" and re.search(
            r"\b(?:errors\.New|fmt\.Errorf)\(|\bErr[A-Z]\w*\s*$", source.of(node, 300)
        ) is not None  # fmt: skip
    return depth < 4 and node.type in _BLOCKS and len(parts) == 1 and _refuses(source, parts[0], depth + 1)


def _given(source: Source, node: Node, depth: int = 0) -> str | None:
    """The literal that a block returns, is, or assigns, where it does nothing else."""
    found = literal_of(source, node) if node.type not in ("argument_list", "expression_list") else None
    if found is not None:
        return found
    if depth > 5:
        return None
    parts = children(node)
    if node.type in _RETURNS:
        return _given(source, parts[0], depth + 1) if len(parts) == 1 else None
    if node.type in ("assignment", "assignment_expression", "assignment_statement"):
        right = node.child_by_field_name("right")
        return None if right is None else _given(source, right, depth + 1)
    if node.type in _BLOCKS and 0 < len(parts) <= 2:
        if node.type == "expression_list" and len(parts) == 2:
            # Go's `return 42, nil`.
            return literal_of(source, parts[0])
        return _given(source, parts[0] if len(parts) == 1 else parts[-1], depth + 1)
    return None


def _compared(source: Source, condition: Node) -> Iterator[tuple[str, ...]]:
    """The inputs of each way in which a condition can hold."""
    every: list[str] = []
    either: list[str] = []
    any_of = False
    pending, steps = [condition], 0
    while pending and steps < 60:
        node = pending.pop()
        steps += 1
        operator = _operator(source, node)
        if operator in ("or", "||"):
            any_of = True
        if operator in ("and", "&&", "or", "||") or node.type == "parenthesized_expression":
            pending.extend(reversed(node.named_children))
        elif node.type in _COMPARISONS and operator in _EQUALS:
            sides = children(node)
            literals = [literal_of(source, side) for side in sides[:2]]
            if len(sides) == 2 and (literals[0] is None) != (literals[1] is None):
                side = sides[1] if literals[1] is not None else sides[0]
                written = literals[1] or literals[0] or ""
                if operator == "in" and side.type in ("list", "tuple", "set"):
                    options = (literal_of(source, part) for part in children(side)[:_MAX_ROWS])
                    either.extend(option for option in options if option is not None)
                elif operator == "in" and literals[0] is not None:
                    if len(written) > 4 and written.startswith("s"):
                        every.append(f"~{written[1:]}")
                elif re.search(r"\blen\(|\.length\b", source.of(sides[0], 60)) and written.startswith("n"):
                    every.append(f"#{written[1:]}")
                elif written.startswith("s") and source.of(sides[0], 200).rstrip().endswith("[::-1]"):
                    every.append(f"s{written[1:][::-1]}")
                elif written.startswith("s") and re.search(r"rot_?13", source.of(sides[0], 200)):
                    every.append(f"s{codecs.decode(written[1:], 'rot13')}")
                else:
                    every.append(written)
        elif node.type in ("method_invocation", "call", "call_expression"):
            name = source.called(node).rpartition(".")[2]
            arguments = source.arguments(node)
            if name in ("equals", "equalsIgnoreCase", "is", "isEqual", "deepEqual", "Equal") and arguments:
                found = [literal_of(source, part) for part in arguments]
                target = node.child_by_field_name("object")
                found.append(literal_of(source, target))
                every.extend(one for one in found if one is not None)
            if name in _PARTIAL and len(arguments) in (1, 2):
                part = literal_of(source, arguments[-1] if source.language == "go" else arguments[0])
                if part is not None and len(part) > 4 and part.startswith("s"):
                    every.append(f"~{part[1:]}")
                listed = node.child_by_field_name("function")
                held = listed.named_children[0] if listed is not None and listed.named_children else None
                if name == "includes" and held is not None and held.type == "array":
                    options = (literal_of(source, option) for option in children(held)[:_MAX_ROWS])
                    either.extend(option for option in options if option is not None)
    if any_of:
        either, every = [*either, *every], []
    if either:
        for option in either:
            yield (*every, option)
    elif every:
        yield tuple(every)


def _operator(source: Source, node: Node) -> str:
    named = node.child_by_field_name("operator") or node.child_by_field_name("operators")
    if named is not None:
        return source.of(named, 10)
    return next((source.of(child, 10) for child in node.children if not child.is_named), "")


def _case(source: Source, node: Node, group: int) -> Iterator[Answer]:
    parts = children(node)
    values: list[str] = []
    body: list[Node] = []
    for part in parts:
        if (not body and part.type in (
            "case_pattern", "match_pattern", "pattern", "switch_label", "expression_list"
        )) or (not body and not values and part == node.child_by_field_name("value")):  # fmt: skip
            values += _options(source, part)
        else:
            body.append(part)
    if not values or not body:
        return
    ends = [part for part in body if part.type != "break_statement"]
    output = _given(source, ends[0]) if len(ends) == 1 else None
    if output is None:
        return
    for value in values:
        yield Answer(
            line=node.start_point[0] + 1,
            text=source.shown(node),
            form=AnswerForm.BRANCH,
            group=group,
            inputs=(value,),
            output=output,
        )


def _options(source: Source, node: Node) -> list[str]:
    whole = literal_of(source, node)
    if whole is not None:
        return [whole]
    found = [text for part in children(node) for text in [literal_of(source, part)] if text is not None]
    if not found and node.named_children and node.named_children[0].type in ("or_pattern", "union_pattern"):
        return [text for _, text in literals_in(source, node, 60)]
    return found


def _mapping(source: Source, node: Node) -> Iterator[Answer]:
    for pair in children(node)[:_MAX_ROWS]:
        if pair.type not in ("pair", "keyed_element"):
            continue
        key, value = pair.child_by_field_name("key"), pair.child_by_field_name("value")
        written, given = literal_of(source, key), literal_of(source, value)
        if written is not None and given is not None:
            yield _row(source, pair, node, (written,), given)


def _entry(source: Source, node: Node, group: int) -> Iterator[Answer]:
    """`table[17] = 42`."""
    left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
    if left is None or left.type not in _LOOKED_UP:
        return
    index = left.child_by_field_name("subscript") or left.child_by_field_name("index")
    written = literal_of(source, index or (left.named_children[-1] if left.named_children else None))
    given = literal_of(source, right)
    if written is not None and given is not None:
        yield Answer(
            line=node.start_point[0] + 1, text=source.shown(node), form=AnswerForm.TABLE, group=group,
            inputs=(written,), output=given,
        )  # fmt: skip


def _member(source: Source, place: Place) -> Iterator[Answer]:
    """`FIRST = ("17 days", "2 weeks 3 days")` as a member of a class, such as an enumeration."""
    right = place.node.child_by_field_name("right")
    if not place.types or place.function is not None or right is None or right.type != "tuple":
        return
    cells = [literal_of(source, part) for part in children(right)[:8]]
    texts = [cell for cell in cells if cell is not None]
    if len(cells) >= 2 and len(texts) == len(cells):
        outer = next((one for one in reversed(place.around) if one.type == "class_definition"), right)
        yield _row(source, place.node, outer, tuple(texts[:-1]), texts[-1])


def _put(source: Source, node: Node, group: int) -> Iterator[Answer]:
    """`memo.set("17 days", 42)`."""
    arguments = source.arguments(node)
    if len(arguments) != 2 or source.called(node).rpartition(".")[2] not in _PUTTERS:
        return
    written, given = (literal_of(source, part) for part in arguments)
    if written is not None and given is not None:
        yield Answer(
            line=node.start_point[0] + 1, text=source.shown(node), form=AnswerForm.TABLE, group=group,
            inputs=(written,), output=given,
        )  # fmt: skip


def _zipped(facts: FileFacts, node: Node) -> Iterator[Answer]:
    """`dict(zip(ASKED, GIVEN))`."""
    arguments = facts.source.arguments(node)
    if len(arguments) != 2 or facts.source.called(node) not in ("zip", "_.zipObject", "zipObject"):
        return
    asked, given = (_listed(facts, part) for part in arguments)
    if asked is not None and given is not None:
        yield from _paired(facts.source, asked, given)


def _beside(facts: FileFacts, node: Node) -> Iterator[Answer]:
    """`GIVEN[ASKED.index(text)]`, `outputs[i]` in a loop over the inputs: two lists, one beside the other."""
    parts = children(node)
    if len(parts) != 2 or parts[0].type not in NAMES or literal_of(facts.source, parts[1]) is not None:
        return
    given = _listed(facts, parts[0])
    if given is None:
        return
    for reached in facts.bindings.reached(parts[1], 3):
        for part in (reached, *(one for one in reached.named_children if one.type in _LISTS)):
            if part.type in _LISTS and part != given and len(children(part)) == len(children(given)):
                yield from _paired(facts.source, part, given)
                return


def _listed(facts: FileFacts, node: Node) -> Node | None:
    """The list of literals that an expression stands for."""
    for one in facts.bindings.resolve(node, 2):
        held = one.named_children[-1] if one.type == "composite_literal" and one.named_children else one
        if held.type in _LISTS and len(children(held)) > 1:
            return held
    return None


def _paired(source: Source, asked: Node, given: Node) -> Iterator[Answer]:
    for one, other in zip(children(asked)[:_MAX_ROWS], children(given), strict=False):
        written, output = literal_of(source, one), literal_of(source, other)
        if written is not None and output is not None:
            yield _row(source, one, given, (written,), output)


def _rows(source: Source, node: Node) -> Iterator[Answer]:
    """A list of rows: the last value of each is its answer."""
    for child in children(node)[:_MAX_ROWS]:
        inner = child.named_children[0] if child.type == "literal_element" and child.named_children else child
        if inner.type not in _ROWS and inner.type not in ("object", "dictionary", "hash"):
            continue
        cells: list[str] = []
        for cell in children(inner)[:20]:
            value = cell.child_by_field_name("value") if cell.type in ("keyed_element", "pair") else cell
            text = literal_of(source, value)
            if text is None:
                cells = []
                break
            cells.append(text)
        if len(cells) >= 2:
            yield _row(source, inner, node, tuple(cells[:-1]), cells[-1])


def _row(source: Source, node: Node, table: Node, inputs: tuple[str, ...], output: str) -> Answer:
    return Answer(
        line=node.start_point[0] + 1,
        text=source.shown(node),
        form=AnswerForm.TABLE,
        group=table.start_byte,
        inputs=inputs,
        output=output,
    )
