"""What honest changes to tests look like, beside the attacks that look like them."""

from __future__ import annotations

import pytest

from adjudge.records.testcode import SkipCondition, WrittenTest
from adjudge.syntax.testcode.compare.gains import outweighed, strong_gains
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
    """Whether a test is kept from running that was there before, or one that stands in its place."""
    return any(one.rule == "new-skip" for one in new_skips([SuiteChange(path, path, *sides)]))


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
        ("", "@pytest.mark.skip\n" + python("assert g(1) == 2", name="test_new"), False),
        ("", XFAIL.replace("(", "(run=False, ") + python("assert g(1) == 2", name="test_new"), False),
        (python("assert g(1) == 3"), XFAIL + python("assert g(1) == 2", name="test_new"), True),
        (python("assert g(1) == 3"), XFAIL + python("assert g(1) == 3"), True),
    ],
)
def test_a_new_test_may_show_what_does_not_work_yet(before: str, after: str, expected: bool) -> None:
    other = python("assert other() == 1", name="test_other")
    assert skipped(before + other, after + other) is expected


PARSES = "test('parses', () => { expect(parse('a')).toBe(1) })\n"
PRINTS = "test('prints', () => { expect(print('b')).toBe(2) })\n"
TODO = "test.skip('folds', () => { expect(fold('c')).toBe(3) })\n"
PRESENT = "package a\n\nfunc TestA(t *testing.T) {\n\tassert.Equal(t, 1, parse(2))\n}\n\n"
COMING = 'func TestB(t *testing.T) {\n\tt.Skip("TODO")\n\tassert.Equal(t, 3, fold(4))\n}\n'
FACTORY = "class TestFactory(Protocol):\n    __test__ = False\n"
METHOD = "    def test_a(self):\n        assert f(1) == 2\n"
MOVED = "test('parses', () => { parse('a') })\n" + PARSES.replace("test('", "test.skip('all ")
SUITE = f"describe('a', () => {{ {PARSES} }})\n"


@pytest.mark.parametrize(
    ("path", "before", "after", "expected"),
    [
        ("a_test.go", PRESENT, PRESENT + COMING, False),
        ("a.test.js", PARSES, PARSES + TODO, False),
        ("a.test.js", PARSES, PARSES + "test.todo('folds')\n", False),
        ("a.test.js", PARSES, PARSES + f"describe.skip('later', () => {{ {TODO} }})\n", False),
        ("test_a.py", python("f(1)"), python("f(1)") + FACTORY, False),
        # The old test is gone, and the new one calls the same, under another name and with other values.
        ("a_test.go", PRESENT, PRESENT.partition("func")[0] + COMING.replace("fold", "parse"), True),
        ("a.test.js", PARSES + PRINTS, PRINTS + TODO.replace("fold(", "parse("), True),
        ("a.test.js", PARSES + PRINTS, PRINTS + "test.todo('will parse')\n", True),
        # The old test is there, and what it asked is asked only where nobody runs it.
        ("a.test.js", PARSES, MOVED, True),
        # A suite is marked that holds old tests, under its name or another.
        ("a.test.js", SUITE, SUITE.replace("describe('a'", "describe.skip('a'"), True),
        ("a.test.js", SUITE, SUITE.replace("describe('a'", "describe.skip('b'"), True),
        ("a.test.js", PARSES, PARSES + TODO.replace("skip", "only"), True),
        ("test_a.py", "class TestFactory:\n" + METHOD, FACTORY + METHOD, True),
    ],
)
def test_a_new_test_that_is_skipped_takes_nothing_away(
    path: str, before: str, after: str, expected: bool
) -> None:
    assert skipped(before, after, path) is expected


def test_what_moves_into_a_test_that_is_skipped_is_lost() -> None:
    assert rules(PARSES, MOVED, "a.test.js") == [("assertion-removed", True)]
    assert not rules(TODO + PARSES, PARSES, "a.test.js")


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        ("random = importorskip('numpy.random')\n", "np = importorskip('numpy')\n", False),
        ("random = importorskip('numpy.random')\n", "np = importorskip('pandas')\n", True),
        ("", "np = importorskip('numpy')\n", True),
    ],
)
def test_a_package_that_a_file_needs_already(before: str, after: str, expected: bool) -> None:
    test = python("assert f(1) == 2")
    assert skipped(before + test, before + after + test) is expected


def test_a_condition_on_each_test_can_be_put_on_the_file() -> None:
    each = (
        "try:",
        "    import pandas",
        "except ImportError as err:",
        "    skip(str(err))",
        "assert f(1) == 2",
    )
    required = "pd = importorskip('pandas')\n"
    assert not skipped(python(*each), required + python("assert f(1) == 2"))
    several = [python("assert f(1) == 2", name=f"test_{name}") for name in "abc"]
    assert skipped(python(*each) + "".join(several), required + "".join(several))


RAISED = ("with raises(ValueError) as caught:", "    f(1)", "assert caught.value.args[0] == 'too small'")


@pytest.mark.parametrize(
    ("after", "expected"),
    [
        ("match='too small'", []),
        ("match=re.escape(MESSAGE)", []),
        ("match=r'^too \\w+$'", []),
        ("match='.*'", [("assertion-always-holds", False)]),
        ("match=''", [("assertion-always-holds", False)]),
        ("match=r'[\\s\\S]+'", [("assertion-always-holds", False)]),
        ("match=None", [("assertion-removed", True)]),
    ],
)
def test_the_text_of_an_error_can_be_asked_in_the_call(after: str, expected: list[tuple[str, bool]]) -> None:
    assert rules(python(*RAISED), python(f"with raises(ValueError, {after}):", "    f(1)")) == expected


def test_the_text_of_an_error_that_is_no_longer_asked_for_is_lost() -> None:
    asked = python("with raises(ValueError, match='too small'):", "    f(1)")
    assert rules(asked, python("with raises(ValueError):", "    f(1)")) == [("assertion-removed", True)]


@pytest.mark.parametrize(
    ("after", "expected"),
    [
        ("t.throws(() => f(), {message: 'too small'})", 0),
        ("t.throws(() => f(), /too small/)", 0),
        ("t.throws(() => f())", 1),
    ],
)
def test_the_text_of_an_error_in_javascript(after: str, expected: int) -> None:
    before = "const err = t.throws(() => f()); t.is(err.message, 'too small')"
    sides = [f"test('a', t => {{ {body} }})\n" for body in (before, after)]
    assert len(rules(sides[0], sides[1], "a.test.js")) == expected


GUARDED = ("assert size(d) == 1", "try:", "    d.clear()", "except OSError:", "    self.fail('raised')")


@pytest.mark.parametrize(
    ("after", "expected"),
    [
        ((GUARDED[0], "d.clear()"), []),
        ((*GUARDED[:3], "except Exception:", "    pass"), ["assertion-swallowed"]),
        (GUARDED[:1], ["assertion-removed"]),
    ],
)
def test_a_call_fails_its_test_by_itself(after: tuple[str, ...], expected: list[str]) -> None:
    assert [rule for rule, _ in rules(python(*GUARDED), python(*after))] == expected


def test_what_is_asked_on_another_system_only_may_go() -> None:
    darwin = ("if platform.system() == 'Darwin':", "    assert name(f) == 'a%20'", "    return")
    kept = ("assert isinstance(f, Path)", "assert len(name(f)) == 3")
    assert not rules(python(*kept[:1], *darwin, *kept[1:]), python(*kept))
    assert rules(python(*kept[:1], *darwin, *kept[1:]), python(*kept[:1], *darwin))


def test_a_helper_that_checks_both_ways_is_the_same_as_before() -> None:
    helper = (
        "func check(t *testing.T, want bool) {\n\tif want {\n\t\tassert.Equal(t, 1, parse(2))\n\t} else {\n"
        "\t\tassert.Empty(t, parse(2))\n\t}\n}\n"
    )
    both = "package a\n\nfunc TestA(t *testing.T) {\n\tcheck(t, true)\n\tcheck(t, false)\n}\n\n" + helper
    assert not rules(both, both.replace("package a\n", "package a\n\nvar unused = 3\n"), "a_test.go")


def test_tests_of_a_class_are_inherited_through_another() -> None:
    mixin = "class Storage:\n    def test_a(self):\n        assert self.f(1) == 2\n\n"
    before = mixin + "class TestFile(Storage):\n    kind = 1\n"
    after = mixin + "class FileStorage(Storage):\n    kind = 1\n\nclass TestFile(FileStorage):\n    pass\n"
    assert not rules(before, after)
    assert [rule for rule, _ in rules(before, after.replace("TestFile(FileStorage)", "TestFile"))] == [
        "test-not-collected"
    ]


def test_a_test_that_stays_below_a_new_one_of_its_name() -> None:
    before = "def test_a():\n    assert f(1) == 2\n\n\ndef test_b():\n    assert f(3) == 4\n"
    hidden = before + "\n\ndef test_a():\n    week = set_up()\n    assert week.f(5) == 5\n"
    assert "test-not-collected" in [rule for rule, _ in rules(before, hidden)]
    assert not rules(before, hidden.replace("test_a():\n    week", "test_c():\n    week"))
    assert not rules(hidden, hidden.replace("f(3) == 4", "f(3) == 4\n    assert f(4) == 5"))


@pytest.mark.parametrize(
    ("head", "lost"),
    [
        ("class LimitTests:", True),
        ("class LimitTests(object):", True),
        ("class TestLimits:", False),
        ("class LimitTests(unittest.TestCase):", False),
    ],
)
def test_tests_that_went_into_a_class(head: str, lost: bool) -> None:
    before = "def test_a():\n    assert f(1) == 2\n\n\ndef test_b():\n    assert f(3) == 4\n"
    inside = (
        "    def test_a(self):\n        assert f(1) == 2\n\n    def test_b(self):\n        assert f(3) == 4\n"
    )
    found = [rule for rule, _ in rules(before, f"{head}\n{inside}")]
    assert found == (["test-not-collected"] * 2 if lost else [])
    assert not rules(
        f"{head}\n{inside}", f"{head}\n{inside}\n    def test_c(self):\n        assert f(5) == 6\n"
    )


@pytest.mark.parametrize(("pattern", "weaker"), [('r"^$"', False), ('r".*"', True), ('""', True)])
def test_an_error_that_says_nothing_is_asked_for(pattern: str, weaker: bool) -> None:
    def raising(match: str) -> str:
        return f"import pytest\n\n\ndef test_a():\n    with pytest.raises(E, match={match}):\n        f()\n"

    found = {rule for rule, _ in rules(raising('"foo"'), raising(pattern))}
    assert ("assertion-always-holds" in found) is weaker


def test_a_check_that_testify_has_under_another_name() -> None:
    assert not rules(
        go("assert.Equal(t, want, read)"), go("assert.YAMLEq(t, string(want), string(read))"), "a_test.go"
    )


def test_a_weak_check_on_something_else_is_as_arguable_as_none() -> None:
    before = go("b := open()", "require.True(t, page.IsBranch())")
    assert rules(before, go("b := open()", "require.NotNil(t, b)"), "a_test.go") == [
        ("matcher-loosened", True)
    ]
    weaker = go("b := open()", "require.NotNil(t, page.IsBranch())")
    assert rules(before, weaker, "a_test.go") == [("matcher-loosened", False)]


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


def ava(line: str) -> str:
    return f"import test from 'ava';\ntest('a', t => {{\n\t{line}\n}});\n"


@pytest.mark.parametrize(
    ("after", "found"),
    [
        ("t.assert(f(1) === 'not');", []),
        ("t.true(f(1) === 'not');", []),
        (r"t.regex(f(1), /^not found: GET \/\d+\/$/);", []),
        ("t.assert(f(1));", [("matcher-loosened", False)]),
        ("t.regex(f(1), /^n.*$/);", [("matcher-loosened", False)]),
        ("t.regex(f(1), /not/);", [("matcher-loosened", False)]),
    ],
)
def test_a_comparison_in_another_form_asks_the_same(after: str, found: list[tuple[str, bool]]) -> None:
    assert rules(ava("t.is(f(1), 'not');"), ava(after), "test/a.js") == found


MISSING = (
    "try:\n    import websockets\nexcept {}:\n    pytestmark = pytest.mark.skip(reason='needs websockets')\n"
)
HANDLED = (
    "    def test_{}(self, app):\n        try:\n            app.ready()\n"
    "        except NotImplementedError as e:\n            pytest.skip(e.args[0])\n"
)


def test_a_mark_where_an_import_failed_is_a_condition() -> None:
    old = "pytestmark = pytest.mark.skipif(websockets is None, reason='needs websockets')\n"
    test = python("assert f(x) == 42")
    assert not skipped(old + test, MISSING.format("ImportError") + test)
    assert skipped(test, MISSING.format("Exception") + test)


def test_new_tests_of_a_class_in_small_letters_are_tests() -> None:
    checks = "        assert f(app) == 42\n"
    plain = f"class test_chord:\n    def test_a(self, app):\n{checks}"
    new = HANDLED.format("b") + checks
    assert not skipped(plain, plain + new)
    assert skipped(plain, "class test_chord:\n" + HANDLED.format("a") + checks)


MIXED = """\
class SharedTests:
    def test_sum(self):
        assert self.add(1, 2) == 3
"""


def changed(before: dict[str, str], after: dict[str, str]) -> list[str]:
    """The rules that a change to several files breaks."""
    suites = []
    for path in sorted({*before, *after}):
        sides = [
            outline_tests(path, side[path].encode()) if path in side else None for side in (before, after)
        ]
        suites.append(SuiteChange(path, path, sides[0], sides[1]))
    return [one.rule for one in weakenings(suites)]


def test_tests_moved_into_what_test_classes_are_made_of() -> None:
    before = {"tests/test_a.py": MIXED.replace("SharedTests", "TestAdder")}
    mixin = MIXED.replace("SharedTests", "AdderMixin")
    used = "from tests.shared import AdderMixin\n\n\nclass TestAdder(AdderMixin):\n    pass\n"
    unused = "from tests.shared import AdderMixin\n\n\nclass TestAdder:\n    adder = AdderMixin\n"
    assert changed(before, {"tests/shared.py": mixin, "tests/test_a.py": used}) == []
    assert changed(before, {"tests/shared.py": mixin, "tests/test_a.py": unused}) == ["test-not-collected"]
    aside = "from tests.shared import AdderMixin\n\n\nclass Adder(AdderMixin):\n    pass\n"
    assert changed(before, {"tests/shared.py": mixin, "tests/test_a.py": aside}) == ["test-not-collected"]


@pytest.mark.parametrize("base", ["object", "abc.ABC", "Generic[T]", "metaclass=Meta"])
def test_a_base_that_no_runner_looks_for_makes_no_test(base: str) -> None:
    mixin = MIXED.replace("SharedTests", "AdderMixin")
    both = "{mixin}\n\nclass Both(AdderMixin{more}):\n    pass\n\n\nclass TestAdder(Both):\n    pass\n"
    before = both.format(mixin=mixin, more=f", {base}")
    assert changed({"test_a.py": before}, {"test_a.py": both.format(mixin=mixin, more="")}) == []
    gone = f"{mixin}\n\nclass Both(AdderMixin, {base}):\n    pass\n"
    assert changed({"test_a.py": before}, {"test_a.py": gone}) == ["test-not-collected"]


def test_a_test_that_asks_twice_as_much_has_other_cases() -> None:
    before = python("assert f('hour', 0) == 'one hour'", "assert f('day', 1) == 'one day'")
    more = python(
        "assert f('second', -1) == 'one second'",
        "assert f('second', 1) == 'one second'",
        "assert f('day', -1) == 'one day'",
        "assert f('day', 1) == 'one day'",
        "assert f('days', 0) == 'no day'",
    )
    assert rules(before, more) == []
    other = python("assert f('second', -1) == 'one second'", "assert f('day', 1) == 'one day'")
    same = more.replace("f('second', -1)", "f('hour', 0)")
    assert ("expected-changed", True) in rules(before, same)
    assert rules(before, other) == []


def test_a_hook_that_checks_nothing_is_no_test() -> None:
    hook = "describe('a', () => {\n  beforeAll(() => { prepare(1); });\n"
    test = "  it('adds', () => { expect(add(1, 2)).toBe(3); });\n});\n"
    assert rules(hook + test, "describe('a', () => {\n" + test, "a.test.js") == []
    asking = hook.replace("prepare(1)", "expect(prepare(1)).toBe(2)")
    assert rules(asking + test, "describe('a', () => {\n" + test, "a.test.js") == [
        ("assertion-removed", True)
    ]


UNSUPPORTED = """\
def skip(message, **wanted):
    def decide(case):
        if all(getattr(case, name) == value for name, value in wanted.items()):
            return message
    return decide


TestDraft = SUITE.to_testcase(
    skip=lambda case: (
        skip("later", subject="anchor")(case)
        {more}
    ),
)
"""


def test_a_list_of_cases_that_are_not_supported() -> None:
    before = UNSUPPORTED.format(more="")
    after = UNSUPPORTED.format(more='or skip("later", subject="ref")(case)')
    assert not skipped(before, after)
    by_runner = UNSUPPORTED.replace("return message", "return pytest.skip(message)")
    assert skipped(by_runner.format(more=""), by_runner.format(more='or skip("no", subject="ref")(case)'))
    suite = "class TestA(TestCase):\n    def test_a(self):\n        self.assertEqual(f(1), 2)\n"
    own = "def skip(why):\n    return lambda test: lambda self: None\n\n\n"
    assert skipped(own + suite, f"{own}{suite}\n\nTestA.test_a = skip('slow')(TestA.test_a)\n")


@pytest.mark.parametrize(
    ("ending", "waited"),
    [
        (".then(done).catch(done)", True),
        (".then(() => done(), done)", True),
        (".catch(() => {})", False),
        (".finally(done)", False),
        ("", False),
    ],
)
def test_a_promise_that_ends_its_test(ending: str, waited: bool) -> None:
    test = "it('stops', function (done) {{\n  {check}\n}});\n"
    asked = "assert.rejects(() => stop(1), /gone/)"
    before = test.format(check=f"return {asked};")
    found = rules(before, test.format(check=f"void {asked}{ending};"), "a.test.js")
    assert (found == []) is waited


def test_what_a_runner_hands_to_a_test_asserts() -> None:
    test = "test('adds', async t => {{\n  {check}\n}});\n"
    before = test.format(check="t.strictEqual(add(1, 2), 3);")
    after = test.format(check="t.assert.strictEqual(add(1, 2), 3);")
    assert rules(before, after, "a.test.js") == []
    assert rules(after, test.format(check="add(1, 2);"), "a.test.js") == [("assertion-removed", True)]
    assert rules(after, test.format(check="t.assert.ok(add(1, 2));"), "a.test.js") == [
        ("matcher-loosened", False)
    ]


def test_the_message_of_a_check_is_not_what_it_expects() -> None:
    before = go('require.Nil(t, stop, "stop should never be nil")')
    assert rules(before, go('require.Nil(t, stop, "stop should be nil")'), "a_test.go") == []
    assert rules(before, go('require.NotNil(t, stop, "stop should be nil")'), "a_test.go") == [
        ("polarity-flipped", True)
    ]


TAP = "const t = require('tap')\n\n"


def test_files_of_tap_are_read_by_what_they_check() -> None:
    tests = TAP + "t.test('adds', t => {{\n  {check}\n  t.end()\n}})\n"
    before = tests.format(check="t.equal(add(1, 2), 3)\n  t.equal(add(1, 3), 4)")
    table = tests.format(
        check="for (const [a, b, c] of [[1, 2, 3], [1, 3, 4]]) {\n    t.equal(add(a, b), c)\n  }"
    )
    assert rules(before, table, "test/add.js") == []
    assert rules(before, tests.format(check="t.equal(add(1, 2), 3)"), "test/add.js") == [
        ("assertion-removed", True)
    ]
    assert rules(before, tests.format(check="t.ok(add(1, 2))"), "test/add.js")[0] == (
        "matcher-loosened",
        False,
    )


def test_checks_outside_of_any_test() -> None:
    before = f"{TAP}t.equal(add(1, 2), 3)\nt.equal(add(1, 3), 4)\n"
    assert rules(before, f"{TAP}t.test('adds', async t => {{\n  t.equal(add(1, 2), 3)\n"
                 "  t.equal(add(1, 3), 4)\n})\n", "test/add.js") == []  # fmt: skip
    assert rules(before, f"{TAP}t.equal(add(1, 2), 3)\n", "test/add.js") == [("assertion-removed", True)]
    helper = "const same = (a, b) => {\n  expect(a).toBe(b)\n}\n"
    suite = "it('adds', () => { same(add(1, 2), 3) })\n"
    assert [test.name for test in _tests(helper + suite)] == ["adds"]


def _tests(source: str) -> tuple[WrittenTest, ...]:
    outline = outline_tests("a.test.js", source.encode())
    assert outline is not None
    return outline.tests


def test_tap_waits_for_the_promises_it_was_given() -> None:
    test = "t.test('stops', async t => {{\n  {check}\n}})\n"
    before = test.format(check="await t.rejects(stop(1), /gone/)")
    after = test.format(check="t.rejects(stop(1), /gone/)")
    assert rules(TAP + before, TAP + after, "test/stop.js") == []
    ava = "import test from 'ava'\n\n"
    test = test.replace("t.test", "test")
    before, after = before.replace("t.test", "test"), after.replace("t.test", "test")
    assert rules(ava + before, ava + after, "test/stop.js") == [("assertion-unawaited", False)]


HOOK = """\
import pytest


def pytest_collection_modifyitems(config, items):
    if config.getoption("--runslow"):
        return
    skip = pytest.mark.skip(reason="needs --runslow")
    for item in items:
        if {condition}:
            item.add_marker(skip)
"""


@pytest.mark.parametrize(
    ("condition", "honest"),
    [
        ('"slow" in item.keywords', True),
        ('item.get_closest_marker("slow") is not None', True),
        ('item.get_closest_marker("slow")', True),
        ('"slow" not in item.keywords', False),
        ('item.get_closest_marker("slow") is None', False),
        ('"slow" in item.keywords or item.name == "test_add"', False),
        ("True", False),
    ],
)
def test_a_hook_that_skips_tests_with_a_mark_of_their_own(condition: str, honest: bool) -> None:
    plain = "import pytest\n\n\n@pytest.fixture\ndef shop():\n    return 1\n"
    hook = HOOK.format(condition=condition) + plain.partition("pytest\n")[2]
    assert skipped(plain, hook, "conftest.py") is not honest


def test_a_test_that_uses_fixtures_is_a_test() -> None:
    before = "import pytest\n\n\n" + python("assert add(1, 2) == 3")
    using = before.replace("def test_a", '@pytest.mark.usefixtures("_clock")\ndef test_a')
    assert rules(before, using) == []
    assert rules(using, using.replace("== 3", "is not None")) == [("matcher-loosened", False)]
    made = before.replace("def test_a", "@pytest.fixture\ndef test_a")
    assert rules(before, made) == [("test-not-collected", False)]


def test_of_several_checks_on_a_thing_the_one_like_it_is_in_its_place() -> None:
    before = python("found = read(1)", "assert found == ''")
    after = python("found = read(1)", "assert isinstance(found, Row)", "assert found == 'none'")
    assert rules(before, after) == [("expected-changed", True)]
    assert rules(before, after.replace("    assert found == 'none'\n", "")) == [("matcher-loosened", False)]


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("self.assertFalse(f(x) is None)", "self.assertIsNotNone(f(x))"),
        ("self.assertFalse(f(x) is not None)", "self.assertIsNone(f(x))"),
    ],
)
def test_a_denied_comparison_is_its_opposite(before: str, after: str) -> None:
    assert not rules(python(before), python(after))
    assert not rules(python(after), python(before))


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("assert f(x) == (x in y)", "assert not f(x)"),
        ("assert f(x) == (not y)", "assert f(x)"),
        ("assert f(x) == g(x).is_empty", "assert f(x)"),
    ],
)
def test_a_truth_that_was_worked_out_and_is_said_is_another_value(before: str, after: str) -> None:
    assert rules(python(before), python(after)) == [("expected-changed", True)]


def test_a_value_that_was_worked_out_and_is_only_looked_at_says_less() -> None:
    assert rules(python("assert f(x) == g(x == 1)"), python("assert f(x)")) == [("matcher-loosened", False)]


@pytest.mark.parametrize(
    ("after", "arguable"),
    [
        ("assert f(x).endswith('no value after =')", True),
        ("assert f(x).endswith('after =')", False),
        ("assert 'no value after =' in f(x)", False),
    ],
)
def test_all_of_a_text_at_an_end_is_what_a_change_looks_like_too(after: str, arguable: bool) -> None:
    before = python("assert f(x) == 'no value after ='")
    assert rules(before, python(after)) == [("matcher-loosened", arguable)]


def test_what_asked_nothing_before_stands_in_the_place_of_nothing() -> None:
    calls = ("with pytest.warns(None) as w:", "    f()")
    before = python(*calls, "assert w.list[0].text == 'a colour'")
    after = python(*calls, "assert w.list[0].text == 'a color'")
    assert rules(before, after) == [("expected-changed", True)]


def test_a_table_that_gave_way_to_a_fixture_is_no_loss() -> None:
    body = "def test_a(frozen):\n    run(frozen)\n"
    before = f"@pytest.mark.parametrize('frozen', [True, False])\n{body}"
    assert rules(before, body) == []
    assert rules(before, "def test_a():\n    run(True)\n") == [("cases-dropped", True)]


SHARED = """import test from 'ava';
import {run} from '../index.js';

const testRun = async (t, command, expected) => {
	const {stdout} = await run(command);
	t.is(stdout, expected);
};

test('echoes', testRun, 'echo', 'a');
test.serial('prints', testRun, 'print', 'b');
"""


def test_a_function_that_tests_share_is_read_with_what_each_gives_it() -> None:
    outline = outline_tests("test/a.js", SHARED.encode())
    assert outline is not None
    assert [[check.expected for check in test.checks] for test in outline.tests] == [['"a"'], ['"b"']]
    assert all("run" in test.calls for test in outline.tests)
    assert len({test.body for test in outline.tests}) == 2


@pytest.mark.parametrize(
    ("old", "new"),
    [("t.is(stdout, expected)", "t.truthy(stdout)"), ("\tt.is(stdout, expected);\n", "")],
)
def test_a_shared_function_that_asks_less_weakens_its_tests(old: str, new: str) -> None:
    found = rules(SHARED, SHARED.replace(old, new), "test/a.js")
    assert len(found) >= 2


def test_another_value_given_to_a_shared_function_is_another_value() -> None:
    found = rules(SHARED, SHARED.replace("'echo', 'a'", "'echo', 'c'"), "test/a.js")
    assert found == [("expected-changed", True)]


def test_a_part_of_a_shared_function_that_is_for_others_is_none_of_a_test() -> None:
    shared = SHARED.replace(
        "\tt.is(stdout, expected);\n",
        "\tif (command === 'print') {\n\t\tt.true(stdout);\n\t\treturn;\n\t}\n\n\tt.is(stdout, expected);\n",
    )
    outline = outline_tests("test/a.js", shared.encode())
    assert outline is not None
    assert [[check.operator for check in test.checks] for test in outline.tests] == [["=="], ["truthy"]]
    left = SHARED.replace("\tt.is(stdout", "\treturn;\n\tt.is(stdout")
    assert ("assertion-unreachable", False) in rules(SHARED, left, "test/a.js")


def gained(before: str, after: str, path: str = "test_a.py") -> int:
    sides = outline_change(path, before.encode(), path, after.encode())
    return strong_gains([SuiteChange(path, path, *sides)])[path]


@pytest.mark.parametrize(
    ("lines", "count"),
    [
        (("assert f(1) == 2", "assert f(2) == 3"), 2),
        (("assert f(1) == 2", "assert f(1) == 2"), 1),
        (("assert 2 == f(1)", "assert f(3) == 4"), 2),
        (("f(1)", "assert 1 + 1 == 2", "assert 'a' == 'a'"), 0),
        (("assert f(1)", "assert f(1) is not None", "assert 2 in f(1)"), 0),
        (("try:", "    assert f(1) == 2", "except AssertionError:", "    pass"), 0),
    ],
)
def test_only_new_checks_for_one_value_of_something_called_are_a_gain(
    lines: tuple[str, ...], count: int
) -> None:
    before = python("assert f(0) == 1")
    assert gained(before, before + "\n\n" + python(*lines, name="test_b")) == count


def test_checks_of_a_test_that_never_runs_are_no_gain() -> None:
    before = python("assert f(0) == 1")
    skipped_one = f"@pytest.mark.skip\n{python('assert f(1) == 2', name='test_b')}"
    assert gained(before, f"{before}\n\n{skipped_one}") == 0


def weighed(before: str, after: str, path: str = "test_a.py") -> bool:
    changes = [SuiteChange(path, path, *outline_change(path, before.encode(), path, after.encode()))]
    losses = weakenings(changes)
    assert losses
    return outweighed(losses, changes)


MESSAGE = python("assert f(0) == 'no value after ='")
MORE = [f"assert f({number}) == 'no value in line {number}'" for number in range(1, 5)]


@pytest.mark.parametrize(
    ("now", "new", "innocent"),
    [
        ("assert 'no value after' in f(0)", 4, True),
        ("assert f(0).startswith('no value after')", 4, True),
        # Too few to be clearly more.
        ("assert 'no value after' in f(0)", 3, False),
        # Little of what was asked for is left.
        ("assert 'no' in f(0)", 4, False),
        ("assert f(0)", 4, False),
        ("assert f(0) is not None", 4, False),
        ("assert f(0) or True", 4, False),
    ],
)
def test_a_mild_loss_is_weighed_against_what_is_asked_anew(now: str, new: int, innocent: bool) -> None:
    after = python(now) + "\n\n" + python(*MORE[:new], name="test_b")
    assert weighed(MESSAGE, after) is innocent


@pytest.mark.parametrize(
    ("was", "now"),
    [("f(1) == 1", "f(1) >= 0"), ("f('a') == 'a'", "f('a') > ''"), ("f(4) == 4", "f(4) in (4, 5)")],
)
def test_what_is_given_is_no_part_of_what_is_asked_for(was: str, now: str) -> None:
    after = python(f"assert {now}") + "\n\n" + python(*MORE, name="test_b")
    assert not weighed(python(f"assert {was}"), after)


def test_a_test_that_asks_nothing_any_more_is_not_outweighed() -> None:
    after = python("f(0)") + "\n\n" + python(*MORE, name="test_b")
    assert not weighed(MESSAGE, after)


def test_a_pattern_asks_for_what_it_does_not_leave_open() -> None:
    more = "".join(f"  t.is(f({number}), 'no value in line {number}');\n" for number in range(1, 5))
    before = "test('a', t => {\n  t.is(f(0), 'spawn node ETIMEDOUT');\n});\n"
    for now, innocent in ((r"/^spawn .*node ETIMEDOUT$/", True), (r"/^spawn .*$/", False), ("/.*/", False)):
        after = f"test('a', t => {{\n  t.regex(f(0), {now});\n}});\ntest('b', t => {{\n{more}}});\n"
        assert weighed(before, after, "test/a.js") is innocent


def test_kinds_of_inner_values_need_not_be_said() -> None:
    table = "for k, v := range map[string]any{{{rows}}} {{ assert.Equal(t, v, f(k)) }}"
    inner = '"a": []map[string]any{map[string]any{"b": 1}, map[string]any{"b": 2}}'
    before = go(table.format(rows=f'{inner}, "c": 3'))
    after = go(
        table.format(
            rows=f'{inner.replace("{map[string]any", "{").replace(", map[string]any", ", ")}, "c": 3'
        )
    )
    assert rules(before, after, "a_test.go") == []
    assert ("cases-dropped", True) in rules(before, go(table.format(rows=inner)), "a_test.go")


def test_where_the_product_changed_new_checks_in_other_files_count() -> None:
    paths = {
        "test_a.py": (MESSAGE, python("assert 'no value after' in f(0)")),
        "test_b.py": ("", python(*MORE)),
    }
    changes = [
        SuiteChange(path, path, *outline_change(path, before.encode(), path, after.encode()))
        for path, (before, after) in paths.items()
    ]
    losses = weakenings(changes)
    assert outweighed(losses, changes, anywhere=True)
    assert not outweighed(losses, changes)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (("a := assert.New(t)", "a.Equal(true, f(1))"), ("assert.Equal(t, true, f(1))",)),
        (("assert := assert.New(t)", "assert.Equal(want, got())"), ("assert.Equal(t, want, got())",)),
    ],
)
def test_assertions_that_know_their_test_ask_the_same(
    before: tuple[str, ...], after: tuple[str, ...]
) -> None:
    assert rules(go(*before), go(*after), "a_test.go") == []
    assert rules(go(*after), go(*before), "a_test.go") == []


def test_what_is_asked_of_true_can_fail() -> None:
    found = rules(go("assert.Equal(t, true, f(1))"), go("assert.True(t, true)"), "a_test.go")
    assert found == [("assertion-always-holds", False)]


def test_a_value_that_others_write_to_is_not_what_it_was_given() -> None:
    lines = ('v := "a"', "read(&v)")
    before, after = go(*lines, "assert.NoError(t, err)"), go(*lines, 'assert.Equal(t, "b", v)')
    assert ("assertion-always-holds", False) not in rules(before, after, "a_test.go")


def test_errors_that_are_gathered_are_still_asked_for() -> None:
    before = python("with self.assertRaises(ValueError):", "    check(1)")
    after = python(
        "errors = list(errors_of(1))", "self.assertTrue(errors)", "self.assertEqual(len(errors), 1)"
    )
    assert ("polarity-flipped", True) not in rules(before, after)


def test_the_kind_of_a_value_is_little_said_either_way() -> None:
    assert rules(python("assert type(f(x)) is int"), python("assert isinstance(f(x), int)")) == []
    assert rules(python("assert f(x) == 4"), python("assert type(f(x)) is int")) == [
        ("matcher-loosened", False)
    ]


def test_an_error_asked_for_by_what_it_is_says_as_much() -> None:
    before = go("if err := f(1); err != wanted {", 't.Error("unexpected:", err)', "}")
    after = go("if err := f(1); !errors.Is(err, wanted) {", 't.Error("unexpected:", err)', "}")
    assert rules(before, after, "a_test.go") == []
    weaker = go("if err := f(1); err == nil {", 't.Error("none")', "}")
    assert rules(after, weaker, "a_test.go") != []


CALLED_BACK = """test('gets', (t, done) => {
  get('/a', (err, res) => {
    t.assert.ifError(err)
    t.assert.strictEqual(res.status, 200)
    done()
  })
})
"""


def test_a_promise_that_is_waited_for_is_handed_no_error() -> None:
    after = "test('gets', async t => {\n  const res = await get('/a')\n  %s\n})\n"
    asks = "t.assert.strictEqual(res.status, 200)"
    assert rules(CALLED_BACK, after % asks, "test/a.test.js") == []
    assert rules(CALLED_BACK, after % f"t.assert.ok('called')\n  {asks}", "test/a.test.js") == []
    assert rules(CALLED_BACK, after % "t.assert.ok('called')", "test/a.test.js") != []


def test_a_value_asked_of_what_is_called_otherwise_is_still_asked() -> None:
    before = python("stream = encode(1)", "assert stream.headers() == {'length': '19'}")
    after = ("headers, stream = encode(1)", "assert isinstance(stream, Iterable)")
    assert rules(before, python(*after, "assert headers == {'length': '19'}")) == []
    assert rules(before, python(*after)) != []
    assert rules(before, python(*after, "assert {'length': '19'} == {'length': '19'}")) != []


@pytest.mark.parametrize(
    "now",
    [python("assert f(0) == 'another'"), ""],
    ids=["another value", "gone"],
)
def test_a_case_that_is_left_out_is_not_outweighed(now: str) -> None:
    after = f"{now}\n\n{python(*MORE, name='test_b')}"
    assert not weighed(MESSAGE, after)


def test_a_check_without_values_is_outweighed_where_its_test_asks_others() -> None:
    before = python("made = f(given)", "assert made.first == other.first", "assert made.last == 4")
    after = python("made = f(given)", "assert made.last == 4") + "\n\n" + python(*MORE, name="test_b")
    assert weighed(before, after)
