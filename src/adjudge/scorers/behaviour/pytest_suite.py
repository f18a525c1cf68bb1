"""`pytest`: the fraction of Python tests that pass, proven."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, Self

from pydantic import Field, model_validator

from adjudge.contracts import Evidence
from adjudge.formats.testcommands.python import parse_python_suite
from adjudge.formats.testcommands.words import SuiteCommand
from adjudge.records.evidence import AnyRequest, TestCommand, TestRun
from adjudge.records.score import ScorerOutcome
from adjudge.scorers.behaviour.coderun import ShellCommand, clean_needs, tree_of
from adjudge.scorers.behaviour.suiterun import PythonConfig, with_path
from adjudge.scorers.behaviour.trustedsuite import score_suite

__all__ = ["Pytest"]


class Pytest:
    """The fraction of Python tests that pass, hidden or the project's own, each pass proven where it can be.

    Measures:
        passed / (passed + failed + errors); PASS when that reaches `pass_threshold`. Without `cmd` the
        injected test files are run, or the whole suite when nothing is injected. The tests run over the
        baseline with the attempt's changes to unprotected paths (`isolation: clean`): test files, their
        configuration and runner files are the baseline's or hidden. A run in which no test passed or failed
        is a FAIL with 0.

        Which tests there are is found out on the baseline with the hidden files, where nothing of the
        attempt's runs; of files that cannot be loaded there, every test they define is expected. Each
        expected test has to be accounted for: a missing result is an error, a skip that its file does not
        declare is a failure. With `proof: twin` the suite runs twice and every test that can be falsified is
        falsified in one of the two; a test counts when it passes as written and fails falsified.

    Evidence:
        A trusted run of the suite. The details have `command`, `proof`, `counts`, `expected`, `collected`,
        `unproven`, `inverted`, `unexpected`, `protections`, `seed`, `sessions` and `tests` with every id,
        its outcome, duration, proof, reason and message. Tests that are recorded as unstable on the baseline
        (`adjudge doctor SCENARIO`) do not count; they are in `unstable` instead, and findings of the rule
        `unstable-on-baseline`. Changes that the clean tree leaves out are findings
        of the rule `left-out-of-clean`; they only inform.

    How it is fooled:
        A test that cannot be falsified (no literal, nothing to negate) is counted when it passes and shown
        as unproven. Code that recognises the inputs of hidden tests it has read elsewhere passes them; keep
        hidden tests hidden. `isolation: snapshot` runs what the attempt made of configuration and helpers.

    Example:
        ```yaml
        graders:
          - {type: pytest, weight: 4.0, inject: ["./hidden/test_x.py"]}
        ```
    """

    name: ClassVar[str] = "pytest"
    version: ClassVar[str] = "1"
    required_by_default: ClassVar[bool] = True
    advisory_only: ClassVar[bool] = False

    class Config(PythonConfig):
        """Fields of `pytest`."""

        cmd: ShellCommand | None = Field(default=None)
        """A pytest command, such as `python -m pytest -q tests/unit -k parser`, when it is not just the
        injected files or the whole suite."""

        @model_validator(mode="after")
        def _runs_pytest(self) -> Self:
            suite = None if self.cmd is None else parse_python_suite(self.cmd)
            if self.cmd is not None and (suite is None or suite.command.runner != "pytest"):
                raise ValueError(
                    f"{self.cmd!r} is not a plain pytest command; write `pytest …` or `python -m pytest …`, "
                    "or use the type tests"
                )
            return self

    def needs(self, config: Config) -> Sequence[AnyRequest]:
        """A trusted run, and what its tree leaves out."""
        request = _request(config)
        return (request, *clean_needs(request.tree))

    def score(self, config: Config, evidence: Evidence) -> ScorerOutcome:
        """The fraction that passed."""
        return score_suite(_request(config), config.pass_threshold, evidence)


def _request(config: Pytest.Config) -> TestRun:
    suite = SuiteCommand(TestCommand()) if config.cmd is None else parse_python_suite(config.cmd)
    assert suite is not None
    return TestRun(
        command=with_path(suite.command, config),
        select=suite.select,
        plugins=None,
        scope="hidden" if config.cmd is None and config.inject else "command",
        find_config=True,
        proof=config.proof,
        timeout_s=config.timeout_s,
        test_timeout_s=config.test_timeout_s,
        tree=tree_of(config, config.cmd or ""),
    )
