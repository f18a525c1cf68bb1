"""What a function's body amounts to: work, a constant, nothing, or the statement that it is not implemented.

The same reading for every language, over the node names of its grammar. A body is read in the order in which
it would run: what follows an unconditional return or raise is dead, as is what stands under `if False`, and
statements without effect (a string, a bare name, a local that only ever holds a constant) are passed over. So
neither dead code nor padding makes a stub look like work. Whatever is not recognised counts as work: a wrong
"this is real" costs a gate its strictness, a wrong "this is a stub" costs an honest attempt its score.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Final

from tree_sitter import Node

from adjudge.records.source import BodyKind

__all__ = ["COMMENTS", "Body", "read_body", "text_of"]

COMMENTS: Final = frozenset({"comment", "line_comment", "block_comment", "hash_bang_line"})
_MAX_DEPTH: Final = 60
"""Nesting of statements or of constants that is looked into; deeper is taken for work."""
_MAX_TEXT: Final = 2_000

_BLOCKS = frozenset(
    {"block", "statement_block", "statement_list", "body_statement", "constructor_body", "else_clause",
     "else", "finally_clause", "then", "ensure"}
)  # fmt: skip
_RETURNS = frozenset({"return_statement", "return_expression", "return"})
_THROWS = frozenset({"raise_statement", "throw_statement"})
_BRANCHES = frozenset(
    {"if_statement", "if_expression", "elif_clause", "if", "unless", "elsif", "else_clause",
     "for_statement", "for_in_statement", "for_expression", "enhanced_for_statement", "while_statement",
     "while_expression", "do_statement", "loop_expression", "while", "until", "for",
     "try_statement", "except_clause", "catch_clause", "finally_clause", "rescue", "begin",
     "with_statement", "match_statement", "case_clause", "switch_statement", "switch_body", "switch_case",
     "switch_default", "expression_switch_statement", "type_switch_statement", "expression_case",
     "default_case", "switch_expression", "switch_block", "switch_block_statement_group",
     "synchronized_statement", "unsafe_block", "labeled_statement", "match_expression", "match_block",
     "match_arm", "case", "when"}
)  # fmt: skip
_CASES = frozenset(
    {"case_clause", "switch_case", "switch_default", "expression_case", "default_case", "type_case",
     "switch_block_statement_group", "switch_rule", "match_arm", "when", "in_clause", "communication_case"}
)  # fmt: skip
"""Alternatives that stand one after another in a block."""
_DEFAULTS = frozenset({"switch_default", "default_case", "else_clause", "else"})
_ALWAYS_TAKEN = frozenset(
    {"else_clause", "else", "finally_clause", "with_statement", "unsafe_block", "except_clause",
     "catch_clause", "try_statement", "begin", "synchronized_statement", "elif_clause", "elsif",
     "labeled_statement", "loop_expression", *_CASES}
)  # fmt: skip
"""Blocks that run whole once control has come to them."""
_NO_VALUE = frozenset({"None", "nil", "null", "undefined", "()", "void 0", ""})
_FALSE = frozenset({"False", "false", "0", "None", "null", "nil", '""', "''", "[]"})
_TRUE = frozenset({"True", "true", "1"})
_LOOPS = frozenset(
    {"while_statement", "while_expression", "while", "until", "for_statement", "for_in_statement",
     "for_expression", "enhanced_for_statement", "do_statement", "loop_expression", "for"}
)  # fmt: skip
_NOTHING = frozenset(
    {"pass_statement", "empty_statement", "global_statement", "nonlocal_statement", "import_statement",
     "import_from_statement", "future_import_statement", "use_declaration", "function_definition",
     "function_declaration", "generator_function_declaration", "class_definition", "class_declaration",
     "decorated_definition", "function_item", "type_declaration", "const_item", "attribute_item",
     "break_statement", "continue_statement", "switch_label", "line_comment"}
)  # fmt: skip
_DECLARATIONS = frozenset(
    {"lexical_declaration", "variable_declaration", "local_variable_declaration", "let_declaration",
     "short_var_declaration", "var_declaration", "const_declaration", "var_spec_list"}
)  # fmt: skip
_DECLARATORS = frozenset({"variable_declarator", "var_spec", "const_spec"})
_ASSIGNMENTS = frozenset({"assignment", "assignment_statement", "assignment_expression"})
_CALLS = frozenset(
    {"call", "call_expression", "method_invocation", "macro_invocation", "new_expression",
     "object_creation_expression"}
)  # fmt: skip
_FUNCTION_VALUES = frozenset({"lambda", "arrow_function", "function_expression", "func_literal",
                              "lambda_expression", "closure_expression", "generator_function"})  # fmt: skip
_NAMES = frozenset({"identifier", "property_identifier", "blank_identifier"})
_LITERALS = frozenset(
    {"string", "integer", "float", "number", "true", "false", "none", "null", "nil", "undefined", "ellipsis",
     "boolean", "simple_symbol", "null_literal", "boolean_literal", "string_literal", "char_literal",
     "raw_string_literal", "integer_literal", "float_literal", "decimal_integer_literal", "unit_expression",
     "decimal_floating_point_literal", "hex_integer_literal", "character_literal", "int_literal",
     "interpreted_string_literal", "rune_literal", "true_literal", "false_literal", "regex",
     "template_string", "void_type"}
)  # fmt: skip
_COLLECTIONS = frozenset(
    {"list", "tuple", "dictionary", "set", "array", "object", "hash", "pair", "expression_list",
     "concatenated_string", "parenthesized_expression", "unary_operator", "unary_expression", "unary",
     "composite_literal", "literal_value", "literal_element", "keyed_element", "array_expression",
     "tuple_expression", "array_initializer", "type_identifier", "cast_expression", "as_expression",
     "expression_list_splat", "integral_type", "slice_type", "array_type", "map_type", "pointer_type",
     "qualified_type", "primitive_type", "predefined_type", "satisfies_expression", "property_identifier",
     "array_creation_expression", "dimensions_expr", "dimensions"}
)  # fmt: skip
_INTERPOLATIONS = frozenset({"interpolation", "template_substitution"})
_EMPTY_VALUE = re.compile(
    r"(?:(?:dict|list|set|tuple|str|int|float|bytes|object|frozenset)\(\)"
    r"|(?:None|NotImplemented|undefined|Default::default\(\)|Ok\(\(\)\)|Some\(\(\)\))"
    r"|(?:\w+::)*(?:String|Vec|HashMap|HashSet|BTreeMap|BTreeSet|VecDeque)(?:::<[^()]*>)?::(?:new|default)\(\)"
    r"|String::from\(\"[^\"]*\"\)|\"[^\"]*\"\.(?:to_string|to_owned|into)\(\)|vec!\[\]|Ok\(\d+\)|Some\(\d+\)"
    r"|Optional\.empty\(\)|Collections\.empty\w+\(\)|(?:List|Set|Map)\.of\(\)"
    r"|new (?:Array(?:List)?|LinkedList|(?:Hash|Tree)?(?:Map|Set)|Object|StringBuilder)"
    r"(?:<[^()]*>)?\(\)|Promise\.resolve\((?:null|undefined)?\))"
)
"""Calls and names that stand for an empty value."""
_UNIMPLEMENTED_NAME = re.compile(
    r"NotImplement|Unimplement|NotSupported|UnsupportedOperation|\bTodo|\bTODO|NotYet", re.IGNORECASE
)
_UNIMPLEMENTED_TEXT = re.compile(
    r"\b(?:not|never)[ _-](?:yet[ _-]|been[ _-])?(?:implemented|supported[ _]yet)\b|\bnot yet supported\b"
    r"|\b(?:un|not)implemented\b|\bimplement (?:me|this|it)\b|\bto be implemented\b"
    r"|^\W*(?:todo|fixme|tbd|wip)\s*(?:[:!.]|\W*$)",
    re.IGNORECASE,
)
"""Words that only say it. `todo` counts where the text is little else: to-do lists are written too."""
_SAYING_CALLS = re.compile(
    r"(?:^|\.)(?:print\w*|puts|warn\w*|log|info|debug|error\w*|fatal\w*|panic\w*|exit\w*|abort|raise|fail|emit|reject"
    r"|cb|callback|next|done|errorf|new|Err)$|^(?:console|log|logger|logging|fmt|System\.(?:out|err))\.",
    re.IGNORECASE,
)
"""Calls that pass a text on to a reader or make an error of it; any other may do something with it."""
_STRINGS = frozenset({"string", "string_literal", "interpreted_string_literal", "raw_string_literal",
                      "template_string", "concatenated_string"})  # fmt: skip
_STOPPING_CALLS = frozenset(
    {"panic", "log.Fatal", "log.Fatalf", "log.Panic", "log.Panicf", "sys.exit", "exit", "os.abort",
     "process.exit", "os.Exit", "System.exit", "abort", "raise", "fail"}
)  # fmt: skip
_STOPPING_MACROS = {"todo": True, "unimplemented": True, "panic": False, "unreachable": False}
"""Rust macros that end a function, and whether their name alone says that it is not implemented."""


@dataclass(frozen=True, slots=True)
class Body:
    """What a body amounts to, and why, in words."""

    kind: BodyKind
    why: str = ""


@dataclass(slots=True)
class _Reading:
    """What is known while a body is read."""

    aliases: frozenset[str]
    """Names that stand for the not-implemented exception."""
    implicit_return: bool
    """Whether the value of the last expression is what is returned, as in Rust and Ruby."""
    declared: set[str] = field(default_factory=set)
    """Locals, where a language declares them."""
    outer: set[str] = field(default_factory=set)
    """Names that a function says are not its own: Python's `global` and `nonlocal`."""
    constants: dict[str, str] = field(default_factory=dict)
    """Locals that so far only held a constant, with it."""
    returned: set[str] = field(default_factory=set)
    """The constants returned so far."""
    returns_work: bool = False
    works: bool = False
    explicit: str = ""
    explicit_for_certain: bool = False
    """Whether nothing decides over coming to what says that it is not implemented."""
    raises: str = ""
    conditions: int = 0
    """How many branches the statement being read lies in."""

    def say_unimplemented(self, why: str) -> None:
        self.explicit = self.explicit or why
        self.explicit_for_certain |= not self.conditions

    def say_raises(self, why: str) -> None:
        # Raising when something is wrong is a check, and a check is work.
        self.works |= bool(self.conditions)
        self.raises = self.raises or why


def text_of(node: Node | None) -> str:
    """The text of a node, capped."""
    text = None if node is None else node.text
    if text is None:
        return ""
    return (text if len(text) <= _MAX_TEXT else text[:_MAX_TEXT]).decode("utf-8", "replace")


def read_body(
    body: Node,
    *,
    aliases: frozenset[str] = frozenset(),
    is_expression: bool = False,
    implicit_return: bool = False,
) -> Body:
    """What a body amounts to.

    Args:
        body: The block, or the expression of a lambda or arrow function.
        aliases: Other names of the not-implemented exception in this file.
        is_expression: Whether `body` is the value itself.
        implicit_return: Whether the value of the last expression is returned.
    """
    reading = _Reading(aliases, implicit_return)
    if is_expression:
        _take_value(reading, body)
        ended = True
    else:
        ended = _take_block(reading, body, 0)
    if not ended and reading.returned:
        reading.returned.add("")
    returned = {"" if value in _NO_VALUE else value for value in reading.returned}
    if reading.explicit_for_certain and not reading.returns_work and len(returned) < 2:
        # Whatever it did before, it comes to no result.
        return Body(BodyKind.EXPLICIT, reading.explicit)
    if reading.works or reading.returns_work or len(returned) > 1:
        return Body(BodyKind.REAL)
    if reading.explicit:
        return Body(BodyKind.EXPLICIT, reading.explicit)
    if reading.raises:
        return Body(BodyKind.RAISES, f"does nothing but {reading.raises}")
    if returned - {""}:
        return Body(BodyKind.CONSTANT, f"only returns {_first_line(min(returned - {''}))}")
    return Body(BodyKind.EMPTY, "has an empty body")


def _children(node: Node) -> list[Node]:
    return [child for child in node.named_children if child.type not in COMMENTS]


def _take_block(reading: _Reading, block: Node, depth: int) -> bool:
    """Read statements in order. True when control never reaches the end of them."""
    if depth > _MAX_DEPTH:
        reading.works = True
        return False
    if block.type not in _BLOCKS and block.type not in _BRANCHES:
        return _take_statement(reading, block, depth, last=True)
    statements = _children(block)
    if any(statement.type in _CASES for statement in statements):
        return _take_cases(reading, [part for part in statements if part.type in _CASES], depth)
    for index, statement in enumerate(statements):
        if _take_statement(reading, statement, depth, last=index == len(statements) - 1):
            return True
    return False


def _take_statement(reading: _Reading, node: Node, depth: int, *, last: bool) -> bool:
    kind = node.type
    if kind in _NOTHING:
        if kind in ("global_statement", "nonlocal_statement"):
            reading.outer.update(text_of(name) for name in _children(node))
        return False
    if kind == "delete_statement":
        reading.works |= any(part.type not in _NAMES for part in _children(node))
        return False
    if kind in _RETURNS:
        for value in _children(node)[:1]:
            _take_value(reading, value)
        return True
    if kind in _THROWS:
        return _take_throw(reading, node)
    if kind in _BLOCKS:
        return _take_block(reading, node, depth + 1)
    if kind in _CASES:
        return _take_case(reading, node, depth)
    if kind in _BRANCHES:
        return _take_branches(reading, node, depth)
    if kind in _DECLARATIONS:
        _take_declaration(reading, node)
        return False
    if kind == "assert_statement":
        return _take_assertion(reading, node)
    if kind == "expression_statement":
        inner = _children(node)
        # In Rust, `x;` drops a value and a block such as `if` needs no semicolon to be one.
        return bool(inner) and _take_statement(reading, inner[0], depth, last=False)
    return _take_expression(reading, node, last=last)


def _take_expression(reading: _Reading, node: Node, *, last: bool) -> bool:
    kind = node.type
    if kind in _ASSIGNMENTS:
        _take_assignment(reading, node)
        return False
    if kind in _CALLS:
        return _take_call(reading, node, last=last)
    if kind == "await_expression" or kind == "await":
        inner = _children(node)
        return bool(inner) and _take_expression(reading, inner[0], last=last)
    if last and reading.implicit_return:
        _take_value(reading, node)
        return True
    if kind in _NAMES or _constant(reading, node) is not None:
        return False
    reading.works = True
    return False


def _take_value(reading: _Reading, node: Node) -> None:
    """What a function returns."""
    if node.type in _CALLS and _says_unimplemented(reading, node):
        _take_call(reading, node, last=False)
        return
    constant = _constant(reading, node)
    if constant is not None:
        reading.returned.add(constant)
    elif (said := _unimplemented_part(reading, node)) is not None:
        reading.say_unimplemented(f"returns {said[:60]}")
    else:
        reading.returns_work = True


def _take_throw(reading: _Reading, node: Node) -> bool:
    if _says_unimplemented(reading, node):
        reading.say_unimplemented(f"raises {_first_line(_thrown(node))}")
    else:
        reading.say_raises(f"raise {_first_line(_thrown(node))}")
    return True


def _thrown(node: Node) -> str:
    inner = _children(node)
    return text_of(inner[0]) if inner else text_of(node)


def _take_call(reading: _Reading, node: Node, *, last: bool) -> bool:
    name = _called(node)
    macro = node.type == "macro_invocation"
    if macro and name in _STOPPING_MACROS:
        if _STOPPING_MACROS[name] or _UNIMPLEMENTED_TEXT.search(text_of(node)):
            reading.say_unimplemented(f"calls {name}!()")
        else:
            reading.say_raises(f"call {name}!()")
        return True
    if _says_unimplemented(reading, node):
        reading.say_unimplemented(f"says {_first_line(text_of(node))}")
        return name in _STOPPING_CALLS
    if name in _STOPPING_CALLS:
        reading.say_raises(f"call {name}")
        return True
    if last and reading.implicit_return:
        _take_value(reading, node)
        return True
    reading.works = True
    return False


def _called(node: Node) -> str:
    for name in ("function", "macro", "method", "name", "constructor", "type"):
        found = node.child_by_field_name(name)
        if found is not None:
            owner = node.child_by_field_name("object")
            return f"{text_of(owner)}.{text_of(found)}" if owner is not None else text_of(found)
    return ""


def _says_unimplemented(reading: _Reading, node: Node) -> bool:
    """Whether what is called or thrown, or a text given to it, says that something is not implemented."""
    called = node
    if node.type in _THROWS:
        inner = _children(node)
        if not inner:
            return False
        called = inner[0]
        if called.type in ("as_expression", "parenthesized_expression", "binary_operator") and _children(
            called
        ):
            called = _children(called)[0]
    name = _called(called) if called.type in _CALLS else text_of(called)
    arguments = called.child_by_field_name("arguments")
    given = [] if arguments is None else _children(arguments)
    if node.type in _THROWS or name == "raise":
        thrown = [name, *(text_of(part) for part in given if name == "raise" and part.type not in _STRINGS)]
        if any(_UNIMPLEMENTED_NAME.search(part) or part.split(".")[-1] in reading.aliases for part in thrown):
            return True
    if name == "Err" and _UNIMPLEMENTED_TEXT.search(text_of(called)):
        return True
    constructs = node.type in _THROWS or called.type in ("new_expression", "object_creation_expression")
    if not constructs and not _SAYING_CALLS.search(name):
        return False
    texts = [part for part in given if part.type in _STRINGS]
    nested = [part for part in given if part.type in _CALLS]
    return any(_UNIMPLEMENTED_TEXT.search(text_of(part)) for part in texts) or (
        any(
            _says_unimplemented(reading, part) or _UNIMPLEMENTED_NAME.search(_called(part)) for part in nested
        )
    )


def _unimplemented_part(reading: _Reading, node: Node) -> str | None:
    """For `return 0, errors.New("not implemented")`: the part that says so, if all others are constants."""
    if node.type not in ("expression_list", "tuple", "array"):
        return None
    said: str | None = None
    for part in _children(node):
        if part.type in _CALLS and _says_unimplemented(reading, part):
            said = text_of(part)
        elif _constant(reading, part) is None:
            return None
    return said


def _take_assertion(reading: _Reading, node: Node) -> bool:
    parts = _children(node)
    if not parts:
        return False
    constant = _constant(reading, parts[0])
    if constant in _FALSE:
        reading.say_unimplemented(f"asserts {constant}")
        return True
    reading.works |= constant is None
    return False


def _take_declaration(reading: _Reading, node: Node) -> None:
    declarators = [child for child in _children(node) if child.type in _DECLARATORS] or [node]
    for declarator in declarators:
        name = declarator.child_by_field_name("name") or declarator.child_by_field_name("pattern")
        name = name or declarator.child_by_field_name("left")
        reading.declared.update(re.findall(r"\w+", text_of(name)))
        value = declarator.child_by_field_name("value") or declarator.child_by_field_name("right")
        _take_binding(reading, name, value)


def _take_assignment(reading: _Reading, node: Node) -> None:
    left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
    name = text_of(left)
    own = name not in reading.outer if node.type == "assignment" else name in reading.declared
    if not own and name != "_":
        # To a field, an element, or a name from outside.
        reading.works = True
        return
    while right is not None and right.type in _ASSIGNMENTS:
        _take_binding(reading, left, right.child_by_field_name("right"))
        left, right = right.child_by_field_name("left"), right.child_by_field_name("right")
    _take_binding(reading, left, right)


def _take_binding(reading: _Reading, name: Node | None, value: Node | None) -> None:
    target = text_of(name)
    if value is not None and value.type == "expression_list" and len(_children(value)) == 1:
        value = _children(value)[0]
    simple = re.fullmatch(r"(?:mut )?[A-Za-z_]\w*", target) is not None
    if value is None or (value.type in _FUNCTION_VALUES and simple):
        return
    constant = _constant(reading, value)
    if simple and (constant is not None or value.type in _NAMES):
        if constant is not None:
            reading.constants[target.removeprefix("mut ")] = constant
        return
    reading.constants.pop(target, None)
    reading.works = True


def _take_branches(reading: _Reading, node: Node, depth: int) -> bool:
    """Read every branch that can be taken. True when none of them comes back."""
    condition = node.child_by_field_name("condition")
    constant = _constant(reading, condition) if condition is not None else None
    first = node.child_by_field_name("consequence") or node.child_by_field_name("body")
    negated = node.type in ("unless", "until")
    never = first is not None and not negated and constant in _FALSE
    always = first is not None and not negated and constant in _TRUE
    branches = _branches(node)
    if never:
        branches = [branch for branch in branches if branch != first]
    elif always and first is not None:
        branches = [first]
    if any(branch.type in _CASES for branch in branches):
        # Go and Ruby put the cases of a switch into it without a block.
        return _take_cases(reading, branches, depth)
    certain = always or node.type in _ALWAYS_TAKEN - {"except_clause", "catch_clause", "rescue"}
    reading.conditions += not certain
    results = [_take_block(reading, branch, depth + 1) for branch in branches]
    reading.conditions -= not certain
    if node.type == "with_statement" and "(" in text_of(node).partition("\n")[0]:
        # Entering can be the work: `with open(path, "w"): pass` makes a file.
        reading.works = True
    if node.type in _LOOPS and not always:
        return False
    taken = always or node.type in _ALWAYS_TAKEN or _has_else(node)
    return taken and bool(results) and all(results)


def _take_cases(reading: _Reading, cases: list[Node], depth: int) -> bool:
    """Read alternatives. True when there is one for everything and none of them comes back."""
    results = [_take_statement(reading, case, depth + 1, last=False) for case in cases]
    return all(results) and any(case.type in _DEFAULTS for case in cases)


def _take_case(reading: _Reading, case: Node, depth: int) -> bool:
    if depth > _MAX_DEPTH:
        reading.works = True
        return False
    value, pattern = case.child_by_field_name("value"), case.child_by_field_name("pattern")
    reading.conditions += 1
    ended = False
    if case.type == "match_arm":
        ended = value is not None and _take_statement(reading, value, depth + 1, last=True)
    else:
        labels = {node.id for node in (value, pattern) if node is not None}
        for part in _children(case):
            if ended or part.id in labels or part.type in ("case_pattern", "pattern", "switch_label"):
                continue
            ended = _take_statement(reading, part, depth + 1, last=False)
    reading.conditions -= 1
    return ended


def _branches(node: Node) -> list[Node]:
    """The parts of a statement that hold other statements."""
    kinds = (_BLOCKS, _BRANCHES, _CASES)
    found = [child for child in _children(node) if any(child.type in kind for kind in kinds)]
    for name in ("consequence", "body", "alternative"):
        child = node.child_by_field_name(name)
        if child is not None and child not in found:
            found.append(child)
    if found:
        return found
    ends = ("_statement", "_expression")
    return [child for child in _children(node) if child.type.endswith(ends) and child.type not in _CALLS]


def _has_else(node: Node) -> bool:
    if any(child.type in _DEFAULTS for child in node.children):
        return True
    plain_if = node.type in ("if_statement", "if_expression", "if", "unless")
    has_alternative = node.child_by_field_name("alternative") is not None
    return plain_if and has_alternative and all(child.type != "elif_clause" for child in node.children)


def _constant(reading: _Reading, node: Node, depth: int = 0) -> str | None:
    """The text of a constant, of a collection of them, or of what a local holds; None for anything else."""
    if depth > _MAX_DEPTH:
        return None
    if node.type in _LITERALS:
        dynamic = any(child.type in _INTERPOLATIONS for child in node.named_children)
        return None if dynamic else text_of(node)
    if node.type in _NAMES:
        name = text_of(node)
        return name if _EMPTY_VALUE.fullmatch(name) else reading.constants.get(name)
    if node.type in _COLLECTIONS:
        children = _children(node)
        if len(children) == 1 and node.type in ("parenthesized_expression", "expression_list"):
            return _constant(reading, children[0], depth + 1)
        parts = [
            _constant(reading, child, depth + 1)
            for child in children
            if child.type not in _COLLECTIONS or _children(child)
        ]
        return None if None in parts else text_of(node)
    text = text_of(node)
    return text if node.type in _CALLS and len(text) < 200 and _EMPTY_VALUE.fullmatch(text) else None


def _first_line(text: str) -> str:
    return text.strip().split("\n")[0][:60]
