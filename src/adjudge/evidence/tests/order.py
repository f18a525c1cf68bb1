"""What a session is to do, whichever runner it is for."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from importlib import resources

from adjudge.records.evidence import TestCommand
from adjudge.records.sandbox import Mount

__all__ = ["Order", "inside_text"]


@dataclass(frozen=True)
class Order:
    """What a session is to do."""

    command: TestCommand
    plugins: tuple[str, ...] | None
    """None: whatever the environment has, and say what that is."""
    collect_only: bool = False
    quick: bool = False
    """Leave out what only people read; for sessions in which many tests fail on purpose."""
    watch: bool = False
    """Note which files of the project each test runs code of; where Python is what runs."""
    timeout_s: float = 900.0
    test_timeout_s: float = 60.0
    mounts: tuple[Mount, ...] = ()
    """What the sandbox shows beyond what every one of the task does."""


@cache
def inside_text(name: str) -> str:
    """A file of ours that runs inside a sandbox. It is sent as text, so nothing there can change it."""
    return (resources.files("adjudge.evidence.tests.inside") / name).read_text(encoding="utf-8")
