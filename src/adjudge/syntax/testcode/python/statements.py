"""Python's own statements and calls, read for the checks in them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from tree_sitter import Node

from adjudge.records.testcode import CheckState, SkipCondition
from adjudge.syntax.bodies import text_of
from adjudge.syntax.testcode.flow import called_checks, read_block, read_expression, read_statement
from adjudge.syntax.testcode.nodes import arguments_of, children, descendants, plain
from adjudge.syntax.testcode.python.checks import asserted, call_check, keyword, said_check
from adjudge.syntax.testcode.python.skips import ENVIRONMENT, PLATFORM, SKIP
from adjudge.syntax.testcode.reading import Around, Dialect, Helper, Reading, mark, truth, when

__all__ = ["FUNCTIONS", "PYTHON", "is_entered", "live_names", "parameters_of"]

FUNCTIONS = frozenset({"function_definition", "lambda", "class_definition"})
_CATCH_ALL = re.compile(r"\b(?:Exception|BaseException|AssertionError)\b")
_SUPPRESSES = re.compile(r"\bsuppress \( .*\b(?:Exception|BaseException|AssertionError)\b")
_WANTS_FAILURE = re.compile(
    r"\b(?:raises|assertRaises) \( (?:\( )?(?:self \. failureException|AssertionError)\b"
)
_WANTS_SKIP = re.compile(r"\s*with\s+[\w.]*raises\(\s*[\w.]*[sS]kip[\w.]*\s*[,)]")
_LOOKS_AT = frozenset(
    {"callable", "isinstance", "hasattr", "getattr", "type", "iscoroutine", "iscoroutinefunction",
     "isfunction", "getsource", "signature", "id", "repr", "str"}
)  # fmt: skip
_ASSIGNS = frozenset({"assignment", "named_expression", "augmented_assignment", "as_pattern_target"})
_MARKS = re.compile(r"(?:^|\.)mark\.(?:skip|skipif|xfail)$")
_LATER = frozenset({"Thread", "Timer", "Process", "partial"})


def _assigned(node: Node) -> list[tuple[str, Node | None]]:
    kind = node.type
    if kind not in _ASSIGNS:
        return []
    if kind == "as_pattern_target":
        return [(text_of(node), None)]
    if kind == "augmented_assignment":
        return [(text_of(node.child_by_field_name("left")), None)]
    name = node.child_by_field_name("left") or node.child_by_field_name("name")
    value = node.child_by_field_name("right") or node.child_by_field_name("value")
    if name is not None and name.type == "identifier" and value is not None:
        return [(text_of(name), value)]
    if name is not None and name.type in ("pattern_list", "tuple_pattern") and value is not None:
        # Each of them is some part of the value.
        values = children(value) if value.type in ("expression_list", "tuple") else []
        names = children(name)
        if len(values) != len(names):
            values = [value] * len(names)
        return [(text_of(one), part) for one, part in zip(names, values, strict=True)]
    return []


def _swallows(clause: Node) -> bool:
    """Whether an `except` takes a failed assertion and says nothing of it."""
    parts = children(clause)
    caught = [plain(part) for part in parts if part.type != "block"]
    if caught and not any(_CATCH_ALL.search(text) for text in caught):
        return False
    for block in (part for part in parts if part.type == "block"):
        for inner in descendants(block, stop=FUNCTIONS):
            if inner.type in ("raise_statement", "assert_statement"):
                return False
            called = text_of(inner.child_by_field_name("function")) if inner.type == "call" else ""
            if re.search(r"(?:^|\.)(?:fail|assert\w*|exit|append|put|set)$", called):
                return False
            # A caught error that is kept is looked at further down.
            if inner.type in ("assignment", "augmented_assignment"):
                return False
    return True


def is_entered(helper: Helper) -> bool:
    """Whether a context manager of the file forgets what is raised inside it."""
    return helper.entered and any(
        part.type == "try_statement"
        and "yield" in text_of(part.child_by_field_name("body"))
        and any(_swallows(child) for child in children(part) if child.type == "except_clause")
        for part in descendants(helper.body)
    )


def live_names(body: Node, parts: Sequence[Node]) -> frozenset[str]:
    """Functions defined in a body that it does something with: calls, hands on, gives back."""
    defined = {
        text_of(part.child_by_field_name("name")) for part in parts if part.type == "function_definition"
    }
    if not defined:
        return frozenset()
    text = (body.text or b"").decode("utf-8", "replace")
    return frozenset(
        name
        for part in parts
        if part.type == "identifier" and (name := text_of(part)) in defined and _does_something(part, text)
    )


def _does_something(part: Node, text: str) -> bool:
    """Whether a name is more than defined or looked at where it stands."""
    parent = part.parent
    if parent is None:
        return False
    if parent.type == "function_definition" and parent.child_by_field_name("name") == part:
        above = parent.parent
        return above is not None and above.type == "decorated_definition"
    if parent.type == "attribute" and parent.child_by_field_name("object") == part:
        return False
    if parent.type in ("argument_list", "keyword_argument"):
        call = parent.parent
        if call is not None and call.type == "argument_list":
            call = call.parent
        last = text_of(call.child_by_field_name("function") if call is not None else None)
        last = last.rpartition(".")[2]
        return last not in _LOOKS_AT and (last not in _LATER or _is_started(call, text))
    return True


def _is_started(call: Node | None, text: str) -> bool:
    """Whether a thread or a partial that is given a name is ever set going."""
    parent = call.parent if call is not None else None
    if parent is None or parent.type != "assignment":
        return True
    name = re.escape(text_of(parent.child_by_field_name("left")))
    return bool(
        re.search(rf"(?<![\w.]){name}(?:\.(?:start|run)\b|\()|[(,\[=]\s*{name}\b|return\s+{name}\b", text)
    )


def _statement(reading: Reading, node: Node, around: Around, depth: int) -> bool:
    if node.type == "decorated_definition":
        node = node.child_by_field_name("definition") or node
    if node.type in ("class_definition", "decorated_definition"):
        return True
    if node.type == "function_definition":
        body = node.child_by_field_name("body")
        name = text_of(node.child_by_field_name("name"))
        dead = reading.live is not None and name not in reading.live
        if body is not None:
            read_block(reading, body, replace(around, state=CheckState.DEAD) if dead else around, depth + 1)
        return True
    if node.type == "with_statement":
        _read_with(reading, node, around, depth)
        return True
    if node.type == "case_clause":
        guard = node.child_by_field_name("guard")
        inner = around
        if guard is not None and truth(reading, plain(guard).removeprefix("if ")) is False:
            inner = replace(around, state=CheckState.DEAD)
        consequence = node.child_by_field_name("consequence")
        if consequence is not None:
            read_block(reading, consequence, inner, depth + 1)
        return True
    if node.type == "match_statement":
        body = node.child_by_field_name("body")
        if body is not None:
            read_statement(reading, body, around, depth + 1)
        return True
    if node.type == "assert_statement":
        parts = children(node)
        if parts:
            known = len(reading.checks)
            read_expression(reading, parts[0], around, depth)
            if len(reading.checks) == known or plain(parts[0]) != "True":
                reading.checks.append(asserted(reading, parts[0], node, around.state))
        return True
    return False


def _read_with(reading: Reading, node: Node, around: Around, depth: int) -> None:
    inner = around
    for part in children(node):
        if part.type == "with_clause":
            text = plain(part)
            wants = _WANTS_FAILURE.search(text) and _asserts(node)
            read_expression(reading, part, replace(around, awaited=True), depth)
            entered = [name for name in re.findall(r"(\w+) \(", text) if name in reading.known]
            lenient = any(
                "__exit__" in methods
                for name in re.findall(r"(\w+) \(", text)
                if (methods := reading.lenient.get(name))
            )
            if around.state is CheckState.DEAD:
                continue
            if wants:
                inner = replace(around, state=CheckState.INVERTED)
            elif (
                lenient
                or _SUPPRESSES.search(text)
                or any(is_entered(reading.known[name]) for name in entered)
            ):
                inner = replace(around, state=CheckState.SWALLOWED)
        elif part.type == "block":
            read_block(reading, part, inner, depth + 1)


def _asserts(node: Node) -> bool:
    return any(part.type == "assert_statement" for part in descendants(node, stop=FUNCTIONS))


def _expression(reading: Reading, node: Node, around: Around, depth: int) -> bool:
    kind = node.type
    if kind in FUNCTIONS:
        return True
    if kind in ("identifier", "attribute"):
        text = text_of(node)
        parent = node.parent
        raised = parent is not None and parent.type == "raise_statement" and SKIP.search(text)
        if raised or ("mark." in text and _MARKS.search(text)):
            reading.skips.append(mark(node, when(reading, around)))
            return True
        name = f".{text.rpartition('.')[2]}"
        if kind == "attribute" and name in reading.known and not _is_callee(node):
            reading.checks += called_checks(reading, node, reading.known[name], (), around.state)
        return False
    if kind != "call":
        return False
    name = text_of(node.child_by_field_name("function"))
    last = name.rpartition(".")[2]
    if SKIP.search(name) and (
        "." in name or last in ("skip", "xfail", "importorskip", "skipTest", "SkipTest")
    ):
        if around.state is not CheckState.DEAD and not _is_asked_for(node):
            condition = SkipCondition.OTHER if last == "importorskip" else when(reading, around)
            reading.skips.append(mark(node, condition))
        return "mark" in name or around.state is CheckState.DEAD
    if last in reading.known and name in (last, f"self.{last}", f"cls.{last}"):
        _read_helper(reading, node, reading.known[last], around)
        return False
    held = reading.nodes.get(name)
    if held is not None and held.type == "call" and _is_partial(held):
        given = arguments_of(held)
        bound = reading.known.get(text_of(given[0])) if given else None
        if bound is not None:
            both = [*given[1:], *arguments_of(node)]
            reading.checks += called_checks(reading, node, bound, _named(both), around.state)
            return True
    for read in (call_check, said_check):
        check = read(reading, node, name, around.state)
        if check is not None:
            reading.checks.append(check)
    return False


def _is_asked_for(node: Node) -> bool:
    """Whether a skip is what a test looks at: `with raises(skip.Exception)` around it."""
    above = node.parent
    while above is not None and above.type != "function_definition":
        if above.type == "with_statement" and _WANTS_SKIP.search(text_of(above)[:200]):
            return True
        above = above.parent
    return False


def _is_callee(node: Node) -> bool:
    parent = node.parent
    return parent is not None and parent.type == "call" and parent.child_by_field_name("function") == node


def _is_partial(call: Node) -> bool:
    return text_of(call.child_by_field_name("function")) in ("partial", "functools.partial")


def _read_helper(reading: Reading, call: Node, helper: Helper, around: Around) -> None:
    parent = call.parent
    handed_on = parent is not None and parent.type in ("argument_list", "keyword_argument", "list", "yield")
    state = around.state
    if state is CheckState.LIVE and not around.awaited and not handed_on:
        if helper.awaited and not _used_later(reading, call):
            state = CheckState.UNAWAITED
        elif helper.entered and not _used_later(reading, call):
            state = CheckState.DEAD
    reading.checks += called_checks(reading, call, helper, _named(arguments_of(call)), state)


def _used_later(reading: Reading, call: Node) -> bool:
    """Whether what a call gives is kept under a name that is awaited, entered or handed on."""
    parent = call.parent
    if parent is None or parent.type != "assignment":
        return False
    name = re.escape(text_of(parent.child_by_field_name("left")))
    top = parent
    while top.parent is not None and top.type not in ("function_definition", "module"):
        top = top.parent
    pattern = (
        rf"(?:await|with|yield|return)\s+{name}\b"
        rf"|(?:run\w*|gather|wait\w*|task\w*|context\w*)\([^)]*\b{name}\b"
    )
    return bool(re.search(pattern, (top.text or b"").decode("utf-8", "replace"), re.IGNORECASE))


def _named(arguments: list[Node]) -> list[tuple[str, Node]]:
    found: list[tuple[str, Node]] = []
    for argument in arguments:
        name, _ = keyword(argument)
        value = argument.child_by_field_name("value") if name else argument
        if value is not None:
            found.append((name, value))
    return found


def parameters_of(function: Node) -> tuple[str, ...]:
    """The names of a function's parameters, its object left out."""
    names = [
        text_of(part.child_by_field_name("name") or (children(part) or [part])[0])
        for part in children(function.child_by_field_name("parameters"))
    ]
    return tuple(names[1:] if names and names[0] in ("self", "cls") else names)


PYTHON = Dialect(
    assigned=_assigned,
    statement=_statement,
    expression=_expression,
    swallows=_swallows,
    functions=frozenset(),
    environment=ENVIRONMENT,
    platform=PLATFORM,
)
