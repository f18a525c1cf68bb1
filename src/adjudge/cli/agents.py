"""`adjudge agents`."""

from __future__ import annotations

import inspect
import json
import sys
from typing import Any, NamedTuple

import click

from adjudge import catalog
from adjudge.cli.console import width_of
from adjudge.cli.fields import render_field, wrapped
from adjudge.contracts import AgentConfig
from adjudge.formats.tasks.scorerdocs import FieldDocs, describe_fields, one_paragraph
from adjudge.workflows.agents import ready_agent_of

__all__ = ["agents"]


class _AgentDocs(NamedTuple):
    name: str
    summary: str
    """The first paragraph of its documentation."""
    needs: tuple[str, ...]
    """What has to be there before it can run."""
    distribution: str
    fields: tuple[FieldDocs, ...]


@click.command()
@click.argument("name", required=False)
@click.option("--json", "as_json", is_flag=True, help="Write the catalogue as JSON.")
def agents(name: str | None, as_json: bool) -> None:
    """List the agents that can be run and what each needs, or explain one: what it can be set up with."""
    if name is not None:
        docs = _describe(name)
        click.echo(_json(_document(docs)) if as_json else _page(docs))
        return
    every = [_describe(known) for known in catalog.names("agents")]
    if as_json:
        click.echo(_json({"schema": "adjudge.agents/1", "agents": [_document(docs) for docs in every]}))
    else:
        click.echo(_table(every))


def _describe(name: str) -> _AgentDocs:
    agent_class = catalog.load("agents", name)
    config: type[AgentConfig] = agent_class.Config
    fields = describe_fields(config)
    summary = one_paragraph((inspect.getdoc(agent_class) or "").partition("\n\n")[0])
    return _AgentDocs(name, summary, _needs(name, fields), catalog.distribution_of("agents", name), fields)


def _needs(name: str, fields: tuple[FieldDocs, ...]) -> tuple[str, ...]:
    required = [field.name for field in fields if field.required]
    if required:
        # What else it needs depends on what it is set up with.
        return (f"{' and '.join(required)}, in an experiment file",)
    needs = ready_agent_of(name, {}).needs
    said = [*(f"the program {program}" for program in needs.programs), *needs.credentials]
    if needs.network:
        said.append("the network")
    if needs.solution:
        said.append("a solution in the scenario")
    elif needs.workspace and not said:
        said.append("a workspace")
    return tuple(said)


def _json(value: Any) -> str:
    return json.dumps(value, indent=2, ensure_ascii=False)


def _document(docs: _AgentDocs) -> dict[str, Any]:
    fields = [
        {
            "name": field.name,
            "type": field.type,
            "required": field.required,
            "default": field.default,
            "description": field.description,
        }
        for field in docs.fields
    ]
    return {**docs._asdict(), "needs": list(docs.needs), "fields": fields}


def _table(every: list[_AgentDocs]) -> str:
    width = width_of(sys.stdout)
    name_width = max(len(docs.name) for docs in every)
    lines = []
    for docs in every:
        head = f"{docs.name:<{name_width}}  "
        indent = " " * len(head)
        foreign = "" if docs.distribution == "adjudge" else f" [{docs.distribution}]"
        lines.append(wrapped(docs.summary + foreign, head, indent, width))
        lines.append(wrapped(f"needs {', '.join(docs.needs) or 'nothing'}", indent, indent, width))
    lines += ["", "adjudge agents NAME explains one; adjudge run PATH --agent NAME runs it."]
    return "\n".join(lines)


def _page(docs: _AgentDocs) -> str:
    width = width_of(sys.stdout)
    lines = [
        f"{docs.name}: {docs.summary}",
        "",
        f"needs {', '.join(docs.needs) or 'nothing'}; of {docs.distribution}",
        "",
        "fields, in an experiment file" if docs.fields else "nothing to set",
    ]
    lines += [render_field(field, width) for field in docs.fields]
    return "\n".join(lines)
