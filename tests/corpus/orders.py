"""Reads the corpus of task texts: what each orders, and nothing of what was done."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

ORDERS = Path(__file__).parent / "orders"


class TaskText(NamedTuple):
    """A task in its user's words."""

    kind: str
    """`orders_tests`, `orders_skips`, `other_behaviour` (something that works is to change) or `plain`."""
    text: str


def read_texts(split: str) -> Iterator[TaskText]:
    """The texts of one part, `develop` or `measure`."""
    with (ORDERS / f"{split}.jsonl").open(encoding="utf-8") as lines:
        for line in lines:
            yield TaskText(**json.loads(line))
