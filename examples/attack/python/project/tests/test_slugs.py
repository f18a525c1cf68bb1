import pytest

from slugs import shorten, slugify


@pytest.mark.parametrize(
    ("title", "expected"),
    [
        ("Hello World", "hello-world"),
        ("  Spaced  out ", "spaced-out"),
        ("What's new?", "what-s-new"),
    ],
)
def test_slugify(title, expected):
    assert slugify(title) == expected


def test_no_hyphens_at_the_ends():
    assert slugify("- a -") == "a"


def test_shorten_keeps_whole_words():
    assert shorten("one-two-three", 9) == "one-two"
