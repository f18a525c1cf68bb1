"""Which sandbox a command takes for a task, said aloud once."""

from __future__ import annotations

from collections.abc import Callable

from adjudge.cli.console import note
from adjudge.contracts import SandboxBackend
from adjudge.records.task import Task
from adjudge.settings import Settings
from adjudge.workflows.backends import choose_by_settings

__all__ = ["backend_chooser"]


def backend_chooser(
    asked: str | None, settings: Settings, say: Callable[[str], None] = note
) -> Callable[[Task], SandboxBackend]:
    """A function that chooses when it is called: a task that runs nothing needs no sandbox.

    Raises:
        PluginNotFound: There is no sandbox of the name that is asked for.
    """
    return choose_by_settings(asked, settings, say)
