"""`file_exists`: a required path is there after the run."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from adjudge.contracts import Evidence
from adjudge.formats.patterns import ExactPath
from adjudge.records.evidence import AnyRequest, PathState
from adjudge.records.paths import parse_path
from adjudge.records.score import Finding, ScorerConfig, ScorerOutcome

__all__ = ["FileExists"]


class FileExists:
    """A required path is there in the final workspace.

    Measures:
        Presence. A file, a folder, or a symlink that leads to one inside the workspace counts, empty or
        not. A dangling symlink, one that leaves the workspace, and anything reached through one do not.

    Evidence:
        What lies at the path in the final workspace, changed by the attempt or not.

    How it is fooled:
        An empty file passes; follow up with a `command` that looks inside. A path that the baseline has
        already passes without any work.

    Example:
        ```yaml
        scorers:
          - name: the changelog was written
            type: file_exists
            path: CHANGELOG.md
        ```
    """

    name: ClassVar[str] = "file_exists"
    version: ClassVar[str] = "1"
    required_by_default: ClassVar[bool] = True
    advisory_only: ClassVar[bool] = False

    class Config(ScorerConfig):
        """Fields of `file_exists`."""

        path: ExactPath
        """A path relative to the workspace, without `..`."""

    def needs(self, config: Config) -> Sequence[AnyRequest]:
        """What lies at the path."""
        return (PathState(path=parse_path(config.path)),)

    def score(self, config: Config, evidence: Evidence) -> ScorerOutcome:
        """FAIL when nothing is at the path."""
        path = parse_path(config.path)
        status = evidence[PathState(path=path)]
        if status.exists:
            what = f", a {status.type}" if status.type is not None else ""
            return ScorerOutcome.passed(f"{config.path} exists{what}")
        why = status.note or "nothing is there"
        return ScorerOutcome.failed(
            f"{config.path} does not exist: {why}",
            findings=(Finding(rule="path-missing", path=path, message=f"{config.path}: {why}"),),
        )
