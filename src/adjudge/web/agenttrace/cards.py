"""The cards of a run: scorers, judge, reward, integrity, the run itself, and why gates disagree.

Values from records, put in the order a reader looks for them. Texts are as they were recorded.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from pydantic import JsonValue, ValidationError

from adjudge.records.annotation import Annotation
from adjudge.records.evaluation import Evaluation
from adjudge.records.judgement import FactCheck, FactStatus, JudgeFault, Judgement, Vote
from adjudge.records.paths import render_path
from adjudge.records.run import Run, RunStatus
from adjudge.records.score import Finding, ScorerResult, Verdict
from adjudge.records.task import RunLimits
from adjudge.stats.reviews import disagreement
from adjudge.workflows.disagreeing import explain_disagreement

__all__ = [
    "Dimension",
    "Explanation",
    "FindingView",
    "JudgeCard",
    "LimitRow",
    "Review",
    "RewardCard",
    "RubricTile",
    "ScorerRow",
    "ScorersCard",
    "SuiteTable",
    "SuiteTest",
    "explain_gates",
    "judge_card",
    "limit_rows",
    "reward_card",
    "scorer_row",
    "scorers_card",
]

FEW_TESTS = 25
"""Tests that did not pass, in a card."""
FEW_PASSED = 8
"""Tests there are in a card when there are few others."""
FEW_FINDINGS = 12
FEW_OUTPUT_LINES = 40
MAX_OUTPUT_CHARS = 6_000
_SHOWN_ELSEWHERE = frozenset(
    {"tests", "tests_left_out", "counts", "stdout_tail", "stderr_tail", "unstable", "sessions"}
)
_NOT_PASSED = ("failed", "error")


class FindingView(NamedTuple):
    """A finding, and where to look."""

    position: int
    rule: str
    message: str
    place: str
    """Path and line as people write them; empty without one."""
    has_line: bool


class SuiteTest(NamedTuple):
    """One test of a suite."""

    id: str
    outcome: str
    proof: str
    duration_s: float | None
    said: str
    """Why it did not pass, or is unproven."""


class SuiteTable(NamedTuple):
    """The tests of a suite, those that did not pass first."""

    rows: tuple[SuiteTest, ...]
    counts: tuple[tuple[str, int], ...]
    """Outcome → how many, only those that occur."""
    left_out: int
    """Tests that are not among the rows."""


class ScorerRow(NamedTuple):
    """A scorer's row, with what it expands to."""

    position: int
    result: ScorerResult
    hard: bool
    """Whether by itself it keeps the run from passing; it starts expanded."""
    findings: tuple[FindingView, ...]
    findings_left_out: int
    output: str
    output_left_out: int
    """Lines of the output that are not shown."""
    tests: SuiteTable | None
    facts: tuple[tuple[str, str], ...]
    """What the type reports besides, as name and text."""

    @property
    def role(self) -> str:
        """What its failure does, in a word."""
        if self.result.gate:
            return "gate"
        return "required" if self.result.required else "advisory"


class ScorersCard(NamedTuple):
    """The scorers, under their overall verdict."""

    verdict: Verdict
    reason: str
    mean_score: float | None
    score: float | None
    pass_threshold: float | None
    counts: tuple[tuple[Verdict, int], ...]
    rows: tuple[ScorerRow, ...]


def scorers_card(evaluation: Evaluation, *, few: bool = True) -> ScorersCard | None:
    """The card; None for a run without a workspace, of which only a judge says anything."""
    if not evaluation.scorers:
        return None
    rows = tuple(scorer_row(at, row, few=few) for at, row in enumerate(evaluation.scorers))
    gate = evaluation.gates.objective
    counted = [
        (verdict, sum(row.result.verdict is verdict for row in rows))
        for verdict in (Verdict.PASS, Verdict.FAIL, Verdict.NA, Verdict.ERROR)
    ]
    return ScorersCard(
        verdict=gate.verdict,
        reason=gate.reason,
        mean_score=gate.mean_score,
        score=evaluation.score,
        pass_threshold=evaluation.pass_threshold,
        counts=tuple((verdict, count) for verdict, count in counted if count),
        rows=rows,
    )


def scorer_row(position: int, result: ScorerResult, *, few: bool = True) -> ScorerRow:
    """A row; `few`: with the most telling part of what it has, else with all of it."""
    findings = result.findings[: FEW_FINDINGS if few else None]
    output, left_out = _end_of(result.output_tail, few=few)
    return ScorerRow(
        position=position,
        result=result,
        hard=result.failed_gate or (result.required and result.verdict in (Verdict.FAIL, Verdict.ERROR)),
        findings=tuple(_finding(at, finding) for at, finding in enumerate(findings)),
        findings_left_out=len(result.findings) - len(findings),
        output=output,
        output_left_out=left_out,
        tests=_tests(result.details, few=few),
        facts=tuple(_facts(result.details, few=few)),
    )


def _finding(position: int, finding: Finding) -> FindingView:
    place = "" if finding.path is None else render_path(finding.path)
    if finding.line is not None and place:
        place += f":{finding.line}"
    return FindingView(position, finding.rule, finding.message, place, finding.path is not None)


def _end_of(output: str, *, few: bool) -> tuple[str, int]:
    """The end of an output, and how many of its lines are not in it."""
    if not few:
        return output, 0
    lines = output.split("\n")
    end = lines[-FEW_OUTPUT_LINES:]
    shown = "\n".join(end)
    if len(shown) > MAX_OUTPUT_CHARS:
        shown = f"…{shown[-MAX_OUTPUT_CHARS:]}"
    return shown, len(lines) - len(end)


def _tests(details: Mapping[str, JsonValue], *, few: bool) -> SuiteTable | None:
    """The tests a type lists in its details; other versions may have other forms, which are passed over."""
    listed = details.get("tests")
    if not isinstance(listed, Sequence) or isinstance(listed, str):
        return None
    rows = [_test(test) for test in listed if isinstance(test, Mapping)]
    if not rows:
        return None
    rows.sort(key=lambda row: _rank(row.outcome))
    notable = sum(row.outcome != "passed" for row in rows)
    shown = rows[: min(FEW_TESTS, max(notable, FEW_PASSED)) if few else None]
    counts = details.get("counts")
    counted = counts.items() if isinstance(counts, Mapping) else ()
    beyond = details.get("tests_left_out")
    return SuiteTable(
        tuple(shown),
        tuple((str(name), count) for name, count in counted if isinstance(count, int) and count),
        len(rows) - len(shown) + (beyond if isinstance(beyond, int) else 0),
    )


def _rank(outcome: str) -> int:
    return 0 if outcome in _NOT_PASSED else 2 if outcome == "passed" else 1


def _test(test: Mapping[str, JsonValue]) -> SuiteTest:
    duration_s = test.get("duration_s")
    said = [str(test[name]) for name in ("reason", "message") if test.get(name)]
    return SuiteTest(
        id=str(test.get("id", "")),
        outcome=str(test.get("outcome", "")),
        proof=str(test.get("proof", "")),
        duration_s=float(duration_s) if isinstance(duration_s, int | float) else None,
        said="\n".join(said),
    )


def _facts(details: Mapping[str, JsonValue], *, few: bool) -> list[tuple[str, str]]:
    """What else a type reports, a line each: empty values say nothing."""
    facts = []
    for name, value in details.items():
        if name in _SHOWN_ELSEWHERE or value in (None, "", [], {}, False):
            continue
        text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
        facts.append((name.replace("_", " "), f"{text[:300]}…" if few and len(text) > 300 else text))
    return facts


class Explanation(NamedTuple):
    """Why gates disagree, in a line."""

    kind: str
    reading: str
    why: str


def explain_gates(evaluation: Evaluation) -> Explanation | None:
    """What it may mean that gates do not say the same; None when they do, or nothing is to compare."""
    found = explain_disagreement(evaluation)
    if found is not None:
        return Explanation(*found)
    run, objective = evaluation.gates.run, evaluation.gates.objective
    if run.verdict is Verdict.FAIL and objective.verdict is Verdict.PASS:
        reading = "what the agent left holds, though it did not come to its end within its limits"
        return Explanation("scorers PASS, run FAIL", reading, run.reason)
    if run.verdict is Verdict.PASS and evaluation.gates.judge.verdict is Verdict.ERROR:
        reading = "a judge that gives no readable verdict fails nothing; it can be asked again"
        return Explanation("no verdict of the judge", reading, evaluation.gates.judge.reason)
    return None


class RubricTile(NamedTuple):
    """One rubric score."""

    name: str
    score: int | None


class JudgeCard(NamedTuple):
    """What the judge said."""

    verdict: Verdict
    word: str
    """PASS, FAIL, or why there is no verdict."""
    reason: str
    tiles: tuple[RubricTile, ...]
    failure_mode: str
    reasoning: str
    facts: tuple[FactCheck, ...]
    fact_counts: tuple[tuple[str, int], ...]
    votes: tuple[Vote, ...]
    judgement: Judgement | None
    """None when it is of a form this version does not know."""
    document: str
    """The judgement as JSON, where it is not understood."""


_TILES = (
    ("Task completion", "task_completion"),
    ("Instruction adherence", "instruction_adherence"),
    ("Efficiency", "efficiency"),
)


def judge_card(evaluation: Evaluation) -> JudgeCard | None:
    """The card; None when no judge was asked."""
    gate = evaluation.gates.judge
    if evaluation.judge is None and not gate.verdict.graded:
        return None
    judgement = _judgement(evaluation.judge)
    word = str(gate.verdict)
    if judgement is not None and judgement.fault is not None:
        word = "unparseable" if judgement.fault is JudgeFault.UNPARSEABLE else "unavailable"
    scores = None if judgement is None else judgement.scores
    facts = () if judgement is None else judgement.fact_checks
    mode = None if judgement is None else judgement.failure_mode
    unknown = judgement is None and evaluation.judge is not None
    return JudgeCard(
        verdict=gate.verdict,
        word=word,
        reason=gate.reason,
        tiles=tuple(RubricTile(name, getattr(scores, key, None)) for name, key in _TILES),
        failure_mode="" if mode is None else mode.value,
        reasoning="" if judgement is None else judgement.reasoning,
        facts=facts,
        fact_counts=tuple(
            (status.value, count)
            for status in FactStatus
            if (count := sum(fact.status is status for fact in facts))
        ),
        votes=() if judgement is None else judgement.votes,
        judgement=judgement,
        document=json.dumps(evaluation.judge, indent=2, ensure_ascii=False) if unknown else "",
    )


def _judgement(said: JsonValue) -> Judgement | None:
    try:
        return None if said is None else Judgement.model_validate(said)
    except ValidationError:
        return None


class Dimension(NamedTuple):
    """One field of a verifier's breakdown."""

    name: str
    score: float | None
    max_score: float | None
    share: float | None
    """Of 0 to 1, for the bar."""
    evidence: str


class Review(NamedTuple):
    """A person's verdict, and whether it agrees."""

    annotation: Annotation
    disagrees: str
    """With what, in words; empty when it agrees, or defers."""


class RewardCard(NamedTuple):
    """The reward, and how far it can be read."""

    reward: float | None
    source: str
    """Where it comes from, in words."""
    flags: tuple[tuple[str, bool], ...]
    errors: tuple[str, ...]
    dimensions: tuple[Dimension, ...]
    tags: tuple[Any, ...]
    confidence: Any
    reviews: tuple[Review, ...]


def reward_card(evaluation: Evaluation) -> RewardCard:
    """The card."""
    validity = evaluation.validity
    verified = any(row.type == "verifier" for row in evaluation.scorers)
    return RewardCard(
        reward=evaluation.reward,
        source="as the verifier wrote it" if verified else "the combined score of the scorers",
        flags=(
            ("output parseable", validity.output_parseable),
            ("schema valid", validity.schema_valid),
            ("verifier completed", validity.verifier_completed),
        ),
        errors=tuple(validity.errors),
        dimensions=tuple(
            _dimension(str(name), value) for name, value in (evaluation.breakdown or {}).items()
        ),
        tags=evaluation.error_taxonomy,
        confidence=evaluation.confidence,
        reviews=tuple(
            Review(annotation, disagreement(evaluation, annotation) or "")
            for annotation in evaluation.annotations
        ),
    )


def _dimension(name: str, value: JsonValue) -> Dimension:
    """A dimension in the usual form; anything else is shown as the JSON it is."""
    if isinstance(value, Mapping):
        score, most = _number(value.get("score")), _number(value.get("max_score"))
        if score is not None:
            rest = {key: item for key, item in value.items() if key not in ("score", "max_score", "evidence")}
            evidence = value.get("evidence")
            said = evidence if isinstance(evidence, str) else _json(evidence)
            said = "\n".join(part for part in (said, _json(rest) if rest else "") if part)
            return Dimension(name, score, most, _share(score, 1.0 if most is None else most), said)
    alone = _number(value)
    if alone is not None:
        return Dimension(name, alone, None, _share(alone, 1.0), "")
    return Dimension(name, None, None, None, value if isinstance(value, str) else _json(value))


def _number(value: JsonValue) -> float | None:
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else None


def _share(score: float, most: float) -> float | None:
    return min(1.0, max(0.0, score / most)) if most > 0 else None


def _json(value: Any) -> str:
    return "" if value is None else json.dumps(value, ensure_ascii=False)


@dataclass(frozen=True, slots=True)
class LimitRow:
    """What a run used of something, and how much of it there was."""

    name: str
    used: float | int | None
    limit: float | int | None
    unit: str
    """`s`, `tokens`, `usd` or `calls`."""

    @property
    def over(self) -> bool:
        """Whether it is more than there was."""
        return self.used is not None and self.limit is not None and self.used > self.limit


def limit_rows(run: Run, limits: RunLimits) -> tuple[LimitRow, ...]:
    """Usage beside its limits."""
    outcome = None if run.attempt is None else run.attempt.outcome
    usage = None if outcome is None else outcome.usage

    def used(take: Callable[[Any], Any]) -> Any:
        return None if usage is None else take(usage)

    return (
        LimitRow("Time", None if outcome is None else outcome.wall_s, limits.wall_s, "s"),
        LimitRow("Tokens", used(lambda known: known.total_tokens), limits.tokens, "tokens"),
        LimitRow("Cost", used(lambda known: known.cost_usd), limits.cost_usd, "usd"),
        LimitRow("Tool calls", used(lambda known: known.tool_calls), limits.tool_calls, "calls"),
    )


def is_under_way(run: Run) -> bool:
    """Whether more is to come."""
    return run.status in (RunStatus.PENDING, RunStatus.RUNNING)
