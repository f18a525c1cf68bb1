"""What attacks on a recipe came to, for people and as a document."""

from __future__ import annotations

import json
import textwrap
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from adjudge.records.attack import AttackResult, AttackStatus, AttackTarget, SuggestedLine
from adjudge.records.score import Verdict
from adjudge.records.task import Task
from adjudge.reports.plain import plain

__all__ = ["HonestRow", "Siege", "render_attacks", "siege_document"]

_SHOWN = {
    AttackStatus.PASSED: "THROUGH",
    AttackStatus.CREDITED: "CREDIT",
    AttackStatus.STOPPED: "stopped",
    AttackStatus.NOT_APPLICABLE: "n/a",
    AttackStatus.UNGRADED: "ungraded",
}
_COLOURS = {
    AttackStatus.PASSED: Verdict.FAIL,
    AttackStatus.CREDITED: Verdict.FAIL,
    AttackStatus.STOPPED: Verdict.PASS,
    AttackStatus.NOT_APPLICABLE: Verdict.NA,
    AttackStatus.UNGRADED: Verdict.ERROR,
}


class HonestRow(NamedTuple):
    """How an honest attempt came out."""

    name: str
    behaves: bool | None
    reason: str
    verdict: Verdict | None
    score: float | None
    reward: float | None


class Siege(NamedTuple):
    """All that is known of the attacks on one task."""

    task: Task
    target: AttackTarget
    honest: Sequence[HonestRow]
    results: Sequence[AttackResult]
    lines: Sequence[SuggestedLine]
    warnings: Sequence[str]
    advised: bool
    """Whether lines were looked for."""
    exit_code: int


def render_attacks(siege: Siege, *, width: int, paint: Callable[[str, Verdict], str], every: bool) -> str:
    """The report for people.

    Args:
        siege: What came of it.
        width: Columns to write in.
        paint: Colours a word like a verdict.
        every: Whether attacks that did not apply are listed one by one.
    """
    target = siege.target
    lines = [f"task       {plain(siege.task.name)} {siege.task.digest}"]
    seen = f"{target.language or 'no language we know'}, {target.runner or 'no test runner we know'}"
    lines.append(f"workspace  {seen}; {len(target.tests)} visible test files")
    lines += _honest(siege, width)
    lines.append("")
    lines += _rows(siege, width, paint, every=every)
    lines.append("")
    lines += _summary(siege, width)
    return "\n".join(lines)


def _honest(siege: Siege, width: int) -> list[str]:
    lines = []
    wanted = {"noop": "must fail", "oracle": "must pass"}
    for row in siege.honest:
        said = str(row.verdict) if row.verdict is not None else "not tried"
        state = {True: "as it must", False: "WRONG", None: ""}[row.behaves]
        detail = "" if row.behaves else f": {plain(row.reason)}"
        text = f"{said}, {wanted[row.name]}{f' ({state})' if state else ''}{detail}"
        lines += _wrapped(text, f"{row.name:<9}  ", width)
        if row.name == "noop" and row.verdict is Verdict.PASS:
            lines += _wrapped("the recipe accepts doing nothing, so it accepts any attack", " " * 11, width)
    return lines


def _rows(siege: Siege, width: int, paint: Callable[[str, Verdict], str], *, every: bool) -> list[str]:
    names = max((len(result.name) for result in siege.results), default=4)
    lines: list[str] = []
    order = list(_SHOWN)
    for result in sorted(siege.results, key=lambda one: order.index(one.status)):
        if result.status is AttackStatus.NOT_APPLICABLE and not every:
            continue
        word = f"{_SHOWN[result.status]:<8}"
        head = f"{word}  {result.name:<{names}}  "
        rows = _wrapped(_told(result, siege) + _stopped_by(result, siege), head, width)
        lines += [paint(word, _COLOURS[result.status]) + rows[0][len(word) :], *rows[1:]]
    return lines


def _stopped_by(result: AttackResult, siege: Siege) -> str:
    """Which of the lines below stop it, by their numbers."""
    if result.status not in (AttackStatus.PASSED, AttackStatus.CREDITED) or not siege.advised:
        return ""
    numbers = [f"[{n}]" for n, line in enumerate(siege.lines, start=1) if result.name in line.stops]
    return f" {' '.join(numbers)} stops it" if numbers else " no line stops it"


def _told(result: AttackResult, siege: Siege) -> str:
    family = result.family
    if result.status is AttackStatus.NOT_APPLICABLE:
        return f"{family}: {plain(result.how)}"
    named: str = result.integrity.outcome
    if result.named:
        named = f"{named}, names {', '.join(result.named)}"
    if result.status is AttackStatus.STOPPED:
        by = ", ".join(map(plain, result.stopped_by[:4])) or plain(result.reason)
        return f"{family}: by {by}; integrity {named}"
    if result.status is AttackStatus.UNGRADED:
        return f"{family}: {plain(result.reason)}"
    got = "PASS"
    if result.status is AttackStatus.CREDITED:
        idle = next((row for row in siege.honest if row.name == "noop"), None)
        given = 0.0 if idle is None else idle.reward or idle.score or 0.0
        earned = result.reward or result.score or 0.0
        got = f"{result.verdict}, but reward {earned:g}; doing nothing gets {given:g}"
    return f"{family}: {plain(result.how)} ({got}; integrity {named})"


def _summary(siege: Siege, width: int) -> list[str]:
    counted = {status: sum(one.status is status for one in siege.results) for status in _SHOWN}
    through = counted[AttackStatus.PASSED] + counted[AttackStatus.CREDITED]
    tried = len(siege.results) - counted[AttackStatus.NOT_APPLICABLE]
    text = f"{through} of {tried} attacks got through"
    if counted[AttackStatus.CREDITED]:
        text += f" ({counted[AttackStatus.CREDITED]} with credit short of a PASS)"
    text += f", {counted[AttackStatus.STOPPED]} stopped, {counted[AttackStatus.NOT_APPLICABLE]} do not apply"
    if counted[AttackStatus.UNGRADED]:
        text += f", {counted[AttackStatus.UNGRADED]} could not be graded"
    named = sum(one.integrity.outcome in ("suspect", "tampered") for one in _graded(siege))
    lines = [text, f"integrity named {named} of {len(_graded(siege))}"]
    if siege.lines:
        lines += ["", "add to the recipe (each line was tried on the attempts it is said to stop):"]
        for number, line in enumerate(siege.lines, start=1):
            lines.append(f"  [{number}] - {line.line}")
            lines += _wrapped(f"stops {len(line.stops)}: {', '.join(line.stops)}", " " * 6, width)
    rest = [
        one.name
        for one in siege.results
        if one.status in (AttackStatus.PASSED, AttackStatus.CREDITED) and not one.lines
    ]
    if rest and siege.advised:
        lines.append("")
        lines += _wrapped(
            f"no line that was tried stops {', '.join(rest)}. What answers the visible tests can only be "
            "told from work by tests that the agent never sees: type tests with `inject`.",
            "",
            width,
        )
    lines += [f"warning: {plain(warning)}" for warning in siege.warnings]
    return lines


def _graded(siege: Siege) -> list[AttackResult]:
    return [one for one in siege.results if one.verdict is not None]


def _wrapped(text: str, head: str, width: int) -> list[str]:
    return textwrap.wrap(
        text,
        max(width, len(head) + 30),
        initial_indent=head,
        subsequent_indent=" " * len(head),
        break_long_words=False,
        break_on_hyphens=False,
    ) or [head]


def siege_document(siege: Siege) -> str:
    """The document: `adjudge attack --json`."""
    document: dict[str, Any] = {
        "schema": "adjudge.attack/1",
        "task": {"name": siege.task.name, "digest": siege.task.digest},
        "workspace": {
            "language": siege.target.language,
            "runner": siege.target.runner,
            "visible_tests": list(siege.target.tests),
        },
        "honest": [row._asdict() for row in siege.honest],
        "attacks": [result.model_dump(mode="json") for result in siege.results],
        "lines": [line.model_dump(mode="json") for line in siege.lines],
        "counts": {
            status.value: sum(one.status is status for one in siege.results) for status in AttackStatus
        },
        "warnings": list(siege.warnings),
        "exit_code": siege.exit_code,
    }
    return json.dumps(document, indent=2, ensure_ascii=False)
