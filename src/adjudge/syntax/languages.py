"""The languages whose tests are understood: their file names, comments and strings, skips and assertions.

One table, read by whoever asks what a test file is or what a line of one does. The patterns are meant for
lines from which `adjudge.syntax.lines` has taken comments and the insides of strings; they are written in
`re.VERBOSE` and compiled there, by whoever reads lines.
"""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["LANGUAGES", "Language", "default_test_globs", "is_third_party", "language_of", "source_globs"]


@dataclass(frozen=True, slots=True)
class Language:
    """How one language writes its tests."""

    name: str
    suffixes: tuple[str, ...]
    test_globs: tuple[str, ...]
    """Where its test files are, unless a recipe says otherwise."""
    skip: str
    """A regular expression for one marker that keeps a test from running or from failing."""
    assertion: str
    """A regular expression for one check that can fail a test."""
    line_comments: tuple[str, ...]
    block_comments: tuple[tuple[str, str], ...] = ()
    long_strings: tuple[tuple[str, str], ...] = ()
    """Delimiters of strings that go on over lines."""
    raw_strings: tuple[tuple[str, str], ...] = ()
    """The same, for strings in which a backslash is a backslash."""
    quotes: tuple[str, ...] = ('"', "'")
    """Delimiters of strings that end with their line."""
    character: str | None = None
    """A regular expression for a character literal, where a lone quote means something else."""
    directive: str | None = None
    """A regular expression for a comment that acts as a skip."""


def _python() -> Language:
    return Language(
        name="Python",
        suffixes=(".py",),
        test_globs=(
            "**/test_*.py", "**/*_test.py", "**/tests.py", "**/conftest.py", "**/tests/*.py", "**/test/*.py",
        ),
        skip=r"""
            (?:^|[@=(\[,])\s*(?:\w+\.)*mark\s*\.\s*(?:skip|skipif|xfail)\b
          | (?<!\w)pytest\s*\.\s*(?:skip|xfail|importorskip)\s*\(
          | @\s*(?:\w+\.)*(?:skip|skipIf|skipUnless|expectedFailure)\b
          | (?<![\w.])unittest\s*\.\s*(?:skip|skipIf|skipUnless|expectedFailure)\b
          | \.skipTest\s*\(
          | (?:raise|=)\s+(?:\w+\.)*SkipTest\b
          | ^\s*(?:skip|xfail|importorskip)\s*\(
          | \b__test__\s*=\s*False\b
          | ^\s*collect_ignore(?:_glob)?\b
        """,
        assertion=r"""
            (?:^|[:;])\s*assert\b
          | (?<!def\s)(?<![\w.])(?:\w+\s*\.\s*)*\w*[aA]ssert\w*\s*\(
          | (?<!\w)pytest\s*\.\s*(?:raises|warns|fail|deprecated_call)\s*\(
          | \bself\s*\.\s*fail\s*\(
          | (?:\bwith\b|^)\s*raises\s*\(
          | (?<![\w.])expect\s*\(
        """,
        line_comments=("#",),
        long_strings=(('"""', '"""'), ("'''", "'''")),
    )  # fmt: skip


_JS_SUFFIXES = (".js", ".jsx", ".ts", ".tsx", ".mjs", ".cjs", ".mts", ".cts")


def _javascript() -> Language:
    names = ("**/*.test", "**/*.spec", "**/*_test", "**/*-test", "**/__tests__/*", "**/test/*", "**/tests/*")
    return Language(
        name="JavaScript or TypeScript",
        suffixes=_JS_SUFFIXES,
        test_globs=tuple(f"{name}{suffix}" for name in names for suffix in _JS_SUFFIXES),
        skip=r"""
            \b(?:it|test|describe|context|suite|specify|bench)\b(?:\s*\.\s*\w+)*?\s*\.\s*
                (?:skip|skipIf|runIf|todo|only|fixme|fails|failing)\b
          | (?<![\w.$])(?:[xf](?:it|test|describe|context|specify))\s*[(.]
          | (?<![\w$])(?:this|t|ctx)\s*\.\s*skip\s*\(
          | (?<![\w.$])pending\s*\(
          | [{,(]\s*(?:skip|todo|only)\s*:\s*(?:true\b|["'`])
        """,
        assertion=r"""
            (?<![\w.$])(?:expect(?:TypeOf|Type)?)\s*[(.<]
          | (?<![\w.$])(?:chai\s*\.\s*)?assert\b(?:\s*\.\s*\w+)*\s*\(
          | \.\s*should\b
          | (?<![\w.$])t\s*\.\s*(?:is|not|true|false|truthy|falsy|deepEqual|like|throws|throwsAsync|regex|ok
                |notOk|equal|equals|same|strictEqual|match|rejects|resolves|pass|fail|snapshot)\s*\(
        """,
        line_comments=("//",),
        block_comments=(("/*", "*/"),),
        long_strings=(("`", "`"),),
    )


def _go() -> Language:
    return Language(
        name="Go",
        suffixes=(".go",),
        test_globs=("**/*_test.go",),
        skip=r"""
            (?<![\w.])[a-z]\w*\.(?:Skip|Skipf|SkipNow)\s*\(
          | (?<![\w.])(?:ginkgo\s*\.\s*)?
                (?:[PXF](?:It|Describe|Context|When|Specify|Entry|DescribeTable)|Skip)\s*\(
        """,
        assertion=r"""
            (?<![\w.])[a-z]\w*\.(?:Error|Errorf|Fatal|Fatalf|Fail|FailNow)\s*\(
          | (?<![\w.])(?:assert|require)\.[A-Z]\w*\s*\(
          | (?<![\w.])(?:gomega\s*\.\s*)?(?:Expect|Eventually|Consistently|Ω)\s*\(
        """,
        line_comments=("//",),
        block_comments=(("/*", "*/"),),
        raw_strings=(("`", "`"),),
        directive=r"^//(?:go:build|\s*\+build)\b",
    )


def _java() -> Language:
    names = ("**/*Test", "**/*Tests", "**/*TestCase", "**/*IT", "**/Test*", "**/src/test/*")
    return Language(
        name="Java",
        suffixes=(".java",),
        test_globs=tuple(f"{name}.java" for name in names),
        skip=r"""
            @\s*(?:[\w.]+\.)?(?:Ignore\w*|Disabled\w*|EnabledIf\w*|EnabledOn\w*|EnabledForJreRange)\b
          | \benabled\s*=\s*false\b
          | (?<!\w)(?:assumeTrue|assumeFalse|assumeThat|assumeNotNull|assumeNoException|assumingThat)\s*\(
          | \b(?:SkipException|TestAbortedException|AssumptionViolatedException)\s*\(
        """,
        assertion=r"""
            (?<![\w.])(?:\w+\s*\.\s*)*assert[A-Z]\w*\s*\(
          | (?:^|[{};])\s*assert\b
          | (?<![\w.])(?:\w+\s*\.\s*)?fail\s*\(
          | (?<![\w.])(?:Mockito\s*\.\s*)?verify\w*\s*\(
          | \.\s*andExpect(?:All)?\s*\(
          | @\s*Test\s*\([^)]*\bexpected\s*=
        """,
        line_comments=("//",),
        block_comments=(("/*", "*/"),),
        long_strings=(('"""', '"""'),),
    )


def _rust() -> Language:
    return Language(
        name="Rust",
        suffixes=(".rs",),
        test_globs=(
            "**/tests/*.rs",
            "**/tests.rs",
            "**/test.rs",
            "**/*_test.rs",
            "**/*_tests.rs",
            "**/test_*.rs",
        ),
        skip=r"""
            \#!?\[\s*(?:ignore|should_panic)\b
          | \#!?\[\s*cfg_attr\s*\([^\]]*\b(?:ignore|should_panic)\b
          | \#!?\[\s*cfg\s*\(\s*(?:any\s*\(\s*\)|not\s*\(\s*test\s*\)|FALSE|false)\s*\)
        """,
        assertion=r"""
            (?<!\w)\w*assert\w*!\s*[(\[{]
          | (?<!\w)panic!\s*[(\[{]
        """,
        line_comments=("//",),
        block_comments=(("/*", "*/"),),
        long_strings=(('"', '"'),),
        raw_strings=(('r##"', '"##'), ('r#"', '"#'), ('r"', '"')),
        quotes=(),
        character=r"'(?:\\[^']+|[^\\'])'",
    )


def _ruby() -> Language:
    return Language(
        name="Ruby",
        suffixes=(".rb",),
        test_globs=("**/*_test.rb", "**/*_spec.rb", "**/test_*.rb", "**/test/*.rb", "**/spec/*.rb"),
        skip=r"""
            (?:^|[;{]|\bdo\b|\bthen\b)\s*(?:skip|pending|omit|pend|notify)\b(?!\s*[=.:])
          | (?:^|[;{])\s*(?:RSpec\s*\.\s*)?
                [xf](?:it|describe|context|specify|example|feature|scenario)\b(?!\s*[=.:])
          | (?<![\w:]):(?:skip|pending|focus)\b
          | (?<!\w)(?:skip|pending|focus):\s*(?:true\b|["'])
        """,
        assertion=r"""
            (?:^|[;{]|\bdo\b|\bthen\b)\s*(?:assert|refute)\w*[!?]?(?=[\s({]|$)
          | (?<![\w.])(?:expect|is_expected|flunk)\b(?!\s*[=:])
          | \.\s*should(?:_not|_receive)?\b
          | \.\s*(?:must|wont)_\w+
        """,
        line_comments=("#",),
        block_comments=(("=begin", "=end"),),
    )


LANGUAGES = (_python(), _javascript(), _go(), _java(), _rust(), _ruby())

_THIRD_PARTY = frozenset(
    ("node_modules", "bower_components", "site-packages", "vendor", ".venv", "venv", ".tox", "target")
)


def language_of(path: str) -> Language | None:
    """The language of a file, by its suffix; None when it is none of ours."""
    return next((language for language in LANGUAGES if path.endswith(language.suffixes)), None)


def default_test_globs() -> tuple[str, ...]:
    """The patterns of every language's test files."""
    return tuple(glob for language in LANGUAGES for glob in language.test_globs)


def source_globs() -> tuple[str, ...]:
    """The patterns of every file in a language we know."""
    return tuple(f"**/*{suffix}" for language in LANGUAGES for suffix in language.suffixes)


def is_third_party(path: str) -> bool:
    """Whether a path lies where package managers put other people's code, tests included."""
    return not _THIRD_PARTY.isdisjoint(path.split("/")[:-1])
