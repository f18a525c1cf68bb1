"""What a changed line says when only changed lines are at hand.

Comments and the insides of strings are taken away line by line, so that a marker in prose is no marker and a
check that was commented out is gone. Runs of consecutive lines are read together, so strings and comments
that open and close within a run are understood; a run that starts inside one cannot know it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from typing import NamedTuple

from adjudge.syntax.languages import Language

__all__ = ["Line", "Marker", "assertions_in", "code_lines", "skips_in"]


class Line(NamedTuple):
    """A line of a file."""

    number: int
    text: str


class Marker(NamedTuple):
    """A skip or an assertion, where it stands."""

    number: int
    text: str
    """The line it stands in, without the white space around it."""


def skips_in(lines: Sequence[Line], language: Language) -> list[Marker]:
    """Every marker that keeps a test from running or from failing, one for each occurrence."""
    found = list(_markers(lines, language, language.skip))
    if language.directive is not None:
        directive = re.compile(language.directive)
        found += [Marker(line.number, line.text.strip()) for line in lines if directive.match(line.text)]
    return sorted(found, key=lambda marker: marker.number)


def assertions_in(lines: Sequence[Line], language: Language) -> list[Marker]:
    """Every check that can fail a test, one for each occurrence."""
    return list(_markers(lines, language, language.assertion))


def code_lines(lines: Iterable[Line], language: Language) -> Iterator[Line]:
    """The lines with comments gone and strings emptied."""
    marks = _marks(language)
    within: _Within | None = None
    previous: int | None = None
    for number, text in lines:
        if previous is not None and number != previous + 1:
            within = None
        previous = number
        code, within = _code(text, within, marks)
        yield Line(number, code)


def _markers(lines: Sequence[Line], language: Language, pattern: str) -> Iterator[Marker]:
    regex = _compiled(pattern)
    for line, code in zip(lines, code_lines(lines, language), strict=True):
        for _ in regex.finditer(code.text):
            yield Marker(line.number, line.text.strip())


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.VERBOSE)


class _Within(NamedTuple):
    """A string or comment that has to end before code goes on."""

    closer: str
    escapes: bool


class _Marks(NamedTuple):
    """Whatever may begin a comment, a string or a character in a language."""

    opener: re.Pattern[str]
    """The longest first."""
    line_comments: frozenset[str]
    long_ones: dict[str, _Within]
    """What goes on over lines."""
    comments: frozenset[str]
    """Those among them that leave nothing behind."""
    quotes: frozenset[str]


@cache
def _marks(language: Language) -> _Marks:
    long_ones = {opening: _Within(closing, escapes=True) for opening, closing in language.long_strings}
    raw = (*language.raw_strings, *language.block_comments)
    long_ones |= {opening: _Within(closing, escapes=False) for opening, closing in raw}
    every = {*language.line_comments, *long_ones, *language.quotes}
    alternatives = [re.escape(mark) for mark in sorted(every, key=len, reverse=True)]
    if language.character is not None:
        alternatives.insert(0, language.character)
    return _Marks(
        opener=re.compile("|".join(alternatives)),
        line_comments=frozenset(language.line_comments),
        long_ones=long_ones,
        comments=frozenset(opening for opening, _ in language.block_comments),
        quotes=frozenset(language.quotes),
    )


def _code(text: str, within: _Within | None, marks: _Marks) -> tuple[str, _Within | None]:
    """The code in one line, and what has to end before code goes on."""
    kept: list[str] = []
    position = 0
    while True:
        if within is not None:
            end = _end(text, within, position)
            if end is None:
                return "".join(kept), within
            position, within = end, None
        opener = marks.opener.search(text, position)
        if opener is None:
            kept.append(text[position:])
            return "".join(kept), None
        kept.append(text[position : opener.start()])
        mark, position = opener.group(), opener.end()
        if mark in marks.line_comments:
            return "".join(kept), None
        if mark in marks.long_ones:
            kept.append("" if mark in marks.comments else '""')
            within = marks.long_ones[mark]
        elif mark in marks.quotes:
            kept.append('""')
            end = _end(text, _Within(mark, escapes=True), position)
            if end is None:
                return "".join(kept), None
            position = end


def _end(text: str, within: _Within, position: int) -> int | None:
    """Where a string or comment is over."""
    while True:
        end = text.find(within.closer, position)
        if end < 0:
            return None
        backslashes = end - len(text[position:end].rstrip("\\")) - position
        if backslashes % 2 == 0 or not within.escapes:
            return end + len(within.closer)
        position = end + 1
