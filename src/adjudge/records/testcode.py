"""What a test file checks, as far as it can be told without running it."""

from __future__ import annotations

from enum import StrEnum
from typing import Final

from adjudge.records.base import Record

__all__ = ["ELSEWHERE", "Check", "CheckState", "SkipCondition", "SkipMark", "SuiteOutline", "WrittenTest"]

ELSEWHERE: Final = "*"
"""The scope of a mark that is put on tests from outside: from another file, or by name."""


class CheckState(StrEnum):
    """Whether a check can fail its test."""

    LIVE = "live"
    DEAD = "dead"
    """Control never comes to it: after a return, under a condition that is never true."""
    SWALLOWED = "swallowed"
    """What it raises is caught and forgotten."""
    UNAWAITED = "unawaited"
    """It is a promise that nobody waits for."""
    GATED = "gated"
    """Under a condition on the environment."""
    PLATFORM = "platform"
    """On some systems or versions only."""
    INVERTED = "inverted"
    """Its failure is what is asked for."""


class Check(Record):
    """One assertion."""

    line: int
    text: str
    """As it is written, on one line, capped."""
    operator: str
    """What is asked: `==`, `in`, `raises`, `truthy`, … or the name of a matcher."""
    subject: str = ""
    """What is looked at, white space and quotes evened out, a plain local replaced by what it holds."""
    expected: str = ""
    strength: int
    """How much it says, from 0 (nothing: it always holds) to 5 (one value and no other)."""
    tolerance: float | None = None
    """How far off a number may be, where that is written down."""
    state: CheckState = CheckState.LIVE

    @property
    def key(self) -> tuple[str, ...]:
        """Equal for checks that ask the same; the sides of an equality may change places."""
        sides = (self.subject, self.expected)
        return (self.operator, *(sorted(sides) if self.operator in ("==", "!=") else sides))

    @property
    def effective(self) -> int:
        """Its strength, or 0 when it cannot fail."""
        may_fail = (CheckState.LIVE, CheckState.GATED, CheckState.PLATFORM)
        return self.strength if self.state in may_fail else 0


class SkipCondition(StrEnum):
    """When a mark keeps a test from running or from failing."""

    ALWAYS = "always"
    PLATFORM = "platform"
    """On some systems or versions."""
    ENVIRONMENT = "environment"
    """When a variable of the environment says so."""
    OTHER = "other"
    """When a condition holds that cannot be read off."""
    NEVER = "never"
    """Its condition never holds."""


class SkipMark(Record):
    """Something that keeps tests from running or from failing."""

    line: int
    text: str
    when: SkipCondition = SkipCondition.ALWAYS
    focus: bool = False
    """It keeps the other tests from running, not its own."""
    scope: str = ""
    """The class it stands on, where it stands on one."""


class WrittenTest(Record):
    """A test as it is written, or a helper that tests call."""

    name: str
    """With the classes or suites it lies in."""
    line: int
    collected: bool = True
    """Whether a runner would find it by its name, its place and what follows it."""
    why_not: str = ""
    """Why it is not collected, as the end of a sentence that starts with the name."""
    checks: tuple[Check, ...] = ()
    skips: tuple[SkipMark, ...] = ()
    cases: tuple[str, ...] = ()
    """The rows it is run for, where they are written down."""
    narrowed: tuple[str, ...] = ()
    """Statements that take rows away before it goes through them, and strategies with bounds."""
    calls: tuple[str, ...] = ()
    """Names it calls, sorted."""
    mocked: tuple[str, ...] = ()
    """Names that it puts something else in the place of, sorted."""
    literals: tuple[str, ...] = ()
    """Numbers and texts that are written down in it and in the tables it goes through, sorted."""
    body: str = ""
    """Identity of what it does, whatever its name, comments and white space."""


class SuiteOutline(Record):
    """The tests of a file."""

    tests: tuple[WrittenTest, ...] = ()
    helpers: tuple[WrittenTest, ...] = ()
    """Functions that are no tests."""
    skips: tuple[SkipMark, ...] = ()
    """Marks that stand outside of any test and touch a class, the file or more."""
    imports: tuple[str, ...] = ()
    """Names that come from elsewhere."""
    rebound: tuple[str, ...] = ()
    """Of those, the ones that the file itself gives something else to stand for."""
    defined: tuple[str, ...] = ()
    """Names of the functions and classes it defines."""
    bases: tuple[str, ...] = ()
    """Classes that its test classes are made of, by their last names, sorted."""
    unlooked: tuple[str, ...] = ()
    """Classes in which a runner looks for tests only where it is told to, as pytest in `LimitTests`."""
    lenient: tuple[str, ...] = ()
    """Parts of its classes that hold for anything, as `Same.__eq__`."""
    unchanged: int = 0
    """Tests that were left out, for they are the same on both sides of a change."""
    error_line: int | None = None
    """The first line that does not parse."""
