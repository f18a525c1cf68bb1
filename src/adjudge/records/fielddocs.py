"""The strings under the fields of a record, read from its source when a schema is asked for."""

from __future__ import annotations

import ast
import inspect
import textwrap
from functools import cache
from typing import Any

from pydantic import BaseModel

__all__ = ["describe_fields", "field_docs"]


def describe_fields(model: type[BaseModel], schema: dict[str, Any]) -> None:
    """Give each property of a model's JSON schema the string under its field, unless it has a description."""
    docs = field_docs(model)
    properties = schema.get("properties", {})
    for name, field in model.model_fields.items():
        shown = properties.get(field.alias or name)
        if shown is not None and name in docs:
            shown.setdefault("description", docs[name])


@cache
def field_docs(model: type[BaseModel]) -> dict[str, str]:
    """Field name → the string under it, inherited ones included. Empty where the source is not to be had."""
    found: dict[str, str] = {}
    for parent in reversed(model.__mro__):
        if parent is not BaseModel and issubclass(parent, BaseModel):
            found |= _own_docs(parent)
    return found


def _own_docs(model: type[BaseModel]) -> dict[str, str]:
    try:
        (definition,) = ast.parse(textwrap.dedent(inspect.getsource(model))).body
    except (OSError, TypeError, SyntaxError, ValueError):
        return {}
    if not isinstance(definition, ast.ClassDef):
        return {}
    found: dict[str, str] = {}
    name: str | None = None
    for statement in definition.body:
        if isinstance(statement, ast.AnnAssign) and isinstance(statement.target, ast.Name):
            name = statement.target.id
            continue
        if name is not None and isinstance(statement, ast.Expr):
            match statement.value:
                case ast.Constant(value=str(text)):
                    found[name] = inspect.cleandoc(text)
        name = None
    return found
