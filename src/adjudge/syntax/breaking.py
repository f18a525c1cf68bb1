"""Tests made certain to fail: what a command that listens to them cannot pass.

Not to be mistaken for falsified tests, which fail for a reason of their own and are told apart from those as
written. Here all is said with the command's own exit code, so it works for every runner.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Collection
from typing import Final

__all__ = ["break_tests"]

_RAISE: Final = "raise AssertionError({word!r})"
_NO_SOURCE: Final = "<<<<<<< {word} >>>>>>>\n"
"""No compiler and no interpreter takes it for a program."""
_GO_TEST: Final = re.compile(
    rb"^func (?P<name>Test\w*)\((?P<handle>[A-Za-z]\w*) \*testing\.T\) \{", re.MULTILINE
)


def break_tests(
    path: str, source: bytes, names: Collection[str] | None = None, *, word: str = "broken"
) -> bytes:
    """A test file in which tests fail.

    Args:
        path: Its path; the suffix says its language.
        source: The file as written.
        names: Which tests, by the last part of their names; None for all. Outside of Python and Go the whole
            file is made one that cannot be loaded.
        word: What the failure says. One that nobody can foresee is one that nobody can let pass.
    """
    no_source = _NO_SOURCE.format(word=word).encode()
    if path.endswith("_test.go"):
        return _break_go(source, names, word) or no_source
    if not path.endswith(".py"):
        return no_source
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return no_source
    places = sorted(
        {
            _start(node.body[0])
            for node in ast.walk(tree)
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
            and (node.name.startswith("test") if names is None else node.name in names)
        },
        reverse=True,
    )
    if not places:
        return no_source
    lines = source.splitlines(keepends=True)
    raising = _RAISE.format(word=word).encode()
    for number, column in places:
        line = lines[number - 1]
        before = line[:column]
        # On the line of its `def`, a statement follows another after a semicolon.
        glue = b"\n" + before if not before.strip() else b"; "
        lines[number - 1] = before + raising + glue + line[column:]
    return b"".join(lines)


def _break_go(source: bytes, names: Collection[str] | None, word: str) -> bytes | None:
    """As tests that fail: what cannot be compiled says nothing of a `TestMain`. None where there are none."""
    tests = list(_GO_TEST.finditer(source))
    if names is not None:
        wanted = {name.partition("/")[0].encode() for name in names}
        tests = [test for test in tests if test["name"] in wanted] or tests
    pieces: list[bytes] = []
    at = 0
    for test in tests:
        pieces += [source[at : test.end()], b' %s.Fatal("%s");' % (test["handle"], word.encode())]
        at = test.end()
    return b"".join((*pieces, source[at:])) if tests else None


def _start(statement: ast.stmt) -> tuple[int, int]:
    """Where a statement begins, decorators included."""
    decorators = getattr(statement, "decorator_list", [])
    if decorators:
        first = min(decorators, key=lambda node: node.lineno)
        return first.lineno, max(0, first.col_offset - 1)
    return statement.lineno, statement.col_offset
