"""Which files are product code: what tests reach, and neither tests nor the tools around them."""

from __future__ import annotations

import re
from typing import Final

__all__ = ["OF_TESTS", "is_plugin", "is_program", "is_script", "is_test_tooling", "may_be_product"]

OF_TESTS: Final = frozenset(
    {"test", "tests", "testing", "__tests__", "__mocks__", "spec", "specs", "testdata", "test-data",
     "fixtures", "__fixtures__", "e2e", "cypress", "playwright", "test-utils", "testutil", "testutils",
     "test_utils", "test_util", "testsupport", "mocks", "integration-tests", "integration_tests",
     "node_modules", "benches", "benchmark", "benchmarks"}
)  # fmt: skip
"""Folders that are no product code wherever they lie."""
_BESIDE: Final = frozenset(
    {"docs", "doc", "docs_src", "examples", "example", "_examples", "samples", "demo", "demos", "bench",
     "perf", "website", "playground", "scripts", "script", "tools", "tool", "hack", "ci", ".github",
     ".circleci", "typings", "integration"}
)  # fmt: skip
"""Folders that are none at the root of a project, or of a package in it."""
_PACKAGES: Final = frozenset({"packages", "apps", "crates", "modules", "libs", "projects"})
_TOOL_FILE: Final = re.compile(
    r"^(?:conftest|setup|noxfile|fabfile|dodo|tasks|conf|versioneer|magefile|Rakefile|Gulpfile|Gruntfile)\.\w+$"
    r"|\.config\.\w+$|(?:^|[._-])(?:bench|benchmark|stories|story|setup|mock|mocks|fixtures?)\.\w+$"
    r"|^(?:jest|vitest|karma|mocha|babel|webpack|rollup|vite|eslint|gulpfile|gruntfile)\b[\w.-]*$"
    r"|(?:^|[._-])tests?[._-]|_test\.\w+$|[a-z]Tests?\.\w+$|^tests?[A-Z]?\w*\.\w+$|-test\.\w+$|^\."
    r"|^\w*[tT]est(?:ing|[uU]til|[hH]elper|[sS]upport)s?\w*\.\w+$",
)
_GO_TOOL_FILE: Final = re.compile(r"_test\.go$|test|mock|bench|^magefile\.go$|^\.", re.IGNORECASE)
"""In Go every other file of a package is compiled into the program that runs its tests."""
_TOOLING: Final = re.compile(r"pytest|unittest|vitest|jest|(?:^|[/_.-])testing(?:[/_.-]|$)")
_RUNNER: Final = re.compile(r"(?:pytest|_pytest|unittest)(?:\.py|/__(?:init|main)__\.py)")
"""At the root of a workspace, what `python -m pytest` would start instead."""
_PLUGIN: Final = re.compile(r"(?:^|[/_.-])(?:plugins?|mock|mocks|fixtures?)(?:[/_.-]|$)")
_SCRIPT_DIR: Final = frozenset({"bin", "cmd", "scripts", "tools"})
_SCRIPT_FILE: Final = re.compile(r"^(?:__main__|cli|manage|console|repl|\w+[_-]cli|\w*C(?:li|LI))\.\w+$")
_PROGRAM_DIR: Final = frozenset({"cli", "commands", "command"})
_PROGRAM_FILE: Final = re.compile(
    r"^(?:main|app|server|start|run|cmd|command|commands|Main|App|shell|wsgi|asgi|gunicorn\w*|daemon|worker)\.\w+$"
)


def may_be_product(path: str) -> bool:
    """Whether a file is of the product, by its name; what lies in folders of tests and tools is not."""
    *folders, name = path.split("/")
    lowered = [folder.lower() for folder in folders]
    root = lowered[1:3] if lowered[:1] and lowered[0] in _PACKAGES else lowered[:1]
    tools = _GO_TOOL_FILE if name.endswith(".go") else _TOOL_FILE
    return OF_TESTS.isdisjoint(lowered) and _BESIDE.isdisjoint(root) and tools.search(name) is None


def is_test_tooling(path: str) -> bool:
    """Whether a file may honestly be about a test runner, and look for one. One in its place is none."""
    return _TOOLING.search(path) is not None and not _RUNNER.fullmatch(path)


def is_plugin(path: str) -> bool:
    """Whether a file may honestly change a test runner: tooling, a plug-in of one, a helper for testing."""
    return is_test_tooling(path) or _PLUGIN.search(path) is not None


def is_script(path: str, head: str) -> bool:
    """Whether a file is started and never imported, by its name or its first lines."""
    *folders, name = path.split("/")
    return (
        head.startswith("#!")
        or not _SCRIPT_DIR.isdisjoint(folders)
        or _SCRIPT_FILE.match(name) is not None
        or re.search(r"^package main\b", head, re.M) is not None
    )


def is_program(path: str, head: str) -> bool:
    """Whether a file is that of a program, started or imported."""
    *folders, name = path.split("/")
    named = _PROGRAM_FILE.match(name) is not None or not _PROGRAM_DIR.isdisjoint(folders)
    return named or is_script(path, head)
