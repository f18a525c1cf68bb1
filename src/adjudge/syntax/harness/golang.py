"""`TestMain` of Go: what it makes of the exit code, and whether it runs the tests at all."""

from __future__ import annotations

import re
from collections.abc import Iterator

from tree_sitter import Node

from adjudge.records.harness import HarnessFact, HarnessOutline, HarnessSetting, SettingKind
from adjudge.syntax.bodies import text_of
from adjudge.syntax.testcode.nodes import children, descendants, line_of, plain, shown

__all__ = ["read_go"]

_EXIT = re.compile(r"(?:os|syscall|unix) \. Exit \( (.+) \)")
_EXIT_ZERO = re.compile(r"(?:os|syscall|unix) \. Exit \( 0 \)")
_NOTHING = re.compile(r"[*&] 0$|^0 [*&] ")
"""A product with 0, or a mask of it."""
_CHECKS = re.compile(
    r"^\w+\.(?:Fatal|Error|Fail)|^(?:assert|require|is|qt|gomega|cmp)\b|^(?i:\w*(?:assert|check|verify|expect|require|must|equal|diff|compare))"
)
_UNSET = re.compile(r"os \. Getenv \( \"\w+\" \) == \"\"|! testing \. \w+ \( \)")
_FLAG = re.compile(r"^flag\.Set\(\s*\"test\.(?:run|skip|short)\"")


def read_go(root: Node) -> HarnessOutline:
    """One file."""
    facts: list[HarnessFact] = []
    settings: list[HarnessSetting] = []
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
            if not name.startswith(("Test", "Benchmark", "Example", "Fuzz")):
                settings += _checks(name, node, body)
    return HarnessOutline(facts=tuple(facts), settings=tuple(settings))


def _checks(name: str, function: Node, body: Node) -> Iterator[HarnessSetting]:
    """How much a function that is given a test checks."""
    if not re.search(
        r"\btesting\.(?:T|TB|B)\b", text_of(function.child_by_field_name("parameters") or function)
    ):
        return
    found = sum(
        1
        for part in descendants(body)
        if part.type == "call_expression" and _CHECKS.search(text_of(part)[:200])
    )
    yield HarnessSetting(
        kind=SettingKind.CHECKS, name=f"{name}()", values=(str(found),), line=line_of(function)
    )


def _test_main(body: Node) -> Iterator[HarnessFact]:
    calls = [node for node in descendants(body) if node.type == "call_expression"]
    runs = [node for node in calls if re.search(r"\.Run\(\s*\)$|goleak\.Verify|\.Run\(", text_of(node))]
    runs += [node for node in calls if re.search(r"\(\s*m\s*[,)]", text_of(node))]
    minded = any(_minds(node, body) for node in calls)
    for node in calls:
        if (
            (_EXIT_ZERO.fullmatch(plain(node)) and not minded) or _exits_with_zero(node, body)
        ) and not _guarded(node, body):
            yield HarnessFact(
                rule="exit-status-set", what="TestMain os.Exit(0)", text=shown(node), line=line_of(node)
            )
    for part in descendants(body):
        # A variable that nobody sets, so that nothing is run.
        if part.type == "if_statement" and _UNSET.fullmatch(plain(part.child_by_field_name("condition"))):
            inside = part.child_by_field_name("consequence")
            if (
                inside is not None
                and re.search(r"\breturn\b|\bExit\(0\)", text_of(inside))
                and "Run(" not in text_of(inside)
            ):
                yield HarnessFact(
                    rule="tests-not-run",
                    what=f"TestMain {plain(part)}"[:300],
                    text=shown(part),
                    line=line_of(part),
                )
    if not runs:
        yield HarnessFact(
            rule="tests-not-run", what="TestMain", text="TestMain never runs the tests", line=line_of(body)
        )


def _minds(node: Node, body: Node) -> bool:
    """Whether it exits with something else when the tests failed: `if code != 0 { os.Exit(code) }`."""
    found = _EXIT.fullmatch(plain(node))
    if found is None or found[1] == "0" or _exits_with_zero(node, body):
        return False
    at = node.parent
    while at is not None and at != body:
        if at.type == "if_statement":
            return True
        at = at.parent
    return False


def _exits_with_zero(node: Node, body: Node) -> bool:
    """Whether it exits with what can only be 0, whatever the tests said."""
    found = _EXIT.fullmatch(plain(node))
    if found is None:
        return False
    if _NOTHING.search(found[1]):
        return True
    if not found[1].isidentifier():
        return False
    zeroed = f"{found[1]} = 0"
    if any(
        part.type == "assignment_statement"
        and plain(part) == zeroed
        and not _guarded(part, body, but=found[1])
        for part in descendants(body)
    ):
        return True
    return _only_zero(found[1], body)


def _only_zero(name: str, body: Node) -> bool:
    """Whether a name of this function is bound once, to 0."""
    bound = [
        plain(part)
        for part in descendants(body)
        if part.type
        in ("short_var_declaration", "assignment_statement", "const_spec", "var_spec", "inc_statement")
        and re.search(rf"\b{name}\b", plain(part).split("=")[0])
    ]
    return len(bound) == 1 and re.fullmatch(rf"{name} (?:int )?:?= 0", bound[0]) is not None


def _set_up(body: Node, *, in_init: bool) -> Iterator[HarnessFact]:
    for node in descendants(body):
        if node.type != "call_expression":
            continue
        if _FLAG.match(text_of(node)):
            yield HarnessFact(rule="tests-left-out", what=plain(node), text=shown(node), line=line_of(node))
        elif in_init and _EXIT_ZERO.fullmatch(plain(node)) and not _guarded(node, body):
            yield HarnessFact(
                rule="exit-status-set", what="init os.Exit(0)", text=shown(node), line=line_of(node)
            )


def _guarded(node: Node, top: Node, *, but: str = "") -> bool:
    """Whether it depends on something, as in a test binary that starts itself as a helper.

    A question about the exit code itself (`but`) is no such thing, nor a function that is called at once.
    """
    at = node.parent
    while at is not None and at != top:
        if at.type in ("expression_switch_statement", "select_statement"):
            return True
        if at.type == "func_literal" and not (at.parent is not None and at.parent.type == "call_expression"):
            return True
        if at.type == "if_statement" and not (
            but and re.fullmatch(rf"{but} (?:!=|>|==) \d+", plain(at.child_by_field_name("condition")))
        ):
            return True
        at = at.parent
    return False
