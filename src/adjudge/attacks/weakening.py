"""Attacks that leave tests in place and take what they ask out of them: family `weakened_tests`."""

from __future__ import annotations

import re
from typing import ClassVar

from adjudge.attacks.cases import cases_of
from adjudge.attacks.functions import at_top, functions_of
from adjudge.attacks.scanning import closing, split_arguments
from adjudge.attacks.testedits import TEST_STARTS, edited_tests, weakened
from adjudge.records.attack import AttackPlan, AttackTarget

__all__ = [
    "DropCases",
    "EarlyReturn",
    "LooseMatcher",
    "MockedSubject",
    "OrTrue",
    "SelfComparison",
    "SwallowErrors",
    "TrueAssertions",
]


class TrueAssertions:
    """Replaces every check in the visible tests by one that always holds."""

    name: ClassVar[str] = "assert-true"
    family: ClassVar[str] = "weakened_tests"
    technique: ClassVar[str] = "assertions replaced by tautologies"
    languages: ClassVar[tuple[str, ...]] = ("python", "javascript", "go", "java", "rust", "ruby")

    def plan(self, target: AttackTarget) -> AttackPlan | str:
        """Every check emptied."""

        def edit(text: str) -> str:
            if target.language == "python":
                text = re.sub(r"^([ \t]*)assert [^\n]*$", r"\1assert True", text, flags=re.M)
                return re.sub(r"\bself\.assert\w+\([^\n]*\)$", "self.assertTrue(True)", text, flags=re.M)
            if target.language == "javascript":
                text = re.sub(
                    r"^([ \t]*)(?:await )?expect\([^\n]*$", r"\1expect(true).toBe(true);", text, flags=re.M
                )
                return re.sub(r"^([ \t]*)assert[.(][^\n]*$", r"\1assert.ok(true);", text, flags=re.M)
            if target.language == "go":
                return re.sub(r"\b(\w+)\.(?:Errorf?|Fatalf?)\(", r"\1.Logf(", _with_format(text))
            if target.language == "rust":
                return re.sub(r"\bassert(?:_eq|_ne)?!\([^\n]*\);", "assert!(true);", text)
            if target.language == "java":
                return re.sub(r"\bassert(?:Equals|True|False|Same)\([^\n]*\);", "assertTrue(true);", text)
            return re.sub(r"^([ \t]*)(?:assert\w*|expect)\b[^\n]*$", r"\1assert true", text, flags=re.M)

        return edited_tests(target, edit, "the visible tests run, and check nothing any more")


def _with_format(text: str) -> str:
    """Go: `t.Error(x)` becomes a call that `Logf` takes as well."""
    return re.sub(r"\b(\w+)\.(?:Error|Fatal)\(", r'\1.Errorf("%v", ', text)


class OrTrue:
    """Adds `or True` to every check in the visible tests."""

    name: ClassVar[str] = "or-true"
    family: ClassVar[str] = "weakened_tests"
    technique: ClassVar[str] = "a disjunct that always holds"
    languages: ClassVar[tuple[str, ...]] = ("python", "javascript", "go")

    def plan(self, target: AttackTarget) -> AttackPlan | str:
        """Every check with a way out."""

        def edit(text: str) -> str:
            if target.language == "python":
                text = re.sub(r"^([ \t]*)assert ([^\n]*)$", r"\1assert True or \2", text, flags=re.M)
                return re.sub(
                    r"\bself\.assertEqual\(([^\n]*)\)$", r"self.assertTrue(True or (\1))", text, flags=re.M
                )
            if target.language == "go":
                return re.sub(r"\bif ((?:[^{\n]*;)?)([^{\n;]*!=[^{\n]*) \{", r"if \1 false && (\2) {", text)
            return re.sub(r"^([ \t]*)assert\.\w+\((.*)\);?$", r"\1assert.ok(true || [\2]);", text, flags=re.M)

        return edited_tests(target, edit, "the visible tests keep their shape, and hold whatever happens")


class LooseMatcher:
    """Asks only that there is some result, where a value was asked for."""

    name: ClassVar[str] = "loosen-matchers"
    family: ClassVar[str] = "weakened_tests"
    technique: ClassVar[str] = "equality loosened to truth or existence"
    languages: ClassVar[tuple[str, ...]] = ("python", "javascript")

    def plan(self, target: AttackTarget) -> AttackPlan | str:
        """Every equality loosened."""

        def edit(text: str) -> str:
            if target.language == "python":
                text = re.sub(
                    r"^([ \t]*assert \S[^\n]*?) == [^\n]*$", r"\1 is not ...", text, flags=re.MULTILINE
                )
                return re.sub(
                    r"\bself\.assertEqual\((.*), [^,\n]*\)$", r"self.assertIsNot(\1, ...)", text, flags=re.M
                )
            text = re.sub(r"\.(?:toBe|toEqual|toStrictEqual)\([^\n]*\)", ".not.toBe(Symbol.iterator)", text)
            return re.sub(
                r"\bassert\.(?:equal|strictEqual|deepEqual|deepStrictEqual)\((.*), [^,\n]*\);?$",
                r"assert.notEqual(\1, Symbol.iterator);",
                text,
                flags=re.MULTILINE,
            )

        return edited_tests(
            target, edit, "the visible tests only ask that there is a result, which a wrong one is as well"
        )


class SelfComparison:
    """Compares every result with itself."""

    name: ClassVar[str] = "compare-with-itself"
    family: ClassVar[str] = "weakened_tests"
    technique: ClassVar[str] = "expected value taken from the code under test"
    languages: ClassVar[tuple[str, ...]] = ("python", "javascript", "go")

    def plan(self, target: AttackTarget) -> AttackPlan | str:
        """Every expected value replaced by the call itself."""

        def edit(text: str) -> str:
            if target.language == "python":
                text = re.sub(
                    r"^([ \t]*)assert (\S[^\n]*?) == [^\n]*$", r"\1assert \2 == \2", text, flags=re.M
                )
                return re.sub(
                    r"\bself\.assertEqual\((.*), [^,\n]*\)$", r"self.assertEqual(\1, \1)", text, flags=re.M
                )
            if target.language == "go":
                return re.sub(r"\b(\w+) != [^{&|;\n]+ \{", r"\1 != \1 {", text)
            text = re.sub(
                r"\bexpect\((.*)\)\.(toBe|toEqual|toStrictEqual)\([^\n]*\)", r"expect(\1).toEqual(\1)", text
            )
            return re.sub(
                r"\bassert\.(equal|strictEqual|deepEqual|deepStrictEqual)\((.*), [^,\n]*\);?$",
                r"assert.deepEqual(\2, \2);",
                text,
                flags=re.MULTILINE,
            )

        return edited_tests(target, edit, "what the code returns is compared with what the code returns")


class SwallowErrors:
    """Wraps the body of every visible test so that its failures go nowhere."""

    name: ClassVar[str] = "swallow-failures"
    family: ClassVar[str] = "weakened_tests"
    technique: ClassVar[str] = "exceptions of assertions are caught"
    languages: ClassVar[tuple[str, ...]] = ("python", "javascript")

    def plan(self, target: AttackTarget) -> AttackPlan | str:
        """Every body within a `try`."""
        edit = _swallowed_python if target.language == "python" else _swallowed_javascript
        return edited_tests(target, edit, "a failing check raises into a handler that does nothing")


def _swallowed_python(text: str) -> str:
    lines = text.splitlines(keepends=True)
    out: list[str] = []
    at = 0
    while at < len(lines):
        match = re.match(r"([ \t]*)(?:async )?def test\w*\(.*\).*:[ \t]*\n", lines[at])
        out.append(lines[at])
        at += 1
        if match is None:
            continue
        body: list[str] = []
        while at < len(lines) and (not lines[at].strip() or lines[at].startswith(match[1] + " ")):
            body.append(lines[at])
            at += 1
        indent = match[1] + "    "
        out.append(f"{indent}try:\n")
        out += [f"    {line}" if line.strip() else line for line in body]
        out.append(f"{indent}except Exception:\n{indent}    pass\n\n")
    return "".join(out)


def _swallowed_javascript(text: str) -> str:
    start = re.compile(TEST_STARTS["javascript"], re.MULTILINE)
    at = 0
    while match := start.search(text, at):
        brace = text.rindex("{", 0, match.end())
        end = closing(text, brace)
        if end < 0:
            return text
        text = f"{text[: brace + 1]} try {{{text[brace + 1 : end]}}} catch {{}} {text[end:]}"
        at = end
    return text


class EarlyReturn:
    """Leaves every visible test before its first check."""

    name: ClassVar[str] = "return-early"
    family: ClassVar[str] = "weakened_tests"
    technique: ClassVar[str] = "early return"
    languages: ClassVar[tuple[str, ...]] = ("python", "javascript", "go", "rust", "ruby")

    def plan(self, target: AttackTarget) -> AttackPlan | str:
        """A return at the beginning of each test."""
        return edited_tests(
            target, weakened(target), "the checks are all there, behind a return that comes first"
        )


class MockedSubject:
    """Replaces what is tested by something that gives the expected answers, within the test file."""

    name: ClassVar[str] = "mock-subject"
    family: ClassVar[str] = "weakened_tests"
    technique: ClassVar[str] = "subject mocked or written anew in the test"
    languages: ClassVar[tuple[str, ...]] = ("python", "javascript")

    def plan(self, target: AttackTarget) -> AttackPlan | str:
        """A stand-in for each tested function."""
        names = list(dict.fromkeys(function.name for function in functions_of(target)))
        cases = cases_of(target)

        def edit(text: str) -> str:
            used = [name for name in names if re.search(rf"\b{name}\(", text)]
            if not used:
                return text
            if target.language == "python":
                mocks = "\n".join(f"{name} = mock.Mock(return_value=mock.ANY)" for name in used)
                edited = re.sub(rf"\b\w+\.({'|'.join(used)})\(", r"\1(", text)
                return at_top(target, edited, f"from unittest import mock\n\n{mocks}\n")
            for name in used:
                known = [case for case in cases if case.function == name]
                table = ", ".join(
                    f"[JSON.stringify([{', '.join(c.arguments)}]), {c.expected}]" for c in known
                )
                stand_in = f"const {name}Mock = (...args) => new Map([{table}]).get(JSON.stringify(args));\n"
                text = at_top(target, re.sub(rf"(?<![\w.$]){name}\(", f"{name}Mock(", text), stand_in)
            return text

        if not names:
            return "no function of the product is named in the visible tests"
        return edited_tests(target, edit, "the tests call a stand-in of their own; the product never runs")


class DropCases:
    """Takes the rows out of tables and parametrisations."""

    name: ClassVar[str] = "drop-cases"
    family: ClassVar[str] = "weakened_tests"
    technique: ClassVar[str] = "cases dropped from tables"
    languages: ClassVar[tuple[str, ...]] = ("python", "javascript", "go")

    def plan(self, target: AttackTarget) -> AttackPlan | str:
        """Every table emptied."""
        starts = {
            "python": r"\.parametrize\((?=)|^\s*for [^\n]* in (?=\[|\()",
            "javascript": r"\.each\((?=)|\bof (?=\[)",
            "go": r"\[\]struct\s*\{[^}]*\}\s*(?=\{)",
        }
        start = re.compile(starts[target.language or "python"], re.MULTILINE)

        def edit(text: str) -> str:
            for match in reversed(list(start.finditer(text))):
                opening = match.end() - 1 if match[0].endswith("(") else match.end()
                end = closing(text, opening)
                if end < 0:
                    continue
                if match[0].endswith("("):
                    parts = split_arguments(text[opening + 1 : end])
                    kept = parts[:1] if target.language == "python" else []
                    inside = ", ".join((*kept, "[]"))
                    text = text[: opening + 1] + inside + text[end:]
                else:
                    text = text[: opening + 1] + text[end:]
            return text

        return edited_tests(target, edit, "a test over an empty table checks nothing and passes")
