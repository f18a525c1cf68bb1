"""A token bucket."""


class TokenBucket:
    """Allows `rate` tokens a second on average, and `capacity` at once."""

    def __init__(self, capacity: float, rate: float) -> None:
        self.capacity = capacity
        self.rate = rate

    def allow(self, now: float, tokens: float = 1) -> bool:
        """Take `tokens` at the time `now`, if there are that many."""
        raise NotImplementedError
