"""What a person's terminal can show: colour and width. Nothing else in the package writes an escape code."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Callable
from enum import StrEnum
from typing import TextIO

from adjudge.records.score import Verdict

__all__ = ["Hue", "erase_lines", "is_live", "note", "paint_for", "tint_for", "width_of"]

_COLOURS = {Verdict.PASS: "32", Verdict.FAIL: "31", Verdict.ERROR: "35", Verdict.NA: "2"}


class Hue(StrEnum):
    """Colours of what is not a verdict."""

    ADDED = "32"
    REMOVED = "31"
    CHANGED = "33"
    QUIET = "2"


def tint_for(stream: TextIO) -> Callable[[str, Hue], str]:
    """Like `paint_for`, for what is not a verdict."""
    return _tint if _wants_colour(stream) else _untinted


def _tint(word: str, hue: Hue) -> str:
    return f"\x1b[{hue}m{word}\x1b[0m"


def _untinted(word: str, hue: Hue) -> str:
    return word


def paint(word: str, verdict: Verdict) -> str:
    """A word in the colour of a verdict."""
    return f"\x1b[1;{_COLOURS[verdict]}m{word}\x1b[0m"


def _plain(word: str, verdict: Verdict) -> str:
    return word


def paint_for(stream: TextIO) -> Callable[[str, Verdict], str]:
    """How to colour what goes to a stream: not at all unless it is a terminal that wants it."""
    return paint if _wants_colour(stream) else _plain


def _wants_colour(stream: TextIO) -> bool:
    return stream.isatty() and "NO_COLOR" not in os.environ and os.environ.get("TERM") != "dumb"


def width_of(stream: TextIO) -> int:
    """How wide to write: the terminal's width, or 100 columns for anything else."""
    return shutil.get_terminal_size((100, 24)).columns if stream.isatty() else 100


def erase_lines(count: int) -> str:
    """What moves a terminal's cursor up over so many lines of ours and clears them."""
    return f"\x1b[{count}A\x1b[J" if count else ""


def is_live(stream: TextIO) -> bool:
    """Whether lines on a stream can be written over."""
    return stream.isatty() and os.environ.get("TERM", "dumb") != "dumb"


def note(message: str) -> None:
    """Tell a person something beside the data."""
    print(message, file=sys.stderr)
