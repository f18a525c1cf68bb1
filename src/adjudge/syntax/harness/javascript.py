"""Configuration, set-up files, environments and reporters of JavaScript test runners."""

from __future__ import annotations

import re
from collections.abc import Iterator

from tree_sitter import Node

from adjudge.records.harness import HarnessFact, HarnessOutline, HarnessSetting, SettingKind
from adjudge.syntax.bodies import text_of
from adjudge.syntax.testcode.nodes import arguments_of, descendants, line_of, plain, shown

__all__ = ["read_javascript"]

_MATCHERS = frozenset((
    "toBe", "toEqual", "toStrictEqual", "toMatch", "toMatchObject", "toContain", "toContainEqual",
    "toHaveLength", "toHaveProperty", "toBeTruthy", "toBeFalsy", "toBeNull", "toBeUndefined",
    "toBeDefined", "toBeNaN", "toBeGreaterThan", "toBeGreaterThanOrEqual", "toBeLessThan",
    "toBeLessThanOrEqual", "toBeCloseTo", "toBeInstanceOf", "toThrow", "toThrowError", "toHaveBeenCalled",
    "toHaveBeenCalledWith", "toHaveBeenCalledTimes", "toMatchSnapshot", "toMatchInlineSnapshot",
))  # fmt: skip
_SETTINGS = {
    "modulePathIgnorePatterns": SettingKind.LEAVES_OUT,
    "testPathIgnorePatterns": SettingKind.LEAVES_OUT, "testIgnore": SettingKind.LEAVES_OUT,
    "testMatch": SettingKind.SELECTS, "testRegex": SettingKind.SELECTS, "roots": SettingKind.SELECTS,
    "spec": SettingKind.SELECTS, "specPattern": SettingKind.SELECTS,
}  # fmt: skip
_IN_TEST = {"exclude": SettingKind.LEAVES_OUT, "include": SettingKind.SELECTS}
_SWAPPED = re.compile(
    r"^\^?\(?(?:expect|chai|assert|@jest/globals|vitest|mocha|jest-circus|@vitest/\w+)\$?\)?$"
)
_CHECKS = re.compile(
    r"(?i)(?:^|\.)(?:assert|expect|should|check|verify|ensure(?!dir|file|link|path|symlink|exists)|same|fail|equal|deep|strict|compare|match|require(?!$))"
)
_GLOBAL = re.compile(r"^(?:global|globalThis|window|self)\.(expect|assert|it|test|describe|specify)$")
_ASSERTION = re.compile(
    r"^(?:\w*[aA]ssert|chai\.assert|require\([\"'](?:node:)?assert[\"']\))(?:\.strict)?\."
    r"(?:equal|strictEqual|deepEqual|deepStrictEqual|ok|notEqual|throws|rejects|fail|match|isTrue|isFalse)$"
    # By a name that is worked out: `assert[name]`.
    r"|^(?:\w*[aA]ssert|chai\.assert)(?:\.strict)?\[(?![\"'`]).*\]$"
    r"|^(?:chai\.)?Assertion\.prototype\.\w+$|^expect\.prototype\.\w+$|^AssertionError\b|^TestResult\b"
)
_RESULT = re.compile(
    r"\.(?:numFailedTests|numFailedTestSuites|numRuntimeErrorTestSuites|numFailingTests|testExecError"
    r"|failureMessages?|failures)$"
)
_ERRORS = re.compile(
    r"\b(?:test|task|result|getState\(\)|state)\.(?:\w+\.)*(?:errors|suppressedErrors)(?:\.length)?$"
)
_TAKEN_OUT = re.compile(r"\.(?:replace|replaceAll)\(\s*(?:/|[\"'`]|new RegExp)[^,\n]*\b(?:expect|assert)")
_EMPTIED = ("0", "[ ]", "null", "undefined")
_SCOPES = ("function_declaration", "function_expression", "arrow_function", "method_definition")
_FUNCTIONS = ("arrow_function", "function_expression", "function", "object", "new_expression")


def read_javascript(root: Node) -> HarnessOutline:
    """One file."""
    facts: list[HarnessFact] = []
    settings: list[HarnessSetting] = []
    for node in descendants(root):
        if node.type == "assignment_expression":
            facts += _assignment(node)
        elif node.type == "call_expression":
            facts += _call(node)
        elif node.type == "pair":
            _pair(node, facts, settings)
    settings += _checks(root)
    return HarnessOutline(facts=tuple(facts), settings=tuple(settings))


def _checks(root: Node) -> Iterator[HarnessSetting]:
    """How much each named function checks, which tests may call."""
    for node in descendants(root):
        if node.type not in ("function_declaration", "arrow_function", "function_expression"):
            continue
        name, body = _name_of(node), node.child_by_field_name("body")
        if not name or body is None:
            continue
        found = sum(
            1
            for part in descendants(body)
            if part.type == "throw_statement"
            or (
                part.type == "call_expression"
                and _CHECKS.search(text_of(part.child_by_field_name("function") or part)[:120])
            )
        )
        yield HarnessSetting(
            kind=SettingKind.CHECKS, name=f"{name}()", values=(str(found),), line=line_of(node)
        )


def _name_of(node: Node) -> str:
    """What a function is called, or what it is given to."""
    named = node.child_by_field_name("name")
    if named is None and node.parent is not None:
        named = node.parent.child_by_field_name("name") or node.parent.child_by_field_name("left")
    return re.sub(r"\s+", "", text_of(named)[:80]).rpartition(".")[2] if named is not None else ""


def _fact(rule: str, node: Node) -> HarnessFact:
    return HarnessFact(rule=rule, what=plain(node)[:300], text=shown(node), line=line_of(node))


def _assignment(node: Node) -> Iterator[HarnessFact]:
    left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
    if left is None or right is None:
        return
    target, value = re.sub(r"\s+", "", text_of(left)[:200]), plain(right)
    if found := _GLOBAL.match(target):
        if re.search(r"\.\s*(?:skip|todo)\b", text_of(right)):
            yield _fact("tests-left-out", node)
        elif right.type in _FUNCTIONS and (
            found[1] in ("expect", "assert") or not _forwards(right, found[1])
        ):
            yield _fact("machinery-replaced", node)
    elif _ASSERTION.search(target):
        yield _fact("machinery-patched", node)
    elif target == "process.exitCode" and value in ("0", "undefined"):
        yield _fact("exit-status-set" if _at_exit(node) else "process-exited", node)
    elif target in ("process.exit", "process.reallyExit"):
        if _is_put_back(node, right, target):
            return
        yield _fact(
            "exit-status-set" if right.type in _FUNCTIONS and not _mocked(right) else "process-exited", node
        )
    elif (
        ((_ERRORS.search(target) or _RESULT.search(target)) and value in _EMPTIED)
        or (_RESULT.search(target) and value == "false")
        or (
            re.search(r"(?:test|result|task|results)(?:\.result)?\.(?:state|status|success)$", target)
            and value in ('"pass"', '"passed"', "true")
        )
    ):
        yield _fact("outcome-rewritten", node)
    elif re.search(r"\bModule\.(?:_load|prototype\.require|_resolveFilename)$", target):
        yield _fact("machinery-replaced", node)


def _may_be_nothing(argument: Node) -> bool:
    """`known ? () => {} : body`: a test whose body is left out on a condition."""
    return argument.type == "ternary_expression" and any(
        part.type in ("arrow_function", "function_expression") and re.search(r"\{\s*\}$", text_of(part))
        for part in argument.named_children[1:]
    )


def _call(node: Node) -> Iterator[HarnessFact]:
    function = re.sub(r"\s+", "", text_of(node.child_by_field_name("function") or node)[:120])
    arguments = arguments_of(node)
    if function.endswith("expect.extend") and arguments:
        names = {
            text_of(part.child_by_field_name("key") or part.child_by_field_name("name") or part).strip("\"'")
            for part in arguments[0].named_children
            if part.type in ("pair", "method_definition")
        }
        if names & _MATCHERS:
            yield _fact("machinery-patched", node)
    elif re.fullmatch(r"(?:\w+\.)?(?:test|it)", function) and any(map(_may_be_nothing, arguments[1:])):
        yield _fact("tests-left-out", node)
    elif function == "process.reallyExit" and _at_exit(node):
        # Node's own, below all that still listens: nobody who hands on a status needs it at the end.
        yield _fact("exit-status-set", node)
    elif function in ("process.exit", "process.reallyExit") and [plain(one) for one in arguments] == ["0"]:
        if not _is_heard(node, r"SIG\w+"):
            yield _fact("exit-status-set" if _at_exit(node) else "process-exited", node)
    elif re.fullmatch(r"(?:jest|vi)\.(?:mock|doMock|unstable_mockModule)", function) and arguments:
        named = text_of(arguments[0])[1:-1]
        if named.startswith(("./", "../", "@/", "~/", "/")):
            yield HarnessFact(
                rule="product-replaced", what=f"mock {named}"[:300], text=shown(node), line=line_of(node)
            )
    elif _TAKEN_OUT.search(text_of(node)[:400]) or (function == "path.remove" and _is_about_checks(node)):
        yield _fact("machinery-replaced", node)
    elif function in ("Object.defineProperty", "Reflect.set") and len(arguments) > 1:
        target = f"{text_of(arguments[0])}.{text_of(arguments[1])[1:-1]}"
        if _ASSERTION.search(target) or _GLOBAL.match(target):
            yield _fact("machinery-patched", node)


def _is_about_checks(node: Node) -> bool:
    """Whether the function around, of a tool that rewrites code, speaks of checks."""
    at = node.parent
    while at is not None and at.type not in ("method_definition", "function_declaration", "pair", "program"):
        at = at.parent
    return at is not None and re.search(r"[\"'](?:expect|assert\w*)[\"']", text_of(at)) is not None


def _pair(node: Node, facts: list[HarnessFact], settings: list[HarnessSetting]) -> None:
    key = text_of(node.child_by_field_name("key") or node).strip("\"'`")
    value = node.child_by_field_name("value")
    if value is None:
        return
    kind = _SETTINGS.get(key) or (_IN_TEST.get(key) if _key_above(node) in ("test", "poolOptions") else None)
    if kind is not None:
        values = tuple(text_of(part)[1:-1] for part in descendants(value) if part.type == "string")
        if values:
            settings.append(HarnessSetting(kind=kind, name=key, values=values, line=line_of(node)))
    elif key == "automock" and plain(value) == "true":
        facts.append(_fact("product-replaced", node))
    elif key in ("rootDir", "dir", "root") and value.type == "string" and _key_above(node) in ("", "test"):
        place = text_of(value)[1:-1].removeprefix("./").rstrip("/")
        if place and ".." not in place and "$" not in place:
            settings.append(
                HarnessSetting(
                    kind=SettingKind.SELECTS, name="include", values=(f"{place}/**",), line=line_of(node)
                )
            )
    elif key in ("testNamePattern", "grep", "grepInvert"):
        facts.append(_fact("tests-left-out", node))
    elif (key == "testFailureExitCode" and plain(value) == "0") or (
        key == "dangerouslyIgnoreUnhandledErrors" and plain(value) == "true"
    ):
        facts.append(_fact("exit-code-ignored", node))
    elif (key in ("testRunner", "runner") and re.match(r"[\"'`](?:<rootDir>|\.{1,2}/)", text_of(value))) or (
        _SWAPPED.match(key) and _key_above(node) in ("moduleNameMapper", "alias")
    ):
        facts.append(_fact("runner-swapped", node))
    elif (key == "resolver" or _key_above(node) == "transform") and (
        code := next((one for one in _strings(value) if re.match(r"<rootDir>|\.{0,2}/", one)), None)
    ):
        what = f"resolver {code}" if key == "resolver" else f"transform {key} => {code}"
        facts.append(
            HarnessFact(rule="product-replaced", what=what[:300], text=shown(node), line=line_of(node))
        )
    elif _key_above(node) in ("moduleNameMapper", "alias") and key != "replacement":
        found = (
            [node]
            if key != "find"
            else [
                part
                for part in (node.parent.named_children if node.parent is not None else ())
                if text_of(part).startswith("replacement")
            ]
        )
        pattern = key if key != "find" else text_of(value).strip("\"'`/")
        target = " ".join(
            text_of(part)[1:-1] for one in found for part in descendants(one) if part.type == "string"
        )
        target = target.removeprefix(pattern).strip()
        facts.append(
            HarnessFact(
                rule="product-replaced",
                what=f"map {pattern} => {target}"[:300],
                text=shown(node),
                line=line_of(node),
            )
        )
    elif key in ("lines", "branches", "functions", "statements") and re.fullmatch(
        r"\d+(?:\.\d+)?", plain(value)
    ):
        settings.append(
            HarnessSetting(
                kind=SettingKind.AT_LEAST, name=f"coverage.{key}", values=(plain(value),), line=line_of(node),
                tool="cov",
            )
        )  # fmt: skip


def _strings(node: Node) -> Iterator[str]:
    """The texts in a value, but for those of other settings in it."""
    for part in descendants(node, stop=("object",)):
        if part.type == "string":
            yield text_of(part)[1:-1]


def _key_above(node: Node) -> str:
    at = node.parent
    while at is not None and at.type != "pair":
        at = at.parent
    return "" if at is None else text_of(at.child_by_field_name("key") or at).strip("\"'`")


def _is_put_back(node: Node, value: Node, target: str) -> bool:
    """Whether a function only hears that a program under test would end, and gives the real one back.

    It keeps the real one and puts it back, and what stands there meanwhile ends nothing.
    """
    around, at = None, node.parent
    while at is not None:
        around = at if at.type in _SCOPES else around
        at = at.parent
    if around is None:
        return False
    end = re.escape(target).replace(r"\.", r"\s*\.\s*")
    text = text_of(around)
    kept = set(re.findall(rf"([\w$]+)\s*=\s*{end}\s*(?:[;,\n)]|$)", text))
    back = {name for name in kept if re.search(rf"{end}\s*=\s*{re.escape(name)}(?![\w$.(])", text)}
    if value.type == "identifier":
        return text_of(value) in back
    ends = any(re.search(rf"(?<![\w$.]){re.escape(name)}(?![\w$])", text_of(value)) for name in kept)
    return bool(back) and not ends and not re.search(r"(?:[eE]xit|kill|abort)\s*\(", text_of(value))


def _at_exit(node: Node) -> bool:
    """Whether code runs as the process ends, so that it has the last word."""
    return _is_heard(node, "exit|beforeExit")


def _is_heard(node: Node, events: str) -> bool:
    """Whether code runs when the process has one of these events."""
    at = node.parent
    while at is not None:
        if at.type == "call_expression" and re.match(
            rf"process\s*\.\s*(?:on|once|prependListener|addListener)\s*\(\s*[\"'`](?:{events})[\"'`]",
            text_of(at),
        ):
            return True
        at = at.parent
    return False


def _forwards(function: Node, name: str) -> bool:
    """Whether a function calls what it stands for."""
    return (
        re.search(rf"\b\w*{name}\w*\s*(?:\(|\.(?:call|apply)\b)", text_of(function), re.IGNORECASE)
        is not None
    )


def _mocked(node: Node) -> bool:
    return "throw" in text_of(node) or "jest.fn" in text_of(node) or "vi.fn" in text_of(node)
