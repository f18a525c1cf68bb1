"""What TASK means on a command line: a scenario, the folder of a frozen task, or the digest of one."""

from __future__ import annotations

import os
import re
from pathlib import Path

from adjudge.errors import UsageError
from adjudge.tasks.freeze import FrozenTask, load_task
from adjudge.tasks.load import LoadedScenario, load_scenario

__all__ = ["find_task"]

_DIGEST = re.compile(r"(?:sha256:)?([0-9a-f]{4,64})\Z")


def find_task(text: str, state_dir: Path) -> LoadedScenario | FrozenTask:
    """Find what `text` means. A path that exists comes before a digest.

    Raises:
        UsageError: It means nothing, or more than one task.
        ScenarioInvalid: It is a scenario that is not valid.
    """
    path = Path(text)
    # os.path, because Path's own tests raise on names that are too long.
    if os.path.isfile(path / "task.json"):
        return load_task(path)
    digest = _DIGEST.match(text)
    if os.path.exists(path) or digest is None:
        return load_scenario(path)
    prefix = digest[1]
    tasks = state_dir / "tasks"
    found = sorted(place for place in tasks.glob(f"{prefix}*") if place.is_dir()) if tasks.is_dir() else []
    if not found:
        raise UsageError(
            f"no file, folder or frozen task is called {text}",
            hint=f"frozen tasks are kept in {tasks}; adjudge seed makes one",
        )
    if len(found) > 1:
        listed = ", ".join(place.name[:12] for place in found[:4])
        raise UsageError(f"{text} means {len(found)} tasks: {listed}", hint="write more of the digest")
    return load_task(found[0])
