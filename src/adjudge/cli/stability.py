"""What `adjudge doctor SCENARIO` and `adjudge seed --repeat` say about unstable tests."""

from __future__ import annotations

import importlib
import json
from typing import Any

import click

from adjudge.cli.backends import backend_chooser
from adjudge.cli.console import note
from adjudge.cli.main import ExitCode
from adjudge.records.stability import SuiteStability, UnstableTest
from adjudge.reports.plain import plain
from adjudge.settings import load_settings
from adjudge.tasks.stability import Measured

__all__ = ["describe_stability", "examine_scenario", "render_stability"]


def examine_scenario(scenario: str, repeats: int, sandbox: str | None, *, as_json: bool) -> int:
    """Run the tests of a scenario several times, and print what that shows."""
    settings = load_settings()
    # Loaded here: `adjudge seed` needs only what is below.
    examine_tests = importlib.import_module("adjudge.workflows.stability").examine_tests
    backend = backend_chooser(sandbox, settings)
    examined = examine_tests(scenario, repeats=repeats, state_dir=settings.state_dir, backend=backend)
    for warning in examined.warnings:
        note(f"warning: {warning}")
    measured: Measured = examined.measured
    if as_json:
        document = {
            "schema": "adjudge.stability/1",
            "task": {"name": examined.task.name, "digest": examined.task.digest},
            **describe_stability(measured),
        }
        click.echo(json.dumps(document, indent=2, ensure_ascii=False))
    else:
        click.echo(f"task {plain(examined.task.name)} {examined.task.digest}\n{render_stability(measured)}")
    suites = measured.measurement.suites
    if any(suite.unstable for suite in suites):
        return ExitCode.FAILED
    return ExitCode.PASSED if all(suite.tests for suite in suites) else ExitCode.UNGRADED


def describe_stability(measured: Measured) -> dict[str, Any]:
    """The measurement as data, with all that is recorded of the task by now."""
    known = measured.record.unstable()
    return {
        **measured.measurement.model_dump(mode="json"),
        "left_out": {scorer: sorted(ids) for scorer, ids in known.items()},
        "recorded_in": str(measured.file),
    }


def render_stability(measured: Measured) -> str:
    """The measurement for people."""
    measurement = measured.measurement
    lines: list[str] = []
    for suite in measurement.suites:
        lines += _render(suite, measurement.repeats)
    now = {(suite.scorer, test.id) for suite in measurement.suites for test in suite.unstable}
    earlier = [
        (scorer, id_)
        for scorer, ids in measured.record.unstable().items()
        for id_ in sorted(ids)
        if (scorer, id_) not in now
    ]
    lines += [f"{plain(scorer)}: unstable in an earlier measurement: {plain(id_)}" for scorer, id_ in earlier]
    lines.append(f"recorded in {measured.file}; adjudge grade leaves unstable tests out")
    return "\n".join(lines)


def _render(suite: SuiteStability, repeats: int) -> list[str]:
    stable = f"{suite.tests:,} seen in {repeats:,} runs on the baseline, {len(suite.unstable):,} unstable"
    lines = [f"{plain(suite.scorer)}: tests: {stable}"]
    if suite.broken_off:
        lines.append(
            f"  {suite.broken_off:,} of {repeats:,} runs did not reach their end: {plain(suite.problem)}"
        )
    return lines + [f"  {plain(test.id)}: {_ended(test)}" for test in suite.unstable]


def _ended(test: UnstableTest) -> str:
    return ", ".join(f"{outcome} {number:,}" for outcome, number in test.outcomes.items())
