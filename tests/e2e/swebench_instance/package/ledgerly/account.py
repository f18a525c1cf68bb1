"""Accounts and their entries."""

from __future__ import annotations

from dataclasses import dataclass, field

from ledgerly.money import Money, split


@dataclass(frozen=True)
class Entry:
    """One booking."""

    text: str
    amount: Money


@dataclass
class Account:
    """Entries in the order of booking."""

    name: str
    entries: list[Entry] = field(default_factory=list)

    def book(self, text: str, amount: str | Money) -> Entry:
        """Add an entry."""
        entry = Entry(text, amount if isinstance(amount, Money) else Money.parse(amount))
        self.entries.append(entry)
        return entry

    @property
    def balance(self) -> Money:
        """The sum of all entries."""
        return sum((entry.amount for entry in self.entries), Money(0))

    def settle(self, text: str, amount: str, others: dict[Account, int]) -> None:
        """Spread an expense over accounts by shares, and book it here in full."""
        whole = Money.parse(amount)
        self.book(text, whole)
        for account, part in zip(others, split(whole, list(others.values())), strict=True):
            account.book(text, -part)

    def __hash__(self) -> int:
        return hash(self.name)
