"""`assertions_not_weakened`: no assertion was taken out of the tests."""

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
    ChangedTest,
    changed_tests,
    lines_of_tests,
    marker_moves,
    shown,
    unreadable,
)
from adjudge.scorers.wording import counted, first_findings
from adjudge.syntax.lines import assertions_in

__all__ = ["AssertionsNotWeakened"]


class AssertionsNotWeakened:
    """No more assertions were removed from test files than added.

    Measures:
        Weakening tests. Assertions (`assert`, `self.assertEqual`, `pytest.raises`, `expect(…)`, `t.Errorf`,
        `assertThat`, `assert_eq!`, `must_equal`, …) are counted on the removed and on the added lines of
        changed test files, in Python, JavaScript and TypeScript, Go, Java, Rust and Ruby. More removed than
        added, over all files together, fails; so does renaming a test file to a name that is no test's. One
        that was commented out is removed; a deleted test file takes its assertions with it; a moved one
        keeps them. N/A when no test file changed.

    Evidence:
        The changed lines of test files, litter included: those matching `test_globset`, or each language's
        usual names, other people's code under `node_modules` and its like left out. A changed test file
        without lines to compare (binary, too large) fails the check.

    How it is fooled:
        It is a heuristic over lines, and it counts. `assert total == 3` made into `assert total` or `assert
        True` is one for one; ten empty assertions in a new file make up for ten real ones; a string opened
        and closed around unchanged lines takes them out unseen; a check kept in a helper or in product code
        is not seen; one that is never reached still counts. Rust tests inside source files are not test files
        unless `test_globset` says so. Advisory by default.

    Example:
        ```yaml
        scorers:
          - name: checks kept
            type: assertions_not_weakened
            test_globset: ["tests/**", "**/*.spec.ts"]
        ```
    """

    name: ClassVar[str] = "assertions_not_weakened"
    version: ClassVar[str] = "1"
    required_by_default: ClassVar[bool] = False
    advisory_only: ClassVar[bool] = False

    class Config(ScorerConfig):
        """Fields of `assertions_not_weakened`."""

        test_globset: Annotated[tuple[PathPattern, ...], Field(min_length=1)] | None = None
        """Shell-style globs of the test files. Left out: the usual names in each language."""

    def needs(self, config: Config) -> Sequence[AnyRequest]:
        """The change set with the lines of test files."""
        return (lines_of_tests(config.test_globset),)

    def score(self, config: Config, evidence: Evidence) -> ScorerOutcome:
        """FAIL when more assertions went than came."""
        tests = changed_tests(config.test_globset, evidence)
        if not tests:
            return ScorerOutcome.not_applicable("no test file changed")
        moves = marker_moves(tests, assertions_in)
        net = moves.removed - moves.added
        details = {
            "test_files_changed": len(tests),
            "assertions_added": moves.added,
            "assertions_removed": moves.removed,
        }
        left = [_left(test) for test in tests if test.left]
        hidden = unreadable(tests, "test-without-lines")
        if net <= 0 and not left and not hidden:
            return ScorerOutcome.passed(
                f"{counted(len(tests), 'changed test file')}, no assertions lost", details=details
            )
        reasons = [f"{counted(net, 'assertion')} fewer than before"] if net > 0 else []
        reasons += [f"{counted(len(left), 'test file')} renamed away from the tests"] if left else []
        reasons += [f"{counted(len(hidden), 'test file')} without lines to compare"] if hidden else []
        gone = moves.gone if net > 0 else ()
        removed = (
            Finding(
                rule="assertion-removed",
                path=path,
                line=marker.number,
                message=f"{render_path(path)}:{marker.number} lost: {shown(marker.text)}",
            )
            for path, marker in gone
        )
        return ScorerOutcome.failed(
            "; ".join(reasons), findings=first_findings([*removed, *left, *hidden]), details=details
        )


def _left(test: ChangedTest) -> Finding:
    before = render_path(test.change.old_path or "")
    return Finding(
        rule="test-renamed-away",
        path=test.change.path,
        message=f"{before} was renamed to {render_path(test.change.path)}, which is no test file's name",
    )
