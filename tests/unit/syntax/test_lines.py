"""Skips and assertions in lines of six languages, with comments and strings in the way."""

from __future__ import annotations

import pytest

from adjudge.formats.patterns import PathPatterns, check_pattern
from adjudge.syntax.languages import LANGUAGES, Language, default_test_globs, is_third_party, language_of
from adjudge.syntax.lines import Line, assertions_in, code_lines, skips_in

pytestmark = pytest.mark.anyone

PYTHON, JAVASCRIPT, GO, JAVA, RUST, RUBY = LANGUAGES


def lines(text: str, first: int = 1) -> list[Line]:
    return [Line(number, line) for number, line in enumerate(text.split("\n"), start=first)]


@pytest.mark.parametrize(
    ("language", "line"),
    [
        (PYTHON, "@pytest.mark.skip"),
        (PYTHON, "@pytest.mark.skip(reason='x')"),
        (PYTHON, "    @pytest.mark.skipif(True, reason='x')"),
        (PYTHON, "@mark.xfail"),
        (PYTHON, "pytestmark = pytest.mark.skip"),
        (PYTHON, "pytestmark = [pytest.mark.xfail(strict=False)]"),
        (PYTHON, "    pytest.param(1, marks=pytest.mark.skip),"),
        (PYTHON, "    pytest.mark.xfail,"),
        (PYTHON, "    pytest.skip('later')"),
        (PYTHON, "x = 1; pytest.xfail()"),
        (PYTHON, "numpy = pytest.importorskip('numpy')"),
        (PYTHON, "@unittest.skip('x')"),
        (PYTHON, "@skipIf(True, 'x')"),
        (PYTHON, "@unittest.expectedFailure"),
        (PYTHON, "        self.skipTest('x')"),
        (PYTHON, "    raise unittest.SkipTest('x')"),
        (PYTHON, "__test__ = False"),
        (PYTHON, "collect_ignore = ['test_a.py']"),
        (JAVASCRIPT, "it.skip('x', () => {"),
        (JAVASCRIPT, "test.skip.each([1])('x', () => {"),
        (JAVASCRIPT, "describe.only('x', () => {"),
        (JAVASCRIPT, "  xit('x', () => {"),
        (JAVASCRIPT, "fdescribe('x', () => {"),
        (JAVASCRIPT, "test.todo('x')"),
        (JAVASCRIPT, "test.fixme('x', async () => {"),
        (JAVASCRIPT, "it.failing('x', () => {"),
        (JAVASCRIPT, "    this.skip();"),
        (JAVASCRIPT, "test('x', { skip: true }, () => {"),
        (GO, '\tt.Skip("x")'),
        (GO, '\tt.Skipf("x %d", 1)'),
        (GO, "\tb.SkipNow()"),
        (GO, 'PIt("x", func() {'),
        (GO, "//go:build ignore"),
        (GO, "// +build never"),
        (JAVA, "@Ignore"),
        (JAVA, '  @Disabled("x")'),
        (JAVA, "@org.junit.jupiter.api.Disabled"),
        (JAVA, "@DisabledOnOs(OS.LINUX)"),
        (JAVA, "@Test(enabled = false)"),
        (JAVA, "    assumeTrue(false);"),
        (JAVA, "    Assume.assumeFalse(true);"),
        (JAVA, '    throw new SkipException("x");'),
        (RUST, "#[ignore]"),
        (RUST, '#[ignore = "x"]'),
        (RUST, "#[should_panic]"),
        (RUST, "#[cfg_attr(not(feature), ignore)]"),
        (RUST, "#[cfg(any())]"),
        (RUBY, "    skip"),
        (RUBY, "    skip 'x'"),
        (RUBY, "  xit 'x' do"),
        (RUBY, "  pending 'x'"),
        (RUBY, "  it 'x', :skip do"),
        (RUBY, "  it 'x', skip: true do"),
        (RUBY, "fdescribe Thing do"),
    ],
)
def test_a_skip_is_seen(language: Language, line: str) -> None:
    assert len(skips_in(lines(line), language)) == 1


@pytest.mark.parametrize(
    ("language", "line"),
    [
        (PYTHON, "# @pytest.mark.skip"),
        (PYTHON, "x = 1  # @pytest.mark.skip"),
        (PYTHON, "message = '@pytest.mark.skip'"),
        (PYTHON, '"""Not @pytest.mark.skip."""'),
        (PYTHON, "def test_skip_is_honoured():"),
        (PYTHON, "@pytest.mark.parametrize('skip', [True])"),
        (PYTHON, "from pytest import skip"),
        (PYTHON, "assert result.skipped == 0"),
        (JAVASCRIPT, "// it.skip('x', () => {"),
        (JAVASCRIPT, "/* it.skip('x') */ it('x', () => {"),
        (JAVASCRIPT, "const text = `it.skip('x')`;"),
        (JAVASCRIPT, "items.skip(3).only(4);"),
        (JAVASCRIPT, "exit('x');"),
        (GO, '// t.Skip("x")'),
        (GO, 'name := "t.Skip()"'),
        (GO, "//go:generate stringer"),
        (JAVA, "// @Disabled"),
        (JAVA, 'String s = "@Disabled";'),
        (RUST, "// #[ignore]"),
        (RUST, "#[cfg(test)]"),
        (RUST, 'let c = \'"\'; let s = "#[ignore]";'),
        (RUBY, "# skip"),
        (RUBY, "skip_count = 3"),
        (RUBY, "puts 'skip'"),
    ],
)
def test_innocent_lines_are_no_skips(language: Language, line: str) -> None:
    assert skips_in(lines(line), language) == []


@pytest.mark.parametrize(
    ("language", "line"),
    [
        (PYTHON, "    assert x == 1"),
        (PYTHON, "    assert(x)"),
        (PYTHON, "if x: assert y"),
        (PYTHON, "        self.assertEqual(1, 2)"),
        (PYTHON, "    np.testing.assert_allclose(a, b)"),
        (PYTHON, "    mock.assert_called_once_with(1)"),
        (PYTHON, "    with pytest.raises(ValueError):"),
        (PYTHON, "        self.fail('x')"),
        (JAVASCRIPT, "  expect(x).toBe(3);"),
        (JAVASCRIPT, "  await expect(x).rejects.toThrow();"),
        (JAVASCRIPT, "  assert.strictEqual(a, b);"),
        (JAVASCRIPT, "  assert(a);"),
        (JAVASCRIPT, "  x.should.equal(3);"),
        (JAVASCRIPT, "  t.deepEqual(a, b);"),
        (GO, '\t\tt.Errorf("x")'),
        (GO, "\trequire.NoError(t, err)"),
        (GO, "\tassert.Equal(t, 1, 2)"),
        (GO, "\tExpect(x).To(Equal(3))"),
        (JAVA, "    assertEquals(1, 2);"),
        (JAVA, "    Assertions.assertThrows(X.class, () -> {});"),
        (JAVA, "    assertThat(x).isEqualTo(3);"),
        (JAVA, '    fail("x");'),
        (JAVA, "    verify(mock).call();"),
        (RUST, "    assert_eq!(a, b);"),
        (RUST, "    assert!(a);"),
        (RUST, "    prop_assert!(a);"),
        (RUBY, "    assert_equal 1, 2"),
        (RUBY, "    refute x"),
        (RUBY, "    expect(x).to eq 3"),
        (RUBY, "    x.must_equal 3"),
    ],
)
def test_an_assertion_is_seen(language: Language, line: str) -> None:
    assert len(assertions_in(lines(line), language)) == 1


@pytest.mark.parametrize(
    ("language", "line"),
    [
        (PYTHON, "    # assert x == 1"),
        (PYTHON, "    'assert x'"),
        (PYTHON, "def assert_equal(a, b):"),
        (PYTHON, "from x import assert_equal"),
        (PYTHON, "assertion = 1"),
        (JAVASCRIPT, "  // expect(x).toBe(3);"),
        (JAVASCRIPT, "  unexpected(x);"),
        (GO, '\t// t.Errorf("x")'),
        (JAVA, "    // assertEquals(1, 2);"),
        (JAVA, "import static org.junit.Assert.assertEquals;"),
        (RUST, "    // assert!(a);"),
        (RUBY, "    # expect(x).to eq 3"),
    ],
)
def test_innocent_lines_are_no_assertions(language: Language, line: str) -> None:
    assert assertions_in(lines(line), language) == []


def test_two_on_one_line_are_two() -> None:
    assert len(assertions_in(lines("  expect(a).toBe(1); expect(b).toBe(2);"), JAVASCRIPT)) == 2


def test_a_string_over_several_lines_is_followed() -> None:
    text = 'def f():\n    """Says:\n    @pytest.mark.skip\n    """\n@pytest.mark.skip\ndef g(): pass'
    assert [marker.number for marker in skips_in(lines(text), PYTHON)] == [5]


def test_a_comment_over_several_lines_is_followed() -> None:
    text = "/* it.skip('a')\n it.skip('b') */ it.skip('c')\n// x\nit.skip('d')"
    assert [marker.number for marker in skips_in(lines(text), JAVASCRIPT)] == [2, 4]


def test_a_gap_in_the_lines_closes_what_was_open() -> None:
    broken = [Line(1, '"""open'), Line(9, "@pytest.mark.skip")]
    assert [marker.number for marker in skips_in(broken, PYTHON)] == [9]


@pytest.mark.parametrize(
    ("language", "text", "code"),
    [
        (PYTHON, "x = 'a # b' # c", 'x = "" '),
        (PYTHON, r"x = 'it\'s # b'; y", 'x = ""; y'),
        (PYTHON, "x = 'open", 'x = ""'),
        (PYTHON, "x = '''a''' + 'b'", 'x = "" + ""'),
        (RUST, "fn f<'a>(x: &'a str) {}", "fn f<'a>(x: &'a str) {}"),
        (RUST, 'let s = r#"a "quoted" b"#; x', 'let s = ""; x'),
        (GO, "x := `a\\`; y", 'x := ""; y'),
    ],
)
def test_what_is_left_as_code(language: Language, text: str, code: str) -> None:
    assert [line.text for line in code_lines(lines(text), language)] == [code]


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("tests/test_a.py", "Python"),
        ("test_a.py", "Python"),
        ("pkg/a_test.py", "Python"),
        ("conftest.py", "Python"),
        ("src/a.test.ts", "JavaScript or TypeScript"),
        ("src/__tests__/a.jsx", "JavaScript or TypeScript"),
        ("a.spec.mjs", "JavaScript or TypeScript"),
        ("pkg/a_test.go", "Go"),
        ("src/test/java/a/ATest.java", "Java"),
        ("tests/a.rs", "Rust"),
        ("spec/a_spec.rb", "Ruby"),
        ("test/test_a.rb", "Ruby"),
    ],
)
def test_usual_names_of_test_files(path: str, name: str) -> None:
    language = language_of(path)
    assert language is not None
    assert language.name == name
    assert path in PathPatterns(default_test_globs())


@pytest.mark.parametrize(
    "path", ["src/a.py", "src/a.ts", "a.go", "src/main/java/A.java", "src/lib.rs", "lib/a.rb"]
)
def test_sources_are_no_test_files(path: str) -> None:
    assert path not in PathPatterns(default_test_globs())


def test_default_globs_are_patterns_a_recipe_could_hold() -> None:
    assert [check_pattern(glob) for glob in default_test_globs()] == list(default_test_globs())


def test_other_peoples_code() -> None:
    assert is_third_party("web/node_modules/x/a.test.js")
    assert not is_third_party("vendor")
    assert not is_third_party("src/vendored/a.py")
