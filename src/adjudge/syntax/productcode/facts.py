"""What is known of a file as a whole, and an act at a place in it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Final

from tree_sitter import Node

from adjudge.records.productcode import Act
from adjudge.syntax.productcode.bindings import Bindings
from adjudge.syntax.productcode.files import is_plugin, is_program, is_script, is_test_tooling
from adjudge.syntax.productcode.folding import unfolded
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
_BOUND = re.compile(
    r"^[ \t]*(?:export )?(?:const |let |var |static |final |private |public |readonly )*(?:self\.|this\."
    r"|@)?#?([A-Za-z_$][\w$]*)"
    r"[ \t]*(?::[^=\n]{1,60})?(?:,[ \t]*\w+[ \t]*)?[ \t]*:?=(?![=>])[ \t]*([^\n]{1,400})"
    # What follows is only looked at: it may be another statement.
    r"(?=((?:\n[ \t]+[^\n]{1,200}){0,6}))",
    re.M,
)
_LOOPED = re.compile(
    r"\bfor[ \t]*\(?[ \t]*(?:const |let |var |_[ \t]*,[ \t]*)?(?:[\w$]+[ \t]*,[ \t]*)?([A-Za-z_$][\w$]*)"
    r"(?:[ \t]*,[ \t]*([\w$]+))?"
    r"(?:[ \t]*,[ \t]*([\w$]+))?[ \t]+(?:in|of|:=[ \t]*range)[ \t]+([^\n]{1,300})"
)
_IDENTIFIERS = re.compile(r"(?<![\w$.\"'])([A-Za-z_$][\w$]*)")
_QUOTED = re.compile(r"""["'`]((?:[^"'`\\\n]|\\.){1,120})["'`]""")
_MAX_BOUND: Final = 3_000


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
    root: Node

    @classmethod
    def of(cls, source: Source, root: Node) -> FileFacts:
        """The facts of a file."""
        head = source.text[:2_000]
        return cls(
            source,
            program=is_program(source.path, head),
            script=is_script(source.path, head),
            tooling=is_test_tooling(source.path),
            plugin=is_plugin(source.path),
            root=root,
        )

    @cached_property
    def bindings(self) -> Bindings:
        """What names of the file stand for, by its syntax."""
        return Bindings(self.root, self.source)

    @cached_property
    def classes(self) -> dict[str, Node]:
        """The classes of a Python file that stand in no other one."""
        made = (
            node.child_by_field_name("definition") if node.type == "decorated_definition" else node
            for node in self.root.named_children
        )
        return {
            self.source.of(node.child_by_field_name("name"), 80): node
            for node in made
            if node is not None and node.type == "class_definition"
        }

    @cached_property
    def constants(self) -> dict[str, str]:
        """Names that are given a string, with it."""
        return {match[1]: match[2] for match in _CONSTANT.finditer(self.source.text)}

    @cached_property
    def bound(self) -> dict[str, list[str]]:
        """Names, with the texts of what they are given or go through."""
        found: dict[str, list[str]] = {}
        text = self.source.text[:400_000]
        for match in _BOUND.finditer(text):
            if len(found) < _MAX_BOUND:
                found.setdefault(match[1], []).append(match[2] + match[3] * _is_open(match[2]))
        for match in _LOOPED.finditer(text):
            for name in (match[1], match[2], match[3]):
                if name and len(found) < _MAX_BOUND:
                    found.setdefault(name, []).append(match[4])
        return found

    def strings_of(self, text: str, depth: int = 3) -> Iterator[str]:
        """The strings in an expression, and in what its names stand for."""
        seen: set[str] = set()
        pending = [(text, depth)]
        while pending and len(seen) < 60:
            current, left = pending.pop()
            for match in _QUOTED.finditer(unfolded(current) if len(current) < 400 else current):
                yield match[1]
            if left <= 0:
                continue
            for name in _IDENTIFIERS.findall(_QUOTED.sub("", current))[:20]:
                if name not in seen:
                    seen.add(name)
                    pending.extend((given, left - 1) for given in self.bound.get(name, ())[:4])


def _is_open(line: str) -> bool:
    """Whether an expression goes on in the next line."""
    bare = _QUOTED.sub("", line)
    opened = sum(bare.count(sign) for sign in "([{") - sum(bare.count(sign) for sign in ")]}")
    return opened > 0 or bare.rstrip().endswith(("\\", "+", ",", "|", "&", "?", ":", "(", "=>"))


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
