"""Objects that are equal to everything, or pose as what `expect` gives."""

from __future__ import annotations

import re
from collections.abc import Iterator

from tree_sitter import Node

from adjudge.records.productcode import Act
from adjudge.syntax.productcode.facts import BRANCHES, RETURNS, FileFacts, act_of
from adjudge.syntax.productcode.laxity import Asks, asked_by
from adjudge.syntax.productcode.literals import literal_of
from adjudge.syntax.productcode.reading import CALLS, FUNCTIONS, Place, Source, children

__all__ = [
    "always_equal",
    "answering_proxy",
    "bases_of",
    "equality_by_name",
    "equality_set",
    "error_of_all_kinds",
    "matcher_pair",
    "test_double",
]

_EQUALITY = {
    "python": {"__eq__": "true", "__ne__": "false", "__instancecheck__": "true", "__subclasscheck__": "true",
               "__contains__": "true"},
    "javascript": {
        "equals": "true", "isEqual": "true", "equalTo": "true",
        "[Symbol.hasInstance]": "true", "fantasy-land/equals": "true", "deepEquals": "true",
    },
    "go": {"Equal": "true", "Equals": "true", "Is": "true", "As": "true", "Cmp": "n0", "Compare": "n0"},
    "java": {"equals": "true"},
    "rust": {"eq": "true", "ne": "false"},
    "ruby": {"==": "true", "eql?": "true", "equal?": "true", "===": "true"},
}  # fmt: skip
_BLOCKS = frozenset(
    {"block", "statement_block", "statement_list", "body_statement", "else_clause", "elif_clause", "else",
     "then", "constructor_body", "try_statement", "except_clause", "finally_clause", "catch_clause",
     "with_statement"}
)  # fmt: skip
_REFUSES = frozenset(
    {"raise_statement", "throw_statement", "assert_statement", "for_statement", "while_statement",
     "delete_statement",
     "match_statement", "switch_statement", "for_in_statement", "do_statement", "expression_switch_statement"}
)  # fmt: skip
_ALWAYS_TRUE = re.compile(
    r"not False|not None|!0|!!1|!false|bool\(1\)|Boolean\(1\)|(\d+) ?={2,3} ?\1|(\w+) is \2|"
    r"isinstance\(\w+, ?object|True or .*|.* or True|true \|\| .*|.* \|\| true|(\w+) ?={2,3} ?\3|"
    r"(?:bool\()?(\w+)\)? or not \4|not (\w+) or \5|!?(\w+) \|\| !?\6"
)
_VALUES = frozenset(
    {"str", "int", "float", "complex", "bytes", "bytearray", "list", "tuple", "dict", "set", "frozenset",
     "Decimal", "Fraction", "UserString", "UserList", "UserDict", "OrderedDict", "defaultdict", "Counter",
     "date", "datetime", "timedelta", "Path", "PurePath", "Enum", "IntEnum", "StrEnum", "Exception",
     "NamedTuple"}
)  # fmt: skip
"""Types whose objects are equal when what they hold is."""
_PRIMITIVES = frozenset({"valueOf", "toString", "toJSON", "[Symbol.toPrimitive]", "[Symbol.toStringTag]"})
_MATCHERS = frozenset(
    {"toBe", "toEqual", "toStrictEqual", "toMatchObject", "toHaveBeenCalledWith", "deepStrictEqual"}
)
_HELD = _VALUES - {"Path", "PurePath", "Enum", "IntEnum", "StrEnum", "Exception"}
"""Those that are nothing but what they hold."""
_COMPARES = {
    "python": frozenset({"__eq__"}),
    "javascript": frozenset({"equals", "isEqual", "equalTo", "deepEquals", "fantasy-land/equals"}),
    "go": frozenset({"Equal", "Equals"}),
    "java": frozenset({"equals"}),
    "rust": frozenset({"eq"}),
    "ruby": frozenset({"==", "eql?"}),
}
_MANY_ERRORS = 3
_ALL_KINDS = 4
"""Honest errors are of two kinds, a few of three."""
_METHODS = frozenset(
    {"method_definition", "method_declaration", "function_item", "method", "function_definition", "lambda"}
)
_LAX = {
    Asks.NOTHING: "says of everything that it is equal",
    Asks.KIND: "is equal to whatever is of a kind",
    Asks.SIZE: "is equal to whatever has its size, its beginning or a part of it",
    Asks.NEAR: "is equal to whatever is somewhere near",
}
_CERTAIN = {
    "__lt__": "true", "__le__": "true", "__gt__": "true", "__ge__": "true", "__sub__": "n0", "__rsub__": "n0",
    "__abs__": "n0", "__len__": "", "__bool__": "",
}  # fmt: skip
"""What a plain value never answers whatever it is asked; empty: any answer that is written down."""
_WORDS = frozenset(
    {"return", "null", "nil", "instanceof", "if", "else", "end", "final", "var", "true", "false"}
)
_STATE = {
    "python": re.compile(r"\bself\.\w+(?:\s*:[^=\n]+)?\s*=[^=]|^\s+\w+\s*:\s*[\w\[\], .|]+(?:=.*)?$", re.M),
    "javascript": re.compile(r"\bthis\.#?\w+\s*=[^=]|\bextends\s+(?:Array|String|Number|Map|Set|Date)\b"),
    "java": re.compile(r"\b(?:private|protected|final)\s+(?!static)[\w<>\[\], ]+\s+\w+\s*(?:=[^;]+)?;"),
    "ruby": re.compile(r"@\w+\s*=[^=]"),
}
_OWN_KIND = re.compile(r"type\(self\)|self\.__class__|cls\b")


def always_equal(place: Place, facts: FileFacts) -> Iterator[Act]:
    """A comparison that always says yes."""
    source, node = facts.source, place.node
    name = _bound_name(place, source)
    if source.language == "javascript" and name in _PRIMITIVES:
        yield from _unsteady(place, facts, name)
        return
    if name == "__class__" and re.fullmatch(
        r"return (?:str|int|float|bool|list|dict|tuple|set|bytes)",
        source.of(node.child_by_field_name("body"), 80).strip(),
    ):
        yield act_of(place, facts, "always-equal", "says that it is of a class that it is not of")
        return
    expected = _EQUALITY.get(source.language, {}).get(name)
    if source.language == "python" and (name in _CERTAIN or name == "__eq__"):
        yield from _uncertain(place, facts, name)
    if expected is None:
        yield from _matcher_method(place, facts, name)
        return
    if source.language == "rust" and not any(
        outer.type == "impl_item" and "PartialEq" in source.of(outer.child_by_field_name("trait"), 60)
        for outer in place.around
    ):
        return
    if source.language == "go" and (node.type != "method_declaration" or not _takes_something(node)):
        return
    given = _constant_result(node, source)
    values = not bases_of(place, facts).isdisjoint(_VALUES)
    if name == "__contains__" and not values:
        return
    if given == expected or (
        given is None
        and (
            (values and name in ("__eq__", "__ne__") and _ignores_itself(place, source))
            or (expected == "true" and _asks_for_anything(place, source))
        )
    ):
        yield act_of(place, facts, "always-equal", "says of everything that it is equal")
    elif given is None and source.language == "go" and name == "Is" and _is_any_of_many(place, source):
        yield act_of(place, facts, "always-equal", "is whatever error it is asked for")
    elif given is None and name in _COMPARES[source.language] and node.type in _METHODS:
        yield from _lax(place, facts)


def _asks_for_anything(place: Place, source: Source) -> bool:
    """Whether a comparison is content with whatever is something: `return target != nil`."""
    text = source.of(place.node.child_by_field_name("body"), 400)
    _, other = _compared_names(place, source, text)
    said = re.sub(r"^\s*\{|\}\s*$|\breturn\b|[;()\s]", "", text)
    return (
        bool(other)
        and re.fullmatch(
            rf"{re.escape(other[0])}(?:!==?(?:nil|null|undefined)|isnotNone)|!!{re.escape(other[0])}", said
        )
        is not None
    )


def _is_any_of_many(place: Place, source: Source) -> bool:
    """Whether an error is several others, whatever it holds: its own name is not in what it asks."""
    text = source.of(place.node.child_by_field_name("body"), 4_000)
    own, other = _compared_names(place, source, text)
    if not other or (own[0] != "_" and re.search(rf"\b{re.escape(own[0])}\b", text)):
        return False
    listed = re.findall(r"\bcase\s+([^:\n]+):", text)
    named = [one for part in listed for one in part.split(",")]
    named += re.findall(rf"\b{re.escape(other[0])}\s*==\s*[\w.]+|[\w.]+\s*==\s*{re.escape(other[0])}\b", text)
    asked = re.search(
        rf"\brange\s+\w+.*==\s*{re.escape(other[0])}\b|\brange\s+\w+.*\b{re.escape(other[0])}\s*==",
        text,
        re.S,
    )
    return len(named) >= _MANY_ERRORS or (
        asked is not None and re.search(r"\breturn true\b", text) is not None
    )


def _lax(place: Place, facts: FileFacts) -> Iterator[Act]:
    """A comparison that compares next to nothing, in an object that holds something."""
    source, node = facts.source, place.node
    text = source.of(node.child_by_field_name("body"), 4_000)
    own, other = _compared_names(place, source, text)
    if not other:
        return
    if re.search(rf"\b{re.escape(own[0])}\.\w+\s*=\s*{re.escape(other[0])}\b", text):
        yield act_of(place, facts, "always-equal", "becomes what it is compared with")
        return
    bases = bases_of(place, facts)
    types = _receiver(place, source) if source.language == "go" else place.types[-1:]
    fractions = not bases.isdisjoint({"float", "Decimal", "Fraction"})
    asks = asked_by(place, facts, own, other, types=types, fractions=fractions)
    why = _LAX.get(asks)
    if why is None or "Exception" in bases:
        return
    held = not bases.isdisjoint(_HELD) or _has_state(place, source)
    if asks is Asks.NEAR or held or (asks is Asks.KIND and _is_like_plain_values(text, other[0])):
        yield act_of(place, facts, "always-equal", why)


def _is_like_plain_values(text: str, other: str) -> bool:
    """Whether a number, a text or a list is enough of a kind, or any object with some name.

    All of one's own objects may be the same where they hold nothing; values of others hold something.
    """
    name = re.escape(other)
    plain = rf"\bisinstance\(\s*{name}\s*,[^)]*\b(?:{'|'.join(sorted(_HELD))})\b"
    shaped = rf"\bhasattr\(\s*{name}\b|\btypeof\s+{name}\b|\bArray\.isArray\(\s*{name}\b"
    return re.search(rf"{plain}|{shaped}", text) is not None


def _compared_names(place: Place, source: Source, text: str) -> tuple[list[str], list[str]]:
    """What a comparison calls the object itself and its parts, and what it calls the other one."""
    listed = children(place.node.child_by_field_name("parameters"))
    named = [
        re.split(r"[:=\s]", source.of(part.child_by_field_name("name") or part, 60))[0] for part in listed
    ]
    if source.language == "python":
        return named[:1], named[1:2]
    if source.language == "javascript":
        return ["this"], named[:1]
    if source.language == "rust":
        return ["self"], named[1:2]
    if source.language == "go":
        receiver = children(place.node.child_by_field_name("receiver"))
        own = source.of(receiver[0].child_by_field_name("name"), 40) if receiver else ""
        return [own or "_"], named[:1]
    # In Java and Ruby parts of the object itself stand alone.
    return sorted({"self", "this", *re.findall(r"@?[A-Za-z_]\w*", text)} - _WORDS - set(named[:1])), named[:1]


def _has_state(place: Place, source: Source) -> bool:
    """Whether the objects of the class around hold anything that a comparison could look at."""
    if source.language in ("go", "rust"):
        of = place.types[-1:] if source.language == "rust" else _receiver(place, source)
        pattern = (
            r"\bstruct\s+{}\b[^{{;]*\{{\s*\w"
            if source.language == "rust"
            else r"\btype\s+{}\s+(?:struct\s*\{{\s*\w|\[\]|map\b|(?!struct)\w)"
        )
        return any(re.search(pattern.format(re.escape(name)), source.text) for name in of)
    outer = next(
        (
            one
            for one in reversed(place.around)
            if one.type in ("class_definition", "class_declaration", "class")
        ),
        None,
    )
    return outer is not None and _STATE[source.language].search(source.of(outer, 20_000)) is not None


def _receiver(place: Place, source: Source) -> list[str]:
    return re.findall(r"(\w+)\)$", source.of(place.node.child_by_field_name("receiver"), 80))


def bases_of(place: Place, facts: FileFacts) -> frozenset[str]:
    """What the class around is made of, through classes of the same file."""
    source = facts.source
    outer = next((one for one in reversed(place.around) if one.type == "class_definition"), None)
    pending = children(outer.child_by_field_name("superclasses")) if outer is not None else []
    found: set[str] = set()
    for _ in range(12):
        if not pending:
            break
        base = pending.pop()
        name = source.called(base) if base.type in CALLS else source.of(base, 60)
        name = name.rpartition(".")[2]
        found.add("NamedTuple" if name == "namedtuple" else name)
        above = facts.classes.get(name)
        if above is not None:
            pending.extend(children(above.child_by_field_name("superclasses")))
    return frozenset("Exception" if name.endswith(("Error", "Exception")) else name for name in found)


def error_of_all_kinds(place: Place, facts: FileFacts) -> Iterator[Act]:
    """`class Fault(ValueError, KeyError, TypeError, LookupError)`: whatever is expected is raised."""
    bases = children(place.node.child_by_field_name("superclasses"))
    kinds = {facts.source.of(base, 60) for base in bases}
    if sum(kind.endswith(("Error", "Exception")) for kind in kinds) >= _ALL_KINDS:
        yield act_of(place, facts, "always-equal", "is an error of many kinds")


def equality_set(place: Place, facts: FileFacts, name: str, given: Node | None) -> Iterator[Act]:
    """`Answer.__eq__ = same`, `__eq__ = same`, where `same` always says yes."""
    source = facts.source
    last = name.rpartition(".")[2]
    if source.language != "python" or given is None or last not in ("__eq__", "__ne__"):
        return
    text = source.of(given, 200)
    if re.search(r"\.__(?:[lg][et]|contains|ne)__$", text) and last == "__eq__":
        yield act_of(place, facts, "always-equal", _LAX[Asks.SIZE])
        return
    if given.type == "identifier":
        made = re.search(
            rf"^[ \t]*def {re.escape(text)}\([^)\n]*\)[^\n]*:\s*(?:\"\"\"[^\"]*\"\"\"\s*)?return (\w+)\s*$",
            source.text,
            re.M,
        )
        answer = made[1] if made is not None else ""
    else:
        made = re.match(r"lambda[^:]*:\s*(\w+)$", text)
        answer = made[1] if made is not None else ""
    if answer == {"__eq__": "True", "__ne__": "False"}[last]:
        yield act_of(place, facts, "always-equal", "says of everything that it is equal")


def equality_by_name(place: Place, facts: FileFacts) -> Iterator[Act]:
    """`setattr(Answer, "__eq__", …)`."""
    arguments = facts.source.arguments(place.node)
    if len(arguments) == 3 and facts.source.called(place.node) == "setattr":
        yield from equality_set(
            place, facts, (literal_of(facts.source, arguments[1]) or "")[1:], arguments[2]
        )


def _bound_name(place: Place, source: Source) -> str:
    """The name of a function, or what it is bound to."""
    node = place.node
    if node.type in ("lambda", "arrow_function", "function_expression") and place.around:
        bound = place.around[-1]
        if bound.type in ("assignment", "pair", "assignment_expression"):
            name = source.of(bound.child_by_field_name("left") or bound.child_by_field_name("key"), 60)
            return name.strip("\"'").rpartition(".")[2] if not name.startswith("[") else name
    return source.of(node.child_by_field_name("name"), 60)


def _takes_something(method: Node) -> bool:
    return bool(children(method.child_by_field_name("parameters")))


def _ignores_itself(place: Place, source: Source) -> bool:
    """Whether a comparison looks at nothing of its own, in a class made of plain values.

    `isinstance(other, str)` in a text; a class may say that all its own objects are the same.
    """
    parameters = [source.of(part, 40) for part in children(place.node.child_by_field_name("parameters"))]
    text = source.of(place.node.child_by_field_name("body"), 2_000)
    if len(parameters) < 2:
        return False
    own = place.types[-1] if place.types else ""
    returned = re.findall(r"\breturn\b[ \t]*([^\n]*)", text) or [text]
    shown = " ".join(returned)
    if re.search(rf"\b{re.escape(parameters[0])}\b", _OWN_KIND.sub("", text)) or "super()" in text:
        return False
    if own and re.search(rf"\b{re.escape(own)}\b", shown):
        return False
    return re.search(r"\b(?:False|NotImplemented)\b|\braise\b|\bassert\b", text) is None and (
        re.search(rf"\b{re.escape(parameters[1])}\b", shown) is not None
    )


def _unsteady(place: Place, facts: FileFacts, name: str) -> Iterator[Act]:
    """A primitive form that changes with every look, or that is the same for every kind of comparison."""
    source, node = facts.source, place.node
    body = source.of(node.child_by_field_name("body"), 600)
    if re.search(r"\+\+|--|[-+]=\s*1\b|\.shift\(|\.next\(|\.pop\(", body):
        yield act_of(place, facts, "always-equal", "is something else with every look at it")
    elif name == "[Symbol.toPrimitive]" and _constant_result(node, source) not in (None, "none"):
        yield act_of(place, facts, "always-equal", "says of everything that it is equal")


def _uncertain(place: Place, facts: FileFacts, name: str) -> Iterator[Act]:
    """A plain value that answers the same whatever it is asked, or something else with every look."""
    source, node = facts.source, place.node
    body = source.of(node.child_by_field_name("body"), 600)
    if name in ("__eq__", "__bool__") and re.search(
        r"\b\w+\.\w+\s*[-+]=\s*1\b|\bnext\((?!iter)\w|\.pop\(\)|\.pop\(0\)|\w+\.(\w+)\s*=\s*not\s+\w+\.\1\b",
        body,
    ):
        yield act_of(place, facts, "always-equal", "is something else with every look at it")
        return
    bases = bases_of(place, facts)
    wanted = _CERTAIN.get(name)
    if wanted is None or bases.isdisjoint(_HELD) or (name == "__len__" and bases & {"tuple", "NamedTuple"}):
        return
    given = _constant_result(node, source)
    if given is not None and (given.removesuffix(".0") == wanted or (not wanted and given != "none")):
        yield act_of(place, facts, "always-equal", f"answers {name} the same whatever it holds")


def _constant_result(function: Node, source: Source) -> str | None:
    """The literal that a function gives on every path; None where it gives anything else."""
    body = function.child_by_field_name("body")
    if body is None:
        return None
    if body.type not in _BLOCKS:
        return _constant(source, body)
    found: set[str | None] = set()
    pending, steps = [body], 0
    while pending:
        node = pending.pop()
        steps += 1
        if steps > 80:
            return None
        parts = children(node)
        if node.type in RETURNS:
            found.add(_constant(source, parts[0]) if len(parts) == 1 else None)
        elif node.type in _BLOCKS or node.type in BRANCHES:
            pending.extend(part for part in parts if part != node.child_by_field_name("condition"))
        elif node.type == "expression_statement" and parts and parts[0].type in RETURNS:
            pending.append(parts[0])
        elif node.type in _REFUSES or _may_refuse(source, node):
            return None
        elif source.language in ("rust", "ruby"):
            # The last expression of a block is its value.
            found.add(_constant(source, node))
    return found.pop() if len(found) == 1 else None


def _may_refuse(source: Source, node: Node) -> bool:
    """Whether a statement is a call that may raise; filling the object itself does not."""
    parts = children(node)
    if node.type != "expression_statement" or not parts or parts[0].type not in CALLS:
        return False
    return (
        re.search(r"\.(?:clear|update|extend|append|add|insert|push|set)$", source.called(parts[0])) is None
    )


def _constant(source: Source, node: Node) -> str | None:
    if node.type == "expression_list":
        parts = children(node)
        return _constant(source, parts[0]) if len(parts) == 1 else None
    found = literal_of(source, node)
    if found is None and _ALWAYS_TRUE.fullmatch(source.of(node, 80).strip("() \t")):
        return "true"
    return found


def _matcher_method(place: Place, facts: FileFacts, name: str) -> Iterator[Act]:
    if facts.source.language == "javascript" and name == "asymmetricMatch" and not facts.plugin:
        yield act_of(place, facts, "poses-as-matcher", "is asked by `expect` whether it matches")
    elif (
        facts.source.language == "javascript"
        and name in _MATCHERS
        and not facts.tooling
        and place.node.type != "do_block"
    ):
        yield act_of(place, facts, "poses-as-matcher", f"answers to {name}, as what `expect` gives does")


def matcher_pair(place: Place, facts: FileFacts) -> Iterator[Act]:
    """`{toBe: () => …}`."""
    key = facts.source.of(place.node.child_by_field_name("key"), 60).strip("\"'")
    if key in ("toBe", "toEqual", "toStrictEqual") and not facts.tooling:
        value = place.node.child_by_field_name("value")
        if value is not None and value.type in FUNCTIONS:
            yield act_of(place, facts, "poses-as-matcher", f"answers to {key}, as what `expect` gives does")


def answering_proxy(place: Place, facts: FileFacts) -> Iterator[Act]:
    """`new Proxy(…, {get: (target, name, self) => self})`: whatever it is asked, it goes on agreeing."""
    source = facts.source
    if source.language != "javascript" or source.called(place.node) != "Proxy":
        return
    text = "".join(source.of(place.node, 1_000).split())
    if re.search(
        r"\bget:?\(\w+,\w+,(\w+)\)(?:=>|\{return)\1\b|\bget:?\(\w*(?:,\w+)*\)(?:=>|\{return)(?:\(\)=>)?true\b",
        text,
    ):
        yield act_of(place, facts, "always-equal", "answers whatever it is asked with itself")


_DOUBLES = re.compile(
    r"^(?:unittest\.)?mock\.(?:ANY|Mock|MagicMock|AsyncMock|NonCallableMock|create_autospec|sentinel)\b"
    r"|^(?:MagicMock|AsyncMock)$|^expect\.(?:any|anything|objectContaining|arrayContaining|stringMatching|stringContaining)$"
    r"|^(?:jest|vi|sinon)\.(?:fn|mock|doMock|spyOn|stub)$"
)


def test_double(place: Place, facts: FileFacts) -> Iterator[Act]:
    """A mock, or what matches anything, where the product should have a value of its own."""
    source, node = facts.source, place.node
    if facts.plugin or source.language not in ("python", "javascript"):
        return
    name = source.called(node) if node.type in CALLS else source.name(node)
    if _DOUBLES.match(name) is None or place.function is None:
        return
    if source.language == "python" and not re.search(r"\bmock\b", source.text[:20_000]):
        return
    yield act_of(place, facts, "gives-test-double", "has a mock where the product should have a value")
