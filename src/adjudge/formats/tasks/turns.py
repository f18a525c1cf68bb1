"""The turns of a session: what the user says after the instruction, and on what that depends.

    turns:
      - Now write tests for it.
      - when:
          - contains: "?"
            say: Decide that yourself.
          - matches: (?i)all tests pass
            say: Then update the changelog.
          - default: Go on until the tests pass.

Each turn is taken once, in order. Of a turn with `when` the first choice that fits the last reply is said; if
none fits, the turn is passed over.
"""

from __future__ import annotations

from typing import Annotated

from pydantic import Field, StringConstraints

from adjudge.formats.regex import Regex, find_regex
from adjudge.formats.tasks.checking import Findings, check
from adjudge.formats.tasks.document import Node
from adjudge.formats.tasks.messages import describe, unknown_key
from adjudge.records.base import Record
from adjudge.records.task import Turn, TurnChoice

__all__ = ["MAX_TURNS", "WrittenChoice", "WrittenTurn", "choose_message", "parse_turns"]

MAX_TURNS = 200
MAX_CHOICES = 50

Message = Annotated[str, StringConstraints(pattern=r"\S")]


class WrittenChoice(Record):
    """One choice of a turn: a condition on the last reply and what to say, or what to say by default."""

    contains: Annotated[str, Field(min_length=1)] | None = None
    """Said when the last reply has this text in it; upper and lower case are told apart."""
    matches: Regex | None = None
    """Said when this regular expression (RE2) is found in the last reply."""
    say: Message | None = None
    """The message, where the condition holds."""
    default: Message | None = None
    """The message when no choice before it fits; the last one of its turn."""


class WrittenTurn(Record):
    """A turn whose message depends on the last reply."""

    when: tuple[WrittenChoice, ...] = Field(min_length=1, max_length=MAX_CHOICES)
    """The choices, of which the first that fits is said; if none does, the turn is passed over."""


def parse_turns(node: Node, findings: Findings) -> tuple[Turn, ...]:
    """The turns, or as many of them as could be read, with everything wrong noted."""
    if not isinstance(node.value, list):
        findings.problem(node, "turns", f"a list expected, found {describe(node.plain())}")
        return ()
    if not node.value:
        findings.problem(node, "turns", "must not be empty; remove it for a run of one turn")
    if len(node.value) > MAX_TURNS:
        findings.problem(node, "turns", f"has {len(node.value)} items; at most {MAX_TURNS} are read")
        return ()
    read = (_turn(item, f"turns[{index}]", findings) for index, item in enumerate(node.value))
    return tuple(turn for turn in read if turn is not None)


def choose_message(turn: Turn, reply: str) -> str | None:
    """What the user says after `reply`; None when no choice of the turn fits it."""
    for choice in turn.choices:
        if choice.contains is not None and choice.contains not in reply:
            continue
        if choice.matches is not None and find_regex(choice.matches, reply) is None:
            continue
        return choice.say
    return None


def _turn(node: Node, where: str, findings: Findings) -> Turn | None:
    if isinstance(node.value, str):
        if not node.value.strip():
            findings.problem(node, where, "must not be empty")
            return None
        return Turn(choices=(TurnChoice(say=node.value),))
    if not isinstance(node.value, dict):
        found = describe(node.plain())
        findings.problem(node, where, f"text, or a mapping with 'when', expected; found {found}")
        return None
    before = len(findings.problems)
    listed = node.value["when"].value if "when" in node.value else None
    if not isinstance(listed, list) or not listed or len(listed) > MAX_CHOICES:
        check(WrittenTurn, node, where, findings, needed_by="a turn")
        return None
    # Checked one by one, so that a misspelt key is told the nearest right one.
    rest = {key: value for key, value in node.value.items() if key != "when"}
    for key, value in rest.items():
        findings.problem(value, where, unknown_key(key, ("when",)))
    choices: list[TurnChoice] = []
    for index, item in enumerate(listed):
        inside = f"{where}.when[{index}]"
        choice = check(WrittenChoice, item, inside, findings)
        if choice is not None:
            _refuse_misfits(item, inside, last=index == len(listed) - 1, findings=findings)
            choices.append(_choice(choice))
    return Turn(choices=tuple(choices)) if len(findings.problems) == before else None


def _refuse_misfits(node: Node, where: str, *, last: bool, findings: Findings) -> None:
    """What the fields of a choice say together."""
    fields = node.value
    assert isinstance(fields, dict)
    conditions = [key for key in ("contains", "matches") if key in fields]
    if "default" in fields:
        for key in (*conditions, "say"):
            if key in fields:
                findings.problem(fields[key], f"{where}.{key}", "default stands alone; it holds the message")
        if not last:
            findings.problem(fields["default"], f"{where}.default", "nothing after default is ever said")
    elif not conditions:
        findings.problem(node, where, "needs contains or matches with say, or default")
    elif len(conditions) == 2:
        findings.problem(fields["matches"], f"{where}.matches", "write contains or matches, not both")
    elif "say" not in fields:
        findings.problem(node, f"{where}.say", "missing; a choice needs the message")


def _choice(written: WrittenChoice) -> TurnChoice:
    say = written.default if written.default is not None else written.say or ""
    return TurnChoice(contains=written.contains, matches=written.matches, say=say)
