"""Which sandbox a task gets: what was asked for, else what the task says, else the settings."""

from __future__ import annotations

import threading
from collections.abc import Callable
from functools import cache

from adjudge.contracts import SandboxBackend
from adjudge.records.task import Task
from adjudge.sandbox.choose import choose_backend, refuse_unknown
from adjudge.settings import Settings

__all__ = ["choose_by_settings"]


def choose_by_settings(
    asked: str | None, settings: Settings, say: Callable[[str], None] = lambda _: None
) -> Callable[[Task], SandboxBackend]:
    """A function that chooses when it is called: a task that runs nothing needs no sandbox.

    Raises:
        PluginNotFound: There is no sandbox of the name that is asked for.
    """
    refuse_unknown(asked or settings.sandbox)
    lock = threading.Lock()

    @cache
    def chosen(name: str) -> SandboxBackend:
        choice = choose_backend(name)
        say(f"sandbox: {choice.explanation}")
        return choice.backend

    def choose(task: Task) -> SandboxBackend:
        # Several threads ask at once, and it is said once.
        with lock:
            return chosen(settings.sandbox_for(asked, task.scenario.sandbox.backend))

    return choose
