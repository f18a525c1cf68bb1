"""`tests_unmodified`: the tests that grade the attempt were left alone."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from pydantic import Field

from adjudge.contracts import Evidence
from adjudge.formats.patterns import ExactPath
from adjudge.records.evidence import AnyRequest
from adjudge.records.score import ScorerConfig, ScorerOutcome
from adjudge.scorers.integrity.exact_paths import evidence_on, judge_unmodified

__all__ = ["TestsUnmodified"]


class TestsUnmodified:
    """No graded test file was edited.

    Measures:
        Tampering with the tests. A listed path that was edited, deleted, renamed (either end), changed in
        mode or type, replaced by a folder, or hidden by a symlink over one of its parents fails the check.
        Paths are compared in their true bytes, case included.

    Evidence:
        The whole change set, litter included, and whether each listed path is there: one that is neither in
        the workspace nor in the change set is named in the reason, for it is probably misspelt.

    How it is fooled:
        Only what is listed is protected. A `conftest.py`, a fixture, the configuration of the runner or the
        code under test can change what an untouched test does; list those under `baseline_unmodified`.

    Example:
        ```yaml
        scorers:
          - name: graded tests untouched
            type: tests_unmodified
            paths: ["tests/test_api.py", "tests/conftest.py"]
        ```
    """

    name: ClassVar[str] = "tests_unmodified"
    version: ClassVar[str] = "1"
    required_by_default: ClassVar[bool] = True
    advisory_only: ClassVar[bool] = False

    class Config(ScorerConfig):
        """Fields of `tests_unmodified`."""

        paths: tuple[ExactPath, ...] = Field(min_length=1)
        """Exact paths relative to the workspace, no patterns. A folder stands for everything beneath it."""

    def needs(self, config: Config) -> Sequence[AnyRequest]:
        """The change set, and what lies at the paths now."""
        return evidence_on(config.paths)

    def score(self, config: Config, evidence: Evidence) -> ScorerOutcome:
        """FAIL when a listed path changed in any way."""
        return judge_unmodified(config.paths, evidence, what="graded tests", rule="test-file-modified")
