"""Addresses of the explorer: what they ask for, and what they refuse."""

from __future__ import annotations

from urllib.parse import parse_qsl

import pytest
from fastapi import HTTPException

from adjudge.records.exploring import Condition, Exploration, Operator
from adjudge.web.explorequery import ExploreQuery
from adjudge.workflows.exploring import Plot

pytestmark = pytest.mark.anyone


def parse(query: str) -> ExploreQuery:
    return ExploreQuery.parse(parse_qsl(query, keep_blank_values=True))


@pytest.mark.parametrize(
    "query",
    [
        "",
        "f=agent&o=is&v=a%26b",
        "f=agent&o=is&v=a&f=score&o=at-least&v=0.5&f=model&o=unknown&v=",
        "by=task&by=week&m=reward&plot=heat",
        "show=runs&col=run&col=tag%3Asuite&sort=-score&page=3",
        "plot=distribution&of=reward&sort=pass_rate_low",
    ],
)
def test_addresses_come_back_as_they_were(query: str) -> None:
    found = parse(query)
    assert found.url() == (f"/explore?{query}" if query else "/explore")
    assert parse(found.url().partition("?")[2]) == found


def test_what_a_form_leaves_empty_asks_for_nothing() -> None:
    assert parse("f=&o=is&v=&f=agent&o=is&v=+&by=&by=&show=groups&sort=&plot=&page=") == ExploreQuery()


def test_an_address_is_taken_apart() -> None:
    found = parse("f=agent&o=contains&v=cl&by=tag%3Asuite&m=wall_s&plot=gates&sort=-runs&page=2")
    assert found.wanted == Exploration(
        where=(Condition(field="agent", operator=Operator.CONTAINS, value="cl"),),
        by=("tag:suite",),
        measures=("wall_s",),
    )
    assert (found.plot, found.by, found.skip) == (Plot.GATES, ("runs", True), 40)


@pytest.mark.parametrize(
    ("query", "said"),
    [
        ("f=agent&o=is", "a filter is f, o and v"),
        ("f=agent&o=like&v=x", "'like' is no operator; known: is, is-not"),
        ("f=agnt&o=is&v=x", "did you mean agent"),
        ("by=agents", "did you mean agent"),
        ("m=speed", "no measure"),
        ("plot=pie", "'pie' is no plot"),
        ("of=cost_usd", "has no distribution"),
        ("show=all", "groups or runs"),
        ("show=runs&col=scorer", "one for every scorer"),
        ("show=runs&sort=nothing", "'nothing' is no field"),
        ("page=0", "a whole number"),
        ("page=99999999999999999999", "a whole number"),
        ("&".join(f"f=trial&o=is&v={number}" for number in range(13)), "at most 12 filters"),
    ],
)
def test_what_cannot_be_is_refused_in_words(query: str, said: str) -> None:
    with pytest.raises(HTTPException) as refused:
        parse(query)
    assert refused.value.status_code == 400
    assert said in refused.value.detail


def test_orders_turn_and_pages_begin_again() -> None:
    query = parse("page=4")
    down = query.sorted_by("pass_rate")
    assert (down.sort, down.page, down.sorted_by("pass_rate").sort) == ("-pass_rate", 1, "pass_rate")
    assert query.sorted_by("agent", up=True).sort == "agent"


def test_a_group_leads_to_its_runs() -> None:
    query = parse("f=agent&o=is&v=a&by=task&by=model").within(("one", None))
    assert query.url() == (
        "/explore?f=agent&o=is&v=a&f=task&o=is&v=one&f=model&o=unknown&v=&by=task&by=model&show=runs"
    )
    assert query.without(0).wanted.where == query.wanted.where[1:]


def test_a_week_leads_to_the_runs_that_began_in_it() -> None:
    weekly = parse("by=week&by=tag%3Asuite").within(("2026-03-02", "small"))
    assert [(item.field, item.operator.value, item.value) for item in weekly.wanted.where] == [
        ("started_at", "at-least", "2026-03-02"),
        ("started_at", "at-most", "2026-03-08T23:59:59.999999+00:00"),
        ("tag:suite", "is", "small"),
    ]
    assert parse(weekly.url().partition("?")[2]) == weekly
    assert parse("by=day").within((None,)).wanted.where == (
        Condition(field="started_at", operator=Operator.UNKNOWN),
    )
