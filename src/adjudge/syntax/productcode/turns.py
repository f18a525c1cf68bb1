"""Answers by turn: what a function gives depends on how often it was called, not on what it was given.

What counts is that answers which are written down are handed out one after the other by something that takes
arguments. A palette, a spinner or a balancer takes none, or hands out what it was given.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from tree_sitter import Node

from adjudge.records.productcode import Act
from adjudge.syntax.productcode.facts import FileFacts, act_of
from adjudge.syntax.productcode.reading import Place, children

__all__ = ["answers_by_turn"]

_NAMED: Final = frozenset(
    {"function_definition", "function_declaration", "method_definition", "method_declaration",
     "function_item",
     "method", "arrow_function", "function_expression", "func_literal", "lambda"}
)  # fmt: skip
_LITERAL: Final = (
    r"(?:-?\d[\w.]*(?:\s*[*/+-]\s*\w+)?"
    r"""|b?["'`][^"'`\n]*["'`]|[\[({][^\[\](){}\n]*[\])}]|[Tt]rue|[Ff]alse|None|null|nil)"""
)
_LITERALS: Final = rf"\s*{_LITERAL}(?:\s*,\s*{_LITERAL})+\s*,?\s*"
_LISTED: Final = re.compile(
    rf"^(?:await\s+)?(?:(?:iter|cycle|itertools\.cycle|deque|collections\.deque|tuple|list|reversed|Object\.freeze)\(\s*)*"
    rf"(?:\[\]\w+|\[\.*\d*\]\w+)?[\[({{]{_LITERALS}[\])}}]"
)
_ROWS: Final = re.compile(
    rf"^(?:map\[\w+\]\[\]\w+)?[\[({{](?:[^\[\](){{}}]|[\[({{][^\[\](){{}}]*[\])}}])*?[:,\[]\s*"
    rf"[\[({{]\s*{_LITERAL}\s*,\s*{_LITERAL}"
)
"""A table whose rows are lists of literals, as far as its text was kept."""
_ITERATED: Final = re.compile(
    rf"^(?:(?:iter|cycle|itertools\.cycle|itertools\.chain)\(\s*[\[(]{_LITERALS}[\])]|[\[(]{_LITERALS}[\])]"
    r"(?:\[Symbol\.iterator\]|\.values|\.__iter__|\.entries|\.each)\b|\(\s*\w+\s+for\s+\w+\s+in\s*[\[(])"
)
_COUNTS: Final = (
    r"(?<![\w.]){n}\s*\+=\s*1\b", r"(?<![\w.]){n}\s*\+\+", r"\+\+\s*{n}(?!\w)",
    r"(?<![\w.]){n}\s*=\s*\(?[^\n=]{{0,60}}\+\s*1\b", r"(?<![\w.]){n}\.(?:Add|fetch_add|incrementAndGet"
    r"|getAndIncrement)\(",
    r"Add(?:Int|Uint)(?:32|64)\(\s*&{n}\s*,\s*1",
)  # fmt: skip
_LOOPS: Final = re.compile(r"\b(?:for|while|loop|until)\b")
_NAME: Final = r"(?:(?:self|this|cls)\.)?[#@]?[A-Za-z_$][\w$]*(?:\.[#\w$]+)?(?:\[[\"'\w]+\])?"
_INDEXED: Final = re.compile(
    rf"(?P<table>{_NAME}|(?:\[\]\w+)?[\[({{]{_LITERALS}[\])}}]|\{{\s*\d+\s*:[^{{}}\n]+\}})"
    rf"(?:\[|\.get\(|\.at\()\s*\(*\s*(?P<index>len\(\s*(?P<log>{_NAME})\s*\)|next\(\s*(?P<count>{_NAME})\s*\)"
    rf"|atomic\.Add\w+\(\s*&(?P<atomic>{_NAME})[^()]*\)|(?:\+\+)?{_NAME}(?:\+\+)?)"
)
_COMPARED: Final = re.compile(
    rf"(?:if|elif|else if|when|match|switch|case|\?|return)?\s*\(?\s*(?:\+\+)?(?P<name>{_NAME})"
    rf"(?:\+\+)?\s*={{2,3}}\s*\d+\s*\)?\s*[:{{?)]*\s*(?:then\s+)?(?:return\s+)?(?P<given>{_LITERAL})"
)
_SWITCHED: Final = re.compile(
    rf"\b(?:switch|match|case)\b\s*\(?\s*(?:\+\+)?(?P<name>{_NAME}|next\(\s*(?P<count>{_NAME})\s*\))(?:\+\+)?\s*\)?\s*[:{{\n]"
)
_CASE_GIVES: Final = re.compile(
    rf"(?:\bcase|\bwhen|^\s*)\s*\d+\s*(?::|=>|then)?\s*(?:return\s+)?({_LITERAL})", re.M
)
_TAKEN: Final = re.compile(
    rf"(?P<name>{_NAME})\.(?P<how>pop\(\s*0?\s*\)|popleft\(\)|shift\(\)|remove\(0\)|next\(\)\.value)|"
    rf"\bnext\(\s*(?P<iterator>{_NAME})\s*(?:,[^()]*)?\)|<-\s*(?P<channel>{_NAME})"
)


def answers_by_turn(place: Place, facts: FileFacts) -> Iterator[Act]:
    """A function whose answers are written down and handed out in turn."""
    source, node = facts.source, place.node
    if node.type not in _NAMED:
        return
    body = source.of(node.child_by_field_name("body"), 6_000)
    if not body or (_LOOPS.search(body) and _LOOPS.search(_outside_strings(body))):
        return
    if _differs_by_count(body, facts) or (
        _takes_input(node, facts) and (_picks_by_count(body, facts) or _takes_in_turn(body, facts))
    ):
        yield act_of(place, facts, "answers-by-call-number", "answers by how often it was called")


def _takes_input(function: Node, facts: FileFacts) -> bool:
    parameters = function.child_by_field_name("parameters") or function.child_by_field_name("parameter")
    if parameters is None:
        return False
    if parameters.type == "identifier":
        return True
    named = [facts.source.of(part, 60) for part in children(parameters)]
    return any(not re.match(r"(?:self|cls|this|&?(?:mut )?self|_\w*\s*=|\*|/|\(\))", name) for name in named)


def _outside_strings(text: str) -> str:
    return re.sub(r"""(["'`])(?:\\.|(?!\1).)*\1""", '""', text)


def _differs_by_count(body: str, facts: FileFacts) -> bool:
    """`if calls == 3: return 7`."""
    if "==" not in body:
        return False
    compared = [match for match in _COMPARED.finditer(body) if _is_telling(match["given"])]
    return any(_counts(match["name"], body, facts) for match in compared)


def _picks_by_count(body: str, facts: FileFacts) -> bool:
    for match in _INDEXED.finditer(body):
        if _is_counted(match, body, facts) and _is_listed(match["table"], facts):
            return True
    for match in _SWITCHED.finditer(body):
        counter = match["count"] is not None and _is_count(match["count"], facts)
        if counter or _counts(match["name"].strip("+"), body, facts):
            given = [one for one in _CASE_GIVES.findall(body) if _is_telling(one)]
            if len(given) >= 2:
                return True
    return False


def _is_telling(given: str) -> bool:
    return given.lower() not in ("true", "false", "none", "null", "nil")


def _is_counted(match: re.Match[str], body: str, facts: FileFacts) -> bool:
    if match["log"] is not None:
        log = re.escape(match["log"])
        outside = _is_outside(match["log"], body, facts)
        return outside and re.search(rf"(?<![\w.]){log}\.(?:append|add|push)\(", body) is not None
    if match["count"] is not None:
        return _is_count(match["count"], facts)
    if match["atomic"] is not None:
        return True
    if match["index"].endswith(".Add"):
        return _is_outside(match["index"].removesuffix(".Add"), body, facts)
    return _counts(match["index"].replace("++", ""), body, facts)


def _is_count(name: str, facts: FileFacts) -> bool:
    given = facts.bound.get(_bare(name), ())
    return any(re.match(r"(?:itertools\.)?count\(", text) for text in given)


def _bare(name: str) -> str:
    return re.sub(r"\[.*", "", name).rpartition(".")[2].lstrip("#@")


def _counts(name: str, body: str, facts: FileFacts) -> bool:
    """Whether a name that outlives the function is counted up in it, by one and whatever comes in."""
    escaped = re.escape(name)
    counted = any(re.search(pattern.format(n=escaped), body) for pattern in _COUNTS)
    if not counted:
        # A local that is given the count: `n = next(_count)`, `turn := calls.Add(1)`.
        made = re.search(
            rf"(?<![\w.]){escaped}\s*:?=\s*(?:next\(\s*({_NAME})|({_NAME})\.Add\(|atomic\.Add\w+\()", body
        )
        if made is not None:
            return made[1] is None or _is_count(made[1], facts)
        return _is_kept_count(escaped, body)
    return _is_outside(name, body, facts)


def _is_kept_count(name: str, body: str) -> bool:
    """`at = counts.get(key, 0)` and `counts[key] = at + 1`: one count for each kind of question."""
    taken = re.search(rf"(?<![\w.]){name}\s*:?=\s*\(?({_NAME})(?:\.get\(|\[)", body)
    if taken is None:
        return False
    kept = re.escape(re.sub(r"\[.*|\.get$", "", taken[1]))
    return (
        re.search(
            rf"(?<![\w.]){kept}(?:\.set\([^\n]*,\s*{name}\s*\+\s*1\s*\)|\[[^\n\]]+\]\s*(?:\+\+|\+=\s*1\b|=\s*{name}\s*\+\s*1\b))",
            body,
        )
        is not None
    )


def _is_outside(name: str, body: str, facts: FileFacts) -> bool:
    """Whether a name is not a plain local of the body."""
    if re.match(r"(?:self|this|cls)\.|[#@]", name) or "." in name or "[" in name:
        return True
    local = re.search(
        rf"(?:\b(?:let|var|const|int|mut)\s+{re.escape(name)}\b|^\s*{re.escape(name)}\s*:?=\s*(?:\d|\[|list\())",
        body,
        re.M,
    )
    return (
        local is None or re.search(rf"\b(?:global|nonlocal)\s+[^\n]*\b{re.escape(name)}\b", body) is not None
    )


def _is_listed(table: str, facts: FileFacts) -> bool:
    """Whether a table is literals, there or where its name is bound."""
    if re.match(r"[\[({]", table):
        return True
    given = facts.bound.get(_bare(table), ())
    return any(_LISTED.match(text) or _is_row(text, facts) for text in given)


def _is_row(text: str, facts: FileFacts) -> bool:
    """Whether an expression is a list of literals that a table of such lists holds."""
    found = re.match(r"([A-Za-z_$][\w$]*)(?:\[|\.get\()", text)
    given = facts.bound.get(found[1], ()) if found is not None else ()
    return any(_ROWS.match(one[:4_000]) for one in given)


def _takes_in_turn(body: str, facts: FileFacts) -> bool:
    """Whether what is given back is taken off answers that are written down."""
    for match in _TAKEN.finditer(body):
        name = match["name"] or match["iterator"] or match["channel"]
        if re.search(rf"^\s*(?:const|let|var)?\s*{re.escape(name)}\s*:?=", body, re.M) or not _returned(
            match, body
        ):
            continue
        given = facts.bound.get(_bare(name), ())
        if match["channel"] is not None:
            sent = re.search(rf"{re.escape(_bare(name))}\s*<-", facts.source.text.replace(match[0], "", 1))
            if sent is not None and re.search(
                rf"range\s+\[\]\w+\{{{_LITERALS}\}}|{re.escape(name)}\s*<-\s*{_LITERAL}", facts.source.text
            ):
                return True
        elif match["name"] is not None and "next" not in (match["how"] or ""):
            if any(_LISTED.match(text) for text in given):
                return True
        elif any(_ITERATED.match(text) or _is_made(text, facts) for text in given):
            return True
    # `first := prepared[0]` and `prepared = prepared[1:]`; `value = rows[0]` and `rows.rotate(-1)`.
    for match in re.finditer(rf"({_NAME})\[0\]", body):
        name = re.escape(match[1])
        moved = re.search(rf"{name}\s*=\s*{name}\[1:|{name}\.(?:rotate|append|push)\(", body)
        if moved is not None and any(_LISTED.match(text) for text in facts.bound.get(_bare(match[1]), ())):
            return True
    return False


def _returned(match: re.Match[str], body: str) -> bool:
    """Whether what was taken is given back as it is."""
    start = body.rfind("\n", 0, match.start()) + 1
    line = body[start : match.start()]
    if re.search(r"\breturn\s*\(?$|=>\s*$", line) or not body[: match.start()].strip(" {(\n\t"):
        return True
    named = re.search(r"(?:const|let|var)?\s*([A-Za-z_$][\w$]*)\s*:?=\s*$", line)
    return (
        named is not None and re.search(rf"\breturn\s+{re.escape(named[1])}\b\s*[;\n}}]?", body) is not None
    )


def _is_made(text: str, facts: FileFacts) -> bool:
    """Whether an expression is a generator that only yields literals, or a call of one."""
    called = re.match(r"([A-Za-z_$][\w$]*)\(\s*\)", text)
    if called is not None:
        name = re.escape(called[1])
        made = re.search(
            rf"(?:def|function\s*\*)\s*{name}\([^)]*\)[^\n]*\n?((?:[^\n]*\n){{1,12}})", facts.source.text
        )
        text = made[1] if made is not None else ""
    elif not re.match(r"\(?\s*function\s*\*", text):
        return False
    return len(re.findall(rf"\byield\s+(?:from\s+)?{_LITERAL}", text)) >= 2
