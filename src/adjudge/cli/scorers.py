"""`adjudge scorers`."""

from __future__ import annotations

import dataclasses
import json
import sys
import textwrap
from typing import Any

import click

from adjudge import catalog
from adjudge.cli.console import width_of
from adjudge.cli.fields import render_field, wrapped
from adjudge.formats.tasks.messages import did_you_mean
from adjudge.formats.tasks.presets import PRESETS
from adjudge.formats.tasks.recipe import Flags
from adjudge.formats.tasks.scorerdocs import ScorerDocs, describe_fields, describe_scorer

__all__ = ["scorers"]


@click.command()
@click.argument("type_", metavar="[TYPE]", required=False)
@click.option("--preset", metavar="NAME", help="List what a preset stands for.")
@click.option("--json", "as_json", is_flag=True, help="Write the catalogue as JSON.")
def scorers(type_: str | None, preset: str | None, as_json: bool) -> None:
    """List the checks a recipe can use, or explain one: its fields, defaults and an example."""
    if preset is not None and type_ is not None:
        raise click.UsageError("--preset lists several; leave out TYPE")
    if preset is not None and preset not in PRESETS:
        raise click.BadParameter(
            f"no preset is called {preset[:60]!r}; {did_you_mean(preset, PRESETS)}", param_hint="--preset"
        )
    if type_ is not None:
        docs = describe_scorer(type_)
        click.echo(_json(_document(docs)) if as_json else _page(docs))
        return
    names = catalog.names("scorers") if preset is None else PRESETS[preset]
    every = [describe_scorer(name) for name in names]
    if as_json:
        click.echo(_json({"schema": "adjudge.scorers/1", "scorers": [_document(docs) for docs in every]}))
    else:
        click.echo(_table(every))


def _json(value: Any) -> str:
    return json.dumps(value, indent=2, ensure_ascii=False)


def _document(docs: ScorerDocs) -> dict[str, Any]:
    return dataclasses.asdict(docs)


def _table(every: list[ScorerDocs]) -> str:
    width = width_of(sys.stdout)
    name_width = max(len(docs.name) for docs in every)
    standing_width = max(len(docs.standing) for docs in every)
    lines = []
    for docs in every:
        head = f"{docs.name:<{name_width}}  {docs.standing:<{standing_width}}  "
        foreign = "" if docs.distribution == "adjudge" else f" [{docs.distribution}]"
        lines.append(wrapped(docs.summary + foreign, head, " " * len(head), width))
    lines.append("")
    lines.append("adjudge scorers TYPE explains one.")
    return "\n".join(lines)


def _page(docs: ScorerDocs) -> str:
    width = width_of(sys.stdout)
    lines = [
        f"{docs.name}: {docs.summary}",
        "",
        f"{_standing(docs)}; version {docs.version} of {docs.distribution}",
        "",
        "fields of its own" if docs.fields else "no fields of its own",
    ]
    lines += [render_field(field, width) for field in docs.fields]
    lines += ["", "fields of every scorer"]
    unusable = {"weight", "gate"} if docs.advisory_only else set()
    lines += [render_field(field, width) for field in describe_fields(Flags) if field.name not in unusable]
    for title, text in docs.sections.items():
        lines += ["", title.lower(), textwrap.indent(text, "  ")]
    return "\n".join(lines)


def _standing(docs: ScorerDocs) -> str:
    if docs.advisory_only:
        return "never counted and never a gate, whatever the recipe says"
    return f"{docs.standing} under scorers, unless the recipe says otherwise"
