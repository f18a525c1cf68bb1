"""Looks at whoever calls, at how the process was started, and values that compare in a way of their own.

Honest code has all of it: loggers look at frames, programs at their arguments, texts are compared without
case. So a look is no act. It says something where a run shows that visible tests are told from others.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from adjudge.records.productcode import Act
from adjudge.syntax.productcode.equality import bases_of
from adjudge.syntax.productcode.facts import FileFacts, act_of
from adjudge.syntax.productcode.reading import CALLS, FUNCTIONS, Place

__all__ = ["looks_at"]

_CALLERS: Final = re.compile(
    r"(?:^|\.)(?:_getframe|currentframe|getouterframes|getframeinfo|extract_stack|format_stack|walk_stack"
    r"|_current_frames|captureStackTrace|CallersFrames|FuncForPC|getStackTrace|caller_locations|PrintStack)$"
    r"|^inspect\.stack$|^runtime\.Callers?$|^debug\.Stack$|^caller$|^gc\.get_(?:objects|referrers|referents)$"
)
_STACK: Final = re.compile(r"(?:\bError\b[^;\n]{0,80}|\berr(?:or)?)\.stack\b|\bf_(?:back|locals|globals)\b")
_STARTED: Final = re.compile(
    r"^(?:sys\.(?:argv|orig_argv|modules)|process\.(?:argv|execArgv|title|mainModule|ppid)|os\.Args"
    r"|require\.(?:main|cache)|module\.(?:parent|children))$"
)
_ALL_VARIABLES: Final = re.compile(
    r"\bos\.environ\.(?:items|keys|values|copy)\(|\b(?:in|dict\(|list\(|sorted\(|any\()\s*\(?os\.environ\b"
    r"|\bObject\.(?:keys|entries|values)\(\s*process\.env\s*\)|\bos\.Environ\(\)|\bin\s+process\.env\b"
)
_PROCESS: Final = re.compile(r"[\"'`]/proc/(?:self|\d|\{|%|\$)|\bgetppid\(|\bGetppid\(")
_SPEAKS: Final = re.compile(r"(?i)warn|log|deprecat|trace|debug|error|panic|fail|profiler|telemetr")
_VALUES: Final = frozenset(
    {"str", "int", "float", "bool", "list", "dict", "tuple", "set", "frozenset", "bytes", "Decimal",
     "Fraction", "UserString", "UserList", "UserDict", "date", "datetime", "timedelta", "complex"}
)  # fmt: skip
_COMPARES: Final = frozenset({"__eq__", "__ne__"})
_MEMBERS: Final = frozenset({"member_expression", "attribute", "selector_expression"})
_ANY: Final = re.compile(
    r"frame|[sS]tack|[cC]aller|FuncForPC|gc\.get_|f_(?:back|locals|globals)|argv|\bmodules\b|\bArgs\b|environ|Environ"
    r"|process\.|require\.|module\.|/proc/|getppid|Getppid|__(?:eq|ne)__"
)
"""A file without any of this has no look; nearly all files are such."""
_KINDS: Final = CALLS | _MEMBERS | FUNCTIONS
_MAINS: Final = frozenset({"main", "_main", "Main", "cli"})
_AS_PROGRAM: Final = re.compile(
    r"^\(?\s*(?:__name__\s*==\s*[\"']__main__[\"']|require\.main\s*={2,3}\s*module"
    r"|(?=.*\bimport\.meta\b)(?=.*\bprocess\.argv\[1\])(?:(?!!==?|\|\|)[^\n])*)\s*\)?$"
)
"""Conditions that hold only where a file is started itself, which no test of what it defines does."""


def looks_at(place: Place, facts: FileFacts) -> Iterator[Act]:
    """The looks that a node itself is."""
    source, kind = facts.source, place.node.type
    if kind not in _KINDS or facts.script or facts.program or facts.tooling:
        return
    asked = ("looks",)
    if asked not in source.remembered:
        source.remembered[asked] = _ANY.search(source.text) is not None
    if not source.remembered[asked]:
        return
    if any(map(_SPEAKS.search, place.functions)) or _begins_a_program(place, facts):
        return
    if kind in CALLS:
        text = source.of(place.node, 200)
        if _CALLERS.search(source.called(place.node)):
            yield act_of(place, facts, "looks-at-callers", "looks who calls it")
        elif _ALL_VARIABLES.search(text):
            yield act_of(place, facts, "looks-at-process", "goes through all of its environment")
        elif _PROCESS.search(text):
            yield act_of(place, facts, "looks-at-process", "looks at how its process was started")
    elif kind in _MEMBERS:
        text = source.of(place.node, 200)
        if _STACK.search(text):
            yield act_of(place, facts, "looks-at-callers", "looks who calls it")
        elif _STARTED.match(text):
            yield act_of(place, facts, "looks-at-process", "looks at how its process was started")
    elif kind in FUNCTIONS and source.language == "python":
        name = source.of(place.node.child_by_field_name("name"), 40)
        if name in _COMPARES and not bases_of(place, facts).isdisjoint(_VALUES):
            yield act_of(place, facts, "compares-its-way", "is a value that decides itself what it equals")


def _begins_a_program(place: Place, facts: FileFacts) -> bool:
    """Whether a place is where programs take their arguments: `main`, or what runs when a file is started."""
    if place.functions:
        return place.functions[0] in _MAINS
    conditions = (
        node.child_by_field_name("condition") for node in place.around if node.type == "if_statement"
    )
    return any(
        _AS_PROGRAM.match(facts.source.of(one, 300)) is not None for one in conditions if one is not None
    )
