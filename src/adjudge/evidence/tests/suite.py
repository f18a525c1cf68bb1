"""What a trusted run is made of: which files may be believed, which ids are expected, what configures it.

Everything here is found in the baseline and the hidden files, or by collecting the tests of the two together,
where nothing of the candidate's can run.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path

from adjudge.errors import UsageError
from adjudge.evidence.gradedtree import Graded, laid_over
from adjudge.evidence.protected import Protection
from adjudge.evidence.tests.order import Order
from adjudge.evidence.tests.session import Session, Suites
from adjudge.evidence.tests.twins import TestFiles
from adjudge.formats.testconfig import has_pytest_section
from adjudge.records.evidence import Isolation, TestCommand, TestRun
from adjudge.records.paths import path_from_bytes
from adjudge.records.sandbox import Mount, WorkspaceTree

__all__ = ["Suite", "content", "find_config", "find_files", "find_suite", "is_file", "read_test_files"]

_TEST_FILES = ("test*.py", "*_test.py", "conftest.py")
_OTHERS_FILES = (".git", ".venv", "venv", "node_modules", "__pycache__", ".tox", "site-packages")
_MAX_FILE = 8 * 1024 * 1024
_CONFIGS = (
    "pytest.toml", ".pytest.toml", "pytest.ini", ".pytest.ini", "pyproject.toml", "tox.ini", "setup.cfg",
)  # fmt: skip
"""In the order in which pytest looks for them."""


@dataclass(frozen=True)
class Suite:
    """A suite that can be run."""

    command: TestCommand
    files: Mapping[str, bytes]
    """Trusted files by path."""
    expected: tuple[str, ...] | None
    plugins: tuple[str, ...]
    collected: int | None
    mounts: tuple[Mount, ...] = ()
    """What its sessions share, made where nothing of the candidate's could run."""
    order: tuple[str, ...] = ()
    """Ids in the order in which they are reported, where names have to be found again by it."""


async def find_suite(request: TestRun, graded: Graded, baseline: WorkspaceTree, suites: Suites) -> Suite:
    """Find out what a request leaves open.

    Raises:
        UsageError: A named file is not in the baseline, or the sandbox has no such runner.
        InfraError: A sandbox could not do its part.
    """
    files = await asyncio.to_thread(_files, request, graded, baseline.base)
    command = request.command
    scope = _scope(request, graded, baseline.base)
    if scope:
        command = command.model_copy(update={"args": (*command.args, *scope)})
    if request.find_config and command.runner == "pytest" and command.config is None:
        trusted = _Trusted(graded.hidden.files, baseline.base)
        path = await asyncio.to_thread(find_config, trusted.read)
        data = trusted.read(path) if path is not None else None
        if path is not None and data is not None:
            command = command.model_copy(update={"config": path})
            if request.tree.isolation is not Isolation.CLEAN:
                files[path] = data
    if request.plugins is not None:
        return Suite(command, files, request.expected, request.plugins, None)
    tree, _ = await laid_over(baseline, graded.place / "collected", graded.hidden)
    order = Order(command, plugins=None, collect_only=True, timeout_s=request.timeout_s)
    session = await suites.run(order, tree)
    if session.channel.unavailable:
        raise UsageError(
            f"the tests cannot be run: {session.channel.unavailable}",
            hint=f"does the sandbox have {command.runner} for {' '.join(command.interpreter)}?",
        )
    collected = tuple(dict.fromkeys(session.channel.collected))
    expected = request.expected
    if expected is None:
        found = [*collected, *_defined(files, session, command.runner)]
        expected = tuple(dict.fromkeys(_selected(found, request.select)))
    return Suite(command, files, expected, tuple(session.channel.plugins), len(collected))


def read_test_files(root: Path, wanted: Sequence[str] = ()) -> dict[str, bytes]:
    """The test files below a trusted directory: those named, or all that look like one; no links."""
    if not wanted:
        return {path: content(root, path) for path in sorted(find_files(root, _is_python_test))}
    found: dict[str, bytes] = {}
    for path in wanted:
        if not is_file(root, path):
            raise UsageError(f"{path} is not a file of the baseline")
        found[path] = content(root, path)
    return found


def _files(request: TestRun, graded: Graded, root: Path) -> dict[str, bytes]:
    """The baseline's test files as far as they matter, with the hidden ones."""
    if request.expected is not None and not request.files and request.tree.isolation is Isolation.CLEAN:
        # Whatever else is in a clean tree is the baseline's anyway; only what is falsified has to be known.
        named = dict.fromkeys(id_.partition("[")[0].partition("::")[0] for id_ in request.expected)
        files = {path: content(root, path) for path in named if path.endswith(".py") and is_file(root, path)}
        if any(not path.endswith(".py") for path in named):
            files |= read_test_files(root)
    else:
        files = read_test_files(root, request.files)
    allowed = Protection(request.tree.allow)
    for path in [path for path in files if path in graded.hidden.removed or allowed.allows(path)]:
        # What the attempt may change runs as it left it, and what passes there is unproven.
        del files[path]
    return files | {path: data for path, data in graded.hidden.files.items() if path.endswith(".py")}


def _scope(request: TestRun, graded: Graded, root: Path) -> list[str]:
    """The files that the runner is given beside what its command has."""
    hidden = graded.hidden
    if request.scope == "hidden":
        python = [path for path in sorted(hidden.files) if path.endswith(".py")]
        tests = [path for path in python if _looks_like_tests(path)]
        helpers = ("conftest.py", "__init__.py")
        return tests or [path for path in python if path.rpartition("/")[2] not in helpers]
    if request.scope == "ids":
        if request.command.runner == "unittest":
            return list(
                dict.fromkeys(id_.rpartition(".")[0].rpartition(".")[0] for id_ in request.expected or ())
            )
        named = dict.fromkeys(id_.partition("[")[0].partition("::")[0] for id_ in request.expected or ())
        there = [path for path in named if path in hidden.files or is_file(root, path)]
        return [path for path in there if path not in hidden.removed]
    return []


def _looks_like_tests(path: str) -> bool:
    name = path.rpartition("/")[2]
    return name.startswith("test") or name.endswith("_test.py")


@dataclass(frozen=True)
class _Trusted:
    """The hidden files over the baseline."""

    hidden: Mapping[str, bytes]
    root: Path

    def read(self, path: str) -> bytes | None:
        data = self.hidden.get(path)
        return content(self.root, path) if data is None and is_file(self.root, path) else data


def find_config(read: Callable[[str], bytes | None]) -> str | None:
    """The configuration that pytest would find in a tree, of which `read` gives files."""
    for path in _CONFIGS:
        data = read(path)
        if data is not None and has_pytest_section(path, data):
            return path
    return None


def _defined(files: Mapping[str, bytes], session: Session, runner: str) -> list[str]:
    """Tests of files that cannot be loaded without the work that is being graded, as they are written."""
    broken: dict[str, bytes] = {}
    for id_, outcome, _ in session.channel.uncollected:
        if outcome == "failed":
            path = _file_of(id_, files)
            if path is not None:
                broken[path] = files[path]
    return TestFiles(broken, "").tests(runner) if broken else []


def _file_of(id_: str, files: Mapping[str, bytes]) -> str | None:
    """The file behind something that could not be collected: pytest says its path, unittest its module."""
    path = id_.partition("::")[0]
    if path in files:
        return path
    module = id_.rpartition("_FailedTest.")[2].replace(".", "/") + ".py"
    fitting = [path for path in files if path == module or path.endswith(f"/{module}")]
    return fitting[0] if len(fitting) == 1 else None


def _selected(ids: Iterable[str], select: Sequence[str]) -> list[str]:
    if not select:
        return list(ids)
    chosen: list[str] = []
    for wanted in select:
        below = [id_ for id_ in ids if id_ == wanted or id_.startswith((f"{wanted}::", f"{wanted}["))]
        # What is not there is expected all the same: it was asked for.
        chosen += below or [wanted]
    return chosen


def is_file(root: Path, path: str) -> bool:
    """Whether a file lies at a path, with no link on the way."""
    place = root
    for part in path.split("/"):
        place = place / part
        if part in ("", ".", "..") or place.is_symlink():
            return False
    return place.is_file()


def find_files(root: Path, wanted: Callable[[str], bool]) -> list[str]:
    """Paths below a trusted directory that are wanted; no links, and nothing of other projects'."""
    found = []
    for folder, folders, names in os.walk(os.fsencode(root)):
        folders[:] = [name for name in folders if os.fsdecode(name) not in _OTHERS_FILES]
        for name in names:
            full = os.path.join(folder, name)
            path = path_from_bytes(os.path.relpath(full, os.fsencode(root)))
            if wanted(path) and not os.path.islink(full):
                found.append(path)
    return found


def _is_python_test(path: str) -> bool:
    return any(fnmatchcase(path.rpartition("/")[2], pattern) for pattern in _TEST_FILES)


def content(root: Path, path: str) -> bytes:
    """What a trusted file holds.

    Raises:
        UsageError: It is too large for a test file.
    """
    with (root / path).open("rb") as file:
        data = file.read(_MAX_FILE + 1)
    if len(data) > _MAX_FILE:
        raise UsageError(f"test file {path} is larger than {_MAX_FILE >> 20} MiB")
    return data
