"""Where a test file defines its tests, and which definition a collected test comes from.

Names are written as runners write them below the file: `test_add`, `TestAdd::test_one`. Inherited tests are
followed to a base class in the same file; what is made in any other way has no definition here. What a test
asserts is read in `sites`.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

__all__ = ["Definition", "Definitions", "Function", "called", "statements_below"]

Function = ast.FunctionDef | ast.AsyncFunctionDef

_NUMBERED = re.compile(r"_\d+(_.*)?$")
_SKIPS = frozenset({"skip", "skipif", "skipIf", "skipUnless", "skipTest", "SkipTest", "importorskip"})


@dataclass(frozen=True)
class Definition:
    """A test function; `nodes` has several when branches of an `if` define it differently."""

    name: str
    nodes: tuple[Function, ...]
    owners: tuple[ast.ClassDef, ...]
    """The classes around it, outermost first."""


class Definitions:
    """The functions and classes of one file, by name."""

    def __init__(self, tree: ast.Module) -> None:
        self._tree = tree
        self._functions: dict[str, list[Function]] = {}
        self._classes: dict[str, ast.ClassDef] = {}
        self._owners: dict[str, tuple[ast.ClassDef, ...]] = {}
        self._read(tree.body, "", ())

    def _read(self, body: Sequence[ast.stmt], prefix: str, owners: tuple[ast.ClassDef, ...]) -> None:
        for statement in statements_below(body):
            if isinstance(statement, Function):
                name = prefix + statement.name
                self._functions.setdefault(name, []).append(statement)
                self._owners[name] = owners
            elif isinstance(statement, ast.ClassDef):
                name = prefix + statement.name
                self._classes[name] = statement
                self._read(statement.body, f"{name}::", (*owners, statement))

    def function(self, name: str) -> Function | None:
        """A function of the file by name, if there is exactly one of it."""
        found = self._functions.get(name, [])
        return found[0] if len(found) == 1 else None

    def definition(self, test: str) -> Definition | None:
        """The definition behind a test's name (without parameters), wherever it is inherited from."""
        found = self._find(test, depth=0)
        if found is None and (numbered := _NUMBERED.search(test)):
            # `parameterized` and `ddt` make `test_add_0`, `test_add_1_name` out of `test_add`.
            found = self._find(test[: numbered.start()], depth=0)
            if found is not None and not any(node.decorator_list for node in found.nodes):
                return None
        return found

    def _find(self, test: str, depth: int) -> Definition | None:
        nodes = self._functions.get(test)
        if nodes:
            return Definition(test, tuple(nodes), self._owners[test])
        class_name, _, method = test.rpartition("::")
        class_ = self._classes.get(class_name)
        if class_ is None or depth > 20:
            return None
        scope = class_name.rpartition("::")[0]
        for base in class_.bases:
            if not isinstance(base, ast.Name):
                continue
            for owner in (f"{scope}::{base.id}" if scope else base.id, base.id):
                if found := self._find(f"{owner}::{method}", depth + 1):
                    return found
        return None

    @cached_property
    def _imported(self) -> dict[str, tuple[str, str]]:
        """Names taken from other modules: the module (with its leading dots) and the name there."""
        found: dict[str, tuple[str, str]] = {}
        for statement in statements_below(self._tree.body):
            if isinstance(statement, ast.ImportFrom):
                module = "." * statement.level + (statement.module or "")
                for alias in statement.names:
                    found[alias.asname or alias.name] = (module, alias.name)
        return found

    def elsewhere(self, test: str) -> list[tuple[str, str]]:
        """Where a test without a definition here may come from: modules, and its name in each."""
        head, separator, rest = test.partition("::")
        if head in self._imported:
            module, name = self._imported[head]
            return [(module, name + separator + rest)]
        class_name, _, method = test.rpartition("::")
        found = []
        for base in self._bases(class_name, 0):
            if base in self._imported:
                module, name = self._imported[base]
                found.append((module, f"{name}::{method}"))
        return found

    def _bases(self, class_name: str, depth: int) -> Iterator[str]:
        class_ = self._classes.get(class_name)
        if class_ is not None and depth < 20:
            for base in class_.bases:
                if isinstance(base, ast.Name):
                    yield base.id
                    yield from self._bases(base.id, depth + 1)

    def mentions(self, test: str) -> set[str]:
        """Other tests that a test's own code names: it may run them."""
        found = self.definition(test)
        if found is None:
            return set()
        owner = "::".join(owner.name for owner in found.owners)
        names: set[str] = set()
        for node in (node for top in found.nodes for node in ast.walk(top)):
            if isinstance(node, ast.Name) and node.id.startswith("test"):
                names.add(node.id)
            elif isinstance(node, ast.Attribute) and node.attr.startswith("test") and owner:
                names.add(f"{owner}::{node.attr}")
        return names - {test}

    @cached_property
    def tests(self) -> tuple[str, ...]:
        """Names that runners collect by default, inherited ones included, in the order of the file."""
        found: dict[str, None] = {}
        for name in self._functions:
            if "::" not in name and name.startswith("test"):
                found[name] = None
        for name, class_ in self._classes.items():
            if "::" in name and not name.rpartition("::")[2].startswith("Test"):
                continue
            if not (class_.name.startswith("Test") or self._derives_from_test_case(name, 0)):
                continue
            for method in self._methods(name, 0):
                found[f"{name}::{method}"] = None
        return tuple(found)

    @cached_property
    def unittest_tests(self) -> tuple[str, ...]:
        """Those of `tests` that unittest collects too: methods of test cases."""
        return tuple(
            name
            for name in self.tests
            if "::" in name and self._derives_from_test_case(name.rpartition("::")[0], 0)
        )

    def _methods(self, class_name: str, depth: int) -> Iterator[str]:
        class_ = self._classes.get(class_name)
        if class_ is None or depth > 20:
            return
        for base in class_.bases:
            if isinstance(base, ast.Name):
                yield from self._methods(base.id, depth + 1)
        prefix = f"{class_name}::"
        for name in self._functions:
            method = name.removeprefix(prefix)
            if name.startswith(prefix) and "::" not in method and method.startswith("test"):
                yield method

    def _derives_from_test_case(self, class_name: str, depth: int) -> bool:
        class_ = self._classes.get(class_name)
        if class_ is None or depth > 20:
            return False
        for base in class_.bases:
            name = called(base)
            if name.endswith("TestCase"):
                return True
            if isinstance(base, ast.Name) and self._derives_from_test_case(base.id, depth + 1):
                return True
        return False

    def declares_skip(self, test: str) -> bool:
        """Whether the file itself says that a test may be skipped: on it, around it, or inside it."""
        if self._module_skips:
            return True
        found = self.definition(test)
        if found is None:
            return False
        for owner in found.owners:
            body = [statement for statement in owner.body if not _is_test(statement)]
            if _mentions_skip([*owner.decorator_list, *body]):
                return True
        return _mentions_skip(found.nodes) or self._uses_skipping_function(found.nodes)

    def _uses_skipping_function(self, nodes: Iterable[ast.AST]) -> bool:
        """A fixture, decorator or helper of the same file that skips."""
        used = {node.id for top in nodes for node in ast.walk(top) if isinstance(node, ast.Name)}
        used |= {node.arg for top in nodes for node in ast.walk(top) if isinstance(node, ast.arg)}
        used |= {node.attr for top in nodes for node in ast.walk(top) if isinstance(node, ast.Attribute)}
        return bool(used & self._skipping_names)

    @cached_property
    def _skipping_names(self) -> frozenset[str]:
        found = set()
        for statement in statements_below(self._tree.body):
            if isinstance(statement, Function) and not _is_test(statement) and _mentions_skip([statement]):
                found.add(statement.name)
            if isinstance(statement, ast.Assign) and _mentions_skip([statement]):
                found |= {target.id for target in statement.targets if isinstance(target, ast.Name)}
        return frozenset(found)

    @cached_property
    def _module_skips(self) -> bool:
        for statement in statements_below(self._tree.body):
            if isinstance(statement, (ast.Assign, ast.Expr, ast.Raise)) and _mentions_skip([statement]):
                target = statement.targets[0] if isinstance(statement, ast.Assign) else None
                if not isinstance(target, ast.Name) or target.id == "pytestmark":
                    return True
                value = statement.value if isinstance(statement, ast.Assign) else None
                if isinstance(value, ast.Call) and called(value.func) == "importorskip":
                    return True
        return False


def called(func: ast.expr) -> str:
    """The last part of a dotted name, or nothing."""
    if isinstance(func, ast.Attribute):
        return func.attr
    return func.id if isinstance(func, ast.Name) else ""


def statements_below(body: Sequence[ast.stmt]) -> Iterator[ast.stmt]:
    """Statements of a module or class body, those in its conditional parts included."""
    for statement in body:
        yield statement
        match statement:
            case ast.If() | ast.For() | ast.While():
                yield from statements_below([*statement.body, *statement.orelse])
            case ast.With():
                yield from statements_below(statement.body)
            case ast.Try():
                yield from statements_below([*statement.body, *statement.orelse, *statement.finalbody])
                for handler in statement.handlers:
                    yield from statements_below(handler.body)
            case _:
                pass


def _is_test(statement: ast.stmt) -> bool:
    return isinstance(statement, Function) and statement.name.startswith("test")


def _mentions_skip(nodes: Iterable[ast.AST]) -> bool:
    return any(
        (isinstance(node, ast.Attribute) and node.attr in _SKIPS)
        or (isinstance(node, ast.Name) and node.id in _SKIPS)
        for top in nodes
        for node in ast.walk(top)
    )
