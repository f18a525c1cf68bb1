"""The places where a test can be made false: its assertions, and what each would take.

A *strong* site changes the expected value (or the exception) itself, which an object that claims to equal
everything cannot follow; a *weak* one turns the comparison round, where no value is written down. A site is
*certain* when the statement is reached whenever the test passes as written.
"""

from __future__ import annotations

import ast
import builtins
import random
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from adjudge.syntax.python.definitions import Definitions, Function, called
from adjudge.syntax.python.expected import Binding, Choice, ExpectedValues
from adjudge.syntax.python.parametrize import parametrizations
from adjudge.syntax.python.source import Edit, PythonSource

__all__ = ["Site", "find_sites"]

_EQUAL = frozenset(
    (
        "assertEqual",
        "assertEquals",
        "assertAlmostEqual",
        "assertAlmostEquals",
        "assertListEqual",
        "assertTupleEqual",
        "assertSetEqual",
        "assertDictEqual",
        "assertSequenceEqual",
        "assertMultiLineEqual",
        "assertCountEqual",
        "assertItemsEqual",
        "assert_equal",
        "assert_array_equal",
        "assert_allclose",
        "assert_almost_equal",
        "assert_array_almost_equal",
        "eq_",
    )
)
_OPPOSITE = {
    "assertEqual": "assertNotEqual",
    "assertNotEqual": "assertEqual",
    "assertAlmostEqual": "assertNotAlmostEqual",
    "assertNotAlmostEqual": "assertAlmostEqual",
    "assertTrue": "assertFalse",
    "assertFalse": "assertTrue",
    "assertIs": "assertIsNot",
    "assertIsNot": "assertIs",
    "assertIsNone": "assertIsNotNone",
    "assertIsNotNone": "assertIsNone",
    "assertIn": "assertNotIn",
    "assertNotIn": "assertIn",
    "assertIsInstance": "assertNotIsInstance",
    "assertNotIsInstance": "assertIsInstance",
    "assertGreater": "assertLessEqual",
    "assertLessEqual": "assertGreater",
    "assertLess": "assertGreaterEqual",
    "assertGreaterEqual": "assertLess",
    "assertRegex": "assertNotRegex",
    "assertNotRegex": "assertRegex",
    "assert_called": "assert_not_called",
    "assert_called_once": "assert_not_called",
    "assert_not_called": "assert_called",
    "assert_awaited": "assert_not_awaited",
    "assert_awaited_once": "assert_not_awaited",
    "assert_not_awaited": "assert_awaited",
}
_CALLED_WITH = frozenset(
    (
        "assert_called_with",
        "assert_called_once_with",
        "assert_any_call",
        "assert_awaited_with",
        "assert_awaited_once_with",
        "assert_any_await",
    )
)
_RAISES = frozenset({"raises", "assertRaises", "assertRaisesRegex", "assertRaisesRegexp"})
_WARNS = frozenset({"warns", "assertWarns", "assertWarnsRegex"})
_TURNED: dict[type[ast.cmpop], tuple[str, str]] = {
    ast.Eq: (r"==", "!="),
    ast.NotEq: (r"!=", "=="),
    ast.Is: (r"\bis\b", "is not"),
    ast.IsNot: (r"\bis\s+not\b", "is"),
    ast.In: (r"\bin\b", "not in"),
    ast.NotIn: (r"\bnot\s+in\b", "in"),
    ast.Lt: (r"<(?!=)", ">="),
    ast.LtE: (r"<=", ">"),
    ast.Gt: (r">(?!=)", "<="),
    ast.GtE: (r">=", "<"),
}
_COMMON_EXCEPTIONS = (
    "TypeError",
    "ValueError",
    "KeyError",
    "IndexError",
    "AttributeError",
    "RuntimeError",
    "OSError",
    "ZeroDivisionError",
)
"""For tests that expect a built-in exception: any of these might have been written there."""
_RARE_EXCEPTIONS = (
    "IndexError",
    "ZeroDivisionError",
    "ImportError",
    "PermissionError",
    "EOFError",
    "FileExistsError",
    "RecursionError",
)
"""For tests that expect an exception of the project, which may derive from a common one."""
_OTHER_WARNINGS = ("BytesWarning", "UnicodeWarning", "ImportWarning", "SyntaxWarning")
_PLAIN_CALLS = frozenset(
    ("str", "repr", "ascii", "format", "list", "tuple", "set", "frozenset", "dict", "sorted", "bytes", "vars",
     "dir", "open", "read", "read_text", "read_bytes", "readlines", "getvalue", "getdata", "get_data",
     "readouterr", "dumps", "join", "lower", "upper", "casefold", "strip", "rstrip", "lstrip", "split",
     "splitlines", "rsplit", "replace", "decode", "encode", "keys", "values", "items", "group", "groups",
     "check_output", "getoutput", "format_exc", "get_text", "prettify", "as_string", "hexdigest", "mro",
     "listdir", "dedent", "pformat")
)  # fmt: skip
"""Functions and methods that give text, bytes or a plain collection."""
_PLAIN_NAMES = frozenset(
    ("out", "err", "stdout", "stderr", "output", "text", "message", "msg", "messages", "body", "content",
     "html", "xml", "args", "__doc__", "__name__", "__dict__", "__all__", "lines", "log", "caplog", "environ",
     "modules", "argv", "title", "description", "help", "usage", "printed", "rendered", "reason", "sql")
)  # fmt: skip
"""Names that stand for text or a plain collection of it in almost every test."""
_MOST_APART = 1.0
_MOST_OF_IT = 0.03
"""Tolerances, absolute and relative, that no changed number lies in: it is three or a tenth away at least."""
_TOLERANCES = {
    "abs": _MOST_APART, "abs_tol": _MOST_APART, "atol": _MOST_APART, "delta": _MOST_APART,
    "rel": _MOST_OF_IT, "rel_tol": _MOST_OF_IT, "rtol": _MOST_OF_IT,
}  # fmt: skip
_TOLERANT = {"approx": 1, "allclose": 2, "assert_allclose": 2}
"""Functions that take tolerances by position, and from which one on."""
_LONG_ENOUGH = 4
"""A shorter string, changed, may be found in the text after all."""


@dataclass(frozen=True)
class Site:
    """One way to make a test false."""

    statement: int
    """Sites of one statement share it; at most one of them is used, two could cancel each other."""
    strong: bool
    certain: bool
    choice: Choice


def find_sites(
    source: PythonSource,
    definitions: Definitions,
    function: Function,
    owners: Sequence[ast.ClassDef],
    constants: Mapping[str, ast.expr],
    random_: random.Random,
    known_parameters: Collection[str] = (),
) -> list[Site]:
    """Every site of a test function. `constants` are module names bound once."""
    finder = _Finder(
        source, definitions, function, tuple(owners), constants, random_, known_parameters=known_parameters
    )
    finder.visit(function.body, certain=True)
    return finder.sites


@dataclass
class _Finder:
    source: PythonSource
    definitions: Definitions
    function: Function
    owners: tuple[ast.ClassDef, ...]
    constants: Mapping[str, ast.expr]
    random: random.Random
    known_parameters: Collection[str]
    sites: list[Site] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.values = ExpectedValues(self.source, self.random)
        self.values.bindings = self._bindings()

    # What names stand for.

    def _bindings(self) -> dict[str, Binding]:
        found: dict[str, Binding] = {}
        arguments = {argument.arg for argument in _arguments(self.function)}
        stores: dict[str, int] = {}
        loads: dict[str, set[int]] = {}
        nodes = list(ast.walk(self.function))
        for node in nodes:
            if isinstance(node, ast.Name):
                if isinstance(node.ctx, ast.Load):
                    loads.setdefault(node.id, set()).add(id(node))
                else:
                    stores[node.id] = stores.get(node.id, 0) + 1
            elif isinstance(node, (ast.Global, ast.Nonlocal)):
                stores.update(dict.fromkeys(node.names, 2))
        compared = {id(name) for name in self._compared_names(nodes)}

        def only_compared(name: str) -> bool:
            return loads.get(name, set()) <= compared

        for rows in parametrizations(self.function, self.constants, self.known_parameters):
            if rows.ids is None:
                continue
            for at, name in enumerate(rows.names):
                if name in arguments and name not in stores and only_compared(name):
                    found[name] = Binding(tuple(row[at] for row in rows.rows), every=True, rows=rows)
        for node in ast.walk(self.function):
            match node:
                case (
                    ast.Assign(targets=[ast.Name(id=name)], value=value)
                    | ast.AnnAssign(target=ast.Name(id=name), value=ast.expr() as value)
                ):
                    if stores.get(name) == 1 and name not in arguments and only_compared(name):
                        found[name] = Binding((value,), every=False)
                case ast.For():
                    for name, values in _loop_columns(node):
                        if stores.get(name) == 1 and name not in arguments and only_compared(name):
                            found[name] = Binding(values, every=False)
                case _:
                    pass
        return found

    def _compared_names(self, nodes: Sequence[ast.AST]) -> Iterator[ast.Name]:
        # What a predicate compares is asked of each item, and part of what the product is given.
        of_predicates = {
            id(inner)
            for node in nodes
            if isinstance(node, (ast.Lambda, ast.comprehension))
            for inner in ast.walk(node)
        }
        for node in nodes:
            match node:
                case ast.Compare(ops=[ast.Eq()], comparators=[right]) if id(node) not in of_predicates:
                    sides = [list(self.values.names(node.left)), list(self.values.names(right))]
                    # A value on both sides changes both, and the comparison still holds.
                    both = {name.id for name in sides[0]} & {name.id for name in sides[1]}
                    yield from (name for side in sides for name in side if name.id not in both)
                case ast.Call() if called(node.func) in _EQUAL:
                    for argument in node.args[:2]:
                        yield from self.values.names(argument)
                case ast.Call():
                    for argument in self._compared_arguments(node):
                        yield from self.values.names(argument)
                case _:
                    pass

    # Statements.

    def visit(self, body: Sequence[ast.stmt], *, certain: bool) -> None:
        for statement in body:
            certain = self._statement(statement, certain=certain) and certain

    def _statement(self, statement: ast.stmt, *, certain: bool) -> bool:
        """Find the sites of one statement; returns whether what follows it is still reached for certain."""
        match statement:
            case ast.Assert():
                self._true(statement.test, certain=certain, statement=id(statement))
            case ast.Expr(value=value) | ast.Return(value=ast.expr() as value):
                if isinstance(value, ast.Await):
                    value = value.value
                if isinstance(value, ast.Call):
                    self._call(value, certain=certain, statement=id(statement))
                return not isinstance(statement, ast.Return)
            case ast.Assign(value=ast.Call() as value):
                self._raises(value, certain=certain, statement=id(statement))
            case ast.With() | ast.AsyncWith():
                self._with(statement, certain=certain)
            case ast.For(iter=iterable):
                self.visit(statement.body, certain=certain and _surely_entered(iterable))
                return not _leaves(statement, (ast.Return,))
            case ast.If() | ast.While() | ast.AsyncFor():
                self.visit([*statement.body], certain=False)
                self.visit([*statement.orelse], certain=False)
                return not _leaves(statement, (ast.Return, ast.Continue, ast.Break))
            case ast.Try():
                if not any(_catches_assertions(handler) for handler in statement.handlers):
                    self.visit(statement.body, certain=certain and not statement.handlers)
                    self.visit(statement.orelse, certain=False)
                self.visit(statement.finalbody, certain=certain)
                return not _leaves(statement, (ast.Return,))
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                self.visit(statement.body, certain=False)
            case _:
                pass
        return not isinstance(statement, (ast.Return, ast.Raise))

    def _with(self, statement: ast.With | ast.AsyncWith, *, certain: bool) -> None:
        expects_error = False
        for item in statement.items:
            if not isinstance(item.context_expr, ast.Call):
                continue
            call = item.context_expr
            self._raises(call, certain=certain, statement=id(item))
            name = called(call.func)
            expects_error = expects_error or name in _RAISES or "suppress" in name
        if not expects_error:
            self.visit(statement.body, certain=certain)

    # Expressions that have to hold.

    def _add(self, statement: int, *, strong: bool, certain: bool, choices: Sequence[Choice]) -> bool:
        self.sites += [Site(statement, strong, certain, choice) for choice in choices]
        return bool(choices)

    def _true(self, node: ast.expr, *, certain: bool, statement: int) -> None:
        """Sites that make an expression false which holds as written."""
        match node:
            case ast.BoolOp(op=ast.And()):
                for value in node.values:
                    self._true(value, certain=certain, statement=statement)
            case ast.Compare(ops=[operator], comparators=[right]):
                strong = self._compared(node.left, operator, right)
                told = certain and self._tells_apart(node.left, operator, right)
                self._add(statement, strong=True, certain=told, choices=strong)
                self._add(statement, strong=False, certain=certain, choices=self._turned(node, operator))
            case ast.UnaryOp(op=ast.Not()):
                # `not` is a word of its own, so what follows it may stand in its place.
                edit = Edit(self.source.start(node), self.source.start(node.operand), "")
                text = self.source.between(edit.start, edit.end)
                edit = Edit(edit.start, edit.end, text.replace("not", "", 1).lstrip(" "))
                self._add(statement, strong=False, certain=certain, choices=[Choice((edit,))])
            case ast.Call() if called(node.func) in ("startswith", "endswith") and node.args:
                self._add(statement, strong=True, certain=certain, choices=self._found(node.args[0]))
                self._negated(node, certain=certain, statement=statement)
            case ast.Call() if called(node.func) in ("isclose", "allclose", "array_equal"):
                choices = [choice for value in node.args[:2] for choice in self.values.choices(value)]
                told = certain and not self._is_lenient(node)
                self._add(statement, strong=True, certain=told, choices=choices)
                self._negated(node, certain=certain, statement=statement)
            case ast.Constant():
                pass
            case _:
                self._negated(node, certain=certain, statement=statement)

    def _negated(self, node: ast.expr, *, certain: bool, statement: int) -> None:
        start, end = self.source.start(node), self.source.end(node)
        edits = (Edit(start, start, "not ("), Edit(end, end, ")"))
        if start == end or isinstance(node, (ast.NamedExpr, ast.Lambda, ast.Yield)):
            return
        self._add(statement, strong=False, certain=certain, choices=[Choice(edits)])

    def _compared(self, left: ast.expr, operator: ast.cmpop, right: ast.expr) -> list[Choice]:
        match operator:
            case ast.Eq():
                return [*self.values.choices(right), *self.values.choices(left)]
            case ast.Is():
                for side in (right, left):
                    if isinstance(side, ast.Constant) and isinstance(side.value, bool):
                        return self.values.choices(side)
                return []
            case ast.In():
                return self._found(left)
            case ast.Lt() | ast.LtE():
                # abs(got - 1.5) < tolerance
                if (
                    isinstance(left, ast.Call)
                    and called(left.func) in ("abs", "fabs")
                    and len(left.args) == 1
                ):
                    return self.values.choices(left.args[0])
                return []
            case _:
                return []

    def _found(self, needle: ast.expr) -> list[Choice]:
        """Ways to change a string that is found in a longer one, so that it is not."""
        if not (isinstance(needle, ast.Constant) and isinstance(needle.value, (str, bytes))):
            return []
        return self.values.choices(needle) if len(needle.value) >= _LONG_ENOUGH else []

    def _tells_apart(self, left: ast.expr, operator: ast.cmpop, right: ast.expr) -> bool:
        """Whether a comparison tells the value that is written down from the one in its place."""
        match operator:
            case ast.In():
                return self._holds_what_it_shows(right)
            case ast.Eq():
                calls = [part for side in (left, right) for part in ast.walk(side)]
                return not any(isinstance(part, ast.Call) and self._is_lenient(part) for part in calls)
            case ast.Lt() | ast.LtE():
                return not self._is_large(right, _MOST_APART)
            case _:
                return True

    def _is_lenient(self, call: ast.Call) -> bool:
        """Whether a call compares with a tolerance that a changed value may lie in."""
        limits = [
            (keyword.value, _TOLERANCES[keyword.arg])
            for keyword in call.keywords
            if keyword.arg is not None and keyword.arg in _TOLERANCES
        ]
        first = _TOLERANT.get(called(call.func))
        if first is not None:
            limits += [(value, _MOST_OF_IT) for value in call.args[first:]]
        return any(self._is_large(value, most) for value, most in limits)

    def _is_large(self, node: ast.expr, most: float) -> bool:
        value = self.constants.get(node.id) if isinstance(node, ast.Name) else node
        if isinstance(value, ast.Constant) and value.value is None:
            return False
        number = value.value if isinstance(value, ast.Constant) else None
        return not isinstance(number, (int, float)) or number > most

    def _holds_what_it_shows(self, holder: ast.expr, depth: int = 0) -> bool:
        """Whether something is text or a plain collection, so that a changed value is not found in it.

        What a project makes itself may hold far more than was put in: a network its addresses, a range its
        numbers, a pattern all that matches.
        """
        match holder:
            case ast.Constant() | ast.JoinedStr() | ast.List() | ast.Tuple() | ast.Set() | ast.Dict():
                return True
            case ast.ListComp() | ast.SetComp() | ast.DictComp():
                return True
            case ast.Call():
                return called(holder.func) in _PLAIN_CALLS
            case ast.Attribute():
                return holder.attr in _PLAIN_NAMES
            case ast.Subscript(value=value):
                return depth < 3 and self._holds_what_it_shows(value, depth + 1)
            case ast.BinOp(op=ast.Add(), left=left, right=right):
                return depth < 3 and any(self._holds_what_it_shows(one, depth + 1) for one in (left, right))
            case ast.Name(id=name):
                return name in _PLAIN_NAMES or self._is_bound_plainly(name, depth)
            case _:
                return False

    def _is_bound_plainly(self, name: str, depth: int) -> bool:
        bound = [
            node.value
            for node in ast.walk(self.function)
            if isinstance(node, ast.Assign)
            and any(isinstance(target, ast.Name) and target.id == name for target in node.targets)
        ]
        value = bound[0] if len(bound) == 1 else self.constants.get(name) if not bound else None
        return value is not None and depth < 3 and self._holds_what_it_shows(value, depth + 1)

    def _turned(self, node: ast.Compare, operator: ast.cmpop) -> list[Choice]:
        pattern, opposite = _TURNED[type(operator)]
        start, end = self.source.end(node.left), self.source.start(node.comparators[0])
        gap = self.source.between(start, end)
        found = None if "#" in gap else re.search(pattern, gap)
        if found is None:
            return []
        at = start + len(gap[: found.start()].encode())
        return [Choice((Edit(at, at + len(found.group().encode()), opposite),))]

    # Calls that assert.

    def _call(self, call: ast.Call, *, certain: bool, statement: int) -> None:
        name = called(call.func)
        if self._raises(call, certain=certain, statement=statement):
            return
        strong: list[Choice] = []
        told = not self._is_lenient(call)
        if name in _EQUAL:
            strong = [choice for value in call.args[:2] for choice in self.values.choices(value)]
        elif name in ("assertIs",):
            strong = [
                choice
                for value in call.args[:2]
                if isinstance(value, ast.Constant) and isinstance(value.value, bool)
                for choice in self.values.choices(value)
            ]
        elif name in ("assertTrue",) and call.args:
            before = len(self.sites)
            self._true(call.args[0], certain=certain, statement=statement)
            # Weak ways inside the argument are one and the same as calling the opposite method.
            self.sites[before:] = [site for site in self.sites[before:] if site.strong]
        elif name in ("assertIn", "assertContains") and call.args:
            strong = self._found(call.args[0 if name == "assertIn" else -1])
            told = name != "assertIn" or len(call.args) < 2 or self._holds_what_it_shows(call.args[1])
        elif name in ("assertRegex", "assertRegexpMatches") and len(call.args) > 1:
            strong = self.values.pattern(call.args[1])
        elif name in _CALLED_WITH:
            self._called_with(call, certain=certain, statement=statement)
            return
        elif name == "assert_has_calls" and call.args:
            strong = self.values.choices(call.args[0])
        elif name not in _OPPOSITE:
            self._helper(call, certain=certain, statement=statement)
            return
        self._add(statement, strong=True, certain=certain and told, choices=strong)
        if name in _OPPOSITE:
            self._add(
                statement, strong=False, certain=certain, choices=[self._renamed(call, _OPPOSITE[name])]
            )

    def _renamed(self, call: ast.Call, new: str) -> Choice:
        end = self.source.end(call.func)
        return Choice((Edit(end - len(called(call.func)), end, new),))

    def _called_with(self, call: ast.Call, *, certain: bool, statement: int) -> None:
        values = [*call.args, *(keyword.value for keyword in call.keywords)]
        choices = [choice for value in values for choice in self.values.choices(value)]
        if not choices and not call.keywords and not any(isinstance(arg, ast.Starred) for arg in call.args):
            end = self.source.end(call.args[-1] if call.args else call.func)
            number = str(self.random.randrange(3, 10))
            choices = [
                Choice((Edit(end, end, f", {number}") if call.args else Edit(end + 1, end + 1, number),))
            ]
        self._add(statement, strong=True, certain=certain, choices=choices)

    def _raises(self, call: ast.Call, *, certain: bool, statement: int) -> bool:
        name = called(call.func)
        if name not in _RAISES | _WARNS or not call.args or isinstance(call.args[0], ast.Starred):
            return False
        matched = [keyword.value for keyword in call.keywords if keyword.arg == "match"]
        if "Regex" in name and len(call.args) > 1:
            matched.append(call.args[1])
        choices = [choice for value in matched for choice in self.values.pattern(value)]
        others = self._other_exceptions(call.args[0], _WARNS if name in _WARNS else _RAISES)
        if not choices and others:
            edit = self.source.replace(call.args[0], self.random.choice(others))
            choices = [Choice((edit,), wide=False)]
        self._add(statement, strong=True, certain=certain, choices=choices)
        return True

    def _other_exceptions(self, node: ast.expr, kind: frozenset[str]) -> list[str]:
        if "\n" in self.source.segment(node):
            return []
        written = [part for part in ast.walk(node) if isinstance(part, (ast.Name, ast.Attribute))]
        kinds = [getattr(builtins, part.id, None) for part in written if isinstance(part, ast.Name)]
        classes = [found for found in kinds if isinstance(found, type)]
        names: tuple[str, ...]
        if kind is _WARNS:
            names = _OTHER_WARNINGS
        else:
            names = _COMMON_EXCEPTIONS if len(classes) == len(written) else _RARE_EXCEPTIONS
        if any(found in (Exception, BaseException, Warning) for found in classes):
            return ["BytesWarning" if kind is _WARNS else "BufferError"]
        return [
            name
            for name in names
            if not any(
                issubclass(getattr(builtins, name), found) or issubclass(found, getattr(builtins, name))
                for found in classes
            )
        ]

    def _helper(self, call: ast.Call, *, certain: bool, statement: int) -> None:
        """A function of the same file that compares what it is given."""
        choices = [
            choice for value in self._compared_arguments(call) for choice in self.values.choices(value)
        ]
        if choices:
            self._add(statement, strong=True, certain=certain, choices=choices)
        elif called(call.func).lower().startswith(("assert", "check", "expect", "verify")):
            values = [*call.args, *(keyword.value for keyword in call.keywords)]
            choices = [
                choice
                for value in values
                if isinstance(value, (ast.Constant, ast.List, ast.Tuple, ast.Dict))
                and not (isinstance(value, ast.Constant) and isinstance(value.value, bool))
                for choice in self.values.choices(value)
            ]
            self._add(statement, strong=True, certain=False, choices=choices)

    def _compared_arguments(self, call: ast.Call) -> list[ast.expr]:
        helper: Function | None = None
        skip = 0
        if isinstance(call.func, ast.Name):
            helper = self.definitions.function(call.func.id)
        elif (
            isinstance(call.func, ast.Attribute)
            and isinstance(call.func.value, ast.Name)
            and call.func.value.id in ("self", "cls")
            and self.owners
        ):
            owner = "::".join(owner.name for owner in self.owners)
            found = self.definitions.definition(f"{owner}::{call.func.attr}")
            helper = found.nodes[0] if found is not None and len(found.nodes) == 1 else None
            skip = 0 if helper is not None and _is_static(helper) else 1
        if helper is None or helper is self.function:
            return []
        wanted = self._compared_parameters(helper)
        positional = [*helper.args.posonlyargs, *helper.args.args][skip:]
        given: list[ast.expr] = []
        for parameter, argument in zip(positional, call.args, strict=False):
            if isinstance(argument, ast.Starred):
                break
            if parameter.arg in wanted:
                given.append(argument)
        return given + [keyword.value for keyword in call.keywords if keyword.arg in wanted]

    def _compared_parameters(self, helper: Function) -> set[str]:
        """Parameters of a helper that it does nothing with but compare, in a statement always reached."""
        parameters = {argument.arg for argument in _arguments(helper)}
        loads: dict[str, int] = {}
        compared: dict[str, int] = {}
        for node in ast.walk(helper):
            if isinstance(node, ast.Name) and node.id in parameters:
                loads[node.id] = loads.get(node.id, 0) + (1 if isinstance(node.ctx, ast.Load) else 99)
        for statement in helper.body:
            sides: list[ast.expr] = []
            match statement:
                case ast.Assert(test=ast.Compare(ops=[ast.Eq()], comparators=[right], left=left)):
                    sides = [left, right]
                case ast.Expr(value=ast.Call() as inner) if called(inner.func) in _EQUAL:
                    sides = list(inner.args[:2])
                case ast.Return() | ast.If() | ast.Try():
                    if _leaves(statement, (ast.Return,)):
                        break
                case _:
                    pass
            for side in sides:
                if isinstance(side, ast.Name):
                    compared[side.id] = compared.get(side.id, 0) + 1
        return {name for name in parameters if compared.get(name) and compared[name] == loads.get(name)}


def _arguments(function: Function) -> list[ast.arg]:
    return [*function.args.posonlyargs, *function.args.args, *function.args.kwonlyargs]


def _is_static(function: Function) -> bool:
    return any(called(decorator) == "staticmethod" for decorator in function.decorator_list)


def _loop_columns(loop: ast.For) -> Iterator[tuple[str, tuple[ast.expr, ...]]]:
    """Names a loop binds to values written in its own head."""
    match loop.iter:
        case ast.List() | ast.Tuple():
            rows = loop.iter.elts
        case ast.Call(func=ast.Attribute(value=ast.Dict() as mapping, attr="items"), args=[]):
            if isinstance(loop.target, ast.Tuple) and isinstance(loop.target.elts[-1], ast.Name):
                yield loop.target.elts[-1].id, tuple(mapping.values)
            return
        case _:
            return
    if isinstance(loop.target, ast.Name):
        yield loop.target.id, tuple(rows)
    elif isinstance(loop.target, ast.Tuple):
        wide = [row.elts for row in rows if isinstance(row, (ast.Tuple, ast.List))]
        if len(wide) != len(rows) or any(len(row) != len(loop.target.elts) for row in wide):
            return
        for at, target in enumerate(loop.target.elts):
            if isinstance(target, ast.Name):
                yield target.id, tuple(row[at] for row in wide)


def _surely_entered(iterable: ast.expr) -> bool:
    match iterable:
        case ast.List(elts=[_, *_]) | ast.Tuple(elts=[_, *_]):
            return True
        case ast.Call(func=ast.Name(id="range"), args=[ast.Constant(value=int(count))]):
            return count > 0
        case ast.Call(func=ast.Attribute(value=ast.Dict(keys=[_, *_]), attr="items")):
            return True
        case ast.Call(func=ast.Name(id="enumerate" | "zip" | "reversed" | "sorted"), args=[first, *_]):
            return _surely_entered(first)
        case _:
            return False


def _leaves(statement: ast.stmt, kinds: tuple[type[ast.stmt], ...]) -> bool:
    return any(isinstance(node, kinds) for node in ast.walk(statement))


def _catches_assertions(handler: ast.ExceptHandler) -> bool:
    if handler.type is None:
        return True
    names = {called(node) for node in ast.walk(handler.type) if isinstance(node, ast.expr)}
    return bool(names & {"AssertionError", "Exception", "BaseException", "failureException"})
