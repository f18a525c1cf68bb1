"""`forbid_paths`: no change touches given patterns."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import ClassVar

from pydantic import Field

from adjudge.contracts import Evidence
from adjudge.formats.patterns import PathPattern, PathPatterns
from adjudge.records.change import EntryType, FileChange
from adjudge.records.evidence import AnyRequest, ParsedChange
from adjudge.records.paths import render_path
from adjudge.records.score import Finding, ScorerConfig, ScorerOutcome
from adjudge.scorers.wording import counted, first_changed_line, first_findings, happened_to

__all__ = ["ForbidPaths"]


class ForbidPaths:
    """No changed path matches any of the given patterns.

    Measures:
        Scope. Each changed path, both ends of a rename, is compared with `patterns`; one that matches fails
        the check. A symlink put where a pattern names a folder (`.github` for `.github/**`) counts as a
        change of that folder. A changed folder that cannot be listed fails the check where a pattern could
        match in it. An attempt that changed nothing passes.

    Evidence:
        The whole change set, litter included: a forbidden path stays forbidden when it is ignored by git.

    How it is fooled:
        A pattern names places, not purposes: `.github/**` does not see a pipeline kept in `ci/`. Names
        differ by case on Linux, so `*.pem` does not match `KEY.PEM`. A pattern that starts with a wildcard
        (`*.key`) does not look behind a symlink to a folder outside the workspace.

    Example:
        ```yaml
        scorers:
          - name: pipelines and secrets are off limits
            type: forbid_paths
            patterns: [".github/**", "secrets/**", "*.pem"]
        ```
    """

    name: ClassVar[str] = "forbid_paths"
    version: ClassVar[str] = "1"
    required_by_default: ClassVar[bool] = True
    advisory_only: ClassVar[bool] = False

    class Config(ScorerConfig):
        """Fields of `forbid_paths`."""

        patterns: tuple[PathPattern, ...] = Field(min_length=1)
        """Shell-style globs over paths relative to the workspace. A `*` crosses slashes; `.github/**` is
        everything beneath `.github`."""

    def needs(self, config: Config) -> Sequence[AnyRequest]:
        """The change set."""
        return (ParsedChange(),)

    def score(self, config: Config, evidence: Evidence) -> ScorerOutcome:
        """FAIL when a changed path matches a pattern."""
        changes = evidence[ParsedChange()].change_set.changes
        forbidden = PathPatterns(config.patterns)
        touched = [finding for change in changes for finding in _touched(change, forbidden)]
        if touched:
            return ScorerOutcome.failed(
                f"{counted(len(touched), 'forbidden path')} changed", findings=first_findings(touched)
            )
        return ScorerOutcome.passed(
            f"none of {counted(len(changes), 'changed path')} is forbidden" if changes else "nothing changed"
        )


def _touched(change: FileChange, forbidden: PathPatterns) -> Iterator[Finding]:
    for path in change.paths:
        pattern = forbidden.matching(path)
        done = f"renamed to {render_path(change.path)}" if path != change.path else happened_to(change)
        if pattern is None and path == change.path and _stands_in_for_a_folder(change):
            pattern = forbidden.reaching_below(path)
            done += f" as a {change.new_type} in the place of a forbidden folder"
        if pattern is not None:
            message = f"{render_path(path)} was {done}; forbidden by {pattern}"
            line = first_changed_line(change) if path == change.path else None
            yield Finding(rule="path-forbidden", path=path, line=line, message=message)
        elif path == change.path and change.is_unlisted_folder:
            pattern = forbidden.may_match_below(path)
            if pattern is not None:
                message = f"{render_path(path)} {change.unreadable}; it may hold what {pattern} forbids"
                yield Finding(rule="path-unlistable", path=path, message=message)


def _stands_in_for_a_folder(change: FileChange) -> bool:
    return change.new_type not in (None, EntryType.FILE, EntryType.DIRECTORY, EntryType.SPECIAL)
