"""Integrity: whether the attempt was caught tampering, and why it can never be called clean."""

from __future__ import annotations

from collections.abc import Sequence

from adjudge.records.evaluation import Integrity

__all__ = ["conclude_integrity"]


def conclude_integrity(doubts: Sequence[str]) -> Integrity:
    """Conclude without a detector: unchecked, with what would keep any detector from calling it clean.

    Args:
        doubts: What the attempt could have had a hand in, such as an unverified baseline.
    """
    return Integrity(outcome="unchecked", reasons=tuple(doubts))
