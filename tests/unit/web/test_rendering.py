"""How values are shown, and that nothing an attempt wrote is anything but text."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from markupsafe import Markup

from adjudge.web.rendering import (
    NOTHING,
    duration,
    make_environment,
    money,
    number,
    prose,
    text,
    tokens,
    verdict,
    when,
)
from adjudge.web.static import StaticFiles

pytestmark = pytest.mark.anyone


def test_everything_put_out_is_escaped_and_spelled_out() -> None:
    template = make_environment(StaticFiles()).from_string('<p title="{{ x }}">{{ x }}</p>{{ y }}{{ z }}')
    shown = template.render(x="<b>\"'&\x1b[2J\0\u202ea\tb\nc", y=Markup("<i>"), z=None)
    assert shown == (
        '<p title="&lt;b&gt;&#34;&#39;&amp;\\x1b[2J\\x00\\u202ea\tb\nc">'
        "&lt;b&gt;&#34;&#39;&amp;\\x1b[2J\\x00\\u202ea\tb\nc</p><i>"
    )


def test_text_of_attempts_shows_what_was_spelled_out() -> None:
    assert text("a<b>\x1b\r\nc\td\\x1b") == Markup('a&lt;b&gt;<span class="spelled">\\x1b</span>\nc\td\\x1b')


def test_prose_marks_code() -> None:
    assert prose("a `<b>` c") == Markup("a <code>&lt;b&gt;</code> c")


@pytest.mark.parametrize(
    ("shown", "expected"),
    [
        (number(None), NOTHING),
        (number(0.0), "0"),
        (number(1.0), "1"),
        (number(0.5), "0.5"),
        (number(1 / 3), "0.333"),
        (number(0.9999), "0.9999"),
        (number(1e-9), "1e-09"),
        (money(None), NOTHING),
        (money(0.25), "$0.25"),
        (tokens(None), NOTHING),
        (tokens(999), "999"),
        (tokens(1500), "1.5 k"),
        (tokens(2_345_678), "2.3 M"),
        (tokens(234_567_890), "234 M"),
        (duration(None), NOTHING),
        (duration(61.04), "61.0s"),
        (str(when(None)), NOTHING),
        (
            str(when(datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC))),
            '<time datetime="2026-01-02T03:04:05Z">2026-01-02 03:04</time>',
        ),
    ],
)
def test_values(shown: str, expected: str) -> None:
    assert shown == expected


@pytest.mark.parametrize(
    ("value", "kind", "word"),
    [("PASS", "pass", "PASS"), ("NA", "na", "N/A"), (None, "none", "not graded"), ("<b>", "none", "<b>")],
)
def test_verdicts(value: object, kind: str, word: str) -> None:
    assert verdict(value) == {"kind": kind, "word": word}
