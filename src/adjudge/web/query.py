"""Addresses of lists of runs, both ways: what an address asks for, and the address of what is asked for.

/runs?q=parser&objective=FAIL&score_min=0.5&sort=-cost&after=…
"""

from __future__ import annotations

import base64
import binascii
import difflib
import json
import math
import re
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from enum import StrEnum
from typing import Any, TypeVar
from urllib.parse import urlencode

from fastapi import HTTPException

from adjudge.records.listing import Bound, RunCursor, RunFilter, RunSort, SortColumn
from adjudge.records.run import RunStatus
from adjudge.records.score import Verdict

__all__ = ["BOUNDS", "MAX_LIMIT", "PAGE", "PARAMETERS", "RunQuery", "dump_filter", "parse_filter"]

PAGE = 50
MAX_LIMIT = 200
_MAX_VALUE = 500

BOUNDS: dict[str, str] = {
    "score": "score",
    "reward": "reward",
    "cost": "cost_usd",
    "tokens": "total_tokens",
    "time": "wall_s",
}
"""Numbers that an address can bound, by `<name>_min` and `<name>_max`, and their columns."""
PARAMETERS: tuple[str, ...] = (
    "q", "task", "agent", "model", "experiment", "trial", "status", "objective", "judge", "run", "integrity",
    "failure_mode", "tag", "graded", "since", "until",
    *(f"{name}_{end}" for name in BOUNDS for end in ("min", "max")),
    "sort", "after", "before", "limit",
)  # fmt: skip
"""Everything an address can say."""
_INTEGRITY = ("unchecked", "clean", "suspect", "tampered")
Choice = TypeVar("Choice", bound=StrEnum)
Items = Iterable[tuple[str, str]]


@dataclass(frozen=True, slots=True)
class RunQuery:
    """What an address asks for."""

    wanted: RunFilter = field(default_factory=RunFilter)
    sort: RunSort = field(default_factory=RunSort)
    after: RunCursor | None = None
    before: RunCursor | None = None
    limit: int = PAGE

    @classmethod
    def parse(cls, items: Items) -> RunQuery:
        """What the parameters of an address ask for. Empty ones ask for nothing, as in an empty form.

        Raises:
            HTTPException: A parameter has a value that it cannot have.
        """
        given = [(key, value) for key, value in items if value != ""]
        for key, _ in given:
            if key not in PARAMETERS:
                near = difflib.get_close_matches(key, PARAMETERS, n=1)
                hint = f"; did you mean {near[0]}?" if near else ""
                raise HTTPException(400, f"there is no parameter {key[:50]!r}{hint}")
        single = dict(given)
        sort = _sort(single.get("sort"))
        return cls(
            wanted=parse_filter(given),
            sort=sort,
            after=_cursor("after", single.get("after"), sort),
            before=_cursor("before", single.get("before"), sort),
            limit=_limit(single.get("limit")),
        )

    def items(self) -> list[tuple[str, str]]:
        """The parameters of its address."""
        found = dump_filter(self.wanted)
        if self.sort != RunSort():
            found.append(("sort", f"{'-' if self.sort.descending else ''}{self.sort.column.value}"))
        if self.limit != PAGE:
            found.append(("limit", str(self.limit)))
        for name, cursor in (("after", self.after), ("before", self.before)):
            if cursor is not None:
                found.append((name, _dump_cursor(cursor)))
        return found

    def url(self, path: str = "/runs") -> str:
        """Its address."""
        items = self.items()
        return f"{path}?{urlencode(items)}" if items else path

    def at(self, *, after: RunCursor | None = None, before: RunCursor | None = None) -> RunQuery:
        """The same list, elsewhere."""
        return replace(self, after=after, before=before)

    def sorted_by(self, column: SortColumn) -> RunQuery:
        """The list in that order, from its beginning; the other way round when it has that order already."""
        down = not self.sort.descending if self.sort.column is column else column not in _UPWARDS
        return replace(self, sort=RunSort(column=column, descending=down), after=None, before=None)

    def without(self, *names: str) -> RunQuery:
        """The list without some parameters of its filter, from its beginning."""
        kept = [(key, value) for key, value in dump_filter(self.wanted) if key not in names]
        return replace(self, wanted=parse_filter(kept), after=None, before=None)


_UPWARDS = (SortColumn.TASK, SortColumn.AGENT, SortColumn.MODEL, SortColumn.TRIAL)
"""Columns whose natural order is from small to large."""


def parse_filter(items: Items) -> RunFilter:
    """The filter that parameters describe; those that are not about filters are left alone.

    Raises:
        HTTPException: A parameter has a value that it cannot have.
    """
    given = [(key, value) for key, value in items if value != ""]
    for key, value in given:
        if len(value) > _MAX_VALUE:
            raise _bad(key, f"longer than {_MAX_VALUE} characters")
        if "\0" in value:
            raise _bad(key, "no text has a null character")
    single = dict(given)
    bounds = []
    for name, column in BOUNDS.items():
        low, high = (_number(f"{name}_{end}", single.get(f"{name}_{end}")) for end in ("min", "max"))
        if low is not None or high is not None:
            bounds.append(Bound.model_validate({"column": column, "at_least": low, "at_most": high}))
    integrity = single.get("integrity")
    if integrity is not None and integrity not in _INTEGRITY:
        raise _bad("integrity", f"one of {', '.join(_INTEGRITY)} expected")
    return RunFilter(
        experiment_id=single.get("experiment"),
        task=single.get("task"),
        agent=single.get("agent"),
        model=single.get("model"),
        trial=_trial(single.get("trial")),
        status=_choice(RunStatus, "status", single.get("status")),
        objective=_choice(Verdict, "objective", single.get("objective")),
        judge=_choice(Verdict, "judge", single.get("judge")),
        run_gate=_choice(Verdict, "run", single.get("run")),
        integrity=integrity,
        failure_mode=single.get("failure_mode"),
        tags=tuple(_tag(value) for key, value in given if key == "tag"),
        text=single.get("q"),
        bounds=tuple(bounds),
        since=_moment("since", single.get("since")),
        until=_moment("until", single.get("until")),
        graded=_yes_or_no("graded", single.get("graded")),
    )


def dump_filter(wanted: RunFilter) -> list[tuple[str, str]]:
    """The parameters that describe a filter; `parse_filter` gives it back."""
    values: list[tuple[str, Any]] = [
        ("q", wanted.text),
        ("experiment", wanted.experiment_id),
        ("task", wanted.task),
        ("agent", wanted.agent),
        ("model", wanted.model),
        ("trial", wanted.trial),
        ("status", wanted.status),
        ("objective", wanted.objective),
        ("judge", wanted.judge),
        ("run", wanted.run_gate),
        ("integrity", wanted.integrity),
        ("failure_mode", wanted.failure_mode),
        *(("tag", f"{key}={value}") for key, value in wanted.tags),
        ("since", None if wanted.since is None else wanted.since.isoformat()),
        ("until", None if wanted.until is None else wanted.until.isoformat()),
        ("graded", None if wanted.graded is None else "yes" if wanted.graded else "no"),
    ]
    names = {column: name for name, column in BOUNDS.items()}
    for bound in wanted.bounds:
        for end, value in (("min", bound.at_least), ("max", bound.at_most)):
            values.append((f"{names[bound.column]}_{end}", None if value is None else f"{value:.12g}"))
    return [(key, str(value)) for key, value in values if value is not None]


def _bad(name: str, why: str) -> HTTPException:
    return HTTPException(400, f"{name}: {why}")


def _choice(kind: type[Choice], name: str, value: str | None) -> Choice | None:
    if value is None:
        return None
    for choice in kind:
        if choice.value.lower() == value.lower():
            return choice
    raise _bad(name, f"one of {', '.join(choice.value for choice in kind)} expected")


def _number(name: str, value: str | None) -> float | None:
    if value is None:
        return None
    try:
        number = float(value)
    except ValueError:
        raise _bad(name, "a number expected") from None
    if not math.isfinite(number):
        raise _bad(name, "a number expected")
    return number


def _trial(value: str | None) -> int | None:
    if value is None:
        return None
    if not value.isascii() or not value.isdigit() or len(value) > 6:
        raise _bad("trial", "a whole number expected")
    return int(value)


def _limit(value: str | None) -> int:
    if value is None:
        return PAGE
    if not value.isascii() or not value.isdigit() or not 1 <= int(value[:9]) <= MAX_LIMIT:
        raise _bad("limit", f"a whole number from 1 to {MAX_LIMIT} expected")
    return int(value)


def _yes_or_no(name: str, value: str | None) -> bool | None:
    if value is None:
        return None
    if value not in ("yes", "no"):
        raise _bad(name, "yes or no expected")
    return value == "yes"


def _tag(value: str) -> tuple[str, str]:
    key, separator, rest = value.partition("=")
    if not separator or not key:
        raise _bad("tag", "KEY=VALUE expected")
    return key, rest


def _moment(name: str, value: str | None) -> datetime | None:
    if value is None:
        return None
    try:
        moment = datetime.fromisoformat(value)
    except ValueError:
        raise _bad(name, "a date such as 2026-01-31 expected") from None
    try:
        return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)
    except OverflowError:
        raise _bad(name, "a date such as 2026-01-31 expected") from None


def _sort(value: str | None) -> RunSort:
    if value is None:
        return RunSort()
    column = _choice(SortColumn, "sort", value.removeprefix("-"))
    assert column is not None
    return RunSort(column=column, descending=value.startswith("-"))


def _cursor(name: str, value: str | None, sort: RunSort) -> RunCursor | None:
    if value is None:
        return None
    try:
        data = base64.urlsafe_b64decode(value.encode("ascii") + b"=" * (-len(value) % 4))
        place, seq = json.loads(data)
    except (ValueError, TypeError, RecursionError, binascii.Error):
        raise _bad(name, "not a place in this list") from None
    fits = place is None or _is_value(place, sort.column)
    if not fits or type(seq) is not int or not 0 <= seq < 1 << 62:
        raise _bad(name, "not a place in this list")
    return RunCursor(value=place, seq=seq)


def _is_value(place: object, column: SortColumn) -> bool:
    """Whether a column can have that value: databases do not compare numbers with text."""
    if column in (SortColumn.TASK, SortColumn.AGENT, SortColumn.MODEL):
        # Names as they are kept: what no database takes was spelled out.
        return isinstance(place, str) and re.search("[\0\ud800-\udfff]", place) is None
    return isinstance(place, int | float) and not isinstance(place, bool) and abs(place) < 1e300


def _dump_cursor(cursor: RunCursor) -> str:
    data = json.dumps([cursor.value, cursor.seq], separators=(",", ":")).encode()
    return base64.urlsafe_b64encode(data).decode().rstrip("=")
