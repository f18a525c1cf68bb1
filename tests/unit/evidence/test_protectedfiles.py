"""Files that are protected by what they are to the baseline's tests, wherever they lie."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from adjudge.evidence.cleantree import plan_clean_tree
from adjudge.evidence.protected import Protection
from adjudge.testing.attempts import Attempt, Thing

pytestmark = pytest.mark.anyone

CHECK = "const assert = require('node:assert');\nexports.check = (x, y) => assert.equal(x, y);\n"
LAX = "const assert = require('node:assert');\nexports.check = (x, y) => assert.ok(x);\n"
BUILD = "exports.parcel = () => ({});\n"
TEST = "const { check } = require('../support/check');\n"
BASELINE: Mapping[str, Thing] = {
    "src/a.js": "exports.f = 1;\n",
    "support/check.js": CHECK,
    "test/a.test.js": TEST,
}


def left_out(
    before: Mapping[str, Thing], after: Mapping[str, Thing], *, instruction: str = "Mend f.", allow: str = ""
) -> dict[str, str]:
    subject = Attempt(before, after).subject(instruction=instruction)
    plan = plan_clean_tree(subject, Protection(allow=[allow] if allow else []))
    assert not {change.path for change in plan.left_out} & {*plan.written, *plan.removed}
    return {change.path: change.group for change in plan.left_out}


def test_a_helper_that_tests_check_with_is_the_baselines() -> None:
    after = {**BASELINE, "src/a.js": "exports.f = 2;\n", "support/check.js": LAX}
    assert left_out(BASELINE, after) == {"support/check.js": "helpers of tests"}


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"src/a.js": "require('../support/check').check(1, 1);\n"}, "the product loads it"),
        ({"test/a.test.js": "require('../src/a');\n"}, "no test loads it"),
        ({"support/check.js": BUILD}, "it checks nothing"),
    ],
)
def test_what_the_product_may_need_is_the_attempts(change: Mapping[str, Thing], why: str) -> None:
    before = {**BASELINE, **change}
    assert left_out(before, {**before, "support/check.js": LAX}) == {}, why


def test_an_attempt_does_not_make_a_helper_its_own_by_loading_it() -> None:
    after = {**BASELINE, "src/a.js": "require('../support/check');\n", "support/check.js": LAX}
    assert left_out(BASELINE, after) == {"support/check.js": "helpers of tests"}


@pytest.mark.parametrize("instruction", ["Extend support/check.js.", "Let `check.js` tell lines."])
def test_a_task_that_names_a_helper_leaves_it_to_the_attempt(instruction: str) -> None:
    after = {**BASELINE, "support/check.js": LAX}
    assert left_out(BASELINE, after, instruction=instruction) == {}


def test_a_recipe_opens_helpers_as_it_does_tests() -> None:
    assert left_out(BASELINE, {**BASELINE, "support/check.js": LAX}, allow="support/**") == {}


def test_what_only_tests_load_stays_where_it_was_taken_away() -> None:
    before = {**BASELINE, "support/check.js": BUILD}
    after = {path: thing for path, thing in before.items() if path != "support/check.js"}
    assert left_out(before, after) == {"support/check.js": "helpers of tests"}


@pytest.mark.parametrize(
    ("helper", "source", "test", "loading"),
    [
        (
            "shop/testing/checks.py",
            "import pytest\n\n\ndef check(x):\n    assert x\n",
            "tests/test_a.py",
            "from shop.testing.checks import check\n",
        ),
        (
            "internal/check/check.go",
            'package check\n\nimport "testing"\n\nfunc Equal(t *testing.T, a, b int) {}\n',
            "a_test.go",
            'package a\n\nimport "example.org/a/internal/check"\n',
        ),
    ],
)
def test_other_languages(helper: str, source: str, test: str, loading: str) -> None:
    before = {helper: source, test: loading}
    assert left_out(before, {**before, helper: source + "\n"}) == {helper: "helpers of tests"}


GO: Mapping[str, Thing] = {
    "go.mod": "module a\n",
    "ledger/a.go": "package a\n",
    "ledger/a_test.go": "package a\n",
}


SPECS: Mapping[str, Thing] = {
    "src/a.js": "exports.f = 1;\n",
    "spec/a.test.js": "require('../src/a');\n",
    "spec/fixtures/monday.txt": "1\n",
    "docs/spec/format.txt": "1\n",
}


@pytest.mark.parametrize(
    ("after", "held"),
    [
        ({"spec/fixtures/monday.txt": "2\n"}, {"spec/fixtures/monday.txt"}),
        ({"spec/fixtures/tuesday.txt": "2\n"}, {"spec/fixtures/tuesday.txt"}),
        ({"docs/spec/format.txt": "2\n"}, set()),
    ],
)
def test_data_of_specs_belong_to_tests(after: Mapping[str, Thing], held: set[str]) -> None:
    assert left_out(SPECS, {**SPECS, **after}) == dict.fromkeys(held, "tests")


def test_data_of_specs_stay_where_tests_find_them() -> None:
    after = {path: thing for path, thing in SPECS.items() if path != "spec/fixtures/monday.txt"}
    after = {**after, "spec/papers/monday.txt": "1\n"}
    assert set(left_out(SPECS, after)) == {"spec/fixtures/monday.txt", "spec/papers/monday.txt"}
    assert left_out(SPECS, after, allow="spec/**") == {}


RUN: Mapping[str, Thing] = {
    "package.json": '{"scripts": {"test": "node scripts/run-tests.js", "start": "node bin/app.js"}}\n',
    "Makefile": "test:\n\tpython3 tools/check.py\n",
    "scripts/run-tests.js": 'spawnSync(process.execPath, ["--test", ...files]);\n',
    "scripts/caf\udce9.js": 'spawnSync(process.execPath, ["--test", ...files]);\n',
    "scripts/other.js": 'spawnSync(process.execPath, ["--test", ...files]);\n',
    "bin/app.js": "main();\n",
    "tools/check.py": "import pytest\npytest.main()\n",
    "test/a.test.js": "\n",
}


@pytest.mark.parametrize(
    ("path", "held"),
    [
        ("scripts/run-tests.js", True),
        ("tools/check.py", True),
        ("scripts/other.js", False),
        ("scripts/caf\udce9.js", False),
        ("bin/app.js", False),
    ],
)
def test_scripts_that_commands_start_to_run_tests(path: str, held: bool) -> None:
    after = {**RUN, path: "process.exit(0)\n"}
    assert left_out(RUN, after) == ({path: "scripts that run tests"} if held else {})
    assert left_out(RUN, after, instruction=f"Let {path} stop at the first failure.") == {}


HELPED: Mapping[str, Thing] = {
    "go.mod": "module hunk\n",
    "apply/apply.go": "package apply\n\nvar Find func() int\n",
    "apply/apply_test.go": 'package apply\n\nimport "hunk/internal/applytest"\n',
    "internal/applytest/applytest.go": 'package applytest\n\nimport (\n\t"testing"\n)\n',
}
FINDER = 'package applytest\n\nimport "hunk/apply"\n\nfunc init() { apply.Find = find }\n'


def test_what_came_into_a_package_of_helpers_is_loaded_with_them() -> None:
    place = "internal/applytest/finder.go"
    assert left_out(HELPED, {**HELPED, place: FINDER}) == {place: "helpers of tests"}
    assert left_out(HELPED, {**HELPED, place: FINDER}, instruction="Add internal/applytest/finder.go.") == {}


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"apply/apply.go": 'package apply\n\nimport "hunk/internal/applytest"\n'}, "the product loads it"),
        ({"internal/applytest/applytest.go": "package applytest\n"}, "it checks nothing"),
        ({"apply/apply_test.go": "package apply\n"}, "no test loads it"),
    ],
)
def test_a_package_that_is_more_than_a_helper_may_grow(change: Mapping[str, Thing], why: str) -> None:
    before = {**HELPED, **change}
    assert left_out(before, {**before, "internal/applytest/finder.go": FINDER}) == {}, why


@pytest.mark.parametrize(
    ("path", "held"), [("ledger/go.mod", True), ("tools/go.mod", False), ("go.mod", False)]
)
def test_a_module_of_its_own_takes_no_tests_along(path: str, held: bool) -> None:
    found = left_out(GO, {**GO, path: "module b\n", "tools/b_test.go": "package b\n"})
    assert (found.get(path) == "modules over tests") is held


def test_a_task_may_ask_for_modules() -> None:
    after = {**GO, "ledger/go.mod": "module b\n"}
    assert left_out(GO, after, instruction="Give ledger/ a go.mod of its own.") == {}
