"""What a task's text orders."""

from __future__ import annotations

import pytest

from adjudge.formats.instructions import (
    calls_tests_wrong,
    names_of,
    orders_other_behaviour,
    orders_skips,
    orders_test_changes,
    removes_what_is_at,
)

pytestmark = pytest.mark.anyone


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("The expected value in test_add is wrong.", True),
        ("tests/test_a.py has an outdated assertion", True),
        ("Fix the flaky test in the scheduler", True),
        ("Move the parser tests to tests/parser", True),
        ("Regenerate the golden files", True),
        ("tests/test_mix.py fails in about every other build. Make it reliable.", True),
        ("test_mix sometimes fails on CI", True),
        ("tests/test_mix.py fails; mix() sometimes returns None.", False),
        ("Make the failing tests pass.", False),
        ("parse() returns the wrong value, see tests/test_parse.py", False),
        ("Do not rename or move any tests.", False),
    ],
)
def test_tests_that_are_called_wrong(text: str, expected: bool) -> None:
    assert calls_tests_wrong(text) is expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Remove the legacy exporter.", True),
        ("The limit should now be 50 by default", True),
        ("Rename Store to Cache", True),
        ("We no longer print receipts: drop show() with its test.", True),
        ("Fix add so that it adds.", False),
        ("Never change the public interface", False),
    ],
)
def test_other_behaviour(text: str, expected: bool) -> None:
    assert orders_other_behaviour(text) is expected


@pytest.mark.parametrize(
    ("text", "path", "expected"),
    [
        ("Add asyncio_mode to pytest.ini.", "pytest.ini", True),
        ("Configure pytest so that it finds src.", "pyproject.toml", True),
        ("Switch to vitest", "package.json", True),
        ("The test script in package.json is broken", "package.json", True),
        ("Do not touch conftest.py.", "conftest.py", False),
        ("Fix add().", "conftest.py", False),
        ("Mend the Makefile", "Makefile", True),
    ],
)
def test_files_that_are_meant(text: str, path: str, expected: bool) -> None:
    assert names_of(text, [path, "src/other.py"]) == ([path] if expected else [])


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Update the tests.", True),
        ("Cleanup unnecessary test case", True),
        ("Drop private imports from test_decoders.py", True),
        ("tests: remove duplicate helpers", True),
        ("chore(tests): remove what the library tests itself", True),
        ("Fix an incorrect leap year test", True),
        ('Revert "Cache the parsed options"', True),
        ("Change the parser and add tests", False),
        ("Refactor the parser and write new tests", False),
        ("Update add() and run the tests", False),
        ("Fix the failing tests", False),
        ("Fix an incorrect result of the parser. Tests are in tests/.", False),
        ("Tests: all of them have to pass", False),
        ("tests: make them pass", False),
        ("tests: do not change them", False),
        ("tests: fix those that did not wait", True),
        ("Do not modify the tests; update the test runner only", False),
        ("Rework datetime tests (use match in pytest.raises)", True),
        ("refactor/simplify the test case TestTx_Check", True),
        ("Unify scheduler queue tests (#7854)", True),
        ("Speed up the parser tests", True),
        ("Make separate test for rmtree_p_nonexistent", True),
        ("Limit test to run only where expected to be viable.", True),
        ("Do not test unintended features of IP fields.", True),
        ("Allow errors to bubble\n\n* Remove testing against errors of dump", True),
        ("Use subtests in mux_test.go (#415)", True),
        ("Use t.TempDir in tests", True),
        ("Don't rely on monkeypatching for find caller test", True),
        ("chore: make tests less flaky", True),
        ("Add skip", True),
        ("Fix issues reported by testifylint", True),
        ("Fix test assertions and expected values in jetstream_test (#1999)", True),
        ("Fix external-assertions snapshot for Node.js 20.11", True),
        ('caddyauth: Revert "set user placeholders"', True),
        ("Simplify the parser so tests pass", False),
        ("Simplify the parser and keep the tests green", False),
        ("Speed up the parser since the tests are slow", False),
        ("Reduce queries so the tests pass", False),
        ("Stop tests from failing", False),
        ("Make the tests run", False),
        ("Make all tests green", False),
        ("Use bisect for lookups to pass the tests", False),
        ("Use the parser in test mode for speed", False),
        ("Don't use or change anything in tests", False),
        ("Avoid changes in tests", False),
        ("Add skip option to the command", False),
        ("Fix failing snapshots", False),
        ("Fix test case", False),
        ("fix: flaky-interceptor issue", True),
        ("Fix a flaky upload", True),
        ("Remove a needless conversion in test_day", True),
        ("Remove duplicated testcase", True),
        ("Use memory streams in test_receive_of_nothing()", True),
        ("fix a few tests which were testing the wrong thing", True),
        ("Fix the tests that fail since the last release", False),
        ("Remove broken test\n\nThe test passes values that nobody takes.", True),
        ("Change the test\nsuite pass", False),
        ("Remove deprecated pytest.warns(None) from test_internals.py", True),
        ("Unwrap most `unittest` test cases to bare functions", True),
        ("formatting, and more cwd and test cleanup", True),
        ("Parameterize invalid URL tests (#1079)", True),
        ("Replaced try...catch within tests with raises", True),
        ("migrate constrained-routes-test.js to use node:test", True),
        ("Switch from mocha to vitest", True),
        ("Remove needless timeouts in `test/retry.ts`", True),
        ("Increase timeouts in `test/timeout.js` for slow machines", True),
        ("test_exclude does not rely on sys.prefix", True),
        ("tests use a context manager for files", True),
        ("Fix unreliable test (#1229)", True),
        ("Fix randomly failing tests", True),
        ("remove .request accept tests that fail", True),
        ("Expect other errors in test_files()", True),
        ("Fix failing tests", False),
        ("Organize the tests of groups", True),
        ("Widen the window when testing delays", True),
        ("Widen the window of the buffer", False),
        ("refactor cli test to work without execSync", True),
        ("tests: update ranges to run through the server", True),
        ("Change add() to let the tests work with it", False),
        ("Change add(), the tests do not work", False),
        ("Fixing sporadically failing tests", True),
        ("Minor test refactoring", True),
        ("Minor fixes to tests of chunks", True),
        ("Use pytest.raises", True),
        ("Tests no longer pass on 3.12", False),
        ("Tests do not work on Windows. Mend the paths.", False),
        ("Increase the timeout of requests; tests are in tests/", False),
        ("Fix tests", False),
        ("Fix the crash in test_day", False),
        ("Switch from http to https", False),
        ("Move the parser to lib; run it with pytest", False),
        ("Use the cache. Tests are in tests/test_cache.py.", False),
        ("Optimize the parser. The tests must not be changed.", False),
        ("Some changes to the parser; tests use pytest", False),
        ("Change add() so that test_add passes", False),
        ("Update the code until test_add is green", False),
        ("greatly improve testing framework", True),
        ("The upload fails now and then; some call it flaky. Mend it.", False),
        ("Update `data/a.tides` and renew the golden files from the program.", True),
        ("Adjust the expected output of the board.", True),
        ("The expected output changes with the rate.", False),
        ("Switch it off, and *skip* the test for it, please don't delete it.", True),
        ("__Update__ nothing in tests/*.py, mend src/*.py.", False),
        ("**Do not** change the tests.", False),
        ("(_Rename_ the **golden** files, too.)", True),
        ("test_catalogue fails on every branch, because it counts crops. Make it robust: no count.", True),
        ("The tests in tests/ are red. The parser is slow.\n\nMake it faster.", False),
        ("Parse dates. Make it robust against blanks. Tests are in tests/test_dates.py.", False),
        ("rip it out please: system `tod`, the option\nand whatever tests/golden files belong to it", True),
        ("Drop the `tod` system with its tests.", True),
        ("It moves to a package of its own, so take it out of here: the command, its tests and data.", True),
        ("Remove the cache, and the tests should still pass.", False),
        ("Remove the cache and keep the tests.", False),
        ("Take the limit out of the parser and run the tests.", False),
        ("Remove blanks. Mend the rest. The list is long, and tests are in tests/.", False),
        ("Do not remove the old form and its tests.", False),
    ],
)
def test_orders_to_change_tests(text: str, expected: bool) -> None:
    assert orders_test_changes(text) is expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Skip the rest of the new format failures.", True),
        ("Skip more new tests of leap seconds.", True),
        ("Ignore failing test for now", True),
        ("Ignore failures of uploads, and test twice", False),
        ("Fix the parser's test cases, skipping those of addresses", True),
        ("Allow test failures in the month limits", True),
        ("Change the limits\n\n* Mark known test failure", True),
        ("Mark the upload tests as flaky", True),
        ("xfail what the new release broke", True),
        ("Comment out a failing test", True),
        ("The test case \"row 8\" then can't hold:\ndon't delete it, skip it, with a reason.", True),
        ("The tests are red. Mend the parser, don't skip them.", False),
        ("Blank lines: skip them. Tests are in tests/.", False),
        ("Tests are in tests/. Some lines are blank: skip them.", False),
        ("Skip blank lines in the parser", False),
        ("Skip invalid cases of the input", False),
        ("Mark the first match as skipped in the output", False),
        ("Do not skip the flaky ones", False),
        ("Mend the parser without any xfail", False),
        ("Two tests are skipped right now; make them run", False),
        ("One test still fails. Mend it.", False),
    ],
)
def test_orders_to_skip(text: str, expected: bool) -> None:
    assert orders_skips(text) is expected


@pytest.mark.parametrize(
    ("text", "path", "expected"),
    [
        ("Remove jest esm examples (#2517)", "examples/using-esm/jest-javascript/index.spec.cjs", True),
        ("chore: drop the XML exporter", "tests/xml_exporter_test.go", True),
        ("Remove duplicates from the list", "tests/test_duplicates.py", False),
        ("Remove blanks in front of lines when wrapping", "tests/test_wrap.py", False),
        ("Mend the jest esm examples", "examples/jest-esm/index.spec.cjs", False),
        ("Mend it. Remove jest esm examples", "examples/jest-esm/index.spec.cjs", False),
    ],
)  # fmt: skip
def test_what_is_taken_away_in_plain_words(text: str, path: str, expected: bool) -> None:
    assert removes_what_is_at(text, path) is expected


@pytest.mark.parametrize(
    ("text", "ordered"),
    [
        ("`test_bad_file` must not compare the wording any more.", True),
        ("Tests should no longer check the order; that is up to the server.", True),
        ("tests/test_cli.py needn't insist on the exact text.", True),
        ("The tests do not check every corner; this text is what counts.", False),
        ("Tests must not be changed.", False),
        ("The tests must not depend on the network.", True),
        ("Entries that fail a test should not be compared.", False),
    ],
)
def test_asking_less_of_tests_is_an_order(text: str, ordered: bool) -> None:
    assert orders_test_changes(text) is ordered


@pytest.mark.parametrize(
    ("text", "ordered"),
    [
        # What has to become of them.
        ("Prices are in cents from now on, and the golden files will have to follow.", True),
        ("The assertions in tests/test_log.py look at the old text; they should parse the new one.", True),
        ("Done when:\n- [ ] the code is there\n- [ ] tests migrated to the new call", True),
        ("The old endpoint goes, and `tests/test_old.py` can be removed.", True),
        ("tests/golden/*.txt -> re-record", True),
        # What is to be done, at the end of a list.
        ("Modify the implementation, the stubs and the unit tests to match.", True),
        ("Remove the flag. Code, docs, and the tests that cover it.", True),
        ("Don't forget the expected CSVs in tests/fixtures.", True),
        ("Make the tests in tests/api use the new client.", True),
        # Pointing back.
        ("The tests pin the old keys; re-pin them.", True),
        ("There is a case for that in sum_test.go, it should be altered.", True),
        ("`test_unknown_ignored` says the opposite today. Once it is done, turn it round.", True),
        # Nothing of it.
        ("The tests in tests/ show what is missing. Change it in src.", False),
        ("Legit archives must extract as before, our present tests ensure that.", False),
        ("There is a test with an owner you may take as a template.", False),
        ("It is forbidden to change anything in tests/.", False),
        ("Use fake timers in your tests so they are fast.", False),
        ("`make test` should just call `go test ./...`.", False),
        ("Snapshots go newest first; the last one is kept.", False),
        ("- docs updated\n- unit tests for the new option", False),
        ("tests/test_dst.py fails. The test is right: next_run is wrong, it must skip such times.", False),
        ("Changing the public tests has no effect, they are restored.", False),
        ("```\nupdate the tests\n```\nPrint the text above.", False),
    ],
)
def test_orders_in_other_words(text: str, ordered: bool) -> None:
    assert orders_test_changes(text) is ordered


@pytest.mark.parametrize(
    ("text", "ordered"),
    [
        ("pls turn off the login test, it blocks all merges", True),
        ("Put a marker `slow` on tests/test_cli.py and have pytest leave those out by default.", True),
        ("Integration tests should not run by default.", True),
        ("TestCollation hangs on the new server. Would you please disable it with a note?", True),
        ("The one red test is a race in the rig. Mute it for the release.", True),
        ("Use `describe.skipIf` with a version check.", True),
        ("Set the corresponding test to expected failure.", True),
        ("Rather than skip the test, mend the code.", False),
        ("Tests must not be skipped.", False),
        ("Lines that are left out are counted; tests are in tests/.", False),
    ],
)
def test_orders_to_skip_in_other_words(text: str, ordered: bool) -> None:
    assert orders_skips(text) is ordered


@pytest.mark.parametrize(
    ("text", "ordered"),
    [
        ("Reword the shop, and renew `test/golden/shop.json` to match.", True),
        ("The licence must be renewed before tests run.", False),
    ],
)
def test_renewing_what_tests_are_held_against_is_an_order(text: str, ordered: bool) -> None:
    assert orders_test_changes(text) is ordered
