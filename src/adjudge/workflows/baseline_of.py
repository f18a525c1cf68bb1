"""Which baseline a workspace is compared with: what was asked for, what seeding recorded, what git says."""

from __future__ import annotations

from pathlib import Path

from adjudge.capture.baseline import Baseline, resolve_baseline, task_baseline
from adjudge.records.sandbox import WorkspaceTree
from adjudge.tasks.seeds import Seed

__all__ = ["baseline_of"]


def baseline_of(workspace: Path, given: str | None, seed: Seed | None) -> Baseline:
    """The baseline of a workspace; see `resolve_baseline` for what `given` may be.

    Args:
        workspace: The directory that is looked at.
        given: What the caller asked for; it wins.
        seed: What is recorded about the workspace, where it was seeded here.
    """
    if given is not None or seed is None:
        return resolve_baseline(workspace, given)
    digest = seed.record.baseline_digest
    return task_baseline(
        WorkspaceTree(layers=(seed.baseline,)),
        description=f"recorded when the workspace was seeded ({digest.removeprefix('sha256:')[:12]})",
        digest=digest,
    )
