"""Ids that were seen lately, of which there may be any number."""

from __future__ import annotations

from collections import OrderedDict

__all__ = ["Recent"]


class Recent:
    """Remembers the last few thousand ids, so that a hostile trace cannot make it grow."""

    def __init__(self, most: int = 10_000) -> None:
        self._seen: OrderedDict[str, None] = OrderedDict()
        self._most = most

    def add(self, id: str) -> bool:
        """Remember an id; says whether it is new. An empty one is never remembered, and never new."""
        if not id:
            return False
        new = id not in self._seen
        self._seen[id] = None
        self._seen.move_to_end(id)
        if len(self._seen) > self._most:
            self._seen.popitem(last=False)
        return new

    def __contains__(self, id: str) -> bool:
        return id in self._seen

    def discard(self, id: str) -> bool:
        """Forget an id; says whether it was known."""
        known = id in self._seen
        self._seen.pop(id, None)
        return known
