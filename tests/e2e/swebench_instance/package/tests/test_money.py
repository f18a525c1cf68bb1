import pytest

from ledgerly import Money, split


@pytest.mark.parametrize(
    ("text", "cents"),
    [("12.50", 1250), ("-3", -300), ("1,200.00", 120000), ("+0.05", 5), (".5", 50)],
)
def test_parse(text, cents):
    assert Money.parse(text) == Money(cents)


@pytest.mark.parametrize("text", ["", "abc", "1.234", "1.2.3"])
def test_parse_refuses(text):
    with pytest.raises(ValueError, match="not an amount"):
        Money.parse(text)


def test_str():
    assert str(Money(-123456)) == "-1,234.56"


def test_split_even():
    assert split(Money(900), [1, 1, 1]) == [Money(300)] * 3
