"""`adjudge doctor`: print what this machine can do and what to install."""

from __future__ import annotations

import importlib
import json

import click

from adjudge.cli.main import ExitCode
from adjudge.records.sandbox import SandboxSupport
from adjudge.workflows.doctor import Checkup, examine

__all__ = ["doctor", "render_checkup"]

_REPEATS = 5
_VERIFIER_REPEATS = 3


@click.command()
@click.argument("tasks", nargs=-1, metavar="[TASK]...")
@click.option(
    "--repeat",
    "repeats",
    type=click.IntRange(1, 1000),
    metavar="N",
    help=f"With TASK: how often suites ({_REPEATS} when left out) or verifiers ({_VERIFIER_REPEATS}) run.",
)
@click.option(
    "--sandbox", metavar="BACKEND", help="With TASK: which sandbox runs its tests; auto when left out."
)
@click.option("--json", "as_json", is_flag=True, help="Print the findings as a JSON document.")
def doctor(tasks: tuple[str, ...], repeats: int | None, sandbox: str | None, as_json: bool) -> int:
    """Say what this machine can do and what to install; with TASK, whether it is fit to grade with.

    Every sandbox is tried. The exit code is 0 when one that really isolates works, else 3.

    TASK is a task directory, a scenario (a file, or a folder with an adjudge.yaml), a frozen task's folder or
    its digest. One that is graded by a verifier is tried out: its reference solution must get full reward, an
    untouched workspace must fail, repeats must agree, golden outputs must score as named; further checks look
    for what often goes wrong. The exit code is 1 when a task is not fit.

    Of any other TASK the tests of its recipe are run several times on the baseline. Those that do not end the
    same way each time are recorded beside the task, and adjudge grade leaves them out. The exit code is 1
    when there are any, 3 when there are none but a suite had no test that could be run, else 0.
    """
    if tasks:
        # Loaded here: it runs tests and verifiers, which a look at the machine does not.
        fitness = importlib.import_module("adjudge.cli.fitness")
        code: int = fitness.examine_tasks(
            tasks,
            suite_repeats=repeats or _REPEATS,
            verifier_repeats=repeats or _VERIFIER_REPEATS,
            sandbox=sandbox,
            as_json=as_json,
        )
        return code
    if repeats is not None or sandbox is not None:
        raise click.UsageError("--repeat and --sandbox go with a TASK whose tests are run")
    checkup = examine()
    print(_document(checkup) if as_json else render_checkup(checkup))
    return ExitCode.PASSED if checkup.automatic is not None else ExitCode.UNGRADED


def _document(checkup: Checkup) -> str:
    return json.dumps(
        {
            "schema": "adjudge.doctor/1",
            "versions": dict(checkup.versions),
            "sandboxes": [support.model_dump(mode="json") for support in checkup.sandboxes],
            "automatic": checkup.automatic,
        },
        indent=2,
        ensure_ascii=False,
    )


def render_checkup(checkup: Checkup) -> str:
    """The findings for people."""
    lines = [", ".join(f"{name} {version}" for name, version in checkup.versions.items()), ""]
    for support in checkup.sandboxes:
        lines += [*_render(support), ""]
    chosen = checkup.automatic or "nothing: no sandbox that isolates works here"
    lines.append(f"--sandbox auto takes {chosen}")
    return "\n".join(lines)


def _render(support: SandboxSupport) -> list[str]:
    state = "works" if support.available else "does not work"
    lines = [f"{support.backend}: {state}: {support.reason}"]
    width = max((len(name) for name in support.facts), default=0)
    lines += [f"  {name:<{width}}  {value}" for name, value in support.facts.items()]
    if support.hint is not None:
        lines.append(f"  hint: {support.hint}")
    return lines
