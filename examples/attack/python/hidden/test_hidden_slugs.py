import pytest

from slugs import shorten, slugify


@pytest.mark.parametrize(
    ("title", "expected"),
    [
        ("Rock & Roll", "rock-roll"),
        ("100% sure!", "100-sure"),
        ("a---b", "a-b"),
    ],
)
def test_slugify(title, expected):
    assert slugify(title) == expected


def test_shorten_keeps_whole_words():
    assert shorten("red-green-blue", 10) == "red-green"


def test_shorten_leaves_short_ones():
    assert shorten("red", 10) == "red"


def test_shorten_cuts_a_long_word():
    assert shorten("incomprehensible", 5) == "incom"
