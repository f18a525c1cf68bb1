"""Where two gates agree and where they do not."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from adjudge.records.score import Verdict
from adjudge.reports.charts.svg import Chart, chart, element, written
from adjudge.reports.sheets import Sheet

__all__ = ["matrix_chart"]

_VERDICTS = tuple(verdict.value for verdict in (Verdict.PASS, Verdict.FAIL, Verdict.NA, Verdict.ERROR))
_LEFT, _TOP = 150, 64
_WIDTH, _HEIGHT = 120, 44
_STEPS = 5


def matrix_chart(
    counts: Mapping[tuple[str, str], int],
    first: str,
    second: str,
    *,
    name: str = "gates",
) -> Chart:
    """A cell per pair of verdicts; those where one gate passes what the other fails have a thick border.

    Args:
        counts: Runs by the verdicts of both gates.
        first: What the gate in rows is called.
        second: What the gate in columns is called.
        name: Where ids in the markup begin.
    """
    title = f"{first.capitalize()} gate against {second} gate"
    total = sum(counts.values())
    parts = [
        written(f"{second} gate", _LEFT + _WIDTH * 2, 20, "tick", anchor="middle"),
        written(f"{first} gate", 4, _TOP - 14, "tick"),
    ]
    for at, verdict in enumerate(_VERDICTS):
        parts.append(written(verdict, _LEFT + _WIDTH * (at + 0.5), _TOP - 14, anchor="middle"))
        parts.append(written(verdict, _LEFT - 14, _TOP + _HEIGHT * (at + 0.5) + 5, anchor="end"))
    thick = []
    for down, one in enumerate(_VERDICTS):
        for across, other in enumerate(_VERDICTS):
            count = counts.get((one, other), 0)
            x, y = _LEFT + _WIDTH * across, _TOP + _HEIGHT * down
            step = 0 if not count else min(1 + int(count / total * (_STEPS - 1)), _STEPS - 1)
            parts.append(
                element("rect", class_=f"m{step}", x=x + 1, y=y + 1, width=_WIDTH - 2, height=_HEIGHT - 2)
            )
            share = f" ({count / total:.0%})" if count else ""
            parts.append(
                written(
                    f"{count:,}{share}", x + _WIDTH / 2, y + _HEIGHT / 2 + 5, f"on-m{step}", anchor="middle"
                )
            )
            if {one, other} == {"PASS", "FAIL"}:
                thick.append(
                    element("rect", class_="apart", x=x + 2, y=y + 2, width=_WIDTH - 4, height=_HEIGHT - 4)
                )
    sheet = Sheet(
        title,
        (first, *(f"{second}_{verdict}" for verdict in _VERDICTS)),
        tuple((one, *(counts.get((one, other), 0) for other in _VERDICTS)) for one in _VERDICTS),
    )
    height = _TOP + _HEIGHT * len(_VERDICTS) + 8
    return chart(name, title, _summary(counts, first, second), height, [*parts, *thick], sheet)


def _summary(counts: Mapping[tuple[str, str], int], first: str, second: str) -> str:
    opinions: Sequence[str] = ("PASS", "FAIL")
    both = sum(counts.get((one, other), 0) for one in opinions for other in opinions)
    if not both:
        return f"On no run do both the {first} and the {second} gate have an opinion."
    kept, missed = counts.get(("PASS", "FAIL"), 0), counts.get(("FAIL", "PASS"), 0)
    return (
        f"On {both:,} runs both gates have an opinion; they differ on {kept + missed:,} "
        f"({(kept + missed) / both:.1%}): {kept:,} pass the {first} gate and fail the {second} gate, "
        f"{missed:,} the other way round. Thick borders mark these."
    )
