"""Reviewing many runs: which comes next, and how far people agree with each other and with grades."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable
from enum import StrEnum
from itertools import islice
from typing import NamedTuple

from adjudge.records.annotation import ConfidenceMetadata
from adjudge.records.evaluation import Evaluation
from adjudge.records.listing import RunFilter
from adjudge.stats.reviews import Match, agreement_across, match_with
from adjudge.store.reviews import Candidate
from adjudge.store.runs import RunDatabase

__all__ = ["Agreements", "Queue", "QueueOrder", "agreements", "make_queue"]

_MOST = 5000
"""How many evaluations a queue is made from: the newest ones that are wanted."""
_COMPARED = 1000
"""How many reviewed evaluations agreement is measured over."""
_SCORERS = 20


class QueueOrder(StrEnum):
    """What comes first."""

    NEWEST = "newest"
    RANDOM = "random"
    """A sample: the same seed gives the same order."""
    DISAGREEMENT = "disagreement"
    """Where reviewers differ, then where the gates do, then the others; at random within each."""


class Queue(NamedTuple):
    """What somebody has still to look at."""

    left: tuple[Candidate, ...]
    reviewed: int
    """How many of them this reviewer has done."""
    cut: bool
    """Whether there are more than a queue is made from."""

    def after(self, evaluation_id: str | None) -> Candidate | None:
        """What comes next: the first that is left, or the one behind another."""
        ids = [one.evaluation_id for one in self.left]
        at = ids.index(evaluation_id) + 1 if evaluation_id in ids else 0
        return self.left[at] if at < len(self.left) else None


class Agreements(NamedTuple):
    """How far people agree."""

    evaluations: int
    reviewers: ConfidenceMetadata | None
    """With each other; None when no two reviewed the same."""
    matches: tuple[Match, ...]
    """With the gates and with each scorer."""


def make_queue(
    store: RunDatabase,
    wanted: RunFilter,
    *,
    reviewer: str,
    order: QueueOrder = QueueOrder.NEWEST,
    seed: str = "",
) -> Queue:
    """What a reviewer has still to look at, in order.

    Args:
        store: Where the runs are.
        wanted: Which runs; only those that were graded.
        reviewer: Whose queue it is.
        order: What comes first.
        seed: What a random order follows from.
    """
    found = store.review_candidates(wanted, reviewer, _MOST + 1)
    cut = len(found) > _MOST
    found = found[:_MOST]
    left = [one for one in found if not one.mine]
    if order is not QueueOrder.NEWEST:
        left.sort(key=lambda one: _place(one, order, seed))
    return Queue(tuple(left), len(found) - len(left), cut)


def agreements(store: RunDatabase) -> Agreements:
    """How far people agree over the evaluations that were reviewed, as far as they are compared."""
    reviewed = list(islice(store.annotated(), _COMPARED))
    matches = [
        match_with("objective gate", reviewed, lambda one: one.gates.objective.verdict),
        match_with("judge", reviewed, lambda one: one.gates.judge.verdict),
    ]
    matches += [match_with(name, reviewed, _scorer(name)) for name in _scorers(reviewed)]
    return Agreements(
        len(reviewed),
        agreement_across([one.annotations for one in reviewed]),
        tuple(match for match in matches if match.compared),
    )


def _place(one: Candidate, order: QueueOrder, seed: str) -> tuple[int, str]:
    drawn = hashlib.sha256(f"{seed}\0{one.evaluation_id}".encode()).hexdigest()
    return (_rank(one) if order is QueueOrder.DISAGREEMENT else 0, drawn)


def _rank(one: Candidate) -> int:
    if one.passes and one.fails:
        return 0
    graded = {verdict for verdict in (one.objective, one.judge) if verdict in ("PASS", "FAIL")}
    said = {name for name, times in (("PASS", one.passes), ("FAIL", one.fails)) if times}
    if said and graded - said:
        return 1
    return 2 if len(graded) == 2 else 3


def _scorers(reviewed: Iterable[Evaluation]) -> list[str]:
    names = dict.fromkeys(row.name for one in reviewed for row in one.scorers)
    return list(names)[:_SCORERS]


def _scorer(name: str) -> Callable[[Evaluation], str | None]:
    def verdict(evaluation: Evaluation) -> str | None:
        return next((row.verdict for row in evaluation.scorers if row.name == name), None)

    return verdict
