"""Saved views."""

from __future__ import annotations

import pytest

from adjudge.errors import UsageError
from adjudge.settings import Settings
from adjudge.store.opening import store_for
from adjudge.store.views import ViewTable

pytestmark = pytest.mark.anyone


def test_views_are_kept_replaced_and_removed(store_settings: Settings) -> None:
    with store_for(store_settings) as store:
        views = ViewTable(store.database)
        first = views.add(" failures ", "explore", "f=objective&o=is&v=FAIL", "ann")
        views.add("failures", "explore", "show=runs", "bob")
        views.add("Another", "explore", "", "ann")
        views.add("elsewhere", "runs", "", "ann")
        assert [(view.name, view.owner) for view in views.all("explore")] == [
            ("Another", "ann"), ("failures", "ann"), ("failures", "bob"),
        ]  # fmt: skip
        assert views.get(first.id) == first
        again = views.add("failures", "explore", "by=task", "ann")
        assert [view.query for view in views.all("explore") if view.owner == "ann"] == ["", "by=task"]
        views.remove(again.id)
        views.remove(again.id)
        with pytest.raises(UsageError, match="no saved view"):
            views.get(again.id)
        for name, page, query in (("  ", "explore", ""), ("x", "No page", ""), ("x", "explore", "x" * 8001)):
            with pytest.raises(UsageError, match="cannot be saved"):
                views.add(name, page, query, "ann")
