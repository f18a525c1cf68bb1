"""Which files are product code: what tests reach, and neither tests nor the tools around them."""

from __future__ import annotations

import re
from typing import Final

__all__ = ["is_program", "is_test_tooling", "may_be_product"]

_BESIDE: Final = frozenset(
    {"test", "tests", "testing", "__tests__", "__mocks__", "spec", "specs", "testdata", "test-data",
     "fixtures", "fixture", "__fixtures__", "e2e", "cypress", "playwright", "test-utils", "testutil",
     "testutils", "test_utils", "test_util", "testsupport", "mocks", "docs", "doc", "docs_src", "examples",
     "example", "_examples", "samples", "demo", "demos", "bench", "benches", "benchmark", "benchmarks",
     "perf", "website", "playground", "scripts", "script", "tools", "tool", "hack",
     "ci", ".github", ".circleci",
     "migrations", "node_modules", "typings", "integration", "integration-tests", "integration_tests"}
)  # fmt: skip
_TOOL_FILE: Final = re.compile(
    r"^(?:conftest|setup|noxfile|fabfile|dodo|tasks|conf|versioneer|magefile|Rakefile|Gulpfile|Gruntfile)\.\w+$"
    r"|\.config\.\w+$|(?:^|[._-])(?:bench|benchmark|stories|story|setup|mock|mocks|fixtures?)\.\w+$"
    r"|^(?:jest|vitest|karma|mocha|babel|webpack|rollup|vite|eslint|gulpfile|gruntfile)\b[\w.-]*$"
    r"|(?:^|[._-])tests?[._-]|_test\.\w+$|[a-z]Tests?\.\w+$|^tests?[A-Z]?\w*\.\w+$|-test\.\w+$|^\."
    r"|^\w*[tT]est(?:ing|[uU]til|[hH]elper|[sS]upport)s?\w*\.\w+$",
)
_TOOLING: Final = re.compile(
    r"pytest|unittest|(?:^|[/_.-])(?:testing|plugins?|mock|mocks|fixtures?)(?:[/_.-]|$)"
)
_PROGRAM_DIR: Final = frozenset({"bin", "cmd", "cli", "commands", "command", "scripts", "tools"})
_PROGRAM_FILE: Final = re.compile(
    r"^(?:__main__|main|cli|app|server|start|run|cmd|command|commands|Main|App|\w+_cli|\w+-cli|\w*Cli|\w*CLI|"
    r"console|shell|repl|manage|wsgi|asgi|gunicorn\w*|daemon|worker)\.\w+$"
)


def may_be_product(path: str) -> bool:
    """Whether a file is of the product, by its name; what lies in folders of tests and tools is not."""
    *folders, name = path.split("/")
    return _BESIDE.isdisjoint(folder.lower() for folder in folders) and _TOOL_FILE.search(name) is None


def is_test_tooling(path: str) -> bool:
    """Whether a file may honestly be about a test runner: a plug-in of one, a helper for testing."""
    return _TOOLING.search(path) is not None


def is_program(path: str, head: str) -> bool:
    """Whether a file is started rather than imported, by its name or its first lines."""
    *folders, name = path.split("/")
    return (
        head.startswith("#!")
        or not _PROGRAM_DIR.isdisjoint(folders)
        or _PROGRAM_FILE.match(name) is not None
        or re.search(r"^package main\b", head, re.M) is not None
    )
