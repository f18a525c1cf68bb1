"""`files`: expected files are there byte for byte, and patterns appear somewhere."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, Self

from pydantic import Field, JsonValue, model_validator

from adjudge.contracts import Evidence
from adjudge.formats.regex import Regex
from adjudge.records.evidence import AnyRequest, FileComparison, FileMatch, PatternSearch
from adjudge.records.paths import ScenarioFile, render_path
from adjudge.records.score import Finding, ScorerConfig, ScorerOutcome
from adjudge.scorers.wording import counted, first_findings

__all__ = ["Files"]

_RULES = {
    FileMatch.DIFFERENT: "file-different",
    FileMatch.MISSING: "file-missing",
    FileMatch.NOT_A_FILE: "file-not-a-file",
}


class Files:
    """Expected files are there byte for byte, and each pattern appears somewhere in the workspace.

    Measures:
        Two independent checks, either or both. Each file of `expect_dir` is one check: a regular file at the
        same path in the final workspace has the same bytes; a symlink to an equal file does not count. Each
        of `patterns` is one check: the regular expression matches in some text file. The score is the
        fraction of checks that hold; PASS when it reaches `pass_threshold`.

        Litter, `.git` and other people's packages (`node_modules`, virtual environments, `vendor`) are not
        searched, nor is what a recipe injects, which is never in the final workspace. Patterns are RE2's:
        Python's without look-around and back references, so that none can hang a grading.

    Evidence:
        The comparison of every expected file with the first lines that differ, and where each pattern was
        first found. The details have `checks`, `held` and `matches`.

    How it is fooled:
        A pattern says that a text is there, not that it does anything: a comment or a stray file with the
        word in it passes, and so does one that the baseline had already. An expected file can be written
        out without any work by whoever has read it; keep it out of the workspace.

    Example:
        ```yaml
        graders:
          - type: files
            weight: 1.0
            expect_dir: ./graders/expected
            patterns: ["retry", "backoff"]
        ```
    """

    name: ClassVar[str] = "files"
    version: ClassVar[str] = "1"
    required_by_default: ClassVar[bool] = True
    advisory_only: ClassVar[bool] = False

    class Config(ScorerConfig):
        """Fields of `files`."""

        expect_dir: ScenarioFile | None = None
        """A folder of the scenario; each file in it must be in the workspace, byte for byte."""
        patterns: tuple[Regex, ...] = Field(default=(), max_length=100)
        """Regular expressions, each of which must match somewhere in the workspace's text files."""
        pass_threshold: float = Field(default=1.0, ge=0.0, le=1.0)
        """The score from which on it is a PASS."""

        @model_validator(mode="after")
        def _checks_something(self) -> Self:
            if self.expect_dir is None and not self.patterns:
                raise ValueError("give expect_dir, patterns or both; without them there is nothing to check")
            return self

    def needs(self, config: Config) -> Sequence[AnyRequest]:
        """The comparison of files, the search for patterns, or both."""
        needs: list[AnyRequest] = []
        if config.expect_dir is not None:
            needs.append(FileComparison(folder=config.expect_dir))
        if config.patterns:
            needs.append(PatternSearch(patterns=config.patterns))
        return needs

    def score(self, config: Config, evidence: Evidence) -> ScorerOutcome:
        """The fraction of checks that hold."""
        findings: list[Finding] = []
        matches: dict[str, JsonValue] = {}
        checks = 0
        if config.expect_dir is not None:
            compared = evidence[FileComparison(folder=config.expect_dir)].files
            checks += len(compared)
            findings += [
                Finding(
                    rule=_RULES[file.match],
                    path=file.path,
                    line=file.line,
                    message=f"{render_path(file.path)} is not as expected: {file.note}",
                )
                for file in compared
                if file.match is not FileMatch.SAME
            ]
        if config.patterns:
            found = evidence[PatternSearch(patterns=config.patterns)]
            checks += len(found.matches)
            for match in found.matches:
                place = None if match.path is None else f"{render_path(match.path)}:{match.line}"
                matches[match.pattern] = place
                if place is None:
                    searched = f"{counted(found.searched_files, 'file')}{_left_out(found.unsearched)}"
                    message = f"{match.pattern!r} matches in none of {searched}"
                    findings.append(Finding(rule="pattern-missing", message=message))
        details: dict[str, JsonValue] = {"checks": checks, "held": checks - len(findings), "matches": matches}
        if not checks:
            # The folder was checked when the scenario was read; only an empty one comes here.
            return ScorerOutcome.failed(f"{config.expect_dir} holds no file to expect", details=details)
        held = checks - len(findings)
        reason = (
            f"{held:,} of {counted(checks, 'check')} hold"
            if findings
            else f"all {counted(checks, 'check')} hold"
        )
        return ScorerOutcome.fraction(
            held / checks, config.pass_threshold, reason, findings=first_findings(findings), details=details
        )


def _left_out(unsearched: Sequence[str]) -> str:
    return f"; {counted(len(unsearched), 'file')} not searched to the end" if unsearched else ""
