"""Two sides compared, as a table, Markdown or JSON."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from adjudge.reports.columns import columns, cost, cut, number, percent, seconds
from adjudge.reports.json import escape_json
from adjudge.reports.plain import plain
from adjudge.stats.comparison import ComparedTask, Comparison, Side
from adjudge.stats.paired import PairedDifference

__all__ = [
    "comparison_document",
    "difference_in_words",
    "render_comparison",
    "render_comparison_json",
    "tasks_apart",
]

_MAX_TASKS = 20


def render_comparison(found: Comparison) -> str:
    """The verdict, the two sides, and the tasks they differ at."""
    sides = (found.first, found.second)
    titles = ["", "RUNS", "GRADED", "ERRORS", "PASS RATE", "SCORE", "COST/RUN", "TOKENS/RUN", "TIME/RUN"]
    blocks = [
        f"{plain(found.verdict)}.",
        "\n".join(columns(titles, [_side(side) for side in sides], right=frozenset(range(1, 9)))),
    ]
    if found.objective is not None:
        lines = [f"pass rate  {difference_in_words(found.objective, points=True)}"]
        if found.score is not None:
            lines.append(f"score      {difference_in_words(found.score, points=False)}")
        blocks.append("\n".join(lines))
    if apart := tasks_apart(found.tasks):
        rows = [
            [cut(task.name, 48), _passes(task.first), _passes(task.second), f"{100 * task.difference:+.0f}"]
            for task in apart[:_MAX_TASKS]
        ]
        heads = ["TASK", cut(found.first.label, 24), cut(found.second.label, 24), "POINTS"]
        lines = columns(heads, rows, right=frozenset({1, 2, 3}))
        if len(apart) > _MAX_TASKS:
            lines.append(f"… and {len(apart) - _MAX_TASKS} more")
        blocks.append("\n".join(["Tasks they differ at:", *lines]))
    for side, names in ((found.first, found.only_first), (found.second, found.only_second)):
        if names:
            listed = ", ".join(cut(name, 32) for name in names[:5]) + (", …" if len(names) > 5 else "")
            count = f"{len(names)} task{'s' if len(names) != 1 else ''}"
            blocks.append(f"left out, only {plain(side.label)} has a grading: {count}: {listed}")
    return "\n\n".join(blocks) + "\n"


def _side(side: Side) -> list[str]:
    return [
        cut(side.label, 40),
        str(side.runs),
        str(side.graded),
        str(side.errors),
        percent(side.pass_rate),
        number(side.mean_score, 3),
        cost(side.mean_cost_usd),
        "-" if side.mean_tokens is None else f"{side.mean_tokens:,.0f}",
        seconds(side.mean_wall_s),
    ]


def difference_in_words(found: PairedDifference, *, points: bool) -> str:
    """How far apart two sides are, with the interval and what it rests on; `points`: of percent."""
    scale, unit, digits = (100, " points", 1) if points else (1, "", 3)
    text = f"{scale * found.mean:+.{digits}f}{unit}"
    if found.low is not None and found.high is not None:
        text += f" (95% interval {scale * found.low:+.{digits}f} to {scale * found.high:+.{digits}f}"
        text += f", p = {found.p_value:.3g})" if found.p_value is not None else ")"
    return f"{text}, {found.pairs} tasks: {found.higher} up, {found.lower} down"


def tasks_apart(tasks: Sequence[ComparedTask]) -> list[ComparedTask]:
    """The tasks two sides differ at, the most first."""
    return sorted(
        (task for task in tasks if task.difference), key=lambda task: (-abs(task.difference), task.name)
    )


def _passes(cell: Any) -> str:
    return f"{cell.passed}/{cell.graded}"


def render_comparison_json(found: Comparison) -> str:
    """The comparison as a document."""
    return escape_json(json.dumps(comparison_document(found), indent=2, ensure_ascii=False)) + "\n"


def comparison_document(found: Comparison) -> dict[str, Any]:
    """What the document says."""
    return {
        "schema": "adjudge.comparison/1",
        "verdict": found.verdict,
        "first": found.first._asdict(),
        "second": found.second._asdict(),
        "objective": _document(found.objective),
        "score": _document(found.score),
        "tasks": [
            {
                "name": task.name,
                "digest": task.digest,
                "first": {"passed": task.first.passed, "graded": task.first.graded},
                "second": {"passed": task.second.passed, "graded": task.second.graded},
                "difference": task.difference,
            }
            for task in found.tasks
        ],
        "only_first": list(found.only_first),
        "only_second": list(found.only_second),
    }


def _document(found: PairedDifference | None) -> dict[str, Any] | None:
    return None if found is None else {**found._asdict(), "shown": found.shown}
