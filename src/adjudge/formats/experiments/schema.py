"""The JSON Schema of experiment files (draft 2020-12), from the records that read them and every agent."""

from __future__ import annotations

from typing import Any

from adjudge import catalog
from adjudge.formats.experiments.experiment import (
    AgentFlags,
    CrossProduct,
    ExperimentHeader,
    SingleEntry,
    load_agent,
)
from adjudge.formats.tasks.schema import model_schema
from adjudge.records.task import RunLimits

__all__ = ["experiment_schema"]

Schema = dict[str, Any]


def experiment_schema() -> Schema:
    """The schema, with every installed agent.

    Raises:
        PluginError: An extension is broken; the message names its distribution.
    """
    defs: Schema = {}
    header = model_schema(ExperimentHeader, defs, "header", nullable=False)["properties"]
    names = catalog.names("agents")
    for name in names:
        defs[f"agent.{name}"] = _agent(name, defs)
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "adjudge experiment",
        "description": "Which agents are run on which tasks, with which models, and how often.",
        "type": "object",
        "properties": {
            **header,
            "matrix": {
                "description": "Every task with every agent, model and trial; or a list of single entries.",
                "anyOf": [
                    model_schema(CrossProduct, defs, "matrix", nullable=False),
                    {
                        "type": "array",
                        "items": model_schema(SingleEntry, defs, "matrix", nullable=False),
                        "minItems": 1,
                    },
                ],
            },
            "agents": {
                "description": "Agents with a set-up of their own, by the names the matrix uses.",
                "type": "object",
                "propertyNames": {"pattern": r"^[^\s:][^:]{0,99}$"},
                "additionalProperties": _any_agent(names),
            },
            "where": {
                "description": "Only runs whose task, agent, model, trial or tag is like this shell pattern.",
                "type": "object",
                "additionalProperties": {"type": ["string", "integer"]},
            },
            "limits": {
                **model_schema(RunLimits, defs, "limits"),
                "description": "Limits of every run; a scenario's own hold where they are tighter.",
            },
            "judge": {"description": "The judge of the whole experiment.", "type": "object"},
        },
        "required": ["matrix"],
        "additionalProperties": False,
        "$defs": defs,
    }


def _any_agent(names: list[str]) -> Schema:
    """An agent: its type decides which of the definitions holds; without one, its name does."""
    return {
        "type": "object",
        "properties": {"type": {"description": "Which agent.", "enum": names}},
        "allOf": [
            {
                "if": {"properties": {"type": {"const": name}}, "required": ["type"]},
                "then": {"$ref": f"#/$defs/agent.{name}"},
            }
            for name in names
        ],
    }


def _agent(name: str, defs: Schema) -> Schema:
    flags = model_schema(AgentFlags, defs, "agent", nullable=False)["properties"]
    own = model_schema(load_agent(name).Config, defs, f"agent.{name}")
    return {
        "type": "object",
        "properties": {**flags, "type": {"const": name}, **own.get("properties", {})},
        "required": own.get("required", []),
        "additionalProperties": False,
    }
