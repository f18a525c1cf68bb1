"""Money, accounts and statements."""

from ledgerly.account import Account, Entry
from ledgerly.money import Money, split
from ledgerly.statement import render

__all__ = ["Account", "Entry", "Money", "render", "split"]
