"""Two evaluations of one run side by side: what a regrade changed."""

from __future__ import annotations

from typing import NamedTuple

from adjudge.records.evaluation import Evaluation
from adjudge.records.score import ScorerResult

__all__ = ["Change", "Difference", "RowChange", "compare_evaluations"]


class Change(NamedTuple):
    """One thing before and after, as text."""

    name: str
    before: str
    after: str

    @property
    def changed(self) -> bool:
        """Whether it is another."""
        return self.before != self.after


class RowChange(NamedTuple):
    """A scorer in both; None where one has no such row."""

    name: str
    before: ScorerResult | None
    after: ScorerResult | None

    @property
    def what(self) -> str:
        """What became of it, in words; empty when nothing did."""
        before, after = self.before, self.after
        if before is None or after is None:
            return "added" if before is None else "no longer in the recipe"
        said = []
        if before.verdict is not after.verdict:
            said.append("verdict")
        if before.score != after.score:
            said.append("score")
        if before.config_digest != after.config_digest:
            said.append("configuration")
        if before.version != after.version:
            said.append("version of the type")
        flags = ("required", "gate", "weight", "counted")
        if any(getattr(before, flag) != getattr(after, flag) for flag in flags):
            said.append("its part in the verdict")
        if not said and (before.reason, before.findings) != (after.reason, after.findings):
            said.append("reason or findings")
        return ", ".join(said)


class Difference(NamedTuple):
    """What differs between two evaluations."""

    before: Evaluation
    after: Evaluation
    gates: tuple[Change, ...]
    values: tuple[Change, ...]
    provenance: tuple[Change, ...]
    rows: tuple[RowChange, ...]

    @property
    def changed(self) -> bool:
        """Whether any conclusion is another."""
        return any(change.changed for change in (*self.gates, *self.values)) or any(
            row.what for row in self.rows
        )


def compare_evaluations(before: Evaluation, after: Evaluation) -> Difference:
    """Put two evaluations side by side; scorers are matched by name, in the order of the later one."""
    old = {row.name: row for row in before.scorers}
    rows = [RowChange(row.name, old.pop(row.name, None), row) for row in after.scorers]
    rows += [RowChange(name, row, None) for name, row in old.items()]
    pairs = (before, after)
    return Difference(
        before,
        after,
        gates=tuple(
            Change(name, *(getattr(one.gates, name).verdict.value for one in pairs))
            for name in ("objective", "judge", "run")
        ),
        values=(
            Change("score", *(_number(one.score) for one in pairs)),
            Change("mean score", *(_number(one.gates.objective.mean_score) for one in pairs)),
            Change("reward", *(_number(one.reward) for one in pairs)),
            Change("integrity", *(one.integrity.outcome for one in pairs)),
            Change("pass threshold", *(_number(one.pass_threshold) for one in pairs)),
        ),
        provenance=(
            Change("recipe", *(_short(one.provenance.recipe_digest) for one in pairs)),
            Change("task", *(_short(one.task.digest) for one in pairs)),
            Change("adjudge", *(one.provenance.adjudge for one in pairs)),
            Change("sandbox", *(one.provenance.sandbox or "none" for one in pairs)),
            *_environments(before, after),
        ),
        rows=tuple(rows),
    )


def _environments(before: Evaluation, after: Evaluation) -> list[Change]:
    first, second = before.provenance.environment, after.provenance.environment
    names = dict.fromkeys((*first, *second))
    changes = [Change(name, first.get(name, "none"), second.get(name, "none")) for name in names]
    return [change for change in changes if change.changed]


def _number(value: float | None) -> str:
    return "none" if value is None else f"{value:.4g}"


def _short(digest: str) -> str:
    return digest.removeprefix("sha256:")[:12]
