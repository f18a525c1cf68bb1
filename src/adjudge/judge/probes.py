"""Changes to a case that should change no verdict: another order, a longer response."""

from __future__ import annotations

from adjudge.judge.case import Section

__all__ = ["lengthened", "reordered"]

_PADDING = (
    "The following lines were added to this response by a machine. They say nothing about the task, the work "
    "or its result and are here only to make the response longer. "
)
_REPEATS = 12


def reordered(sections: tuple[Section, ...]) -> tuple[Section, ...]:
    """What the attempt wrote, in the reverse order; everything else stays in its place."""
    backwards = iter([section for section in reversed(sections) if not section.trusted])
    return tuple(section if section.trusted else next(backwards) for section in sections)


def lengthened(sections: tuple[Section, ...]) -> tuple[Section, ...]:
    """A response with text behind it that says nothing."""
    return tuple(
        section._replace(text=f"{section.text}\n\n{_PADDING * _REPEATS}")
        if section.name == "response"
        else section
        for section in sections
    )
