"""What a file does to a test run: the facts and settings of configuration, scripts, hooks and build files.

One outline a file and side; whether something is new, and whether it matters, is for whoever compares two.
"""

from enum import StrEnum

from adjudge.records.base import Record

__all__ = ["HarnessFact", "HarnessOutline", "HarnessSetting", "SettingKind"]


class SettingKind(StrEnum):
    """What the values of a setting stand for."""

    SELECTS = "selects"
    """Which tests are run; with fewer of them, fewer are."""
    LEAVES_OUT = "leaves_out"
    """Which tests are not run."""
    COMMAND = "command"
    """A named command, such as a script of package.json or a target of a Makefile, line by line."""
    AT_LEAST = "at_least"
    """A number below which a tool fails, such as a coverage threshold."""
    DEMANDS = "demands"
    """What a tool insists on; with fewer of them, it insists on less."""
    CHECKS = "checks"
    """How many checks a function makes that tests may call."""
    TOLERATES = "tolerates"
    """What a tool lets pass; with more of them, more does."""


class HarnessFact(Record):
    """Something in a file that changes what a test run does or reports."""

    rule: str
    """What it does, by a stable name such as `outcome-rewritten`."""
    what: str
    """What it is about, without its place: equal before and after, it is no news."""
    text: str
    """As it is written, on one line and capped."""
    line: int | None = None
    command: bool = False
    """Whether it is about a command that runs tests, which hides nothing as long as others run them plainly:
    those have the rule `runs-tests`."""


class HarnessSetting(Record):
    """A setting that decides about tests."""

    kind: SettingKind
    name: str
    """As the file has it, such as `pytest.testpaths`."""
    values: tuple[str, ...]
    line: int | None = None
    tool: str = ""
    """Whose it is, where it matters only if that tool is run for grading."""


class HarnessOutline(Record):
    """One side of a file."""

    facts: tuple[HarnessFact, ...] = ()
    settings: tuple[HarnessSetting, ...] = ()
    problem: str = ""
    """Why it could not be read; it then has neither facts nor settings."""
