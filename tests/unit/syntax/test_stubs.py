"""What counts as a stub, by language, and what only looks like one."""

import pytest

from adjudge.records.source import BodyKind, SourceOutline
from adjudge.syntax.stubs import outline_source


def outline(path: str, source: str) -> SourceOutline:
    found = outline_source(path, source.encode())
    assert found is not None
    return found


def kinds(path: str, source: str) -> dict[str, str]:
    return {
        function.name: "abstract" if function.abstract else function.kind.value
        for function in outline(path, source).functions
    }


PYTHON = {
    # What says that it is not implemented, also under another name, behind work, or before dead code.
    "def f(): raise NotImplementedError": "explicit",
    "def f(): raise NotImplementedError('later')": "explicit",
    "X = NotImplementedError\ndef f(): raise X()": "explicit",
    "class Todo(NotImplementedError): pass\ndef f(): raise Todo": "explicit",
    "from builtins import NotImplementedError as N\ndef f(): raise N": "explicit",
    "def f(): raise Exception('not implemented yet')": "explicit",
    "def f(): raise RuntimeError('TODO')": "explicit",
    "def f(): assert False, 'todo'": "explicit",
    "def f(): print('Not implemented')": "explicit",
    "def f(x):\n    raise NotImplementedError\n    return x + 1": "explicit",
    "def f(x):\n    if False:\n        return x + 1\n    raise NotImplementedError": "explicit",
    "def f(x):\n    x = str(x)\n    log(x)\n    raise NotImplementedError": "explicit",
    "def f(x):\n    if True:\n        raise NotImplementedError\n    return g(x)": "explicit",
    "def f(x):\n match x:\n  case 1: raise NotImplementedError\n  case _: assert 0": "explicit",
    "def f(x):\n try:\n  raise NotImplementedError\n except NotImplementedError: pass": "explicit",
    # Nothing, padded or not.
    "def f(): pass": "empty",
    "def f(): ...": "empty",
    "def f():\n    '''Sorts.'''": "empty",
    "def f(): return": "empty",
    "def f(): return None": "empty",
    "def f(x):\n    result = None\n    return result": "empty",
    "def f(x):\n a = 1\n b = 'two'\n 'three'\n x\n for i in range(9): pass\n del a": "empty",
    "def f(x):\n    if x:\n        pass\n    else:\n        ...": "empty",
    "f = lambda x: None": "empty",
    # One constant on every path.
    "def f(x): return 42": "constant",
    "def f(x): return []": "constant",
    "def f(x): return {}, ''": "constant",
    "def f(x):\n    if x:\n        return 0\n    else:\n        return 0": "constant",
    "def f(x):\n    answer = 42\n    return answer": "constant",
    "f = lambda x: 0": "constant",
    "def f(x): raise ValueError('bad')": "raises",
    # Work.
    "def f(x): return x": "real",
    "def f(x):\n    # TODO: not implemented\n    return x + 1": "real",
    "def f(x):\n    '''Raises NotImplementedError.'''\n    return g(x)": "real",
    "def f(x): print('hello')": "real",
    "def f(x): add_todo('todo')": "real",
    "def f(x): raise_if(x, 'TODO')": "real",
    "def f(x):\n    if x < 0:\n        raise ValueError(x)": "real",
    "def f(x):\n    if x == 1:\n        return 'a'\n    return 'b'": "real",
    "def f(h):\n    if h[:2] == b'MM':\n        return 'tiff'": "real",
    "def f(d):\n if d == 'a': return 32\n if d == 'b': return 64\n raise NotImplementedError(d)": "real",
    "def f(self): self.x = 1": "real",
    "def f():\n    global X\n    X = 1": "real",
    "def f(self): del self.cache": "real",
    "def f(): yield": "real",
    "def f(p):\n    with open(p, 'w'): pass": "real",
    "f = lambda x: x + 1": "real",
    "def f(x): return f'{x}'": "real",
    "async def f(x): await g(x)": "real",
    # Meant to be filled in elsewhere.
    "@overload\ndef f(x: int) -> int: ...": "abstract",
}


@pytest.mark.parametrize("source", PYTHON)
def test_a_python_function(source: str) -> None:
    assert kinds("a.py", source)["f"] == PYTHON[source]


def test_abstract_protocol_and_overridden_methods_are_not_stubs() -> None:
    found = kinds(
        "a.py",
        """
class A(ABC):
    @abstractmethod
    def one(self): ...
    def two(self): raise NotImplementedError
class P(Protocol):
    def one(self) -> int: ...
class Base:
    def shape(self): raise NotImplementedError
    def other(self): raise NotImplementedError
class Square(Base):
    def shape(self): return self.side
if TYPE_CHECKING:
    def declared(): ...
""",
    )
    assert found == {
        "A.one": "abstract", "A.two": "abstract", "P.one": "abstract", "Base.shape": "abstract",
        "Base.other": "explicit", "Square.shape": "real",
    }  # fmt: skip


def test_a_subclass_of_stubs_does_not_make_a_stub_abstract() -> None:
    source = "class A:\n  def f(self): raise NotImplementedError\nclass B(A):\n  def f(self): pass"
    assert kinds("a.py", source) == {"A.f": "explicit", "B.f": "empty"}


JAVASCRIPT = {
    'function f() { throw new Error("not implemented") }': "explicit",
    'const f = () => { throw new Error("TODO: sort") }': "explicit",
    "function f() { throw new NotImplementedError() }": "explicit",
    'function f(x) { if (false) { return x } console.log("not implemented") }': "explicit",
    'function f() { return Promise.reject(new Error("not implemented")) }': "explicit",
    "exports.f = function () {}": "empty",
    "const f = x => null": "empty",
    "function f() { return undefined }": "empty",
    "function f() { return 1 }": "constant",
    'function f() { throw new TypeError("bad"); return 3 }': "raises",
    "const f = (x) => x + 1": "real",
    "function f(x) { switch (x) { case 1: g(); return 1; case 2: return 2 } }": "real",
    "function f(x) { /* not implemented */ return x.y }": "real",
    "let a; function f(x) { a = x }": "real",
    "function f(x) { if (!x) throw new Error('no x') }": "real",
    "function f(x) { return `${x}` }": "real",
}


@pytest.mark.parametrize("source", JAVASCRIPT)
@pytest.mark.parametrize("path", ["a.js", "a.ts", "a.tsx", "a.mjs"])
def test_a_javascript_function(path: str, source: str) -> None:
    assert kinds(path, source)["f"] == JAVASCRIPT[source]


def test_typescript_declarations_are_not_stubs() -> None:
    source = """
abstract class A { abstract f(): void; g(): number { throw new Error("not implemented") } }
class B {
  f(x: string): void; f(x: any) { return x.y }
  constructor(private x: number) {}
  h(): number { throw new Error("Method not implemented."); }
}
declare function d(): void;
interface I { m(): void }
"""
    assert kinds("a.ts", source) == {
        "A.g": "abstract", "B.f": "real", "B.constructor": "real", "B.h": "explicit"
    }  # fmt: skip


GO = {
    'func F() { panic("not implemented") }': "explicit",
    'func F() (int, error) { return 0, errors.New("not implemented") }': "explicit",
    'func F() error { return fmt.Errorf("F is not implemented on %s", x) }': "explicit",
    'var F = func() { panic("TODO") }': "explicit",
    'func F() { panic("index out of range") }': "raises",
    "func F() error { return nil }": "empty",
    "func F() {}": "empty",
    "func F() int { if false { return 2 }; var x int; _ = x; return 0 }": "constant",
    "func F(x int) int { return x + 1 }": "real",
    "func F(h func()) { handler = h }": "real",
    "func F(n any) int { switch n := n.(type) { case int: return n }; panic(1) }": "real",
    'func F(x int) { if x > 9 { panic("too large") } }': "real",
}


@pytest.mark.parametrize("source", GO)
def test_a_go_function(source: str) -> None:
    assert kinds("a.go", f"package a\n{source}\n")["F"] == GO[source]


def test_a_go_method_is_named_by_its_type() -> None:
    source = 'package a\nfunc (s *Stack[T]) Push(x T) { panic("unimplemented") }\ntype I interface { M() }\n'
    assert kinds("a.go", source) == {"Stack.Push": "explicit"}


def test_java() -> None:
    source = """
abstract class A { abstract void f(); int g() { throw new UnsupportedOperationException("x"); } }
class B {
  B() {}
  int h() { return 0; }
  void i() { throw new UnsupportedOperationException("Not implemented yet"); }
  int j(int x) { return x * 2; }
  void k() { throw new IllegalStateException("bad"); }
  void l() {}
  void m(int x) { this.x = x; }
}
interface I { void m(); default void d() {} }
"""
    assert kinds("B.java", source) == {
        "A.g": "abstract", "B.B": "real", "B.h": "constant", "B.i": "explicit", "B.j": "real",
        "B.k": "raises", "B.l": "empty", "B.m": "real", "I.d": "abstract",
    }  # fmt: skip


def test_rust() -> None:
    source = """
fn a() -> i32 { todo!() }
fn b() { unimplemented!("x"); }
fn c() -> Option<i32> { None }
fn d(x: i32) -> i32 { x + 1 }
fn e() {}
fn f(x: i32) -> i32 { if x > 0 { 1 } else { 2 } }
fn g() -> i32 { let x = 1; return x; }
fn h() { panic!("not implemented") }
fn i() -> String { String::new() }
fn j() -> Result<i32, String> { Err("not implemented".into()) }
fn k(x: u8) -> u8 { match x { 1 => 10, _ => 20 } }
fn l(x: u8) -> u8 { match x { 1 => todo!(), _ => todo!() } }
fn m() { println!("x") }
trait T { fn sig(&self); fn def(&self) { todo!() } }
impl T for X { fn sig(&self) { self.y() } }
#[cfg(test)]
mod tests { #[test] fn t() { todo!() } }
"""
    assert kinds("a.rs", source) == {
        "a": "explicit", "b": "explicit", "c": "empty", "d": "real", "e": "empty", "f": "real",
        "g": "constant", "h": "explicit", "i": "constant", "j": "explicit", "k": "real", "l": "explicit",
        "m": "real", "T.def": "abstract", "X.sig": "real",
    }  # fmt: skip


def test_ruby() -> None:
    source = """
class A
  def f(x)
    raise NotImplementedError, 'x'
  end
  def g; end
  def h() = 1
  def k
    nil
  end
  def l(x)
    x + 1
  end
  def m(x)
    raise "not implemented"
  end
end
"""
    assert kinds("a.rb", source) == {
        "A.f": "explicit", "A.g": "empty", "A.h": "constant", "A.k": "empty", "A.l": "real", "A.m": "explicit"
    }  # fmt: skip


# What is the same code


def test_comments_docstrings_and_spaces_do_not_change_code() -> None:
    before = outline("a.py", "LIMIT = 3\ndef f(x):\n    return x + 1\n")
    after = outline("a.py", "# a limit\nLIMIT  = 3\n\ndef f(x):\n    '''Adds.'''\n    return x  + 1  # one\n")
    assert [function.code for function in before.functions] == [function.code for function in after.functions]
    assert before.statements == after.statements


def test_indentation_is_code_in_python_and_only_there() -> None:
    inside = "def f(xs):\n    for x in xs:\n        g(x)\n        h()\n"
    outside = "def f(xs):\n    for x in xs:\n        g(x)\n    h()\n"
    assert outline("a.py", inside).functions[0].code != outline("a.py", outside).functions[0].code
    one, two = "function f() {\n  g()\n}", "function f() {\n      g()\n}"
    assert outline("a.js", one).functions[0].code == outline("a.js", two).functions[0].code


def test_a_nested_function_is_not_part_of_the_code_around_it() -> None:
    one = outline("a.py", "def f():\n    def g(): return 1\n    return g\n")
    two = outline("a.py", "def f():\n    def g(): return 2\n    return g\n")
    assert one.functions[0].code == two.functions[0].code
    assert one.functions[1].code != two.functions[1].code


def test_a_statement_that_only_names_a_function_is_not_a_statement() -> None:
    assert (
        outline(
            "a.js", "const f = () => { throw new Error('TODO') }\nexports.g = function () {}\n"
        ).statements
        == ()
    )
    assert len(outline("a.js", "const limit = 3\napp.listen(limit)\n").statements) == 2


# What cannot be read


def test_a_file_that_does_not_parse_is_said_and_still_read() -> None:
    found = outline("a.py", "def f(): raise NotImplementedError\n\ndef g(:\n    return (\n")
    assert found.error_line is not None
    assert found.functions[0].kind is BodyKind.EXPLICIT


@pytest.mark.parametrize("path", ["a.pyi", "a.d.ts", "a.c", "README", "a.PY", "py"])
def test_files_that_only_declare_or_have_no_grammar_are_not_looked_into(path: str) -> None:
    assert outline_source(path, b"def f(): ...") is None


def test_a_file_too_large_is_not_looked_into() -> None:
    assert outline_source("a.py", b"#" * 600_000) is None


@pytest.mark.parametrize(
    "source",
    [
        b"(" * 5_000,
        b"\x00\xff\xfe" * 1_000,
        b"def f():pass\n" * 500,
        b"x=" + b"-" * 5_000 + b"1",
        b"x=" + b"lambda:" * 500 + b"1",
        b"a" + b".b" * 5_000,
        b"{" * 5_000,
        b"function f(){" * 500,
        b"function f(){" + b"if(a){}else " * 500,
        b"match x {" * 500,
        b"def f\n" * 500,
        b"return [" * 500,
    ],
    ids=lambda source: repr(source[:16]),
)
@pytest.mark.parametrize("path", ["a.py", "a.js", "a.ts", "a.go", "A.java", "a.rs", "a.rb"])
def test_nothing_breaks_the_reading(path: str, source: bytes) -> None:
    assert outline_source(path, source) is not None
