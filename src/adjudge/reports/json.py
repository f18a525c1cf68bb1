"""Documents as text: the evaluation document, and JSON that is safe on a terminal."""

from __future__ import annotations

import re

from adjudge.records.evaluation import Evaluation

__all__ = ["escape_json", "render_json"]

_UNSAFE = re.compile("[\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]")
"""Valid in JSON, yet a terminal would obey them. They occur only inside strings, where an escape is equal."""


def render_json(evaluation: Evaluation) -> str:
    """The document, indented, with a newline at its end."""
    return f"{escape_json(evaluation.to_json())}\n"


def escape_json(text: str) -> str:
    """JSON with everything escaped that a terminal would obey."""
    return _UNSAFE.sub(lambda match: f"\\u{ord(match.group()):04x}", text)
