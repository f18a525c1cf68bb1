"""`adjudge doctor`: print what this machine can do and what to install."""

from __future__ import annotations

import json

import click

from adjudge.cli.main import ExitCode
from adjudge.records.sandbox import SandboxSupport
from adjudge.workflows.doctor import Checkup, examine

__all__ = ["doctor", "render_checkup"]


@click.command()
@click.option("--json", "as_json", is_flag=True, help="Print the findings as a JSON document.")
def doctor(as_json: bool) -> int:
    """Say what this machine can do and what to install.

    Every sandbox is tried. The exit code is 0 when one that really isolates works, else 3.
    """
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
