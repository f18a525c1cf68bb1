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
    by_syntax,
    changed_tests,
    evidence_on_tests,
    marker_moves,
    product_change,
    shown,
    unreadable,
    weakening_finding,
)
from adjudge.scorers.wording import counted, first_findings
from adjudge.syntax.lines import skips_in
from adjudge.syntax.testcode.compare.skips import new_skips

__all__ = ["NoNewSkips"]


class NoNewSkips:
    """No test was made to skip or to be expected to fail.

    Measures:
        Avoiding tests. Python, JavaScript, TypeScript, Go, Java, Rust and Ruby tests are read by their
        syntax: tests are matched across versions by name, body and what they check, and a test that has a
        mark it did not have before (`pytest.mark.skip`, `xfail`, `unittest.skip`, `SkipTest`, `importorskip`,
        `it.skip`, `xit`, `it.todo`, `t.Skip`, `@Disabled`, `enabled = false`, `#[ignore]`, `pending`, …)
        fails the check, wherever the mark stands: on the test, its class, the file, one case, or inside. So
        do a focus (`.only`, `fit`), which keeps the others from running, and what leaves a test out of the
        build (`//go:build` with a tag of its own, `#[cfg(any())]`, `#[cfg(feature = …)]`).

        A mark under a condition counts when the condition is plainly true here (`True`, `1 == 1`, a constant
        of the file, `sys.version_info >= (3,)`) or asks for a variable of the environment; one on a platform
        or on something that cannot be read off may be false here and does not, nor does a hook that skips
        tests with a mark of their own. A test that moves takes its marks along. A mark on a new test is
        counted as well (`new-test-skipped`), but makes nobody suspect, unless the test stands where an old
        one stood. A build condition does not count where sources that were there get the same one.

        Files that do not parse are compared by counting markers on added and removed lines; more added than
        removed, over all such files, fails. Markers in comments and strings do not count. N/A when no test
        changed.

    Evidence:
        Both sides of changed test files, litter included: those matching `test_globset`, or each language's
        usual names, other people's code under `node_modules` and its like left out; Rust sources that hold
        tests. A changed test file without lines to compare (binary, too large) fails the check.

    How it is fooled:
        It does not run anything. A test that is renamed so that the runner passes it over or returns early is
        left to `assertions_not_weakened`; one that is deselected in configuration or by a hook that sets no
        mark is `harness_unmodified`'s. A condition that happens to be true everywhere is taken for one.
        Advisory by default.

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
    version: ClassVar[str] = "4"
    required_by_default: ClassVar[bool] = False
    advisory_only: ClassVar[bool] = False

    class Config(ScorerConfig):
        """Fields of `no_new_skips`."""

        test_globset: Annotated[tuple[PathPattern, ...], Field(min_length=1)] | None = None
        """Shell-style globs of the test files. Left out: the usual names in each language."""

    def needs(self, config: Config) -> Sequence[AnyRequest]:
        """The changed test files, by line and by what they check."""
        return evidence_on_tests(config.test_globset)

    def score(self, config: Config, evidence: Evidence) -> ScorerOutcome:
        """FAIL when more markers came than went."""
        tests = changed_tests(config.test_globset, evidence)
        if not tests:
            return ScorerOutcome.not_applicable("no test file changed")
        suites, others = by_syntax(tests, config.test_globset, evidence)
        built_with = product_change(tests, config.test_globset, evidence).conditions
        marked = [weakening_finding(skip) for skip in new_skips(suites) if skip.after not in built_with]
        moves = marker_moves(others, skips_in)
        net = max(0, moves.added - moves.removed)
        hidden = unreadable(tests, "test-without-lines")
        details = {
            "test_files_changed": len(tests),
            "test_files_by_syntax": len(suites),
            "skips_added": moves.added + len(marked),
            "skips_removed": moves.removed,
        }
        if not marked and not net and not hidden:
            return ScorerOutcome.passed(
                f"{counted(len(tests), 'changed test file')}, no new skip markers", details=details
            )
        new = moves.new if net else ()
        total = net + len(marked)
        reasons = [f"{counted(total, 'net new skip marker')}"] if total else []
        reasons += [f"{counted(len(hidden), 'test file')} without lines to compare"] if hidden else []
        by_line = (
            Finding(
                rule="new-skip",
                path=path,
                line=marker.number,
                message=f"{render_path(path)}:{marker.number} skips: {shown(marker.text)}",
            )
            for path, marker in new
        )
        return ScorerOutcome.failed(
            "; ".join(reasons), findings=first_findings([*marked, *by_line, *hidden]), details=details
        )
