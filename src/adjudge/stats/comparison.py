"""Two sides compared: the tasks both met, pair by pair."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import NamedTuple

from adjudge.records.listing import RunSummary
from adjudge.stats.experiments import Cell, Sum
from adjudge.stats.paired import PairedDifference, paired_difference

__all__ = ["ComparedTask", "Comparison", "Side", "compare_runs"]


class Side(NamedTuple):
    """One side of a comparison."""

    label: str
    runs: int
    graded: int
    errors: int
    pass_rate: float | None
    """The mean over the tasks that are compared."""
    mean_score: float | None
    mean_cost_usd: float | None
    mean_tokens: float | None
    mean_wall_s: float | None


class ComparedTask(NamedTuple):
    """A task both sides were graded at."""

    name: str
    digest: str
    first: Cell
    second: Cell

    @property
    def difference(self) -> float:
        """How much more often the second side passed."""
        return self.second.passed / self.second.graded - self.first.passed / self.first.graded


class Comparison(NamedTuple):
    """How the second side did against the first."""

    first: Side
    second: Side
    tasks: tuple[ComparedTask, ...]
    only_first: tuple[str, ...]
    """Names of tasks that only one side was graded at; they say nothing."""
    only_second: tuple[str, ...]
    objective: PairedDifference | None
    """Of pass rates; None when no task is in both."""
    score: PairedDifference | None
    """Of combined scores, over tasks where both have one."""

    @property
    def verdict(self) -> str:
        """What can be said, in words."""
        if self.objective is None:
            return "nothing to compare: no task was graded on both sides"
        found = self.objective
        if found.shown:
            better, worse = (self.second, self.first) if found.mean > 0 else (self.first, self.second)
            return f"{better.label} passes more often than {worse.label}"
        if found.pairs < 6:
            return f"too few tasks to tell: {found.pairs} on both sides, 6 is the least that could"
        return "no difference is shown"


class _Runs:
    """The runs of one side, by task."""

    def __init__(self, label: str, rows: Iterable[RunSummary]) -> None:
        self.label = label
        self.cells: dict[str, Cell] = {}
        self.names: dict[str, str] = {}
        self.scores: dict[str, Sum] = {}
        self.cost_usd, self.tokens, self.wall_s = Sum(), Sum(), Sum()
        for row in rows:
            self.names[row.task_digest] = row.task_name
            self.cells.setdefault(row.task_digest, Cell()).add(row)
            if row.objective in ("PASS", "FAIL"):
                self.scores.setdefault(row.task_digest, Sum()).add(row.score)
            self.cost_usd.add(row.cost_usd)
            self.tokens.add(row.total_tokens)
            self.wall_s.add(row.wall_s)

    @property
    def graded(self) -> set[str]:
        return {digest for digest, cell in self.cells.items() if cell.graded}

    def rates(self, digests: list[str]) -> list[float]:
        return [self.cells[digest].passed / self.cells[digest].graded for digest in digests]

    def side(self, digests: list[str]) -> Side:
        rates = self.rates(digests)
        scores = [mean for digest in digests if (mean := self._score(digest)) is not None]
        return Side(
            self.label,
            runs=sum(cell.runs for cell in self.cells.values()),
            graded=sum(cell.graded for cell in self.cells.values()),
            errors=sum(cell.errors for cell in self.cells.values()),
            pass_rate=math.fsum(rates) / len(rates) if rates else None,
            mean_score=math.fsum(scores) / len(scores) if scores else None,
            mean_cost_usd=self.cost_usd.mean,
            mean_tokens=self.tokens.mean,
            mean_wall_s=self.wall_s.mean,
        )

    def _score(self, digest: str) -> float | None:
        held = self.scores.get(digest)
        return None if held is None else held.mean

    def score_pairs(self, other: _Runs, digests: list[str]) -> tuple[list[float], list[float]]:
        pairs = [(self._score(digest), other._score(digest)) for digest in digests]
        known = [(mine, theirs) for mine, theirs in pairs if mine is not None and theirs is not None]
        return [mine for mine, _ in known], [theirs for _, theirs in known]


def compare_runs(
    first_label: str, first_rows: Iterable[RunSummary], second_label: str, second_rows: Iterable[RunSummary]
) -> Comparison:
    """Compare two sides by the tasks both were graded at; a task is one by its digest, not by its name."""
    first, second = _Runs(first_label, first_rows), _Runs(second_label, second_rows)
    both = sorted(first.graded & second.graded, key=lambda digest: (first.names[digest], digest))
    scores = first.score_pairs(second, both)
    return Comparison(
        first.side(both),
        second.side(both),
        tuple(
            ComparedTask(first.names[digest], digest, first.cells[digest], second.cells[digest])
            for digest in both
        ),
        tuple(sorted(first.names[digest] for digest in first.cells if digest not in both)),
        tuple(sorted(second.names[digest] for digest in second.cells if digest not in both)),
        paired_difference(first.rates(both), second.rates(both)) if both else None,
        paired_difference(*scores) if scores[0] else None,
    )
