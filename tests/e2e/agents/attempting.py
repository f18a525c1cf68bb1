"""What tests of agents share: a small task, and one call to have an agent attempt it."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import Any

from adjudge.contracts import SandboxBackend
from adjudge.sandbox.choose import choose_backend
from adjudge.store.blobs import BlobDirectory
from adjudge.tasks.freeze import freeze
from adjudge.tasks.load import load_scenario
from adjudge.workflows.agents import agent_ref
from adjudge.workflows.attempt import Attempted, AttemptOrder, run_attempt
from adjudge.workflows.startingpoint import StartingPoint, prepare_start

RECIPE = "scorers: [{type: forbid_paths, patterns: [secret*]}]\n"


class Arena:
    """A frozen task that agents attempt, in a folder of its own."""

    def __init__(
        self,
        folder: Path,
        scenario: str = "",
        files: Mapping[str, str] | None = None,
        sandbox: str = "auto",
        *,
        workspace: bool = True,
    ) -> None:
        self.folder = folder / "scenario"
        source = self.folder / "src"
        source.mkdir(parents=True)
        (source / "a.txt").write_text("one\n")
        (source / "b.txt").write_text("two\n")
        (source / "dir").mkdir()
        (source / "dir" / "c.txt").write_text("three\n")
        for path, text in (files or {}).items():
            place = self.folder / path
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_text(text)
        recipe = "" if "scorers:" in scenario else RECIPE
        self.file = self.folder / "adjudge.yaml"
        source_of = "workspace: {source: directory, path: src}\n" if workspace else ""
        self.file.write_text(f"name: small\ninstruction: Do it.\n{source_of}{scenario}{recipe}")
        self.state = folder / "state"
        self.blobs = BlobDirectory(self.state / "blobs")
        self.backend: SandboxBackend = choose_backend(sandbox).backend
        frozen = freeze(load_scenario(self.file), self.state)
        self.start: StartingPoint = prepare_start(
            frozen, state_dir=self.state, backend=lambda _: self.backend, blobs=self.blobs
        )

    def attempt(
        self,
        agent: str,
        config: Mapping[str, Any] | None = None,
        *,
        inside: Callable[[Attempted], Awaitable[None]] | None = None,
        **order: Any,
    ) -> Attempted:
        """Have an agent attempt the task; `inside` runs while the attempt is still there."""

        async def run() -> Attempted:
            asked = AttemptOrder(
                start=self.start,
                agent=agent_ref(agent, config),
                backend=self.backend,
                blobs=self.blobs,
                **order,
            )
            async with run_attempt(asked) as made:
                if inside is not None:
                    await inside(made)
                return made

        return asyncio.run(run())


def changed(made: Attempted) -> dict[str, str]:
    """Path → kind of change."""
    assert made.attempt.change_set is not None
    return {change.path: change.kind.value for change in made.attempt.change_set.changes}
