"""What is read from the words of many task texts."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from tests.corpus.attempts import SPLITS, read_attempts
from tests.corpus.orders import read_texts

from adjudge.formats.instructions import orders_skips, orders_test_changes

pytestmark = pytest.mark.anyone


def test_no_order_is_seen_where_none_was_given() -> None:
    plain = [one.text for one in read_texts("develop") if one.kind == "plain"]

    assert len(plain) == 220
    assert [text for text in plain if orders_test_changes(text) or orders_skips(text)] == []


def test_tasks_of_projects_order_no_change_of_tests() -> None:
    texts = {one.project.name: one.project.instruction for split in SPLITS for one in read_attempts(split)}

    assert len(texts) > 100
    assert [name for name, text in texts.items() if orders_test_changes(text) or orders_skips(text)] == []


@pytest.mark.parametrize(
    ("kind", "reads", "least"),
    [("orders_tests", orders_test_changes, 0.8), ("orders_skips", orders_skips, 0.85)],
)
def test_most_orders_are_understood(kind: str, reads: Callable[[str], bool], least: float) -> None:
    texts = [one.text for one in read_texts("develop") if one.kind == kind]

    assert sum(map(reads, texts)) >= least * len(texts)
