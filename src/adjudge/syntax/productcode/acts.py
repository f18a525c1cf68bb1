"""What product code does that no test asks for: ending the process, patching, sniffing, forging, detaching.

Each rule says what it has found and leaves who is accused to others. Where an act has an honest form (a
program that exits, a log that is quiet in tests) the honest form is no act.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final

from adjudge.records.productcode import Act
from adjudge.syntax.productcode.equality import (
    always_equal,
    answering_proxy,
    equality_by_name,
    equality_set,
    error_of_all_kinds,
    matcher_pair,
    test_double,
)
from adjudge.syntax.productcode.exits import deaf, exit_at_import, exit_code, exits, registered
from adjudge.syntax.productcode.facts import FileFacts
from adjudge.syntax.productcode.outliving import (
    detaches,
    forges_output,
    go_session,
    runs_hidden_code,
    writes_results,
)
from adjudge.syntax.productcode.patches import (
    error_that_ends_tests,
    frames,
    go_links,
    hooks,
    patched,
    peeked,
    redefined_macro,
    reopened,
    runner_module,
    set_by_call,
)
from adjudge.syntax.productcode.reading import CALLS, FUNCTIONS, Place
from adjudge.syntax.productcode.sniffing import (
    sniffed_call,
    sniffed_comparison,
    sniffed_constant,
    sniffed_parts,
    sniffed_variable,
)

__all__ = ["acts_at"]


def acts_at(place: Place, facts: FileFacts) -> Iterator[Act]:
    """The acts that a node itself is."""
    kind = place.node.type
    if kind in CALLS:
        for rule in _CALL_RULES:
            yield from rule(place, facts)
    elif kind in ("assignment", "assignment_expression", "assignment_statement", "augmented_assignment"):
        left = place.node.child_by_field_name("left")
        if left is not None and left.type != "identifier":
            yield from patched(place, facts, facts.source.name(left).replace("'", '"'))
            yield from exit_code(place, facts, left)
        if left is not None:
            yield from equality_set(
                place, facts, facts.source.of(left, 80), place.node.child_by_field_name("right")
            )
    elif kind in FUNCTIONS:
        yield from always_equal(place, facts)
        yield from hooks(place, facts)
    elif kind in ("comparison_operator", "binary_expression", "binary"):
        yield from sniffed_comparison(place, facts)
    elif kind in ("member_expression", "attribute", "subscript", "element_reference", "subscript_expression"):
        yield from sniffed_variable(place, facts)
        yield from test_double(place, facts)
        yield from peeked(place, facts)
    elif kind == "binary_operator" and facts.source.language == "python":
        if "&" in facts.source.of(place.node, 200):
            yield from sniffed_comparison(place, facts)
    elif kind == "variable_declarator":
        yield from sniffed_parts(place, facts)
    elif kind == "unary" and facts.source.language == "ruby":
        yield from sniffed_constant(place, facts)
    elif kind == "raise_statement":
        yield from exit_at_import(place, facts)
    elif kind in ("class", "module") and facts.source.language == "ruby":
        yield from reopened(place, facts)
    elif kind == "class_definition" and facts.source.language == "python":
        yield from error_that_ends_tests(place, facts)
        yield from error_of_all_kinds(place, facts)
    elif kind == "pair" and facts.source.language == "javascript":
        yield from matcher_pair(place, facts)
    elif kind == "macro_definition":
        yield from redefined_macro(place, facts)
    elif kind == "keyed_element" and facts.source.language == "go":
        yield from go_session(place, facts)
    elif kind == "source_file" and facts.source.language == "go":
        yield from go_links(place, facts)


_CALL_RULES: Final[tuple[Callable[[Place, FileFacts], Iterator[Act]], ...]] = (
    exits, registered, deaf, set_by_call, runner_module, frames, sniffed_call, writes_results,
    forges_output, runs_hidden_code, detaches, answering_proxy, test_double,
    equality_by_name,
)  # fmt: skip
