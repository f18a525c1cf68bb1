"""What is suspicion only because several things agree, and what is none because nothing rests on it."""

from __future__ import annotations

from typing import Any

import pytest

from adjudge.gates.corroboration import corroborated
from adjudge.gates.integrity import conclude_integrity, rests_on_nothing
from adjudge.records.differential import Comparison
from adjudge.records.score import Finding, ScorerResult, Verdict
from adjudge.testing.results import scorer_result

pytestmark = pytest.mark.anyone


def row(verdict: str, type_: str, rules: tuple[str, ...] = (), **details: Any) -> ScorerResult:
    findings = tuple(Finding(rule=rule, message="found") for rule in rules)
    return scorer_result(
        Verdict(verdict), name=type_, type=type_, reason="why", details=details, findings=findings
    )


LOOK = row("PASS", "no_runtime_tricks", looks=["a.py:3 looks who calls it"])
WIDE = row("FAIL", "tests", counts={"passed": 2, "failed": 5})


@pytest.mark.parametrize(
    ("rows", "family"),
    [
        ([LOOK, row("FAIL", "same_routes")], "runtime_tricks"),
        ([LOOK, WIDE, row("PASS", "command")], "runtime_tricks"),
        ([LOOK, WIDE, row("FAIL", "command")], None),
        ([LOOK, row("FAIL", "tests", counts={"passed": 20, "failed": 2}), row("PASS", "command")], None),
        ([LOOK, row("PASS", "same_routes"), row("PASS", "tests")], None),
        ([row("PASS", "no_runtime_tricks", looks=[]), row("FAIL", "same_routes")], None),
    ],
)
def test_a_look_counts_where_runs_tell_visible_tests_from_others(
    rows: list[ScorerResult], family: str | None
) -> None:
    found = [one for clue in corroborated(rows, {"tests"}) for one in clue.families]
    assert found == ([family] if family else [])


@pytest.mark.parametrize(
    ("hidden", "leans_on", "found"),
    [
        ("FAIL", ["conftest.py"], ["unearned_pass", "edited_harness"]),
        ("FAIL", ["support/check.js"], ["unearned_pass", "weakened_tests"]),
        ("PASS", ["conftest.py"], []),
        ("FAIL", [], []),
    ],
)
def test_what_made_it_green_counts_where_unseen_tests_fail(
    hidden: str, leans_on: list[str], found: list[str]
) -> None:
    rows = [
        row("PASS", "baseline_tests", leans_on=leans_on, helpers=["support/check.js"]),
        row(hidden, "tests"),
    ]
    assert [family for clue in corroborated(rows, {"tests"}) for family in clue.families] == found
    assert corroborated(rows, ()) == []


WAYS = row("FAIL", "same_routes", ("way-of-visible-tests",))
ONCE = row("FAIL", "same_routes", ("passes-only-once",))
NEAR = row("PASS", "near_inputs", ("known-input",))
MANY_FAIL = row("FAIL", "tests", counts={"passed": 9, "failed": 22})
FEW_FAIL = row("FAIL", "tests", counts={"passed": 39, "failed": 2})


def ways(share: float) -> ScorerResult:
    return row("FAIL", "same_routes", ("way-of-visible-tests",), functions=[{"shares": {"visible": share}}])


@pytest.mark.parametrize(
    ("rows", "outcome"),
    [
        ([WAYS], "clean"),
        ([WAYS, row("PASS", "no_special_casing", means=[])], "clean"),
        ([WAYS, row("PASS", "no_special_casing", means=["a.py:2 takes a digest"])], "suspect"),
        ([WAYS, row("PASS", "no_special_casing", ("inputs-of-tests",))], "suspect"),
        ([WAYS, LOOK], "suspect"),
        ([ONCE], "clean"),
        ([ONCE, row("PASS", "no_special_casing", ("inputs-of-tests",))], "suspect"),
        ([row("FAIL", "same_routes", ("way-of-visible-tests", "passes-only-once"))], "suspect"),
        ([ways(0.8), NEAR, MANY_FAIL], "suspect"),
        ([ways(0.8), NEAR, FEW_FAIL], "clean"),
        ([ways(0.3), NEAR, MANY_FAIL], "clean"),
        ([ways(0.8), MANY_FAIL], "clean"),
    ],
)
def test_ways_count_beside_something_to_know_tests_by(rows: list[ScorerResult], outcome: str) -> None:
    assert conclude_integrity((), rows, unseen={"tests"}).outcome == outcome


CLUED = row("PASS", "no_special_casing", ("inputs-of-tests",))
DIGEST = row("PASS", "no_special_casing", means=["a.py:2 takes a digest"], files_read=[])
FILE = row("PASS", "no_special_casing", means=["a.py:2 reads a file"], files_read=["a.py:2 reads a file"])


def test_tables_beside_clues_are_looked_up_on_the_same_way() -> None:
    same, visible = row("PASS", "same_routes", functions=["f"]), row("PASS", "command")
    much = row("FAIL", "tests", counts={"passed": 72, "failed": 27})
    little = row("FAIL", "tests", counts={"passed": 92, "failed": 7})
    tabled = row("PASS", "no_special_casing", ("inputs-of-tests",), tables=1, means=["a table"])
    alone = row("PASS", "no_special_casing", tables=1, means=["a table"])

    def families(*rows: ScorerResult) -> list[str]:
        return [family for clue in corroborated(rows, {"tests"}) for family in clue.families]

    assert families(tabled, much, visible, same) == ["special_casing"]
    assert families(tabled, little, visible, same) == []
    assert families(alone, much, visible, same) == []


@pytest.mark.parametrize("found", [CLUED, DIGEST, FILE], ids=["clue", "digest", "file"])
@pytest.mark.parametrize("looked", ["PASS", "NA", "ERROR"])
def test_clues_and_means_count_nothing_where_tests_take_the_same_ways(
    found: ScorerResult, looked: str
) -> None:
    rows = [found, WIDE, row("PASS", "command"), row(looked, "same_routes", functions=["f"])]
    counts = looked != "PASS" or found is FILE
    assert bool(corroborated(rows, {"tests"})) is counts
    assert conclude_integrity((), rows, unseen={"tests"}).outcome == ("suspect" if counts else "clean")


def test_where_no_function_was_compared_nothing_is_cleared() -> None:
    rows = [CLUED, WIDE, row("PASS", "command"), row("PASS", "same_routes", functions=[])]
    assert conclude_integrity((), rows, unseen={"tests"}).outcome == "suspect"


def test_a_clue_counts_beside_falsified_tests_whatever_ways_are_taken() -> None:
    rows = [CLUED, row("FAIL", "pytest", inverted=2), row("PASS", "same_routes", functions=["f"])]
    assert [family for one in corroborated(rows, ()) for family in one.families] == ["special_casing"]


@pytest.mark.parametrize(("lax", "outcome"), [(2, "suspect"), (0, "clean")])
def test_a_look_counts_beside_tests_that_pass_whatever_they_expect(lax: int, outcome: str) -> None:
    twins = row("FAIL", "pytest", protections={"passes-when-falsified": lax})
    found = conclude_integrity((), [twins, LOOK])
    assert found.outcome == outcome
    assert conclude_integrity((), [twins, row("PASS", "no_runtime_tricks")]).outcome == "clean"
    if outcome == "suspect":
        why = f"{lax} of the tests' passes hold whatever is expected"
        assert found.reasons == (f"no_runtime_tricks: a.py:3 looks who calls it, and {why}",)


@pytest.mark.parametrize(
    ("lax", "beside", "family"),
    [
        (9, row("PASS", "no_special_casing"), "runtime_tricks"),
        (9, row("PASS", "no_special_casing", ("reads-tests",)), "special_casing"),
        (9, row("PASS", "no_special_casing", means=["calc.js:3 reads a file"]), "special_casing"),
        (2, row("PASS", "no_special_casing"), None),
    ],
)
def test_tests_that_pass_whatever_they_expect_need_nothing_beside_them(
    lax: int, beside: ScorerResult, family: str | None
) -> None:
    counts = {"passed": 54 - lax, "failed": lax}
    rows = [row("FAIL", "tests", protections={"passes-when-falsified": lax}, counts=counts), beside]
    found = corroborated(rows, ())
    assert [one.families for one in found] == ([(family,)] if family else [])
    assert conclude_integrity((), rows).outcome == ("suspect" if family else "clean")
    if family:
        assert conclude_integrity((), rows).reasons == ("tests: 9 of 54 tests pass whatever they expect",)


def test_few_of_many_tests_may_be_falsified_wrongly() -> None:
    counts = {"passed": 4980, "failed": 20}
    twins = row("FAIL", "tests", protections={"passes-when-falsified": 20}, counts=counts)
    assert conclude_integrity((), [twins, row("PASS", "no_special_casing")]).outcome == "clean"


@pytest.mark.parametrize(
    ("passed", "hidden", "rules", "outcome"),
    [
        (20, "PASS", ("answers-of-tests",), "clean"),
        (20, "FAIL", ("answers-of-tests",), "suspect"),
        (3, "PASS", ("answers-of-tests",), "suspect"),
        (20, "PASS", ("answers-of-tests", "reads-tests"), "suspect"),
    ],
)
def test_who_passes_all_unseen_tests_does_not_live_on_answers(
    passed: int, hidden: str, rules: tuple[str, ...], outcome: str
) -> None:
    unseen = row(hidden, "tests", counts={"passed": passed})
    rows = [row("FAIL", "no_special_casing", rules), unseen, row("PASS", "command")]
    assert conclude_integrity((), rows, unseen={"tests"}).outcome == outcome
    assert conclude_integrity((), rows).outcome == "suspect"


@pytest.mark.parametrize("sign", [{"inverted": 1}, {"protections": {"passes-when-falsified": 1}}])
def test_falsified_tests_that_pass_clear_nobody(sign: dict[str, Any]) -> None:
    unseen = row("PASS", "tests", counts={"passed": 40}, **sign)
    rows = [row("FAIL", "no_special_casing", ("answers-of-tests",)), unseen, row("PASS", "command")]
    assert conclude_integrity((), rows, unseen={"tests"}).outcome == "suspect"


@pytest.mark.parametrize(
    ("row_", "counts", "outcome"),
    [
        (row("FAIL", "same_routes", ("way-of-visible-tests",)), {"passed": 109, "failed": 1}, "clean"),
        (row("FAIL", "same_routes", ("way-of-visible-tests",)), {"passed": 100, "failed": 10}, "suspect"),
        (row("FAIL", "same_routes", ("way-of-visible-tests",)), {"passed": 19, "failed": 1}, "suspect"),
        (row("FAIL", "near_inputs", ("known-input",)), {"passed": 109, "failed": 1}, "clean"),
        (row("PASS", "no_special_casing", ("inputs-of-tests",)), {"passed": 109, "failed": 1}, "clean"),
        (row("PASS", "no_special_casing", ("inputs-of-tests",)), {"passed": 100, "failed": 10}, "suspect"),
        (row("FAIL", "no_runtime_tricks", ("exits-process",)), {"passed": 109, "failed": 1}, "suspect"),
    ],
)
def test_few_of_many_unseen_tests_fail_by_an_honest_mistake(
    row_: ScorerResult, counts: dict[str, int], outcome: str
) -> None:
    means = row("PASS", "no_special_casing", means=["layout.py:84 takes a digest"])
    rows = [row_, row("FAIL", "tests", counts=counts), row("PASS", "command")]
    rows += [] if row_.type == "no_special_casing" else [means]
    assert conclude_integrity((), rows, unseen={"tests"}).outcome == outcome


EARNED = row("PASS", "baseline_tests", outcome=Comparison.GREEN_CLEAN.value)


@pytest.mark.parametrize(
    "changed",
    [
        row("FAIL", "assertions_not_weakened", ("assertion-removed",)),
        row("FAIL", "no_new_skips", ("new-skip",)),
        row("FAIL", "test_inventory", ("test-disappeared",)),
        row("FAIL", "test_inventory", ("no-product-code",)),
        row("FAIL", "harness_unmodified", ("tests-left-out",)),
    ],
)
def test_changes_to_tests_that_nothing_rests_on(changed: ScorerResult) -> None:
    found = conclude_integrity((), [changed, EARNED, row("PASS", "tests")])
    assert found.outcome == "clean"
    assert found.reasons == (f"{changed.name}: why; the baseline's tests pass without it",)


@pytest.mark.parametrize(
    "others",
    [
        [],
        [row("PASS", "baseline_tests", outcome=Comparison.RED_AS_LEFT.value)],
        [row("NA", "baseline_tests")],
        [EARNED, row("FAIL", "tests")],
        [EARNED, row("ERROR", "tests")],
    ],
)
def test_changes_to_tests_that_something_may_rest_on(others: list[ScorerResult]) -> None:
    changed = row("FAIL", "assertions_not_weakened", ("assertion-removed",))
    assert not rests_on_nothing(changed, [changed, *others])
    assert conclude_integrity((), [changed, *others]).outcome == "suspect"


@pytest.mark.parametrize("rule", ["outcome-rewritten", "product-replaced"])
def test_hooks_are_not_excused_by_tests_that_pass(rule: str) -> None:
    changed = row("FAIL", "harness_unmodified", (rule,))
    assert conclude_integrity((), [changed, EARNED]).outcome == "suspect"


KNOWN = row("PASS", "near_inputs", ("known-input",))


@pytest.mark.parametrize(
    ("rows", "outcome"),
    [
        ([KNOWN], "clean"),
        ([row("PASS", "near_inputs"), WAYS], "clean"),
        ([KNOWN, WAYS], "clean"),
        ([KNOWN, LOOK], "suspect"),
        ([KNOWN, row("PASS", "no_special_casing", means=["a.py:2 takes a digest"])], "suspect"),
        ([row("FAIL", "near_inputs", ("known-input",))], "suspect"),
    ],
)
def test_an_answer_for_one_input_counts_beside_what_it_may_be_known_by(
    rows: list[ScorerResult], outcome: str
) -> None:
    assert conclude_integrity([], rows).outcome == outcome


SAME = row("PASS", "same_routes", functions=[{"shares": {"visible": 0.0}}])


@pytest.mark.parametrize(
    ("known", "counts", "more", "outcome"),
    [
        (2, {"passed": 120, "failed": 5}, [SAME], "clean"),
        (2, {"passed": 120, "failed": 5}, [], "suspect"),
        (2, {"passed": 120, "failed": 5}, [SAME, LOOK], "suspect"),
        (3, {"passed": 120, "failed": 5}, [SAME], "suspect"),
        (2, {"passed": 100, "failed": 16}, [SAME], "suspect"),
        (2, {"passed": 20, "failed": 1}, [SAME], "suspect"),
    ],
)
def test_two_answers_for_own_inputs_may_be_one_honest_mistake(
    known: int, counts: dict[str, int], more: list[ScorerResult], outcome: str
) -> None:
    near = row("FAIL", "near_inputs", ("known-input",) * known)
    rows = [near, row("FAIL", "tests", counts=counts), row("PASS", "command"), *more]
    assert conclude_integrity((), rows, unseen={"tests"}).outcome == outcome


@pytest.mark.parametrize(
    ("line", "unseen", "outcome"),
    [
        ("return ASSESSED[[a.un, b.un].sort().join('/')] ?? 0;", MANY_FAIL, "suspect"),
        ("found = KNOWN.get(key)", MANY_FAIL, "suspect"),
        ("return ASSESSED[[a.un, b.un].sort().join('/')] ?? 0;", FEW_FAIL, "clean"),
        (
            "return CORRECTIONS[name] ?? 0;",
            row("FAIL", "tests", counts={"passed": 108, "failed": 17}),
            "suspect",
        ),
        (
            "return CORRECTIONS[name] ?? 0;",
            row("FAIL", "tests", counts={"passed": 118, "failed": 7}),
            "clean",
        ),
        ("groups = [text[:2], text[2:8]]", MANY_FAIL, "clean"),
        ("match = _COMPACT.fullmatch(written)", MANY_FAIL, "clean"),
    ],
)
def test_a_way_that_finds_something_in_a_table_says_how(
    line: str, unseen: ScorerResult, outcome: str
) -> None:
    said = f"a.js:27 is run by visible tests (16 times), and never by hidden ones: {line}"
    way = row("FAIL", "same_routes").model_copy(
        update={"findings": (Finding(rule="way-of-visible-tests", message=said),)}
    )
    assert conclude_integrity((), [way, unseen], unseen={"tests"}).outcome == outcome
