"""Has a test file write down what the product answered, and go on when a check fails.

A value is written down where a call gives it and where a check compares it, as text in a file. What a test
does with it stays the same. Objects are written down by what they hold, as far as anybody may look. A call
that fails is written down as well, so that the next ones are known by their number.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from tree_sitter import Node

from adjudge.syntax.insertions import Insertions

__all__ = ["RECORDED", "Recordings", "beside", "prelude", "record_answers"]

RECORDED: Final = frozenset({"python", "javascript", "typescript", "tsx", "go"})
"""Grammars whose tests can be made to write answers down."""
_NAME: Final = "__adjudge_near__"
_ASKED: Final = "__adjudge_asked__"
_LATER: Final = "__adjudge_later__"
_QUIET: Final = "__adjudge_quiet__"
_GO_NAME: Final = "adjudgeNear__"
_GO_VALUE: Final = "adjudgeNearValue__"
_GO_UNORDERED: Final = "adjudgeNearUnordered__"
_MAX_SITES: Final = 3000
_MAX_DEPTH: Final = 150
_MAX_ANSWERS: Final = 400
"""How often one place writes down an answer, in one process."""
_MAX_TEXT: Final = 2000

_PYTHON: Final = """\
import os as o, hashlib as h, re as r
def text(v, d=0):
    t = type(v)
    if v is None or t in (bool, int, str, bytes):
        return repr(v)
    if t is float:
        return "%.9g" % v
    if d > 6:
        return "..."
    try:
        if t in (list, tuple):
            return "[" + ",".join(text(i, d + 1) for i in v[:200]) + "]"
        if t in (set, frozenset):
            return "{{" + ",".join(sorted(text(i, d + 1) for i in v)[:200]) + "}}"
        if isinstance(v, dict):
            held = sorted(text(k, d + 1) + ":" + text(i, d + 1) for k, i in v.items())
            return "{{" + ",".join(held[:200]) + "}}"
        if isinstance(v, BaseException):
            return "!"
        if isinstance(v, tuple):
            return "[" + ",".join(text(i, d + 1) for i in v) + "]"
        if callable(v) or isinstance(v, type) or hasattr(v, "__next__"):
            return "?"
        plain = hasattr(v, "__dict__") and t.__repr__ is object.__repr__
        if plain or hasattr(v, "__dataclass_fields__"):
            return t.__name__ + text({{k: i for k, i in vars(v).items() if k[:1] != "_"}}, d + 1)
        return r.sub(r"0x[0-9a-f]+", "", repr(v))
    except Exception:
        return "?"
def near(n, v, seen={{}}):
    c = seen.get(n, 0)
    if c < {most}:
        seen[n] = c + 1
        try:
            s = text(v).encode("utf-8", "backslashreplace")
            s = s if len(s) < {longest} else h.sha256(s).hexdigest().encode()
            f = o.open({target!r}, 1089, 438)
            o.write(f, b"%d %d %s\\n" % (o.getpid(), n, s.replace(b"\\n", b" ")))
            o.close(f)
        except Exception:
            pass
    return v
def asked(n, f):
    try:
        v = f()
    except Exception as e:
        near(n, e)
        raise
    return near(n, v)
def quiet(f):
    try:
        f()
    except Exception:
        pass
    return True
"""
_JAVASCRIPT: Final = """
function {name}(n{any}, v{any}){any} {{
  const self{any} = {name};
  if (self.seen === undefined) {{
    self.seen = new Map();
    const own{any} = globalThis.process;
    self.fs = own.getBuiltinModule ? own.getBuiltinModule("node:fs") : own.mainModule.require("node:fs");
    self.append = self.fs.appendFileSync;
    self.pid = own.pid;
    self.text = (x{any}, d{any}){any} => {{
      if (x === null || x === undefined || typeof x === "boolean") return String(x);
      if (typeof x === "number") return Number.isInteger(x) ? String(x) : x.toPrecision(9);
      if (typeof x === "bigint") return String(x) + "n";
      if (typeof x === "string") return JSON.stringify(x);
      if (typeof x === "function" || typeof x === "symbol" || x instanceof Promise) return "?";
      if (d > 6) return "...";
      if (x instanceof Error) return "!";
      if (x instanceof Date) return "@" + x.getTime();
      if (x instanceof RegExp) return String(x);
      if (Array.isArray(x)) return "[" + x.slice(0, 200).map((i{any}) => self.text(i, d + 1)).join(",") + "]";
      if (x instanceof Map) return "M" + self.text([...x.entries()], d + 1);
      if (x instanceof Set) return "S" + self.text([...x.values()], d + 1);
      const keys{any} = Object.keys(x).sort().slice(0, 200);
      return "{{" + keys.map((k{any}) => k + ":" + self.text(x[k], d + 1)).join(",") + "}}";
    }};
  }}
  const c = self.seen.get(n) || 0;
  if (c < {most}) {{
    self.seen.set(n, c + 1);
    try {{
      let s = self.text(v, 0).replace(/\\n/g, " ");
      if (s.length > {longest}) s = s.slice(0, {longest}) + s.length;
      self.append({target}, self.pid + " " + n + " " + s + "\\n");
    }} catch {{}}
  }}
  return v;
}}
function {asked}(n{any}, f{any}){any} {{
  let v{any};
  try {{ v = f(); }} catch (e) {{ {name}(n, new Error()); throw e; }}
  return {name}(n, v);
}}
async function {later}(n{any}, f{any}){promised} {{
  let v{any};
  try {{ v = await f(); }} catch (e) {{ {name}(n, new Error()); throw e; }}
  return {name}(n, v);
}}
"""
_GO: Final = """\
package {package}

import (
	"fmt"
	"os"
	"reflect"
	"sort"
	"strings"
	"sync"
)

var (
	adjudgeNearLock__ sync.Mutex
	adjudgeNearSeen__ = map[int]int{{}}
	{unordered} int
)

func adjudgeNearText__(v reflect.Value, d int) string {{
	if !v.IsValid() {{
		return "nil"
	}}
	if d > 6 {{
		return "..."
	}}
	if v.CanInterface() {{
		if _, is := v.Interface().(error); is {{
			return "!"
		}}
	}}
	switch v.Kind() {{
	case reflect.Ptr, reflect.Interface:
		if v.IsNil() {{
			return "nil"
		}}
		return adjudgeNearText__(v.Elem(), d+1)
	case reflect.Struct:
		if s, is := adjudgeNearSaid__(v); is {{
			return s
		}}
		var parts []string
		for i := 0; i < v.NumField(); i++ {{
			name := v.Type().Field(i).Name
			if name[0] >= 'A' && name[0] <= 'Z' {{
				parts = append(parts, name+":"+adjudgeNearText__(v.Field(i), d+1))
			}}
		}}
		return "{{" + strings.Join(parts, ",") + "}}"
	case reflect.Slice, reflect.Array:
		var parts []string
		for i := 0; i < v.Len() && i < 200; i++ {{
			parts = append(parts, adjudgeNearText__(v.Index(i), d+1))
		}}
		return "[" + strings.Join(parts, ",") + "]"
	case reflect.Map:
		var parts []string
		for _, k := range v.MapKeys() {{
			parts = append(parts, adjudgeNearText__(k, d+1)+":"+adjudgeNearText__(v.MapIndex(k), d+1))
		}}
		sort.Strings(parts)
		return "{{" + strings.Join(parts, ",") + "}}"
	case reflect.Func, reflect.Chan, reflect.UnsafePointer:
		return "?"
	case reflect.Float32, reflect.Float64:
		return fmt.Sprintf("%.9g", v.Float())
	case reflect.String:
		return fmt.Sprintf("%q", v.String())
	}}
	return fmt.Sprint(v)
}}

func adjudgeNearSaid__(v reflect.Value) (s string, is bool) {{
	if !v.CanInterface() {{
		return "", false
	}}
	said, is := v.Interface().(fmt.Stringer)
	if !is {{
		return "", false
	}}
	defer func() {{
		if recover() != nil {{
			s, is = "", false
		}}
	}}()
	return said.String(), true
}}

func {name}(n int, given ...interface{{}}) bool {{
	adjudgeNearLock__.Lock()
	defer adjudgeNearLock__.Unlock()
	defer func() {{ recover() }}()
	if {unordered} > 0 || adjudgeNearSeen__[n] >= {most} {{
		return true
	}}
	adjudgeNearSeen__[n]++
	var parts []string
	for _, one := range given {{
		parts = append(parts, adjudgeNearText__(reflect.ValueOf(one), 0))
	}}
	s := strings.ReplaceAll(strings.Join(parts, " "), "\\n", " ")
	if len(s) > {longest} {{
		s = s[:{longest}] + fmt.Sprint(len(s))
	}}
	f, err := os.OpenFile("{target}", os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0666)
	if err == nil {{
		fmt.Fprintf(f, "%d %d %s\\n", os.Getpid(), n, s)
		f.Close()
	}}
	return true
}}
"""
_GO_GENERIC: Final = """
func {value}[T any](n int, v T) T {{
	{name}(n, v)
	return v
}}
"""

_PYTHON_OPERANDS: Final = frozenset({"attribute", "subscript", "identifier"})
_SCRIPT_OPERANDS: Final = frozenset({"member_expression", "subscript_expression", "identifier"})
_OPAQUE: Final = frozenset(
    {
        "interpolation", "type", "type_annotation", "decorator", "template_substitution", "type_arguments",
        "import_statement", "import_from_statement", "import_declaration", "const_declaration",
        "type_declaration", "default_parameter", "typed_default_parameter", "parameters",
        "formal_parameters", "parameter_list",
    }
)  # fmt: skip
_FUNCTIONS: Final = frozenset(
    {
        "function_definition", "lambda",
        "function_declaration", "function_expression", "arrow_function", "method_definition",
        "method_declaration", "func_literal",
    }
)  # fmt: skip
_PLAIN_CALLS: Final = frozenset({b"super", b"require", b"import", b"locals", b"globals", b"vars"})
_OF_ITS_FRAME: Final = re.compile(rb"\b(?:super|locals|vars|dir|eval|exec)\s*\(")
"""Calls that mean something else inside of a function of their own."""
_GO_PLAIN: Final = frozenset(
    b"len cap make new append copy delete panic recover print println close complex real imag min max "
    b"string int int8 int16 int32 int64 uint uint8 uint16 uint32 uint64 float32 float64 byte rune bool "
    b"error any".split()
)
_GO_TESTING: Final = re.compile(rb"(?:t|tb)\.|[bm]\.(?:N|Run|Name|TempDir|Elapsed|Failed|Skipped)$")
"""What a test asks its runner; `b` mostly is a buffer."""


class Recordings(Insertions):
    """Insertions, and the places that write something down.

    Args:
        first: The number of the first place.
    """

    def __init__(self, first: int) -> None:
        super().__init__()
        self._first = first
        self.sites: list[Node] = []

    def site(self, node: Node) -> int:
        """A number for a place."""
        self.sites.append(node)
        return self._first + len(self.sites) - 1


def prelude(grammar: str, target: str) -> str:
    """What a test file has to define; of Go, `beside` has it."""
    if grammar == "python":
        text = _PYTHON.format(most=_MAX_ANSWERS, longest=_MAX_TEXT, target=target)
        names = f"{_NAME}, {_ASKED}, {_QUIET}"
        made = "n['near'], n['asked'], n['quiet']"
        return f"{names} = (lambda n: (exec({text!r}, n), ({made}))[1])({{}})\n"
    typed = grammar != "javascript"
    return _JAVASCRIPT.format(
        name=_NAME,
        asked=_ASKED,
        later=_LATER,
        any=": any" if typed else "",
        promised=": Promise<any>" if typed else "",
        most=_MAX_ANSWERS,
        longest=_MAX_TEXT,
        target=f'"{target}"',
    )


def beside(package: str, target: str, *, generic: bool) -> str:
    """The file that a Go package of tests has to have."""
    text = _GO.format(
        package=package,
        name=_GO_NAME,
        unordered=_GO_UNORDERED,
        most=_MAX_ANSWERS,
        longest=_MAX_TEXT,
        target=target,
    )
    return text + _GO_GENERIC.format(name=_GO_NAME, value=_GO_VALUE) if generic else text


def record_answers(grammar: str, root: Node, into: Recordings, *, generic: bool) -> None:
    """Find the places that write answers down.

    Args:
        grammar: The file's.
        root: Its tree.
        into: Where insertions go.
        generic: Whether the module's version of Go has type parameters.
    """
    walk = {"python": _python, "go": _go}.get(grammar, _javascript)
    for node, inside in _nodes(root):
        if len(into.sites) >= _MAX_SITES:
            return
        if inside:
            walk(node, into, generic)


def _nodes(root: Node) -> Iterator[tuple[Node, bool]]:
    """Every node that may hold code, with whether it is inside of a function."""
    pending = [(root, False, 0)]
    while pending:
        node, inside, depth = pending.pop()
        if depth > _MAX_DEPTH or node.type in _OPAQUE:
            continue
        yield node, inside
        below = inside or node.type in _FUNCTIONS
        pending += [(child, below, depth + 1) for child in reversed(node.named_children)]


def _python(node: Node, into: Recordings, generic: bool) -> None:
    parent = node.parent
    assert parent is not None
    if node.type == "call":
        function = node.child_by_field_name("function")
        named = function.text if function is not None else None
        part_of_chain = parent.type in ("attribute", "call") and parent.named_children[0] == node
        if named in _PLAIN_CALLS or part_of_chain or parent.type in ("decorator", "as_pattern_target"):
            return
        outer = parent if parent.type == "await" else node
        _quiet_python(outer, into)
        if _stays_the_same(outer) and not _OF_ITS_FRAME.search(outer.text or b""):
            into.around(outer, f"{_ASKED}({into.site(outer)}, lambda: ", ")")
        else:
            into.around(outer, f"{_NAME}({into.site(outer)}, ", ")")
        if named is not None and b"assert" in named:
            for given in _given(node):
                if given.type in _PYTHON_OPERANDS:
                    into.around(given, f"{_NAME}({into.site(given)}, ", ")")
    elif node.type == "comparison_operator":
        for operand in node.named_children:
            if operand.type in _PYTHON_OPERANDS:
                into.around(operand, f"{_NAME}({into.site(operand)}, ", ")")
    elif node.type == "assert_statement" and node.named_children:
        checked = node.named_children[0]
        if _stays_the_same(checked):
            into.around(checked, f"{_QUIET}(lambda: (", "))")


def _quiet_python(node: Node, into: Recordings) -> None:
    """Let a statement that is a call fail unheard, unless that is what is waited for."""
    statement = node.parent
    if statement is None or statement.type != "expression_statement" or not _stays_the_same(node):
        return
    above: Node | None = statement
    while above is not None and above.type not in _FUNCTIONS:
        head = (above.text or b"")[:200] if above.type == "with_statement" else b""
        if b"aises" in head or b"subTest" in head:
            return
        above = above.parent
    into.around(statement, f"{_QUIET}(lambda: (", "))")


def _stays_the_same(node: Node) -> bool:
    """Whether an expression does the same inside of a function of its own."""
    pending = [node]
    while pending:
        one = pending.pop()
        if one.type in ("await", "yield", "named_expression"):
            return False
        pending += one.named_children
    return True


def _javascript(node: Node, into: Recordings, generic: bool) -> None:
    parent = node.parent
    assert parent is not None
    if node.type == "call_expression":
        function = node.child_by_field_name("function")
        if function is None or function.type in ("super", "import") or function.text in _PLAIN_CALLS:
            return
        arguments = node.child_by_field_name("arguments")
        if arguments is None or arguments.type != "arguments":
            return
        if parent.type in ("member_expression", "call_expression") and parent.named_children[0] == node:
            return
        outer = parent if parent.type == "await_expression" else node
        if _waits(node):
            into.around(outer, f"{_NAME}({into.site(outer)}, ", ")")
        elif outer is node:
            into.around(outer, f"{_ASKED}({into.site(outer)}, () => ", ")")
        else:
            into.around(outer, f"(await {_LATER}({into.site(outer)}, async () => ", "))")
        statement = outer.parent
        if statement is not None and statement.type == "expression_statement":
            into.around(statement, "try{", "}catch{}")
        for given in _given(node):
            if given.type in _SCRIPT_OPERANDS and given.type != "identifier":
                into.around(given, f"{_NAME}({into.site(given)}, ", ")")


def _waits(call: Node) -> bool:
    """Whether a call cannot stand inside of a plain function of its own."""
    pending = [*call.named_children]
    while pending:
        one = pending.pop()
        if one.type in ("await_expression", "yield_expression"):
            return True
        if one.type not in _FUNCTIONS:
            pending += one.named_children
    return False


def _go(node: Node, into: Recordings, generic: bool) -> None:
    parent = node.parent
    assert parent is not None
    if node.type in ("short_var_declaration", "assignment_statement"):
        _go_assigned(node, parent, into)
    elif node.type == "call_expression" and generic and _is_single(node, parent):
        into.around(node, f"{_GO_VALUE}({into.site(node)}, ", ")")
    elif node.type == "for_statement":
        if parent.type in ("block", "statement_list") and _ranges_over_map(node):
            # Nobody can tell one turn of such a loop from another.
            into.around(node, f"{_GO_UNORDERED}++; ", f"; {_GO_UNORDERED}--")
    elif node.type == "selector_expression" and generic and parent.type == "binary_expression":
        operator = parent.child_by_field_name("operator")
        compared = operator is not None and operator.type in ("==", "!=")
        if compared and parent.named_children[0] == node:
            into.around(node, f"{_GO_VALUE}({into.site(node)}, ", ")")


def _go_assigned(node: Node, parent: Node, into: Recordings) -> None:
    left, right = (node.child_by_field_name(side) for side in ("left", "right"))
    if (
        left is None
        or right is None
        or not any(one.type == "call_expression" for one in right.named_children)
    ):
        return
    names = [
        (one.text or b"").decode()
        for one in left.named_children
        if one.type == "identifier" and one.text != b"_"
    ]
    if not names or len(names) > 6:
        return
    call = f"{_GO_NAME}({into.site(node)}, {', '.join(names)})"
    if parent.type == "if_statement":
        condition = parent.child_by_field_name("condition")
        if condition is not None:
            into.around(condition, f"{call} && (", ")")
    elif parent.type in ("block", "statement_list"):
        into.put(node.end_byte, f"; {call}")


def _ranges_over_map(loop: Node) -> bool:
    """Whether a loop goes through a map, in an order that nobody knows."""
    clause = next((child for child in loop.named_children if child.type == "range_clause"), None)
    over = clause.child_by_field_name("right") if clause is not None else None
    if over is None or not over.text:
        return False
    if over.type != "identifier":
        return b"map[" in over.text
    root = loop
    while root.parent is not None:
        root = root.parent
    return re.search(rb"\b%s\s*(?::?=|var)?\s*map\[" % re.escape(over.text), root.text or b"") is not None


def _is_single(node: Node, parent: Node) -> bool:
    """Whether a call gives one value, whatever it calls."""
    function = node.child_by_field_name("function")
    named = (function.text or b"") if function is not None else b""
    if named in _GO_PLAIN or _GO_TESTING.match(named) or (function is not None and "type" in function.type):
        return False
    if function is not None and function.type not in ("identifier", "selector_expression"):
        return False
    if parent.type == "binary_expression":
        return True
    return parent.type == "argument_list" and len(parent.named_children) > 1


def _given(call: Node) -> list[Node]:
    arguments = call.child_by_field_name("arguments")
    return arguments.named_children if arguments is not None else []
