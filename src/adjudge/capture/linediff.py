"""Which lines changed between two texts, in bounded time.

Owns the line matching alone; hunks and their text are made in `patchtext`. Small edits get a minimal script
(Myers). Where that would cost too much, lines that occur once on both sides are matched first (patience)
and the rest is divided at them; what still cannot be matched cheaply is shown as replaced. A correct diff
always comes out, only less tight. Work is counted in steps, not in time, so the result is the same
everywhere.

Common C implementations need 14 s for a hostile pair of 1 MiB files (two letters at random, a line each);
this one is bounded by its budget.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass

__all__ = ["Budget", "Region", "diff_lines"]

Region = tuple[int, int, int, int]
"""Old start, old end, new start, new end of one run of differing lines, counted from 0, end exclusive."""

_MAX_EDITS = 400
"""Beyond so many edits in one stretch, Myers' quadratic cost is not worth its tightness."""


@dataclass(slots=True)
class Budget:
    """Steps that may still be spent on tight scripts; shared by all files of a change set."""

    steps: int = 6_000_000
    """About 4 s in all: a step costs some 0.7 µs."""


def diff_lines(old: Sequence[bytes], new: Sequence[bytes], budget: Budget) -> list[Region]:
    """The regions in which two lists of lines differ, in order, none touching another."""
    numbers: dict[bytes, int] = {}
    a = [numbers.setdefault(line, len(numbers)) for line in old]
    b = [numbers.setdefault(line, len(numbers)) for line in new]
    regions: list[Region] = []
    pending = [(0, len(a), 0, len(b))]
    while pending:
        a_low, a_high, b_low, b_high = _trim(a, b, *pending.pop())
        if a_low == a_high or b_low == b_high:
            if a_low != a_high or b_low != b_high:
                regions.append((a_low, a_high, b_low, b_high))
            continue
        script = _myers(a, b, a_low, a_high, b_low, b_high, budget)
        if script is not None:
            regions.extend(script)
            continue
        anchors = _unique_matches(a, b, a_low, a_high, b_low, b_high)
        if not anchors:
            regions.append((a_low, a_high, b_low, b_high))
            continue
        for a_at, b_at in anchors:
            pending.append((a_low, a_at, b_low, b_at))
            a_low, b_low = a_at + 1, b_at + 1
        pending.append((a_low, a_high, b_low, b_high))
    regions.sort()
    return _slide(a, b, _join(regions))


def _trim(
    a: list[int], b: list[int], a_low: int, a_high: int, b_low: int, b_high: int
) -> tuple[int, int, int, int]:
    """Leave out what both sides start and end with."""
    length = _common(a[a_low:a_high], b[b_low:b_high])
    a_low, b_low = a_low + length, b_low + length
    length = _common(a[a_low:a_high][::-1], b[b_low:b_high][::-1])
    return a_low, a_high - length, b_low, b_high - length


def _common(one: list[int], other: list[int]) -> int:
    """Length of the common prefix, found by halving: list slices compare at C speed."""
    low, high = 0, min(len(one), len(other))
    if one[:high] == other[:high]:
        return high
    step = 64
    while low + step < high and one[low : low + step] == other[low : low + step]:
        low += step
        step *= 2
    high = min(high, low + step)
    while low < high:
        middle = (low + high + 1) // 2
        if one[low:middle] == other[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low


def _myers(
    a: list[int], b: list[int], a_low: int, a_high: int, b_low: int, b_high: int, budget: Budget
) -> list[Region] | None:
    """A shortest edit script, or None when it needs more than the budget allows."""
    n, m = a_high - a_low, b_high - b_low
    furthest = {1: 0}
    trail: list[dict[int, int]] = []
    for edits in range(min(n + m, _MAX_EDITS) + 1):
        budget.steps -= edits + 1
        if budget.steps < 0:
            return None
        trail.append(furthest.copy())
        for k in range(-edits, edits + 1, 2):
            if k < -m or k > n:
                continue
            if k == -edits or (k != edits and furthest.get(k - 1, -1) < furthest.get(k + 1, -1)):
                x = furthest.get(k + 1, -1)
            else:
                x = furthest.get(k - 1, -1) + 1
            y = x - k
            if x < 0 or y < 0 or x > n or y > m:
                furthest.pop(k, None)
                continue
            while x < n and y < m and a[a_low + x] == b[b_low + y]:
                x += 1
                y += 1
            furthest[k] = x
            if x >= n and y >= m:
                return _backtrack(trail, n, m, a_low, b_low)
    return None


def _backtrack(trail: list[dict[int, int]], n: int, m: int, a_low: int, b_low: int) -> list[Region]:
    """Turn the furthest points of each round into single-line regions."""
    regions: list[Region] = []
    x, y = n, m
    for edits in range(len(trail) - 1, 0, -1):
        furthest = trail[edits]
        k = x - y
        down = k == -edits or (k != edits and furthest.get(k - 1, -1) < furthest.get(k + 1, -1))
        previous_k = k + 1 if down else k - 1
        x = furthest[previous_k]
        y = x - previous_k
        regions.append(
            (a_low + x, a_low + x, b_low + y, b_low + y + 1)
            if down
            else (a_low + x, a_low + x + 1, b_low + y, b_low + y)
        )
    return regions


def _unique_matches(
    a: list[int], b: list[int], a_low: int, a_high: int, b_low: int, b_high: int
) -> list[tuple[int, int]]:
    """The longest increasing chain of lines that occur exactly once on each side."""
    places: dict[int, int] = {}
    for at in range(a_low, a_high):
        places[a[at]] = -1 if a[at] in places else at
    seen: dict[int, int] = {}
    for at in range(b_low, b_high):
        line = b[at]
        if places.get(line, -1) >= 0:
            seen[line] = -1 if line in seen else at
    pairs = sorted((places[line], at) for line, at in seen.items() if at >= 0)
    tails: list[int] = []
    links: list[int] = []
    ends: list[int] = []
    for number, (_, b_at) in enumerate(pairs):
        position = bisect_left(tails, b_at)
        links.append(ends[position - 1] if position else -1)
        if position == len(tails):
            tails.append(b_at)
            ends.append(number)
        else:
            tails[position] = b_at
            ends[position] = number
    chain: list[tuple[int, int]] = []
    at = ends[-1] if ends else -1
    while at >= 0:
        chain.append(pairs[at])
        at = links[at]
    return chain[::-1]


def _join(regions: list[Region]) -> list[Region]:
    """Merge regions that touch."""
    joined: list[Region] = []
    for region in regions:
        if joined and joined[-1][1] == region[0] and joined[-1][3] == region[2]:
            joined[-1] = (joined[-1][0], region[1], joined[-1][2], region[3])
        else:
            joined.append(region)
    return joined


def _slide(a: list[int], b: list[int], regions: list[Region]) -> list[Region]:
    """Move pure insertions and deletions down as far as they go, as git does: `}` ends the new function."""
    slid: list[Region] = []
    for number, (a_low, a_high, b_low, b_high) in enumerate(regions):
        following = regions[number + 1] if number + 1 < len(regions) else (len(a), 0, len(b), 0)
        if a_low == a_high:
            while b_high < following[2] and b[b_low] == b[b_high]:
                a_low, a_high, b_low, b_high = a_low + 1, a_high + 1, b_low + 1, b_high + 1
        elif b_low == b_high:
            while a_high < following[0] and a[a_low] == a[a_high]:
                a_low, a_high, b_low, b_high = a_low + 1, a_high + 1, b_low + 1, b_high + 1
        slid.append((a_low, a_high, b_low, b_high))
    return _join(slid)
