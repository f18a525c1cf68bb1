"""Statements for people."""

from __future__ import annotations

from ledgerly.account import Account


def render(account: Account, width: int = 30) -> str:
    """An account as a table with its balance below."""
    lines = [account.name]
    for entry in account.entries:
        amount = str(entry.amount)
        lines.append(f"{entry.text[: width - len(amount) - 1]:<{width - len(amount)}}{amount}")
    lines.append(f"{'balance':<{width - len(str(account.balance))}}{account.balance}")
    return "\n".join(lines)
