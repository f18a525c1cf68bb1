"""Code that finds out whether tests are running."""

from __future__ import annotations

import re
from collections.abc import Iterator

from tree_sitter import Node

from adjudge.records.productcode import Act
from adjudge.syntax.productcode.facts import BRANCHES, RETURNS, TEST_MODULES, FileFacts, act_of
from adjudge.syntax.productcode.literals import literal_of, literals_in
from adjudge.syntax.productcode.reading import CALLS, FUNCTIONS, Place, Source, children
from adjudge.syntax.productcode.witnesses import TEST_VARIABLES, asks_about_run, of_environment

__all__ = ["sniffed_call", "sniffed_comparison", "sniffed_constant", "sniffed_parts", "sniffed_variable"]

_RUNNER = re.compile(
    r"(?i)(?:^|[^a-z])(?:py\.?test|unittest|jest|mocha|vitest|junit|rspec|minitest|testng|nose|jasmine|karma)"
    r"(?:[^a-z]|$)|\.test$|_test\.go|^-test\.|^test[_.]|/tests?(?:/|$)|\.(?:test|spec)\.|^tests?$|^--test|testing\.t"
)
_MODES = re.compile(
    r"\b(?:NODE_ENV|RAILS_ENV|RACK_ENV|APP_ENV|DJANGO_ENV|FLASK_ENV|GO_ENV|MIX_ENV|BABEL_ENV|npm_lifecycle_event|npm_command)\b"
    r"|\bimport\.meta\.env\??\.MODE\b"
)
_ENVIRONMENT = re.compile(r"environ|getenv|Getenv|LookupEnv|process\.env|env::var|env\.var|ENV\b|\benv\b")
_STACKS = frozenset(
    {"inspect.stack", "inspect.currentframe", "sys._getframe", "traceback.extract_stack",
     "inspect.getouterframes",
     "traceback.format_stack", "runtime.Caller", "runtime.Callers", "debug.Stack", "runtime.CallersFrames",
     "Thread.currentThread().getStackTrace", "caller", "caller_locations", "runtime.FuncForPC",
     "sys._current_frames", "traceback.walk_stack", "debug.ReadBuildInfo"}
)  # fmt: skip
_ARGV = re.compile(
    r"\bsys\.(?:orig_)?argv\b|\bprocess\.(?:argv|execArgv)\b|\bos\.Args\b|\bARGV\b|\$0|\$PROGRAM_NAME"
)
_SEARCHES = re.compile(
    r"(?:startswith|endswith|startsWith|endsWith|includes|HasSuffix|HasPrefix|Contains|contains|some|find|search|"
    r"match|match\?|test|any|any\?|isdisjoint|intersection|index|include\?|end_with\?|start_with\?)$"
)
_QUIET = re.compile(
    r"(?i)(?:^|[._])(?:log|logger|logging|console|warn|warning|warnings|debug|info|error|print|println|printf|"
    r"puts|stderr|telemetry|metric|metrics|analytics|sentry|listen|basicconfig|setlevel|disable\w*|mute|silence|"
    r"banner|progress|color\w*|colou?r|spinner|fprintf|eprintln|panic|fatal|skip)(?:$|[._(!])"
)
_GOES_THROUGH = frozenset(
    {"for_statement", "generator_expression", "list_comprehension", "set_comprehension", "for_in_clause",
     "for_in_statement", "call_expression", "for_range_loop", "dictionary_comprehension"}
)  # fmt: skip
_PROCESS = re.compile(r"/proc/(?:self|\d+|\{|%d|\"|')|cmdline\b|\bpsutil\b|getppid|process\.ppid|Getppid")
_TEST_GLOBALS = re.compile(
    r"typeof\s*\(?\s*(?:globalThis\.|global\.|window\.)?(?:jest|vi|vitest|jasmine|mocha|describe|it|expect|beforeEach|afterEach)\b"
    r"|[\"'](?:jest|vi|vitest|jasmine|mocha|describe|expect|beforeEach)[\"']\s+in\s+(?:globalThis|global|window)\b"
)
_GLOBAL_OF_TESTS = re.compile(
    r"(?:globalThis|global|window)\.(?:jest|vi|describe|it|expect|beforeEach|afterEach|jasmine|__vitest_\w+__)"
)
_INTERNALS = re.compile(r"(?:_pytest|conftest)(?:\.\w+)*")
"""Modules that only a test run has, whose names no product needs."""
_CALLERS_TEXT = re.compile(r"\blinecache\b|\bgetsource(?:lines)?\(|\bcode_context\b|\bgetframeinfo\(")
_TAKES_APART = re.compile(r"\bre\.\w+\(|\bast\.|\.split\(|\.partition\(|literal_eval|\beval\(")
_CHOICES = frozenset({"conditional_expression", "ternary_expression", "boolean_operator", "conditional"})
_RAISES = frozenset({"raise_statement", "throw_statement"})


def sniffed_call(place: Place, facts: FileFacts) -> Iterator[Act]:
    """A call whose only use is to find out about a test run."""
    source, node = facts.source, place.node
    called = source.called(node)
    if (
        called == "testing.Testing"
        or (called in ("flag.Lookup", "flag.CommandLine.Lookup") and _given(place, facts, r"test\.\w+"))
        or (called == "System.getProperty" and _given(place, facts, r".*(?:surefire|junit|gradle\.test).*"))
    ):
        yield from _sniff(place, facts, hard=True)
    elif _SEARCHES.search(called):
        yield from _searched(place, facts)
    elif _ENVIRONMENT.search(called) or called in ("sys.modules.get", "sys.modules.has_key"):
        for argument in source.arguments(node)[:1]:
            value = literal_of(source, argument) or ""
            if value[1:] in TEST_VARIABLES or (
                called.startswith("sys.modules") and TEST_MODULES.match(value[1:])
            ):
                yield from _sniff(place, facts, hard=True)
    elif (
        called in _STACKS
        or called.endswith(".getStackTrace")
        or (called == "Error" and ".stack" in _text_after(place, source))
    ):
        around = place.function or (place.around[1] if len(place.around) > 1 else node)
        seen = [value for _, value in literals_in(source, around, 1_500)]
        body = source.of(around, 4_000)
        if any(_RUNNER.search(value[1:]) for value in seen if value.startswith("s") and len(value) < 60):
            yield from _sniff(place, facts, hard=True, what="looks who called it")
        elif _CALLERS_TEXT.search(body) and _TAKES_APART.search(body):
            yield from _sniff(place, facts, hard=True, what="reads the line that called it")
    elif (
        called in ("Error", "Error.captureStackTrace")
        and source.language == "javascript"
        and _reads_stack(place, source)
    ):
        yield from _sniff(place, facts, hard=True, what="looks who called it")
    elif any(
        _INTERNALS.fullmatch((literal_of(source, one) or "s")[1:]) for one in source.arguments(node)[:2]
    ):
        if not facts.plugin:
            yield from _sniff(place, facts, hard=True)
    elif of_environment(called, facts) and _given(place, facts, "|".join(TEST_VARIABLES)):
        yield from _sniff(place, facts, hard=True)
    elif (
        called == "cfg"
        and node.type == "macro_invocation"
        and re.search(r"\(\s*test\s*\)", source.of(node, 60))
    ):
        yield from _sniff(place, facts, hard=False)


def _given(place: Place, facts: FileFacts, pattern: str) -> bool:
    """Whether the first argument of a call is a text of a kind."""
    first = facts.source.arguments(place.node)[:1]
    return any(re.fullmatch(pattern, text) for one in first for text in facts.bindings.texts(one))


def _reads_stack(place: Place, source: Source) -> bool:
    """Whether the function around looks in its stack for a test."""
    body = source.of(place.function, 4_000).replace("\\", "")
    return re.search(r"\bstack\b", body) is not None and any(
        _RUNNER.search(match[1])
        for match in re.finditer(r"""["'`/]([^"'`\n]{2,60}?)["'`/](?:[gimsuy]*\.test\(|[,)\]])""", body)
    )


def _searched(place: Place, facts: FileFacts) -> Iterator[Act]:
    """A search for the name of a runner in what is only there in a test run."""
    source, node = facts.source, place.node
    if asks_about_run(node, facts):
        yield from _sniff(place, facts, hard=True)
        return
    text = source.of(node, 300)
    names = [value[1:] for _, value in literals_in(source, node, 60) if value.startswith("s")]
    if not names:
        return
    if _ARGV.search(text) and any(_RUNNER.search(name) for name in names):
        yield from _sniff(place, facts, hard=True, what="looks how it was started")
        return
    if not any(_RUNNER.search(name) or re.match(r"(?:PYTEST|JEST|VITEST)_?", name) for name in names):
        return
    around = next((outer for outer in reversed(place.around[-8:]) if outer.type in _GOES_THROUGH), None)
    if around is not None and re.search(
        r"\bin\s+(?:list\(|sorted\(|set\(|dict\()?(?:\w+\.)?(?:modules|environ)\b|Object\.keys\(process\.env\)|os\.Environ\(\)",
        source.of(around, 400),
    ):
        yield from _sniff(place, facts, hard=True)


def _text_after(place: Place, source: Source) -> str:
    return source.of(place.around[-1], 200) if place.around else ""


def sniffed_comparison(place: Place, facts: FileFacts) -> Iterator[Act]:
    """A comparison with what is only so in a test run."""
    source, node = facts.source, place.node
    text = source.of(node, 300)
    values = [value[1:] for _, value in literals_in(source, node, 30) if value.startswith("s")]
    loaded = any(map(TEST_MODULES.match, values)) and (
        "sys.modules" in text or any("sys.modules" in source.name(part) for part in children(node))
    )
    if loaded or (any(map(_INTERNALS.fullmatch, values)) and not facts.plugin):
        yield from _sniff(place, facts, hard=True)
    elif _ARGV.search(text) and any(_RUNNER.search(value) for value in values):
        yield from _sniff(place, facts, hard=True, what="looks how it was started")
    elif (any(value in TEST_VARIABLES for value in values) and _ENVIRONMENT.search(text)) or (
        source.language == "javascript"
        and _TEST_GLOBALS.search(text)
        and (" in " in text or not {"function", "undefined"}.isdisjoint(values))
    ):
        yield from _sniff(place, facts, hard=True)
    elif any(_RUNNER.search(value) for value in values) and _of_process(place, source):
        yield from _sniff(place, facts, hard=True, what="looks how it was started")
    elif _MODES.search(text) and any(value == "test" for value in values):
        yield from _sniff(place, facts, hard=False)
    elif asks_about_run(node, facts):
        yield from _sniff(place, facts, hard=True)


def _of_process(place: Place, source: Source) -> bool:
    """Whether the function around reads how its process was started."""
    if place.function is None:
        return False
    asked = ("process", place.function.start_byte)
    if asked not in source.remembered:
        source.remembered[asked] = _PROCESS.search(source.of(place.function, 4_000)) is not None
    return source.remembered[asked]


def sniffed_variable(place: Place, facts: FileFacts) -> Iterator[Act]:
    """A look at a variable that only test runners set."""
    source = facts.source
    text = source.name(place.node).replace("'", '"')
    name = re.search(r"(?:process\.env\.|import\.meta\.env\.|os\.environ\[\"|ENV\[\")(\w+)", text)
    if (name is not None and name[1] in TEST_VARIABLES) or (
        re.match(r"sys\.modules\[\"(?:_?pytest|unittest)\b", text)
        and not (
            place.around
            and place.around[-1].type == "assignment"
            and place.around[-1].child_by_field_name("left") == place.node
        )
    ):
        yield from _sniff(place, facts, hard=True)
    elif place.node.type == "subscript_expression" and re.match(r"process\.env\[", text):
        index = place.node.child_by_field_name("index")
        if index is not None and not TEST_VARIABLES.isdisjoint(facts.bindings.texts(index)):
            yield from _sniff(place, facts, hard=True)
    elif text == "import.meta.vitest":
        yield from _sniff(place, facts, hard=False)
    elif _GLOBAL_OF_TESTS.fullmatch(text) and not _is_set(place):
        yield from _sniff(place, facts, hard=True)


def sniffed_parts(place: Place, facts: FileFacts) -> Iterator[Act]:
    """`const { JEST_WORKER_ID } = process.env`."""
    source = facts.source
    pattern, value = place.node.child_by_field_name("name"), place.node.child_by_field_name("value")
    if pattern is None or pattern.type != "object_pattern" or source.name(value) != "process.env":
        return
    if not TEST_VARIABLES.isdisjoint(re.findall(r"\w+", source.of(pattern, 400))):
        yield from _sniff(place, facts, hard=True)


def sniffed_constant(place: Place, facts: FileFacts) -> Iterator[Act]:
    """`defined?(RSpec)` in Ruby."""
    if re.match(r"defined\?\s*\(?\s*(?:::)?(?:RSpec|Minitest|Test::Unit)\b", facts.source.of(place.node, 60)):
        yield from _sniff(place, facts, hard=True)


def _is_set(place: Place) -> bool:
    outer = place.around[-1] if place.around else None
    return outer is not None and outer.child_by_field_name("left") == place.node


def _sniff(
    place: Place, facts: FileFacts, *, hard: bool, what: str = "finds out whether tests are running"
) -> Iterator[Act]:
    """`hard`: there is no other reason to look. Elsewhere only an answer that depends on it is an act."""
    if facts.tooling:
        return
    source = facts.source
    branch = next(
        (outer for outer in reversed(place.around) if outer.type in BRANCHES or outer.type in _CHOICES), None
    )
    inside = branch is not None and _in_condition(place.node, branch)
    if branch is not None and inside and branch.type in BRANCHES:
        consequence = branch.child_by_field_name("consequence") or branch.child_by_field_name("body")
        alternative = branch.child_by_field_name("alternative")
        if _is_quiet(consequence, source) and (alternative is None or _is_quiet(alternative, source)):
            return
        if not hard and not (place.functions and (_returns(consequence) or _returns(alternative))):
            return
    elif not hard:
        returned = any(outer.type in RETURNS or outer.type == "arrow_function" for outer in place.around[-4:])
        if branch is None or not inside or not returned or branch.type == "boolean_operator":
            return
    yield act_of(place, facts, "sniffs-test-run", what)


def _in_condition(node: Node, branch: Node) -> bool:
    condition = branch.child_by_field_name("condition")
    if condition is None:
        return True
    return condition.start_byte <= node.start_byte and node.end_byte <= condition.end_byte


def _is_quiet(block: Node | None, source: Source) -> bool:
    """Whether a block does nothing but speak, or refuse."""
    if block is None:
        return False
    parts = children(block)
    if block.type in CALLS:
        return _QUIET.search(source.called(block)) is not None
    if block.type in _RAISES:
        return True
    if block.type in (
        "expression_statement",
        "await",
        "else_clause",
        "statement_list",
        "block",
        "statement_block",
        "then",
    ):
        return bool(parts) and all(_is_quiet(part, source) for part in parts)
    if block.type in ("assignment", "assignment_expression", "assignment_statement"):
        return _QUIET.search(source.of(block.child_by_field_name("left"), 100)) is not None
    return False


def _returns(block: Node | None) -> bool:
    pending, steps = [block] if block is not None else [], 0
    while pending and steps < 300:
        node = pending.pop()
        steps += 1
        if node.type in RETURNS and node.named_children:
            return True
        if node.type not in FUNCTIONS:
            pending.extend(node.named_children)
    return False
