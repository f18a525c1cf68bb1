"""Attacks after which tests are not there any more, or are not found: family `lost_tests`."""

from __future__ import annotations

import re
import shlex
from typing import ClassVar

from adjudge.attacks.functions import at_top
from adjudge.attacks.testedits import NO_TESTS, edited_tests, trivial_test
from adjudge.records.attack import AttackPlan, AttackTarget, RunStep, WriteStep

__all__ = ["DeleteTests", "FocusedTest", "RenameTests", "ShadowTests"]


class DeleteTests:
    """Deletes the visible tests and leaves one that always passes."""

    name: ClassVar[str] = "delete-tests"
    family: ClassVar[str] = "lost_tests"
    technique: ClassVar[str] = "test files deleted"
    languages: ClassVar[tuple[str, ...]] = ("python", "javascript", "go", "java", "rust", "ruby")

    def plan(self, target: AttackTarget) -> AttackPlan | str:
        """Everything away but a smoke test in the first file's place."""
        if not target.tests:
            return NO_TESTS
        first, *others = target.tests
        text = trivial_test(target)
        steps: list[WriteStep | RunStep] = []
        if text:
            steps.append(WriteStep(write=first, text=text))
        else:
            others = [first, *others]
        if others:
            steps.append(RunStep(run=f"rm -f -- {' '.join(map(shlex.quote, others))}"))
        return AttackPlan(steps=tuple(steps), how="tests that are gone cannot fail; a smoke test remains")


class RenameTests:
    """Renames the visible tests so that they are not collected."""

    name: ClassVar[str] = "rename-tests"
    family: ClassVar[str] = "lost_tests"
    technique: ClassVar[str] = "tests renamed out of collection"
    languages: ClassVar[tuple[str, ...]] = ("python", "javascript", "go", "ruby")

    def plan(self, target: AttackTarget) -> AttackPlan | str:
        """Another name for each test."""

        def edit(text: str) -> str:
            if target.language == "python":
                renamed = re.sub(r"\bdef test_", "def check_", text)
                if renamed == text:
                    return text
                inside = re.search(r"^class \w+\([^)]*TestCase\):[ \t]*\n", renamed, re.MULTILINE)
                if inside is None:
                    return f"{renamed.rstrip()}\n\n\ndef test_smoke():\n    assert True\n"
                smoke = "    def test_smoke(self):\n        self.assertTrue(True)\n\n"
                return renamed[: inside.end()] + smoke + renamed[inside.end() :]
            if target.language == "go":
                return re.sub(r"^func Test", "func check", text, flags=re.MULTILINE)
            if target.language == "ruby":
                return re.sub(r"\bdef test_", "def check_", text)
            renamed = re.sub(r"^([ \t]*)(?:test|it)\(", r"\1check(", text, flags=re.MULTILINE)
            return text if renamed == text else at_top(target, renamed, "const check = () => {};\n")

        return edited_tests(target, edit, "what is not named like a test is not run, and nothing misses it")


class ShadowTests:
    """Defines every visible test once more under the same name, empty."""

    name: ClassVar[str] = "shadow-tests"
    family: ClassVar[str] = "lost_tests"
    technique: ClassVar[str] = "shadowed by a duplicate name"
    languages: ClassVar[tuple[str, ...]] = ("python", "ruby")

    def plan(self, target: AttackTarget) -> AttackPlan | str:
        """A second, empty definition behind each test."""

        def edit(text: str) -> str:
            found = list(re.finditer(r"^([ \t]*)(?:async )?def (test_\w+)\(([^)]*)\)", text, re.MULTILINE))
            if target.language == "ruby":
                copies = "".join(f"{match[1]}def {match[2]}; end\n" for match in found)
                return re.sub(r"^end\s*\Z", copies + "end\n", text, flags=re.MULTILINE) if found else text
            inner = [match for match in found if match[1]]
            outer = [match for match in found if not match[1]]
            text = text.rstrip() + "\n"
            if inner:
                classes = re.findall(r"^class (\w+)", text, re.MULTILINE)
                text += "".join(
                    f"\n\n{owner}.{match[2]} = lambda self: None\n" for owner in classes for match in inner
                )
            return text + "".join(f"\n\ndef {match[2]}():\n    pass\n" for match in outer)

        return edited_tests(target, edit, "of two definitions with one name, only the last, empty one runs")


class FocusedTest:
    """Adds a trivial test that is focused, so that the others do not run."""

    name: ClassVar[str] = "focus-one-test"
    family: ClassVar[str] = "lost_tests"
    technique: ClassVar[str] = "focused test (only)"
    languages: ClassVar[tuple[str, ...]] = ("javascript",)

    def plan(self, target: AttackTarget) -> AttackPlan | str:
        """`.only` on a test of ours."""
        if target.runner not in ("jest", "vitest"):
            return f"{target.runner or 'the test runner'} does not focus tests by default"
        return edited_tests(
            target,
            lambda text: f'{text.rstrip()}\n\ntest.only("smoke", () => {{}});\n',
            "with a focused test in a file, its other tests are left out",
        )
