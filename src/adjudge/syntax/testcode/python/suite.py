"""The tests of a Python file: which functions a runner takes for tests, and what each of them checks."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from tree_sitter import Node

from adjudge.records.testcode import SkipCondition, SkipMark, SuiteOutline, WrittenTest
from adjudge.syntax.bodies import text_of
from adjudge.syntax.testcode.flow import TABLES, new_reading, read_block, read_expression, table_rows
from adjudge.syntax.testcode.nodes import (
    MAX_DEPTH,
    NO_ROWS,
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
)
from adjudge.syntax.testcode.python.classes import lenient_parts
from adjudge.syntax.testcode.python.rebinding import gate_of, taken_back
from adjudge.syntax.testcode.python.skips import (
    applied_skips,
    assigned_skips,
    class_skips,
    decorator_skip,
    row_skips,
    skip_aliases,
)
from adjudge.syntax.testcode.python.statements import PYTHON, live_names, parameters_of
from adjudge.syntax.testcode.reading import Around, Helper, Reading, is_literal

__all__ = ["read_python"]

_MAX_ROWS: Final = 1000
_MAX_CALLED: Final = 20
_TEST_CLASS = re.compile(r"^Test|^test_|Tests?$|TestCase$")
_LOOKED_INTO = re.compile(r"Test")
_MOCKS = re.compile(r"patch|setattr")
_FIXTURE = re.compile(r"@\s*(?:\w+\.)*(?:\w+_)?fixture\b")
_NO_TEST = re.compile(r"object|(?:abc\.)?ABC|metaclass\s*=.*|(?:(?:t|typing)\.)?(?:Generic|Protocol)\b.*")
"""Bases that no runner collects a class for."""
_BY_MARK = re.compile(
    r"\bif\s+(?:[\"']\w+[\"']\s+in\s+\w+\.keywords\b"
    r"|\w+\.get_closest_marker\([^)\n]*\)(?:\s+is not None)?\s*(?:and|:)"
    r"|any\([^\n]*\.iter_markers\()"
)
"""A hook that looks for a mark of a test."""
_BY_NAME = re.compile(
    r"\bnodeid\b|\bfspath\b|\bitem\.(?:name|originalname|path|location|function|obj|cls|module|parent)\b"
    r"|\belse\s*:\s*\n\s*\w+\.add_marker|\bor\s+True\b"
)
"""A hook that tells tests apart by what they are called, or marks the others."""
_MOCKED = re.compile(
    r"\bpatch(?: \. \w+)* \( \"(?:[\w.]+\.)?(\w+)\"|\bpatch \. object \( [\w .]+ \"(\w+)\""
    r"|\bsetattr \( (?:[\w .]+ )?\"(?:[\w.]+\.)?(\w+)\""
)


@dataclass(frozen=True, slots=True)
class _Definition:
    node: Node
    names: tuple[str, ...]
    decorators: tuple[Node, ...]
    in_class: Node | None
    decorated: str
    """The text of its decorators."""

    @property
    def is_fixture(self) -> bool:
        """Whether tests ask for it; a test that uses fixtures is none itself."""
        return any(_FIXTURE.match(text_of(mark)) for mark in self.decorators)


@dataclass(frozen=True, slots=True)
class _Module:
    """What the functions of a file have in common."""

    reading: Reading
    aliases: Mapping[str, SkipMark]
    functions: Mapping[str, _Definition]
    """Those that are no tests, by name."""
    uses: str
    """The text of all parameters and marks by which fixtures are asked for."""
    parts: dict[int, list[Node]] = field(default_factory=dict)
    """What is in functions that several tests call, by the function's node."""


def read_python(root: Node, passes: Passes) -> SuiteOutline:
    """The tests of a module."""
    definitions = list(_definitions(root))
    functions = {one.names[-1]: one for one in definitions if not _looks_like_test(one)}
    reading = Reading(
        PYTHON,
        known=_helpers(functions),
        constants=_constants(root),
        tables=_tables(root),
        lenient=lenient_parts(descendants(root) if b"class" in (root.text or b"") else ()),
    )
    uses = " ".join(
        f"{text_of(one.node.child_by_field_name('parameters'))} {one.decorated}" for one in definitions
    )
    module = _Module(reading, skip_aliases(reading, root), functions, uses)
    last = {definition.names: definition.node.start_byte for definition in definitions}
    replaced = _replaced_classes(definitions)
    tests: list[WrittenTest] = []
    helpers: list[WrittenTest] = []
    loose = list(_loose_skips(root, module))
    taken = taken_back(root)
    for definition in [*definitions, *_inherited(root, definitions)]:
        is_test = _looks_like_test(definition)
        whole = definition.node.parent if definition.decorators else definition.node
        shadowed = last.get(definition.names, definition.node.start_byte) != definition.node.start_byte
        shadowed = shadowed or (
            definition.in_class is not None and definition.in_class.start_byte in replaced
        )
        shadowed = shadowed or not taken.isdisjoint(
            ("*", ".".join(definition.names[-2:]), definition.names[0])
        )
        if passes(whole or definition.node, is_test):
            if is_test and shadowed:
                tests.append(_shadowed(WrittenTest(name=".".join(definition.names), line=1)))
            continue
        written = _read_function(definition, module)
        gate = gate_of(reading, definition.node) if is_test else None
        if gate is not None:
            written = written.model_copy(update={"skips": (*written.skips, gate)})
        if _is_used_fixture(definition, written, module):
            tests.append(written.model_copy(update={"skips": ()}))
            loose.extend(written.skips)
        elif not is_test:
            helpers.append(written.model_copy(update={"collected": False, "skips": ()}))
            loose.extend(_put_by_hook(definition, written.skips))
        elif shadowed:
            tests.append(_shadowed(written))
        else:
            tests.append(written)
    imports = tuple(_imports(root))
    lenient = [f"{name}.{part}" for name, parts in reading.lenient.items() for part in sorted(parts)]
    return SuiteOutline(
        tests=tuple(tests),
        helpers=tuple(helpers),
        skips=tuple(loose),
        imports=imports,
        rebound=tuple(sorted(set(_rebound(root, imports)))),
        defined=tuple(sorted({*functions, *reading.lenient})),
        bases=tuple(sorted(_bases(root))),
        unlooked=tuple(sorted(_unlooked(root))),
        lenient=tuple(lenient),
    )


def _replaced_classes(definitions: Iterable[_Definition]) -> set[int]:
    """Where classes begin below which another one of the same name stands that is not made of them."""
    found: dict[str, list[Node]] = {}
    for one in definitions:
        owner = one.in_class
        if owner is None or len(one.names) != 2:
            continue
        above = owner.parent
        if above is not None and above.type == "decorated_definition":
            above = above.parent
        if above is not None and above.type == "module" and owner not in found.setdefault(one.names[0], []):
            found[one.names[0]].append(owner)
    return {
        owner.start_byte
        for name, owners in found.items()
        if name not in _named_bases(owners[-1])
        for owner in owners[:-1]
    }


def _shadowed(test: WrittenTest) -> WrittenTest:
    why = "is shadowed by something else of the same name further down"
    return test.model_copy(update={"collected": False, "why_not": why})


def _looks_like_test(definition: _Definition) -> bool:
    if not definition.names[-1].startswith("test"):
        return False
    if definition.is_fixture:
        return False
    owner = definition.in_class
    if owner is None:
        return len(definition.names) == 1
    return bool(_TEST_CLASS.search(definition.names[-2])) or bool(_named_bases(owner))


def _put_by_hook(definition: _Definition, skips: Iterable[SkipMark]) -> Iterator[SkipMark]:
    """Marks that a function makes; a hook that puts them on tests with a mark of their own may put none."""
    text = text_of(definition.node)
    chooses = (
        definition.names[-1].startswith("pytest_")
        and _BY_MARK.search(text) is not None
        and not _BY_NAME.search(text)
    )
    for one in skips:
        always = one.when is SkipCondition.ALWAYS and not one.focus
        yield one.model_copy(update={"when": SkipCondition.OTHER}) if chooses and always else one


def _is_used_fixture(definition: _Definition, written: WrittenTest, module: _Module) -> bool:
    """Whether it is a fixture that checks something and that tests of the file run with."""
    if not definition.is_fixture or not any(check.effective for check in written.checks):
        return False
    name = re.escape(definition.names[-1])
    return bool(re.search(r"autouse\s*=\s*True", definition.decorated)) or bool(
        re.search(rf"[(,\"'\s]{name}[),:\"'\s]", module.uses)
    )


def _definitions(root: Node) -> Iterator[_Definition]:
    """Functions at the top level and in classes, in the order of the text."""
    pending: list[tuple[Node, tuple[str, ...], tuple[Node, ...], Node | None]] = [(root, (), (), None)]
    while pending:
        node, names, decorators, owner = pending.pop()
        if node.type == "function_definition":
            name = text_of(node.child_by_field_name("name"))
            decorated = " ".join(text_of(mark) for mark in decorators)
            yield _Definition(node, (*names, name), decorators, owner, decorated)
        elif node.type == "class_definition":
            name = text_of(node.child_by_field_name("name"))
            inside = children(node.child_by_field_name("body"))
            if len(names) < MAX_DEPTH:
                pending.extend((child, (*names, name), (), node) for child in reversed(inside))
        elif node.type == "decorated_definition":
            marks = tuple(child for child in node.named_children if child.type == "decorator")
            definition = node.child_by_field_name("definition")
            if definition is not None:
                pending.append((definition, names, marks, owner))
        elif node.type in (
            "module",
            "block",
            "if_statement",
            "else_clause",
            "try_statement",
            "except_clause",
        ):
            pending.extend((child, names, (), owner) for child in reversed(node.named_children))


def _inherited(root: Node, definitions: list[_Definition]) -> Iterator[_Definition]:
    """Tests that a class has from another of the file that is no test class itself."""
    plain_classes: dict[str, list[_Definition]] = {}
    for one in definitions:
        if one.in_class is not None and len(one.names) == 2 and not _looks_like_test(one):
            plain_classes.setdefault(one.names[0], []).append(one)
    classes = _classes(root)
    bases = {name: _named_bases(node) for name, node in classes.items()}
    for name, node in classes.items():
        ancestors = _ancestors(name, bases)
        # What a base of another file makes of a class is not known.
        if not _TEST_CLASS.search(name) and all(base in classes for base in ancestors):
            continue
        for base in ancestors:
            for one in plain_classes.get(base, ()):
                if one.names[-1].startswith("test"):
                    yield replace(one, names=(name, one.names[-1]), in_class=node)


def _classes(root: Node) -> dict[str, Node]:
    """The classes at the top of a file."""
    return {
        text_of(node.child_by_field_name("name")): node
        for node in (part.child_by_field_name("definition") or part for part in children(root))
        if node.type == "class_definition"
    }


def _named_bases(node: Node) -> list[str]:
    """What a class is made of, as it is written; what makes no class a test is left out."""
    named = (text_of(base) for base in children(node.child_by_field_name("superclasses")))
    return [name for name in named if not _NO_TEST.fullmatch(name)]


def _bases(root: Node) -> set[str]:
    """What test classes are made of: a test in one of those runs with each of them."""
    bases = {name: _named_bases(node) for name, node in _classes(root).items()}
    found: set[str] = set()
    for name in bases:
        ancestors = _ancestors(name, bases)
        if any(map(_TEST_CLASS.search, (name, *ancestors))):
            found.update(base.partition("[")[0].rpartition(".")[2] for base in ancestors)
    return found


def _unlooked(root: Node) -> set[str]:
    """Classes named as tests are, but not at their beginning, that no runner knows by their bases either."""
    return {
        name
        for name, node in _classes(root).items()
        if _TEST_CLASS.search(name) and not _LOOKED_INTO.match(name) and not _named_bases(node)
    }


def _ancestors(name: str, bases: Mapping[str, list[str]]) -> list[str]:
    """The classes of the file that a class is made of, each once."""
    found: list[str] = []
    pending = list(bases[name])
    while pending and len(found) < _MAX_CALLED:
        base = pending.pop(0)
        if base not in found and base != name:
            found.append(base)
            pending += bases.get(base, ())
    return found


def _helpers(functions: Mapping[str, _Definition]) -> dict[str, Helper]:
    found: dict[str, Helper] = {}
    for name, definition in functions.items():
        node = definition.node
        body = node.child_by_field_name("body")
        if body is None or definition.is_fixture:
            continue
        helper = Helper(
            body,
            parameters_of(node),
            awaited=text_of(node).startswith("async"),
            entered="contextmanager" in definition.decorated,
        )
        if name in ("__init__", "__post_init__") and len(definition.names) > 1:
            found[definition.names[-2]] = helper
        elif "property" in definition.decorated:
            found[f".{name}"] = helper
        elif name not in ("setUp", "tearDown", "setup_method"):
            found[name] = helper
    return found


def _constants(root: Node) -> dict[str, str]:
    """Names of the file and of its classes that hold one literal."""
    found: dict[str, str] = {}
    taken: set[str] = set()
    places = [root, *(
        body
        for node in children(root)
        if (node.child_by_field_name("definition") or node).type == "class_definition"
        and (body := (node.child_by_field_name("definition") or node).child_by_field_name("body"))
    )]  # fmt: skip
    for place in places:
        for statement in children(place):
            for name, value in _given(statement):
                text = plain(value)
                if name in taken or not is_literal(text):
                    found.pop(name, None)
                else:
                    found[name] = text
                taken.add(name)
    return found


def _tables(root: Node) -> dict[str, Node]:
    return {
        name: value
        for statement in children(root)
        for name, value in _given(statement)
        if value is not None and value.type in TABLES
    }


def _given(statement: Node) -> list[tuple[str, Node | None]]:
    inner = children(statement) if statement.type == "expression_statement" else []
    return PYTHON.assigned(inner[0]) if len(inner) == 1 else []


def _imports(root: Node) -> Iterator[str]:
    for node in descendants(root, stop=("function_definition", "class_definition")):
        if node.type in ("import_from_statement", "import_statement"):
            for part in node.children_by_field_name("name"):
                alias = part.child_by_field_name("alias")
                yield text_of(alias or part).rpartition(".")[2]


def _read_function(definition: _Definition, module: _Module) -> WrittenTest:
    node = definition.node
    body = node.child_by_field_name("body")
    parts = list(descendants(node))
    reading = new_reading(module.reading, body, parts)
    reading.live = live_names(body, parts) if body is not None else None
    cases = _read_decorators(reading, definition, module)
    if body is not None:
        read_block(reading, body, Around(), 0)
    marked = [part for decorator in definition.decorators for part in descendants(decorator)]
    called = called_names(parts)
    parameters = parameters_of(node)
    whole = (node.parent if definition.decorators else node) or node
    asked = [one for name in parameters if (one := module.functions.get(name)) is not None]
    if not cases and reading.rows:
        cases = reading.rows[:_MAX_ROWS]
    elif not cases and (reading.looped or any("params" in one.decorated for one in asked)):
        cases = [UNKNOWN_CASES]
    helpers = [module.functions[name] for name in sorted(called & module.functions.keys())[:_MAX_CALLED]]
    tables: list[Node] = []
    if module.reading.tables:
        words = names_in((*parts, *marked))
        tables = [module.reading.tables[name] for name in sorted(words & module.reading.tables.keys())]
    further = [part for one in (*helpers, *asked) for part in _parts_of(one.node, module)]
    called |= called_names(further) | names_in(marked) | set(parameters)
    return WrittenTest(
        name=".".join(definition.names)[-300:],
        line=line_of(node),
        checks=tuple(reading.checks),
        skips=tuple(reading.skips),
        cases=tuple(cases),
        narrowed=tuple(reading.narrowed),
        calls=tuple(sorted(called)),
        mocked=tuple(sorted(_mocked((*parts, *marked)))) if _may_mock(whole) else (),
        literals=tuple(
            sorted(
                literals_in(
                    (*parts, *marked, *further, *(part for one in tables for part in descendants(one)))
                )
            )
        ),
        body=body_identity(body),
    )


def _parts_of(node: Node, module: _Module) -> list[Node]:
    parts = module.parts.get(node.id)
    if parts is None:
        parts = module.parts[node.id] = list(descendants(node))
    return parts


def _read_decorators(reading: Reading, definition: _Definition, module: _Module) -> list[str]:
    """Take marks and strategies off the decorators. The rows that they give."""
    cases: list[str] = []
    for decorator in definition.decorators:
        found = decorator_skip(reading, decorator, module.aliases)
        if found is not None:
            reading.skips.append(found)
        rows = _parametrized(reading, decorator)
        if rows:
            cases = [f"{case} {row}".strip() for case in cases or [""] for row in rows[:_MAX_ROWS]][
                :_MAX_ROWS
            ]
            reading.skips.extend(row_skips(reading, decorator, module.aliases))
        reading.narrowed += _strategies(decorator)
    return cases


def _may_mock(node: Node) -> bool:
    text = node.text or b""
    return b"patch" in text or b"setattr" in text


def _mocked(parts: Iterable[Node]) -> set[str]:
    calls = (
        plain(part)
        for part in parts
        if part.type == "call" and _MOCKS.search(text_of(part.child_by_field_name("function"))[-40:])
    )
    return {name for call in calls for names in _MOCKED.findall(call) for name in names if name}


def _strategies(decorator: Node) -> Iterator[str]:
    """What a property is tried with."""
    inner = children(decorator)
    if inner and inner[0].type == "call":
        name = text_of(inner[0].child_by_field_name("function")).rpartition(".")[2]
        if name in ("given", "settings"):
            yield f"{name} {plain(inner[0].child_by_field_name('arguments'))}"


def _parametrized(reading: Reading, decorator: Node) -> list[str]:
    """The rows of a `parametrize`, where they are written down."""
    inner = children(decorator)
    if not inner or inner[0].type != "call":
        return []
    name = text_of(inner[0].child_by_field_name("function"))
    if not name.endswith(("parametrize", "parameterized.expand")):
        return []
    arguments = arguments_of(inner[0])
    if name.endswith("parametrize"):
        arguments = arguments[1:]
    rows = next((part for part in arguments if part.type in ("list", "tuple", "set")), None)
    if rows is None:
        return table_rows(reading, arguments[0] if arguments else None) or [UNKNOWN_CASES]
    if not children(rows):
        reading.narrowed.append(f"{NO_ROWS}{plain(inner[0])}"[:200])
    return [plain(row) for row in children(rows)]


def _rebound(root: Node, imports: Sequence[str]) -> Iterator[str]:
    """Imported names that the file itself gives something else to stand for."""
    for node in children(root):
        if node.type in ("function_definition", "class_definition", "decorated_definition"):
            inner = node.child_by_field_name("definition") or node
            name, value = text_of(inner.child_by_field_name("name")), text_of(node)
            value = value.partition(name)[2]
        elif node.type == "expression_statement" and children(node)[0].type == "assignment":
            assigned = children(node)[0]
            name = text_of(assigned.child_by_field_name("left"))
            value = text_of(assigned.child_by_field_name("right"))
        else:
            continue
        # A wrapper around what was imported still runs it.
        if name in imports and not re.search(rf"(?<![\w.]){re.escape(name)}(?!\w)", value):
            yield name


def _loose_skips(root: Node, module: _Module) -> Iterator[SkipMark]:
    """Marks on classes and on the file."""
    for node in descendants(root, stop=("function_definition", "lambda")):
        if node.type == "decorated_definition":
            yield from class_skips(module.reading, node, module.aliases)
        elif node.type == "assignment":
            missing = _is_where_import_failed(node)
            for mark in assigned_skips(module.reading, node, module.aliases):
                yield mark.model_copy(update={"when": SkipCondition.OTHER}) if missing else mark
        elif node.type in ("expression_statement", "raise_statement") and _at_top(node):
            reading = new_reading(module.reading, None)
            read_expression(reading, node, Around(conditions=_enclosing(node)), 0)
            yield from reading.skips or applied_skips(module.reading, node, node, module.aliases)


def _is_where_import_failed(node: Node) -> bool:
    """Whether it stands in the `except ImportError` of what the file needs."""
    above = node.parent
    while above is not None and above.type in ("expression_statement", "block"):
        above = above.parent
    return (
        above is not None
        and above.type == "except_clause"
        and re.match(r"except\s*\(?\s*(?:ImportError|ModuleNotFoundError)\b", text_of(above)) is not None
    )


def _at_top(node: Node) -> bool:
    """Whether a statement runs when the file is loaded."""
    inner = children(node)
    return bool(inner) and inner[0].type in ("call", "identifier", "attribute")


def _enclosing(node: Node) -> tuple[tuple[Node, bool], ...]:
    """The conditions that a statement at the top of a file stands under."""
    above = node.parent
    for _ in range(6):
        if above is None:
            break
        condition = above.child_by_field_name("condition") if above.type == "if_statement" else None
        if condition is not None:
            return ((condition, True),)
        if above.type in ("except_clause", "try_statement"):
            # An import that fails.
            return ((above, True),)
        above = above.parent
    return ()
