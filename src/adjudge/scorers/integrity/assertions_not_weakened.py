"""`assertions_not_weakened`: no assertion was taken out of the tests."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence, Set
from typing import Annotated, ClassVar, Final

from pydantic import Field, JsonValue

from adjudge.contracts import Evidence
from adjudge.formats.patterns import PathPattern
from adjudge.records.change import ChangeKind
from adjudge.records.evidence import AnyRequest
from adjudge.records.paths import render_path
from adjudge.records.score import Finding, ScorerConfig, ScorerOutcome
from adjudge.records.testcode import SuiteOutline
from adjudge.scorers.integrity.changed_tests import (
    ChangedTest,
    ProductChange,
    by_syntax,
    changed_tests,
    evidence_on_tests,
    lines_of_sources,
    marker_moves,
    product_change,
    shown,
    unreadable,
    weakening_finding,
)
from adjudge.scorers.integrity.recordings import changed_recordings
from adjudge.scorers.wording import counted, first_findings
from adjudge.syntax.lines import assertions_in
from adjudge.syntax.testcode.compare.gains import outweighed, strong_gains
from adjudge.syntax.testcode.compare.matching import COMMON_CALLS, SuiteChange, Weakening
from adjudge.syntax.testcode.compare.weakening import count_checks, weakenings

__all__ = ["AssertionsNotWeakened"]

_LONG: Final = 7
_ENDING: Final = 2
"""How long names are that say something by themselves, and how much of their ends may differ."""


class AssertionsNotWeakened:
    """No test was made to check less than before.

    Measures:
        Weakening tests. Python, JavaScript, TypeScript, Go, Java, Rust and Ruby tests are read by their
        syntax. Tests are matched across versions by name, body and what they check, and what a helper of the
        file checks belongs to the test that calls it; so renaming, moving, splitting, adding parameters,
        porting from one runner to another, extracting helpers and reformatting change nothing. It fails when
        a check

        - always holds: `assert True`, `or True`, a tuple, a comparison with itself or of literals, an object
          whose `__eq__` agrees to anything (`assertion-always-holds`, `comparison-emptied`);
        - says much less of the same thing, as `==` made into `in`, truthy or `is not None`, `toBe` into
          `toBeTruthy` (`matcher-loosened`), or allows for more (`tolerance-widened`);
        - cannot fail its test: after a `return`, under a condition that is never true or asks for a variable
          of the environment, inside a handler that forgets, asked to fail, a promise nobody waits for, a
          function nobody calls, a loop over nothing (`assertion-unreachable`, `-gated`, `-swallowed`,
          `-inverted`, `-unawaited`);

        when a test is no longer found by its runner or is shadowed by another of its name
        (`test-not-collected`), is tried with less (`inputs-narrowed`), looks at a mock or at a copy of what
        it tests (`subject-mocked`, `subject-replaced`), or when a test file was renamed to a name that is no
        test's (`test-renamed-away`).

        What a changed requirement looks like, too, fails it only where the attempt changed nothing but
        tests: a check or a test that is gone (`assertion-removed`, `test-removed`), another expected value
        (`expected-changed`), the opposite asked for (`polarity-flipped`), rows gone from a table
        (`cases-dropped`), recorded answers that changed (`recording-changed`). Beside changed sources these
        are in the details as `noted`, unless a whole file of tests went, little of what it asked is asked
        elsewhere, nothing that it names went with it and no new file takes its subject over. So are up to
        five mild losses beside four times as many new checks for one value: a check that still asks for most
        of its text, one that went from a test which asks others.

        Files that do not parse are compared by counting assertions on removed and added lines; beside changed
        sources, only files that went. N/A when no test changed.

    Evidence:
        Both sides of changed test files, litter included: those matching `test_globset`, or each language's
        usual names, other people's code under `node_modules` and its like left out; Rust sources that hold
        tests. Which words changed sources no longer mention. A changed test file without lines to compare
        (binary, too large) fails the check.

    How it is fooled:
        It does not run anything, and reads what can be innocent as innocent. A check removed beside changed
        sources is noted and no more; so is an expected value changed to what the code now returns. A check
        replaced by another, equally strong one on something else passes, as do other inputs, one check that
        is loosened a little beside many that hold anyway, and a helper whose checks were emptied together
        with its name. Advisory by default; a run of the baseline's tests is the proof.

    Example:
        ```yaml
        scorers:
          - name: checks kept
            type: assertions_not_weakened
            test_globset: ["tests/**", "**/*.spec.ts"]
        ```
    """

    name: ClassVar[str] = "assertions_not_weakened"
    version: ClassVar[str] = "4"
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
        recorded = changed_recordings(evidence[lines_of_sources(config.test_globset)].change_set)
        if not tests and not recorded:
            return ScorerOutcome.not_applicable("no test file changed")
        suites, others = by_syntax(tests, config.test_globset, evidence)
        found = [*weakenings(suites), *recorded]
        product = product_change(tests, config.test_globset, evidence)
        unexplained = _unexplained(found, suites, tests, product)
        changed: list[Weakening] = []
        weak: list[Weakening] = []
        for one in found:
            explained = one.arguable and product.changed and one.path not in unexplained
            (changed if explained else weak).append(one)
        if outweighed(weak, suites, anywhere=product.changed):
            changed, weak = [*weak, *changed], []
        by_line = [test for test in others if not test.left]
        if product.changed:
            # As with checks that are read by syntax: what a changed requirement looks like, too.
            by_line = [test for test in by_line if test.change.kind is ChangeKind.DELETED]
        moves = marker_moves(by_line, assertions_in)
        net = max(0, moves.removed - moves.added)
        details: dict[str, JsonValue] = {
            "test_files_changed": len(tests),
            "test_files_by_syntax": len(suites),
            "assertions_added": moves.added + _total(suites, before=False),
            "assertions_removed": moves.removed + _total(suites, before=True),
            "expected_changed": sum(one.rule == "expected-changed" for one in (*weak, *changed)),
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


def _unexplained(
    found: Sequence[Weakening],
    suites: Sequence[SuiteChange],
    tests: Sequence[ChangedTest],
    product: ProductChange,
) -> set[str]:
    """Test files that went although nothing that they name vanished from the sources.

    One whose checks are asked elsewhere for the most part was written anew.
    """
    gone = {test.change.path for test in tests if test.change.kind is ChangeKind.DELETED}
    explained = {one.path for one in found if one.names & product.vanished}
    lost = Counter(one.path for one in found if one.rule in ("assertion-removed", "test-removed"))
    asked = {suite.old_path: count_checks(suite.before) for suite in suites}
    return {
        path
        for path in gone & lost.keys() - explained
        if lost[path] * 2 > asked.get(path, 0)
        and not _is_named(path, product.vanished)
        and _taken_over(path, suites) < lost[path]
    }


def _taken_over(path: str, suites: Sequence[SuiteChange]) -> int:
    """How many strong checks came in new test files that call what a file of tests called."""
    called = {suite.old_path: _calls(suite.before) for suite in suites}.get(path, frozenset())
    gains = strong_gains(suites)
    return sum(gains[suite.path] for suite in suites if suite.before is None and _calls(suite.after) & called)


def _calls(outline: SuiteOutline | None) -> Set[str]:
    tests = outline.tests if outline is not None else ()
    return {name for test in tests for name in test.calls} - COMMON_CALLS


def _is_named(path: str, vanished: Set[str]) -> bool:
    """Whether a part of a test file's path is a name that vanished, but for the end of the word."""
    parts = {_plain(part) for part in path.rpartition(".")[0].split("/")}
    words = {_plain(word) for word in vanished}
    return any(
        len(part) >= _LONG
        and any(
            len(word) >= _LONG
            and abs(len(part) - len(word)) <= _ENDING
            and (part.startswith(word) or word.startswith(part))
            for word in words
        )
        for part in parts
    )


def _plain(name: str) -> str:
    """A name whatever its case, its hyphens and what makes it a test's."""
    bare = re.sub(r"(?:^|[_.-])(?:tests?|specs?)(?=$|[_.-])", "", name, flags=re.IGNORECASE)
    return re.sub(r"[^a-z0-9]", "", bare.lower())


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
