"""What many runs add up to, as a table, Markdown, JSON or CSV."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Callable, Sequence
from typing import Any

from adjudge.reports.columns import columns, cost, cut, number, percent, seconds
from adjudge.reports.json import escape_json
from adjudge.reports.plain import plain
from adjudge.reports.runs import agent_of
from adjudge.reports.sheets import csv_cell
from adjudge.stats.experiments import Cell, Group, Rate, Report

__all__ = ["REPORT_FORMATS", "SECTIONS", "render_report"]

SECTIONS = ("agents", "tasks", "scorers")
_MAX_NAME = 48
_MAX_SCORERS = 10

Table = tuple[list[str], list[list[str]]]


def render_report(
    report: Report, format_: str, *, title: str, notes: Sequence[str] = (), section: str = ""
) -> str:
    """A report in one of `REPORT_FORMATS`.

    Args:
        report: What to show.
        format_: How.
        title: What it is of.
        notes: What a reader should know besides.
        section: Only that one of `SECTIONS`; for CSV, which has one table, the first when left out.
    """
    return REPORT_FORMATS[format_](report, title, notes, section)


def _tables(report: Report, section: str) -> list[tuple[str, str, Table]]:
    tables = [
        ("agents", "Agents and models", _agents(report)),
        ("tasks", "Tasks: passed of graded", _tasks(report)),
        ("scorers", "Scorers that fail most", _scorers(report)),
    ]
    return [item for item in tables if section in ("", item[0])]


def _agents(report: Report) -> Table:
    k = report.k
    titles = [
        "AGENT", "RUNS", "GRADED", "ERRORS", "PASS RATE", "95% INTERVAL", "SCORE", "PASS@1",
        *([f"PASS@{k}", f"PASS^{k}"] if k > 1 else []),
        "JUDGE", "COST", "PER RUN", "TOKENS", "TIME",
    ]  # fmt: skip
    rows = []
    for group in report.groups:
        repeated = [percent(group.pass_at(k)), percent(group.pass_hat(k))] if k > 1 else []
        rows.append(
            [
                cut(agent_of(group.agent, group.model), _MAX_NAME),
                str(group.count("runs")),
                str(group.count("graded")),
                str(group.count("errors")),
                percent(group.objective.share),
                _interval(group.objective),
                number(group.score.mean, 3),
                percent(group.pass_at(1)),
                *repeated,
                percent(group.judge.share),
                _known(group, cost),
                cost(group.cost_usd.mean),
                "-" if group.tokens.mean is None else f"{group.tokens.mean:,.0f}",
                seconds(group.wall_s.mean),
            ]
        )
    return titles, rows


def _known(group: Group, shown: Callable[[float | None], str]) -> str:
    """A total; with a plus where some runs did not say what they cost."""
    if not group.cost_usd.known:
        return "-"
    return shown(group.cost_usd.total) + ("+" if group.cost_usd.known < group.count("runs") else "")


def _interval(rate: Rate) -> str:
    if not rate.total:
        return "-"
    low, high = rate.interval
    return f"{100 * low:.1f}–{100 * high:.1f}%"  # noqa: RUF001  # a range is written with a dash of its own


def _tasks(report: Report) -> Table:
    titles = ["TASK", *(cut(agent_of(group.agent, group.model), 24) for group in report.groups)]
    return titles, [[cut(row.name, _MAX_NAME), *map(_cell, row.cells)] for row in report.tasks]


def _cell(cell: Cell | None) -> str:
    if cell is None:
        return ""
    more = [
        f"{count} {what}"
        for count, what in (
            (cell.errors, "error" if cell.errors == 1 else "errors"),
            (cell.not_applicable, "NA"),
            (cell.unfinished, "to go"),
        )
        if count
    ]
    return f"{cell.passed}/{cell.graded}" + (f" ({', '.join(more)})" if more else "")


def _scorers(report: Report) -> Table:
    return ["SCORER", "TYPE", "FAILED", "OF", "RATE", "ERRORS", "TASKS"], [
        [
            cut(item.name, _MAX_NAME),
            cut(item.type, 24),
            str(item.failed),
            str(item.graded),
            percent(item.failed / item.graded if item.graded else None),
            str(item.errors),
            str(item.tasks),
        ]
        for item in report.scorers[:_MAX_SCORERS]
    ]


def _as_table(report: Report, title: str, notes: Sequence[str], section: str) -> str:
    blocks = [plain(title)]
    for name, heading, (titles, rows) in _tables(report, section):
        if rows:
            right = frozenset(range(1, len(titles))) - ({1} if name == "scorers" else set())
            blocks.append("\n".join([f"{heading}:", *columns(titles, rows, right=right)]))
    blocks += [plain(note) for note in notes]
    return "\n\n".join(blocks) + "\n"


def _as_markdown(report: Report, title: str, notes: Sequence[str], section: str) -> str:
    parts = [f"# {_marked(plain(title))}"]
    for _, heading, (titles, rows) in _tables(report, section):
        if rows:
            lines = [titles, ["---"] + ["---:"] * (len(titles) - 1), *rows]
            table = "\n".join(f"| {' | '.join(_marked(cell) for cell in line)} |" for line in lines)
            parts.append(f"## {heading}\n\n{table}")
    parts += [_marked(plain(note)) for note in notes]
    return "\n\n".join(parts) + "\n"


def _marked(text: str) -> str:
    """Text in which nothing is markup: names of tasks and scorers are data."""
    if re.fullmatch(r"-{3,}:?", text):
        return text
    return re.sub(r"([\\`*_\[\]<>|~#!&])", r"\\\1", text)


def _as_json(report: Report, title: str, notes: Sequence[str], section: str) -> str:
    k = report.k
    document: dict[str, Any] = {
        "schema": "adjudge.report/1",
        "title": title,
        "runs": report.runs,
        "k": k,
        "notes": list(notes),
    }
    if section in ("", "agents"):
        document["agents"] = [_group(group, k) for group in report.groups]
    if section in ("", "tasks"):
        document["tasks"] = [
            {
                "name": row.name,
                "digest": row.digest,
                "results": [
                    {"agent": group.agent, "model": group.model, "graded": cell.graded, **vars(cell)}
                    for group, cell in zip(report.groups, row.cells, strict=True)
                    if cell is not None
                ],
            }
            for row in report.tasks
        ]
    if section in ("", "scorers"):
        document["scorers"] = [item._asdict() for item in report.scorers]
    return escape_json(json.dumps(document, indent=2, ensure_ascii=False)) + "\n"


def _group(group: Group, k: int) -> dict[str, Any]:
    objective, judge = group.objective, group.judge
    return {
        "agent": group.agent,
        "model": group.model,
        **{
            what: group.count(what)
            for what in ("runs", "graded", "passed", "failed", "errors", "not_applicable", "unfinished")
        },
        "pass_rate": objective.share,
        "pass_rate_low": objective.interval[0] if objective.total else None,
        "pass_rate_high": objective.interval[1] if objective.total else None,
        "mean_score": group.score.mean,
        "pass_at_1": group.pass_at(1),
        "k": k,
        "pass_at_k": group.pass_at(k),
        "pass_hat_k": group.pass_hat(k),
        "tasks": len(group.cells),
        "tasks_with_fewer_trials": group.left_out(k),
        "judge_pass_rate": judge.share,
        "judged": judge.total,
        "judge_errors": group.judge_errors,
        "cost_usd": group.cost_usd.total if group.cost_usd.known else None,
        "mean_cost_usd": group.cost_usd.mean,
        "cost_known": group.cost_usd.known,
        "tokens": int(group.tokens.total) if group.tokens.known else None,
        "mean_tokens": group.tokens.mean,
        "tokens_known": group.tokens.known,
        "wall_s": group.wall_s.total if group.wall_s.known else None,
        "mean_wall_s": group.wall_s.mean,
    }


def _as_csv(report: Report, title: str, notes: Sequence[str], section: str) -> str:
    rows: list[dict[str, Any]]
    if section == "tasks":
        rows = [
            {"task": row.name, "digest": row.digest, "agent": group.agent, "model": group.model,
             "graded": cell.graded, **vars(cell)}
            for row in report.tasks
            for group, cell in zip(report.groups, row.cells, strict=True)
            if cell is not None
        ]  # fmt: skip
    elif section == "scorers":
        rows = [item._asdict() for item in report.scorers]
    else:
        rows = [_group(group, report.k) for group in report.groups]
    out = io.StringIO()
    if rows:
        writer = csv.DictWriter(out, list(rows[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows({key: csv_cell(value) for key, value in row.items()} for row in rows)
    return out.getvalue()


REPORT_FORMATS: dict[str, Callable[[Report, str, Sequence[str], str], str]] = {
    "table": _as_table,
    "md": _as_markdown,
    "json": _as_json,
    "csv": _as_csv,
}
"""Name → renderer."""
