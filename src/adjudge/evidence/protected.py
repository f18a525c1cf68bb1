"""Which paths an attempt's changes do not reach the clean tree: the one table, and how it is asked.

`clean` isolation runs code over the baseline plus the attempt's changes, and takes from the baseline whatever
decides how tests run: the tests, their configuration, and what could stand in for a runner. A recipe widens
the table with `protect` and opens it with `allow`; both are patterns as in `allowed_paths`. Files that also
hold settings of the product are not on it: `adjudge.formats.testconfig` merges them by section.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable
from dataclasses import dataclass

from adjudge.formats.patterns import PathPatterns
from adjudge.syntax.languages import default_test_globs

__all__ = [
    "DATA",
    "GROUPS",
    "HELPERS",
    "MODULES",
    "SCRIPTS",
    "SHADOWING",
    "VENDORED",
    "ProtectedGroup",
    "Protection",
]


@dataclass(frozen=True, slots=True)
class ProtectedGroup:
    """Paths protected for one reason."""

    name: str
    patterns: tuple[str, ...]
    """A path is protected when it, or a folder above it, matches."""
    reason: str


_TEST_FOLDERS = ("**/tests", "**/test", "**/__tests__", "**/testdata", "**/__snapshots__", "**/__mocks__")
"""With all that lies in them: data decides what a test expects as much as its code does."""

GROUPS = (
    ProtectedGroup("version control", ("**/.git",), "a repository's own files say nothing about the work"),
    ProtectedGroup(
        "test configuration",
        (
            "**/conftest.py", "**/pytest.ini", "**/.pytest.ini", "**/pytest.toml", "**/.pytest.toml",
            "**/.pytest.*", "**/.coveragerc", "noxfile.py", "**/jest.config.*", "**/jest.setup.*",
            "**/jest-preset.*", "**/vitest.config.*", "**/vitest.setup.*", "**/vitest.workspace.*",
            "**/.mocharc", "**/.mocharc.*", "**/mocha.opts", "**/karma.conf.*", "**/ava.config.*",
            "**/.taprc", "**/.nycrc", "**/.nycrc.*", "**/playwright.config.*", "**/cypress.config.*",
            "**/.rspec", "**/phpunit.xml", "**/phpunit.xml.dist", "**/testng.xml",
            "**/junit-platform.properties", ".mvn", "**/.cargo/config", "**/.cargo/config.toml",
            ".config/nextest.toml", "**/nextest.toml", "go.env", "**/go.work",
            "**/go.work.sum", "**/build.gradle", "**/build.gradle.kts", "**/settings.gradle",
            "**/settings.gradle.kts", "**/gradle.properties", "**/gradlew", "**/gradle/wrapper",
            "**/buildSrc", "**/init.gradle", "**/init.gradle.kts",
        ),
        "it says which tests run and how",
    ),
    ProtectedGroup(
        "installed packages",
        ("**/.venv", "**/venv", "**/node_modules", "**/*.egg-info", "**/*.dist-info", "**/site-packages",
         "**/__pypackages__"),
        "test runners load plugins and programs from there",
    ),
    ProtectedGroup(
        "runner shims",
        ("**/sitecustomize.py", "**/sitecustomize", "**/usercustomize.py", "**/usercustomize", "**/*.pth",
         "**/*.pyc", "**/.npmrc", "**/.yarnrc", "**/.yarnrc.yml", "**/.pnp.*", "**/pyvenv.cfg"),
        "it is run or read before the tests are",
    ),
    ProtectedGroup(
        "tests",
        (*default_test_globs(), *_TEST_FOLDERS, "**/*.snap"),
        "tests are the baseline's or hidden",
    ),
)  # fmt: skip
"""The table. The first group that fits names the reason."""

_RUNNERS = frozenset((
    "pytest", "_pytest", "py", "pluggy", "iniconfig", "unittest", "xdist", "pytest_asyncio", "hypothesis",
    "nose", "nose2", "tox", "nox", "coverage", "pip", "setuptools", "pkg_resources",
))  # fmt: skip
_SHADOWED = (_RUNNERS | sys.stdlib_module_names) - {"__main__", "this", "antigravity"}
_IMPORT_ROOTS = ("", "src/", "lib/", "python/")
"""Where a module of one name is found before that of the library. Deeper down it has a package's name."""
SHADOWING = ProtectedGroup(
    "shadowing modules", (), "it would be loaded in place of the runner's or the standard library's"
)
VENDORED = ProtectedGroup(
    "vendored packages", (), "tests use it as well; what is added beside it is the attempt's"
)
HELPERS = ProtectedGroup("helpers of tests", (), "the baseline's tests use it, and nothing else does")
DATA = next(group for group in GROUPS if group.name == "tests")
"""What tests read is theirs as they are."""
SCRIPTS = ProtectedGroup(
    "scripts that run tests", (), "a command of the baseline's starts it to run its tests"
)
MODULES = ProtectedGroup(
    "modules over tests", (), "it takes the baseline's tests out of what `go test ./...` runs"
)
_VENDORED = re.compile(r"(?:.+/)?vendor/.+\.(?:go|s|c|h|syso)")
_OWN = ProtectedGroup("protected by the recipe", (), "the recipe's `protect`, or what its command runs")


class Protection:
    """The table as one recipe has it.

    Args:
        allow: Patterns of paths that are the attempt's after all.
        protect: Patterns of further paths.
    """

    def __init__(self, allow: Iterable[str] = (), protect: Iterable[str] = ()) -> None:
        self._allow = PathPatterns(allow)
        self._protect = PathPatterns(protect)

    def of(self, path: str, *, in_baseline: bool) -> ProtectedGroup | None:
        """Why a path is protected; None when it is not.

        Args:
            path: Relative to the workspace.
            in_baseline: Whether the baseline has it; then it cannot have been put there as a shadow.
        """
        above = _with_folders(path)
        if self.allows(path):
            return None
        if any(one in self._protect for one in above):
            return _OWN
        for group, patterns in _COMPILED:
            if any(one in patterns for one in above):
                return group
        if in_baseline and _VENDORED.fullmatch(path):
            return VENDORED
        return SHADOWING if not in_baseline and _shadows(path) else None

    def allows(self, path: str) -> bool:
        """Whether the recipe leaves a path to the attempt, whatever it holds."""
        return any(one in self._allow for one in _with_folders(path))


def _with_folders(path: str) -> list[str]:
    parts = path.split("/")
    return ["/".join(parts[:depth]) for depth in range(1, len(parts) + 1)]


_COMPILED = tuple((group, PathPatterns(group.patterns)) for group in GROUPS)


_MODULE = re.compile(r"([A-Za-z_][A-Za-z0-9_]*)(?:/__init__)?\.(?:py|pyc|pyd|so|[\w.-]+\.so)")
"""A module or a package; a folder without `__init__` shadows nothing."""


def _shadows(path: str) -> bool:
    for root in _IMPORT_ROOTS:
        module = _MODULE.fullmatch(path.removeprefix(root)) if path.startswith(root) else None
        if module is not None and module[1] in _SHADOWED:
            return True
    return False
