"""Amounts of money in whole cents."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, order=True)
class Money:
    """An amount; negative for a debt."""

    cents: int

    @classmethod
    def parse(cls, text: str) -> Money:
        """Read `12.50`, `-3`, `1,200.00`."""
        sign = -1 if text.strip().startswith("-") else 1
        whole, _, fraction = text.strip().lstrip("+-").replace(",", "").partition(".")
        if not (whole + fraction).isdigit() or len(fraction) > 2:
            raise ValueError(f"not an amount: {text!r}")
        return cls(sign * (int(whole or 0) * 100 + int(fraction.ljust(2, "0") or 0)))

    def __add__(self, other: Money) -> Money:
        return Money(self.cents + other.cents)

    def __neg__(self) -> Money:
        return Money(-self.cents)

    def __str__(self) -> str:
        whole, fraction = divmod(abs(self.cents), 100)
        return f"{'-' if self.cents < 0 else ''}{whole:,}.{fraction:02}"


def split(amount: Money, shares: list[int]) -> list[Money]:
    """Split an amount in proportion to shares."""
    total = sum(shares)
    return [Money(round(amount.cents * share / total)) for share in shares]
