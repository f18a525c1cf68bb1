"""How a project runs its tests, guessed from the files at its top."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from typing import Protocol

from adjudge.formats.tasks.starter import TestCommand
from adjudge.formats.testcommands.makefiles import MAKEFILES

__all__ = ["ProjectFiles", "detect_test_command"]

_MAKE_TEST = re.compile(r"^test\s*:(?!=)", re.MULTILINE)
_PYTEST_STYLE = re.compile(r"^(?:import pytest|from pytest\b|(?:async )?def test_)", re.MULTILINE)
"""unittest would find no test in such a file, and call that a success."""
_NO_SCRIPT = "no test specified"
"""What `npm init` writes where a project has no tests."""


class ProjectFiles(Protocol):
    """What can be looked at; paths are relative to the project."""

    def text(self, path: str) -> str | None:
        """The text of a file, as far as it matters; None when there is no file."""

    def names(self, folder: str) -> Sequence[str] | None:
        """Names of what lies in a folder, sorted; None when there is no folder."""


def detect_test_command(files: ProjectFiles) -> TestCommand | None:
    """The test command of a project; None when nothing there says how."""
    for look in _LOOKS:
        found = look(files)
        if found is not None:
            return found
    return None


def _python(files: ProjectFiles) -> TestCommand | None:
    runs_tests = "python -m pytest -q"
    for name in ("pytest.ini", "conftest.py", "pytest.toml"):
        if files.text(name) is not None:
            return TestCommand(runs_tests, name)
    for name in ("pyproject.toml", "setup.cfg", "tox.ini", "requirements.txt", "requirements-dev.txt"):
        if "pytest" in (files.text(name) or ""):
            return TestCommand(runs_tests, f"{name} names pytest")
    for tests in ("tests", "test"):
        names = files.names(tests) or ()
        found = [name for name in names if re.fullmatch(r"test_.*\.py|.*_test\.py", name)]
        if found:
            texts = (files.text(f"{tests}/{name}") or "" for name in found[:20])
            uses_pytest = any(_PYTEST_STYLE.search(text) for text in texts)
            command = runs_tests if uses_pytest else f"python -m unittest discover -s {tests}"
            return TestCommand(command, f"{tests}/{found[0]}")
    return None


def _node(files: ProjectFiles) -> TestCommand | None:
    try:
        package = json.loads(files.text("package.json") or "null")
        script = package["scripts"]["test"]
    except (ValueError, KeyError, TypeError, RecursionError):
        return None
    if not isinstance(script, str) or _NO_SCRIPT in script:
        return None
    locks = {"pnpm-lock.yaml": "pnpm", "yarn.lock": "yarn", "bun.lock": "bun run", "bun.lockb": "bun run"}
    tool = next((tool for lock, tool in locks.items() if files.text(lock) is not None), "npm")
    return TestCommand(f"{tool} test", "package.json has a test script")


def _when(name: str, command: str) -> Callable[[ProjectFiles], TestCommand | None]:
    return lambda files: TestCommand(command, name) if files.text(name) is not None else None


def _ruby(files: ProjectFiles) -> TestCommand | None:
    if files.text("Gemfile") is None:
        return None
    if files.names("spec") is not None:
        return TestCommand("bundle exec rspec", "Gemfile and spec/")
    if files.names("test") is not None:
        return TestCommand("bundle exec rake test", "Gemfile and test/")
    return None


def _make(files: ProjectFiles) -> TestCommand | None:
    for name in MAKEFILES:
        if _MAKE_TEST.search(files.text(name) or ""):
            return TestCommand("make test", f"{name} has a test target")
    return None


_LOOKS: tuple[Callable[[ProjectFiles], TestCommand | None], ...] = (
    _python,
    _node,
    _when("go.mod", "go test ./..."),
    _when("Cargo.toml", "cargo test"),
    _when("gradlew", "./gradlew test"),
    _when("build.gradle", "gradle test"),
    _when("build.gradle.kts", "gradle test"),
    _when("mvnw", "./mvnw -q test"),
    _when("pom.xml", "mvn -q test"),
    _ruby,
    _when("mix.exs", "mix test"),
    _make,
)
