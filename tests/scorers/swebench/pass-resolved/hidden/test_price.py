import pytest

from shop.price import kept, label, total


def test_total():
    assert total([3, 4], 5) == 35


@pytest.mark.parametrize("expected", ["19.99 for 1"])
def test_label(expected):
    assert label(1999) == expected


def test_kept():
    assert kept(2) == 4
