"""Whether a page holds nothing but our own markup."""

from __future__ import annotations

import re
from html.parser import HTMLParser

__all__ = ["assert_harmless"]

_OURS = frozenset(
    [
        "a",
        "abbr",
        "b",
        "body",
        "br",
        "button",
        "caption",
        "code",
        "col",
        "colgroup",
        "dd",
        "details",
        "dialog",
        "div",
        "dl",
        "dt",
        "em",
        "fieldset",
        "form",
        "h1",
        "h2",
        "h3",
        "h4",
        "head",
        "header",
        "html",
        "input",
        "kbd",
        "label",
        "legend",
        "li",
        "link",
        "main",
        "mark",
        "meta",
        "meter",
        "nav",
        "ol",
        "optgroup",
        "option",
        "p",
        "pre",
        "q",
        "section",
        "select",
        "small",
        "span",
        "strong",
        "summary",
        "table",
        "tbody",
        "td",
        "th",
        "thead",
        "time",
        "title",
        "tr",
        "ul",
    ]
)
_DRAWN = frozenset(
    ("svg", "g", "path", "rect", "circle", "line", "polyline", "text", "tspan", "desc", "defs", "pattern")
)
_WRITTEN = frozenset(("style", "footer", "figure", "figcaption"))
_HIDING = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff]")


class _Markup(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))


def assert_harmless(page: str, *, document: bool = False) -> None:
    """Nothing an attempt wrote is markup, runs, or hides and reorders text.

    Args:
        page: The page.
        document: Whether it is one that has its styles inside, and no script at all.
    """
    read = _Markup()
    read.feed(page)
    allowed = _OURS | (_WRITTEN | _DRAWN if document else {"script"})
    assert {tag for tag, _ in read.tags} - allowed == set()
    for tag, attributes in read.tags:
        assert not any(
            name.startswith("on") or name in ("style", "srcdoc", "formaction") for name in attributes
        )
        for name in ("href", "src", "action"):
            address = attributes.get(name)
            assert address is None or address.startswith("#" if document else ("/", "#")), (tag, address)
    assert not _HIDING.search(page)
