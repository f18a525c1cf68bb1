"""Runs as people read them: a line each in a list, one with everything that is known of it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from adjudge.records.annotation import Annotation
from adjudge.records.evaluation import Evaluation
from adjudge.records.listing import RunSummary
from adjudge.records.run import Run
from adjudge.records.score import Verdict
from adjudge.reports.columns import columns, cost, cut, minute, number, seconds, short_id
from adjudge.reports.json import escape_json
from adjudge.reports.plain import plain
from adjudge.reports.table import Paint, render_table

__all__ = ["agent_of", "render_run", "render_runs", "run_document", "runs_document"]

_TITLES = (
    "RUN", "STARTED", "TASK", "AGENT", "TRIAL", "STATUS", "OBJECTIVE", "JUDGE", "RUN GATE", "SCORE", "COST",
)  # fmt: skip
_RIGHT = frozenset({4, 9, 10})
_GATES = (6, 7, 8)
_STATUSES = {"infrastructure_fault": "fault"}


def agent_of(agent: str, model: str | None) -> str:
    """An agent as it is asked for: with its model, where it has one."""
    return agent if model is None else f"{agent}:{model}"


def render_runs(
    rows: Sequence[RunSummary], *, width: int = 100, paint: Paint = lambda word, verdict: word
) -> str:
    """A line per run."""
    # What the other columns take at their widest; task and agent share the rest.
    room = max(width - 100, 0)
    lines = columns(
        _TITLES,
        [
            (
                short_id(row.id),
                minute(row.started_at),
                cut(row.task_name, 20 + room // 2),
                cut(agent_of(row.agent, row.model), 20 + room // 2),
                str(row.trial),
                _STATUSES.get(row.status, row.status),
                row.objective or "-",
                row.judge or "-",
                row.run_gate or "-",
                number(row.score),
                cost(row.cost_usd),
            )
            for row in rows
        ],
        right=_RIGHT,
    )
    return (
        "\n".join(
            [lines[0], *(_painted(line, row, paint) for line, row in zip(lines[1:], rows, strict=True))]
        )
        + "\n"
    )


def _painted(line: str, row: RunSummary, paint: Paint) -> str:
    """The line with the objective verdict in its colour; names cannot be mistaken for it."""
    if row.objective is None:
        return line
    before, found, after = line.rpartition(f"  {row.objective:<9}  {row.judge or '-'}")
    if not found:
        return line
    painted = paint(row.objective, Verdict(row.objective))
    return f"{before}  {painted}{found[2 + len(row.objective) :]}{after}"


def runs_document(rows: Sequence[RunSummary], *, more: bool) -> str:
    """The list as a JSON document; `next` is what `--before` continues with."""
    document = {
        "schema": "adjudge.runs/1",
        "runs": [_summary(row) for row in rows],
        "next": rows[-1].id if more and rows else None,
    }
    return escape_json(json.dumps(document, indent=2, ensure_ascii=False, default=str)) + "\n"


def _summary(row: RunSummary) -> dict[str, Any]:
    listed = row._asdict()
    del listed["seq"]
    for moment in ("started_at", "ended_at", "evaluated_at"):
        listed[moment] = None if listed[moment] is None else listed[moment].isoformat()
    return listed


def run_document(run: Run, evaluations: Sequence[Evaluation], current: str | None) -> str:
    """A run and every evaluation of it as a JSON document."""
    parts = (
        '"schema":"adjudge.run/1"',
        f'"run":{run.model_dump_json()}',
        f'"current_evaluation":{json.dumps(current)}',
        f'"evaluations":[{",".join(item.to_json(indent=None) for item in evaluations)}]',
    )
    document = json.dumps(json.loads(f"{{{','.join(parts)}}}"), indent=2, ensure_ascii=False)
    return escape_json(document) + "\n"


def render_run(
    run: Run,
    evaluations: Sequence[Evaluation],
    current: Evaluation | None,
    *,
    width: int = 100,
    paint: Paint = lambda word, verdict: word,
) -> str:
    """Everything that is known of a run: where it stands, the evaluation that counts, the others."""
    blocks = ["\n".join(_head(run)) + "\n"]
    if current is None:
        blocks.append("not graded\n")
    else:
        blocks.append(render_table(current, width=width, paint=paint))
        if current.annotations:
            blocks.append("\n".join(["annotations", *map(_review, current.annotations)]) + "\n")
    if len(evaluations) > 1:
        blocks.append(_others(evaluations, current))
    return "\n".join(blocks)


def _head(run: Run) -> list[str]:
    lines = [
        f"{'run':<12}{run.id}",
        f"{'task':<12}{plain(run.task.name)}  {short_id(run.task.digest.removeprefix('sha256:'))}",
        f"{'agent':<12}{plain(agent_of(run.agent.name, run.model))}  trial {run.trial}",
    ]
    if run.experiment_id is not None:
        lines.append(f"{'experiment':<12}{run.experiment_id}")
    status = run.status.value.replace("_", " ")
    if run.fault is not None:
        status += f": {plain(run.fault)}"
    lines.append(f"{'status':<12}{status}")
    if run.started_at is not None:
        ended = f" to {minute(run.ended_at)}" if run.ended_at is not None else ""
        lines.append(f"{'started':<12}{minute(run.started_at)}{ended} UTC")
    outcome = run.attempt.outcome if run.attempt is not None else None
    if outcome is not None:
        said = f": {plain(outcome.reason)}" if outcome.reason else ""
        code = "" if outcome.exit_code is None else f", exit code {outcome.exit_code}"
        lines.append(f"{'outcome':<12}{outcome.status.value}{code}{said}")
        usage = outcome.usage
        counted = {
            "in": usage.input_tokens,
            "out": usage.output_tokens,
            "cache read": usage.cache_read_tokens,
            "cache write": usage.cache_write_tokens,
        }
        tokens = ", ".join(f"{count:,} {kind}" for kind, count in counted.items() if count is not None)
        calls = "unknown" if usage.tool_calls is None else f"{usage.tool_calls:,}"
        price = "unknown" if usage.cost_usd is None else cost(usage.cost_usd)
        used = f"tokens {tokens or 'unknown'}, tool calls {calls}, cost {price}"
        lines.append(f"{'usage':<12}{seconds(outcome.wall_s)}, {used}")
    lines += [f"{'tag':<12}{plain(key)}={plain(value)}" for key, value in sorted(run.tags.items())]
    return lines


def _review(review: Annotation) -> str:
    notes = f": {plain(review.notes)}" if review.notes else ""
    kinds = f" [{', '.join(map(plain, review.categories))}]" if review.categories else ""
    return f"  {minute(review.timestamp)}  {review.judgment.value}  {plain(review.reviewer_id)}{kinds}{notes}"


def _others(evaluations: Sequence[Evaluation], current: Evaluation | None) -> str:
    lines = columns(
        ("EVALUATION", "GRADED", "OBJECTIVE", "JUDGE", "RUN", "SCORE", "TASK", ""),
        [
            (
                short_id(item.id),
                minute(item.started_at),
                item.gates.objective.verdict.value,
                item.gates.judge.verdict.value,
                item.gates.run.verdict.value,
                number(item.score),
                short_id(item.task.digest.removeprefix("sha256:")),
                "current" if current is not None and item.id == current.id else "",
            )
            for item in evaluations
        ],
        right=frozenset({5}),
    )
    return "\n".join(lines) + "\n"
