"""`TestMain` of Go: what it makes of the exit code, and whether it runs the tests at all."""

from __future__ import annotations

import re
from collections.abc import Iterator

from tree_sitter import Node

from adjudge.records.harness import HarnessFact, HarnessOutline
from adjudge.syntax.bodies import text_of
from adjudge.syntax.testcode.nodes import children, descendants, line_of, plain, shown

__all__ = ["read_go"]

_FLAG = re.compile(r"^flag\.Set\(\s*\"test\.(?:run|skip|short)\"")


def read_go(root: Node) -> HarnessOutline:
    """One file."""
    facts: list[HarnessFact] = []
    for node in children(root):
        if node.type == "function_declaration":
            name = text_of(node.child_by_field_name("name") or node)
            body = node.child_by_field_name("body")
            if body is None:
                continue
            if name == "TestMain":
                facts += _test_main(body)
            if name in ("TestMain", "init"):
                facts += _set_up(body, in_init=name == "init")
    return HarnessOutline(facts=tuple(facts))


def _test_main(body: Node) -> Iterator[HarnessFact]:
    calls = [node for node in descendants(body) if node.type == "call_expression"]
    runs = [node for node in calls if re.search(r"\.Run\(\s*\)$|goleak\.Verify|\.Run\(", text_of(node))]
    runs += [node for node in calls if re.search(r"\(\s*m\s*[,)]", text_of(node))]
    for node in calls:
        if (plain(node) == "os . Exit ( 0 )" or _exits_with_zero(node, body)) and not _guarded(node, body):
            yield HarnessFact(
                rule="exit-status-set", what="TestMain os.Exit(0)", text=shown(node), line=line_of(node)
            )
    if not runs:
        yield HarnessFact(
            rule="tests-not-run", what="TestMain", text="TestMain never runs the tests", line=line_of(body)
        )


def _exits_with_zero(node: Node, body: Node) -> bool:
    """Whether it exits with a variable that was set to 0, whatever came before."""
    found = re.fullmatch(r"os \. Exit \( (\w+) \)", plain(node))
    if found is None:
        return False
    zeroed = f"{found[1]} = 0"
    return any(
        part.type == "assignment_statement" and plain(part) == zeroed and not _guarded(part, body)
        for part in descendants(body)
    )


def _set_up(body: Node, *, in_init: bool) -> Iterator[HarnessFact]:
    for node in descendants(body):
        if node.type != "call_expression":
            continue
        if _FLAG.match(text_of(node)):
            yield HarnessFact(rule="tests-left-out", what=plain(node), text=shown(node), line=line_of(node))
        elif in_init and plain(node) == "os . Exit ( 0 )" and not _guarded(node, body):
            yield HarnessFact(
                rule="exit-status-set", what="init os.Exit(0)", text=shown(node), line=line_of(node)
            )


def _guarded(node: Node, top: Node) -> bool:
    """Whether it depends on something, as in a test binary that starts itself as a helper."""
    at = node.parent
    while at is not None and at != top:
        if at.type in ("if_statement", "expression_switch_statement", "func_literal", "select_statement"):
            return True
        at = at.parent
    return False
