"""Files that check for tests and are none by their names: helpers which load what only tests load."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from adjudge.records.testcode import SuiteOutline
from adjudge.syntax.grammars import grammar_of

__all__ = ["is_named_as_support", "is_support", "with_checking_helpers"]

_LOADED: Final = rb"""(?:require\(\s*|from\s+|import\s+)["'](?:node:)?(?:%s)["']"""
_JAVASCRIPT: Final = re.compile(
    _LOADED
    % rb"test|chai|expect|@jest/globals|vitest|should|power-assert|tap|ava|uvu/assert|@playwright/test"
)
_ASSERTS: Final = re.compile(_LOADED % rb"assert(?:/strict)?")
_SHARED: Final[Mapping[str, re.Pattern[bytes]]] = {
    "python": re.compile(rb"^[ \t]*(?:import|from)[ \t]+(?:unittest|pytest|hypothesis|nose)\b", re.MULTILINE),
    "javascript": _ASSERTS,
    "typescript": _ASSERTS,
    "tsx": _ASSERTS,
}
"""What programs load as well, some when they are asked; it says something only in a file whose name does."""
_BESIDE_TESTS: Final = re.compile(
    r"(?:^|[/_.-])(?:support|helpers?|harness|fixtures?|checks?|checking|tests?|testing|testkit|specs?)(?:[/_.-]|$)"
    r"|(?:^|/)\w+test/[^/]+\.go$"
)
"""The last is how packages of Go are called that help to test another one, as `httptest`."""
_LOADS: Final[Mapping[str, re.Pattern[bytes]]] = {
    "python": re.compile(rb"^(?:import|from)[ \t]+(?:pytest|hypothesis|nose)\b", re.MULTILINE),
    "javascript": _JAVASCRIPT,
    "typescript": _JAVASCRIPT,
    "tsx": _JAVASCRIPT,
    "go": re.compile(rb"""^[ \t]*(?:import[ \t]+)?(?:\w+[ \t]+)?"testing"[ \t]*$""", re.MULTILINE),
    "ruby": re.compile(rb"""^[ \t]*require[ \t]+["'](?:minitest|rspec|test/unit)""", re.MULTILINE),
}


def is_named_as_support(path: str) -> bool:
    """Whether a path has a name that people give to what tests use."""
    return _BESIDE_TESTS.search(path) is not None


def is_support(path: str, source: bytes) -> bool:
    """Whether a file loads what tests check with, by the language that its name says."""
    grammar = grammar_of(path)
    loads = _LOADS.get(grammar.name) if grammar is not None else None
    if loads is None or grammar is None:
        return False
    shared = _SHARED.get(grammar.name)
    beside = shared is not None and is_named_as_support(path) and shared.search(source)
    return bool(beside) or loads.search(source) is not None


def with_checking_helpers(
    before: SuiteOutline | None, after: SuiteOutline | None
) -> tuple[SuiteOutline | None, SuiteOutline | None]:
    """Both sides of a file without tests, its functions that check something taken for tests.

    Only those that are there on both sides: a helper that is gone left its checks to whoever called it.
    """
    sides = (before, after)
    if before is None or after is None or any(side.tests or side.unchanged for side in (before, after)):
        return sides
    names = [{helper.name for helper in side.helpers} for side in (before, after)]
    checking = {
        helper.name
        for helper in before.helpers
        if helper.name in names[1] and any(check.effective for check in helper.checks)
    }
    made = [
        side.model_copy(
            update={
                "tests": tuple(
                    helper.model_copy(update={"collected": True})
                    for helper in side.helpers
                    if helper.name in checking
                ),
                "helpers": tuple(helper for helper in side.helpers if helper.name not in checking),
            }
        )
        for side in (before, after)
    ]
    return made[0], made[1]
