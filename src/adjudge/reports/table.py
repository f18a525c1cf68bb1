"""The table people read: the verdict and the three gates, a row per scorer, every failure with its evidence.

Plain text that reads the same without colour. Colour is the caller's: `paint` is given each verdict word.
"""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Iterator, Sequence

from adjudge.records.evaluation import Evaluation
from adjudge.records.paths import render_path
from adjudge.records.score import Finding, ScorerResult, Verdict
from adjudge.reports.judgement import judgement_lines
from adjudge.reports.plain import plain, plain_lines

__all__ = ["Paint", "render_table"]

Paint = Callable[[str, Verdict], str]
"""Gives a word the colour of a verdict."""

_MAX_FINDINGS = 20
_MAX_OUTPUT_LINES = 20
_MAX_NAME = 36
_MIN_REASON = 30
"""A reason narrower than this goes below its row instead of beside it."""
_TITLES = ("VERDICT", "SCORER", "TYPE", "", "SCORE", "REASON")


def render_table(
    evaluation: Evaluation, *, width: int = 100, paint: Paint = lambda word, verdict: word
) -> str:
    """The whole table, with a newline at its end.

    Args:
        evaluation: What to show.
        width: How many columns there are.
        paint: Colours a verdict word; the default leaves it as it is.
    """
    blocks = [
        _header(evaluation, width, paint),
        _rows(evaluation.scorers, width, paint),
        *(_expanded(row, width, paint) for row in evaluation.scorers if _worth_expanding(row)),
        judgement_lines(evaluation, width),
        _footer(evaluation, width),
    ]
    return "\n".join("\n".join(block) + "\n" for block in blocks if block)


def _header(evaluation: Evaluation, width: int, paint: Paint) -> list[str]:
    gates = evaluation.gates
    overall = gates.objective
    scores = [f"mean score {_score(overall.mean_score)}", f"score {_score(evaluation.score)}"]
    if evaluation.pass_threshold is not None:
        scores[-1] += f" (threshold {_score(evaluation.pass_threshold)})"
    verified = any(row.type == "verifier" for row in evaluation.scorers)
    if verified:
        scores.append(f"reward {'-' if evaluation.reward is None else f'{evaluation.reward:.4g}'}")
    lines = [f"OVERALL {paint(overall.verdict.value, overall.verdict)}   {'   '.join(scores)}"]
    lines += _labelled("task", f"{evaluation.task.name}  {_short(evaluation.task.digest)}", width)
    baseline = evaluation.provenance.baseline
    if baseline is not None:
        trust = "" if baseline.trusted else "unverified: "
        lines += _labelled("baseline", f"{trust}{baseline.description}", width)
    for name, gate in (("objective", overall), ("judge", gates.judge), ("run", gates.run)):
        first, *rest = _wrapped(gate.reason, width - 18)
        lines.append(f"{name:<10}{paint(f'{gate.verdict.value:<6}', gate.verdict)}  {first}")
        lines += [f"{'':18}{line}" for line in rest]
    if evaluation.integrity.outcome != "unchecked":
        said = "; ".join(evaluation.integrity.reasons)
        lines += _labelled("integrity", f"{evaluation.integrity.outcome}{f': {said}' if said else ''}", width)
    if verified or any(row.type == "rubric" for row in evaluation.scorers):
        lines += _validity(evaluation, width)
    tags = dict.fromkeys(f"{tag.category} ({tag.source.value})" for tag in evaluation.error_taxonomy)
    return lines + (_labelled("tagged", ", ".join(tags), width) if tags else [])


def _how_it_failed(evaluation: Evaluation) -> str:
    """What can be said of an attempt whose output, if there is one, could be read."""
    named = _names_an_output(evaluation)
    completed = evaluation.validity.verifier_completed
    if any(
        row.type == "verifier" and (not completed or row.details.get("reward_problem") is not None)
        for row in evaluation.scorers
    ):
        return f"{'produced a usable output, but ' if named else ''}was given no reward by the verifier"
    return "produced a usable output, which was wrong" if named else "was wrong"


def _names_an_output(evaluation: Evaluation) -> bool:
    """Whether a file was looked at; where none is named, nothing is known of what is usable."""
    return any(
        row.type == "rubric" or (row.type == "verifier" and row.details.get("output", "") is not None)
        for row in evaluation.scorers
    )


def _validity(evaluation: Evaluation, width: int) -> list[str]:
    """Whether the attempt was wrong or left nothing usable."""
    validity = evaluation.validity
    flags = [
        ("output parseable", "output not usable", validity.output_parseable),
        ("schema valid", "schema not matched", validity.schema_valid),
    ]
    if validity.output_parseable and not _names_an_output(evaluation):
        flags = [("no output named", "", True)]
    if any(row.type == "verifier" for row in evaluation.scorers):
        flags.append(("verifier completed", "verifier not completed", validity.verifier_completed))
    lines = _labelled("validity", ", ".join(yes if holds else no for yes, no, holds in flags), width)
    failed = evaluation.gates.objective.verdict is Verdict.FAIL
    if not validity.output_parseable:
        why = f": {validity.errors[0]}" if validity.errors else ""
        lines += _labelled("attempt", f"PRODUCED NOTHING USABLE{why}", width)
    elif failed and evaluation.reward is not None:
        lines += _labelled("attempt", _how_it_failed(evaluation), width)
    return lines


def _rows(rows: Sequence[ScorerResult], width: int, paint: Paint) -> list[str]:
    if not rows:
        return []
    cells = [
        (row.verdict.value, _cut(plain(row.name)), plain(row.type), _standing(row), _score(row.score))
        for row in rows
    ]
    widths = [
        max(len(title), *(len(line[column]) for line in cells)) for column, title in enumerate(_TITLES[:5])
    ]
    indent = sum(widths) + 2 * len(widths)
    beside = width - indent >= _MIN_REASON
    lines = [_line(_TITLES[:5], widths) + (f"  {_TITLES[5]}" if beside else "")]
    for row, cell in zip(rows, cells, strict=True):
        text = _line(cell, widths)
        text = paint(text[: widths[0]], row.verdict) + text[widths[0] :]
        if beside:
            first, *rest = _wrapped(row.reason, width - indent)
            lines += [f"{text}  {first}", *(f"{'':{indent}}{line}" for line in rest)]
        else:
            lines += [text, *(f"    {line}" for line in _wrapped(row.reason, width - 4))]
    return [line.rstrip() for line in lines]


def _line(cells: Sequence[str], widths: Sequence[int]) -> str:
    last = len(cells) - 1
    return "  ".join(
        f"{cell:>{width}}" if column == last else f"{cell:<{width}}"
        for column, (cell, width) in enumerate(zip(cells, widths, strict=True))
    )


def _worth_expanding(row: ScorerResult) -> bool:
    return row.verdict in (Verdict.FAIL, Verdict.ERROR) and bool(row.findings or row.output_tail)


def _expanded(row: ScorerResult, width: int, paint: Paint) -> list[str]:
    advisory = "" if row.required or row.gate else " (advisory)"
    lines = [f"{paint(row.verdict.value, row.verdict)} {plain(row.name)}{advisory}"]
    for finding in row.findings[:_MAX_FINDINGS]:
        lines += _finding(finding, width)
    if len(row.findings) > _MAX_FINDINGS:
        lines.append(f"  … and {len(row.findings) - _MAX_FINDINGS} more")
    if row.output_tail.strip():
        output = plain_lines(row.output_tail.rstrip("\n"))
        if len(output) > _MAX_OUTPUT_LINES:
            lines.append(f"  output, last {_MAX_OUTPUT_LINES} lines of what was kept:")
        else:
            lines.append("  output:")
        for line in output[-_MAX_OUTPUT_LINES:]:
            lines += [f"  | {part}".rstrip() for part in _chopped(line, width - 4)]
    return lines


def _finding(finding: Finding, width: int) -> list[str]:
    where = "" if finding.path is None else plain(render_path(finding.path))
    if where and finding.line is not None:
        where += f":{finding.line}"
    text = finding.message
    if where and not plain(text).startswith(where):
        text = f"{where}: {text}"
    wrapped = _wrapped(f"{text} [{finding.rule}]", width - 4)
    return [f"  {'- ' if number == 0 else '  '}{line}" for number, line in enumerate(wrapped)]


def _footer(evaluation: Evaluation, width: int) -> list[str]:
    lines: list[str] = []
    for warning in evaluation.warnings:
        lines += _labelled("warning", warning, width)
    provenance = evaluation.provenance
    how = f"adjudge {provenance.adjudge}, {provenance.duration_s:.2f} s"
    if provenance.sandbox is not None:
        how += f", sandbox {provenance.sandbox}"
    return [*lines, *_labelled("graded by", how, width)]


def _labelled(label: str, text: str, width: int) -> list[str]:
    first, *rest = _wrapped(text, width - 10)
    return [f"{label:<10}{first}", *(f"{'':10}{line}" for line in rest)]


def _wrapped(text: str, width: int) -> list[str]:
    return textwrap.wrap(plain(text), max(width, 20), break_on_hyphens=False) or [""]


def _chopped(line: str, width: int) -> Iterator[str]:
    """A line of output in pieces of the width: its spacing may matter, so words are not moved."""
    step = max(width, 20)
    for start in range(0, max(len(line), 1), step):
        yield line[start : start + step]


def _standing(row: ScorerResult) -> str:
    if row.gate:
        return "gate"
    return "required" if row.required else "advisory"


def _score(score: float | None) -> str:
    return "-" if score is None else f"{score:.2f}"


def _short(digest: str) -> str:
    return digest.removeprefix("sha256:")[:12]


def _cut(name: str) -> str:
    return name if len(name) <= _MAX_NAME else f"{name[: _MAX_NAME - 1]}…"
