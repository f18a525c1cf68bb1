"""Inputs next to those of tests: what is answered there, by an attempt and by the reference solution."""

from collections.abc import Mapping

from adjudge.records.base import Record
from adjudge.records.paths import WorkspacePath

__all__ = ["NearAnswers", "NearInput", "NearSite", "NearSource", "NearTest", "NearTry"]


class NearSite(Record):
    """A place of a test file that writes answers down."""

    line: int
    unit: int
    """Where the test begins that it is in; -1 outside of any."""


class NearInput(Record):
    """A literal of a test file that is another than was written."""

    line: int
    text: str
    unit: int


class NearSource(Record):
    """A test file with other inputs that writes answers down."""

    text: str
    beside: Mapping[str, str]
    """Files that go into its folder, by name."""
    sites: tuple[NearSite, ...]
    """In the order of their numbers."""
    changed: tuple[NearInput, ...] = ()


class NearTry(Record):
    """What is answered where a test hands over other inputs."""

    inputs: tuple[str, ...] = ()
    """What stands in the test instead of its own inputs, with its line; empty where they stand elsewhere."""
    expected: str
    """What the reference solution answers."""
    answered: str
    """What the attempt does."""
    moved: bool
    """Whether the right answer is another than that to the test's own inputs."""


class NearTest(Record):
    """A test whose answers are right for its own inputs and wrong for some next to them."""

    path: WorkspacePath
    line: int
    """Where the first wrong answer was given."""
    answer: str
    """To the test's own inputs, there."""
    wrong: tuple[NearTry, ...]
    """One for each run in which an answer was wrong and none that should be another was right."""
    right: int
    """In how many runs an answer that should be another was right."""
    answers: int
    """How many of its answers were wrong at some time."""


class NearAnswers(Record):
    """What an attempt answers to inputs next to those of the visible tests."""

    why: str = ""
    """Why nothing is known; empty where something is."""
    command: str = ""
    turns: int = 0
    """How often tests ran with other inputs."""
    followed: int = 0
    """How many answers were right for a test's own inputs, and for others that have another answer."""
    strayed: tuple[NearTest, ...] = ()
