"""Ids that were seen lately, of which there may be any number."""

from __future__ import annotations

import hashlib
from collections import OrderedDict

__all__ = ["Recent", "short_key"]


def short_key(id: str) -> str:
    """An id as something to remember it by: itself, or its digest when somebody made it long."""
    return id if len(id) <= 100 else hashlib.sha256(id.encode("utf-8", "surrogatepass")).hexdigest()


class Recent:
    """Remembers the last few thousand ids, so that a hostile trace cannot make it grow."""

    def __init__(self, most: int = 10_000) -> None:
        self._seen: OrderedDict[str, None] = OrderedDict()
        self._most = most

    def add(self, id: str) -> bool:
        """Remember an id; says whether it is new. An empty one is never remembered, and never new."""
        if not id:
            return False
        key = short_key(id)
        new = key not in self._seen
        self._seen[key] = None
        self._seen.move_to_end(key)
        if len(self._seen) > self._most:
            self._seen.popitem(last=False)
        return new

    def __contains__(self, id: str) -> bool:
        return short_key(id) in self._seen

    def discard(self, id: str) -> bool:
        """Forget an id; says whether it was known."""
        known = id in self
        self._seen.pop(short_key(id), None)
        return known
