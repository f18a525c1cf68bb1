"""How a project runs its tests, guessed from the files at its top."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

from adjudge.formats.tasks.starter import TestCommand

__all__ = ["find_protected", "find_test_command"]

_MAX_BYTES = 1024 * 1024
_MAKE_TEST = re.compile(r"^test\s*:(?!=)", re.MULTILINE)
_PYTEST_STYLE = re.compile(r"^(?:import pytest|from pytest\b|(?:async )?def test_)", re.MULTILINE)
"""unittest would find no test in such a file, and call that a success."""
_NO_SCRIPT = "no test specified"
"""What `npm init` writes where a project has no tests."""


def find_test_command(folder: Path) -> TestCommand | None:
    """The test command of the project in a folder; None when nothing there says how."""
    for look in _LOOKS:
        found = look(folder)
        if found is not None:
            return found
    return None


def find_protected(folder: Path) -> tuple[str, ...]:
    """Patterns of what is there and decides how the project is built and released.

    Not the recipe itself: grading reads it from the baseline, so that editing it gains nothing, and a recipe
    that was just written would forbid its own first commit.
    """
    candidates = {
        ".github": ".github/*",
        ".gitlab-ci.yml": ".gitlab-ci.yml",
        ".circleci": ".circleci/*",
        "Jenkinsfile": "Jenkinsfile",
    }
    there = [pattern for name, pattern in candidates.items() if (folder / name).exists()]
    return tuple(there or [".github/*"])


def _text(file: Path) -> str:
    """A file's text, or nothing when there is none that can be read."""
    try:
        with file.open("rb") as stream:
            return stream.read(_MAX_BYTES).decode("utf-8", "replace")
    except OSError:
        return ""


def _python(folder: Path) -> TestCommand | None:
    runs_tests = "python -m pytest -q"
    for name in ("pytest.ini", "conftest.py", "pytest.toml"):
        if (folder / name).is_file():
            return TestCommand(runs_tests, name)
    for name in ("pyproject.toml", "setup.cfg", "tox.ini", "requirements.txt", "requirements-dev.txt"):
        if "pytest" in _text(folder / name):
            return TestCommand(runs_tests, f"{name} names pytest")
    for tests in ("tests", "test"):
        found = sorted([*(folder / tests).glob("test_*.py"), *(folder / tests).glob("*_test.py")])
        if found:
            uses_pytest = any(_PYTEST_STYLE.search(_text(file)) for file in found[:20])
            command = runs_tests if uses_pytest else f"python -m unittest discover -s {tests}"
            return TestCommand(command, f"{tests}/{found[0].name}")
    return None


def _node(folder: Path) -> TestCommand | None:
    try:
        package = json.loads(_text(folder / "package.json") or "null")
        script = package["scripts"]["test"]
    except (ValueError, KeyError, TypeError, RecursionError):
        return None
    if not isinstance(script, str) or _NO_SCRIPT in script:
        return None
    locks = {"pnpm-lock.yaml": "pnpm", "yarn.lock": "yarn", "bun.lock": "bun run", "bun.lockb": "bun run"}
    tool = next((tool for lock, tool in locks.items() if (folder / lock).is_file()), "npm")
    return TestCommand(f"{tool} test", "package.json has a test script")


def _when(name: str, command: str) -> Callable[[Path], TestCommand | None]:
    return lambda folder: TestCommand(command, name) if (folder / name).is_file() else None


def _ruby(folder: Path) -> TestCommand | None:
    if not (folder / "Gemfile").is_file():
        return None
    if (folder / "spec").is_dir():
        return TestCommand("bundle exec rspec", "Gemfile and spec/")
    if (folder / "test").is_dir():
        return TestCommand("bundle exec rake test", "Gemfile and test/")
    return None


def _make(folder: Path) -> TestCommand | None:
    for name in ("Makefile", "makefile", "GNUmakefile"):
        if _MAKE_TEST.search(_text(folder / name)):
            return TestCommand("make test", f"{name} has a test target")
    return None


_LOOKS: tuple[Callable[[Path], TestCommand | None], ...] = (
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
