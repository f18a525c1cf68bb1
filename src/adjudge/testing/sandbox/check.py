"""A check: one promise, the coroutine that tries it, and whether it is an escape attempt."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from types import ModuleType

from adjudge.testing.sandbox.bench import Bench

__all__ = ["SandboxCheck", "check", "checks_of", "escape_attempt"]

CheckBody = Callable[[Bench], Awaitable[None]]


@dataclass(frozen=True, slots=True)
class SandboxCheck:
    """One promise of the sandbox contract. `run` raises `AssertionError` when it is not kept."""

    name: str
    promise: str
    """One sentence: what a user may rely on."""
    escape: bool
    """Whether the check plays an attacker."""
    run: CheckBody


def check(body: CheckBody) -> SandboxCheck:
    """Make a check of a coroutine; its name and docstring become the check's."""
    return _make(body, escape=False)


def escape_attempt(body: CheckBody) -> SandboxCheck:
    """Make a check in which the command inside means harm."""
    return _make(body, escape=True)


def checks_of(module: ModuleType) -> tuple[SandboxCheck, ...]:
    """Every check defined in a module, in the order of its source."""
    return tuple(value for value in vars(module).values() if isinstance(value, SandboxCheck))


def _make(body: CheckBody, *, escape: bool) -> SandboxCheck:
    promise = (body.__doc__ or "").strip().splitlines()[0]
    name: str = body.__name__
    return SandboxCheck(name=name, promise=promise, escape=escape, run=body)
