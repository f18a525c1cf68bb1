"""The table: everything a reader needs, at any width, and nothing a hostile attempt wants shown."""

from __future__ import annotations

import json

import pytest

from adjudge.records.change import BaselineOrigin, BaselineRef
from adjudge.records.evaluation import (
    Evaluation,
    GateResult,
    Gates,
    Integrity,
    ObjectiveGateResult,
    ValidityCheck,
)
from adjudge.records.score import Finding, Verdict
from adjudge.reports.json import render_json
from adjudge.reports.plain import plain, plain_lines
from adjudge.reports.table import render_table
from adjudge.testing.results import evaluation, scorer_result

HOSTILE = "\x1b[2J\x1b[1;32mPASS\x9b31m\r\b\u202eevil\u2066\x00\u2028"


def sample(**fields: object) -> Evaluation:
    return evaluation(
        [
            scorer_result(
                "PASS", name="scope", type="allowed_paths", reason="all 3 changed files are allowed"
            ),
            scorer_result(
                "FAIL",
                name="unit tests",
                reason="exit 1, expected 0",
                findings=(
                    Finding(rule="exit-code", message="the command failed", path="src/a.py", line=3),
                    Finding(rule="no-place", message="no place"),
                ),
                output_tail="collected 2 items\nFAILED tests/test_a.py::test_it\n",
            ),
            scorer_result(
                "FAIL", name="skips", type="no_new_skips", required=False, counted=False, reason="1 new skip"
            ),
            scorer_result(
                "NA", name="notes", type="llm_judge", required=False, reason="passed on to the judge"
            ),
            scorer_result("ERROR", name="lint", reason="the sandbox died", gate=True),
        ],
        gates=Gates(
            objective=ObjectiveGateResult(
                verdict=Verdict.FAIL, reason="required scorer 'unit tests' failed", mean_score=1 / 3
            ),
            judge=GateResult(verdict=Verdict.NA, reason="no judge was asked"),
            run=GateResult(verdict=Verdict.NA, reason="workspace given, no agent ran"),
        ),
        score=0.5,
        pass_threshold=0.8,
        warnings=("baseline: unverified",),
        **fields,
    )


@pytest.mark.parametrize("width", [40, 72, 100, 200])
def test_nothing_is_lost_and_nothing_is_wider_than_the_terminal(width: int) -> None:
    text = render_table(sample(), width=width)
    assert max(map(len, text.splitlines())) <= width or width < 72
    flat = " ".join(text.split())
    for said in (
        "OVERALL FAIL", "mean score 0.33", "score 0.50 (threshold 0.80)",
        "required scorer 'unit tests' failed",
        "judge NA", "run NA", "all 3 changed files are allowed", "exit 1, expected 0", "advisory", "required",
        "gate", "the sandbox died", "src/a.py:3: the command failed", "FAILED tests/test_a.py::test_it",
        "baseline: unverified",
    ):  # fmt: skip
        assert said in flat or width < 72, said


def test_every_row_says_verdict_name_type_standing_score_and_reason() -> None:
    rows = [
        line for line in render_table(sample()).splitlines() if line.startswith(("PASS ", "FAIL  ", "NA "))
    ]
    assert rows[0].split() == [
        "PASS", "scope", "allowed_paths", "required", "1.00", "all", "3", "changed", "files",
        "are", "allowed",
    ]  # fmt: skip
    assert rows[-1].split()[:5] == ["NA", "notes", "llm_judge", "advisory", "-"]


def test_the_three_gates_are_always_shown() -> None:
    text = render_table(evaluation())
    for gate in ("objective", "judge", "run"):
        assert any(line.startswith(gate) for line in text.splitlines())


def test_long_failures_are_cut_where_it_is_said() -> None:
    row = scorer_result(
        "FAIL",
        findings=tuple(Finding(rule="r", message=f"finding {number}") for number in range(50)),
        output_tail="\n".join(f"line {number}" for number in range(500)),
    )
    text = render_table(evaluation([row]))
    assert "… and 30 more" in text
    assert "last 20 lines" in text
    assert "| line 499" in text
    assert "| line 479" not in text


def test_an_unverified_baseline_is_said_beside_it() -> None:
    shown = sample()
    provenance = shown.provenance.model_copy(
        update={"baseline": BaselineRef(origin=BaselineOrigin.UNVERIFIED, description="HEAD (1a2b3c4)")}
    )
    text = render_table(shown.model_copy(update={"provenance": provenance}))
    assert "baseline  unverified: HEAD (1a2b3c4)" in text


def test_integrity_is_shown_once_it_was_checked() -> None:
    assert "integrity" not in render_table(sample())
    text = render_table(sample(integrity=Integrity(outcome="suspect", reasons=("a skip",))))
    assert "integrity suspect: a skip" in text


@pytest.mark.parametrize(
    ("details", "completed", "said"),
    [
        ({"output": "out.json"}, True, "produced a usable output, which was wrong"),
        ({"output": None}, True, "was wrong"),
        ({"output": None, "reward_problem": "empty"}, True, "was given no reward by the verifier"),
        ({"output": "o"}, False, "produced a usable output, but was given no reward by the verifier"),
    ],
)
def test_no_more_is_said_of_an_attempt_than_is_known(
    details: dict[str, str | None], completed: bool, said: str
) -> None:
    shown = sample(
        reward=0.0,
        validity=ValidityCheck(output_parseable=True, schema_valid=True, verifier_completed=completed),
    )
    row = scorer_result("FAIL", name="verifier", type="verifier", details=details)
    text = render_table(shown.model_copy(update={"scorers": (row,)}))
    assert f"\nattempt   {said}\n" in text
    assert ("no output named" in text) is (details["output"] is None)


def test_hostile_text_cannot_reach_the_terminal() -> None:
    row = scorer_result(
        "FAIL",
        name=HOSTILE,
        type=HOSTILE,
        reason=HOSTILE,
        output_tail=HOSTILE + "\n" + HOSTILE,
        findings=(Finding(rule=HOSTILE, message=HOSTILE, path=HOSTILE),),
    )
    hostile = evaluation([row], warnings=(HOSTILE,))
    for text in (render_table(hostile), render_table(hostile, width=40)):
        assert all(char == "\n" or char.isprintable() for char in text), ascii(text)
        assert "\\x1b[2J" in text
    document = render_json(hostile)
    assert not set(document) & set("\x1b\x9b\u202e\u2066\u2028\x00\r\b")
    assert json.loads(document)["warnings"] == [HOSTILE]
    assert Evaluation.model_validate_json(document) == hostile


def test_only_verdicts_are_painted_and_painting_moves_nothing() -> None:
    bare = render_table(sample())
    painted = render_table(sample(), paint=lambda word, verdict: f"<{word}>")
    assert painted.replace("<", "").replace(">", "") == bare
    assert painted.count("<") == 1 + 3 + 5 + 1


def test_plain_text() -> None:
    assert plain("a\tb\nc\x07\u200b") == "a\\tb\\nc\\x07\\u200b"
    assert plain_lines("a\r\n\tb\rc") == ["a", "    b\\rc"]
