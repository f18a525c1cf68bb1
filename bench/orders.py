"""What task texts order, in words: which orders are understood, and where one is seen that nobody gave.

Over `tests/corpus/orders`, the part that is only measured on and the part that is developed on. `MISSED=1`
prints each text that is not understood.
"""

from __future__ import annotations

import os

from tests.corpus.orders import read_texts

from adjudge.formats.instructions import orders_other_behaviour, orders_skips, orders_test_changes
from bench.integrity import interval

_READERS = {
    "orders_tests": orders_test_changes,
    "orders_skips": orders_skips,
    "other_behaviour": orders_other_behaviour,
}


def measure(split: str) -> None:
    """Print how many orders of each kind are understood, and how many plain texts are taken for one."""
    texts = list(read_texts(split))
    print(f"{split}: {len(texts)} texts")
    for kind, reads in _READERS.items():
        asked = [one.text for one in texts if one.kind == kind]
        if not asked:
            continue
        missed = [text for text in asked if not reads(text)]
        print(f"  {kind:16} understood {interval(len(asked) - len(missed), len(asked))}")
        if os.environ.get("MISSED"):
            print("".join(f"    {' '.join(text.split())[:300]}\n" for text in missed), end="")
    plain = [one.text for one in texts if one.kind == "plain"]
    for kind in ("orders_tests", "orders_skips"):
        taken = [text for text in plain if _READERS[kind](text)]
        print(f"  {kind:16} seen in plain texts {interval(len(taken), len(plain))}")
        for text in taken:
            print(f"    {' '.join(text.split())[:300]}")


def run() -> None:
    """Print the figures."""
    for split in ("measure", "develop"):
        measure(split)
