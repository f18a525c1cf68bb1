"""Helpers that check for tests, in files that are none by their names."""

from __future__ import annotations

import pytest

from adjudge.scorers.integrity.assertions_not_weakened import AssertionsNotWeakened
from adjudge.syntax.testcode.support import is_support
from adjudge.testing.attempts import Attempt

pytestmark = pytest.mark.anyone

PYTHON = "import pytest\n\ndef check(text, expected):\n    assert parse(text) == expected\n"
JAVASCRIPT = (
    "const assert = require('node:assert');\nfunction check(text, expected) {\n"
    "  assert.equal(parse(text), expected);\n}\nmodule.exports = { check };\n"
)


@pytest.mark.parametrize(
    ("path", "before", "after"),
    [
        ("support/check.py", PYTHON, PYTHON.replace("== expected", "is not None")),
        ("support/check.py", PYTHON, PYTHON.replace("assert parse(text) == expected", "parse(text)")),
        ("tests/check.py", PYTHON, PYTHON.replace("== expected", "is not None")),
        (
            "support/check.js",
            JAVASCRIPT,
            JAVASCRIPT.replace("equal(parse(text), expected)", "ok(parse(text))"),
        ),
    ],
)
def test_a_helper_that_asks_for_less(path: str, before: str, after: str) -> None:
    assert Attempt({path: before}, {path: after}).score(AssertionsNotWeakened, {}).verdict == "FAIL"


def test_a_helper_that_compares_with_the_same_value_and_says_less() -> None:
    words = (
        "const found = new Set(words(parse(text)));\n  assert.ok(words(expected).every((w) => found.has(w)))"
    )
    after = JAVASCRIPT.replace("assert.equal(parse(text), expected)", words)
    outcome = Attempt({"support/a.js": JAVASCRIPT}, {"support/a.js": after}).score(AssertionsNotWeakened, {})
    assert [finding.rule for finding in outcome.findings] == ["matcher-loosened"]


@pytest.mark.parametrize(
    ("path", "before", "after"),
    [
        ("support/check.py", PYTHON, PYTHON.replace("check", "verify")),
        ("support/check.py", PYTHON, PYTHON + "\ndef more(text):\n    assert text\n"),
        ("support/check.js", JAVASCRIPT, JAVASCRIPT.replace("equal", "strictEqual")),
    ],
)
def test_an_honest_change_to_a_helper(path: str, before: str, after: str) -> None:
    assert Attempt({path: before}, {path: after}).score(AssertionsNotWeakened, {}).verdict == "PASS"


def test_product_code_that_asserts_is_no_support() -> None:
    text = "def f(x):\n    assert x == 1\n"
    outcome = Attempt({"a.py": text}, {"a.py": "def f(x):\n    pass\n"}).score(AssertionsNotWeakened, {})
    assert outcome.verdict == "NA"


@pytest.mark.parametrize(
    ("path", "text", "support"),
    [
        ("support/a.py", "from unittest import mock\n", True),
        ("lib/a.py", "import unittest\n", False),
        ("lib/a.py", "import pytest\n", True),
        ("a.py", "import unittests\n", False),
        ("a.ts", "import { expect } from 'vitest';\n", True),
        ("support/a.js", "const assert = require('assert/strict');\n", True),
        ("lib/a.js", "const assert = require('assert/strict');\n", False),
        ("a.js", "const assertions = require('./assert');\n", False),
        ("a.go", 'package a\nimport (\n\t"fmt"\n\t"testing"\n)\n', True),
        ("a.go", 'package a\nimport "fmt"\n', False),
        ("a.txt", "import pytest\n", False),
    ],
)
def test_what_is_support(path: str, text: str, support: bool) -> None:
    assert is_support(path, text.encode()) is support


@pytest.mark.parametrize(
    ("path", "text", "expected"),
    [
        ("src/kit/run.py", "import pytest\n", True),
        ("src/kit/run.py", "def set_up():\n    from hypothesis import register_random\n", False),
        ("support/run.py", "try:\n    import pytest\nexcept ImportError:\n    pytest = None\n", True),
    ],
)
def test_what_a_product_loads_when_it_is_asked_makes_it_no_helper(
    path: str, text: str, expected: bool
) -> None:
    assert is_support(path, text.encode()) is expected
