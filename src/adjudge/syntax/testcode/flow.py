"""The common reading of statements: which checks a test comes to, and which of them can fail it.

Languages differ in the names of their statements and in what a check looks like; what an `if`, a loop, a
`try` or a `return` does to the checks in it and after it does not.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Final

from tree_sitter import Node

from adjudge.records.testcode import Check, CheckState
from adjudge.syntax.bodies import text_of
from adjudge.syntax.testcode.nodes import MAX_DEPTH, children, descendants, line_of, plain, shown
from adjudge.syntax.testcode.reading import Around, Helper, Reading, resolved, resolved_text, truth

__all__ = [
    "NO_RAISE",
    "TABLES",
    "called_checks",
    "new_reading",
    "read_block",
    "read_expression",
    "read_statement",
    "table_rows",
]

_ENDS: Final = frozenset(
    {"return_statement", "raise_statement", "break_statement", "continue_statement", "throw_statement",
     "goto_statement", "return", "break", "next", "return_expression", "break_expression",
     "continue_expression"}
)  # fmt: skip
_IFS = frozenset(
    {
        "if_statement",
        "elif_clause",
        "if_expression",
        "if",
        "unless",
        "elsif",
        "if_modifier",
        "unless_modifier",
    }
)
_LOOPS = frozenset(
    {"for_statement", "while_statement", "for_in_statement", "do_statement", "enhanced_for_statement",
     "for_expression", "while_expression", "loop_expression", "for", "while", "until"}
)  # fmt: skip
_TRIES = frozenset({"try_statement", "try_with_resources_statement", "begin"})
_HANDLERS = frozenset({"except_clause", "catch_clause", "rescue", "except_group_clause"})
_BLOCKS = frozenset(
    {"block", "statement_block", "statement_list", "else_clause", "finally_clause", "body_statement", "then",
     "else", "ensure", "do", "switch_statement", "switch_body", "switch_case", "switch_default",
     "expression_switch_statement", "type_switch_statement", "select_statement", "expression_case",
     "default_case", "type_case", "communication_case", "labeled_statement", "switch_block",
     "switch_block_statement_group", "synchronized_statement", "unsafe_block", "match_statement",
     "constructor_body", "async_block", "block_body"}
)  # fmt: skip
NO_RAISE: Final = "no raise"
"""The operator of a check that a block raises nothing."""
_FAILS = re.compile(
    r"(?:assert (?:False|0)\b|(?:\w+\.)*(?:fail|assert_not_reached|flunk)\b|raise AssertionError)"
)
_LASTING = frozenset({CheckState.DEAD, CheckState.INVERTED})
_MAX_CALLS_DEEP: Final = 3
_MAX_CALLED_CHECKS: Final = 50
_MAX_ARGUMENTS: Final = 20
_MAX_ROWS: Final = 1000
TABLES: Final = frozenset({"list", "tuple", "set", "dictionary", "array", "object"})
"""Collections that are written down."""
_EMPTYING = re.compile(r"\[ :? ?0 ?:?(?: 0)? \]$|\. (?:slice|take|first|subList) \( 0(?: 0)? \)$")
_HANDED_OUT = re.compile(r"(?<=[\s(,])&(?:mut )?([a-z]\w*)(?=[,)}\s])")
"""A name whose place others are given to write to."""
_CHANGED = re.compile(
    r"(?<![\w.])(\w+)\s*(?:\[[^\]\n]*\]\s*=(?!=)|\.\s*(?:append|add|update|extend|insert|push|pop|sort|remove|set|put"
    r"|unshift|concat|setdefault)\b)|(?<![\w.])(\w+)\s*<<"
)
"""What is done to a collection after it was written down."""
_USED_UP = re.compile(r"(?:(?:list|tuple|set|sum|deque|sorted|any|all) \( (\w+)|(\w+) \. (?:clear) \( )[ )]*")
"""What leaves nothing to go through, where it stands by itself."""
_NOTHING = frozenset({"[ ]", "( )", "{ }", "set ( )", "list ( )", "tuple ( )", "dict ( )", "iter ( [ ] )"})
_FILTER = re.compile(
    r"\[ .*\bfor\b.*\bif\b.*\]$|\. filter \(|^(?:list \( )?filter \(|\[ (?:-? ?\d+)? ?: ?(?:-? ?\d+)? \]$"
    r"|\. (?:select|reject) (?:\{|do)|\. slice \("
)


def new_reading(like: Reading, body: Node | None, parts: Sequence[Node] | None = None) -> Reading:
    """A reading of another body of the same file; `parts` is all that is in it, where that is at hand."""
    values, nodes = like.seen.get(body.id, ({}, {})) if body is not None else ({}, {})
    if body is not None and body.id not in like.seen:
        values, nodes = _values_of(like, body, parts if parts is not None else list(descendants(body)))
        like.seen[body.id] = (values, nodes)
    return Reading(
        like.dialect,
        dict(values),
        nodes,
        like.known,
        like.constants,
        like.tables,
        like.lenient,
        live=like.live,
        seen=like.seen,
        handed_on=like.handed_on,
    )


def _values_of(
    reading: Reading, body: Node, parts: Sequence[Node]
) -> tuple[dict[str, str | None], dict[str, Node]]:
    """Names that a body gives a value once, as `total` in `total = add(1, 2)`, and nothing does more to."""
    values: dict[str, str | None] = {}
    nodes: dict[str, Node] = {}
    for node in parts:
        for name, value in reading.dialect.assigned(node):
            if name in values or value is None:
                values[name] = None
                nodes.pop(name, None)
            else:
                values[name] = plain(value).removeprefix("await ")
                nodes[name] = value
    text = (body.text or b"").decode("utf-8", "replace")
    for found in _CHANGED.finditer(text):
        name = found[1] or found[2] or ""
        if values.get(name) and values[name][:1] in ("[", "{", "("):  # type: ignore[index]
            values[name] = None
    for found in _HANDED_OUT.finditer(text):
        if found[1] in values:
            values[found[1]] = None
    return values, nodes


def read_block(reading: Reading, block: Node, around: Around, depth: int) -> None:
    """Read statements in their order; what follows one that leaves is never reached."""
    for statement in children(block):
        read_statement(reading, statement, around, depth)
        around = _after(reading, statement, around)


def _after(reading: Reading, statement: Node, around: Around) -> Around:
    """What stands around the statement that follows."""
    inner = _only(statement)
    if inner.type in _ENDS:
        return replace(around, state=CheckState.DEAD)
    if inner.type in _IFS and around.state is CheckState.LIVE:
        first = inner.child_by_field_name("consequence") or inner.child_by_field_name("body")
        condition = plain(inner.child_by_field_name("condition"))
        if first is None or not _leaves(first):
            return around
        value = truth(reading, condition)
        if value is not None and value is not inner.type.startswith("unless"):
            return replace(around, state=CheckState.DEAD)
        if reading.dialect.environment.search(condition):
            return replace(around, state=CheckState.GATED)
    return around


def _only(node: Node) -> Node:
    """A statement without what is only there to make an expression one."""
    inner = children(node)
    return inner[0] if node.type == "expression_statement" and len(inner) == 1 else node


def _leaves(block: Node) -> bool:
    """Whether a block ends the function quietly."""
    if block.type in ("return_statement", "return", "return_expression"):
        return True
    inner = [_only(part) for part in children(block)]
    if len(inner) == 1 and inner[0].type in ("block", "statement_list", "then"):
        return _leaves(inner[0])
    return bool(inner) and inner[-1].type in ("return_statement", "return", "return_expression")


def read_statement(reading: Reading, node: Node, around: Around, depth: int) -> None:
    """Read one statement and what is in it."""
    if depth > MAX_DEPTH or reading.dialect.statement(reading, node, around, depth):
        return
    node = _only(node)
    kind = node.type
    if kind in _IFS:
        _read_if(reading, node, around, depth)
    elif kind in _TRIES or any(child.type in _HANDLERS for child in node.named_children):
        _read_try(reading, node, around, depth)
    elif kind in _LOOPS:
        _read_loop(reading, node, around, depth)
    elif kind in _BLOCKS:
        read_block(reading, node, around, depth + 1)
    else:
        _note_rows(reading, node)
        awaited = kind in ("return_statement", "return") or around.awaited
        near = around if around.awaited is awaited else replace(around, awaited=awaited)
        read_expression(reading, node, near, depth)


def _read_if(reading: Reading, node: Node, around: Around, depth: int) -> None:
    condition = node.child_by_field_name("condition")
    start = node.child_by_field_name("initializer")
    if start is not None:
        read_expression(reading, start, around, depth)
    text = plain(condition)
    value = truth(reading, text)
    negative = node.type.startswith("unless")
    first = node.child_by_field_name("consequence") or node.child_by_field_name("body")
    others = node.children_by_field_name("alternative")
    for part, holds in (*(((first, True),) if first is not None else ()), *((one, False) for one in others)):
        inner = around
        if condition is not None:
            inner = replace(around, conditions=(*around.conditions, (condition, holds is not negative))[-8:])
        if value is not None and value is not (holds is not negative):
            inner = replace(inner, state=CheckState.DEAD)
        elif reading.dialect.environment.search(text) and around.state is CheckState.LIVE:
            inner = replace(inner, state=CheckState.GATED)
        elif reading.dialect.platform.search(text) and around.state is CheckState.LIVE:
            inner = replace(inner, state=CheckState.PLATFORM)
        read_statement(reading, part, inner, depth + 1)


def _read_try(reading: Reading, node: Node, around: Around, depth: int) -> None:
    handlers = [child for child in node.named_children if child.type in _HANDLERS]
    asked = next((error for one in handlers if (error := _asked_error(node, one)) is not None), None)
    if asked is not None:
        # `try: call(); fail() except E: pass` asks for E.
        strength = 2 if asked in ("Exception", "BaseException", "Throwable", "") else 4
        reading.checks.append(
            Check(line=line_of(node), text=f"raises {asked}", operator="raises", subject="the block",
                  expected=asked, strength=strength, state=around.state)
        )  # fmt: skip
    inner = around
    forgets = asked is None and any(reading.dialect.swallows(one) for one in handlers)
    guards = [one for one in handlers if _FAILS.match(text_of(_last_of(one)))] if asked is None else []
    if forgets:
        inner = _weaker(around, CheckState.SWALLOWED)
    if forgets or guards:
        # `try: call() except E: fail()` asks that nothing is raised, as the call alone would.
        reading.checks.append(
            Check(line=line_of(node), text=shown(guards[0] if guards else node), operator=NO_RAISE,
                  subject=resolved(reading, node.child_by_field_name("body")), strength=2, state=inner.state)
        )  # fmt: skip
    for part in children(node):
        if part.type in _HANDLERS:
            if asked is None and part not in guards:
                for block in children(part):
                    if block.type.endswith(("block", "body", "then")):
                        read_block(reading, block, around, depth + 1)
        elif part.type in ("else_clause", "finally_clause", "ensure", "else"):
            read_statement(reading, part, around, depth + 1)
        elif part.type != "resource_specification":
            read_statement(reading, part, inner, depth + 1)


def _last_of(handler: Node) -> Node | None:
    """The one statement of a handler, where it has one."""
    blocks = [part for part in children(handler) if part.type.endswith(("block", "body", "then"))]
    statements = children(blocks[0]) if len(blocks) == 1 else []
    return statements[0] if len(statements) == 1 else None


def _asked_error(node: Node, handler: Node) -> str | None:
    """The error that a `try` wants: its last statement fails, and the handler takes it for good."""
    body = node.child_by_field_name("body")
    statements = children(body)
    if len(statements) < 2 or not _FAILS.match(text_of(statements[-1])):
        return None
    caught = " ".join(
        plain(part) for part in children(handler) if not part.type.endswith(("block", "body", "then"))
    )
    if re.search(r"\b(?:AssertionError|BaseException|Throwable|Error)\b", caught):
        return None
    return caught.partition(" as ")[0]


def _weaker(around: Around, state: CheckState) -> Around:
    return around if around.state in _LASTING else replace(around, state=state)


def _read_loop(reading: Reading, node: Node, around: Around, depth: int) -> None:
    over = next(
        (part for field in ("right", "value", "condition") if (part := node.child_by_field_name(field))), None
    )
    ranged = next((part for part in children(node) if part.type == "range_clause"), None)
    over = ranged.child_by_field_name("right") if ranged is not None else over
    text = plain(over)
    held = resolved_text(reading, text)
    never = bool(over) and (
        text in reading.empty
        or held in _NOTHING
        or bool(_EMPTYING.search(held))
        or (node.type.startswith("while") and truth(reading, text) is False)
    )
    inner = _weaker(around, CheckState.DEAD) if never else around
    body = node.child_by_field_name("body")
    known = len(reading.checks)
    if body is not None:
        read_statement(reading, body, inner, depth + 1)
    for other in node.children_by_field_name("alternative"):
        read_statement(reading, other, around, depth + 1)
    if any(check.effective for check in reading.checks[known:]):
        reading.looped = True
        reading.rows += table_rows(reading, over)


def table_rows(reading: Reading, over: Node | None) -> list[str]:
    """The rows of a table that is gone through, where they are written down."""
    for _ in range(4):
        if over is None:
            return []
        if over.type in TABLES:
            return [plain(row) for row in children(over)[:_MAX_ROWS]]
        name = text_of(over)
        if over.type == "call":
            # `cases.items()`, `enumerate(cases)`, `zip(cases, …)`
            inner = [part for part in descendants(over) if part.type == "identifier"]
            names = [one for one in map(text_of, inner) if one in reading.nodes or one in reading.tables]
            name = names[0] if len(names) == 1 else ""
        over = reading.nodes.get(name) or (None if name in reading.values else reading.tables.get(name))
    return []


def _note_rows(reading: Reading, node: Node) -> None:
    """Take note of tables that lose their rows here."""
    for name, value in reading.dialect.assigned(node):
        text = plain(value)
        own = name in text and re.search(rf"(?<![\w.]){re.escape(name)}(?!\w)", text)
        if text in _NOTHING or (own and _EMPTYING.search(text)):
            reading.empty.add(name)
        else:
            reading.empty.discard(name)
            if value is not None and value.type in TABLES:
                reading.written.add(name)
            if own and _FILTER.search(text) and (name in reading.written or name in reading.tables):
                reading.narrowed.append(f"{name} = {text}"[:200])
    used = _USED_UP.fullmatch(plain(node))
    if used and used[2]:
        reading.empty.add(used[2])
    elif used and re.match(r"(?:iter|map|filter|zip|\() ", reading.values.get(used[1]) or ""):
        reading.empty.add(used[1])


def read_expression(reading: Reading, node: Node, around: Around, depth: int) -> None:
    """Checks and skips among the parts of a statement; an outer one stands for those it is made of."""
    pending = [(node, around)]
    while pending:
        current, near = pending.pop()
        if current.type in ("await_expression", "await"):
            near = replace(near, awaited=True)
        if reading.dialect.expression(reading, current, near, depth):
            continue
        if current.type in reading.dialect.functions:
            body = current.child_by_field_name("body")
            if body is not None:
                inner = replace(near, awaited=False, conditions=())
                if body.type in _BLOCKS:
                    read_block(reading, body, inner, depth + 1)
                else:
                    pending.append((body, replace(inner, awaited=True)))
            continue
        if (
            current.type in _IFS or current.type in _LOOPS or current.type in _BLOCKS
        ) and current is not node:
            read_statement(reading, current, near, depth + 1)
            continue
        if current.named_child_count:
            pending.extend([(child, near) for child in reversed(current.named_children)])


def called_checks(
    reading: Reading, call: Node, helper: Helper, arguments: Sequence[tuple[str, Node]], state: CheckState
) -> Iterator[Check]:
    """What a helper of the file checks when it is called so, with what its parameters are given."""
    if reading.depth >= _MAX_CALLS_DEEP:
        return
    inner = new_reading(reading, helper.body)
    inner.depth = reading.depth + 1
    positional = iter(helper.parameters)
    for name, value in arguments[:_MAX_ARGUMENTS]:
        given = name or next(positional, "")
        if given and given not in inner.values:
            inner.values[given] = resolved(reading, value)
    if helper.body.type in _BLOCKS:
        read_block(inner, helper.body, Around(state=state), 1)
    else:
        read_expression(inner, helper.body, Around(state=state, awaited=True), 1)
    reading.looped |= inner.looped
    reading.narrowed += inner.narrowed
    reading.rows += inner.rows
    for check in inner.checks[:_MAX_CALLED_CHECKS]:
        yield check.model_copy(update={"line": line_of(call)})
