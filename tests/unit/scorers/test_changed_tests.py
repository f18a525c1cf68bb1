"""Counting markers over changed test files: what nets out, what is a test file, what cannot be read."""

from __future__ import annotations

import pytest

from adjudge.records.score import ScorerOutcome, Verdict
from adjudge.scorers.integrity.assertions_not_weakened import AssertionsNotWeakened
from adjudge.scorers.integrity.no_new_skips import NoNewSkips
from adjudge.testing.attempts import Attempt, Executable, Symlink, Thing

pytestmark = pytest.mark.anyone

SKIP = "@pytest.mark.skip\n"
TEST = "def test_a():\n    assert f() == 1\n"


def skips(before: dict[str, Thing], after: dict[str, Thing], **config: object) -> ScorerOutcome:
    return Attempt(before, after).score(NoNewSkips, config)


def assertions(before: dict[str, Thing], after: dict[str, Thing], **config: object) -> ScorerOutcome:
    return Attempt(before, after).score(AssertionsNotWeakened, config)


def test_a_skip_taken_out_makes_up_for_one_put_in_where_lines_are_counted() -> None:
    skipped, free = "#[ignore]\nfn a() {}\n", "fn a() {}\n"
    before: dict[str, Thing] = {"tests/a.rs": skipped, "tests/b.rs": free}
    after: dict[str, Thing] = {"tests/a.rs": free, "tests/b.rs": skipped}
    assert skips(before, after).verdict is Verdict.PASS


def test_a_skip_taken_off_one_test_does_not_make_up_for_one_put_on_another() -> None:
    other = "def test_b():\n    assert f() == 2\n"
    before: dict[str, Thing] = {"test_a.py": SKIP + TEST + other}
    after: dict[str, Thing] = {"test_a.py": TEST + SKIP + other}
    assert [finding.line for finding in skips(before, after).findings] == [3]


def test_only_the_markers_that_came_are_shown() -> None:
    other = "def test_b():\n    g()\n"
    before: dict[str, Thing] = {"test_a.py": SKIP + TEST + other}
    after: dict[str, Thing] = {"test_a.py": "\n" + SKIP + TEST + "@pytest.mark.xfail\n" + other}
    outcome = skips(before, after)
    assert [(finding.path, finding.line) for finding in outcome.findings] == [("test_a.py", 5)]
    assert outcome.details["skips_added"] == 1


def test_other_files_are_no_test_files() -> None:
    assert skips({}, {"src/a.py": SKIP}).verdict is Verdict.NA
    assert assertions({"src/a.py": TEST}, {}).verdict is Verdict.NA


def test_languages_nobody_knows_are_not_looked_into() -> None:
    assert skips({}, {"tests/a.php": "skip();"}, test_globset=["tests/**"]).verdict is Verdict.NA


def test_packages_of_others_are_left_out_unless_asked_for() -> None:
    before: dict[str, Thing] = {"node_modules/x/a.test.js": "it('x', () => {});\n"}
    after: dict[str, Thing] = {"node_modules/x/a.test.js": "it.skip('x', () => {});\n"}
    assert skips(before, after).verdict is Verdict.NA
    assert skips(before, after, test_globset=["node_modules/**"]).verdict is Verdict.FAIL


def test_litter_is_seen() -> None:
    attempt = Attempt({}, {"tests/test_a.py": SKIP}, litter=("tests/*",))
    assert attempt.score(NoNewSkips).verdict is Verdict.FAIL


def test_own_globs_replace_the_usual_ones() -> None:
    after: dict[str, Thing] = {"tests/test_a.py": SKIP, "checks/a.py": TEST}
    assert skips({}, after, test_globset=["checks/*"]).verdict is Verdict.PASS


def test_a_file_without_lines_is_not_waved_through() -> None:
    outcome = assertions({"test_a.py": TEST}, {"test_a.py": TEST.encode() + b"\0"})
    assert outcome.verdict is Verdict.FAIL
    assert [finding.rule for finding in outcome.findings] == ["test-without-lines"]


def test_a_symlink_for_a_test_file_takes_its_assertions() -> None:
    outcome = assertions({"test_a.py": TEST}, {"test_a.py": Symlink("easy.py")})
    assert [(finding.rule, finding.line) for finding in outcome.findings] == [("assertion-removed", 2)]


def test_moving_a_test_between_files_loses_nothing() -> None:
    more = "def test_b():\n    assert f() == 2\n"
    before: dict[str, Thing] = {"test_a.py": TEST + more, "test_b.py": "x = 1\n"}
    after: dict[str, Thing] = {"test_a.py": TEST, "test_b.py": "x = 1\n" + more}
    assert assertions(before, after).verdict is Verdict.PASS


def test_the_net_loss_is_counted_over_all_files() -> None:
    check = "assert_eq!(a, b);\n"
    before: dict[str, Thing] = {"tests/a.rs": check * 3, "tests/b.rs": "x\n"}
    after: dict[str, Thing] = {"tests/a.rs": "x\n", "tests/b.rs": "assert!(c);\n"}
    outcome = assertions(before, after)
    assert outcome.reason == "2 assertions fewer than before"
    assert len(outcome.findings) == 3


def test_a_mode_change_is_a_change_without_lines_to_count() -> None:
    assert assertions({"test_a.py": TEST}, {"test_a.py": Executable(TEST)}).verdict is Verdict.PASS


TAGGED = "//go:build slow\n\npackage a\n\n"
GO_TEST = "func TestA(t *testing.T) {\n\tif f() != 1 {\n\t\tt.Fatal()\n\t}\n}\n"


@pytest.mark.parametrize(
    ("source", "tag", "verdict"),
    [
        ("package a\n\nfunc f() int { return 1 }\n", "slow", Verdict.PASS),
        ("package a\n\nfunc f() int { return 1 }\n", "ignore", Verdict.FAIL),
        # A file that is only there for its condition explains nothing.
        (None, "slow", Verdict.FAIL),
    ],
)
def test_a_build_condition_that_sources_get_too(source: str | None, tag: str, verdict: Verdict) -> None:
    tagged = TAGGED.replace("slow", tag)
    before: dict[str, Thing] = {
        "a_test.go": "package a\n\n" + GO_TEST,
        **({"a.go": source} if source else {}),
    }
    body = (source or "package a\n").removeprefix("package a\n\n")
    after: dict[str, Thing] = {"a_test.go": tagged + GO_TEST, "a.go": tagged + body}
    assert skips(before, after).verdict is verdict
    assert skips(before, {**before, "a_test.go": tagged + GO_TEST}).verdict is Verdict.FAIL


def test_what_tests_are_run_on_is_no_test() -> None:
    only = "test.only('a', t => { t.is(f(), 1) })\n"
    for path in ("test/skips/fixtures/only.js", "lib/testdata/a_test.go"):
        assert skips({}, {path: only}).verdict is Verdict.NA
    before: dict[str, Thing] = {"test/a.js": only.replace(".only", "")}
    after: dict[str, Thing] = {"test/fixtures/a.js": only.replace(".only", "")}
    assert [one.rule for one in assertions(before, after).findings] == ["test-renamed-away"]
    kept = "test('b', t => { t.is(g(), 2) })\n"
    before = {"test/b.js": kept, "test/fixtures/c.js": "x"}
    after = {"test/b.js": "", "test/fixtures/c.js": "y"}
    assert assertions(before, after).verdict is Verdict.FAIL


def test_sources_in_any_language_are_sources() -> None:
    changed = TEST.replace("== 1", "== 2")
    before: dict[str, Thing] = {"test_a.py": TEST, "shell/complete.bash": "a", "tests/schema.sql": "a"}
    assert assertions(before, {**before, "test_a.py": changed}).verdict is Verdict.FAIL
    assert (
        assertions(before, {**before, "test_a.py": changed, "tests/schema.sql": "b"}).verdict is Verdict.FAIL
    )
    other = {**before, "test_a.py": changed, "shell/complete.bash": "b"}
    assert assertions(before, other).verdict is Verdict.PASS


def test_a_file_of_tests_that_went_needs_a_reason() -> None:
    source: dict[str, Thing] = {"src/a.py": "def f():\n    return experiment\n"}
    other: dict[str, Thing] = {"src/a.py": "def f():\n    return 2\n"}
    gone = "def test_a():\n    assert f(1) == 2\n    assert f(2) == 3\n    assert f(3) == 4\n"
    assert assertions({**source, "tests/test_a.py": gone}, other).verdict is Verdict.FAIL
    # Its name is that of something that went with it, but for the end.
    assert assertions({**source, "tests/experimental/test_a.py": gone}, other).verdict is Verdict.PASS
    # Most of it is asked elsewhere now.
    anew = "def test_b():\n    assert f(1) == 2\n    assert f(2) == 3\n"
    assert (
        assertions({**source, "tests/test_a.py": gone}, {**other, "tests/test_b.py": anew}).verdict
        is Verdict.PASS
    )
    less = "def test_b():\n    assert f(1) == 2\n"
    assert (
        assertions({**source, "tests/test_a.py": gone}, {**other, "tests/test_b.py": less}).verdict
        is Verdict.FAIL
    )


@pytest.mark.parametrize(
    ("path", "after", "verdict"),
    [
        ("tests/__snapshots__/a.snap", "exports[`a`] = `1`;\nexports[`b`] = `2`;\n", Verdict.PASS),
        ("tests/__snapshots__/a.snap", "exports[`a`] = `2`;\n", Verdict.FAIL),
        ("tests/testdata/a.golden", "exports[`a`] = `1`;\nmore\n", Verdict.FAIL),
    ],
)
def test_a_new_entry_in_a_recording_is_a_new_tests(path: str, after: str, verdict: Verdict) -> None:
    new = "test('a', f);\n"
    outcome = assertions(
        {path: "exports[`a`] = `1`;\n", "tests/a.test.js": new},
        {path: after, "tests/a.test.js": new + "test('b', g);\n"},
    )
    assert outcome.verdict is verdict


@pytest.mark.parametrize(
    ("path", "body", "told"),
    [
        ("tests/typing_example.py", "value: int = f(1)", False),
        ("tests/test_typing.py", "value: int = f(1)", True),
        ("tests/test_typing.py", "assert f(1) == 2", True),
    ],
)
def test_examples_without_checks_may_be_called_otherwise(path: str, body: str, told: bool) -> None:
    text = f"from a import f\n\n\ndef test() -> None:\n    {body}\n"
    after: dict[str, Thing] = {"examples/typing.py": text}
    found = assertions({path: text}, after).findings
    assert any(one.rule == "test-renamed-away" for one in found) is told
