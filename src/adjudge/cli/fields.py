"""Fields of something that can be set up, for people."""

from __future__ import annotations

import json
import textwrap

from adjudge.formats.tasks.scorerdocs import FieldDocs

__all__ = ["render_field", "wrapped"]

_LEAST_WIDTH = 60


def render_field(field: FieldDocs, width: int) -> str:
    """A field with its type, its default and what it means."""
    default = "needed" if field.required else f"default {json.dumps(field.default, ensure_ascii=False)}"
    if not field.required and field.default is None:
        default = "may be left out"
    head = f"  {field.name}: {field.type}; {default}"
    return f"{head}\n{wrapped(field.description, '    ', '    ', width)}" if field.description else head


def wrapped(text: str, first: str, rest: str, width: int) -> str:
    """A text in lines that begin with `first`, then with `rest`."""
    return textwrap.fill(
        text, max(width, _LEAST_WIDTH), initial_indent=first, subsequent_indent=rest, break_long_words=False
    )
