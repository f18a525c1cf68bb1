"""`no_new_skips`: no test was made to skip or to be expected to fail."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, ClassVar

from pydantic import Field

from adjudge.contracts import Evidence
from adjudge.formats.patterns import PathPattern
from adjudge.records.evidence import AnyRequest
from adjudge.records.paths import render_path
from adjudge.records.score import Finding, ScorerConfig, ScorerOutcome
from adjudge.scorers.integrity.changed_tests import (
    changed_tests,
    lines_of_tests,
    marker_moves,
    shown,
    unreadable,
)
from adjudge.scorers.wording import counted, first_findings
from adjudge.syntax.lines import skips_in

__all__ = ["NoNewSkips"]


class NoNewSkips:
    """No more skip or expected-failure markers were added to test files than removed.

    Measures:
        Avoiding tests. Markers that keep a test from running or from failing (`pytest.mark.skip`, `xfail`,
        `unittest.skip`, `it.skip`, `xit`, `.only`, `t.Skip`, `@Disabled`, `#[ignore]`, …) are counted on
        the added and on the removed lines of changed test files, in Python, JavaScript and TypeScript, Go,
        Java, Rust and Ruby. More added than removed, over all files together, fails. Markers in comments
        and strings do not count. N/A when no test file changed.

    Evidence:
        The changed lines of test files, litter included: those matching `test_globset`, or each language's
        usual names, other people's code under `node_modules` and its like left out. A changed test file
        without lines to compare (binary, too large) fails the check.

    How it is fooled:
        It is a heuristic over lines. A test that is renamed so that the runner passes it over, returns early,
        or is deselected in configuration is not seen; a marker removed in one file makes up for one added in
        another; a string that was open before the first changed line hides what follows it. Rust tests inside
        source files are not test files unless `test_globset` says so. Advisory by default.

    Example:
        ```yaml
        scorers:
          - name: nothing skipped
            type: no_new_skips
            test_globset: ["tests/**"]
            required: true
        ```
    """

    name: ClassVar[str] = "no_new_skips"
    version: ClassVar[str] = "1"
    required_by_default: ClassVar[bool] = False
    advisory_only: ClassVar[bool] = False

    class Config(ScorerConfig):
        """Fields of `no_new_skips`."""

        test_globset: Annotated[tuple[PathPattern, ...], Field(min_length=1)] | None = None
        """Shell-style globs of the test files. Left out: the usual names in each language."""

    def needs(self, config: Config) -> Sequence[AnyRequest]:
        """The change set with the lines of test files."""
        return (lines_of_tests(config.test_globset),)

    def score(self, config: Config, evidence: Evidence) -> ScorerOutcome:
        """FAIL when more markers came than went."""
        tests = changed_tests(config.test_globset, evidence)
        if not tests:
            return ScorerOutcome.not_applicable("no test file changed")
        moves = marker_moves(tests, skips_in)
        hidden = unreadable(tests, "test-without-lines")
        details = {
            "test_files_changed": len(tests),
            "skips_added": moves.added,
            "skips_removed": moves.removed,
        }
        net = moves.added - moves.removed
        if net <= 0 and not hidden:
            return ScorerOutcome.passed(
                f"{counted(len(tests), 'changed test file')}, no new skip markers", details=details
            )
        new = moves.new if net > 0 else ()
        reasons = [f"{counted(net, 'net new skip marker')}"] if net > 0 else []
        reasons += [f"{counted(len(hidden), 'test file')} without lines to compare"] if hidden else []
        return ScorerOutcome.failed(
            "; ".join(reasons),
            findings=first_findings(
                [
                    *(
                        Finding(
                            rule="new-skip",
                            path=path,
                            line=marker.number,
                            message=f"{render_path(path)}:{marker.number} skips: {shown(marker.text)}",
                        )
                        for path, marker in new
                    ),
                    *hidden,
                ]
            ),
            details=details,
        )
