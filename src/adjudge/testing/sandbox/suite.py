"""The whole suite, and its way into pytest. See `adjudge.testing.sandbox` for how to use it."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Mapping
from typing import ClassVar

import pytest

from adjudge.contracts import SandboxBackend
from adjudge.testing.sandbox import (
    commands,
    files,
    host_files,
    kept,
    limits,
    neighbours,
    privileges,
    processes,
)
from adjudge.testing.sandbox.bench import Bench, Inapplicable
from adjudge.testing.sandbox.check import SandboxCheck, checks_of

__all__ = ["CHECKS", "SandboxConformance"]

_THEMES = (commands, files, processes, kept, limits, host_files, privileges, neighbours)

CHECKS: tuple[SandboxCheck, ...] = tuple(check for theme in _THEMES for check in checks_of(theme))
"""Every check, theme by theme."""

_CHECK_TIMEOUT_S = 120


class SandboxConformance:
    """Subclass it in a test module as `Test…` and set `backend`; pytest does the rest."""

    backend: ClassVar[SandboxBackend]
    gaps: ClassVar[Mapping[str, str]] = {}
    """Check name → why this backend does not keep that promise."""
    python: ClassVar[str] = sys.executable
    """A Python 3 as the sandbox sees it."""

    def pytest_generate_tests(self, metafunc: pytest.Metafunc) -> None:
        """One test for each check; known gaps are strict expected failures."""
        if "sandbox_check" not in metafunc.fixturenames:
            return
        unknown = set(self.gaps) - {check.name for check in CHECKS}
        if unknown:
            raise pytest.UsageError(f"gaps name no check: {', '.join(sorted(unknown))}")
        metafunc.parametrize(
            "sandbox_check",
            [
                pytest.param(check, id=check.name, marks=_expectation(self.gaps.get(check.name)))
                for check in CHECKS
            ],
        )

    def test_promise(self, sandbox_check: SandboxCheck) -> None:
        """Try one promise on the backend."""
        with Bench(self.backend, python=self.python) as bench:
            try:
                asyncio.run(asyncio.wait_for(_run(sandbox_check, bench), _CHECK_TIMEOUT_S))
            except Inapplicable as reason:
                pytest.skip(str(reason))


async def _run(check: SandboxCheck, bench: Bench) -> None:
    await check.run(bench)


def _expectation(gap: str | None) -> tuple[pytest.MarkDecorator, ...]:
    return () if gap is None else (pytest.mark.xfail(reason=gap, raises=AssertionError, strict=True),)
