"""What repeated trials say: does one of k pass, do all of k.

Both estimators are unbiased: of n trials with c passes they average over every choice of k among the n.
"""

from __future__ import annotations

from math import comb

__all__ = ["pass_at_k", "pass_hat_k"]


def pass_at_k(passes: int, trials: int, k: int) -> float:
    """How likely at least one of k trials passes."""
    _check(passes, trials, k)
    return 1.0 - comb(trials - passes, k) / comb(trials, k)


def pass_hat_k(passes: int, trials: int, k: int) -> float:
    """How likely all of k trials pass (pass^k)."""
    _check(passes, trials, k)
    return comb(passes, k) / comb(trials, k)


def _check(passes: int, trials: int, k: int) -> None:
    if not 0 <= passes <= trials:
        raise ValueError(f"{passes} of {trials} is not a share")
    if not 1 <= k <= trials:
        raise ValueError(f"{k} of {trials} trials cannot be chosen")
