"""The JSON Schema of scenario files (draft 2020-12), for editors that complete and check while one writes.

Made from the same records that validate a scenario and from every installed scorer type. What a schema cannot
say (unique names, files that must exist, a threshold that nothing counts towards) stays with the loader.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from pydantic import BaseModel

from adjudge import catalog
from adjudge.formats.tasks.checking import other_names
from adjudge.formats.tasks.presets import INTEGRITY_LEVELS, PRESETS
from adjudge.formats.tasks.recipe import MAX_SCORERS, Flags, load_scorer
from adjudge.formats.tasks.scorerdocs import describe_scorer, one_paragraph
from adjudge.formats.tasks.sections import Expect, Exposed, Header, InstructionFile, WrittenSandbox
from adjudge.formats.tasks.turns import MAX_TURNS, WrittenChoice, WrittenTurn
from adjudge.records.task import RunLimits, Setup, SourceKind, WorkspaceSource

__all__ = ["model_schema", "scenario_schema"]

Schema = dict[str, Any]


def scenario_schema(scorers: Iterable[str] | None = None) -> Schema:
    """The schema, with the given scorer types or every installed one.

    Raises:
        PluginError: An extension is broken; the message names its distribution.
    """
    names = list(catalog.names("scorers") if scorers is None else scorers)
    defs: Schema = {"scorer": _any_scorer(names)}
    for name in names:
        defs[f"scorer.{name}"] = _scorer(name, defs)
    header = _model(Header, defs, "header", nullable=False)["properties"]
    line = {"if": {"required": ["preset"]}, "then": _preset(), "else": {"$ref": "#/$defs/scorer"}}
    lines = {"type": "array", "items": line, "minItems": 1, "maxItems": MAX_SCORERS}
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "adjudge scenario",
        "description": "What an agent is asked to do, on what, and how its attempt is graded.",
        "type": "object",
        "properties": {
            "name": header["name"],
            "tags": header["tags"],
            "instruction": {
                "description": "What the agent is asked to do: text, or a file that holds it.",
                "anyOf": [
                    {"type": "string", "pattern": r"\S"},
                    _model(InstructionFile, defs, "instruction"),
                ],
            },
            "turns": _turns(defs),
            "workspace": _workspace(defs),
            "setup": {
                "description": _model(Setup, defs, "setup")["description"],
                "anyOf": [{"type": "string", "pattern": r"\S"}, _model(Setup, defs, "setup")],
            },
            "solution": {
                "description": "A known good attempt, for the oracle agent: a patch, a folder of files, or a "
                "script that is run in the workspace.",
                "type": "string",
                "pattern": r"\S",
            },
            "scorers": {
                "description": "The checks. A type says whether it is required; no threshold unless written.",
                **lines,
            },
            "graders": {
                "description": "The checks, as weighted credit: none is required unless said, and the "
                "combined score must reach expect.pass_threshold (1.0). Instead of scorers.",
                **lines,
            },
            "integrity": {
                "description": "Adds the integrity preset to the checks: strict (each of them required), "
                "standard (advisory where its type is), or off.",
                "enum": list(INTEGRITY_LEVELS),
            },
            "expect": _model(Expect, defs, "expect"),
            "rollup": header["rollup"],
            "pass_threshold": header["pass_threshold"],
            "expected_outcome": header["expected_outcome"],
            "error_categories": header["error_categories"],
            "limits": _model(RunLimits, defs, "limits"),
            "sandbox": _sandbox(defs),
        },
        "additionalProperties": False,
        "oneOf": [{"required": ["scorers"]}, {"required": ["graders"]}],
        "dependentRequired": {
            "expect": ["graders"],
            "pass_threshold": ["scorers"],
            "setup": ["workspace"],
            "solution": ["workspace"],
            "turns": ["instruction"],
        },
        "$defs": defs,
    }


def _model(model: type[BaseModel], defs: Schema, prefix: str, *, nullable: bool = True) -> Schema:
    """A model's schema, with its own definitions moved to ours under a name that is theirs alone."""
    schema = model.model_json_schema(ref_template=f"#/$defs/{prefix}.{{model}}")
    for name, definition in schema.pop("$defs", {}).items():
        defs[f"{prefix}.{name}"] = _tidy(definition)
    schema = _tidy(schema)
    if not nullable:
        schema["properties"] = {name: _without_null(field) for name, field in schema["properties"].items()}
    assert isinstance(schema, dict)
    return schema


def model_schema(model: type[BaseModel], defs: Schema, prefix: str, *, nullable: bool = True) -> Schema:
    """A model's schema for a file of another kind; its own definitions go into `defs`."""
    return _model(model, defs, prefix, nullable=nullable)


def _tidy(value: Any) -> Any:
    """Without pydantic's made-up titles, and with descriptions on one line."""
    if isinstance(value, list):
        return [_tidy(item) for item in value]
    if not isinstance(value, dict):
        return value
    tidied: Schema = {}
    for key, item in value.items():
        if key == "title" and isinstance(item, str):
            continue
        if key == "properties":
            tidied[key] = {name: _tidy(field) for name, field in item.items()}
        else:
            tidied[key] = one_paragraph(item) if key == "description" else _tidy(item)
    return tidied


def _without_null(field: Schema) -> Schema:
    branches = [branch for branch in field.get("anyOf", ()) if branch.get("type") != "null"]
    if len(branches) != 1:
        return field
    rest = {key: value for key, value in field.items() if key not in ("anyOf", "default")}
    return {**branches[0], **rest}


def _workspace(defs: Schema) -> Schema:
    schema = _model(WorkspaceSource, defs, "workspace", nullable=False)

    def when(kind: SourceKind, then: Schema) -> Schema:
        return {"if": {"properties": {"source": {"const": kind.value}}, "required": ["source"]}, "then": then}

    def takes_no(*fields: str) -> Schema:
        return {"properties": dict.fromkeys(fields, False)}

    schema["allOf"] = [
        when(SourceKind.GIT, {"oneOf": [{"required": ["url"]}, {"required": ["path"]}], **takes_no("files")}),
        when(SourceKind.ARCHIVE, {"required": ["path"], **takes_no("url", "ref", "files")}),
        when(SourceKind.DIRECTORY, {"required": ["path"], **takes_no("url", "ref", "files")}),
        when(SourceKind.EMPTY, takes_no("url", "path", "ref", "subdir", "files")),
        when(SourceKind.FILES, {"required": ["files"], **takes_no("url", "path", "ref", "subdir")}),
    ]
    schema["description"] = "Where the workspace comes from. Left out in a recipe for workspaces that exist."
    return schema


def _turns(defs: Schema) -> Schema:
    turn = _model(WrittenTurn, defs, "turns")
    choice = _model(WrittenChoice, defs, "turns", nullable=False)
    choice["oneOf"] = [
        {"required": ["contains", "say"]},
        {"required": ["matches", "say"]},
        {"required": ["default"], "properties": dict.fromkeys(("contains", "matches", "say"), False)},
    ]
    defs["turns.WrittenChoice"] = choice
    return {
        "description": "What the user says after the instruction, each once, in a session.",
        "type": "array",
        "items": {"anyOf": [{"type": "string", "pattern": r"\S"}, turn]},
        "minItems": 1,
        "maxItems": MAX_TURNS,
    }


def _sandbox(defs: Schema) -> Schema:
    schema = _model(WrittenSandbox, defs, "sandbox", nullable=False)
    path = _model(Exposed, defs, "sandbox")["properties"]["source"]
    schema["properties"]["expose"]["items"] = {"anyOf": [path, schema["properties"]["expose"]["items"]]}
    return schema


def _preset() -> Schema:
    """A line that stands for several."""
    return {
        "type": "object",
        "properties": {
            "preset": {
                "description": "A set of checks with their defaults: adjudge scorers --preset NAME.",
                "enum": list(PRESETS),
            },
            "required": {"description": "Whether each of them is required.", "type": "boolean"},
        },
        "additionalProperties": False,
    }


def _any_scorer(names: list[str]) -> Schema:
    """A scorer line: the type decides which of the definitions holds."""
    return {
        "type": "object",
        "required": ["type"],
        "properties": {
            "type": {
                "description": "Which check.",
                "enum": names,
                "enumDescriptions": [describe_scorer(name).summary for name in names],
            }
        },
        "allOf": [
            {
                "if": {"properties": {"type": {"const": name}}, "required": ["type"]},
                "then": {"$ref": f"#/$defs/scorer.{name}"},
            }
            for name in names
        ],
    }


def _scorer(name: str, defs: Schema) -> Schema:
    scorer = load_scorer(name)
    flags = _model(Flags, defs, "flags", nullable=False)["properties"]
    flags["type"] = {"const": name}
    flags["required"]["default"] = scorer.required_by_default
    if scorer.advisory_only:
        del flags["weight"], flags["gate"], flags["primary"]
    own = _model(scorer.Config, defs, f"scorer.{name}")
    fields = own.get("properties", {})
    others = other_names(scorer.Config)
    spelled = [field for field in own.get("required", ()) if field in others.values()]
    schema: Schema = {
        "type": "object",
        "description": describe_scorer(name).summary,
        "properties": {**flags, **fields, **{other: fields[field] for other, field in others.items()}},
        "required": ["type", *(field for field in own.get("required", ()) if field not in spelled)],
        "additionalProperties": False,
    }
    for other, field in others.items():
        # Said this way round, an editor that finds neither asks for the field by its first name.
        either = {"if": {"required": [other]}, "then": {"properties": {field: False}}}
        if field in spelled:
            either["else"] = {"required": [field]}
        schema.setdefault("allOf", []).append(either)
    return schema
