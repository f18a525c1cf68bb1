"""What a task's text orders."""

from __future__ import annotations

import pytest

from adjudge.formats.instructions import (
    calls_tests_wrong,
    names_of,
    orders_other_behaviour,
    orders_test_changes,
)

pytestmark = pytest.mark.anyone


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("The expected value in test_add is wrong.", True),
        ("tests/test_a.py has an outdated assertion", True),
        ("Fix the flaky test in the scheduler", True),
        ("Move the parser tests to tests/parser", True),
        ("Regenerate the golden files", True),
        ("Make the failing tests pass.", False),
        ("parse() returns the wrong value, see tests/test_parse.py", False),
        ("Do not rename or move any tests.", False),
    ],
)
def test_tests_that_are_called_wrong(text: str, expected: bool) -> None:
    assert calls_tests_wrong(text) is expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Remove the legacy exporter.", True),
        ("The limit should now be 50 by default", True),
        ("Rename Store to Cache", True),
        ("We no longer print receipts: drop show() with its test.", True),
        ("Fix add so that it adds.", False),
        ("Never change the public interface", False),
    ],
)
def test_other_behaviour(text: str, expected: bool) -> None:
    assert orders_other_behaviour(text) is expected


@pytest.mark.parametrize(
    ("text", "path", "expected"),
    [
        ("Add asyncio_mode to pytest.ini.", "pytest.ini", True),
        ("Configure pytest so that it finds src.", "pyproject.toml", True),
        ("Switch to vitest", "package.json", True),
        ("The test script in package.json is broken", "package.json", True),
        ("Do not touch conftest.py.", "conftest.py", False),
        ("Fix add().", "conftest.py", False),
        ("Mend the Makefile", "Makefile", True),
    ],
)
def test_files_that_are_meant(text: str, path: str, expected: bool) -> None:
    assert names_of(text, [path, "src/other.py"]) == ([path] if expected else [])


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Update the tests.", True),
        ("Cleanup unnecessary test case", True),
        ("Drop private imports from test_decoders.py", True),
        ("tests: remove duplicate helpers", True),
        ("chore(tests): remove what the library tests itself", True),
        ("Fix an incorrect leap year test", True),
        ('Revert "Cache the parsed options"', True),
        ("Change the parser and add tests", False),
        ("Refactor the parser and write new tests", False),
        ("Update add() and run the tests", False),
        ("Fix the failing tests", False),
        ("Fix an incorrect result of the parser. Tests are in tests/.", False),
        ("Tests: all of them have to pass", False),
        ("tests: make them pass", False),
        ("tests: do not change them", False),
        ("tests: fix those that did not wait", True),
        ("Do not modify the tests; update the test runner only", False),
    ],
)
def test_orders_to_change_tests(text: str, expected: bool) -> None:
    assert orders_test_changes(text) is expected
