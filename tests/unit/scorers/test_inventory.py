"""Which tests are lost, and which only look it."""

from __future__ import annotations

from typing import Any

import pytest

from adjudge.records.differential import (
    Comparison,
    Inventory,
    InventoryTest,
    LoadedModule,
    Orders,
    SuiteInventories,
    TreeComparison,
)
from adjudge.records.evidence import Differential, SuiteInventory
from adjudge.records.score import ScorerOutcome, Verdict
from adjudge.records.testreport import TestOutcome
from adjudge.scorers.integrity.inventory import TestInventory
from adjudge.testing.attempts import Attempt

pytestmark = pytest.mark.anyone

PATH = "tests/test_a.py"
BEFORE = "from a import f\n\n\ndef test_f():\n    assert f(1) == 2\n\n\ndef test_g():\n    assert f(2) == 3\n"
UNTOUCHED = {PATH: BEFORE, "a.py": "x = 1\n"}
PASSED, SKIPPED = TestOutcome.PASSED, TestOutcome.SKIPPED


def a_test(name: str, outcome: TestOutcome = PASSED, **more: Any) -> InventoryTest:
    return InventoryTest(id=f"{PATH}::{name}", outcome=outcome, path=PATH, **more)


BOTH = (a_test("test_f", ran=("a.py",)), a_test("test_g", ran=("a.py",)))


def look(
    tests: tuple[InventoryTest, ...],
    files: dict[str, str] = UNTOUCHED,
    *,
    before: tuple[InventoryTest, ...] = BOTH,
    orders: Orders = Orders(),  # noqa: B008  # frozen
    compared: Comparison = Comparison.DIFFERS,
    modules: tuple[str, str] = ("a.py", "a.py"),
    watched: bool = True,
    **after: Any,
) -> ScorerOutcome:
    loaded = [(LoadedModule(name="a", place=place),) for place in modules]
    answer = SuiteInventories(
        command="pytest",
        watched=watched,
        before=Inventory(tests=before, modules=loaded[0]),
        after=Inventory(tests=tests, modules=loaded[1], **after),
        orders=orders,
    )
    attempt = Attempt({**UNTOUCHED, "a.py": "x = 0\n"}, files)
    comparison = TreeComparison(outcome=compared)
    return attempt.score(TestInventory, {}, {SuiteInventory(): answer, Differential(): comparison})


def rules(outcome: ScorerOutcome) -> list[str]:
    assert not any(finding.proof for finding in outcome.findings)
    return [finding.rule for finding in outcome.findings]


def test_nothing_lost() -> None:
    assert look(BOTH).verdict is Verdict.PASS


def test_not_collected_though_nobody_touched_it() -> None:
    assert rules(look(BOTH[1:])) == ["test-not-collected"]
    missing = a_test("test_f", TestOutcome.ERROR, reason="missing")
    assert rules(look((missing, BOTH[1]))) == ["test-not-collected"]


def test_a_test_is_where_it_is_whatever_its_module_is_called() -> None:
    sides = [
        tuple(
            InventoryTest(id=f"{module}::{name}", outcome=PASSED, path="tests/a_test.go")
            for name in ("TestA", "TestB")
        )
        for module in ("kit/tests", "tools.example/kit/tests")
    ]
    files = {**UNTOUCHED, "go.mod": "module tools.example/kit\n"}
    assert look(sides[1], files, before=sides[0]).verdict is Verdict.PASS
    assert rules(look(sides[1][:1], files, before=sides[0])) == ["test-not-collected"]


def test_a_failing_test_that_its_file_no_longer_runs() -> None:
    failing = (a_test("test_f", TestOutcome.FAILED), BOTH[1])
    whole = InventoryTest(id=PATH, outcome=PASSED, path=PATH)
    files = {**UNTOUCHED, PATH: BEFORE + "\n"}
    assert rules(look((whole,), files, before=failing, watched=False)) == ["test-not-collected"]
    assert look((whole,), files, watched=False).verdict is Verdict.PASS, "those that passed are not missed"


def test_failing_rows_that_their_data_no_longer_have() -> None:
    def rows(*names: str, outcome: TestOutcome) -> tuple[InventoryTest, ...]:
        return tuple(InventoryTest(id=f"match::{name}", outcome=outcome) for name in names)

    def lost(files: dict[str, str]) -> list[str]:
        before = rows("one", "two", outcome=TestOutcome.FAILED)
        answer = SuiteInventories(
            command="npm test",
            before=Inventory(tests=before),
            after=Inventory(tests=rows("three", "four", outcome=PASSED)),
        )
        start = {
            "test/match.test.js": "table(load('match'));\n",
            "test/match.json": "[1]\n",
            "lib/a.js": "x\n",
        }
        attempt = Attempt(start, {**start, "lib/a.js": "y\n", **files})
        compared = TreeComparison(outcome=Comparison.DIFFERS)
        return rules(attempt.score(TestInventory, {}, {SuiteInventory(): answer, Differential(): compared}))

    assert lost({"test/match.json": "[2]\n"}) == ["test-disappeared", "test-disappeared"]
    assert lost({"test/match.json": "[2]\n", "test/match.test.js": "table(rows);\n"}) == []


def test_configuration_that_the_task_names_may_say_what_is_collected() -> None:
    assert look(BOTH[1:], orders=Orders(named=("pytest.ini",))).verdict is Verdict.PASS


def test_deleted() -> None:
    shorter = BEFORE.partition("\n\n\ndef test_g")[0] + "\n"
    same = {"a.py": "x = 0\n"}
    assert rules(look(BOTH[:1], {**same, PATH: shorter})) == ["test-disappeared"]
    assert rules(look((), same)) == ["test-disappeared", "test-disappeared"]


def test_deleted_beside_a_change_to_the_product() -> None:
    outcome = look((), {"a.py": "x = 1\n"})
    assert outcome.verdict is Verdict.PASS
    assert "it passed, and the product changed" in outcome.reason
    red = (a_test("test_f", TestOutcome.FAILED, ran=("a.py",)), BOTH[1])
    assert rules(look((), {"a.py": "x = 1\n"}, before=red)) == ["test-disappeared"]


@pytest.mark.parametrize("orders", [Orders(tests=True), Orders(behaviour=True)])
def test_deleted_as_ordered(orders: Orders) -> None:
    assert look((), {"a.py": "x = 1\n"}, orders=orders).verdict is Verdict.PASS


def test_another_behaviour_excuses_no_test_that_was_to_be_met() -> None:
    red = (a_test("test_f", TestOutcome.FAILED, ran=("a.py",)), BOTH[1])
    files, orders = {"a.py": "x = 1\n"}, Orders(behaviour=True)
    assert rules(look((), files, before=red, orders=orders)) == ["test-disappeared"]
    assert look((), files, before=red, orders=orders, compared=Comparison.GREEN_CLEAN).verdict is Verdict.PASS
    assert look((), files, before=red, orders=Orders(tests=True)).verdict is Verdict.PASS


def test_gone_with_the_product_it_ran() -> None:
    outcome = look((), {"b.py": "x = 1\n"})
    assert outcome.verdict is Verdict.PASS
    assert "went with a.py" in outcome.reason


@pytest.mark.parametrize(
    "files",
    [
        {**UNTOUCHED, PATH: BEFORE.replace("test_f", "test_first")},
        {"a.py": "x = 1\n", "tests/test_b.py": BEFORE},
        {"a.py": "x = 1\n", "tests/unit/test_a.py": BEFORE + "\n\ndef test_h():\n    assert f(3) == 4\n"},
    ],
    ids=["renamed", "file renamed", "moved and added to"],
)
def test_renamed_and_moved(files: dict[str, str]) -> None:
    assert look((), files).verdict is Verdict.PASS


def test_other_parameters_are_no_loss() -> None:
    assert look((a_test("test_f[new]"),), before=(a_test("test_f[old]"),)).verdict is Verdict.PASS


def test_a_file_that_cannot_be_loaded_loses_nothing() -> None:
    assert look((), uncollected=(f"{PATH}: failed: ImportError",)).verdict is Verdict.PASS
    assert look((), complete=False).verdict is Verdict.PASS


def test_where_no_report_says_the_file_an_untouched_suite_tells() -> None:
    nowhere = (InventoryTest(id="adds", outcome=PASSED),)
    assert rules(look((), before=nowhere)) == ["test-not-collected"]
    assert look((), {**UNTOUCHED, PATH: BEFORE + "\n"}, before=nowhere).verdict is Verdict.PASS


def test_a_file_that_is_never_built() -> None:
    path, go = (
        "a_test.go",
        "package a\n\nfunc TestA(t *testing.T) {\n\tif f() != 1 {\n\t\tt.Fatal()\n\t}\n}\n",
    )
    before = (InventoryTest(id="a/TestA", outcome=PASSED, path=path),)
    answer = SuiteInventories(before=Inventory(tests=before), after=Inventory(tests=()))
    attempt = Attempt({path: go}, {path: f"//go:build never\n\n{go}"})
    assert rules(attempt.score(TestInventory, {}, {SuiteInventory(): answer})) == ["test-disappeared"]


def test_newly_skipped() -> None:
    now = (a_test("test_f", SKIPPED), BOTH[1])
    assert rules(look(now)) == ["test-newly-skipped"]
    marked = BEFORE.replace("def test_f", "@pytest.mark.skip\ndef test_f")
    assert rules(look(now, {**UNTOUCHED, PATH: marked})) == ["test-newly-skipped"]
    assert look(now, before=now).verdict is Verdict.PASS
    assert look(now, orders=Orders(skips=True)).verdict is Verdict.PASS
    assert rules(look(BOTH[1:], orders=Orders(skips=True))) == ["test-not-collected"]


def test_a_suite_that_is_skipped_as_a_whole() -> None:
    failing = tuple(
        InventoryTest(id=f"add{sign}x", outcome=TestOutcome.FAILED, path=None) for sign in ("::", " > ")
    )
    now = (InventoryTest(id="add", outcome=SKIPPED, path=None),)
    changed = {**UNTOUCHED, PATH: BEFORE + "\n"}
    assert rules(look(now, changed, before=failing, watched=False)) == ["test-newly-skipped"] * 2


@pytest.mark.parametrize(
    ("place", "found"),
    [
        ("tests/fakes/a.py", ["different-module"]),
        ("/tmp/a.py", ["different-module"]),
        ("", ["different-module"]),
        ("a/__init__.py", []),
    ],
)
def test_another_module(place: str, found: list[str]) -> None:
    assert rules(look(BOTH, modules=("a.py", place))) == found


def test_a_module_that_moved() -> None:
    files = {PATH: BEFORE, "src/a.py": "x = 1\n"}
    assert look(BOTH, files, modules=("a.py", "/usr/lib/a.py")).verdict is Verdict.PASS


def test_an_edited_test_that_runs_no_product() -> None:
    idle = (a_test("test_f", ran=()), BOTH[1])
    edited = {**UNTOUCHED, PATH: BEFORE.replace("f(1)", "(lambda x: 2)(1)")}
    assert rules(look(idle, edited)) == ["no-product-code"]
    assert look(idle).verdict is Verdict.PASS
    assert look((a_test("test_f"), BOTH[1]), edited).verdict is Verdict.PASS


def test_a_failing_test_that_is_skipped_now_was_skipped_however_that_is_written() -> None:
    guard = "    if len(__name__):\n        import pytest\n        pytest.skip()\n"
    files = {"a.py": "x = 1\n", PATH: BEFORE.replace("def test_f():\n", f"def test_f():\n{guard}")}
    after = (a_test("test_f", SKIPPED), BOTH[1])
    red = (a_test("test_f", TestOutcome.FAILED, ran=("a.py",)), BOTH[1])
    assert rules(look(after, files, before=red)) == ["test-newly-skipped"]


def test_a_test_without_a_file_is_found_by_its_title() -> None:
    path = "test/a.test.js"
    texts = [
        'import { f } from "../a.js";\n' + body
        for body in (
            'test("adds one", () => {\n  assert.equal(f(1), 2);\n});\n',
            'test("smoke", () => {});\n',
        )
    ]
    titles = [(InventoryTest(id=title, outcome=TestOutcome.FAILED),) for title in ("adds one", "smoke")]
    answer = SuiteInventories(
        command="npm test", before=Inventory(tests=titles[0]), after=Inventory(tests=titles[1])
    )
    outcome = Attempt({path: texts[0]}, {path: texts[1]}).score(TestInventory, {}, {SuiteInventory(): answer})
    assert [(finding.rule, finding.path) for finding in outcome.findings] == [("test-disappeared", path)]


def test_a_failing_test_that_passes_without_the_product_by_what_surrounds_it() -> None:
    files = {**UNTOUCHED, "a.py": "x = 0\n", "tests/conftest.py": "import a\n\na.f = lambda x: x + 1\n"}
    after = (a_test("test_f", ran=()), BOTH[1])
    red = (a_test("test_f", TestOutcome.FAILED, ran=("a.py",)), BOTH[1])
    assert rules(look(after, files, before=red)) == ["no-product-code"]
    assert look(after, files).verdict is Verdict.PASS


def test_failing_rows_that_a_helper_no_longer_hands_out() -> None:
    def rows(*values: int, outcome: TestOutcome = PASSED) -> tuple[InventoryTest, ...]:
        return tuple(a_test(f"test_f[{value}]", outcome, ran=("a.py",)) for value in values)

    red = rows(1, 2, 3, outcome=TestOutcome.FAILED)
    helper = {**UNTOUCHED, "tests/support.py": "ROWS = [1]\n"}

    assert rules(look(rows(1), helper, before=red)) == ["test-disappeared"]
    assert look(rows(1, 2, 4), helper, before=red).verdict is Verdict.PASS, "called otherwise"
    assert look(rows(1), helper, before=rows(1, 2, 3)).verdict is Verdict.PASS, "none failed"
    assert look(rows(1), before=red).verdict is Verdict.PASS, "rows may follow from the product"
    assert look(rows(1), helper, before=red, compared=Comparison.GREEN_CLEAN).verdict is Verdict.PASS


def test_a_failing_test_that_was_rewritten_is_not_lost_where_the_baselines_pass() -> None:
    red = (a_test("test_f", TestOutcome.FAILED, ran=("a.py",)), BOTH[1])
    table = (
        "import pytest\nfrom a import f\n\n\n@pytest.mark.parametrize('n, want', [(2, 3), (4, 5)])\n"
        "def test_all(n, want):\n    assert f(n) == want\n"
    )
    files = {"a.py": "x = 1\n", PATH: table}
    now = (a_test("test_all[2-3]", ran=("a.py",)), a_test("test_all[4-5]", ran=("a.py",)))
    assert rules(look(now, files, before=red)) == ["test-disappeared"]
    outcome = look(now, files, before=red, compared=Comparison.GREEN_CLEAN)
    assert outcome.verdict is Verdict.PASS
    assert "pass over the product" in outcome.reason
    deleted = {"a.py": "x = 0\n"}
    assert rules(look((), deleted, before=red, compared=Comparison.GREEN_CLEAN)) != []


def test_a_file_that_moved_where_nothing_is_collected_lost_its_tests() -> None:
    three = (*BOTH, a_test("test_h"))
    moved = {"a.py": "x = 1\n", "attic/test_a.py": BEFORE, "tests/test_new.py": "def test_x():\n    f()\n"}
    new = InventoryTest(id="tests/test_new.py::test_x", outcome=PASSED, path="tests/test_new.py")
    assert rules(look((new,), moved, before=three)) == ["test-not-collected"] * 3
    assert look((new,), moved, before=three, compared=Comparison.GREEN_CLEAN).verdict is Verdict.PASS
    elsewhere = [
        test.model_copy(update={"id": test.id.replace("tests/", "attic/"), "path": "attic/test_a.py"})
        for test in three
    ]
    assert look((new, *elsewhere), moved, before=three).verdict is Verdict.PASS
    renamed = (new, a_test("test_one"), a_test("test_two"))
    assert look(renamed, moved, before=three).verdict is Verdict.PASS
    gone = {"a.py": "x = 1\n", "attic/test_a.py": BEFORE}
    assert rules(look((), gone, watched=False)) == ["test-not-collected"] * 2
    assert look((), gone).verdict is Verdict.PASS, "nobody tells of tests that are new"


@pytest.mark.parametrize(("how", "found"), [("skipped", "test-newly-skipped"), ("failed", None)])
def test_a_file_that_is_skipped_as_a_whole_skips_its_failing_tests(how: str, found: str | None) -> None:
    red = (a_test("test_f", TestOutcome.FAILED, ran=("a.py",)),)
    put_off = BEFORE.replace("from a import f", "f = pytest.importorskip('b').f")
    outcome = look(
        (), {"a.py": "x = 1\n", PATH: put_off}, before=red, uncollected=(f"{PATH}: {how}: no module b",)
    )
    assert rules(outcome) == ([found] if found else [])


def test_a_failing_test_whose_file_got_a_name_that_is_not_collected() -> None:
    failing = (a_test("test_f", TestOutcome.FAILED), BOTH[1])
    moved = {"a.py": "x = 1\n", "tests/examples/a_examples.py": BEFORE}
    assert rules(look((), moved, before=failing)) == ["test-disappeared"]
    assert look((), moved, before=failing, compared=Comparison.GREEN_CLEAN).verdict is Verdict.PASS


@pytest.mark.parametrize(
    ("product", "outcome", "gone", "found"),
    [
        ("x = 1\n", PASSED, "test/rates.test.js", []),
        ("x = 0\n", PASSED, "test/rates.test.js", ["test-not-collected"] * 3),
        ("x = 1\n", TestOutcome.FAILED, "test/rates.test.js", ["test-not-collected"] * 3),
        ("x = 0\n", PASSED, "test/golden/rates.txt", []),
    ],
)
def test_rows_of_a_file_that_went_where_the_runner_names_no_file(
    product: str, outcome: TestOutcome, gone: str, found: list[str]
) -> None:
    titles = tuple(InventoryTest(id=f"rates::{name}", outcome=outcome) for name in ("one", "two", "three"))
    kept = InventoryTest(id="rates::kept", outcome=PASSED)
    answer = SuiteInventories(
        command="npm test", before=Inventory(tests=(*titles, kept)), after=Inventory(tests=(kept,))
    )
    before = {
        "a.py": "x = 0\n",
        gone: "for (const row of rows) test(row.name, () => ask(row));\n",
        "b.txt": "1",
    }
    attempt = Attempt(before, {"a.py": product, "b.txt": "2"})
    comparison = TreeComparison(outcome=Comparison.DIFFERS)
    outcome_ = attempt.score(TestInventory, {}, {SuiteInventory(): answer, Differential(): comparison})
    assert rules(outcome_) == found
