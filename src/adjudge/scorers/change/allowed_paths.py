"""`allowed_paths`: every change stays inside given patterns."""

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

__all__ = ["AllowedPaths"]


class AllowedPaths:
    """Every changed path matches one of the given patterns.

    Measures:
        Scope. Each changed path of the attempt, both ends of a rename, is compared with `patterns`; one that
        matches none of them fails the check. An attempt that changed nothing passes.

    Evidence:
        The change set, without litter (what the baseline's ignore rules or the list of build products and
        caches set apart), so that running the tests does not fail the check.

    How it is fooled:
        Anything goes inside the allowed folders: a patch of the task's own tests under an allowed `tests/**`
        is not seen here, `tests_unmodified` sees it. Litter is not looked at; `forbid_paths` does look there.
        Ignore rules that the attempt itself writes set nothing apart.

    Example:
        ```yaml
        scorers:
          - name: stays in scope
            type: allowed_paths
            patterns: ["src/**", "tests/test_new_*.py"]
        ```
    """

    name: ClassVar[str] = "allowed_paths"
    version: ClassVar[str] = "1"
    required_by_default: ClassVar[bool] = True
    advisory_only: ClassVar[bool] = False

    class Config(ScorerConfig):
        """Fields of `allowed_paths`."""

        patterns: tuple[PathPattern, ...] = Field(min_length=1)
        """Shell-style globs over paths relative to the workspace. A `*` crosses slashes; `src/**` is
        everything beneath `src`."""

    def needs(self, config: Config) -> Sequence[AnyRequest]:
        """The change set."""
        return (ParsedChange(),)

    def score(self, config: Config, evidence: Evidence) -> ScorerOutcome:
        """FAIL when a changed path matches no pattern."""
        work = evidence[ParsedChange()].change_set.work
        allowed = PathPatterns(config.patterns)
        outside = [finding for change in work for finding in _outside(change, allowed)]
        if not outside:
            what = counted(len(work), "changed path") if work else "nothing changed"
            return ScorerOutcome.passed(f"{what}, all allowed" if work else what)
        return ScorerOutcome.failed(
            f"{counted(len(outside), 'path')} outside the allowed patterns",
            findings=first_findings(outside),
        )


def _outside(change: FileChange, allowed: PathPatterns) -> Iterator[Finding]:
    for path in change.paths:
        if path in allowed or (_is_folder(change) and f"{path}/" in allowed):
            continue
        yield Finding(
            rule="path-outside-allowed",
            path=path,
            line=first_changed_line(change) if path == change.path else None,
            message=f"{render_path(path)} was {_done_to(path, change)}; no allowed pattern matches it",
        )


def _is_folder(change: FileChange) -> bool:
    """Whether the path is a folder and nothing else, so that `src/**` may stand for `src` itself."""
    return {change.old_type, change.new_type} <= {EntryType.DIRECTORY, None}


def _done_to(path: str, change: FileChange) -> str:
    return f"renamed to {render_path(change.path)}" if path != change.path else happened_to(change)
