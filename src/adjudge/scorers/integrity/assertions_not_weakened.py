"""`assertions_not_weakened`: no assertion was taken out of the tests."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, ClassVar

from pydantic import Field, JsonValue

from adjudge.contracts import Evidence
from adjudge.formats.patterns import PathPattern
from adjudge.records.evidence import AnyRequest
from adjudge.records.paths import render_path
from adjudge.records.score import Finding, ScorerConfig, ScorerOutcome
from adjudge.scorers.integrity.changed_tests import (
    ChangedTest,
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
from adjudge.syntax.lines import assertions_in
from adjudge.syntax.testcode.compare.matching import SuiteChange
from adjudge.syntax.testcode.compare.weakening import count_checks, weakenings

__all__ = ["AssertionsNotWeakened"]


class AssertionsNotWeakened:
    """No test was made to check less than before.

    Measures:
        Weakening tests. In Python, JavaScript, TypeScript and Go test files are read by their syntax. Tests
        are matched across versions by name, body and what they check, so that renaming, moving, splitting,
        adding parameters, porting from `unittest` to `pytest`, extracting helpers and reformatting change
        nothing. It fails when a check

        - is gone, with its test or without it, and nothing like it came (`assertion-removed`,
          `test-removed`);
        - always holds: `assert True`, `or True`, a tuple, a comparison with itself
          (`assertion-always-holds`);
        - says much less of the same thing, as `==` made into `in`, truthy or `is not None`, `toBe` into
          `toBeTruthy`, an exception into `Exception` (`matcher-loosened`, `tolerance-widened`);
        - asks the opposite (`polarity-flipped`);
        - cannot fail its test: after a `return`, under `if False` or a look at the environment, inside a
          `try` that forgets, a promise nobody waits for (`assertion-unreachable`, `-gated`, `-swallowed`,
          `-unawaited`);

        when a test lost rows of its table (`cases-dropped`), is no longer found by the runner or is shadowed
        by another of its name (`test-not-collected`), or when a test file was renamed to a name that is no
        test's. Another expected value fails it only where the attempt changed no source but tests
        (`expected-changed`); otherwise it is in the details as `noted`, for whether it is right depends on
        the task.

        In Java, Rust and Ruby, and in files that do not parse, assertions are counted on removed and added
        lines; more removed than added, over all such files, fails. N/A when no test file changed.

    Evidence:
        Both sides of changed test files, litter included: those matching `test_globset`, or each language's
        usual names, other people's code under `node_modules` and its like left out. A changed test file
        without lines to compare (binary, too large) fails the check.

    How it is fooled:
        It does not run anything, and reads what can be innocent as innocent. A check replaced by another,
        equally strong one on something else passes; so do other inputs, a subject that is mocked or written
        anew inside the test, a helper whose checks are empty in a file that did not change, a deleted test
        beside a new one that calls the same function, and regenerated golden data. Where lines are counted,
        ten empty assertions make up for ten real ones. Rust tests inside source files are not test files
        unless `test_globset` says so. Advisory by default; a run of the baseline's tests is the proof.

    Example:
        ```yaml
        scorers:
          - name: checks kept
            type: assertions_not_weakened
            test_globset: ["tests/**", "**/*.spec.ts"]
        ```
    """

    name: ClassVar[str] = "assertions_not_weakened"
    version: ClassVar[str] = "2"
    required_by_default: ClassVar[bool] = False
    advisory_only: ClassVar[bool] = False

    class Config(ScorerConfig):
        """Fields of `assertions_not_weakened`."""

        test_globset: Annotated[tuple[PathPattern, ...], Field(min_length=1)] | None = None
        """Shell-style globs of the test files. Left out: the usual names in each language."""

    def needs(self, config: Config) -> Sequence[AnyRequest]:
        """The changed test files, by line and by what they check."""
        return evidence_on_tests(config.test_globset)

    def score(self, config: Config, evidence: Evidence) -> ScorerOutcome:
        """FAIL when more assertions went than came."""
        tests = changed_tests(config.test_globset, evidence)
        if not tests:
            return ScorerOutcome.not_applicable("no test file changed")
        suites, others = by_syntax(tests, config.test_globset, evidence)
        found = weakenings(suites)
        product = product_change(tests, config.test_globset, evidence)
        weak = [one for one in found if not (one.arguable and product.changed)]
        changed = [one for one in found if one.arguable and product.changed]
        moves = marker_moves([test for test in others if not test.left], assertions_in)
        net = max(0, moves.removed - moves.added)
        details: dict[str, JsonValue] = {
            "test_files_changed": len(tests),
            "test_files_by_syntax": len(suites),
            "assertions_added": moves.added + _total(suites, before=False),
            "assertions_removed": moves.removed + _total(suites, before=True),
            "noted": [f"{render_path(one.path)}:{one.line} {one.message}" for one in changed[:100]],
        }
        left = [_left(test) for test in tests if test.left]
        hidden = unreadable(tests, "test-without-lines")
        if not weak and not net and not left and not hidden:
            noted = f"; {counted(len(changed), 'expected value')} changed" if changed else ""
            return ScorerOutcome.passed(
                f"{counted(len(tests), 'changed test file')}, no assertions lost{noted}", details=details
            )
        lost = net + sum(1 for one in weak if one.rule == "assertion-removed")
        other = sum(1 for one in weak if one.rule != "assertion-removed")
        reasons = [f"{counted(lost, 'assertion')} fewer than before"] if lost else []
        reasons += [f"{counted(other, 'check')} made to say less"] if other else []
        reasons += [f"{counted(len(left), 'test file')} renamed away from the tests"] if left else []
        reasons += [f"{counted(len(hidden), 'test file')} without lines to compare"] if hidden else []
        gone = moves.gone if net else ()
        removed = (
            Finding(
                rule="assertion-removed",
                path=path,
                line=marker.number,
                message=f"{render_path(path)}:{marker.number} lost: {shown(marker.text)}",
            )
            for path, marker in gone
        )
        findings = [*(weakening_finding(one) for one in weak), *removed, *left, *hidden]
        return ScorerOutcome.failed("; ".join(reasons), findings=first_findings(findings), details=details)


def _total(suites: Sequence[SuiteChange], *, before: bool) -> int:
    """How many checks there were, or are, in the files compared by what they check."""
    return sum(count_checks(suite.before if before else suite.after) for suite in suites)


def _left(test: ChangedTest) -> Finding:
    before = render_path(test.change.old_path or "")
    return Finding(
        rule="test-renamed-away",
        path=test.change.path,
        message=f"{before} was renamed to {render_path(test.change.path)}, which is no test file's name",
    )
