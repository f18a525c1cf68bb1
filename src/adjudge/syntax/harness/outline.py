"""From the bytes of code around tests to what it does to a run: Python, JavaScript, TypeScript, Go."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final

from tree_sitter import Node

from adjudge.records.harness import HarnessOutline
from adjudge.syntax.grammars import MAX_SOURCE_BYTES, grammar_of, parse_source
from adjudge.syntax.harness.golang import read_go
from adjudge.syntax.harness.javascript import read_javascript
from adjudge.syntax.harness.python import read_python
from adjudge.syntax.testcode.nodes import first_error, forget_texts

__all__ = ["may_steer_tests", "outline_harness"]

_READERS: Final[dict[str, Callable[[Node], HarnessOutline]]] = {
    "python": read_python,
    "javascript": read_javascript,
    "typescript": read_javascript,
    "tsx": read_javascript,
    "go": read_go,
}
_WORDS: Final = {
    "python": re.compile(
        rb"\bdef (?:pytest_\w|load_tests)|collect_ignore|\b_exit\b|\bexit\(|exitstatus|TestReport|_pytest"
        rb"|pluggy|sys\.modules|builtins|Test(?:Case|Result|Program|Runner)(?:\s*\.|\s+as\b)|\bcurse\b|success_codes"
        rb"|setattr\(\s*(?:\w+\.)*(?:pytest|\w*Test\w*|Function|Item|Session)\b|pytest\.(?:main|\w+\s*=[^=])"
        rb"|unittest\.main|runtest|\.obj\b|\breward\.|/logs/|quit\(|\bexec\(|\beval\(|marshal|addTypeEqualityFunc|TestCase\._"
    ),
    "javascript": re.compile(
        rb"expect\.extend|exitCode|process|numFail|[gG]lobal|\.prototype|testMatch|testRegex|testPathIgnore|exclude"
        rb"|include|testRunner|moduleNameMapper|testFailureExitCode|NamePattern|grep|Module|assert|defineProperty|spec"
        rb"|state|failure|runner|roots|testIgnore|alias|[mM]ock|dangerously|rootDir|\bdir\b|modulePath|rrors|replace"
        rb"|expect|remove|throw|node:test"
    ),
    "go": re.compile(rb"func TestMain\b|func init\b"),
}
"""What a file must at least mention to be worth parsing."""
_HELPER: Final = re.compile(
    r"(?i)(?:^|/)(?:tests?|spec|__tests__)/(?:.+/)?[^/]+\.py$"
    r"|(?:helpers?|utils?|common|support|assert\w*|checks?|testing|suite)[^/]*$|test\w*/[^/]+\.go$"
)
"""What tests call, by its name or place."""
_OWN_TEST: Final = re.compile(r"(?:^|/)(?:test_\w+|\w+_test|__init__|conftest)\.py$|\.(?:test|spec)\.\w+$")


def may_steer_tests(path: str, source: bytes) -> bool:
    """Whether a file is in a language that is read, and mentions anything that could matter."""
    grammar = grammar_of(path)
    if grammar is None or grammar.name not in _READERS:
        return False
    if _HELPER.search(path) and not _OWN_TEST.search(path):
        return True
    words = _WORDS["javascript" if grammar.name in ("typescript", "tsx") else grammar.name]
    return words.search(source) is not None


def outline_harness(path: str, source: bytes) -> HarnessOutline | None:
    """What a file does to a test run; None when its language is not read, or it is too large or too deep."""
    grammar = grammar_of(path)
    if grammar is None or grammar.name not in _READERS or len(source) > MAX_SOURCE_BYTES:
        return None
    root = parse_source(grammar, source)
    try:
        outline = _READERS[grammar.name](root)
    except RecursionError:
        return None
    finally:
        forget_texts()
    error = first_error(root)
    return (
        outline if error is None else outline.model_copy(update={"problem": f"line {error} does not parse"})
    )
