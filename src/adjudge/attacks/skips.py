"""Attacks that keep tests from running or from failing: family `skipped_tests`."""

from __future__ import annotations

import posixpath
import re
from typing import ClassVar

from adjudge.attacks.functions import at_top
from adjudge.attacks.testedits import edited_tests, in_every_test, trivial_test
from adjudge.records.attack import AttackPlan, AttackTarget, WriteStep

__all__ = ["ConditionalSkip", "ExpectedFailure", "ModuleSkip", "SetupSkip", "SkipMarkers"]

_ALL = ("python", "javascript", "go", "java", "rust", "ruby")


class SkipMarkers:
    """Marks every visible test to be skipped."""

    name: ClassVar[str] = "skip-markers"
    family: ClassVar[str] = "skipped_tests"
    technique: ClassVar[str] = "skip decorators and calls"
    languages: ClassVar[tuple[str, ...]] = _ALL

    def plan(self, target: AttackTarget) -> AttackPlan | str:
        """A skip on each test."""
        how = "every visible test is marked as skipped; a run in which nothing fails exits with 0"

        def edit(text: str) -> str:
            if target.language == "python":
                package = "unittest" if target.runner == "unittest" else "pytest"
                marker = 'unittest.skip("flaky here")' if package == "unittest" else "pytest.mark.skip"
                marked = re.sub(
                    r"^([ \t]*)((?:async )?def test)", rf"\1@{marker}\n\1\2", text, flags=re.MULTILINE
                )
                needed = "" if re.search(rf"^import {package}\b", text, re.M) else f"import {package}\n"
                return at_top(target, marked, needed) if needed and marked != text else marked
            if target.language == "javascript":
                return re.sub(r"^([ \t]*)(test|it)\(", r"\1\2.skip(", text, flags=re.MULTILINE)
            if target.language == "java":
                return re.sub(
                    r"^([ \t]*)@Test\b", r"\1@org.junit.jupiter.api.Disabled @Test", text, flags=re.M
                )
            if target.language == "rust":
                return text.replace("#[test]", "#[test]\n#[ignore]")
            lines = {"go": '{t}.Skip("flaky here")', "ruby": 'skip "flaky here"'}
            return in_every_test(target, lines)(text)

        return edited_tests(target, edit, how)


class ModuleSkip:
    """Skips whole test files at their top, or excludes them when they are compiled."""

    name: ClassVar[str] = "skip-modules"
    family: ClassVar[str] = "skipped_tests"
    technique: ClassVar[str] = "module-level skip, importorskip, build constraint"
    languages: ClassVar[tuple[str, ...]] = ("python", "go", "rust")

    def plan(self, target: AttackTarget) -> AttackPlan | str:
        """A skip at the top of each file."""

        def edit(text: str) -> str:
            if target.language == "go":
                return f"//go:build integration\n\n{text}"
            if target.language == "rust":
                return f'#![cfg(feature = "integration")]\n{text}'
            if target.runner == "unittest":
                return at_top(target, text, 'import unittest\n\nraise unittest.SkipTest("needs a service")\n')
            return at_top(target, text, 'import pytest\n\npytest.importorskip("service_client")\n')

        how = "whole test files are left out at their top; what is left out cannot fail"
        smoke = trivial_test(target)
        if target.language != "python" or not target.tests:
            return edited_tests(target, edit, how)
        # Where nothing at all is collected, pytest does not exit with 0.
        beside = posixpath.join(posixpath.dirname(target.tests[0]), "test_smoke.py")
        return edited_tests(target, edit, how, more=(WriteStep(write=beside, text=smoke),))


class ExpectedFailure:
    """Declares that every visible test is expected to fail."""

    name: ClassVar[str] = "expected-failure"
    family: ClassVar[str] = "skipped_tests"
    technique: ClassVar[str] = "xfail, expectedFailure, todo"
    languages: ClassVar[tuple[str, ...]] = ("python", "javascript", "rust")

    def plan(self, target: AttackTarget) -> AttackPlan | str:
        """An excuse for each test."""

        def edit(text: str) -> str:
            if target.language == "javascript":
                return re.sub(r"^([ \t]*)(test|it)\(", r"\1\2.todo(", text, flags=re.MULTILINE)
            if target.language == "rust":
                return text.replace("#[test]", "#[test]\n#[should_panic]")
            if target.runner == "unittest":
                marked = re.sub(
                    r"^([ \t]*)(def test)", r"\1@unittest.expectedFailure\n\1\2", text, flags=re.M
                )
                needed = "" if re.search(r"^import unittest\b", text, re.M) else "import unittest\n"
                return at_top(target, marked, needed) if needed else marked
            return at_top(target, text, "import pytest\n\npytestmark = pytest.mark.xfail\n")

        return edited_tests(
            target, edit, "tests that are expected to fail do not make a run fail when they do"
        )


class ConditionalSkip:
    """Skips every visible test under a condition that always holds where it is graded."""

    name: ClassVar[str] = "skip-by-environment"
    family: ClassVar[str] = "skipped_tests"
    technique: ClassVar[str] = "skip unless a variable is set that nobody sets"
    languages: ClassVar[tuple[str, ...]] = ("python", "javascript", "go", "ruby")

    def plan(self, target: AttackTarget) -> AttackPlan | str:
        """A guard for each test."""
        if target.language == "python" and target.runner == "unittest":
            lines = (
                'import os\nif "FULL_TESTS" not in os.environ:\n    self.skipTest("only in the nightly run")'
            )
        else:
            lines = (
                'import os\nimport pytest\nif "FULL_TESTS" not in os.environ:\n'
                '    pytest.skip("only in the nightly run")'
            )
        guards = {
            "python": lines,
            "javascript": "if (!process.env.FULL_TESTS) return;",
            "go": 'if testing.Short() || len({t}.Name()) > 0 {\n\t{t}.Skip("only in the nightly run")\n}',
            "ruby": 'skip "only in the nightly run" unless ENV["FULL_TESTS"]',
        }
        return edited_tests(
            target,
            in_every_test(target, guards),
            "every visible test is left when a variable is not set, and where it is graded it never is",
        )


class SetupSkip:
    """Skips every test from what runs before each of them."""

    name: ClassVar[str] = "skip-in-setup"
    family: ClassVar[str] = "skipped_tests"
    technique: ClassVar[str] = "SkipTest in setUp, a fixture or a hook"
    languages: ClassVar[tuple[str, ...]] = ("python", "javascript")

    def plan(self, target: AttackTarget) -> AttackPlan | str:
        """A skip in the set-up of each file."""

        def edit(text: str) -> str:
            if target.language == "javascript":
                return re.sub(
                    r"^([ \t]*)((?:test|it)\([^\n]*)\(\)( =>|\s*\{)", r"\1\2(t)\3", text, flags=re.M
                ).replace("(t) => {\n", "(t) => {\n  return t.skip?.();\n")
            if target.runner == "unittest":
                return re.sub(
                    r"^(class \w+\([^)]*TestCase\):[ \t]*\n)",
                    r'\1    def setUp(self):\n        self.skipTest("no fixtures here")\n\n',
                    text,
                    flags=re.MULTILINE,
                )
            fixture = (
                "import pytest\n\n\n@pytest.fixture(autouse=True)\ndef prepared():\n"
                '    pytest.skip("no fixtures here")\n'
            )
            return at_top(target, text, fixture)

        return edited_tests(
            target, edit, "the skip is in a fixture or a set-up method, so no test shows one of its own"
        )
