"""Probes say which ways were taken, and change nothing else about a program."""

from __future__ import annotations

import ast
import shutil
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from adjudge.records.routes import ProbedSource
from adjudge.syntax.insertions import insert_all
from adjudge.syntax.probes.writing import probe_source

PYTHON = '''\
#!/usr/bin/env python
"""What it is."""
from __future__ import annotations
# a comment
@staticmethod
def choose(x):
    """Doc."""
    if x == 1: return "one"
    elif x in (2, 3):
        # why
        for _ in range(2):
            pass
        return "few"
    else:
        y = "ten" if x == 10 else "many"
    match x:
        case 20:
            return "score"
    try:
        return {30: "thirty"}[x] or "never"
    except KeyError:
        pass
    f = lambda z: z and (z > 100 or y)
    return f(x)


def empty():
    """Only text."""


TABLE = {1: "a", (1, 2): "b"}


def look(x, y):
    try:
        both = TABLE[x, y]
    except KeyError:
        both = None
    TABLE[x] = TABLE.get(x, "none")
    return TABLE[x], both, getattr(x, "real", 5), next((a for a in (y,) if a > 1), 0)


print(look(1, 2), look(3, 1))


class Thing:
    def kind(self, x): return [a for a in x if a and a > 1] or None


for value in (1, 2, 10, 20, 30, 50, 200, 0):
    print(choose(value))
print(empty(), empty.__doc__, Thing().kind([0, 1, 2]), Thing().kind([]), choose.__doc__)
'''
JAVASCRIPT = """\
"use strict";
function choose(x) {
  if (x === 1) return "one"; else if (x < 4) { return "few" } else if (x === 5) throw new Error("five");
  switch (x) { case 10: return "ten"; case 20: { return "score" } default: x += 0; }
  try { null.x } catch (e) { x = x || 1 }
  const y = x === 30 ? "thirty" : (x > 90 && "many") ?? null;
  return [y].map((z) => z || ({ z }))[0];
}
class Thing { #n = 1; constructor() { this.a = () => { return this.#n } } get n() { return this.a() } }
for (const value of [1, 2, 10, 20, 30, 50, 200]) console.log(choose(value));
try { choose(5) } catch (e) { console.log(e.message) }
console.log(new Thing().n);
const table = new Map([[1, 2]]), plain = { a: 1 };
function look(x) { const found = plain[x.name]; plain[x.name] = 1; return [found, table.get(x), plain[x]]; }
console.log(look(1), look(2));
"""
GO = """\
package main

import "fmt"

func choose(x int) string {
	if x == 1 {
		return "one"
	} else if y := x + 1; y < 4 {
		return "few"
	} else {
		x++
	}
	switch x {
	case 11:
		return "ten"
	default:
		x--
	}
	var any interface{} = x
	switch v := any.(type) {
	case int:
		if v > 90 {
			return "many"
		}
	}
	f := func() string { return "other" }
	return f()
}

func main() {
	for _, x := range []int{1, 2, 10, 50, 200} {
		fmt.Println(choose(x))
	}
}
"""


def run(path: str, source: str, tmp_path: Path, *argv: str) -> tuple[ProbedSource, Counter[int]]:
    """Run a program as it is and with probes, compare what both print, and count."""
    target = tmp_path / "said"
    probed = probe_source(path, source.encode(), first=1, target=str(target))
    assert probed is not None
    printed = []
    for name, text in (("plain", source.encode()), ("probed", insert_all(source.encode(), probed.inserted))):
        folder = tmp_path / name
        folder.mkdir()
        (folder / path).write_bytes(text)
        for beside, more in probed.beside.items() if name == "probed" else ():
            (folder / beside).write_text(more)
        done = subprocess.run(argv, cwd=folder, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        printed.append(done.stdout)
    assert printed[0] == printed[1]
    return probed, Counter(int(line.split()[1]) for line in target.read_text().splitlines())


def taken(probed: ProbedSource, said: Counter[int], text: str) -> list[tuple[int, int]]:
    """How often the arms on the lines with a text were taken, and their forks reached."""
    return [
        (said[probe.number], said[probe.fork or probe.function or 0])
        for probe in probed.probes
        if probe.is_arm and text in probe.text
    ]


def test_python_runs_as_before_and_says_its_ways(tmp_path: Path) -> None:
    probed, said = run("a.py", PYTHON, tmp_path, sys.executable, "a.py")
    heads = [probe for probe in probed.probes if probe.is_function]
    assert said[heads[0].number] == 8
    assert taken(probed, said, 'return "one"') == [(1, 8)]
    assert taken(probed, said, "for _ in range(2)") == [(1, 7)]
    assert taken(probed, said, '"ten" if x') == [(6, 7), (1, 6), (5, 6)]
    assert taken(probed, said, 'return "score"') == [(1, 8)]
    assert taken(probed, said, "pass")[-1] == (4, 5)


def test_python_says_what_is_looked_up(tmp_path: Path) -> None:
    probed, said = run("a.py", PYTHON, tmp_path, sys.executable, "a.py")
    ends = {
        text: [said[probe.number] for probe in probed.probes if probe.twin and text in probe.text]
        for text in ("both =", "TABLE.get", "return TABLE[x]", "TABLE[x] =")
    }
    assert ends["both ="] == [1, 1]
    assert ends["TABLE.get"] == ends["TABLE[x] ="] == [1, 1]
    # A subscript, an attribute that is there, and what comes next, once.
    assert ends["return TABLE[x]"] == [2, 0, 2, 0, 1, 1]


def test_arms_know_what_they_are_in(tmp_path: Path) -> None:
    probed = probe_source("a.py", PYTHON.encode(), first=5, target="/tmp/x")
    assert probed is not None
    by_number = {probe.number: probe for probe in probed.probes}
    assert min(by_number) == 5
    ternary = next(probe for probe in probed.probes if probe.is_arm and probe.above is not None)
    assert '"ten" if x' in by_number[ternary.above or 0].text
    assert by_number[ternary.function or 0].is_function


@pytest.mark.skipif(shutil.which("node") is None, reason="no node")
def test_javascript_runs_as_before_and_says_its_ways(tmp_path: Path) -> None:
    probed, said = run("a.cjs", JAVASCRIPT, tmp_path, "node", "a.cjs")
    assert taken(probed, said, "x === 1")[0] == (1, 8)
    assert taken(probed, said, "case 10")[0] == (1, 5)
    assert taken(probed, said, "null.x") == [(3, 3), (0, 3)]
    looked = [said[probe.number] for probe in probed.probes if probe.twin]
    assert looked == [1, 1, 1, 1, 0, 2]


@pytest.mark.skipif(shutil.which("go") is None, reason="no go")
def test_go_runs_as_before_and_says_its_ways(tmp_path: Path) -> None:
    probed, said = run("main.go", GO, tmp_path, "sh", "-c", "go run *.go")
    assert taken(probed, said, "x == 1") == [(1, 5)]


@pytest.mark.parametrize(
    "source",
    [
        "def f(x): return x if x else (yield)\n",
        "async def f(x):\n    return (await x) or [y async for y in x if y and x]\n",
        "if __name__ == '__main__':\n\tif a:\n\t\tb()\n",
        "def f(a, b=1 if c else 2, *, k=lambda: 1 or 2): ...\n",
        "x = f'{1 if a else 2:>{3 or 4}}'\n",
        "if (a and\n        b):\n    pass\nelif not (c\n  or d): pass\n",
        "class A:\n    if a:\n        x = 1\n    else:\n        def f(self): return __class__\n",
        "def f():\n    global x\n    nonlocal_ = 1\n    if x: x = 2; y = 3\n",
        "try:\n    a\nexcept* (B, C) as e:\n    d\nelse:\n    e\nfinally:\n    f\n",
        "while a or b:\n    if c: break\nelse:\n    d = (y := 5) or y\n",
    ],
)
def test_python_with_probes_is_python(source: str) -> None:
    probed = probe_source("a.py", source.encode(), first=1, target="/tmp/x")
    ast.parse(insert_all(source.encode(), probed.inserted) if probed is not None else source)


@pytest.mark.parametrize(
    ("path", "source"),
    [
        ("a.py", "def broken(:\n"),
        ("a.py", "x = 1\n"),
        ("a.rb", "if a\n  b\nend\n"),
        ("a.txt", "if a: b"),
        ("a.go", "func f() { if a { b() } }"),
    ],
)
def test_no_probes_where_they_cannot_be_put(path: str, source: str) -> None:
    assert probe_source(path, source.encode(), first=1, target="/tmp/x") is None


def test_nesting_ends_somewhere() -> None:
    deep = "x = " + "(a or " * 3000 + "b" + ")" * 3000 + "\n"
    probed = probe_source("a.py", deep.encode(), first=1, target="/tmp/x")
    assert probed is None or len(probed.probes) <= 4000


@pytest.mark.parametrize(
    ("path", "source", "arms"),
    [
        ("a.py", "def f(x):\n    if not x:\n        raise ValueError(x)\n    return 1\n", 0),
        ("a.py", "def f():\n    try:\n        g()\n    except KeyError:\n        raise A from None\n", 0),
        ("a.py", "def f(x):\n    if not x:\n        return 2\n    return 1\n", 1),
        ("a.js", "function f(x) {\n  if (!x) throw new TypeError(x);\n  return 1;\n}\n", 0),
        ("a.js", "function f(x) {\n  if (!x) return 2;\n  return 1;\n}\n", 1),
        ("a.go", "package a\nfunc F(x int) error {\n\tif x < 0 {\n\t\treturn err\n\t}\n\treturn nil\n}\n", 0),
        ("a.go", "package a\nfunc F(x int) int {\n\tif x < 0 {\n\t\treturn 2\n\t}\n\treturn 1\n}\n", 1),
    ],
)  # fmt: skip
def test_where_one_arm_ends_with_an_error_there_is_no_fork(path: str, source: str, arms: int) -> None:
    made = probe_source(path, source.encode(), first=0, target="said")
    assert made is not None
    assert sum(probe.is_arm for probe in made.probes) == arms
