"""Which command runs the tests of a subject's baseline, and which of its files a test is in."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path

from adjudge.contracts import Subject
from adjudge.errors import UsageError
from adjudge.evidence.hiddenfiles import baseline_directory
from adjudge.evidence.tests.suite import find_files, is_file
from adjudge.formats.instructions import (
    calls_tests_wrong,
    names_of,
    orders_other_behaviour,
    orders_skips,
    orders_test_changes,
)
from adjudge.formats.patterns import PathPatterns
from adjudge.formats.tasks.starter import TestCommand as FoundCommand
from adjudge.formats.testcommands.detect import detect_test_command
from adjudge.records.differential import Orders
from adjudge.syntax.languages import default_test_globs, is_third_party

__all__ = ["BaselineFiles", "find_command", "plain_baseline", "read_orders"]

_MAX_TEXT = 1024 * 1024
_GO_TEST = re.compile(r"(?:^|[/.:])((?:Test|Fuzz|Example|Benchmark)\w*)(?:/|$)")
_IN_THE_RECIPE = "the recipe"


def plain_baseline(subject: Subject) -> Path:
    """The baseline as one directory.

    Raises:
        UsageError: There is none, or it is not plain.
    """
    tree = baseline_directory(subject)
    if not tree.flat:
        raise UsageError("the tests of the baseline need one that is a plain directory")
    return tree.base


def find_command(written: str | None, files: BaselineFiles) -> FoundCommand | None:
    """The command that a recipe has, or what the baseline's files say; None when neither does."""
    if written is not None:
        return FoundCommand(written, _IN_THE_RECIPE)
    return detect_test_command(files)


def read_orders(subject: Subject, left_out: Sequence[str]) -> Orders:
    """What the task asks for, in all that its user may say."""
    scenario = subject.task.scenario
    said = (choice.say for turn in scenario.turns for choice in turn.choices)
    text = "\n".join((scenario.instruction, *said))
    return Orders(
        tests=orders_test_changes(text) or calls_tests_wrong(text),
        skips=orders_skips(text),
        behaviour=orders_other_behaviour(text),
        named=tuple(names_of(text, left_out)),
    )


class BaselineFiles:
    """The baseline's files: nothing of the attempt's, and nothing reached through a link."""

    def __init__(self, root: Path) -> None:
        self.root = root

    def text(self, path: str) -> str | None:
        """The text of a file; None when there is none."""
        data = self.data(path)
        return None if data is None else data.decode("utf-8", "replace")

    def data(self, path: str) -> bytes | None:
        """What a file holds; None when there is none."""
        if not is_file(self.root, path):
            return None
        with (self.root / path).open("rb") as stream:
            return stream.read(_MAX_TEXT)

    def names(self, folder: str) -> Sequence[str] | None:
        """Names of what lies in a folder; None when there is none."""
        place = self.root / folder
        if place.is_symlink() or not place.is_dir():
            return None
        return sorted(entry.name for entry in place.iterdir())

    @cached_property
    def _test_files(self) -> list[str]:
        patterns = PathPatterns(default_test_globs())
        return sorted(find_files(self.root, lambda path: path in patterns and not is_third_party(path)))

    def test_files(self) -> list[str]:
        """Every file that has a test file's name, other people's code left out."""
        return self._test_files

    def _go_file(self, name: str) -> str | None:
        """The one Go file that has a test."""
        text = re.compile(rf"^func {name}\(", re.MULTILINE)
        files = [path for path in self.test_files() if path.endswith("_test.go")]
        fitting = [path for path in files if text.search(self.text(path) or "")]
        return fitting[0] if len(fitting) == 1 else None

    def file_of(self, id_: str) -> str | None:
        """The file that a test is in, by its id: the path before `::`, or a dotted module."""
        path = id_.partition("[")[0].partition("::")[0]
        if is_file(self.root, path):
            return path
        if (name := _GO_TEST.search(id_)) is not None:
            return self._go_file(name[1])
        parts = id_.partition(" ")[0].split(".")
        for end in range(len(parts) - 1, 0, -1):
            module = "/".join(parts[:end]) + ".py"
            fitting = [one for one in self.test_files() if one == module or one.endswith(f"/{module}")]
            if len(fitting) == 1:
                return fitting[0]
        return None
