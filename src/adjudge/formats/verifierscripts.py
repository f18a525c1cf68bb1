"""What the text of a verifier tells about it. Guesses from words, never a proof."""

from __future__ import annotations

import re

__all__ = ["mentions_candidate"]

_CANDIDATE = re.compile(rb"(?<![\w.-])candidate(?![\w.-])")


def mentions_candidate(data: bytes) -> bool:
    """Whether a file of a verifier speaks of the launcher that runs candidate code apart from it."""
    return _CANDIDATE.search(data) is not None
