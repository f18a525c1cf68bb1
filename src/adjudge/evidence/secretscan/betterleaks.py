"""Betterleaks, the successor of Gitleaks: some 400 kept-up rules with their filters, in our own process.

Importing this module loads the library, some 100 ms; whoever scans does so when there is something to scan.
Betterleaks can try secrets out over the network; that is never switched on.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import pybetterleaks

from adjudge.errors import InfraError, boundary

__all__ = ["Leak", "describe", "find_leaks"]

_TIMEOUT_S = 120.0
"""For one batch, which takes a quarter of a second; ended then, and said."""


class Leak(NamedTuple):
    """What Betterleaks found."""

    rule: str
    line: int
    """0-based, in the text given."""
    secret: str
    """The value, decoded where it was encoded."""


def describe() -> str:
    """Name and version, for the record."""
    with boundary(InfraError, "the Betterleaks library cannot be loaded", hint="reinstall pybetterleaks"):
        return f"betterleaks {pybetterleaks.betterleaks_version()}"


def find_leaks(text: str) -> Iterator[Leak]:
    """Scan a text of moderate size (its line counting is quadratic).

    Raises:
        InfraError: The scan did not come to an end, or could not begin.
    """
    with boundary(InfraError, "Betterleaks cannot be run", hint="reinstall pybetterleaks"):
        result = pybetterleaks.scan_text(text, validation=False, redact=False, timeout_seconds=_TIMEOUT_S)
    if result.errors:
        raise InfraError(f"Betterleaks gave up: {result.errors[0].code}: {result.errors[0].message}")
    for found in result.findings:
        # The binding reports lines from 0, and none at all for the first.
        yield Leak(found.rule_id, found.line or 0, found.secret or found.match or "")
