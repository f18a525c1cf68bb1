from __future__ import annotations

from itertools import combinations

import pytest

from adjudge.stats.passk import pass_at_k, pass_hat_k

pytestmark = pytest.mark.anyone


@pytest.mark.parametrize("trials", range(1, 8))
def test_both_are_the_mean_over_every_choice(trials: int) -> None:
    for passes in range(trials + 1):
        outcomes = [number < passes for number in range(trials)]
        for k in range(1, trials + 1):
            choices = list(combinations(outcomes, k))
            assert pass_at_k(passes, trials, k) == pytest.approx(sum(map(any, choices)) / len(choices))
            assert pass_hat_k(passes, trials, k) == pytest.approx(sum(map(all, choices)) / len(choices))


@pytest.mark.parametrize(("passes", "trials", "k"), [(2, 1, 1), (-1, 1, 1), (0, 0, 1), (1, 2, 3), (1, 2, 0)])
def test_what_makes_no_sense_is_refused(passes: int, trials: int, k: int) -> None:
    for estimate in (pass_at_k, pass_hat_k):
        with pytest.raises(ValueError, match="of"):
            estimate(passes, trials, k)
