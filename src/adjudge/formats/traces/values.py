"""Hostile JSON values, as what an event can hold. A value of another type, or out of range, is none."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any, TypeGuard

from adjudge.records.trace import MAX_COST_USD, MAX_TEXT, MAX_TIME_S, MAX_TOKENS

__all__ = [
    "cost_of",
    "count_of",
    "items_of",
    "json_text",
    "mapping_of",
    "name_of",
    "seconds_of",
    "text_of",
    "time_of",
]

_EMPTY: Mapping[str, Any] = {}


def is_number(value: object) -> TypeGuard[int | float]:
    """Whether a value is a finite number; JSON's `true` is none."""
    if isinstance(value, bool):
        return False
    return isinstance(value, int) or (isinstance(value, float) and math.isfinite(value))


def text_of(value: object) -> str:
    """A text; anything else gives an empty one."""
    return value if isinstance(value, str) else ""


def name_of(value: object) -> str | None:
    """A text that is not empty."""
    return value if isinstance(value, str) and value else None


def mapping_of(value: object) -> Mapping[str, Any]:
    """An object; anything else gives an empty one."""
    return value if isinstance(value, dict) else _EMPTY


def items_of(value: object) -> list[Any]:
    """A list; anything else gives an empty one."""
    return value if isinstance(value, list) else []


def count_of(value: object) -> int | None:
    """A count: a whole number that is not negative and not absurd."""
    if not is_number(value) or not 0 <= value <= MAX_TOKENS or value != int(value):
        return None
    return int(value)


def cost_of(value: object) -> float | None:
    """An amount of dollars that is not negative and not absurd."""
    return float(value) if is_number(value) and 0 <= value <= MAX_COST_USD else None


def seconds_of(value: object, *, per_s: float = 1.0) -> float | None:
    """A duration, from a number of which `per_s` make a second."""
    return float(value) / per_s if is_number(value) and 0 <= value <= MAX_TIME_S else None


def time_of(value: object) -> float | None:
    """A point in time: ISO 8601, or seconds, milli-, micro- or nanoseconds since 1970 by their size."""
    if isinstance(value, str):
        return _time_of_text(value)
    if not is_number(value) or not 0 <= value < 1e21:
        return None
    seconds = float(value)
    while seconds >= 1e11:
        seconds /= 1000
    return round(seconds, 6)


def _time_of_text(text: str) -> float | None:
    if len(text) > 64:
        return None
    if text.isascii() and text.isdigit():
        # OTLP writes 64-bit integers as texts.
        return time_of(int(text))
    try:
        moment = datetime.fromisoformat(text)
        if moment.tzinfo is None:
            moment = moment.replace(tzinfo=UTC)
        seconds = moment.timestamp()
    except (ValueError, OverflowError):
        return None
    return round(seconds, 6) if 0 <= seconds <= MAX_TIME_S else None


def json_text(value: object) -> str:
    """A value as JSON text; a text that is handed in stays as it is."""
    if isinstance(value, str):
        return value
    if value is None:
        return ""
    try:
        text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    except (RecursionError, ValueError):
        return "[nested too deeply to be shown]"
    # Held only until the event is made, which keeps less; not worth carrying megabytes there.
    return text if len(text) <= 4 * MAX_TEXT else text[: 4 * MAX_TEXT]
