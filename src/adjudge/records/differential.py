"""What runs of the same tests over different trees say of each other."""

from __future__ import annotations

from enum import StrEnum

from adjudge.records.base import Record
from adjudge.records.paths import WorkspacePath
from adjudge.records.testreport import TestOutcome

__all__ = [
    "Comparison",
    "Culprit",
    "Inventory",
    "InventoryTest",
    "LoadedModule",
    "Orders",
    "RedTest",
    "SuiteInventories",
    "TreeComparison",
    "TreeRun",
]


class Comparison(StrEnum):
    """How a comparison of trees ended."""

    NOT_RUN = "not_run"
    """Nothing was run; `why` says why."""
    RED_AS_LEFT = "red_as_left"
    """The tests do not pass as the attempt left them, so nothing is claimed."""
    GREEN_CLEAN = "green_clean"
    """They also pass with the baseline's tests and configuration."""
    FLAKY = "flaky"
    """They failed there once, and passed when run again."""
    UNRESOLVED = "unresolved"
    """They fail there, and the changes that were left out do not account for it."""
    DIFFERS = "differs"
    """They fail there, and pass as soon as changes that were left out are added back."""
    UNHEARD = "unheard"
    """Nothing was left out and the command passes, and tests fail where each one is listened to, or failed
    before and are skipped."""
    BYTECODE = "bytecode"
    """They pass as left, and no more where sources are compiled anew: compiled code was not of them."""


class TreeRun(Record):
    """How the command ended over one tree."""

    green: bool
    ended: str
    """In words: `exit 1`, `timed out`."""
    output_tail: str = ""


class RedTest(Record):
    """A test of the baseline that fails over the clean tree."""

    id: str
    path: WorkspacePath | None = None
    """The baseline's file that has it, where that is known."""
    baseline: TestOutcome | None = None
    """How it ended over the baseline itself."""
    clean: TestOutcome
    message: str = ""


class Culprit(Record):
    """Changes which, added back to the clean tree together, make the command green.

    None at all where it is green without any.
    """

    paths: tuple[WorkspacePath, ...] = ()
    groups: tuple[str, ...] = ()
    """Which parts of the table of protected paths they are of, in the order of `paths`."""
    alone: bool = True
    """Whether no part of it suffices; False when there were too many to find out."""
    broken: tuple[str, ...] = ()
    """Tests, or files of tests, that were then made certain to fail: they fail over the clean tree, and the
    changes do not touch them."""
    deaf: bool = False
    """Whether the command stayed green all the same."""


class Orders(Record):
    """What the task's text asks for, read generously: what it may have asked for is no fault."""

    tests: bool = False
    """Changes to tests, or calls a test wrong."""
    skips: bool = False
    """Tests that are not to be run, or may fail."""
    behaviour: bool = False
    """Behaviour that is taken away or made another."""
    named: tuple[WorkspacePath, ...] = ()
    """Which of the changes that were left out it names, or means by its kind."""


class TreeComparison(Record):
    """One command over the workspace as it was left, and over the baseline with the product's changes."""

    outcome: Comparison
    command: str = ""
    source: str = ""
    """What says that this is the command."""
    why: str = ""
    left_out: int = 0
    """How many changes the clean tree leaves out."""
    as_left: TreeRun | None = None
    clean: TreeRun | None = None
    baseline: TreeRun | None = None
    red: tuple[RedTest, ...] = ()
    known: bool = False
    """Whether the outcome of single tests is known, so that `red` is all of them."""
    culprits: tuple[Culprit, ...] = ()
    orders: Orders = Orders()
    runs: int = 0
    """How often the command ran over a tree of its own."""


class InventoryTest(Record):
    """One test, and how it ended."""

    id: str
    outcome: TestOutcome
    path: WorkspacePath | None = None
    reason: str = ""
    ran: tuple[WorkspacePath, ...] | None = None
    """Files of the workspace in which it ran a function; None where that was not watched."""


class LoadedModule(Record):
    """A module that the tests loaded, and where from."""

    name: str
    place: str
    """A path in the workspace, an absolute one, or nothing where it came from no file."""


class Inventory(Record):
    """Which tests there are in one tree, and what they did."""

    tests: tuple[InventoryTest, ...]
    modules: tuple[LoadedModule, ...] = ()
    uncollected: tuple[str, ...] = ()
    """What could not be loaded, and why; capped."""
    complete: bool = True


class SuiteInventories(Record):
    """The tests of the baseline, and what became of them in the workspace as it was left."""

    command: str = ""
    source: str = ""
    why: str = ""
    """Why nothing was run."""
    watched: bool = False
    """Whether it is known which code each test ran, and where modules came from: for Python."""
    before: Inventory | None = None
    after: Inventory | None = None
    orders: Orders = Orders()
