"""The tests of a JavaScript or TypeScript file: `it`, `test`, `describe`, with their checks and skips."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

from tree_sitter import Node

from adjudge.records.testcode import Check, CheckState, SkipCondition, SkipMark, SuiteOutline, WrittenTest
from adjudge.syntax.bodies import text_of
from adjudge.syntax.testcode.flow import (
    TABLES,
    called_checks,
    new_reading,
    read_block,
    read_expression,
    table_rows,
)
from adjudge.syntax.testcode.javascript.checks import check_of, property_check
from adjudge.syntax.testcode.nodes import (
    MAX_DEPTH,
    UNKNOWN_CASES,
    Passes,
    arguments_of,
    body_identity,
    called_names,
    children,
    descendants,
    line_of,
    literals_in,
    names_in,
    plain,
    shown,
)
from adjudge.syntax.testcode.reading import (
    Around,
    Dialect,
    Helper,
    Reading,
    depends,
    is_literal,
    mark,
    when,
)

__all__ = ["read_javascript"]

_TESTS = frozenset({"it", "test", "specify", "bench"})
_TAP = frozenset({"t", "tap"})
"""What tap and its like are called where a file's tests are `t.test(…)`."""
_SUITES = frozenset({"describe", "context", "suite"})
_HOOKS = frozenset({"beforeEach", "afterEach", "before", "after", "beforeAll", "afterAll"})
_OFF = re.compile(r"^x(?=it$|test$|describe$|context$|specify$)")
_FOCUSED = re.compile(r"^f(?=it$|test$|describe$|context$|specify$)")
_SKIPS = frozenset({"skip", "todo", "fixme", "fails", "failing"})
_MAYBE = frozenset({"skipIf", "runIf"})
_FUNCTIONS = frozenset({"arrow_function", "function_expression", "generator_function"})
_KEEPS = frozenset({"variable_declarator", "assignment_expression", "pair", "export_statement"})
_DECLARED = frozenset({"function_declaration", "generator_function_declaration"})
_FALSE = frozenset({"false", "0", "null", "undefined", '""', "! true", "!1"})
_TRUE = frozenset({"true", "1", "! false"})
_PLATFORM = re.compile(r"\bprocess ?\. ?(?:platform|version|versions|arch)\b|\bisWindows\b|\bos ?\.")
_ENVIRONMENT = re.compile(r"\bprocess ?\. ?env\b|\bimport ?\. ?meta ?\. ?env\b")
_SKIP_CALL = re.compile(r"(?:this|t|ctx|test|it|context)\.skip|pending")
_MOCK = re.compile(r"(?:jest|vi)\.(?:mock|doMock)")
_SPY = re.compile(r"(?:jest|vi)\.spyOn|sinon\.(?:stub|replace)|mock\.method")


@dataclass(frozen=True, slots=True)
class _Defined:
    """A call that defines a test or a suite."""

    call: Node
    suite: bool
    title: str
    body: Node | None
    mark: SkipMark | None
    cases: tuple[str, ...]
    given: tuple[Node, ...] = ()
    """Where its body is a function of the file that several tests share: its name, and what it is given."""


@dataclass(frozen=True, slots=True)
class _Module:
    """What the tests of a file have in common."""

    reading: Reading
    functions: Mapping[str, Node]
    mocked: frozenset[str]


def read_javascript(root: Node, passes: Passes) -> SuiteOutline:
    """The tests of a file."""
    parts = list(descendants(root))
    functions = _functions(parts)
    imports = _imports(parts)
    reading = Reading(
        _JAVASCRIPT,
        known=_helpers(functions),
        constants=_constants(root),
        tables=_tables(parts),
    )
    mocked = frozenset(
        name
        for part in parts
        if part.type == "call_expression" and _MOCK.fullmatch(text_of(part.child_by_field_name("function")))
        for name in imports.get(plain(arguments_of(part)[0]) if arguments_of(part) else "", ())
    )
    module = _Module(reading, functions, mocked)
    tests, loose = _walk(root, module, passes)
    return SuiteOutline(
        tests=tuple(tests),
        helpers=tuple(
            _read_helper(name, node, module) for name, node in functions.items() if not passes(node, False)
        ),
        skips=tuple(loose),
        imports=tuple(
            sorted(
                {
                    name
                    for source, names in imports.items()
                    if not _HELPERS.fullmatch(source)
                    for name in names
                }
            )
        ),
        defined=tuple(sorted(functions)),
    )


def _walk(root: Node, module: _Module, passes: Passes) -> tuple[list[WrittenTest], list[SkipMark]]:
    tests: list[WrittenTest] = []
    loose: list[SkipMark] = []
    bare = new_reading(module.reading, None)
    asked: list[Node] = []
    pending: list[tuple[Node, tuple[str, ...], tuple[str, ...]]] = [(root, (), ())]
    while pending:
        node, names, rows = pending.pop()
        if node.type == "call_expression":
            defined = _defined(node, module)
            if defined is not None and defined.suite:
                if defined.mark is not None:
                    scope = " > ".join((*names, defined.title))
                    loose.append(defined.mark.model_copy(update={"scope": scope}))
                if defined.body is not None and len(names) < MAX_DEPTH:
                    inside = defined.body.child_by_field_name("body") or defined.body
                    pending.append((inside, (*names, defined.title), (*rows, *defined.cases)))
                continue
            if defined is not None:
                if passes(node, True):
                    continue
                tests.append(_read_test(defined, names, rows, module))
                continue
            hook = _hook(node)
            if hook is not None:
                tests.extend(_read_hook(*hook, names, module))
                continue
            check = check_of(bare, node, Around(awaited=True))
            if check is not None and not _is_kept(node):
                bare.checks.append(check)
                asked.append(node)
                continue
            rows = (*rows, *_looped(node, module))
        elif node.type == "for_in_statement":
            rows = (*rows, *table_rows(module.reading, node.child_by_field_name("right")))
        elif node.type in _DECLARED:
            continue
        pending.extend((child, names, rows) for child in reversed(node.named_children))
    if asked:
        tests.append(_read_bare(bare, asked))
    return tests, loose


def _is_kept(node: Node) -> bool:
    """Whether it stands in a function with a name, or in a class: that is read where it is called."""
    at = node.parent
    while at is not None:
        if at.type == "class_body" or (
            at.type in _FUNCTIONS and at.parent is not None and at.parent.type in _KEEPS
        ):
            return True
        at = at.parent
    return False


def _read_bare(reading: Reading, asked: list[Node]) -> WrittenTest:
    """What a file checks outside of any test, as files of tap's do: a test of its own."""
    parts = [part for node in asked for part in descendants(node)]
    return WrittenTest(
        name="(file)",
        line=line_of(asked[0]),
        checks=tuple(reading.checks),
        calls=tuple(sorted(called_names(parts))),
        literals=tuple(sorted(literals_in(parts))),
        body=" ".join(body_identity(node)[:16] for node in asked[:100]),
    )


def _looped(call: Node, module: _Module) -> list[str]:
    """The rows of `cases.forEach(…)`."""
    function = call.child_by_field_name("function")
    if function is None or function.type != "member_expression":
        return []
    if text_of(function.child_by_field_name("property")) not in ("forEach", "map"):
        return []
    return table_rows(module.reading, function.child_by_field_name("object"))


def _functions(parts: Iterable[Node]) -> dict[str, Node]:
    """Functions with a name, wherever they stand."""
    found: dict[str, Node] = {}
    for node in parts:
        if node.type in _DECLARED:
            found[text_of(node.child_by_field_name("name"))] = node
        elif (
            node.type in _FUNCTIONS and node.parent is not None and node.parent.type == "variable_declarator"
        ):
            found[text_of(node.parent.child_by_field_name("name"))] = node
    return found


def _helpers(functions: Mapping[str, Node]) -> dict[str, Helper]:
    found: dict[str, Helper] = {}
    for name, node in functions.items():
        body = node.child_by_field_name("body")
        if body is not None:
            single = node.child_by_field_name("parameter")
            given = [single] if single is not None else children(node.child_by_field_name("parameters"))
            parameters = tuple(
                text_of(part.child_by_field_name("pattern") or part.child_by_field_name("left") or part)
                for part in given
            )
            found[name] = Helper(body, parameters, awaited=text_of(node).startswith("async"))
    return found


def _constants(root: Node) -> dict[str, str]:
    return {
        name: plain(value)
        for statement in children(root)
        if statement.type == "lexical_declaration"
        for part in children(statement)
        for name, value in _assigned(part)
        if value is not None and is_literal(plain(value))
    }


def _tables(parts: Iterable[Node]) -> dict[str, Node]:
    return {
        name: value
        for part in parts
        if part.type == "variable_declarator"
        for name, value in _assigned(part)
        if value is not None and value.type in TABLES
    }


_HELPERS = re.compile(
    r'"\.{1,2}/(?:[\w.-]+/)*(?:support|helpers?|fixtures?|testing|testkit|test-?utils?)(?:[/.-][\w./-]*)?"'
)
"""Where what tests use comes from: none of it is what they are about."""


def _imports(parts: Iterable[Node]) -> dict[str, list[str]]:
    """Names that come from elsewhere, by where from."""
    found: dict[str, list[str]] = {}
    for node in parts:
        if node.type == "import_statement":
            source = plain(node.child_by_field_name("source"))
            found.setdefault(source, []).extend(
                text_of(part) for part in descendants(node) if part.type == "identifier"
            )
        elif node.type == "variable_declarator":
            value = plain(node.child_by_field_name("value"))
            required = re.match(r'require \( ("[^"]*") \)', value)
            if required:
                names = re.findall(r"[\w$]+", text_of(node.child_by_field_name("name")))
                found.setdefault(required[1], []).extend(names)
    return found


def _defined(call: Node, module: _Module) -> _Defined | None:
    function = call.child_by_field_name("function")
    chain, tables = _chain(function)
    if len(chain) > 1 and chain[0] in _TAP and chain[1] == "test":
        chain = chain[1:]
    if not chain:
        return None
    base = _FOCUSED.sub("", _OFF.sub("", chain[0]))
    suite = base in _SUITES or (base == "test" and "describe" in chain[1:])
    if base not in _TESTS and not suite:
        return None
    arguments = arguments_of(call)
    body = next((part for part in reversed(arguments) if part.type in _FUNCTIONS), None)
    titled = bool(arguments) and arguments[0].type in (
        "string",
        "template_string",
        "identifier",
        "binary_expression",
    )
    if not titled and body is None:
        return None
    options = [part for part in arguments if part.type == "object"]
    given = arguments[1:] if body is None and not suite else []
    while given and not (given[0].type == "identifier" and text_of(given[0]) in module.functions):
        given = given[1:]
    return _Defined(
        call=call,
        suite=suite,
        title=plain(arguments[0]).strip('"') if titled else "",
        body=body,
        mark=_definition_mark(call, chain, options),
        cases=tuple(row for table in tables for row in _rows(table, module)),
        given=tuple(given),
    )


def _chain(node: Node | None) -> tuple[list[str], list[Node]]:
    """The names of `it.skip.each([…])`, and the tables in it."""
    names: list[str] = []
    tables: list[Node] = []
    for _ in range(12):
        if node is None:
            break
        if node.type == "identifier":
            names.append(text_of(node))
            return names[::-1], tables
        if node.type == "member_expression":
            names.append(text_of(node.child_by_field_name("property")))
            node = node.child_by_field_name("object")
        elif node.type == "call_expression":
            tables += arguments_of(node)[:1]
            node = node.child_by_field_name("function")
        else:
            break
    return [], []


def _rows(table: Node, module: _Module) -> list[str]:
    return table_rows(module.reading, table) or [UNKNOWN_CASES]


def _definition_mark(call: Node, chain: list[str], options: list[Node]) -> SkipMark | None:
    line, text = line_of(call), _head(call)
    if _FOCUSED.match(chain[0]) or "only" in chain:
        return SkipMark(line=line, text=text, focus=True)
    if _OFF.match(chain[0]) or not _SKIPS.isdisjoint(chain):
        return SkipMark(line=line, text=text)
    if not _MAYBE.isdisjoint(chain):
        condition = plain(call.child_by_field_name("function"))
        asked = re.search(r"skipIf \( (.+) \)$", condition)
        always = re.search(r"skipIf \( true|runIf \( false", condition) or (
            asked is not None and asked[1] not in _FALSE and not depends(asked[1])
        )
        when = SkipCondition.PLATFORM if _PLATFORM.search(condition) else SkipCondition.OTHER
        return SkipMark(line=line, text=text, when=SkipCondition.ALWAYS if always else when)
    for pair in (part for option in options for part in children(option) if part.type == "pair"):
        key, value = plain(pair.child_by_field_name("key")), plain(pair.child_by_field_name("value"))
        if key in ("skip", "todo", "only") and value not in _FALSE:
            constant = value in _TRUE or value.startswith('"')
            when = SkipCondition.PLATFORM if _PLATFORM.search(value) else SkipCondition.OTHER
            return SkipMark(
                line=line,
                text=text,
                when=SkipCondition.ALWAYS if constant else when,
                focus=key == "only",
            )
    return None


def _head(call: Node) -> str:
    return shown(call).partition("=>")[0].partition("function")[0][:100].rstrip(" ({,")


def _hook(call: Node) -> tuple[str, Node] | None:
    name = text_of(call.child_by_field_name("function"))
    body = next((part for part in arguments_of(call) if part.type in _FUNCTIONS), None)
    return (name, body) if name in _HOOKS and body is not None else None


def _read_hook(name: str, body: Node, names: tuple[str, ...], module: _Module) -> Iterator[WrittenTest]:
    """What is checked around every test, as if it were one; where nothing is, nothing."""
    reading = new_reading(module.reading, body)
    _read_function(reading, body)
    if reading.checks or reading.skips:
        yield _written((*names, f"({name})"), body, body, reading, (), module)


def _read_test(
    defined: _Defined, names: tuple[str, ...], rows: tuple[str, ...], module: _Module
) -> WrittenTest:
    reading = new_reading(module.reading, defined.body)
    if defined.mark is not None:
        reading.skips.append(defined.mark)
    if defined.body is not None:
        _read_function(reading, defined.body)
    shared = module.reading.known.get(text_of(defined.given[0])) if defined.given else None
    if shared is not None:
        reading.checks += _shared_checks(reading, defined, shared)
    cases = (*rows, *defined.cases) or tuple(reading.rows) or ((UNKNOWN_CASES,) if reading.looped else ())
    written = _written((*names, defined.title), defined.call, defined.body, reading, cases[:1000], module)
    if shared is None:
        return written
    body = " ".join(body_identity(part) for part in (shared.body, *defined.given[1:]))
    return written.model_copy(update={"body": body})


def _shared_checks(reading: Reading, defined: _Defined, shared: Helper) -> list[Check]:
    """What a function checks that several tests share, with what one of them gives it.

    A part that is meant for others is no part of this test: what is reached without what is given, and not
    with it.
    """
    # The runner hands the test itself to the first parameter, where the function's own name stands.
    given = [("", part) for part in defined.given]
    checks = list(called_checks(reading, defined.call, shared, given, CheckState.LIVE))
    if all(check.state is not CheckState.DEAD for check in checks):
        return checks
    alone = list(called_checks(reading, defined.call, shared, (), CheckState.LIVE))
    if len(alone) != len(checks):
        return checks
    return [
        check
        for check, bare in zip(checks, alone, strict=True)
        if check.state is not CheckState.DEAD or bare.state is CheckState.DEAD
    ]


def _written(
    names: tuple[str, ...],
    whole: Node,
    body: Node | None,
    reading: Reading,
    cases: tuple[str, ...],
    module: _Module,
) -> WrittenTest:
    parts = list(descendants(whole))
    called = called_names(parts)
    if body is None:
        called |= names_in(arguments_of(whole)) & module.functions.keys()
    helpers = [module.functions[name] for name in sorted(called & module.functions.keys())[:20]]
    tables = [module.reading.tables[name] for name in sorted(names_in(parts) & module.reading.tables.keys())]
    further = [part for one in (*helpers, *tables) for part in descendants(one)]
    called |= called_names(further)
    return WrittenTest(
        name=" > ".join(names)[-300:],
        line=line_of(whole),
        checks=tuple(reading.checks),
        skips=tuple(reading.skips),
        cases=cases,
        narrowed=(*reading.narrowed, *_strategies(parts)),
        calls=tuple(sorted(called)),
        mocked=tuple(sorted({*_spied(parts), *(module.mocked & called)})),
        literals=tuple(sorted(literals_in((*parts, *further)))),
        body=body_identity(body),
    )


def _strategies(parts: Iterable[Node]) -> Iterator[str]:
    """What a property is tried with."""
    for part in parts:
        name = text_of(part.child_by_field_name("function")) if part.type == "call_expression" else ""
        if name in ("fc.property", "fc.asyncProperty"):
            yield f"given {' '.join(plain(one) for one in arguments_of(part) if one.type not in _FUNCTIONS)}"
        elif name == "fc.assert" and len(arguments_of(part)) > 1:
            yield f"settings {plain(arguments_of(part)[1])}"


def _spied(parts: Iterable[Node]) -> Iterator[str]:
    for part in parts:
        if part.type == "call_expression" and _SPY.fullmatch(text_of(part.child_by_field_name("function"))):
            arguments = arguments_of(part)
            if len(arguments) > 1:
                yield plain(arguments[1]).strip('"')


def _read_helper(name: str, node: Node, module: _Module) -> WrittenTest:
    reading = new_reading(module.reading, node)
    _read_function(reading, node)
    return WrittenTest(
        name=name[-300:],
        line=line_of(node),
        collected=False,
        checks=tuple(reading.checks),
        calls=tuple(sorted(called_names(descendants(node)))),
        body=body_identity(node),
    )


def _read_function(reading: Reading, function: Node) -> None:
    body = function.child_by_field_name("body")
    if body is None:
        return
    if body.type == "statement_block":
        # A test that is handed `done` says itself when it is over.
        done = bool(children(function.child_by_field_name("parameters"))) or bool(
            function.child_by_field_name("parameter")
        )
        reading.handed_on = done
        read_block(reading, body, Around(), 0)
    else:
        read_expression(reading, body, Around(awaited=True), 0)


def _assigned(node: Node) -> list[tuple[str, Node | None]]:
    if node.type == "variable_declarator":
        name, value = node.child_by_field_name("name"), node.child_by_field_name("value")
    elif node.type == "assignment_expression":
        name, value = node.child_by_field_name("left"), node.child_by_field_name("right")
    elif node.type == "augmented_assignment_expression":
        name, value = node.child_by_field_name("left"), None
    elif node.type in ("lexical_declaration", "variable_declaration"):
        inner = children(node)
        return _assigned(inner[0]) if len(inner) == 1 else []
    else:
        return []
    if name is None or name.type != "identifier":
        return []
    return [(text_of(name), value)] if value is not None or node.type.startswith("augmented") else []


def _statement(reading: Reading, node: Node, around: Around, depth: int) -> bool:
    """Functions inside a test are read where they are called."""
    return node.type in _DECLARED


def _swallows(handler: Node) -> bool:
    body = handler.child_by_field_name("body")
    if body is None:
        return False
    for inner in descendants(body):
        if inner.type in ("throw_statement", "assignment_expression"):
            return False
        if inner.type == "call_expression" and re.match(
            r"(?:expect|assert|fail|done|reject|t\.|cb|callback|next)",
            text_of(inner.child_by_field_name("function")),
        ):
            return False
    return True


def _expression(reading: Reading, node: Node, around: Around, depth: int) -> bool:
    if node.type == "member_expression":
        check = property_check(reading, node, around)
        if check is not None:
            reading.checks.append(check)
        return check is not None
    if node.type == "variable_declarator":
        value = node.child_by_field_name("value")
        # A function with a name is read where it is called.
        return value is not None and value.type in _FUNCTIONS
    if node.type != "call_expression":
        return False
    callee = node.child_by_field_name("function")
    function = text_of(callee)
    if _SKIP_CALL.fullmatch(function):
        if around.state is not CheckState.DEAD:
            reading.skips.append(mark(node, when(reading, around)))
        return True
    check = check_of(reading, node, around)
    if check is not None:
        reading.checks.append(check)
        return True
    helper = reading.known.get(function)
    if helper is not None:
        state = around.state
        parent = node.parent
        loose = parent is not None and parent.type == "expression_statement"
        if helper.awaited and loose and not around.awaited and state is CheckState.LIVE:
            state = CheckState.UNAWAITED
        given = [("", part) for part in arguments_of(node)]
        reading.checks += called_checks(reading, node, helper, given, state)
        return False
    if _is_loose_promise(node, callee, around) and not reading.handed_on:
        for part in arguments_of(node):
            read_expression(reading, part, replace(around, state=CheckState.UNAWAITED), depth + 1)
        return True
    return False


def _is_loose_promise(call: Node, callee: Node | None, around: Around) -> bool:
    """Whether a `.then(…)` is a statement of its own, which nobody waits for."""
    parent = call.parent
    return (
        callee is not None
        and callee.type == "member_expression"
        and text_of(callee.child_by_field_name("property")) in ("then", "catch", "finally")
        and parent is not None
        and parent.type == "expression_statement"
        and not around.awaited
        and around.state is CheckState.LIVE
    )


_JAVASCRIPT = Dialect(
    assigned=_assigned,
    statement=_statement,
    expression=_expression,
    swallows=_swallows,
    functions=_FUNCTIONS,
    environment=_ENVIRONMENT,
    platform=_PLATFORM,
)
