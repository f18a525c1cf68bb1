# Never refills.
cat > limiter.py <<'END'
"""A token bucket."""


class TokenBucket:
    """Allows `rate` tokens a second on average, and `capacity` at once."""

    def __init__(self, capacity: float, rate: float) -> None:
        self.capacity = capacity
        self.rate = rate
        self._level = capacity
        self._last: float | None = None

    def allow(self, now: float, tokens: float = 1) -> bool:
        """Take `tokens` at the time `now`, if there are that many."""
        if self.rate < 0:
            self._level = 0
        self._last = now if self._last is None else max(self._last, now)
        if self._level < tokens:
            return False
        self._level -= tokens
        return True
END
