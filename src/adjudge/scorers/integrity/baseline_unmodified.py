"""`baseline_unmodified`: frozen scaffolding was left alone."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from pydantic import Field

from adjudge.contracts import Evidence
from adjudge.formats.patterns import ExactPath
from adjudge.records.evidence import AnyRequest
from adjudge.records.score import ScorerConfig, ScorerOutcome
from adjudge.scorers.integrity.exact_paths import evidence_on, judge_unmodified

__all__ = ["BaselineUnmodified"]


class BaselineUnmodified:
    """No frozen baseline or scaffolding file was edited.

    Measures:
        Tampering with what the grading relies on. A listed path that was edited, deleted, renamed (either
        end), changed in mode or type, replaced by a folder, or hidden by a symlink over one of its parents
        fails the check. Paths are compared in their true bytes, case included.

    Evidence:
        The whole change set, litter included, and whether each listed path is there: one that is neither in
        the workspace nor in the change set is named in the reason, for it is probably misspelt.

    How it is fooled:
        Only what is listed is protected. A new file can take precedence over a frozen one: a `pytest.ini`
        beside a listed `pyproject.toml`, a package that shadows a module. List such names too; a path that
        the baseline does not have is protected from being added.

    Example:
        ```yaml
        scorers:
          - name: scaffolding untouched
            type: baseline_unmodified
            paths: ["pyproject.toml", "Makefile", "scripts"]
        ```
    """

    name: ClassVar[str] = "baseline_unmodified"
    version: ClassVar[str] = "1"
    required_by_default: ClassVar[bool] = True
    advisory_only: ClassVar[bool] = False

    class Config(ScorerConfig):
        """Fields of `baseline_unmodified`."""

        paths: tuple[ExactPath, ...] = Field(min_length=1)
        """Exact paths relative to the workspace, no patterns. A folder stands for everything beneath it."""

    def needs(self, config: Config) -> Sequence[AnyRequest]:
        """The change set, and what lies at the paths now."""
        return evidence_on(config.paths)

    def score(self, config: Config, evidence: Evidence) -> ScorerOutcome:
        """FAIL when a listed path changed in any way."""
        return judge_unmodified(config.paths, evidence, what="frozen files", rule="baseline-file-modified")
