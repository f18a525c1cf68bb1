"""Addresses of the Data Explorer, both ways.

/explore?f=agent&o=is&v=builder&by=task&m=score&plot=heat&sort=-pass_rate

A filter is three parameters, `f` (field), `o` (operator) and `v` (value), in that order as often as there are
filters: what a plain form sends. Filters that are not filled in ask for nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from urllib.parse import urlencode

from fastapi import HTTPException
from pydantic import ValidationError

from adjudge.records.exploring import (
    DEFAULT_COLUMNS,
    SCORED,
    Condition,
    Exploration,
    Kind,
    Operator,
    RowOrder,
    field_of,
    moment_of,
)
from adjudge.workflows.exploring import Plot

__all__ = ["PAGE", "ExploreQuery", "in_words"]

PAGE = 40
_MAX_CONDITIONS = 12
_MAX_COLUMNS = 24
_MAX_PAGE = 10_000
_DEFAULT = Exploration()


@dataclass(frozen=True, slots=True)
class ExploreQuery:
    """What an address asks for."""

    wanted: Exploration = _DEFAULT
    show: str = "groups"
    """`groups`, or `runs` for single ones."""
    plot: Plot = Plot.PASS_RATES
    measure: str = "score"
    """Whose distribution is drawn."""
    columns: tuple[str, ...] = DEFAULT_COLUMNS
    """Of single runs."""
    sort: str = ""
    """A column, with a minus in front when it goes down; empty: the largest groups, the newest runs."""
    page: int = 1

    @classmethod
    def parse(cls, items: Iterable[tuple[str, str]]) -> ExploreQuery:
        """What the parameters of an address ask for; those of other things are left alone.

        Raises:
            HTTPException: A parameter has a value that it cannot have.
        """
        given: dict[str, list[str]] = {}
        for key, value in items:
            given.setdefault(key, []).append(value)
        single = {key: values[-1] for key, values in given.items()}
        try:
            wanted = Exploration(
                where=_conditions(given),
                by=_chosen(given, "by") or _DEFAULT.by,
                measures=_chosen(given, "m") or _DEFAULT.measures,
            )
            columns = _chosen(given, "col")[:_MAX_COLUMNS] or DEFAULT_COLUMNS
            for name in columns:
                if field_of(name).of_scorer:
                    raise ValueError(f"{name!r} is no column: a run has one for every scorer")
            show = single.get("show") or "groups"
            if show not in ("groups", "runs"):
                raise ValueError("show: groups or runs expected")
            query = cls(
                wanted=wanted,
                show=show,
                plot=_plot(single.get("plot", "")),
                measure=_measure(single.get("of", "")),
                columns=columns,
                sort=single.get("sort", ""),
                page=_page(single.get("page", "")),
            )
            if show == "runs":
                _ = query.order
        except ValidationError as error:
            first = error.errors()[0]
            raise HTTPException(400, str(first["msg"]).removeprefix("Value error, ")) from None
        except ValueError as error:
            raise HTTPException(400, str(error)) from None
        return query

    def items(self) -> list[tuple[str, str]]:
        """The parameters of its address; `parse` gives it back."""
        found: list[tuple[str, str]] = []
        for condition in self.wanted.where:
            found += [("f", condition.field), ("o", condition.operator.value), ("v", condition.value)]
        if self.wanted.by != _DEFAULT.by:
            found += [("by", name) for name in self.wanted.by]
        if self.wanted.measures != _DEFAULT.measures:
            found += [("m", name) for name in self.wanted.measures]
        if self.show != "groups":
            found.append(("show", self.show))
        if self.columns != DEFAULT_COLUMNS:
            found += [("col", name) for name in self.columns]
        if self.plot is not Plot.PASS_RATES:
            found.append(("plot", self.plot.value))
        if self.measure != "score":
            found.append(("of", self.measure))
        if self.sort:
            found.append(("sort", self.sort))
        if self.page > 1:
            found.append(("page", str(self.page)))
        return found

    def url(self, path: str = "/explore", **more: str) -> str:
        """Its address."""
        items = [*self.items(), *more.items()]
        return f"{path}?{urlencode(items)}" if items else path

    @property
    def by(self) -> tuple[str, bool]:
        """The column that groups are sorted by, and whether downwards."""
        return self.sort.removeprefix("-") or "runs", self.sort.startswith("-") or not self.sort

    @property
    def order(self) -> RowOrder:
        """The order of single runs."""
        if not self.sort:
            return RowOrder()
        return RowOrder(field=self.sort.removeprefix("-"), descending=self.sort.startswith("-"))

    @property
    def skip(self) -> int:
        """How many lines come before this page."""
        return (self.page - 1) * PAGE

    def at(self, page: int) -> ExploreQuery:
        """Another page of the same."""
        return replace(self, page=page)

    def sorted_by(self, column: str, *, up: bool = False) -> ExploreQuery:
        """The same in that order, or the other way round when it has it already."""
        now, down = self.by
        turned = (not down) if now == column and self.sort else not up
        return replace(self, sort=f"-{column}" if turned else column, page=1)

    def drawing(self, plot: Plot) -> ExploreQuery:
        """The same with another plot."""
        return replace(self, plot=plot)

    def showing(self, show: str) -> ExploreQuery:
        """The same runs one by one, or in groups."""
        return replace(self, show=show, sort="", page=1)

    def without(self, at: int) -> ExploreQuery:
        """The same without one of its filters."""
        where = self.wanted.where[:at] + self.wanted.where[at + 1 :]
        return self._where(where)

    def within(self, key: Sequence[str | None]) -> ExploreQuery:
        """The single runs of a group."""
        more: list[Condition] = []
        for name, value in zip(self.wanted.by, key, strict=True):
            more += _same(name, value)
        return self._where((*self.wanted.where, *more)).showing("runs")

    def _where(self, where: tuple[Condition, ...]) -> ExploreQuery:
        return replace(self, wanted=self.wanted.model_copy(update={"where": where}), page=1)


def in_words(condition: Condition) -> tuple[str, str, str]:
    """A condition as it is read: the field, how it is compared, the value."""
    words = {
        Operator.IS: "is",
        Operator.IS_NOT: "is not",
        Operator.CONTAINS: "contains",
        Operator.AT_LEAST: "≥",
        Operator.AT_MOST: "≤",
        Operator.KNOWN: "is known",
        Operator.UNKNOWN: "is not known",
    }
    return field_of(condition.field).title, words[condition.operator], condition.value


def _same(name: str, value: str | None) -> list[Condition]:
    """What the runs of a group have in common."""
    days = {"week": 7, "day": 1}.get(name)
    field = name if days is None else "started_at"
    if value is None:
        return [Condition(field=field, operator=Operator.UNKNOWN)]
    if days is None:
        # Not checked again: a name in the store may be longer than one that is asked for.
        return [Condition.model_construct(field=field, operator=Operator.IS, value=value)]
    last = moment_of(value) + timedelta(days=days) - timedelta(microseconds=1)
    return [
        Condition(field=field, operator=Operator.AT_LEAST, value=value),
        Condition(field=field, operator=Operator.AT_MOST, value=last.isoformat()),
    ]


def _chosen(given: dict[str, list[str]], name: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(value for value in given.get(name, ()) if value))


def _conditions(given: dict[str, list[str]]) -> tuple[Condition, ...]:
    fields, operators, values = (given.get(name, []) for name in "fov")
    if not len(fields) == len(operators) == len(values):
        raise ValueError("a filter is f, o and v: field, operator and value")
    found = []
    for field, operator, value in zip(fields, operators, values, strict=True):
        wordless = operator in (Operator.KNOWN, Operator.UNKNOWN)
        if field and (value.strip() or wordless):
            if operator not in list(Operator):
                raise ValueError(f"{operator!r} is no operator; known: {', '.join(Operator)}")
            # Names may begin and end with spaces; numbers and dates do not.
            named = field_of(field).kind is Kind.TEXT
            kept = "" if wordless else value if named else value.strip()
            found.append(Condition(field=field, operator=Operator(operator), value=kept))
    if len(found) > _MAX_CONDITIONS:
        raise ValueError(f"at most {_MAX_CONDITIONS} filters")
    return tuple(dict.fromkeys(found))


def _plot(value: str) -> Plot:
    if value and value not in list(Plot):
        raise ValueError(f"{value!r} is no plot; known: {', '.join(Plot)}")
    return Plot(value) if value else Plot.PASS_RATES


def _measure(value: str) -> str:
    if value and value not in SCORED:
        raise ValueError(f"{value!r} has no distribution; known: {', '.join(SCORED)}")
    return value or "score"


def _page(value: str) -> int:
    if not value:
        return 1
    if not (value.isascii() and value.isdigit() and 1 <= int(value[:9]) <= _MAX_PAGE):
        raise ValueError(f"page: a whole number from 1 to {_MAX_PAGE} expected")
    return int(value)
