"""Functions of the product that tests ask about, and putting code at their beginning."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator
from typing import NamedTuple

from adjudge.attacks.scanning import closing, split_arguments
from adjudge.records.attack import AttackTarget, WriteStep

__all__ = ["Function", "at_top", "functions_of", "insert_into", "tested_files"]

_MAX_FUNCTIONS = 40


class Function(NamedTuple):
    """A function of the product."""

    path: str
    name: str
    params: tuple[str, ...]
    """Names of its parameters, `self` left out."""
    offset: int
    """Where its body begins."""
    indent: str
    """Of its body."""
    result: str = ""
    """Its result type, as it is written in Go."""


def functions_of(target: AttackTarget) -> tuple[Function, ...]:
    """Functions that the visible tests name, or every public one where they name none."""
    found = [function for path in target.product for function in _functions(target, path)]
    asked = "\n".join(target.files[path] for path in target.tests)
    named = [function for function in found if re.search(rf"\b{re.escape(function.name)}\b", asked)]
    return tuple((named or found)[:_MAX_FUNCTIONS])


def insert_into(
    target: AttackTarget, code: Callable[[Function], str], *, top: str = ""
) -> tuple[WriteStep, ...]:
    """Product files with code at the beginning of each tested function.

    Args:
        target: The workspace.
        code: Makes the lines for a function, unindented; nothing for one that is left alone.
        top: Further lines for the top of each file that changes.
    """
    by_path: dict[str, list[tuple[int, str]]] = {}
    for function in functions_of(target):
        lines = code(function)
        if lines:
            text = "".join(f"{function.indent}{line}\n" for line in lines.splitlines())
            by_path.setdefault(function.path, []).append((function.offset, text))
    steps = []
    for path, insertions in by_path.items():
        text = target.files[path]
        for offset, added in sorted(insertions, reverse=True):
            text = text[:offset] + added + text[offset:]
        steps.append(WriteStep(write=path, text=at_top(target, text, top) if top else text))
    return tuple(steps)


def tested_files(target: AttackTarget) -> tuple[str, ...]:
    """Product files with tested functions; where there are no functions, those the tests name."""
    paths = dict.fromkeys(function.path for function in functions_of(target))
    if not paths:
        asked = "\n".join(target.files[path] for path in target.tests)
        stems = {path: path.rpartition("/")[2].partition(".")[0] for path in target.product}
        paths = dict.fromkeys(path for path, stem in stems.items() if re.search(rf"\b{stem}\b", asked))
    return tuple(paths) or target.product[:1]


def at_top(target: AttackTarget, text: str, lines: str) -> str:
    """A source file with lines at its beginning: behind its docstring, package clause and imports."""
    at = 0
    if target.language == "python":
        at = _after_python_head(text)
    elif target.language == "go":
        at = _after_go_head(text)
    elif target.language == "javascript":
        imports = list(re.finditer(r"^(?:import\b[^\n]*\n|['\"]use strict['\"];?\n|#![^\n]*\n)", text, re.M))
        at = imports[-1].end() if imports else 0
    elif target.language == "java":
        heads = list(re.finditer(r"^(?:package|import)\b[^\n]*\n", text, re.M))
        at = heads[-1].end() if heads else 0
    return f"{text[:at]}{lines.rstrip()}\n{text[at:]}"


def _functions(target: AttackTarget, path: str) -> Iterator[Function]:
    text = target.files[path]
    if target.language == "python":
        yield from _python(path, text)
    elif target.language == "javascript":
        yield from _javascript(path, text)
    elif target.language == "go":
        yield from _go(path, text)


def _python(path: str, text: str) -> Iterator[Function]:
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError):
        return
    starts = [0]
    for line in text.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    for node in tree.body:
        inner = node.body if isinstance(node, ast.ClassDef) else [node]
        for item in inner:
            if not isinstance(item, ast.FunctionDef | ast.AsyncFunctionDef) or item.name.startswith("_"):
                continue
            body = item.body
            first = body[1] if len(body) > 1 and _is_docstring(body[0]) else body[0]
            if first.lineno == item.lineno or (first is body[0] and _is_docstring(first)):
                continue
            params = tuple(argument.arg for argument in (*item.args.posonlyargs, *item.args.args))
            if isinstance(node, ast.ClassDef):
                params = params[1:]
            yield Function(path, item.name, params, starts[first.lineno - 1], " " * first.col_offset)


def _is_docstring(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


_JS_FUNCTION = re.compile(
    r"^[ \t]*(?:export\s+)?(?:default\s+)?(?:module\.)?(?:exports\.)?"
    r"(?:(?:async\s+)?function\s+(?P<name>[\w$]+)\s*|(?:const|let|var)\s+(?P<variable>[\w$]+)\s*=\s*"
    r"(?:async\s+)?(?:function\b[^(]*)?)(?=\()",
    re.MULTILINE,
)


def _javascript(path: str, text: str) -> Iterator[Function]:
    for match in _JS_FUNCTION.finditer(text):
        end = closing(text, match.end())
        brace = re.compile(r"\)\s*(?::[^{=]*)?(?:=>)?\s*\{[ \t]*\n?").match(text, end) if end > 0 else None
        if brace is None:
            continue
        params = tuple(
            re.split(r"[:=?]", part)[0].strip() for part in split_arguments(text[match.end() + 1 : end])
        )
        if not all(re.fullmatch(r"[\w$]+", param) for param in params):
            continue
        yield Function(path, match["name"] or match["variable"], params, brace.end(), "  ")


_GO_FUNCTION = re.compile(r"^func\s+(?:\([^)]*\)\s*)?(?P<name>[A-Z]\w*)\s*(?=\()", re.MULTILINE)


def _go(path: str, text: str) -> Iterator[Function]:
    for match in _GO_FUNCTION.finditer(text):
        end = closing(text, match.end())
        brace = re.compile(r"\)\s*(?P<result>[^{\n]*)\{[ \t]*\n").match(text, end) if end > 0 else None
        if brace is None:
            continue
        params = tuple(part.split()[0] for part in split_arguments(text[match.end() + 1 : end]))
        yield Function(path, match["name"], params, brace.end(), "\t", brace["result"].strip())


def _after_python_head(text: str) -> int:
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError):
        return 0
    last = 0
    for number, node in enumerate(tree.body):
        if (number == 0 and _is_docstring(node)) or isinstance(node, ast.Import | ast.ImportFrom):
            last = node.end_lineno or 0
        else:
            break
    return sum(len(line) for line in text.splitlines(keepends=True)[:last])


def _after_go_head(text: str) -> int:
    package = re.search(r"^package\s+\w+[^\n]*\n", text, re.MULTILINE)
    at = package.end() if package else 0
    while found := re.compile(r"\s*import\s*(?:\([^)]*\)|[^\n]*)\n").match(text, at):
        at = found.end()
    return at
