"""What names of a file stand for."""

# ruff: noqa: E501 - a case is a line, and its source is not ours to wrap

from __future__ import annotations

from collections.abc import Iterator

import pytest
from tree_sitter import Node

from adjudge.syntax.grammars import grammar_of, parse_source
from adjudge.syntax.productcode.bindings import UNKNOWN, Bindings
from adjudge.syntax.productcode.reading import CALLS, Source

pytestmark = pytest.mark.anyone


def table(path: str, text: str) -> tuple[Node, Source, Bindings]:
    """A file's root, source and names."""
    grammar = grammar_of(path)
    assert grammar is not None
    root = parse_source(grammar, text.encode())
    source = Source(grammar.name, path, text.encode())
    return root, source, Bindings(root, source)


def shown(root: Node, source: Source, names: Bindings) -> Node:
    """The argument of the call `show(…)`."""
    return next(arguments[0] for call in walk(root) if call.type in CALLS and source.called(call) == "show"
                for arguments in [source.arguments(call)])  # fmt: skip


def walk(node: Node) -> Iterator[Node]:
    """Every node."""
    yield node
    for child in node.named_children:
        yield from walk(child)


@pytest.mark.parametrize(
    ("path", "text", "expected"),
    [
        ("a.py", 'show("a" + "b")', "ab"),
        ("a.py", "x = (x)\nshow(x)", UNKNOWN),
        ("a.py", 'x = "te"\ny = x + "sts"\nshow(y)', "tests"),
        ("a.py", 'def f():\n    x = "te"\n    x += "sts"\n    show(x)', "tests"),
        ("a.py", 'p = Path(__file__).parent\np = p / "te"\nshow(p / "x.py")', f"{UNKNOWN}/te/x.py"),
        ("a.py", 'D = "tests"\ndef f(n):\n    show(f"{D}/{n}.json")', f"tests/{UNKNOWN}.json"),
        ("a.py", 'parts = ["te", "sts"]\nshow("".join(parts))', "tests"),
        ("a.py", 'def name():\n    return "tests"\nshow(os.path.join(name(), "a"))', "tests/a"),
        ("a.py", 'class A:\n    def __init__(self):\n        self.d = "tests"\n    def f(self):\n        show(self.d)', "tests"),
        ("a.py", 'class A:\n    where = "tests"\n    def f(self):\n        show(self.where)', "tests"),
        ("a.js", "const d = 'te';\nconst f = () => `${d}st/a.js`;\nshow(f());", "test/a.js"),
        ("a.js", "const d = ['a', 'b'].join('');\nshow(path.join(d, 'c'))", "ab/c"),
        ("a.ts", "class A { private d = 'x';\n f(): void { show(this.d + 'y') } }", "xy"),
        ("a.go", 'package a\n\nvar dir = "test"\n\nfunc f() {\n\tname := dir + "data"\n\tshow(filepath.Join("..", name))\n}', "../testdata"),
        ("a.go", 'package a\n\nfunc dir() string { return "testdata" }\n\nfunc f() { show(dir()) }', "testdata"),
        ("A.java", 'class A { static final String D = "tests"; void f() { show(D + "/x"); } }', "tests/x"),
        ("a.rs", 'const D: &str = "tests";\nfn f() { show(D); }', "tests"),
        ("a.rb", 'D = "tests"\ndef f\n  show(D + "/a")\nend', "tests/a"),
    ],
)  # fmt: skip
def test_texts(path: str, text: str, expected: str) -> None:
    root, source, names = table(path, text)

    assert expected in names.texts(shown(root, source, names))


@pytest.mark.parametrize(
    ("path", "text", "expected"),
    [
        ("a.py", "def key(t):\n    return sha(t)\ndef f(t):\n    k = key(t)\n    show(k)", "sha(t)"),
        ("a.js", "const key = (t) => sha(t);\nfunction f(t) { show(key(t)); }", "sha(t)"),
        ("a.go", "package a\nfunc key(t string) string {\n\th := sha(t)\n\treturn hex(h)\n}\nfunc f(t string) { show(key(t)) }", "sha(t)"),
        ("a.go", "package a\nfunc key(t string) (h int) {\n\tfor _, c := range t {\n\t\th ^= int(c)\n\t}\n\treturn h\n}\nfunc f(t string) { show(key(t)) }", "h ^= int(c)"),
        ("A.java", "class A { int key(String t) { return sha(t); } void f(String t) { show(key(t)); } }", "sha(t)"),
        ("a.rs", "fn key(t: &str) -> u32 { sha(t) }\nfn f(t: &str) { show(key(t)); }", "sha(t)"),
        ("a.rb", "def key(t)\n  sha(t)\nend\ndef f(t)\n  show(key(t))\nend", "sha(t)"),
    ],
)  # fmt: skip
def test_what_a_helper_gives_back_is_reached(path: str, text: str, expected: str) -> None:
    root, source, names = table(path, text)

    assert expected in [source.of(node) for node in names.reached(shown(root, source, names))]


def test_a_name_is_that_of_the_innermost_function() -> None:
    root, source, names = table("a.py", 'x = "a"\ndef f(x):\n    show(x)\n')
    asked = shown(root, source, names)

    assert names.texts(asked) == (UNKNOWN,)
    assert names.is_input(asked)
    assert names.stands_for(asked) == ()


def test_names_that_go_round_end() -> None:
    root, source, names = table(
        "a.py",
        "a = b + a\nb = a + b\ndef f():\n    return f() + g()\ndef g():\n    return f()\nshow(a + f())",
    )
    asked = shown(root, source, names)

    assert names.texts(asked)
    assert len(list(names.reached(asked))) < 30
    assert list(names.resolve(asked))
