"""What a scorer type says about itself, as data: for `adjudge scorers`, the schema and the reference.

Read from the class alone: the sections of its docstring, and the fields of its `Config` with their types,
defaults and the string under each.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from pydantic import BaseModel

from adjudge import catalog
from adjudge.formats.tasks.recipe import load_scorer

__all__ = [
    "FieldDocs",
    "FieldKind",
    "ScorerDocs",
    "describe_fields",
    "describe_scorer",
    "docstring_sections",
    "one_paragraph",
]

_SECTION = re.compile(r"^(Measures|Evidence|How it is fooled|Example):\s*$", re.MULTILINE)
_FENCE = re.compile(r"^```\w*\n(.*?)\n?```\s*\Z", re.DOTALL)


class FieldKind(StrEnum):
    """What somebody types into a field."""

    TEXT = "text"
    TEXTS = "texts"
    """Any number of texts."""
    NUMBER = "number"
    INTEGER = "integer"
    SWITCH = "switch"
    CHOICE = "choice"
    ANY = "any"
    """Anything else: mappings, lists of them, several kinds at once."""


@dataclass(frozen=True, slots=True)
class FieldDocs:
    """One field of a scorer type."""

    name: str
    type: str
    """In the words of the file: `text`, `list of text`, `number, 1 to 3600`."""
    required: bool
    default: Any
    description: str
    kind: FieldKind = FieldKind.ANY
    choices: tuple[str, ...] = ()
    """What a choice is made from."""


@dataclass(frozen=True, slots=True)
class ScorerDocs:
    """A scorer type."""

    name: str
    summary: str
    version: str
    distribution: str
    required_by_default: bool
    advisory_only: bool
    fields: tuple[FieldDocs, ...]
    sections: Mapping[str, str]
    """`Measures`, `Evidence`, `How it is fooled`, `Example`, as far as the docstring has them."""

    @property
    def standing(self) -> str:
        """Whether failing it fails an attempt, when the recipe does not say."""
        if self.advisory_only:
            return "advisory only"
        return "required" if self.required_by_default else "advisory"


def describe_scorer(name: str) -> ScorerDocs:
    """Describe the scorer type behind a name.

    Raises:
        PluginNotFound: Nobody provides it.
        PluginError: The extension that does is broken.
    """
    scorer = load_scorer(name)
    return ScorerDocs(
        name=name,
        summary=one_paragraph((inspect.getdoc(scorer) or "").split("\n\n")[0]),
        version=str(getattr(scorer, "version", "")),
        distribution=catalog.distribution_of("scorers", name),
        required_by_default=scorer.required_by_default,
        advisory_only=scorer.advisory_only,
        fields=describe_fields(scorer.Config),
        sections=docstring_sections(scorer),
    )


def docstring_sections(scorer: type) -> dict[str, str]:
    """The sections of a scorer's docstring, by title; the example without its fence."""
    parts = _SECTION.split(inspect.getdoc(scorer) or "")
    sections = {title: inspect.cleandoc(body) for title, body in zip(parts[1::2], parts[2::2], strict=True)}
    if "Example" in sections:
        sections["Example"] = _FENCE.sub(r"\1", sections["Example"])
    return sections


def one_paragraph(text: str) -> str:
    """Text without its line breaks."""
    return " ".join(text.split())


def describe_fields(model: type[BaseModel]) -> tuple[FieldDocs, ...]:
    """Describe the fields of a model, in order."""
    schema = model.model_json_schema()
    defs = schema.get("$defs", {})
    required = set(schema.get("required", ()))
    return tuple(
        FieldDocs(
            name=name,
            type=_type(field, defs),
            required=name in required,
            default=field.get("default"),
            description=one_paragraph(field.get("description", "")),
            kind=_kind(field, defs),
            choices=_choices(field, defs),
        )
        for name, field in schema.get("properties", {}).items()
    )


_KINDS = {
    "string": FieldKind.TEXT,
    "integer": FieldKind.INTEGER,
    "number": FieldKind.NUMBER,
    "boolean": FieldKind.SWITCH,
}


def _kind(schema: Mapping[str, Any], defs: Mapping[str, Any]) -> FieldKind:
    schema = _only(schema, defs)
    if _choices(schema, defs):
        return FieldKind.CHOICE
    if schema.get("type") == "array" and _kind(schema.get("items", {}), defs) is FieldKind.TEXT:
        return FieldKind.TEXTS
    return _KINDS.get(schema.get("type", ""), FieldKind.ANY)


def _choices(schema: Mapping[str, Any], defs: Mapping[str, Any]) -> tuple[str, ...]:
    return tuple(str(value) for value in _only(schema, defs).get("enum", ()))


def _only(schema: Mapping[str, Any], defs: Mapping[str, Any]) -> Mapping[str, Any]:
    """A schema without references, and without null where that is one of two."""
    if "$ref" in schema:
        return _only(defs.get(schema["$ref"].rpartition("/")[2], {}), defs)
    branches = [branch for branch in schema.get("anyOf", ()) if branch.get("type") != "null"]
    return _only(branches[0], defs) if len(branches) == 1 else schema


_WORDS = {"string": "text", "integer": "whole number", "number": "number", "boolean": "true or false"}


def _type(schema: Mapping[str, Any], defs: Mapping[str, Any]) -> str:
    """A field's type in the words of the file."""
    if "$ref" in schema:
        return _type(defs.get(schema["$ref"].rpartition("/")[2], {}), defs)
    if "enum" in schema:
        return "one of " + ", ".join(map(str, schema["enum"]))
    if "const" in schema:
        return f"{schema['const']}"
    for union in ("anyOf", "oneOf"):
        if union in schema:
            kinds = [_type(branch, defs) for branch in schema[union] if branch.get("type") != "null"]
            return " or ".join(dict.fromkeys(kinds))
    kind = schema.get("type")
    if kind == "array":
        least = schema.get("minItems", 0)
        return f"{'non-empty ' if least == 1 else ''}list of {_type(schema.get('items', {}), defs)}"
    if kind == "object":
        values = schema.get("additionalProperties")
        return f"mapping to {_type(values, defs)}" if isinstance(values, dict) else "mapping"
    if kind not in _WORDS:
        return "any value"
    return _WORDS[kind] + _bounds(schema)


def _bounds(schema: Mapping[str, Any]) -> str:
    low, high = schema.get("minimum"), schema.get("maximum")
    above, below = schema.get("exclusiveMinimum"), schema.get("exclusiveMaximum")
    if low is not None and high is not None:
        return f", {_number(low)} to {_number(high)}"
    named = {"at least": low, "at most": high, "above": above, "below": below}
    said = [f"{word} {_number(value)}" for word, value in named.items() if value is not None]
    return f", {' and '.join(said)}" if said else ""


def _number(value: float) -> str:
    """A bound as one would write it in the file."""
    return str(int(value)) if value == int(value) else str(value)
