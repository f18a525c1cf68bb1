"""Agreement: known values, bounds and symmetries; and what several reviewers amount to."""

from __future__ import annotations

import random
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from adjudge.records.annotation import Annotation, Judgment
from adjudge.stats.agreement import agreement, cohens_kappa, fleiss_kappa, percent_agreement
from adjudge.stats.reviews import agreement_across, confidence_of

pytestmark = pytest.mark.anyone

calmly = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
"""A busy machine is no failure."""


def test_cohen() -> None:
    # Cohen's table 20, 5 / 10, 15; sklearn.metrics.cohen_kappa_score gives 0.4.
    first = ["y"] * 25 + ["n"] * 25
    second = ["y"] * 20 + ["n"] * 5 + ["y"] * 10 + ["n"] * 15
    assert cohens_kappa(first, second) == pytest.approx(0.4)
    # sklearn: cohen_kappa_score([2, 0, 2, 2, 0, 1], [0, 0, 2, 2, 0, 2])
    assert cohens_kappa([2, 0, 2, 2, 0, 1], [0, 0, 2, 2, 0, 2]) == pytest.approx(0.4285714285714286)
    assert cohens_kappa(["a", "b"], ["b", "a"]) == -1.0
    assert cohens_kappa(["a", "a"], ["a", "a"]) is None


def test_fleiss() -> None:
    # The table of Fleiss' article as Wikipedia prints it: ten items, fourteen raters, five labels; 0.2099.
    table = [
        (0, 0, 0, 0, 14), (0, 2, 6, 4, 2), (0, 0, 3, 5, 6), (0, 3, 9, 2, 0), (2, 2, 8, 1, 1),
        (7, 7, 0, 0, 0), (3, 2, 6, 3, 0), (2, 5, 3, 2, 2), (6, 5, 2, 1, 0), (0, 2, 2, 3, 7),
    ]  # fmt: skip
    items = [[label for label, count in enumerate(row) for _ in range(count)] for row in table]
    assert fleiss_kappa(items) == pytest.approx(0.20993, abs=1e-5)
    assert fleiss_kappa([["a", "a"], ["a", "a"]]) is None


ratings = st.integers(2, 5).flatmap(
    lambda raters: st.lists(
        st.lists(st.sampled_from("pfd"), min_size=raters, max_size=raters), min_size=1, max_size=12
    )
)


@calmly
@given(ratings, st.randoms(use_true_random=False))
def test_agreement_is_bounded_and_blind_to_order(items: list[list[str]], rng: random.Random) -> None:
    measured = agreement(items)
    assert -1.0 <= measured.value <= 1.0
    shuffled = list(items)
    rng.shuffle(shuffled)
    assert agreement(shuffled).value == pytest.approx(measured.value)
    relabelled = [[{"p": 1, "f": 2, "d": 3}[label] for label in item] for item in items]
    assert agreement(relabelled) == measured
    if all(len(set(item)) == 1 for item in items):
        assert measured.value == 1.0
    assert (percent_agreement(items) == 1.0) == all(len(set(item)) == 1 for item in items)


@calmly
@given(st.lists(st.tuples(st.sampled_from("pfd"), st.sampled_from("pfd")), min_size=2, max_size=20))
def test_cohen_is_symmetric(pairs: list[tuple[str, str]]) -> None:
    first, second = [one for one, _ in pairs], [other for _, other in pairs]
    assert cohens_kappa(first, second) == cohens_kappa(second, first)


@pytest.mark.parametrize("items", [[], [["a"]], [["a"], ["b"]]])
def test_nothing_to_compare(items: Any) -> None:
    with pytest.raises(ValueError, match="two"):
        agreement(items)


def review(reviewer: str, judgment: str, minute: int = 0) -> Annotation:
    when = datetime(2026, 1, 1, tzinfo=UTC) + timedelta(minutes=minute)
    return Annotation(reviewer_id=reviewer, judgment=Judgment(judgment), timestamp=when)


def test_confidence_takes_several_reviewers() -> None:
    assert confidence_of([]) is None
    assert confidence_of([review("a", "pass"), review("a", "fail", 1)]) is None
    two = confidence_of([review("a", "pass"), review("b", "fail"), review("b", "pass", 1)])
    assert two is not None
    assert (two.annotator_count, two.inter_rater_agreement) == (2, 1.0)
    assert two.confidence_interval is not None
    assert (two.confidence_interval.low, two.confidence_interval.high) == (0.34238, 1.0)
    assert two.confidence_method == (
        "percent agreement of 2 reviewers; 95 % Wilson interval of the share who said pass"
    )
    undecided = confidence_of([review("a", "pass"), review("b", "defer")])
    assert undecided is not None
    assert undecided.inter_rater_agreement is None
    assert undecided.confidence_method == "1 of 2 reviewers decided, too few to compare"


def test_agreement_over_evaluations_names_its_method() -> None:
    def both(first: str, second: str) -> list[Annotation]:
        return [review("a", first), review("b", second)]

    kappa = agreement_across([both("pass", "pass"), both("fail", "fail"), both("pass", "fail"), []])
    assert kappa is not None
    assert kappa.confidence_method == "Cohen's kappa of 2 reviewers on 3 evaluations"
    assert kappa.inter_rater_agreement == pytest.approx(0.4)
    opposed = agreement_across([both("pass", "fail"), both("fail", "pass")])
    assert opposed is not None
    assert opposed.inter_rater_agreement == 0.0
    assert "(-1.0000, kept as 0)" in (opposed.confidence_method or "")
    three = agreement_across([[*both("pass", "pass"), review("c", said)] for said in ("pass", "fail")])
    assert three is not None
    assert (three.confidence_method or "").startswith("Fleiss' kappa")
    mixed = agreement_across([both("pass", "pass"), [review("c", "fail"), review("a", "pass")]])
    assert mixed is not None
    assert (mixed.inter_rater_agreement, mixed.confidence_method) == (
        0.5,
        "percent agreement of 3 reviewers on 2 evaluations",
    )
    assert agreement_across([[review("a", "pass")]]) is None
