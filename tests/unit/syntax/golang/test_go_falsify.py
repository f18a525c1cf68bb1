"""What is made false in Go tests, and what is left alone."""

from __future__ import annotations

import textwrap

import pytest

from adjudge.syntax.golang.falsify import GoFile
from adjudge.syntax.grammars import Grammar, parse_source

pytestmark = pytest.mark.anyone

_HEAD = """\
package shop

import (
    "reflect"
    "testing"

    "github.com/google/go-cmp/cmp"
    "github.com/stretchr/testify/assert"
    "github.com/stretchr/testify/require"
)

"""


def _file(body: str, *, seed: str = "a seed", more: str = "", beside: str = "") -> GoFile:
    text = (
        f"{_HEAD}func TestX(t *testing.T) {{\n{textwrap.indent(textwrap.dedent(body).strip(), '    ')}\n}}\n"
    )
    others = [f"package shop\n{textwrap.dedent(beside)}".encode()] if beside else []
    return GoFile((text + textwrap.dedent(more)).encode(), seed, others)


def _changed(file: GoFile, *names: str) -> list[tuple[str, str]]:
    """Lines that differ when some tests are made false: as written, and falsified."""
    plain = file.render([], all_planned=[]).decode().splitlines()
    false = file.render(names or ["TestX"], all_planned=[]).decode().splitlines()
    assert len(plain) == len(false)
    return [(one.strip(), other.strip()) for one, other in zip(plain, false, strict=True) if one != other]


VALUES = {
    "a literal": ("if got := F(); got != 120 { t.Errorf() }", "120"),
    "on the left": ('if "abc" != F() { t.Fatal() }', '"abc"'),
    "a length": ("if len(F()) != 31 { t.Fatalf() }", "31"),
    "a name": ('want := "abc"\nif got := F(); got != want { t.Errorf("%s", want) }', '"abc"'),
    "a constant": ('const want = "abc"\nif F() != want { t.Errorf(want) }', '"abc"'),
    "side by side": ('if got, want := F(), "abc"; got != want { t.Errorf() }', '"abc"'),
    "one of several": ("if err != nil || got != 45 { t.Fatal(err) }", "45"),
    "deeply equal": ('if !reflect.DeepEqual(F(), []string{"abc"}) { t.Error() }', '"abc"'),
    "deeply equal, named": ("want := T{A: 12}\nif !reflect.DeepEqual(F(), want) { t.Error() }", "12"),
    "a difference": ('if diff := cmp.Diff([]string{"abc"}, F()); diff != "" { t.Error(diff) }', '"abc"'),
    "a difference, before": ('d := cmp.Diff(&T{"abc"}, F())\nif d != "" { t.Error(d) }', '"abc"'),
    "contained": ('if !strings.Contains(F(), "some words") { t.Error() }', '"some words"'),
    "assert": ('assert.Equal(t, "abc", F())', '"abc"'),
    "assert, the other way": ('assert.Equal(t, F(), "abc")', '"abc"'),
    "assert of an object": ('assert := assert.New(t)\nassert.Equal("abc", F())', '"abc"'),
    "a helper of the project's, with a name": ('boxtest.Equal(t, "size", F(), 12)', "12"),
    "a helper of the project's, a text": ('boxtest.Equal(t, "name", F(), "abc")', '"abc"'),
    "assert, with a message": ('assert.Equal(t, "abc", F(), "so it is")', '"abc"'),
    "require": ("require.Len(t, F(), 12)", "12"),
    "an error's words": ('assert.EqualError(t, F(), "no such thing")', '"no such thing"'),
    "quicktest": ("c := qt.New(t)\nc.Assert(F(), qt.Equals, 12)", "12"),
    "gomega": ("g := NewWithT(t)\ng.Expect(F()).To(Equal(12))", "12"),
    "a helper": ("check(t, F(), 12)", "12"),
    "a helper beside": ("checkBeside(t, F(), 12)", "12"),
    "an else": ("if err != nil { t.Fatal(err) } else if F() != 12 { t.Error() }", "12"),
    "a rune": ("if F() != 'c' { t.Error() }", "'c'"),
    "a raw string": ("if F() != `abc` { t.Error() }", "`abc`"),
    "a float": ("if F() != 2.75 { t.Error() }", "2.75"),
    "a truth": ("assert.Equal(t, true, F())", "true"),
    "below nothing": ("if F() != -12 { t.Error() }", "12"),
    "a conversion": ("if F() != int64(12) { t.Error() }", "12"),
    "a duration": ("if F() != 12*time.Second { t.Error() }", "12"),
    "deferred": ("defer func() { if r := recover(); r != 12 { t.Error() } }()", "12"),
}

_HELPERS = """
func check(t *testing.T, got, want int) { if got != want { t.Errorf("no") } }
"""
_BESIDE = """
func checkBeside(t *testing.T, got, want int) { assert.Equal(t, want, got) }
"""


@pytest.mark.parametrize("case", VALUES)
def test_a_value_changes(case: str) -> None:
    body, literal = VALUES[case]
    file = _file(body, more=_HELPERS, beside=_BESIDE)
    plan = file.plan("TestX")
    assert (plan.strong, plan.certain) == (True, True), plan
    ((before, after),) = _changed(file)
    assert literal in before
    assert literal not in after
    assert len(before) == len(after) or literal == "true"


SENSES = {
    "an error": "_, err := F()\nif err != nil { t.Fatal(err.Error()) }",
    "no error": "if F() == nil { t.Fatal() }",
    "smaller": "if F() < 3 { t.Error() }",
    "a truth": "if !F() { t.Error() }",
    "an error of a kind": "if !errors.Is(F(), ErrX) { t.Error() }",
    "with options": 'if d := cmp.Diff(T{"abc"}, F(), opts); d != "" { t.Error() }',
    "NoError": "require.NoError(t, F())",
    "about": "assert.InDelta(t, 3.5, F(), 0.1)",
    "a short part": 'assert.Contains(t, F(), "a")',
    "not equal": 'assert.NotEqual(t, "abc", F())',
    "both of two": "if F() != 12 && F() != 13 { t.Error() }",
    "what goes in as well": "x := 12\nif F(x) != x { t.Error() }",
}


@pytest.mark.parametrize("case", SENSES)
def test_otherwise_the_test_is_told_to_fail(case: str) -> None:
    file = _file(SENSES[case])
    plan = file.plan("TestX")
    assert (plan.strong, plan.certain) == (False, True), plan
    ((before, after),) = _changed(file)
    assert after == f"t.Fail(); {before}"


UNPROVEN = {
    "nothing asserted": "F()",
    "logged": 't.Log("abc")',
    "in a goroutine": "go func() { if F() != 12 { t.Error() } }()",
    "in a callback": "Each(func(x int) { if x != 12 { t.Error() } })",
    "an unknown helper": "somewhere.Verify(t, F())",
}


@pytest.mark.parametrize("case", UNPROVEN)
def test_what_cannot_be_made_false(case: str) -> None:
    assert _file(UNPROVEN[case]).plan("TestX").unproven


UNCERTAIN = {
    "in a branch": "if F() { assert.Equal(t, 12, G()) }",
    "after a return": "if F() { return }\nassert.Equal(t, 12, G())",
    "in a loop over anything": "for _, x := range F() { assert.Equal(t, 12, x) }",
    "in a switch": "switch F() {\ncase 1:\n    assert.Equal(t, 12, G())\n}",
}


@pytest.mark.parametrize("case", UNCERTAIN)
def test_what_may_not_be_reached(case: str) -> None:
    plan = _file(UNCERTAIN[case]).plan("TestX")
    assert plan.edits
    assert not plan.certain


def test_leaving_after_a_failure_is_no_way_out() -> None:
    plan = _file("if err != nil {\n    t.Error(err)\n    return\n}\nif F() != 12 { t.Error() }").plan("TestX")
    assert (plan.certain, plan.strong) == (True, True)


TABLE = """
tests := []struct {
    name string
    in   int
    want int
}{
    {"first row", 1, 120},
    {name: "second", in: 2, want: 457},
    {name: "third/part", in: 3},
    {name: "second", in: 4, want: -12},
}
for _, tt := range tests {
    t.Run(tt.name, func(t *testing.T) {
        if got := F(tt.in); got != tt.want { t.Errorf("%d, %d", got, tt.want) }
    })
}
"""


def test_every_row_of_a_table_changes_and_its_name_stays() -> None:
    file = _file(TABLE)
    assert file.tests == ("TestX", "TestX/first_row", "TestX/second", "TestX/third/part", "TestX/second#01")
    assert {file.definition(name) for name in file.tests[1:]} == {"TestX/*"}
    changed = _changed(file, "TestX/*")
    assert [before for before, _ in changed] == [
        '{"first row", 1, 120},',
        '{name: "second", in: 2, want: 457},',
        '{name: "third/part", in: 3},',
        '{name: "second", in: 4, want: -12},',
    ]
    assert changed[2][1] == '{want: 7, name: "third/part", in: 3},'
    plan = file.plan("TestX/*")
    assert (plan.strong, plan.certain) == (True, True)
    assert file.mentions("TestX") == {"TestX/*"}
    assert file.always_runs("TestX", "TestX/*")


def test_a_loop_without_subtests_needs_one_row() -> None:
    body = TABLE.replace("t.Run(tt.name, func(t *testing.T) {", "{").replace("    })\n", "    }\n")
    file = _file(body)
    assert file.tests == ("TestX",)
    assert len(_changed(file)) == 1
    assert file.plan("TestX").certain


def test_rows_that_cannot_all_change_leave_the_table_alone() -> None:
    file = _file(TABLE.replace("want: 457", "want: G()"))
    assert _changed(file, "TestX/*") == [
        (
            'if got := F(tt.in); got != tt.want { t.Errorf("%d, %d", got, tt.want) }',
            't.Fail(); if got := F(tt.in); got != tt.want { t.Errorf("%d, %d", got, tt.want) }',
        )
    ]


def test_a_field_that_also_goes_in_is_left_alone() -> None:
    file = _file(TABLE.replace("F(tt.in)", "F(tt.in, tt.want)"))
    assert not file.plan("TestX/*").strong


def test_a_table_that_is_a_map() -> None:
    body = """
    for name, tt := range map[string]struct{ want int }{"one": {12}, "two": {want: 34}} {
        t.Run(name, func(t *testing.T) { require.Equal(t, tt.want, F()) })
    }
    """
    file = _file(body)
    assert file.tests == ("TestX", "TestX/one", "TestX/two")
    assert file.plan("TestX/*").strong


def test_a_table_of_the_package_that_others_use_is_left_alone() -> None:
    body = "for _, tt := range cases { if F(tt.in) != tt.want { t.Error() } }"
    own = "var cases = []struct{ in, want int }{{1, 12}}\n"
    assert _file(body, more=own).plan("TestX").strong
    assert not _file(body, more=own, beside="func TestY(t *testing.T) { G(cases) }").plan("TestX").strong


def test_subtests_are_tests_of_their_own() -> None:
    body = """
    t.Run("of two", func(t *testing.T) {
        assert.Equal(t, 12, F())
        t.Run("deeper", func(t *testing.T) { assert.Equal(t, 34, F()) })
    })
    if F() { t.Run("perhaps", func(t *testing.T) { assert.Equal(t, 56, F()) }) }
    t.Run("elsewhere", testElsewhere)
    """
    file = _file(body)
    assert file.tests == ("TestX", "TestX/of_two", "TestX/of_two/deeper", "TestX/elsewhere")
    assert file.definition("TestX/perhaps") == "TestX/perhaps"
    assert file.definition("TestX/of_two#01") == "TestX/of_two"
    assert [before for before, _ in _changed(file, "TestX/of_two")] == ["assert.Equal(t, 12, F())"]
    assert "34" in _changed(file, "TestX/of_two/deeper")[0][0]
    assert file.plan("TestX/elsewhere").unproven
    assert not file.always_runs("TestX", "TestX/perhaps")


def test_examples_say_what_they_print() -> None:
    more = """
    func ExampleF() {
        fmt.Println(F())
        // Output:
        // 12
    }

    func ExampleG() {
        G()
    }

    func ExampleH() {
        // Output:
    }
    """
    file = _file("F()", more=more)
    assert file.tests == ("TestX", "ExampleF", "ExampleH")
    ((before, after),) = _changed(file, "ExampleF")
    assert before == "// 12"
    assert after.startswith("// ")
    assert _changed(file, "ExampleH")[0][0] == "// Output:"


def test_functions_that_are_no_tests() -> None:
    more = """
    func TestMain(m *testing.M) { m.Run() }
    func Testify(t *testing.T) {}
    func TestHelper(t *testing.T, x int) {}
    func BenchmarkF(b *testing.B) {}
    func FuzzF(f *testing.F) { f.Fuzz(func(t *testing.T, x int) { if F(x) != 12 { t.Error() } }) }
    """
    file = _file("F()", more=more)
    assert file.tests == ("TestX", "FuzzF")
    assert file.definition("FuzzF/seed#0") == "FuzzF/*"
    assert file.plan("FuzzF/*").strong


def test_skips_have_to_be_declared() -> None:
    assert not _file("F()").declares_skip("TestX")
    assert _file('if testing.Short() { t.Skip("slow") }').declares_skip("TestX")
    helper = "func needsNet(t *testing.T) { t.Skipf() }"
    assert _file("needsNet(t)", beside=helper).declares_skip("TestX")


def test_numbers_stay_in_the_range_of_their_type() -> None:
    for seed in range(40):
        file = _file("assert.Equal(t, []uint8{120, 250}, F())\nassert.Equal(t, 0xff, G())", seed=str(seed))
        ((_, after),) = _changed(file)
        numbers = [word.strip("{}[]),") for word in after.replace("uint8{", "").split()]
        for number in numbers:
            if number.startswith("0x"):
                assert int(number, 16) <= 255
            elif number.isdigit():
                assert int(number) <= 255


def test_what_is_rendered_parses_and_keeps_its_lines() -> None:
    for seed in range(20):
        file = _file(TABLE, seed=str(seed), more=_HELPERS)
        data = file.render(["TestX/*"], all_planned=[])
        assert not parse_source(Grammar("go"), data).has_error
        assert data.count(b"\n") == file.render([], all_planned=[]).count(b"\n")


def test_files_that_cannot_be_read() -> None:
    broken = GoFile(b"package shop\nfunc TestX(t *testing.T) { if { }", "seed")
    assert broken.tests == ()
    assert broken.plan("TestX").unproven.startswith("the file cannot be parsed")
    assert GoFile(b"package shop\n" + b"// x\n" * 200_000, "seed").unreadable
