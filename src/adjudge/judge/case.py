"""What is put before a judge: the sections in their fixed order, each cut to its budget.

A cut keeps both ends and says so; of a diff, the files with findings come first. Nothing here knows a
provider or a fence.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from adjudge.records.base import digest_json
from adjudge.records.evaluation import Integrity
from adjudge.records.judgement import CutSection
from adjudge.records.judging import JudgeConfig
from adjudge.records.score import Finding, ScorerResult, Verdict
from adjudge.records.task import ExpectedOutcome

__all__ = ["Case", "Section", "cut_text", "evidence_digest", "lay_out", "primary_scorer"]

_FILE_START = re.compile(r"^diff --git ", re.MULTILINE)
_MEASURES = ("command", "tests", "pytest", "swebench", "verifier")
"""Types whose first required row is the objective test result when none is marked."""
_ROW_REASON = 300
_FINDINGS_SHOWN = 12


class Case(NamedTuple):
    """All that is known of a run, as text."""

    instruction: str
    expected: ExpectedOutcome = ExpectedOutcome.COMPLETION
    transcript: str = ""
    """How the agent worked; of a session, every turn."""
    response: str = ""
    diff: str | None = None
    """None for a run without a workspace."""
    diff_size: int | None = None
    """Characters of the whole diff, where `diff` holds only part of it."""
    results: tuple[ScorerResult, ...] = ()
    primary: str | None = None
    """Name of the scorer marked `primary: true`."""
    commands: Mapping[str, str] = {}
    """Name of a scorer → the command it ran."""
    integrity: Integrity = Integrity()
    notes: tuple[tuple[str, bool, str], ...] = ()
    """From `llm_judge` scorers: name, whether required, rubric."""
    stdout_tail: str = ""
    stderr_tail: str = ""
    exit_code: int | None = None


class Section(NamedTuple):
    """One part of what a judge reads."""

    name: str
    title: str
    text: str
    trusted: bool
    """Whether it was written by us or the task's author. What it quotes of the attempt is still data."""


def lay_out(case: Case, config: JudgeConfig) -> tuple[tuple[Section, ...], tuple[CutSection, ...]]:
    """The sections in their order, and what was cut."""
    drawn = [
        Section("instruction", "The task as the agent was given it", case.instruction, True),
        Section("expected", "The expected outcome", case.expected.value, True),
        Section("transcript", "How the agent worked", case.transcript or "(no trace)", False),
        Section("response", "The agent's final response", case.response or "(none)", False),
    ]
    if case.diff is not None:
        drawn.append(Section("diff", "What the agent changed in the workspace", case.diff, False))
        drawn.append(Section("objective", "The objective test result", _objective(case), True))
        # Printed by code under test: it has no place in a section that is ours.
        row = primary_scorer(case.results, case.primary)
        if row is not None and row.output_tail:
            drawn.append(Section("test_output", "The end of what that test printed", row.output_tail, False))
        drawn.append(Section("scorers", "Results of the scorers", _table(case), True))
    drawn.append(Section("notes", "Notes of the task's author for you", _notes(case.notes), True))
    if case.stdout_tail or case.stderr_tail or case.exit_code is not None:
        drawn.append(Section("output", "What the agent's program printed", _output(case), False))
    sections: list[Section] = []
    cut: list[CutSection] = []
    for section in drawn:
        if section.name == "expected":
            sections.append(section)
            continue
        budget = config.budget_of(section.name)
        if section.name == "diff":
            shown, whole = _cut_diff(section.text, budget, _paths_with_findings(case.results))
            whole = max(whole, case.diff_size or 0)
        else:
            shown, whole = cut_text(section.text, budget), len(section.text)
        if len(shown) < whole:
            cut.append(CutSection(section=section.name, shown=len(shown), of=whole))
        sections.append(section._replace(text=shown))
    return tuple(sections), tuple(cut)


def evidence_digest(sections: Sequence[Section]) -> str:
    """Identity of what was shown, whatever fences stand around it."""
    return digest_json([[section.name, section.text] for section in sections])


def cut_text(text: str, budget: int) -> str:
    """At most `budget` characters of a text: two thirds from its head, the rest from its tail."""
    if len(text) <= budget:
        return text
    mark = f"\n[… {len(text) - budget} characters of {len(text)} left out here …]\n"
    room = max(0, budget - len(mark))
    tail = room // 3
    return text[: room - tail] + mark + (text[-tail:] if tail else "")


def primary_scorer(results: Sequence[ScorerResult], marked: str | None) -> ScorerResult | None:
    """The objective test result: the row that is marked, else the first required one that measures."""
    for row in results:
        if row.name == marked:
            return row
    return next((row for row in results if row.required and row.type in _MEASURES), None)


def _cut_diff(diff: str, budget: int, first: frozenset[str]) -> tuple[str, int]:
    """Whole files as long as they fit, those with findings first; the rest is named."""
    if len(diff) <= budget:
        return diff or "(nothing was changed)", len(diff)
    starts = [match.start() for match in _FILE_START.finditer(diff)] or [0]
    files = [diff[start:end] for start, end in zip(starts, [*starts[1:], len(diff)], strict=True)]
    files.sort(key=lambda text: not _mentions(text, first))
    share = max(400, budget // min(len(files), 20))
    shown: list[str] = []
    used = 0
    left_out: list[str] = []
    for text in files:
        room = budget - used
        piece = text if len(text) <= room and len(text) <= max(share, room // 2) else cut_text(text, share)
        if len(piece) > room:
            left_out.append(text.split("\n", 1)[0][:200])
            continue
        shown.append(piece)
        used += len(piece)
    if left_out:
        names = "\n".join(left_out[:20])
        shown.append(f"[… {len(left_out)} more changed files are not shown, among them:\n{names}\n…]\n")
    return "".join(shown), len(diff)


def _mentions(file_diff: str, paths: frozenset[str]) -> bool:
    header = file_diff.split("\n", 1)[0]
    return any(path in header for path in paths)


def _paths_with_findings(results: Sequence[ScorerResult]) -> frozenset[str]:
    return frozenset(finding.path for row in results for finding in row.findings if finding.path)


def _objective(case: Case) -> str:
    row = primary_scorer(case.results, case.primary)
    if row is None:
        return "(no scorer measures the outcome)"
    lines = [f"scorer: {_line(row.name)} ({row.type})", f"verdict: {row.verdict.value}"]
    if row.name in case.commands:
        lines.append(f"command: {_line(case.commands[row.name])}")
    if row.score is not None:
        lines.append(f"score: {row.score:.4g}")
    lines.append(f"reason: {_line(row.reason)}")
    lines += [f"- {_line(finding.message)}" for finding in row.findings[:_FINDINGS_SHOWN]]
    return "\n".join(lines)


def _table(case: Case) -> str:
    if not case.results:
        return "(no scorers)"
    lines = ["| name | type | verdict | score | required | reason |", "|---|---|---|---|---|---|"]
    for row in case.results:
        score = "" if row.score is None else f"{row.score:.4g}"
        required = "gate" if row.gate else "required" if row.required else "advisory"
        cells = (row.name, row.type, row.verdict.value, score, required, row.reason)
        lines.append("| " + " | ".join(_cell(cell) for cell in cells) + " |")
    failed = [row for row in case.results if row.verdict is Verdict.FAIL and row.findings]
    for row in failed:
        lines.append(f"findings of {_line(row.name)}:")
        lines += [
            f"- {_place(finding)} {_line(finding.message)}" for finding in row.findings[:_FINDINGS_SHOWN]
        ]
    if case.integrity.outcome != "unchecked":
        lines.append(f"integrity: {case.integrity.outcome}")
        lines += [f"- {_line(reason)}" for reason in case.integrity.reasons[:_FINDINGS_SHOWN]]
    return "\n".join(lines)


def _notes(notes: Sequence[tuple[str, bool, str]]) -> str:
    if not notes:
        return "(none)"
    return "\n".join(
        f"{'required' if required else 'advisory'} — {_line(name)}: {rubric}"
        for name, required, rubric in notes
    )


def _output(case: Case) -> str:
    lines = [] if case.exit_code is None else [f"exit code: {case.exit_code}"]
    if case.stdout_tail:
        lines += ["end of stdout:", case.stdout_tail]
    if case.stderr_tail:
        lines += ["end of stderr:", case.stderr_tail]
    return "\n".join(lines)


def _place(finding: Finding) -> str:
    line = f":{finding.line}" if finding.line else ""
    return _line(finding.path or "") + line


def _line(text: str) -> str:
    """A text that cannot start a line or a row of its own."""
    return " ".join(text.split())[:_ROW_REASON]


def _cell(text: str) -> str:
    return _line(text).replace("\\", "\\\\").replace("|", "\\|")
