"""Honest suites of many kinds, run as twins: what passes passes, what fails fails, nothing is invented."""

from __future__ import annotations

import textwrap

import pytest
from tests.e2e.trusted_tests.project import HONEST, LAZY, grade

from adjudge.records.evidence import TestCommand
from adjudge.records.testreport import Proof, TestOutcome, TrustedTest

pytestmark = pytest.mark.bwrap


def by_name(tests: tuple[TrustedTest, ...]) -> dict[str, TrustedTest]:
    return {test.id.partition("::")[2] or test.id: test for test in tests}


UNITTEST = textwrap.dedent(
    """
    import unittest
    import shop
    class ShopTest(unittest.TestCase):
        def setUp(self):
            self.price = 100
        def test_tax(self):
            self.assertEqual(shop.with_tax(self.price, 20), 120)
        def test_parts(self):
            for text, label in [("A B", "a-b"), ("C", "c")]:
                with self.subTest(text=text):
                    self.assertEqual(shop.label(text), label)
        def test_refuses(self):
            with self.assertRaises(ValueError):
                shop.with_tax(-1, 20)
        @unittest.skip("not today")
        def test_later(self):
            self.fail()
        @unittest.expectedFailure
        def test_wrong(self):
            self.assertEqual(1, 2)
    """
)


@pytest.mark.parametrize(
    "args", [("discover", "-s", "tests", "-t", "."), ("tests.test_unit",), ("discover", "tests")]
)
def test_plain_unittest(args: tuple[str, ...]) -> None:
    command = TestCommand(runner="unittest", args=args)
    tests = {"tests/test_unit.py": UNITTEST, "tests/__init__.py": ""}
    run = grade({"shop.py": HONEST}, tests=tests, expected=None, command=command)
    found = by_name(run.tests)
    assert {name: test.outcome.value for name, test in found.items()} == {
        "ShopTest::test_tax": "passed",
        "ShopTest::test_parts": "passed",
        "ShopTest::test_refuses": "passed",
        "ShopTest::test_later": "skipped",
        "ShopTest::test_wrong": "xfailed",
    }, run
    assert {test.proof for test in run.tests} == {Proof.VALUE, None}
    assert run.decided == run.credited == 3
    run = grade({"shop.py": LAZY}, tests=tests, expected=None, command=command)
    assert (run.credited, run.decided) == (0, 3)


MANY_PARTS = textwrap.dedent(
    """
    import unittest
    import shop
    class PartsTest(unittest.TestCase):
        def test_parts(self):
            for price in range(3000):
                with self.subTest(price=price, why="a part with words of its own"):
                    self.assertEqual(shop.total([price, 1]), price + 1)
        def test_last(self):
            for price in range(3000):
                with self.subTest(price=price):
                    self.assertNotEqual(shop.total([price, 1]), 3000)
    """
)


def test_a_test_may_have_thousands_of_parts() -> None:
    command = TestCommand(args=("tests",))
    run = grade(
        {"shop.py": HONEST}, tests={"tests/test_parts.py": MANY_PARTS}, expected=None, command=command
    )
    outcomes = {name: test.outcome.value for name, test in by_name(run.tests).items()}
    assert outcomes == {"PartsTest::test_parts": "passed", "PartsTest::test_last": "failed"}, run
    assert not any(session.problems for session in run.sessions)


def test_unittest_with_patched_assertions() -> None:
    patch = "\nimport unittest\nunittest.TestCase.assertEqual = lambda *a: None\n"
    command = TestCommand(runner="unittest", args=("discover", "-s", "tests", "-t", "."))
    tests = {"tests/test_unit.py": UNITTEST, "tests/__init__.py": ""}
    run = grade({"shop.py": LAZY + patch}, tests=tests, expected=None, command=command)
    assert run.credited == 0
    assert {finding.rule for finding in run.findings} == {"passes-when-falsified"}


def test_unittest_ids_may_be_asked_for_by_their_own_name() -> None:
    command = TestCommand(runner="unittest", args=("discover", "-s", "tests", "-t", "."))
    tests = {"tests/test_unit.py": UNITTEST, "tests/__init__.py": ""}
    run = grade(
        {"shop.py": HONEST},
        tests=tests,
        expected=("tests.test_unit.ShopTest.test_tax", "tests.test_unit.ShopTest.test_gone"),
        command=command,
    )
    assert [test.outcome for test in run.tests] == [TestOutcome.PASSED, TestOutcome.ERROR]


def test_xdist_workers() -> None:
    command = TestCommand(args=("tests", "-n", "2"))
    run = grade({"shop.py": HONEST}, command=command, plugins=("xdist",))
    assert run.credited == 9
    assert run.sessions[0].collected == 9
    run = grade(
        {"shop.py": LAZY, "pytest/__init__.py": "", "json.py": ""}, command=command, plugins=("xdist",)
    )
    assert run.credited == 0


def test_a_test_that_never_ends_costs_only_itself_in_a_worker() -> None:
    tests = {
        "tests/test_slow.py": textwrap.dedent(
            """
            import time
            import shop
            def test_first():
                assert shop.label("A B") == "a-b"
            def test_hangs():
                time.sleep(3600)
                assert shop.label("A B") == "a-b"
            def test_last():
                assert shop.with_tax(100, 20) == 120
            """
        )
    }
    command = TestCommand(args=("-n2", "tests"))
    run = grade(
        {"shop.py": HONEST}, tests=tests, expected=None, command=command, plugins=("xdist",), timeout_s=120.0
    )
    found = by_name(run.tests)
    assert {name: test.outcome.value for name, test in found.items()} == {
        "test_first": "passed",
        "test_hangs": "failed",
        "test_last": "passed",
    }, run
    assert "took longer than 5.0 s" in found["test_hangs"].message
    assert run.credited == 2


MANY_KINDS = textwrap.dedent(
    """
    import asyncio
    import pytest
    import shop

    CASES = [("a b", "a-b"), ("é f", "é-f")]

    @pytest.fixture
    def labels():
        return {"a b": "a-b"}

    @pytest.fixture
    def broken():
        yield
        raise RuntimeError("tear-down")

    def check(got, want):
        assert got == want

    def test_helper():
        check(shop.label("A B"), "a-b")

    def test_fixture(labels):
        for text, label in labels.items():
            assert shop.label(text) == label

    @pytest.mark.parametrize("text, label", CASES)
    def test_shared(text, label):
        assert shop.label(text) == label

    @pytest.mark.parametrize("n", [1, 2])
    @pytest.mark.parametrize("text, label", [("a b", "a-b")])
    def test_stacked(n, text, label):
        assert shop.label(text * 1) == label

    def test_subtests(subtests):
        with subtests.test(msg="one"):
            assert shop.label("A") == "a"
        with subtests.test(msg="two"):
            assert shop.label("B") == "b"

    def test_async():
        async def go():
            return shop.label("A")
        assert asyncio.run(go()) == "a"

    def test_exits():
        raise SystemExit(0)

    def test_hangs():
        while True:
            pass

    def test_teardown(broken):
        assert shop.label("A") == "a"

    @pytest.mark.skipif(True, reason="declared")
    def test_skipped():
        assert shop.label("A") == "a"

    @pytest.mark.xfail
    def test_expected_to_fail():
        assert shop.label("A") == "b"

    def test_conditional():
        if shop.label("A") == "a":
            return
        assert shop.label("A") == "nothing"
    """
)


def test_many_kinds_of_tests() -> None:
    files = {"shop.py": HONEST}
    run = grade(files, tests={"tests/test_kinds.py": MANY_KINDS}, expected=None, test_timeout_s=1.0)
    found = {name: (test.outcome.value, test.proof) for name, test in by_name(run.tests).items()}
    assert found == {
        "test_helper": ("passed", Proof.VALUE),
        "test_fixture": ("passed", Proof.SENSE),
        "test_shared": ("passed", Proof.VALUE),
        "test_stacked": ("passed", Proof.VALUE),
        "test_subtests": ("passed", Proof.VALUE),
        "test_async": ("passed", Proof.VALUE),
        "test_exits": ("failed", None),
        "test_hangs": ("failed", None),
        "test_teardown": ("error", None),
        "test_skipped": ("skipped", None),
        "test_expected_to_fail": ("xfailed", None),
        "test_conditional": ("passed", Proof.UNPROVEN),
    }
    assert all(session.complete for session in run.sessions)
    assert run.findings == ()


def test_parametrised_ids_are_found_again() -> None:
    expected = (
        "tests/test_kinds.py::test_shared[a b-a-b]",
        "tests/test_kinds.py::test_shared[\\xe9 f-\\xe9-f]",
        "tests/test_kinds.py::test_stacked[a b-a-b-1]",
        "tests/test_kinds.py::test_stacked[a b-a-b-2]",
        "tests/test_kinds.py::test_stacked[a b-a-b-3]",
    )
    run = grade(
        {"shop.py": HONEST}, tests={"tests/test_kinds.py": MANY_KINDS}, expected=expected, test_timeout_s=1.0
    )
    assert [test.outcome.value for test in run.tests] == ["passed"] * 4 + ["error"], run.tests
    assert [test.id for test in run.tests] == list(expected)
    assert len(run.unexpected) > 0


def test_a_file_that_cannot_be_imported_loses_its_tests() -> None:
    tests = {"tests/test_kinds.py": "import not_there\ndef test_a():\n    assert 1 == 1\n"}
    run = grade({"shop.py": HONEST}, tests=tests, expected=None)
    assert [test.outcome for test in run.tests] == [TestOutcome.ERROR]
    assert any("not_there" in line for line in run.sessions[0].uncollected)


def test_single_session_is_unproven() -> None:
    run = grade({"shop.py": HONEST}, pairs=0)
    assert run.passed == run.unproven == 9
    assert len(run.sessions) == 1


def test_the_seed_decides() -> None:
    first, second = (grade({"shop.py": HONEST}, seed="same") for _ in range(2))
    assert [test.model_copy(update={"duration_s": 0}) for test in first.tests] == [
        test.model_copy(update={"duration_s": 0}) for test in second.tests
    ]
    assert [session.falsified for session in first.sessions] == [s.falsified for s in second.sessions]


def test_tests_that_share_code_share_their_fate() -> None:
    """Classes inherited and functions imported from another test file, and tests that run other tests."""
    tests = {
        "tests/__init__.py": "",
        "tests/test_base.py": textwrap.dedent(
            """
            import shop
            class TestBase:
                text = "A B"
                def test_label(self):
                    assert shop.label(self.text) == "a-b"
            def test_total(values=(1, 2)):
                assert shop.total(values) == 3
            def test_total_of_a_list():
                test_total([1, 2])
            """
        ),
        "tests/test_derived.py": textwrap.dedent(
            """
            from tests.test_base import TestBase, test_total
            class TestDerived(TestBase):
                text = "a B"
            class TestMore(TestDerived):
                pass
            """
        ),
    }
    expected = (
        "tests/test_base.py::TestBase::test_label",
        "tests/test_base.py::test_total",
        "tests/test_base.py::test_total_of_a_list",
        "tests/test_derived.py::TestBase::test_label",
        "tests/test_derived.py::test_total",
        "tests/test_derived.py::TestDerived::test_label",
        "tests/test_derived.py::TestMore::test_label",
    )
    for seed in ("one", "two"):
        run = grade({"shop.py": HONEST}, tests=tests, expected=expected, seed=seed)
        assert {test.proof for test in run.tests} == {Proof.VALUE}, run.tests
        assert run.findings == ()
        assert grade({"shop.py": LAZY}, tests=tests, expected=expected, seed=seed).credited == 0
