"""One mapping of a document against one pydantic model, with every error in its place.

Values are handed over as JSON and read strictly, so that text is not silently taken for a number or a
boolean, while lists, enumerations and paths are read as a file writes them.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar

from pydantic import AliasChoices, BaseModel, ValidationError

from adjudge.errors import Problem
from adjudge.formats.tasks.document import Node
from adjudge.formats.tasks.messages import describe, explain, nearest, unknown_key

__all__ = ["Findings", "check", "entries", "known_keys", "other_names"]

Model = TypeVar("Model", bound=BaseModel)

_MAX_UNKNOWN = 20
"""Unknown keys named one by one in one mapping; a longer list helps nobody."""


@dataclass(slots=True)
class Findings:
    """What is wrong, and what is only worth a remark."""

    file: str
    problems: list[Problem] = field(default_factory=list)
    warnings: list[Problem] = field(default_factory=list)

    def problem(self, node: Node, where: str, message: str) -> None:
        """Note an error at a node."""
        self.problems.append(Problem(self.file, node.line, node.column, where, message))

    def warn(self, node: Node, where: str, message: str) -> None:
        """Note a warning at a node."""
        self.warnings.append(Problem(self.file, node.line, node.column, where, message))


def known_keys(model: type[BaseModel]) -> list[str]:
    """The keys a model is written with, other spellings included."""
    keys = [info.alias or name for name, info in model.model_fields.items()]
    return [*keys, *other_names(model)]


def other_names(model: type[BaseModel]) -> dict[str, str]:
    """Other spelling → the field that it stands for."""
    return {
        other: name
        for name, info in model.model_fields.items()
        if isinstance(info.validation_alias, AliasChoices)
        for other in info.validation_alias.choices
        if isinstance(other, str) and other != name
    }


def entries(node: Node, where: str, findings: Findings) -> Mapping[str, Node] | None:
    """The fields of a mapping; anything else is noted and None."""
    if isinstance(node.value, dict):
        return node.value
    findings.problem(node, where, f"a mapping expected, found {describe(node.plain())}")
    return None


def check(
    model: type[Model],
    node: Node,
    where: str,
    findings: Findings,
    *,
    fields: Mapping[str, Node] | None = None,
    also_known: Iterable[str] = (),
    needed_by: str = "",
    context: Mapping[str, Any] | None = None,
) -> Model | None:
    """Validate a mapping, or note everything that is wrong with it.

    Args:
        model: What the mapping must be.
        node: The mapping; missing fields are reported here.
        where: Its path in the document.
        findings: Takes the problems.
        fields: The part of the mapping that belongs to the model, when others share it.
        also_known: Keys of the same mapping that belong to others, offered for misspelt ones.
        needed_by: Who needs a missing field, for the message.
        context: Handed to the model's validators.
    """
    if fields is None:
        fields = entries(node, where, findings)
        if fields is None:
            return None
    before = len(findings.problems)
    keys = known_keys(model)
    unknown = [key for key in fields if key not in keys]
    for key in unknown[:_MAX_UNKNOWN]:
        findings.problem(fields[key], where, unknown_key(key, [*also_known, *keys]))
    if len(unknown) > _MAX_UNKNOWN:
        rest = len(unknown) - _MAX_UNKNOWN
        findings.problem(fields[unknown[_MAX_UNKNOWN]], where, f"and {rest} more unknown keys")
    plain = {key: value.plain() for key, value in fields.items() if key in keys}
    for other, name in other_names(model).items():
        if other in plain and name in plain:
            findings.problem(
                fields[other], where, f"{other!r} is another name of {name!r}; write one of them"
            )
            del plain[other]
    try:
        checked = model.model_validate_json(json.dumps(plain), strict=True, context=context)
    except ValidationError as error:
        meant = {nearest(key, [*also_known, *keys]) for key in unknown[:_MAX_UNKNOWN]}
        for found in error.errors(include_url=False):
            # A misspelt key says it already: the field is not missing but called something else.
            if found["type"] != "missing" or len(found["loc"]) > 1 or found["loc"][0] not in meant:
                _note(found, node, fields, where, findings, needed_by)
        return None
    return checked if len(findings.problems) == before else None


def _note(
    error: Mapping[str, Any],
    node: Node,
    fields: Mapping[str, Node],
    where: str,
    findings: Findings,
    needed_by: str,
) -> None:
    """Put one error of pydantic where a reader would look for it."""
    here: Node = Node(dict(fields), node.line, node.column)
    for part in error["loc"]:
        # Parts that are not in the file, such as the name of a union's branch, are passed over.
        if isinstance(part, str) and isinstance(here.value, dict) and part in here.value:
            here, where = here.value[part], f"{where}.{part}" if where else part
        elif isinstance(part, int) and isinstance(here.value, list) and part < len(here.value):
            here, where = here.value[part], f"{where}[{part}]"
    listed = len(here.value) if isinstance(here.value, list) else 0
    if error["type"] == "too_short" and listed >= error["ctx"]["min_length"]:
        # pydantic counts the items that are right; those that are wrong have a problem of their own.
        return
    if error["type"] == "missing":
        where = f"{where}.{error['loc'][-1]}" if where else str(error["loc"][-1])
        findings.problem(here, where, f"missing; {needed_by} needs it" if needed_by else "missing")
    elif error["type"] == "extra_forbidden":
        # Only below the top of the model, where its keys are not at hand.
        parent, _, key = where.rpartition(".")
        findings.problem(here, parent, f"unknown key {key!r}")
    else:
        findings.problem(here, where, explain(error))
