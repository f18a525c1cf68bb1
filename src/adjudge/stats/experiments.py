"""What many runs add up to: per agent and model, per task, and which scorers fail most.

A run that could not be graded is counted and shown, and takes part in no rate and no mean: an error is ours,
and never a zero of the agent's.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from adjudge.records.listing import RunSummary, ScorerTally
from adjudge.records.run import RunStatus
from adjudge.records.score import Verdict
from adjudge.stats.intervals import wilson_interval
from adjudge.stats.passk import pass_at_k, pass_hat_k

__all__ = ["Cell", "Group", "Rate", "Report", "ScorerFailures", "TaskRow", "report_of"]


class Rate(NamedTuple):
    """A share with its interval."""

    passed: int
    total: int

    @property
    def share(self) -> float | None:
        """None when nothing was counted."""
        return self.passed / self.total if self.total else None

    @property
    def interval(self) -> tuple[float, float]:
        """Wilson's interval, for 95 %."""
        return wilson_interval(self.passed, self.total)


@dataclass
class Cell:
    """The runs of one agent and model at one task."""

    runs: int = 0
    passed: int = 0
    failed: int = 0
    errors: int = 0
    """Infrastructure faults, and gradings that ended in ERROR."""
    not_applicable: int = 0
    unfinished: int = 0
    """Not at their end, or not graded yet."""

    @property
    def graded(self) -> int:
        """Runs that passed or failed."""
        return self.passed + self.failed

    def add(self, row: RunSummary) -> None:
        """Count a run."""
        self.runs += 1
        if row.status == RunStatus.INFRASTRUCTURE_FAULT or row.objective == Verdict.ERROR:
            self.errors += 1
        elif row.objective == Verdict.PASS:
            self.passed += 1
        elif row.objective == Verdict.FAIL:
            self.failed += 1
        elif row.objective == Verdict.NA:
            self.not_applicable += 1
        else:
            self.unfinished += 1


@dataclass
class Sum:
    """Values that may be unknown."""

    total: float = 0.0
    known: int = 0

    def add(self, value: float | None) -> None:
        """Add one."""
        if value is not None:
            self.total += value
            self.known += 1

    @property
    def mean(self) -> float | None:
        """Over those that are known."""
        return self.total / self.known if self.known else None


@dataclass
class Group:
    """The runs of one agent and model."""

    agent: str
    model: str | None
    cells: dict[str, Cell] = field(default_factory=dict)
    """By the task's digest."""
    judge_passed: int = 0
    judge_failed: int = 0
    judge_errors: int = 0
    score: Sum = field(default_factory=Sum)
    cost_usd: Sum = field(default_factory=Sum)
    tokens: Sum = field(default_factory=Sum)
    wall_s: Sum = field(default_factory=Sum)

    def add(self, row: RunSummary) -> None:
        """Count a run."""
        self.cells.setdefault(row.task_digest, Cell()).add(row)
        self.judge_passed += row.judge == Verdict.PASS
        self.judge_failed += row.judge == Verdict.FAIL
        self.judge_errors += row.judge == Verdict.ERROR
        if row.objective in (Verdict.PASS, Verdict.FAIL):
            self.score.add(row.score)
        self.cost_usd.add(row.cost_usd)
        self.tokens.add(row.total_tokens)
        self.wall_s.add(row.wall_s)

    def count(self, what: str) -> int:
        """A field of the cells, over all tasks."""
        return sum(int(getattr(cell, what)) for cell in self.cells.values())

    @property
    def objective(self) -> Rate:
        """How many of the graded runs passed."""
        return Rate(self.count("passed"), self.count("graded"))

    @property
    def judge(self) -> Rate:
        """How many of the judged runs passed the judge."""
        return Rate(self.judge_passed, self.judge_passed + self.judge_failed)

    def pass_at(self, k: int) -> float | None:
        """pass@k, the mean over tasks with at least k graded trials."""
        return _mean([pass_at_k(cell.passed, cell.graded, k) for cell in self._with(k)])

    def pass_hat(self, k: int) -> float | None:
        """pass^k, the mean over tasks with at least k graded trials."""
        return _mean([pass_hat_k(cell.passed, cell.graded, k) for cell in self._with(k)])

    def left_out(self, k: int) -> int:
        """How many tasks have fewer than k graded trials."""
        return len(self.cells) - len(self._with(k))

    def _with(self, k: int) -> list[Cell]:
        return [cell for cell in self.cells.values() if cell.graded >= k]


class TaskRow(NamedTuple):
    """One task, and how each group did at it."""

    name: str
    digest: str
    cells: tuple[Cell | None, ...]
    """In the order of the groups."""


class ScorerFailures(NamedTuple):
    """How often a scorer failed, over current evaluations."""

    name: str
    type: str
    failed: int
    graded: int
    errors: int
    tasks: int
    """In how many tasks it failed."""


class Report(NamedTuple):
    """What many runs add up to."""

    groups: tuple[Group, ...]
    tasks: tuple[TaskRow, ...]
    scorers: tuple[ScorerFailures, ...]
    """Worst first; those that failed or were in error at least once."""
    k: int
    """Of pass@k and pass^k."""
    runs: int


def report_of(
    rows: Iterable[RunSummary], tallies: Iterable[ScorerTally] = (), *, k: int | None = None
) -> Report:
    """Add runs up.

    Args:
        rows: The runs.
        tallies: What their scorers came to.
        k: For pass@k and pass^k; None: as many trials as every task has that has any.
    """
    groups: dict[tuple[str, str | None], Group] = {}
    names: dict[str, str] = {}
    runs = 0
    for row in rows:
        runs += 1
        key = (row.agent, row.model)
        group = groups.get(key)
        if group is None:
            group = groups[key] = Group(row.agent, row.model)
        group.add(row)
        names[row.task_digest] = row.task_name
    ordered = tuple(sorted(groups.values(), key=lambda group: (group.agent, group.model or "")))
    if k is None:
        trials = [cell.graded for group in ordered for cell in group.cells.values() if cell.graded]
        k = min(trials, default=1)
    tasks = tuple(
        TaskRow(names[digest], digest, tuple(group.cells.get(digest) for group in ordered))
        for digest in sorted(names, key=lambda digest: (names[digest], digest))
    )
    return Report(ordered, tasks, _worst(tallies), k, runs)


def _worst(tallies: Iterable[ScorerTally]) -> tuple[ScorerFailures, ...]:
    counted: dict[tuple[str, str], dict[str, int]] = {}
    failed_in: dict[tuple[str, str], set[str]] = {}
    for tally in tallies:
        key = (tally.name, tally.type)
        verdicts = counted.setdefault(key, {})
        verdicts[tally.verdict] = verdicts.get(tally.verdict, 0) + tally.runs
        if tally.verdict == Verdict.FAIL:
            failed_in.setdefault(key, set()).add(tally.task_name)
    found = [
        ScorerFailures(
            name,
            kind,
            failed=verdicts.get(Verdict.FAIL, 0),
            graded=verdicts.get(Verdict.FAIL, 0) + verdicts.get(Verdict.PASS, 0),
            errors=verdicts.get(Verdict.ERROR, 0),
            tasks=len(failed_in.get((name, kind), ())),
        )
        for (name, kind), verdicts in counted.items()
    ]
    bad = [item for item in found if item.failed or item.errors]
    return tuple(sorted(bad, key=lambda item: (-item.failed, -item.errors, item.name, item.type)))


def _mean(values: Sequence[float]) -> float | None:
    return math.fsum(values) / len(values) if values else None
