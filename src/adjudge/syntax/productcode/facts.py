"""What is known of a file as a whole, and an act at a place in it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property

from tree_sitter import Node

from adjudge.records.productcode import Act
from adjudge.syntax.productcode.files import is_plugin, is_program, is_script, is_test_tooling
from adjudge.syntax.productcode.reading import Place, Source

__all__ = ["BRANCHES", "RETURNS", "TEST_MODULES", "FileFacts", "act_of"]

TEST_MODULES = re.compile(
    r"^(?:_?pytest|unittest|nose|hypothesis|conftest|doctest|tests?|test_\w+|tests?\.[\w.]+)(?:\.|$)"
)
BRANCHES = frozenset(
    {"if_statement", "elif_clause", "if_expression", "if", "unless", "if_modifier", "unless_modifier"}
)

RETURNS = frozenset({"return_statement", "return_expression", "return"})
_CONSTANT = re.compile(
    r"^[ \t]*(?:const |let |var |static |final |String |private |public )*([A-Za-z_]\w*)"
    r"(?:: ?\w+)?[ \t]*:?=[ \t]*[rbu]?[\"'`]([^\"'`\n]{1,300})[\"'`]",
    re.M,
)


@dataclass(frozen=True)
class FileFacts:
    """What is known of a file as a whole."""

    source: Source
    program: bool
    """It is of a program, which may end."""
    script: bool
    """It is started, never imported."""
    tooling: bool
    """It may honestly look for a test runner."""
    plugin: bool
    """It may honestly change one."""

    @classmethod
    def of(cls, source: Source) -> FileFacts:
        """The facts of a file."""
        head = source.text[:2_000]
        return cls(
            source,
            program=is_program(source.path, head),
            script=is_script(source.path, head),
            tooling=is_test_tooling(source.path),
            plugin=is_plugin(source.path),
        )

    @cached_property
    def constants(self) -> dict[str, str]:
        """Names that are given a string, with it."""
        return {match[1]: match[2] for match in _CONSTANT.finditer(self.source.text)}


def act_of(
    place: Place, facts: FileFacts, rule: str, why: str, *, proof: bool = False, node: Node | None = None
) -> Act:
    """An act at a place, shown as the place's node or another one around it."""
    shown = node or place.node
    return Act(
        rule=rule,
        line=shown.start_point[0] + 1,
        text=facts.source.shown(shown),
        key=f"{rule} {facts.source.key(shown)}",
        why=why,
        proof=proof,
    )
