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
    openers = _openers(language)
    closer: str | None = None
    previous: int | None = None
    for number, text in lines:
        if previous is not None and number != previous + 1:
            closer = None
        previous = number
        code, closer = _code(text, closer, openers, language)
        yield Line(number, code)


def _markers(lines: Sequence[Line], language: Language, pattern: str) -> Iterator[Marker]:
    regex = _compiled(pattern)
    for line, code in zip(lines, code_lines(lines, language), strict=True):
        for _ in regex.finditer(code.text):
            yield Marker(line.number, line.text.strip())


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.VERBOSE)


@cache
def _openers(language: Language) -> re.Pattern[str]:
    """Whatever may begin a comment, a string or a character, the longest first."""
    marks = [
        *language.line_comments,
        *(opening for opening, _ in (*language.block_comments, *language.long_strings)),
        *language.quotes,
    ]
    alternatives = [re.escape(mark) for mark in sorted(set(marks), key=len, reverse=True)]
    if language.character is not None:
        alternatives.insert(0, f"(?P<character>{language.character})")
    return re.compile("|".join(alternatives))


def _code(
    text: str, closer: str | None, openers: re.Pattern[str], language: Language
) -> tuple[str, str | None]:
    """The code in one line, and what has to come before code begins again."""
    kept: list[str] = []
    position = 0
    long_strings, block_comments = dict(language.long_strings), dict(language.block_comments)
    while True:
        if closer is not None:
            end = _closing(text, closer, position)
            if end is None:
                return "".join(kept), closer
            position, closer = end, None
        opener = openers.search(text, position)
        if opener is None:
            kept.append(text[position:])
            return "".join(kept), None
        kept.append(text[position : opener.start()])
        mark, position = opener.group(), opener.end()
        if mark in language.line_comments:
            return "".join(kept), None
        if mark in block_comments:
            closer = block_comments[mark]
        elif mark in long_strings:
            kept.append('""')
            closer = long_strings[mark]
        elif mark in language.quotes:
            kept.append('""')
            end = _closing(text, mark, position)
            if end is None:
                return "".join(kept), None
            position = end


def _closing(text: str, closer: str, position: int) -> int | None:
    """Where a string or comment is over, escapes skipped."""
    while True:
        end = text.find(closer, position)
        if end < 0:
            return None
        backslashes = end - len(text[position:end].rstrip("\\")) - position
        if backslashes % 2 == 0 or closer == "*/" or closer.startswith('"#'):
            return end + len(closer)
        position = end + 1
