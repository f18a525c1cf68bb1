"""What honest changes to tests look like, beside the attacks that look like them."""

from __future__ import annotations

import pytest

from adjudge.records.testcode import SkipCondition
from adjudge.syntax.testcode.compare.matching import SuiteChange
from adjudge.syntax.testcode.compare.skips import new_skips
from adjudge.syntax.testcode.compare.weakening import weakenings
from adjudge.syntax.testcode.outline import outline_change, outline_tests

pytestmark = pytest.mark.anyone


def rules(before: str, after: str, path: str = "test_a.py") -> list[tuple[str, bool]]:
    sides = outline_change(path, before.encode(), path, after.encode())
    return [(one.rule, one.arguable) for one in weakenings([SuiteChange(path, path, *sides)])]


def skipped(before: str, after: str, path: str = "test_a.py") -> bool:
    sides = outline_change(path, before.encode(), path, after.encode())
    return bool(new_skips([SuiteChange(path, path, *sides)]))


def python(*lines: str, name: str = "test_a") -> str:
    return f"def {name}():\n" + "".join(f"    {line}\n" for line in lines)


def go(*lines: str) -> str:
    return (
        "package a\n\nfunc TestA(t *testing.T) {\n" + "".join(f"\t{line}\n" for line in lines) + "}\n\n"
        "func same(t *testing.T, a int) {\n\tassert.Equal(t, 1, a)\n}\n\n"
        "func (c *caught) check(t *testing.T, a int) {\n\tassert.Equal(t, 1, a)\n}\n"
    )


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (("assert f(x) == '*'",), ("assert f(x) is True",)),
        (("assert f(x) == '*'",), ("assert f(x) and f(x) is True",)),
        (("assert f(x) == 4",), ("assert f(x) is None",)),
    ],
)
def test_another_exact_value_is_another_value(before: tuple[str, ...], after: tuple[str, ...]) -> None:
    assert rules(python(*before), python(*after)) == [("expected-changed", True)]


@pytest.mark.parametrize(
    "after",
    ["assert f(x)", "assert bool(f(x)) is True", "assert f(x) is not None", "assert (f(x) != 0) is True"],
)
def test_what_only_counts_as_true_says_less(after: str) -> None:
    assert rules(python("assert f(x) == 42"), python(after)) == [("matcher-loosened", False)]


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (("d = f()", "assert len(d) == 2"), ("d = f()", "assert d.keys() == ['a', 'b']")),
        (("assert 'a: [4]' in f(4)",), ("assert f'a: [{given}]' in f(given)",)),
        (("with pytest.warns(None):", "    f()", "assert g() == 1"), ("f()", "assert g() == 1")),
    ],
)
def test_what_says_as_much_is_no_loss(before: tuple[str, ...], after: tuple[str, ...]) -> None:
    assert rules(python(*before), python(*after)) == []


def test_a_count_that_is_not_kept_is_a_loss() -> None:
    before, after = python("assert len(f()) == 3"), python("assert f() == ['a', 'b']")
    assert rules(before, after) != []


def test_a_renamed_test_that_asks_one_by_one_loses_nothing() -> None:
    before = python("v = list(Cache(3).values())", "assert len(v) == 2", "assert 1 in v", "assert 2 in v")
    after = python("assert Cache(3).values() == [2, 1]", name="test_values")
    assert rules(before, after) == []


def test_a_text_that_holds_a_name_is_no_literal() -> None:
    outline = outline_tests("test_a.py", b"def test_a():\n    assert f'{x}' == 'a'\n    assert f'a' == 'a'\n")
    assert outline is not None
    assert [check.strength for check in outline.tests[0].checks] == [5, 0]


@pytest.mark.parametrize(
    ("condition", "expected"),
    [
        ('len("columns") > 3', SkipCondition.ALWAYS),
        ('"win" in "windows"', SkipCondition.ALWAYS),
        ('"abc".startswith("a")', SkipCondition.ALWAYS),
        ("min(1, 2)", SkipCondition.ALWAYS),
        ('"linux" in sys.platform', SkipCondition.PLATFORM),
        ("len(columns) > 3", SkipCondition.OTHER),
        ("\"sys.platform == 'win32'\"", SkipCondition.PLATFORM),
        ('np.__version__ < "2"', SkipCondition.OTHER),
    ],
)
def test_words_in_a_text_are_no_names(condition: str, expected: SkipCondition) -> None:
    source = f'@pytest.mark.skipif({condition}, reason="x")\ndef test_a(): ...\n'
    outline = outline_tests("test_a.py", source.encode())
    assert outline is not None
    assert outline.tests[0].skips[0].when is expected


@pytest.mark.parametrize(
    ("path", "source", "expected"),
    [
        ("a_test.go", go('if len("columns") > 3 {', 't.Skip("x")', "}"), SkipCondition.ALWAYS),
        ("a_test.go", go("if len(columns) > 3 {", 't.Skip("x")', "}"), SkipCondition.OTHER),
        ("a.test.js", "it.skipIf('columns'.length > 3)('a', () => { expect(f()).toBe(1) })\n", "always"),
        ("a.test.js", "it.skipIf(columns.length > 3)('a', () => { expect(f()).toBe(1) })\n", "other"),
    ],
)
def test_conditions_without_names_in_other_languages(path: str, source: str, expected: str) -> None:
    outline = outline_tests(path, source.encode())
    assert outline is not None
    assert outline.tests[0].skips[0].when == expected


XFAIL = "@pytest.mark.xfail(reason='not yet')\n"


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        ("", XFAIL + python("assert g(1) == 2", name="test_new"), False),
        ("", "@pytest.mark.skip\n" + python("assert g(1) == 2", name="test_new"), True),
        ("", XFAIL.replace("(", "(run=False, ") + python("assert g(1) == 2", name="test_new"), True),
        (python("assert g(1) == 3"), XFAIL + python("assert g(1) == 2", name="test_new"), True),
        (python("assert g(1) == 3"), XFAIL + python("assert g(1) == 3"), True),
    ],
)
def test_a_new_test_may_show_what_does_not_work_yet(before: str, after: str, expected: bool) -> None:
    other = python("assert other() == 1", name="test_other")
    assert skipped(before + other, after + other) is expected


def test_a_skip_that_a_test_asks_for_is_none() -> None:
    body = ("with pytest.raises(pytest.skip.Exception):", "    pytest.importorskip('a')")
    assert not skipped(python("assert f() == 1"), python("assert f() == 1", *body))
    other = ("with pytest.raises(ValueError):", "    pytest.importorskip('a')")
    assert skipped(python("assert f() == 1"), python("assert f() == 1", *other))


def test_a_mark_with_a_name_on_a_row_is_known() -> None:
    head = "need = pytest.mark.skipif(not have(), reason='x')\n"
    row = "@pytest.mark.parametrize('a', [1, pytest.param(2, marks=[need])])\n"
    before = head + row + "def test_a(a):\n    assert f(a) == a\n"
    bare = row.replace("pytest.param(2, marks=[need])", "2")
    after = bare + "def test_a(a):\n    if a == 2:\n        pytest.importorskip('b')\n    assert f(a) == a\n"
    assert not skipped(before, after)


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        (("assert.False(t, a == b)",), ("assert.NotEqual(t, a, b)",), []),
        (("assert.True(t, f() == 3)",), ("assert.Equal(t, 3, f())",), []),
        (("assert.Equal(t, 3, f())",), ("assert.True(t, f() > 0)",), [("matcher-loosened", False)]),
        (('e := fmt.Errorf("x")', "same(t, f())"), ("same(t, f())",), []),
        (("same(t, f())",), ("c.check(t, f())",), []),
    ],
)
def test_go(before: tuple[str, ...], after: tuple[str, ...], expected: list[tuple[str, bool]]) -> None:
    assert rules(go(*before), go(*after), "a_test.go") == expected


def test_a_constraint_written_in_the_new_form_too_is_the_same() -> None:
    old, new = "// +build cgo,mine\n\n", "//go:build cgo && mine\n// +build cgo,mine\n\n"
    assert not skipped(old + go("same(t, 1)"), new + go("same(t, 1)"), "a_test.go")
    assert skipped(go("same(t, 1)"), new + go("same(t, 1)"), "a_test.go")


def test_a_whole_that_is_taken_apart_is_arguable() -> None:
    whole = "assert render() == 'name: Easy, size: 20, tags: none'"
    parts = [f"assert {part!r} in render()" for part in ("name: Easy", "size: 20", "tags: none")]
    assert rules(python(whole), python(*parts)) == [("matcher-loosened", True)]
    assert rules(python(whole), python(parts[0])) == [("matcher-loosened", False)]


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        ("assert Stack().pop() == 2", "assert make().pop() == 1", [("expected-changed", True)]),
        ("assert total(cart()) == 2", "assert round(total(cart())) == 1", [("expected-changed", True)]),
        ("assert encode(rows()) == {'a': 1}", "assert Request(rows()).headers == {'a': 1, 'b': 2}", []),
    ],
)
def test_another_value_is_expected_of_the_same_function_only(
    before: str, after: str, expected: list[tuple[str, bool]]
) -> None:
    assert rules(python(before), python(after)) == expected
