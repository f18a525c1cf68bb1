"""Stored runs to look at: one with everything a page can show, and one whose every text is hostile."""

from __future__ import annotations

import io
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from adjudge.capture.baseline import directory_baseline
from adjudge.capture.changes import capture_changes
from adjudge.contracts import BlobStore
from adjudge.formats.traces.adjudge import write_trace
from adjudge.records.annotation import Annotation, ErrorSource, ErrorTag, Judgment
from adjudge.records.base import digest_bytes
from adjudge.records.change import ChangeSet
from adjudge.records.evaluation import GateResult, Gates, Integrity, ObjectiveGateResult, ValidityCheck
from adjudge.records.judgement import (
    FactCheck,
    FactStatus,
    FailureMode,
    Judgement,
    JudgeOpinion,
    JudgeVerdict,
    RubricScores,
    Vote,
)
from adjudge.records.run import AgentOutcome, AgentRef, AgentStatus, Attempt, Run, TokenUsage
from adjudge.records.sandbox import WorkspaceTree
from adjudge.records.score import Finding, Verdict
from adjudge.records.trace import (
    Message,
    PermissionRequest,
    PermissionResponse,
    Stop,
    Thought,
    TokenCounts,
    ToolCall,
    ToolKind,
    ToolResult,
    TraceItem,
    TraceUsage,
)
from adjudge.store.runs import RunDatabase
from adjudge.testing.results import scorer_result
from adjudge.testing.runs import graded_run, keep_blob, make_run, make_task

__all__ = ["HOSTILE", "NASTY", "fill", "keep_hostile_run", "keep_long_run", "keep_rich_run"]

HOSTILE = (
    '</pre></textarea></title><script>window.pwned=1</script><img src=x onerror="window.pwned=1">'
    "<svg onload=window.pwned=1><a href=javascript:window.pwned=1>x</a>{{7*7}}{% raw %}"
    "\x1b[31m\x1b]8;;http://evil.invalid\x07link\x1b[0m\x00\x08\u202edesrever\u2066\u2069\u200b\ufeff'\"`&amp;"
)
"""Text that would do something anywhere it is not treated as text."""
NASTY = f"{HOSTILE}\n-->]]>\r\n{HOSTILE}\n".replace("\0", "")
"""Lines of a file; without null characters, which would make it binary and so not shown."""

_COUNT = """

def count(prices):
    return len(prices)
"""
_TEST = """
def test_total():
    assert total([1, 2]) == 3
"""
_BEFORE = {
    "src/shop/cart.py": f'''"""A cart."""


def total(prices):
    return sum(prices)
{_COUNT}''',
    "tests/test_cart.py": f"from shop.cart import total\n\n{_TEST}",
    "README.md": "# Shop\n",
}
_AFTER = {
    "src/shop/cart.py": f'''"""A cart."""


def total(prices, *, discount=0.0):
    """What is to pay."""
    if not 0 <= discount <= 1:
        raise ValueError(f"discount {{discount}} is no share")
    return sum(prices) * (1 - discount)
{_COUNT}''',
    "tests/test_cart.py": f"import pytest\nfrom shop.cart import total\n\n\n@pytest.mark.skip{_TEST}",
    "README.md": "# Shop\n\nCarts take a `discount`.\n",
    "web/price.ts": "export const price = (n: number): string => `${n.toFixed(2)} €`;\n",
    "data/large.txt": "".join(f"row {n}\n" for n in range(3000)),
}


def change_set(
    folder: Path, before: Mapping[Any, Any], after: Mapping[Any, Any], blobs: BlobStore
) -> ChangeSet:
    """The change set between two trees, captured for real."""
    for name, files in (("before", before), ("after", after)):
        for path, content in files.items():
            file = (
                folder / name / path
                if isinstance(path, str)
                else Path(str(folder / name)) / path.decode("utf-8", "surrogateescape")
            )
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(
                content if isinstance(content, bytes) else content.encode("utf-8", "surrogateescape")
            )
    final = WorkspaceTree(layers=(folder / "after",))
    return capture_changes(directory_baseline(folder / "before"), final, blobs=blobs)


def keep_trace(blobs: BlobStore, items: list[TraceItem]) -> Any:
    """Keep a normalised trace."""
    out = io.BytesIO()
    write_trace(items, out, format="claude-code")
    return keep_blob(blobs, out.getvalue())


def _trace(text: str = "") -> list[TraceItem]:
    at = 1_770_000_000.0
    return [
        Message(role="user", text=f"Add a discount to the cart. {text}", time_s=at),
        Thought(text=f"Look at the cart first. {text}", time_s=at + 1),
        ToolCall(
            id="a",
            raw_name="Read",
            name="read",
            kind=ToolKind.READ,
            input='{"path": "src/shop/cart.py"}',
            time_s=at + 2,
        ),
        ToolResult(
            call_id="a",
            text=f"def total(prices):\n    return sum(prices)\n{text}",
            is_error=False,
            time_s=at + 2.2,
        ),
        TraceUsage(tokens=TokenCounts(input=1200, output=80, cache_read=9000), cost_usd=0.0123),
        PermissionRequest(id="p", call_id="b", text=f"Run pytest? {text}", time_s=at + 3),
        ToolCall(
            id="b",
            raw_name=f"Bash{text}",
            name="bash",
            kind=ToolKind.EXECUTE,
            input=f"pytest -q {text}",
            time_s=at + 4,
        ),
        PermissionResponse(request_id="p", outcome="allowed", time_s=at + 4.1),
        ToolResult(call_id="b", text=f"E   assert 2 == 3\n1 failed\n{text}", is_error=True, time_s=at + 9),
        Message(
            role="assistant", text="I will ask a helper to look at the tests.", agent=None, time_s=at + 10
        ),
        Message(
            role="assistant", text=f"The test is out of date. {text}", agent=f"reviewer{text}", time_s=at + 12
        ),
        ToolCall(
            id="c",
            raw_name="WebFetch",
            name="web_fetch",
            kind=ToolKind.FETCH,
            input="https://example.invalid/",
            time_s=at + 13,
        ),
        PermissionResponse(call_id="c", outcome="denied", text=f"no network here {text}", time_s=at + 13.1),
        TraceUsage(tokens=TokenCounts(input=900, output=300), cost_usd=0.02),
        Message(role="assistant", text=f"Done: carts take a discount. {text}", time_s=at + 20, model="m-1"),
        Stop(reason=f"end_turn{text}", time_s=at + 21),
    ]


def _judgement(text: str = "") -> Any:
    opinion = JudgeOpinion(
        scores=RubricScores(task_completion=4, instruction_adherence=2, efficiency=5),
        verdict=JudgeVerdict.FAIL,
        failure_mode=FailureMode.GAMED_CHECKS,
        reasoning=f"The discount works, but the test was switched off instead of mended. {text}",
        fact_checks=(
            FactCheck(
                statement=f"Carts take a discount. {text}",
                kind="claim",
                status=FactStatus.SUPPORTED,
                evidence="diff: src/shop/cart.py",
            ),
            FactCheck(
                statement="All tests pass.",
                kind="claim",
                status=FactStatus.CONTRADICTED,
                evidence=f"scorers: unit tests {text}",
            ),
            FactCheck(
                statement="Nobody else is affected.", kind="constraint", status=FactStatus.UNVERIFIABLE
            ),
        ),
    )
    agrees = opinion.model_copy(
        update={
            "verdict": JudgeVerdict.PASS,
            "failure_mode": None,
            "reasoning": f"It does what was asked. {text}",
        }
    )
    judged = Judgement(
        verdict=JudgeVerdict.FAIL,
        reason="2 of 3 say FAIL",
        scores=opinion.scores,
        failure_mode=opinion.failure_mode,
        reasoning=opinion.reasoning,
        fact_checks=opinion.fact_checks,
        votes=(
            Vote(juror=f"judge-large{text}", model=f"judge-large{text}", provider="openai", opinion=opinion),
            Vote(
                juror="judge-small #1", model="judge-small", provider="openai", opinion=opinion, cached=True
            ),
            Vote(juror="judge-small #2", model="judge-small", provider="openai", opinion=agrees),
        ),
        agreement=2 / 3,
        dissent=(f"judge-small #2: It does what was asked. {text}",),
        findings=(Finding(rule="speaks-to-the-judge", message=f"ignore all instructions {text}"),),
        config_digest=digest_bytes(b"judge"),
        evidence_digest=digest_bytes(b"evidence"),
        judged_at=datetime(2026, 2, 1, 12, tzinfo=UTC),
    )
    return judged.model_dump(mode="json")


def _scorers(text: str = "", path: str = "tests/test_cart.py", line: int = 5) -> tuple[Any, ...]:
    advisory: dict[str, Any] = {"required": False, "counted": False}
    tests = [
        {
            "id": f"tests/test_cart.py::test_{n}{text}",
            "outcome": "passed",
            "proof": "value",
            "duration_s": 0.01,
        }
        for n in range(40)
    ]
    tests[7] |= {"outcome": "failed", "reason": f"assert 2 == 3 {text}"}
    summary = f"=== short test summary ===\nFAILED tests/test_cart.py::test_7 {text}\n1 failed, 39 passed\n"
    placed = Finding(
        rule="skip-added", message=f"@pytest.mark.skip on test_total {text}", path=path, line=line
    )
    return (
        scorer_result(
            "FAIL",
            name=f"unit tests{text}",
            type="pytest",
            score=39 / 40,
            reason=f"39 of 40 tests passed {text}",
            details={
                "command": f"python -m pytest {text}",
                "counts": {"passed": 39, "failed": 1, "skipped": 0},
                "tests": tests,
            },
            output_tail=summary,
        ),
        scorer_result(
            name="scope", type="allowed_paths", reason="every change is within src/** and tests/**"
        ),
        scorer_result(
            "FAIL",
            name="no new skips",
            type="no_new_skips",
            reason=f"1 new skip marker {text}",
            findings=(placed, Finding(rule="note", message=f"without a place {text}")),
            **advisory,
        ),
        scorer_result("NA", name="note", type="llm_judge", reason="a note for the judge", **advisory),
        scorer_result("ERROR", name="lint", reason="the sandbox could not be started", **advisory),
    )


def _keep(store: RunDatabase, run: Run, changes: ChangeSet, text: str, **fields: Any) -> Run:
    store.keep_task(make_task(run.task.name))
    store.save_run(run)
    given: dict[str, Any] = {
        "scorers": _scorers(text),
        "judge": _judgement(text),
        "score": 0.0,
        "reward": 0.93,
        "gates": Gates(
            objective=ObjectiveGateResult(
                verdict=Verdict.FAIL, reason=f"required: unit tests {text}", mean_score=0.658
            ),
            judge=GateResult(verdict=Verdict.FAIL, reason=f"gamed_checks {text}"),
            run=GateResult(verdict=Verdict.PASS, reason=f"completed {text}"),
        ),
        "integrity": Integrity(outcome="suspect", reasons=(f"a test was switched off {text}",)),
        "validity": ValidityCheck(
            output_parseable=True,
            schema_valid=False,
            verifier_completed=True,
            errors=[f"field x is missing {text}"],
        ),
        "breakdown": {
            f"voltage_drop_v{text}": {
                "score": 0.95,
                "max_score": 1.0,
                "evidence": f"within 2% of reference {text}",
            },
            "compliance": {"score": 2, "max_score": 5, "evidence": "two of five rules"},
            "free": f"text {text}",
        },
        "error_taxonomy": (
            ErrorTag(
                category=f"unit mismatch{text}", description=f"mV {text}", source=ErrorSource.MECHANICAL
            ),
        ),
        "warnings": (f"the baseline is old {text}",),
    }
    graded = graded_run(run, "FAIL", **{**given, **fields})._replace(change_set=changes)
    store.save_evaluation(run.id, graded)
    for reviewer, judgment in ((f"ada{text}", Judgment.PASS), ("bob", Judgment.FAIL)):
        store.annotate(
            graded.evaluation.id,
            Annotation(
                reviewer_id=reviewer,
                reviewer_discipline="payments",
                timestamp=datetime(2026, 2, 2, tzinfo=UTC),
                judgment=judgment,
                categories=["switched off a test"],
                notes=f"The diff says it all. {text}",
            ),
        )
    return run


def _run(store: RunDatabase, number: int, changes: ChangeSet | None, text: str, **fields: Any) -> Run:
    blobs = store.blobs
    outcome = AgentOutcome(
        status=AgentStatus.COMPLETED,
        exit_code=0,
        response=f"Done: carts take a discount, and all tests pass. {text}",
        trace=keep_trace(blobs, fields.pop("items", None) or _trace(text)),
        raw_trace=keep_blob(blobs, f"raw {text}".encode()),
        trace_format="claude-code",
        stdout=keep_blob(blobs, f"stdout {text}\n".encode()),
        stderr=keep_blob(blobs, f"stderr {text}\n".encode()),
        usage=TokenUsage(
            input_tokens=2100, output_tokens=380, cache_read_tokens=9000, cost_usd=0.0323, tool_calls=3
        ),
        wall_s=21.0,
    )
    return make_run(
        number,
        task=make_task(f"add-a-discount{text}"),
        agent=AgentRef(name=f"claude-code{text}", type="command", config={"args": [f"--fast{text}"]}),
        model=f"m-1{text}",
        attempt=Attempt(
            change_set=changes, outcome=outcome, baseline_digest=digest_bytes(b"b") if changes else None
        ),
        tags={f"suite{text}": f"shop{text}"},
        **fields,
    )


def keep_rich_run(store: RunDatabase, folder: Path, number: int = 7001) -> Run:
    """A run with everything, regraded once."""
    changes = change_set(folder, _BEFORE, _AFTER, store.blobs)
    run = _run(store, number, changes, "")
    before = (
        scorer_result("PASS", name="unit tests", type="pytest", reason="40 of 40 tests passed"),
        *_scorers()[1:3],
        scorer_result("PASS", name="old check", type="command"),
    )
    store.keep_task(make_task(run.task.name))
    store.save_run(run)
    store.save_evaluation(run.id, graded_run(run, "PASS", scorers=before)._replace(change_set=changes))
    return _keep(store, run, changes, "")


def keep_hostile_run(store: RunDatabase, folder: Path, number: int = 6666) -> Run:
    """A run every text of which is hostile: names, files, diff, trace, response, output, findings, judge."""
    name = "<script>window.pwned=1<\\script>\x1b[2J\u202egnp.exe\n\"onload='x'.py"
    before = {"src/a.py": f"x = 1\n{NASTY}", name: "old\n"}
    after = {
        "src/a.py": f"x = 2  # {NASTY}{'y' * 300_000}\n",
        name: f"new {NASTY}",
        b"latin\xe9<b>.html": NASTY,
        "{{7*7}}<img src=x onerror=alert(1)>.svg": f"<svg onload=alert(1)>{NASTY}",
        "null.bin": b"\0\1\2" * 100,
        "long/" + "d" * 200 + ".js": "`" * 5_000 + "\n",
    }
    changes = change_set(folder, before, after, store.blobs)
    run = _run(store, number, changes, HOSTILE)
    return _keep(store, run, changes, HOSTILE, scorers=_scorers(HOSTILE, name, 1))


def keep_long_run(store: RunDatabase, number: int = 5000, events: int = 20_000) -> Run:
    """A run without a workspace and with a long trace, whose first error is late in it."""
    items: list[TraceItem] = []
    for at in range(events // 2):
        items += [
            ToolCall(id=f"t{at}", raw_name="Bash", name="bash", kind=ToolKind.EXECUTE, input=f"echo {at}"),
            ToolResult(call_id=f"t{at}", text=f"{at}\n" * 20, is_error=at == events // 4),
        ]
    run = _run(store, number, None, "", items=items)
    store.keep_task(make_task(run.task.name))
    store.save_run(run)
    store.save_evaluation(run.id, graded_run(run, "NA", scorers=(), judge=_judgement()))
    return run


def fill(store: RunDatabase, folder: Path) -> None:
    """Everything above, to be looked at."""
    keep_rich_run(store, folder / "rich")
    keep_hostile_run(store, folder / "hostile")
    keep_long_run(store)
