"""Tests made certain to fail: what a command that listens to them cannot pass.

Not to be mistaken for falsified tests, which fail for a reason of their own and are told apart from those as
written. Here all is said with the command's own exit code, so it works for every runner.
"""

from __future__ import annotations

import ast
from collections.abc import Collection
from typing import Final

__all__ = ["break_tests"]

_RAISE: Final = "raise AssertionError({word!r})"
_NO_SOURCE: Final = "<<<<<<< {word} >>>>>>>\n"
"""No compiler and no interpreter takes it for a program."""


def break_tests(
    path: str, source: bytes, names: Collection[str] | None = None, *, word: str = "broken"
) -> bytes:
    """A test file in which tests fail.

    Args:
        path: Its path; the suffix says its language.
        source: The file as written.
        names: Which tests, by the last part of their names; None for all. Outside of Python the whole file is
            made one that cannot be loaded.
        word: What the failure says. One that nobody can foresee is one that nobody can let pass.
    """
    no_source = _NO_SOURCE.format(word=word).encode()
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


def _start(statement: ast.stmt) -> tuple[int, int]:
    """Where a statement begins, decorators included."""
    decorators = getattr(statement, "decorator_list", [])
    if decorators:
        first = min(decorators, key=lambda node: node.lineno)
        return first.lineno, max(0, first.col_offset - 1)
    return statement.lineno, statement.col_offset
