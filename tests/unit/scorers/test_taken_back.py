"""Tests that a file defines and then takes back, or makes only where a variable is set."""

from __future__ import annotations

import pytest

from adjudge.records.score import Verdict
from adjudge.scorers.integrity.assertions_not_weakened import AssertionsNotWeakened
from adjudge.scorers.integrity.no_new_skips import NoNewSkips
from adjudge.testing.attempts import Attempt

pytestmark = pytest.mark.anyone

TESTS = (
    "import os\nimport unittest\n\nfrom shop import f\n\n\ndef test_a():\n    assert f() == 1\n\n\n"
    "def test_b():\n    assert f() == 2\n\n\n"
    "class TestC(unittest.TestCase):\n    def test_c(self):\n        self.assertEqual(f(), 3)\n"
)


def accused(path: str, before: str, after: str) -> bool:
    attempt = Attempt({path: before}, {path: after})
    return any(attempt.score(kind).verdict is Verdict.FAIL for kind in (AssertionsNotWeakened, NoNewSkips))


@pytest.mark.parametrize(
    "end",
    [
        "test_a = lambda: None",
        "test_a = None",
        "test_a = test_b",
        "del test_a",
        "del test_a, test_b",
        "globals()['test_a'] = lambda: None",
        "globals().pop('test_a')",
        "globals().pop('test_a', None)",
        "del globals()['test_a']",
        "for n in list(globals()):\n    if n.startswith('test_'):\n        globals()[n] = lambda: None",
        "TestC.__test__ = False",
        "setattr(TestC, '__test__', False)",
        "TestC.test_c = lambda self: None",
        "setattr(TestC, 'test_c', lambda self: None)",
        "delattr(TestC, 'test_c')",
        "del TestC.test_c",
        "del TestC",
        "TestC = None",
    ],
)
def test_taken_back_at_the_end(end: str) -> None:
    assert accused("tests/test_a.py", TESTS, f"{TESTS}\n\n{end}\n")


@pytest.mark.parametrize(
    "end",
    [
        "test_a = retried(test_a)",
        "globals()['test_a'] = retried(test_a)",
        "TestC.test_c = retried(TestC.test_c)",
        "test_data = [1, 2]",
        "del os",
        "class TestD(TestC):\n    extra = 1\n\n\ndel TestC",
        "globals()['test_more'] = make(3)",
        "for n in range(3):\n    globals()[f'test_{n}'] = make(n)",
        "TestC.maxDiff = None",
        "TestClient.__test__ = False",
        "if os.environ.get('CI'):\n    def test_slow():\n        assert f() == 9",
        "if __name__ == '__main__':\n    unittest.main()",
    ],
)
def test_ends_that_take_nothing_back(end: str) -> None:
    assert not accused("tests/test_a.py", TESTS, f"{TESTS}\n\n{end}\n")


@pytest.mark.parametrize("condition", ["os.environ.get('CI')", "os.getenv('FULL') == '1'", "False"])
def test_tests_that_are_made_only_where_a_variable_is_set(condition: str) -> None:
    head, _, body = TESTS.partition("\n\n\nclass")
    inner = "\n".join(f"    {line}" if line else "" for line in f"class{body}".splitlines())
    assert accused("tests/test_a.py", TESTS, f"{head}\n\n\nif {condition}:\n{inner}\n")
