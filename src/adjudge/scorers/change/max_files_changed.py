"""`max_files_changed`: the change is small enough."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from pydantic import Field

from adjudge.contracts import Evidence
from adjudge.records.change import EntryType, FileChange
from adjudge.records.evidence import AnyRequest, ParsedChange
from adjudge.records.paths import render_path
from adjudge.records.score import Finding, ScorerConfig, ScorerOutcome
from adjudge.scorers.wording import counted, first_findings, happened_to

__all__ = ["MaxFilesChanged"]


class MaxFilesChanged:
    """No more files changed than the limit.

    Measures:
        Size of the change, in files: added, modified, deleted, renamed (a rename is one), or changed in
        mode or type. An attempt that changed nothing passes, also with a limit of 0.

    Evidence:
        The change set, without litter and without empty folders.

    How it is fooled:
        It counts files, not lines: one file can be rewritten whole, or hold what should have been ten. A move
        together with a rewrite is not recognised as a rename and counts twice.

    Example:
        ```yaml
        scorers:
          - name: small change
            type: max_files_changed
            limit: 5
        ```
    """

    name: ClassVar[str] = "max_files_changed"
    version: ClassVar[str] = "1"
    required_by_default: ClassVar[bool] = True
    advisory_only: ClassVar[bool] = False

    class Config(ScorerConfig):
        """Fields of `max_files_changed`."""

        limit: int = Field(ge=0, strict=True)
        """The largest number of changed files that passes."""

    def needs(self, config: Config) -> Sequence[AnyRequest]:
        """The change set."""
        return (ParsedChange(),)

    def score(self, config: Config, evidence: Evidence) -> ScorerOutcome:
        """FAIL when more files changed than the limit."""
        work = evidence[ParsedChange()].change_set.work
        files = [change for change in work if not _is_folder(change)]
        details = {"files_changed": len(files), "limit": config.limit}
        hidden = [change for change in work if change.is_unlisted_folder]
        if hidden:
            return ScorerOutcome.failed(
                f"{counted(len(hidden), 'changed folder')} cannot be listed, so files cannot be counted",
                findings=first_findings(
                    Finding(
                        rule="path-unlistable",
                        path=change.path,
                        message=f"{render_path(change.path)} {change.unreadable}",
                    )
                    for change in hidden
                ),
                details=details,
            )
        if len(files) <= config.limit:
            reason = f"{counted(len(files), 'file')} changed, limit {config.limit:,}"
            return ScorerOutcome.passed(reason, details=details)
        return ScorerOutcome.failed(
            f"{counted(len(files), 'file')} changed, more than {config.limit:,}",
            findings=first_findings(
                Finding(
                    rule="too-many-files-changed",
                    path=change.path,
                    message=f"{render_path(change.path)} was {happened_to(change)}",
                )
                for change in files
            ),
            details=details,
        )


def _is_folder(change: FileChange) -> bool:
    return {change.old_type, change.new_type} <= {EntryType.DIRECTORY, None} and (
        EntryType.DIRECTORY in (change.old_type, change.new_type)
    )
