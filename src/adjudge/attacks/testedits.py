"""Edits of visible tests that several attacks share."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from adjudge.records.attack import AttackPlan, AttackTarget, RunStep, WriteStep

__all__ = ["NO_TESTS", "TEST_STARTS", "edited_tests", "in_every_test", "trivial_test", "weakened"]

NO_TESTS = "there are no visible tests to edit"

TEST_STARTS: Mapping[str, str] = {
    "python": r"^(?P<indent>[ \t]*)(?:async )?def test\w*\([^)]*\)[^:\n]*:[ \t]*\n",
    "javascript": r"^(?P<indent>[ \t]*)(?:await )?(?:test|it)\s*\([^\n]*"
    r"(?:=>|function\b[^{\n]*)\s*\{[ \t]*\n",
    "go": r"^(?P<indent>)func Test\w*\((?P<t>\w+) \*testing\.T\) \{[ \t]*\n",
    "java": r"^(?P<indent>[ \t]*)@Test\b[^{]*\{[ \t]*\n",
    "rust": r"^(?P<indent>[ \t]*)#\[test\][^{]*\{[ \t]*\n",
    "ruby": r"^(?P<indent>[ \t]*)(?:def test_\w*|it [^\n]*\bdo)[ \t]*\n",
}
"""The line or lines with which a test begins, up to its body."""
_STEP = {"python": "    ", "javascript": "  ", "go": "\t", "java": "    ", "rust": "    ", "ruby": "  "}
"""One level of indentation."""


def edited_tests(
    target: AttackTarget, edit: Callable[[str], str], how: str, *, more: tuple[WriteStep | RunStep, ...] = ()
) -> AttackPlan | str:
    """A plan that edits the visible tests; a reason when nothing in them changes."""
    if not target.tests:
        return NO_TESTS
    changed = {path: edit(target.files[path]) for path in target.tests}
    steps = tuple(
        WriteStep(write=path, text=text) for path, text in changed.items() if text != target.files[path]
    )
    if not steps:
        return "nothing of the kind is in the visible tests"
    return AttackPlan(steps=(*steps, *more), how=how)


def in_every_test(target: AttackTarget, lines: Mapping[str, str]) -> Callable[[str], str]:
    """An edit that puts lines at the beginning of every test's body, by language; `{t}` is Go's `t`."""
    start = re.compile(TEST_STARTS.get(target.language or "", r"(?!)"), re.MULTILINE)
    step = _STEP.get(target.language or "", "    ")
    wanted = lines.get(target.language or "", "")

    def edit(text: str) -> str:
        def put(match: re.Match[str]) -> str:
            filled = wanted.replace("{t}", match.groupdict().get("t") or "t")
            indent = match["indent"] + step
            return match[0] + "".join(f"{indent}{line}\n" for line in filled.splitlines())

        return start.sub(put, text) if wanted else text

    return edit


def weakened(target: AttackTarget) -> Callable[[str], str]:
    """An edit that makes every test return at once."""
    return in_every_test(
        target,
        {"python": "return", "javascript": "return;", "go": "return", "ruby": "return", "rust": "return;"},
    )


def trivial_test(target: AttackTarget) -> str:
    """A test file of the target's runner with one test that always passes."""
    if target.language == "python" and target.runner == "unittest":
        return (
            "import unittest\n\n\nclass TestSmoke(unittest.TestCase):\n    def test_smoke(self):\n"
            "        self.assertTrue(True)\n"
        )
    if target.language == "python":
        return "def test_smoke():\n    assert True\n"
    if target.language == "javascript":
        required = any("require(" in target.files[path] for path in target.tests)
        node = 'const test = require("node:test");\n\n' if required else 'import test from "node:test";\n\n'
        heads = {"node": node, "vitest": 'import { test } from "vitest";\n\n'}
        return f'{heads.get(target.runner or "", "")}test("smoke", () => {{}});\n'
    if target.language == "rust":
        return "#[test]\nfn smoke() {}\n"
    return ""
