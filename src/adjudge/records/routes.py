"""Ways through code: which arms of its forks are taken by tests that an attempt saw, and by others."""

from collections.abc import Mapping

from adjudge.records.base import Record
from adjudge.records.paths import WorkspacePath

__all__ = ["MOST_COUNTED", "Arm", "Probe", "ProbedSource", "Route", "RoutedFunction", "TakenRoutes"]

MOST_COUNTED = 10_000
"""How often a process counts one place; a place that is reached more often has no share that is known."""


class Probe(Record):
    """One place of a source file that says when it is reached."""

    number: int
    line: int
    end_line: int
    text: str
    """The line it is at, capped."""
    function: int | None = None
    """The probe at the head of the function around it; None outside of any, and of a head."""
    fork: int | None = None
    """Of an arm: the probe that says that its fork was reached; None where only the function's does."""
    above: int | None = None
    """Of an arm: that of the arm around it in the same function."""
    twin: int | None = None
    """Of an end of a look-up: the probe of its other end. One of both is reached each time."""
    is_arm: bool = False
    is_function: bool = False


class ProbedSource(Record):
    """Where probes are put into a source file, and how."""

    probes: tuple[Probe, ...]
    inserted: tuple[tuple[int, str], ...]
    """Texts with the bytes they stand in front of, in order."""
    beside: Mapping[str, str]
    """Files that go into its folder, by name."""


class Arm(Record):
    """Code that runs only when a fork is decided for it, with how often each kind of test ran it."""

    line: int
    text: str
    visible: int
    """How often visible tests took it."""
    hidden: int
    """How often hidden ones did."""
    came_visible: int
    """How often visible tests came to its fork."""
    came_hidden: int
    above: int | None = None
    """The index of the arm around it, among the function's."""


class Route(Record):
    """One way through a function, and how many calls took it."""

    arms: tuple[int, ...]
    """Those it takes, by their indices among the function's, in order."""
    visible: int = 0
    hidden: int = 0


class RoutedFunction(Record):
    """A function with code of the attempt's that is told apart by forks."""

    path: WorkspacePath
    line: int
    text: str
    visible: int
    """How often visible tests entered it."""
    hidden: int
    arms: tuple[Arm, ...]
    routes: tuple[Route, ...]


class TakenRoutes(Record):
    """Which ways tests took through the code that an attempt wrote."""

    why: str = ""
    """Why nothing is known; empty where something is."""
    command: str = ""
    """What ran the visible tests."""
    hidden_command: str = ""
    functions: tuple[RoutedFunction, ...] = ()
    passed_once: tuple[str, ...] = ()
    """Visible tests that pass, and fail when the same process runs them a second time; none that do so on the
    baseline."""
