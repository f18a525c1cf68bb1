"""`no_todos`: an attempt leaves no more to-do notes behind than it found."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import ClassVar

from pydantic import Field

from adjudge.contracts import Evidence
from adjudge.formats.patterns import PathPattern
from adjudge.records.evidence import AnyRequest, ParsedChange
from adjudge.records.score import Finding, ScorerConfig, ScorerOutcome

__all__ = ["NoTodos"]

_NOTE = re.compile(r"\b(?:TODO|FIXME|XXX)\b")


class NoTodos:
    """No more to-do notes were added than removed.

    Measures:
        Finished work. Lines with `TODO`, `FIXME` or `XXX` are counted among the added and among the removed
        lines; more added than removed fails. N/A when no file that matches `patterns` changed.

    Evidence:
        The changed lines of the files that match `patterns`.

    How it is fooled:
        A note in other words ("finish this later") is not seen, and neither is one in a file without lines.

    Example:
        ```yaml
        scorers:
          - name: finished work
            type: no_todos
            patterns: ["src/**"]
        ```
    """

    name: ClassVar[str] = "no_todos"
    version: ClassVar[str] = "1"
    required_by_default: ClassVar[bool] = False
    advisory_only: ClassVar[bool] = False

    class Config(ScorerConfig):
        """Fields of `no_todos`."""

        patterns: tuple[PathPattern, ...] = Field(default=("*",), min_length=1)
        """Shell-style globs of the files to look at."""

    def needs(self, config: Config) -> Sequence[AnyRequest]:
        """The change set, with the changed lines of the files to look at."""
        return (ParsedChange(lines_of=config.patterns),)

    def score(self, config: Config, evidence: Evidence) -> ScorerOutcome:
        """FAIL when more notes came than went."""
        files = evidence[ParsedChange(lines_of=config.patterns)].files
        if not files:
            return ScorerOutcome.not_applicable("no file to look at changed")
        notes = [(file, line) for file in files for line in file.lines if _NOTE.search(line.text)]
        added = [(file, line) for file, line in notes if line.added]
        net = 2 * len(added) - len(notes)
        if net <= 0:
            return ScorerOutcome.passed("no new to-do notes")
        return ScorerOutcome.failed(
            f"{net} more to-do notes than before",
            findings=tuple(
                Finding(rule="todo", path=file.path, line=line.number, message="a to-do note was added")
                for file, line in added[:100]
            ),
        )
