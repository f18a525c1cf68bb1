"""What `adjudge doctor TASK…` prints about each task."""

from __future__ import annotations

import importlib
import json
from collections.abc import Sequence

import click

from adjudge.cli.backends import backend_chooser
from adjudge.cli.console import note
from adjudge.cli.main import ExitCode
from adjudge.reports.plain import plain
from adjudge.settings import load_settings
from adjudge.tasks.freeze import FrozenTask
from adjudge.tasks.lookup import find_task
from adjudge.workflows.fitness.examining import FitnessReport, examine_task, has_verifier

__all__ = ["examine_tasks", "render_report"]


def examine_tasks(
    tasks: Sequence[str],
    *,
    suite_repeats: int,
    verifier_repeats: int,
    sandbox: str | None,
    as_json: bool,
) -> int:
    """Examine tasks one after another; the worst of them decides the exit code."""
    settings = load_settings()
    backend = backend_chooser(sandbox, settings)
    codes: list[int] = []
    for number, task in enumerate(tasks):
        if number and not as_json:
            click.echo()
        if not _has_verifier(task):
            if suite_repeats < 2:
                raise click.UsageError("--repeat: 1 shows nothing about tests; give at least 2")
            # Loaded here: most calls are about one kind of task.
            stability = importlib.import_module("adjudge.cli.stability")
            codes.append(stability.examine_scenario(task, suite_repeats, sandbox, as_json=as_json))
            continue
        report = examine_task(
            task,
            repeats=verifier_repeats,
            jobs=settings.jobs,
            state_dir=settings.state_dir,
            backend=backend,
        )
        for warning in report.warnings:
            note(f"warning: {warning}")
        click.echo(_document(report) if as_json else render_report(report))
        codes.append(ExitCode.PASSED if report.fit else ExitCode.FAILED)
    return next((code for code in (ExitCode.FAILED, ExitCode.UNGRADED) if code in codes), ExitCode.PASSED)


def _has_verifier(text: str) -> bool:
    found = find_task(text, load_settings().state_dir)
    return has_verifier(found.task.scenario if isinstance(found, FrozenTask) else found.scenario)


def _document(report: FitnessReport) -> str:
    document = {
        "schema": "adjudge.fitness/1",
        "task": {"name": report.task.name, "digest": report.task.digest},
        "fit": report.fit,
        "checks": [
            {"name": check.name, "status": check.status.value.lower(), "detail": check.detail}
            for check in report.checks
        ],
    }
    # One line each, so that several tasks are a stream that can be read as it comes.
    return json.dumps(document, ensure_ascii=False)


def render_report(report: FitnessReport) -> str:
    """The table for people."""
    width = max(len(check.name) for check in report.checks)
    lines = [f"task {plain(report.task.name)} {report.task.digest}"]
    lines += [
        f"  {check.status.value:<7}  {check.name:<{width}}  {plain(check.detail)}" for check in report.checks
    ]
    lines.append("fit to grade with" if report.fit else "NOT fit to grade with")
    return "\n".join(lines)
