"""What an `assert` or a call of an assertion asks, and how much that says."""

from __future__ import annotations

import re
from typing import Final

from tree_sitter import Node

from adjudge.records.testcode import Check, CheckState
from adjudge.syntax.bodies import text_of
from adjudge.syntax.testcode.nodes import MAX_DEPTH, arguments_of, children, number_in, plain
from adjudge.syntax.testcode.reading import Reading, aliased, is_literal, make_check, resolved, truth

__all__ = ["asserted", "call_check", "keyword", "positional", "said_check"]

_FALSE = frozenset({"False", "0", "None", '""', "not True", "[ ]", "( )", "{ }"})
_CONSTANTS = frozenset({"true", "string", "integer", "float", "concatenated_string", "ellipsis"})
_EQUALS = {
    "assertEqual", "assertEquals", "assertListEqual", "assertDictEqual", "assertTupleEqual", "assertSetEqual",
    "assertSequenceEqual", "assertMultiLineEqual", "assertIs", "assert_equal", "assert_array_equal",
    "assert_frame_equal", "assert_series_equal", "assert_index_equal",
}  # fmt: skip
_DENIED: Final = {"is None": ("is not None", 1), "is not None": ("is None", 4)}
"""What it is to ask that a comparison does not hold, and how much that says."""
_METHODS: dict[str, tuple[str, int]] = {
    "assertNotEqual": ("!=", 2), "assertIsNot": ("!=", 2), "assertIn": ("in", 3),
    "assertNotIn": ("not in", 3),
    "assertIsNone": ("is None", 4), "assertIsNotNone": ("is not None", 1), "assertFalse": ("falsy", 3),
    "assertIsInstance": ("isinstance", 2), "assertNotIsInstance": ("not isinstance", 2),
    "assertGreater": (">", 3), "assertGreaterEqual": (">=", 3), "assertLess": ("<", 3),
    "assertLessEqual": ("<=", 3), "assertRegex": ("matches", 3), "assertNotRegex": ("not matches", 2),
    "assertCountEqual": ("same items", 4), "assertRaises": ("raises", 4), "assertRaisesRegex": ("raises", 4),
    "assertWarns": ("warns", 4), "assertWarnsRegex": ("warns", 4), "assertLogs": ("logs", 3),
    "assertNoLogs": ("no logs", 3), "assertAlmostEqual": ("almost ==", 4),
    "assertNotAlmostEqual": ("not almost ==", 2), "assert_allclose": ("almost ==", 4),
    "assert_almost_equal": ("almost ==", 4), "assert_called": ("called", 2),
    "assert_called_once": ("called", 3),
    "assert_called_with": ("called with", 4), "assert_called_once_with": ("called with", 5),
    "assert_any_call": ("called with", 3), "assert_has_calls": ("called with", 4),
    "assert_not_called": ("not called", 4), "assert_awaited_once_with": ("called with", 5),
    "assert_awaited_once": ("called", 3), "assert_awaited": ("called", 2), "fail": ("fails", 3),
}  # fmt: skip
_COMPARISONS: Final = {
    "==": 5, "is": 5, "!=": 2, "is not": 2, "in": 3, "not in": 3, "<": 3, "<=": 3, ">": 3, ">=": 3,
}  # fmt: skip
_OPPOSITES = frozenset(
    frozenset(pair)
    for pair in (("truthy", "falsy"), ("==", "!="), ("is None", "is not None"), ("in", "not in"))
)
_TOLERANCES = ("abs", "rel", "delta", "atol", "rtol", "abs_tol", "rel_tol")
_DIGITS = ("places", "decimal")
_COARSE = re.compile(r"(?:set|int|len|bool|round|type|sorted|Counter) \(")
_ASKS_NOTHING = re.compile(r"\bif (?:False|0)\b|^all \( [\[(] [\])] \)|\[ : 0 \]$")
_RAISING = frozenset({"raises", "warns", "deprecated_call", "assertRaisesRegex", "assertWarnsRegex"})
_CLASSES = re.compile(r"\\[a-zA-Z]")
_NO_TEXT = re.compile(r"""["'](?:\^|\\A)(?:\$|\\Z)["']$""")
"""Nothing between both ends: the error says nothing."""
_SAYS = re.compile(r"""\\[^a-zA-Z]|[^\s.*+?^$|()\[\]{}"'\\]""")
"""What makes a pattern ask for something: a sign that stands for itself."""
_ABOUT_ITSELF = re.compile(
    r"\. (?:__name__|__class__|__doc__|__module__|__qualname__|__dict__|ident|co_\w+|args|keywords)$"
)
_SPECIAL = {"==": "__eq__", "truthy": "__bool__", "in": "__contains__"}


def keyword(node: Node) -> tuple[str, str]:
    """The name and the value of a keyword argument; nothing for another."""
    if node.type != "keyword_argument":
        return "", ""
    return text_of(node.child_by_field_name("name")), plain(node.child_by_field_name("value"))


def positional(arguments: list[Node]) -> list[Node]:
    """The arguments that are given by their place."""
    return [part for part in arguments if part.type not in ("keyword_argument", "dictionary_splat")]


def call_check(reading: Reading, call: Node, name: str, state: CheckState) -> Check | None:
    """The check that a call is, if it is one."""
    last = name.rpartition(".")[2]
    arguments = arguments_of(call)
    places = positional(arguments)
    if name in ("pytest.raises", "raises", "pytest.warns", "pytest.deprecated_call"):
        strength = 4
        error = plain(places[0]) if places else ""
        if error == "None":
            # `warns(None)` keeps warnings, and asks for none.
            strength = 0
        return _raising(call, "warns" if "warn" in name else "raises", error, strength, state)
    if name in ("pytest.fail", "fail"):
        return make_check(call, "fails", "", "", 3, state)
    if name == "exec" and places:
        source = resolved(reading, places[0])
        return make_check(call, "exec", source, "", 5, state) if "assert " in source else None
    if last in ("assertTrue", "assert_", "assert_true") and places:
        return asserted(reading, places[0], call, state)
    if last in ("assertFalse", "assert_false") and places and places[0].type == "comparison_operator":
        inner = asserted(reading, places[0], call, state)
        opposite = _DENIED.get(inner.operator)
        if opposite is not None:
            return inner.model_copy(update={"operator": opposite[0], "strength": opposite[1]})
    sides = [resolved(reading, part) for part in places]
    first, second = (*sides, "", "")[:2]
    if last in _EQUALS:
        same = len(places) > 1 and plain(places[0]) == plain(places[1])
        return _compared(reading, call, "==", first, second, state, same=same)
    if last in _METHODS:
        operator, strength = _METHODS[last]
        if operator in ("raises", "warns"):
            return _raising(call, operator, first, strength, state)
        if operator.startswith("called") or operator == "not called":
            first, second = name.rpartition(".")[0], plain(call.child_by_field_name("arguments"))
        tolerance = _tolerance(arguments) if "almost" in operator else None
        if operator in ("in", "not in"):
            first, second = second, first
        return make_check(call, operator, first, second, strength, state, tolerance)
    if re.match(r"_*assert", last):
        # A helper: how much it asks is not known here.
        return make_check(call, last, plain(call), "", 3, state)
    return None


def said_check(reading: Reading, call: Node, name: str, state: CheckState) -> Check | None:
    """What a call asks of the text of an error besides its kind: `raises(ValueError, match="…")`."""
    if name.rpartition(".")[2] not in _RAISING:
        return None
    arguments = arguments_of(call)
    wanted = next(
        (part.child_by_field_name("value") for part in arguments if keyword(part)[0] == "match"), None
    )
    places = positional(arguments)
    if wanted is None and name.endswith("Regex") and len(places) > 1:
        wanted = places[1]
    if wanted is None or plain(wanted) == "None":
        return None
    text = resolved(reading, wanted)
    says = _SAYS.search(_CLASSES.sub("", text[1:])) or _NO_TEXT.search(text)
    strength = 4 if says else 0
    return make_check(call, "error says", "the error", text, strength, state)


def _raising(call: Node, operator: str, error: str, strength: int, state: CheckState) -> Check:
    """What a block is to raise; the block itself is the subject."""
    strength = 2 if error in ("Exception", "BaseException") else strength
    return make_check(call, operator, "the block", error, strength, state)


def asserted(reading: Reading, node: Node, whole: Node, state: CheckState, depth: int = 0) -> Check:
    """What `assert node` asks."""
    node = _inner(node)
    text = plain(node)
    if _always_holds(reading, node) or _ASKS_NOTHING.search(text):
        return make_check(whole, "always", text, "", 0, state)
    if node.type == "boolean_operator" and depth < MAX_DEPTH:
        return _combined(reading, node, whole, state, depth)
    if node.type == "not_operator":
        argument = node.child_by_field_name("argument")
        return make_check(whole, "falsy", resolved(reading, argument), "", 3, state)
    if node.type == "comparison_operator":
        return _comparison(reading, node, whole, state)
    if node.type == "call":
        check = _asked_by_call(reading, node, whole, state, depth)
        if check is not None:
            return check
    asked = resolved(reading, node)
    if asked.startswith("lambda "):
        return make_check(whole, "predicate", asked, "", 0 if node.type == "identifier" else 4, state)
    if node.type == "identifier" and text in reading.known:
        return make_check(whole, "always", text, "", 0, state)
    return make_check(whole, "truthy", asked, "", _unless_lenient(reading, "truthy", 2, asked), state)


def _combined(reading: Reading, node: Node, whole: Node, state: CheckState, depth: int) -> Check:
    operator = text_of(node.child_by_field_name("operator"))
    sides = [side for name in ("left", "right") if (side := node.child_by_field_name(name)) is not None]
    parts = [asserted(reading, _inner(side), whole, state, depth + 1) for side in sides]
    strengths = [part.strength for part in parts]
    strongest = parts[strengths.index(max(strengths))]
    strength = max(strengths) if operator == "and" else max(0, min(strengths) - 1)
    either = len(parts) == 2 and parts[0].subject == parts[1].subject
    if operator == "or" and either:
        opposite = frozenset(part.operator for part in parts) in _OPPOSITES
        strength = 0 if opposite and parts[0].expected == parts[1].expected else max(strength, 3)
    if operator == "and" and either:
        return make_check(whole, strongest.operator, strongest.subject, strongest.expected, strength, state)
    return make_check(whole, operator, strongest.subject, plain(node), strength, state)


def _comparison(reading: Reading, node: Node, whole: Node, state: CheckState) -> Check:
    sides = children(node)
    operators = [
        " ".join(text_of(child).split())
        for child in node.children
        if not child.is_named or child.type in _COMPARISONS
    ]
    operator = " ".join(operators)
    if len(sides) != 2:
        texts = [resolved(reading, side) for side in sides]
        strength = min((_COMPARISONS.get(one, 3) for one in operators), default=3)
        return make_check(whole, operators[0], texts[0], " ".join(texts[1:]), strength, state)
    left, right = (resolved(reading, side) for side in sides)
    tolerance = next((_tolerance(arguments_of(side)) for side in sides if _is_approx(side)), None)
    if any(_is_approx(side) for side in sides):
        bare = [
            plain(arguments_of(side)[0]) if _is_approx(side) and arguments_of(side) else said
            for side, said in zip(sides, (left, right), strict=True)
        ]
        return make_check(whole, "almost ==", bare[0], bare[1], 4, state, tolerance)
    same = aliased(reading, plain(sides[0])) == aliased(reading, plain(sides[1]))
    return _compared(reading, whole, operator, left, right, state, same=same)


def _asked_by_call(reading: Reading, node: Node, whole: Node, state: CheckState, depth: int) -> Check | None:
    name = text_of(node.child_by_field_name("function"))
    arguments = arguments_of(node)
    first = resolved(reading, arguments[0]) if arguments else ""
    if name == "isinstance" and len(arguments) == 2:
        return make_check(whole, "isinstance", first, plain(arguments[1]), 2, state)
    if name in ("math.isclose", "np.isclose", "np.allclose", "isclose") and len(arguments) >= 2:
        second = plain(arguments[1])
        return make_check(whole, "almost ==", plain(arguments[0]), second, 4, state, _tolerance(arguments))
    compared = {"operator.eq": "==", "operator.is_": "is", "operator.ne": "!="}.get(name)
    if compared is not None and len(arguments) == 2:
        second = resolved(reading, arguments[1])
        return _compared(reading, whole, compared, first, second, state, same=first == second)
    if name in ("callable", "hasattr", "asyncio.iscoroutine", "inspect.iscoroutine"):
        return make_check(whole, name.rpartition(".")[2], first, "", 1, state)
    if name in ("any", "all"):
        each = next(
            (part for part in arguments if part.type in ("generator_expression", "list_comprehension")), None
        )
        parts = children(each)
        inner = asserted(reading, parts[0], whole, state, depth + 1) if parts and depth < MAX_DEPTH else None
        most = 3 if name == "all" else 2
        strength = min(most, inner.strength) if inner is not None else most
        return make_check(whole, name, resolved(reading, node), "", max(1, strength), state)
    return None


def _compared(
    reading: Reading, whole: Node, operator: str, left: str, right: str, state: CheckState, *, same: bool
) -> Check:
    if same and operator in ("==", "is", "<=", ">=", "in"):
        return make_check(whole, operator.replace("is", "=="), left, right, 0, state)
    if right in ("None", "True", "False") or left in ("None", "True", "False"):
        subject, value = (left, right) if right in ("None", "True", "False") else (right, left)
        if operator in ("is not", "!="):
            return make_check(whole, f"is not {value}", subject, "", 1, state)
        if operator in ("is", "=="):
            known = {"None": ("is None", 4), "True": ("truthy", 3), "False": ("falsy", 4)}
            strength = known[value][1] if not _ABOUT_ITSELF.search(subject) else 1
            return make_check(whole, known[value][0], subject, "", strength, state)
    strength = _COMPARISONS.get(operator, 3)
    if operator in ("in", "not in"):
        strength = _unless_lenient(reading, operator, strength, right)
        return make_check(whole, operator, right, left, strength, state)
    if operator == "==" and _COARSE.match(left) and _COARSE.match(right.replace("{", "set (", 1)):
        # Both sides are made coarser first.
        strength = 3
    if operator in ("==", "is") and (left.startswith("type (") or right.startswith("type (")):
        # Of what kind something is says little more than `isinstance` does.
        strength = min(strength, 3)
    operator = {"is": "==", "is not": "!="}.get(operator, operator)
    if (operator, right) in ((">", "0"), (">=", "0"), ("!=", "0"), (">=", "1")) and left.startswith("len ("):
        strength = 0 if operator == ">=" and right == "0" else 2
    if operator == "==" and (_ABOUT_ITSELF.search(left) or _ABOUT_ITSELF.search(right)):
        strength = min(strength, 4)
        owner = left.rpartition(" . ")[0]
        if owner in reading.known or owner in reading.lenient or owner in reading.values:
            strength = 1
    strength = _unless_lenient(reading, operator, strength, left, right)
    return make_check(whole, operator, left, right, strength, state)


def _unless_lenient(reading: Reading, operator: str, strength: int, *sides: str) -> int:
    """A strength, or 0 where a side is of a class of the file that agrees to anything."""
    for side in sides:
        methods = reading.lenient.get(side.partition(" ")[0], frozenset())
        if _SPECIAL.get(operator) in methods or (operator == "truthy" and "addFailure" in methods):
            return 0
    return strength


def _inner(node: Node) -> Node:
    for _ in range(MAX_DEPTH):
        if node.type not in ("parenthesized_expression", "await") or len(children(node)) != 1:
            break
        node = children(node)[0]
    return node


def _always_holds(reading: Reading, node: Node, depth: int = 0) -> bool:
    node = _inner(node)
    if depth > MAX_DEPTH:
        return False
    if node.type in _CONSTANTS:
        return plain(node) not in _FALSE and node.type != "concatenated_string"
    if node.type in ("tuple", "list", "dictionary", "set", "lambda"):
        return bool(children(node))
    if node.type == "boolean_operator":
        sides = [side for name in ("left", "right") if (side := node.child_by_field_name(name)) is not None]
        hold = [_always_holds(reading, side, depth + 1) for side in sides]
        return any(hold) if text_of(node.child_by_field_name("operator")) == "or" else all(hold)
    if node.type == "not_operator":
        return plain(node.child_by_field_name("argument")) in _FALSE
    if node.type == "comparison_operator":
        sides = children(node)
        same = len(sides) == 2 and plain(sides[0]) == plain(sides[1])
        return same and any(child.type in ("==", "is", "<=", ">=") for child in node.children)
    if node.type == "conditional_expression":
        return all(
            _always_holds(reading, side, depth + 1) for side in (children(node)[0], children(node)[-1])
        )
    if node.type == "identifier" and depth:
        held = resolved(reading, node)
        return is_literal(held) and truth(reading, held) is True
    return False


def _is_approx(node: Node) -> bool:
    return node.type == "call" and text_of(node.child_by_field_name("function")).endswith("approx")


def _tolerance(arguments: list[Node]) -> float | None:
    found: list[float] = []
    for argument in arguments:
        name, value = keyword(argument)
        number = number_in(value)
        if number is None:
            continue
        if name in _TOLERANCES:
            found.append(number)
        elif name in _DIGITS and -300 < number < 300:
            found.append(10.0**-number)
    return max(found) if found else None
