"""The evaluation document as text."""

from __future__ import annotations

import re

from adjudge.records.evaluation import Evaluation

__all__ = ["render_json"]

_UNSAFE = re.compile("[\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]")
"""Valid in JSON, yet a terminal would obey them. They occur only inside strings, where an escape is equal."""


def render_json(evaluation: Evaluation) -> str:
    """The document, indented, with a newline at its end."""
    text = _UNSAFE.sub(lambda match: f"\\u{ord(match.group()):04x}", evaluation.to_json())
    return f"{text}\n"
