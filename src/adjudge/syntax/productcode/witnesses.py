"""What tells a program how it was started: environment, modules, arguments, callers, parents.

A question is one about the test run where what it is asked of comes from such a witness and what is looked
for is a name that only test runs have, wherever in the file either is written down.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from tree_sitter import Node

from adjudge.syntax.productcode.bindings import NAMES
from adjudge.syntax.productcode.facts import TEST_MODULES, FileFacts
from adjudge.syntax.productcode.literals import literals_in

__all__ = ["TEST_VARIABLES", "asks_about_run", "names_in_question", "of_environment"]

TEST_VARIABLES: Final = frozenset(
    {"PYTEST_CURRENT_TEST", "PYTEST_VERSION", "PYTEST_XDIST_WORKER", "PYTEST_RUN_CONFIG", "JEST_WORKER_ID",
     "VITEST", "VITEST_WORKER_ID", "VITEST_POOL_ID", "VITEST_MODE", "NODE_TEST_CONTEXT", "MOCHA_WORKER_ID",
     "NOSE_TESTING", "GO_TEST", "RSPEC_RUNNING", "CARGO_TARGET_TMPDIR", "TEST_UNDECLARED_OUTPUTS_DIR",
     "PYTEST_PLUGINS", "PYTEST_ADDOPTS", "PYTEST_DISABLE_PLUGIN_AUTOLOAD"}
)  # fmt: skip
_VARIABLE: Final = re.compile(
    r"_?(?:PYTEST|JEST|VITEST|NODE_TEST|MOCHA|RSPEC)(?:_\w*)?|_?(?:CURRENT_TEST|TEST_CONTEXT|XDIST_WORKER)"
)
_RUNNERS: Final = (
    r"py\.?test|unittest|jest|mocha|vitest|junit|rspec|minitest|testng|nose|jasmine|karma|surefire"
)
_STARTER: Final = re.compile(
    rf"(?i)(?:^|[^a-z])(?:{_RUNNERS})(?:[^a-z]|$)|\.test(?:$|\.)|_test\.go|^-test\.|^--test$|\.spec\b"
)
_CALLER: Final = re.compile(
    rf"{_STARTER.pattern}|(?:^|/)test_|^test[_.]|/tests?(?:/|$)|_(?:test|spec)\.rb|testing\.t|^tests?$"
)
_MODULE: Final = re.compile(rf"{TEST_MODULES.pattern}")
_BUILT: Final = re.compile(rf"{_STARTER.pattern}|deps(?:/|$)")
_SWITCH: Final = re.compile(r"^-test\.|^--test$|\.test\.")
_WITNESSES: Final = (
    (re.compile(r"\bos\.environ\b|\benviron\b|process\.env\b|os\.Environ\(|\bENV\b"), _VARIABLE),
    (re.compile(r"\bsys\.modules\b"), _MODULE),
    (re.compile(
        r"\bargv\[[01]\]|\borig_argv\b|\bos\.Args\[0\]|\bexecArgv\b|\$0|\$PROGRAM_NAME|\bprocess\.title\b"
        r"|\bos\.Executable\(|\bcurrent_exe\("
    ), _BUILT),
    (re.compile(r"\bos\.Args\b|\bprocess\.argv\b|\bsys\.argv\b"), _SWITCH),
    (re.compile(
        r"inspect\.(?:stack|currentframe|getouterframes|getframeinfo)|_getframe|extract_stack|format_stack|\.stack\b"
        r"|runtime\.Callers?\b|debug\.Stack\(|getStackTrace|\bcaller(?:_locations)?\b|\bf_back\b|walk_stack"
    ), _CALLER),
    (re.compile(
        r"/proc/(?:self|\d+|\{|%d|\"|')|\bcmdline\b|\bpsutil\b|getppid|process\.ppid|Getppid"
        r"|[\"']ps[\"']|[\"']ps -"
    ), _STARTER),
    (re.compile(
        r"__main__\b.*__file__|modules\[.__main__.\]|require\.main\b|module\.parent\b|require\.cache\b"
    ), _CALLER),
)  # fmt: skip
_ANY: Final = re.compile("|".join(witness.pattern for witness, _ in _WITNESSES))
_REGEX: Final = re.compile(r"/((?:[^/\\\n]|\\.){2,80})/[gimsuy]*(?=\.|\s*[,)])")
_MAX_TEXT: Final = 300


def asks_about_run(node: Node, facts: FileFacts) -> bool:
    """Whether a question is asked of a witness, for a name that only test runs have."""
    source = facts.source
    asked = ("witness",)
    if asked not in source.remembered:
        aliased = " ".join(source.aliases.values())
        source.remembered[asked] = _ANY.search(f"{source.text}\n{aliased}") is not None
    if not source.remembered[asked]:
        return False
    names = list(names_in_question(node, facts))
    if not any(_CALLER.search(name) or _VARIABLE.match(name) or _BUILT.search(name) for name in names):
        return False
    said = "\n".join(_said(node, facts))
    return any(
        witness.search(said) and any(looked_for.search(name) for name in names)
        for witness, looked_for in _WITNESSES
    )


def names_in_question(node: Node, facts: FileFacts) -> Iterator[str]:
    """The texts that a question looks for, wherever they are written down."""
    source = facts.source
    for part in facts.bindings.reached(node, 2):
        if part is not node and part.end_byte - part.start_byte > 1_000:
            continue
        for _, value in literals_in(source, part, 40):
            if value.startswith("s") and len(value) < 80:
                yield value[1:]
        for found in _REGEX.finditer(source.of(part, _MAX_TEXT)):
            yield re.sub(r"\\(.)", r"\1", found[1]).strip("^$")
    for part in node.named_children:
        if part.type in NAMES or part.type == "argument_list":
            yield from facts.bindings.texts(part.named_children[0] if part.named_children else part)


def of_environment(name: str, facts: FileFacts) -> bool:
    """Whether a function of the file looks up the variable that it is given."""
    function = facts.bindings.function(name)
    return function is not None and (
        re.search(
            r"\benviron\b|getenv|Getenv|LookupEnv|process\.env\b|env::var|\bENV\[",
            facts.source.of(function, 600),
        )
        is not None
    )


def _said(node: Node, facts: FileFacts) -> Iterator[str]:
    """What a question is asked of, with what its names stand for."""
    source = facts.source
    for part in facts.bindings.reached(node, 3):
        text = source.of(part, _MAX_TEXT)
        yield text
        for word in re.findall(r"[A-Za-z_]\w*", text)[:40]:
            full = source.aliases.get(word)
            if full is not None:
                yield full
