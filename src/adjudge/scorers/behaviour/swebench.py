"""`swebench`: tests that have to go from failing to passing, and tests that have to stay green."""

from __future__ import annotations

import re
from collections.abc import Container, Mapping, Sequence
from typing import Annotated, ClassVar, Self

from pydantic import Field, JsonValue, StringConstraints, model_validator

from adjudge.contracts import Evidence
from adjudge.formats.testcommands.suites import parse_suite
from adjudge.formats.testcommands.words import SuiteCommand
from adjudge.records.evidence import AnyRequest, TestCommand, TestRun
from adjudge.records.paths import ScenarioFile
from adjudge.records.score import Finding, ScorerOutcome
from adjudge.records.testreport import TestOutcome, TrustedTest, TrustedTestRun
from adjudge.scorers.behaviour.coderun import ShellCommand, clean_needs, left_out, tree_of
from adjudge.scorers.behaviour.suiterun import (
    PythonConfig,
    failing,
    output_of,
    shown_command,
    suite_details,
    unproven_note,
    unstable_finding,
    unstable_note,
    with_path,
)
from adjudge.scorers.wording import first_findings

__all__ = ["SweBench"]

TestId = Annotated[str, StringConstraints(pattern=r"\S", max_length=4096)]

_BY_FILE = ("node", "jest", "vitest")
"""Their ids say which files are run."""
_DJANGO = re.compile(r"(\w+) \(([\w.]+)\)")
"""How unittest prints an id."""


class SweBench:
    """The tests of a bug pass, and the tests that passed before still do.

    Measures:
        The share of `fail_to_pass` ids that pass is the score; PASS when it reaches `pass_threshold`. Every
        `pass_to_pass` id has to pass as well: one that does not acts as a failed gate, the row is a FAIL with
        0 and the combined score is 0, whatever else passed. Without `pass_to_pass` there is no such gate.

        An id passes when every phase and subtest of it passes, as written, and its falsified twin fails.
        Missing, skipped, expected to fail or deselected is no pass, nor is an id that two tests claim. An id
        without parameters stands for all its parametrisations, one that is cut off inside them, as in the
        public data sets, for every id that starts with it. A `pass_to_pass` id that does not pass is run once
        more in a fresh copy; passing then, it does not close the gate and is shown as unstable. An id that is
        recorded as unstable on the baseline (`adjudge doctor SCENARIO`) is taken out of both lists; when none
        of `fail_to_pass` is left, the row is a FAIL.

        Test files are the baseline's with `test_patch` applied and `inject` laid over them; what the attempt
        made of them is left out (`isolation: clean`).

    Evidence:
        A trusted run of the files that the ids name, as for `pytest`, with its details, and `resolution`
        (`full`, `partial` or `none`, as SWE-bench defines them), `resolved`, `fail_to_pass` and
        `pass_to_pass` with the ids by how they ended, and `again` with second outcomes.

    How it is fooled:
        Tests that cannot be falsified count when they pass, shown as unproven. Commands that
        only a shell could run, and other runners, need the type `tests`.

    Example:
        ```yaml
        graders:
          - type: swebench
            weight: 4.0
            inject: [{src: hidden/test_x.py, dest: testing/test_x.py}]
            fail_to_pass: ["testing/test_x.py::test_bug"]
            pass_to_pass: ["testing/test_x.py::test_unrelated"]
        ```
    """

    name: ClassVar[str] = "swebench"
    version: ClassVar[str] = "1"
    required_by_default: ClassVar[bool] = True
    advisory_only: ClassVar[bool] = False

    class Config(PythonConfig):
        """Fields of `swebench`."""

        fail_to_pass: tuple[TestId, ...] = Field(min_length=1, max_length=100_000)
        """Ids of the tests that fail before the work and pass after it; they give the credit."""
        pass_to_pass: tuple[TestId, ...] = Field(default=(), max_length=100_000)
        """Ids of the tests that pass before and after; any that does not closes the gate."""
        test_patch: ScenarioFile | None = None
        """A patch of the scenario that brings the tests; applied to the baseline."""
        cmd_prefix: ShellCommand | None = None
        """What runs the tests, without their names: `python3 -m pytest -q` unless another command of a runner
        that trusted runs know is given. With `node --test`, `npx jest` or `npx vitest run`, ids are
        `path::suite > test`; with `go test`, `import/path::TestName/subtest`, or with the file in place of
        the package."""

        @model_validator(mode="after")
        def _can_be_run(self) -> Self:
            both = sorted(set(self.fail_to_pass) & set(self.pass_to_pass))
            if both:
                raise ValueError(f"{both[0]!r} is in fail_to_pass and in pass_to_pass")
            suite = None if self.cmd_prefix is None else parse_suite(self.cmd_prefix)
            if self.cmd_prefix is not None and suite is None:
                raise ValueError(
                    f"cmd_prefix {self.cmd_prefix!r} is not a plain command of a runner that is known; "
                    "others need the type tests"
                )
            if suite is not None and suite.command.runner in _BY_FILE:
                bare = next(
                    (id_ for id_ in (*self.fail_to_pass, *self.pass_to_pass) if "::" not in id_), None
                )
                if bare is not None:
                    raise ValueError(f"{bare!r} names no file; ids are 'path::suite > test' here")
            return self

    def needs(self, config: Config) -> Sequence[AnyRequest]:
        """A trusted run, and what its tree leaves out."""
        request = _request(config)
        return (request, *clean_needs(request.tree))

    def score(self, config: Config, evidence: Evidence) -> ScorerOutcome:
        """The share of the bug's tests, unless something that worked is broken."""
        request = _request(config)
        run = evidence[request]
        runner = request.command.runner
        found = {test.id: test for test in run.tests}
        again = {test.id: test for test in run.again}
        left = {test.id for test in run.unstable}
        wanted = _tests(config.fail_to_pass, runner, found, left)
        kept = _tests(config.pass_to_pass, runner, found, left)
        broken = [test for test in kept if not _passes(test) and not _passes(again.get(test.id, test))]
        unstable = [test for test in kept if not _passes(test) and test not in broken]
        # Each test that passes only falsified shows a guess, and takes one that was guessed right away.
        passed = max(0, sum(map(_passes, wanted)) - run.inverted)
        share = passed / len(wanted) if wanted else 0.0
        findings = [
            *_not_passed(broken, "pass-to-pass-broken"),
            *_not_passed(wanted, "fail-to-pass-failed"),
            *(
                Finding(rule="unstable-test", message=f"{test.id}: failed, and passed when run once more")
                for test in unstable
            ),
            *run.findings,
            *(unstable_finding(test.id, test.outcome) for test in run.unstable),
            *left_out(request.tree, evidence),
        ]
        details = {
            **suite_details(shown_command(request.command), request.proof, run),
            **_details(passed, wanted, kept, broken, run),
        }
        reason = (
            f"fail to pass: {passed:,} of {len(wanted):,}; pass to pass: {len(kept) - len(broken):,} of "
            f"{len(kept):,}{unproven_note(run)}{unstable_note(len(left))}"
        )
        if broken:
            return ScorerOutcome.failed(
                f"{reason}; what worked before is broken",
                findings=first_findings(findings),
                output_tail=output_of(run),
                details=details,
                capped=True,
            )
        if not wanted:
            return ScorerOutcome.failed(
                f"{reason}; no test is left that could show the work",
                findings=first_findings(findings),
                output_tail=output_of(run),
                details=details,
            )
        return ScorerOutcome.fraction(
            share,
            config.pass_threshold,
            reason,
            findings=first_findings(findings),
            output_tail=output_of(run),
            details=details,
        )


def _request(config: SweBench.Config) -> TestRun:
    suite = SuiteCommand(TestCommand()) if config.cmd_prefix is None else parse_suite(config.cmd_prefix)
    assert suite is not None
    kept = [_id(id_, suite.command.runner) for id_ in config.pass_to_pass]
    wanted = [_id(id_, suite.command.runner) for id_ in config.fail_to_pass]
    return TestRun(
        command=with_path(suite.command, config),
        expected=tuple(dict.fromkeys((*wanted, *kept))),
        retry=tuple(dict.fromkeys(kept)),
        plugins=None,
        scope="ids",
        find_config=True,
        proof=config.proof,
        timeout_s=config.timeout_s,
        test_timeout_s=config.test_timeout_s,
        tree=tree_of(config, config.cmd_prefix or "", test_patch=config.test_patch),
    )


def _id(id_: str, runner: str) -> str:
    """An id as the runner itself has it: unittest prints `test_a (module.Class)`."""
    printed = _DJANGO.fullmatch(id_) if runner == "unittest" else None
    if printed is None:
        return id_.removeprefix("./")
    method, place = printed.groups()
    return place if place.endswith(f".{method}") else f"{place}.{method}"


def _tests(
    ids: Sequence[str], runner: str, found: Mapping[str, TrustedTest], left: Container[str]
) -> list[TrustedTest]:
    """How each id ended, in the order of the recipe, each once, those in `left` left out."""
    wanted = [id_ for id_ in dict.fromkeys(_id(id_, runner) for id_ in ids) if id_ not in left]
    missing = TestOutcome.ERROR
    return [
        found.get(id_, TrustedTest(id=id_, outcome=missing, reason="no result arrived")) for id_ in wanted
    ]


def _passes(test: TrustedTest) -> bool:
    return test.outcome is TestOutcome.PASSED


def _not_passed(tests: Sequence[TrustedTest], rule: str) -> list[Finding]:
    """Here anything but a pass is a failure: a skip or an expected failure too."""
    other = [
        test.model_copy(update={"outcome": TestOutcome.FAILED})
        if test.outcome in (TestOutcome.SKIPPED, TestOutcome.XFAILED)
        else test
        for test in tests
    ]
    return failing(other, rule)


def _details(
    passed: int,
    wanted: Sequence[TrustedTest],
    kept: Sequence[TrustedTest],
    broken: Sequence[TrustedTest],
    run: TrustedTestRun,
) -> dict[str, JsonValue]:
    resolution = "none" if broken or not passed else "full" if passed == len(wanted) else "partial"
    return {
        "resolution": resolution,
        "resolved": resolution == "full",
        "fail_to_pass": _by_outcome(wanted),
        "pass_to_pass": _by_outcome(kept),
        "again": {test.id: test.outcome.value for test in run.again},
    }


def _by_outcome(tests: Sequence[TrustedTest]) -> dict[str, JsonValue]:
    success: list[JsonValue] = [test.id for test in tests if _passes(test)]
    failure: list[JsonValue] = [test.id for test in tests if not _passes(test)]
    return {"success": success, "failure": failure}
