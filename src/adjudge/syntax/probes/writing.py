"""Puts probes into a source file, so that whoever runs it says which ways it took.

Nothing else changes: a probe in front of a statement is a statement, one in front of an expression yields
nothing that counts. What a probe says goes to a file, a line a time and a bounded number of times, so that a
process which is ended in the middle has said all the same what it did. A line has the number of the process
and that of the probe.
"""

from __future__ import annotations

from typing import Final

from tree_sitter import Node

from adjudge.records.routes import MOST_COUNTED, Probe, ProbedSource
from adjudge.syntax.grammars import grammar_of, parse_source
from adjudge.syntax.insertions import Insertions, first_statement, is_text, package_name
from adjudge.syntax.probes.places import PROBED, How, Place, find_places

__all__ = ["probe_source"]

_MAX_SAID: Final = MOST_COUNTED
"""How often one probe speaks in one process."""
_NAME: Final = "__adjudge__"
_FOUND: Final = f"{_NAME}found__"
_ITEM: Final = f"{_NAME}item__"
_GO_NAME: Final = "adjudgeProbe__"
_GO_FILE: Final = "adjudge_probe.go"

_PYTHON: Final = """\
from posix import getpid as p, open as o, write as w
def probe(n, seen={{}}, at=[None]):
    c = seen.get(n, 0)
    if c < {most}:
        seen[n] = c + 1
        try:
            if at[0] is None:
                at[0] = o({target!r}, 1089, 438)
            w(at[0], b"%d %d\\n" % (p(), n))
        except OSError:
            at[0] = None
def found(n, call, default):
    def asked(*given, **named):
        got = call(*given, **named)
        probe(n + (got is (given[default] if len(given) > default else None)))
        return got
    return asked
class item:
    def __init__(self, n, table):
        self.n, self.table = n, table
    def __getitem__(self, key):
        try:
            got = self.table[key]
        except BaseException:
            probe(self.n + 1)
            raise
        probe(self.n)
        return got
"""
_JAVASCRIPT: Final = """
function {name}(n{any}){any} {{
  const self{any} = {name};
  if (self.seen === undefined) {{
    self.seen = new Map();
    const own{any} = globalThis.process;
    self.fs = own.getBuiltinModule ? own.getBuiltinModule("node:fs") : own.mainModule.require("node:fs");
    self.append = self.fs.appendFileSync;
    self.pid = own.pid;
  }}
  const c = self.seen.get(n) || 0;
  if (c < {most}) {{
    self.seen.set(n, c + 1);
    try {{ self.append({target}, self.pid + " " + n + "\\n"); }} catch {{}}
  }}
  return false;
}}
function {name}found(n{any}, got{any}){any} {{
  {name}(n + (got === undefined ? 1 : 0));
  return got;
}}
"""
_GO: Final = """\
package {package}

import (
	"os"
	"strconv"
	"sync"
)

var (
	adjudgeLock__ sync.Mutex
	adjudgeSeen__ = map[int]int{{}}
	adjudgeFile__ *os.File
)

func {name}(n int) bool {{
	adjudgeLock__.Lock()
	defer adjudgeLock__.Unlock()
	if adjudgeSeen__[n] < {most} {{
		adjudgeSeen__[n]++
		if adjudgeFile__ == nil {{
			adjudgeFile__, _ = os.OpenFile("{target}", os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0666)
		}}
		if adjudgeFile__ != nil {{
			adjudgeFile__.WriteString(strconv.Itoa(os.Getpid()) + " " + strconv.Itoa(n) + "\\n")
		}}
	}}
	return false
}}
"""


def probe_source(path: str, source: bytes, *, first: int, target: str) -> ProbedSource | None:
    """Put probes into a file; None where nothing is known of its language, or it has errors.

    Args:
        path: Its path; the suffix says its language.
        source: What it holds.
        first: The number of its first probe.
        target: The file that probes speak to, as an absolute path of plain characters.
    """
    grammar = grammar_of(path)
    if grammar is None or grammar.name not in PROBED:
        return None
    root = parse_source(grammar, source)
    if root.has_error:
        return None
    places = find_places(grammar.name, root)
    if not places:
        return None
    writer = _Writer(grammar.name, source)
    for index, place in enumerate(places):
        writer.put(place, first + index)
    beside: dict[str, str] = {}
    if grammar.name == "python":
        text = _PYTHON.format(most=_MAX_SAID, target=target)
        at = first_statement(root)
        names = f"{_NAME}, {_FOUND}, {_ITEM}"
        made = f"{names} = (lambda n: (exec({text!r}, n), (n['probe'], n['found'], n['item']))[1])({{}})\n"
        writer.inserted.put(at, made)
    elif grammar.name == "go":
        package = package_name(root)
        if package is None:
            return None
        text = _GO.format(package=package, name=_GO_NAME, most=_MAX_SAID, target=target)
        beside[_GO_FILE] = text
    else:
        typed = ": any" if grammar.name != "javascript" else ""
        text = _JAVASCRIPT.format(name=_NAME, any=typed, most=_MAX_SAID, target=f'"{target}"')
        writer.inserted.put(len(source), text)
    lines = source.split(b"\n")
    probes = tuple(_probe(place, index, first, lines) for index, place in enumerate(places))
    return ProbedSource(probes=probes, inserted=writer.inserted.in_order(), beside=beside)


def _probe(place: Place, index: int, first: int, lines: list[bytes]) -> Probe:
    def number(at: int) -> int | None:
        return first + at if at >= 0 else None

    text = lines[place.line - 1] if place.line <= len(lines) else b""
    return Probe(
        number=first + index,
        line=place.line,
        text=text.decode("utf-8", "replace").strip()[:200],
        end_line=place.node.end_point[0] + 1,
        function=number(place.function),
        fork=number(place.fork),
        above=number(place.above),
        twin=_twin(place, first + index),
        is_arm=place.is_arm,
        is_function=place.is_function,
    )


def _twin(place: Place, number: int) -> int | None:
    return {How.FOUND: number + 1, How.MISSED: number - 1}.get(place.how)


class _Writer:
    """Puts probes in their places."""

    def __init__(self, grammar: str, source: bytes) -> None:
        self._grammar = grammar
        self._source = source
        self.inserted = Insertions()

    def put(self, place: Place, number: int) -> None:
        """Put one probe in its place."""
        {"python": self._python, "go": self._go}.get(self._grammar, self._javascript)(place, number)

    def _python(self, place: Place, number: int) -> None:
        call = f"{_NAME}({number})"
        if place.how in (How.EXPRESSION, How.CONDITION):
            self.inserted.around(place.node, f"({call} or (", "))")
            return
        if place.how is How.FOUND:
            self._python_look_up(place, number)
            return
        if place.how is How.MISSED:
            return
        statement = _first_of_block(place.node, is_function=place.is_function)
        if statement is None:
            return
        at = statement.start_byte
        line = self._source.rfind(b"\n", 0, at) + 1
        indent = self._source[line:at].decode("utf-8", "replace")
        self.inserted.put(at, call + (f"\n{indent}" if not indent.strip() else "; "))

    def _python_look_up(self, place: Place, number: int) -> None:
        if place.default:
            self.inserted.around(place.node, f"{_FOUND}({number}, ", f", {place.default})")
        else:
            self.inserted.around(place.node.named_children[0], f"{_ITEM}({number}, ", ")")

    def _javascript(self, place: Place, number: int) -> None:
        call = f"{_NAME}({number})"
        node = place.node
        if place.how is How.CONDITION and node.type == "parenthesized_expression":
            self.inserted.put(node.start_byte + 1, f"{call},(")
            self.inserted.put(node.end_byte - 1, ")")
        elif place.how in (How.EXPRESSION, How.CONDITION):
            self.inserted.around(node, f"({call},(", "))")
        elif place.how is How.FOUND:
            self.inserted.around(node, f"{_NAME}found({number}, ", ")")
        elif place.how is How.MISSED:
            return
        elif place.how is How.STATEMENT:
            self.inserted.around(node, f"{{{call};", "}")
        elif place.how is How.CASE:
            self.inserted.put(_behind_colon(node), f" {call};")
        elif not _has_directive(node):
            self.inserted.put(node.start_byte + 1, f"{call};")

    def _go(self, place: Place, number: int) -> None:
        call = f"{_GO_NAME}({number})"
        node = place.node
        if place.how in (How.EXPRESSION, How.CONDITION):
            self.inserted.around(node, f"{call} || (", ")")
        elif place.how is How.CASE:
            self.inserted.put(_behind_colon(node), f" {call};")
        elif place.how is How.BLOCK:
            self.inserted.put(node.start_byte + 1, f"{call};")


def _first_of_block(block: Node, *, is_function: bool) -> Node | None:
    statements = [child for child in block.named_children if child.type != "comment"]
    if is_function and statements and is_text(statements[0]):
        statements = statements[1:]
    return statements[0] if statements else None


def _has_directive(block: Node) -> bool:
    first = next((child for child in block.named_children if child.type != "comment"), None)
    return first is not None and is_text(first)


def _behind_colon(case: Node) -> int:
    colon = next(child for child in case.children if child.type == ":")
    return colon.end_byte
