"""A court asked over real HTTP, by both wire protocols, with every way of not answering."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from adjudge.judge import line as line_module
from adjudge.judge.cache import AnswerDirectory
from adjudge.judge.case import Case
from adjudge.judge.court import Court, missing_keys
from adjudge.records.judgement import JudgeFault, Judgement, JudgeVerdict
from adjudge.records.judging import JudgeConfig
from adjudge.records.task import ExpectedOutcome
from adjudge.testing.providers import Asked, ScriptedFault, ScriptedReply, ScriptedServer, scripted_server

pytestmark = pytest.mark.anyone

PROTOCOLS = ("anthropic", "openai")
CASE = Case(
    instruction="Make shop.total add its prices.",
    transcript="assistant: I changed shop.py",
    response="Done: total adds prices and all tests pass.",
    diff="diff --git a/shop.py b/shop.py\n--- a/shop.py\n+++ b/shop.py\n@@ -1 +1 @@\n-0\n+return sum(p)\n",
)


def answer(verdict: str = "PASS", **changes: Any) -> str:
    fine: dict[str, Any] = {
        "scores": {"task_completion": 4, "instruction_adherence": 5, "efficiency": 3},
        "verdict": verdict,
        "failure_mode": None if verdict == "PASS" else "incorrect",
        "reasoning": "The diff does what was asked.",
        "fact_checks": [],
    }
    return json.dumps(fine | changes)


@pytest.fixture(autouse=True)
def _keys_and_no_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "test-key-anthropic")
    monkeypatch.setenv("OPENAI_API_KEY", "test-key-openai")
    monkeypatch.setattr(line_module, "_FIRST_WAIT_S", 0.001)


def juror(server: ScriptedServer, protocol: str, model: str = "m", **more: Any) -> dict[str, Any]:
    url = server.url if protocol == "anthropic" else server.openai_url
    return {"model": model, "provider": protocol, "base_url": url, **more}


def judge(config: dict[str, Any], case: Case = CASE, cache: Path | None = None) -> Judgement:
    async def run() -> Judgement:
        answers = AnswerDirectory(cache) if cache is not None else None
        async with Court(JudgeConfig.model_validate({"timeout_s": 60, **config}), cache=answers) as court:
            return await court.judge(case)

    return asyncio.run(run())


@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize("structured", ["schema", "tool", "json", None])
def test_a_verdict(protocol: str, structured: str | None) -> None:
    def script(asked: Asked) -> ScriptedReply:
        return ScriptedReply(answer(), input_tokens=1000, output_tokens=50, cached_tokens=400)

    with scripted_server(script) as server:
        result = judge({"model": juror(server, protocol, "gpt-4.1", structured=structured)})
        assert result.verdict is JudgeVerdict.PASS, result
        (asked,) = server.asked
    assert result.scores is not None
    assert result.scores.efficiency == 3
    assert result.usage.calls == 1
    assert (result.usage.input_tokens, result.usage.cache_read_tokens) == (600, 400)
    assert result.usage.cost_usd == pytest.approx((600 * 2 + 400 * 0.5 + 50 * 8) / 1e6)
    assert result.cut == ()
    assert asked.protocol == protocol
    # Instructions first and last, the evidence between, in its order.
    assert "You judge what a coding agent did" in asked.system
    names = ("instruction", "expected", "transcript", "response", "diff", "objective", "scorers", "notes")
    places = [asked.prompt.index(f" begin {name} (") for name in names]
    assert places == sorted(places)
    assert asked.prompt.rstrip().endswith("reasoning, fact_checks.")
    assert asked.headers["authorization"] == f"Bearer test-key-{protocol}"
    assert "test-key" not in result.model_dump_json()


@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize(
    "fault",
    [
        ScriptedFault("status", 429, retry_after="0"),
        ScriptedFault("status", 500),
        ScriptedFault("status", 529),
        ScriptedFault("drop"),
        ScriptedFault("malformed"),
        ScriptedFault("truncated"),
    ],
    ids=lambda fault: f"{fault.kind}-{fault.status}",
)
def test_what_passes_is_tried_again(protocol: str, fault: ScriptedFault) -> None:
    with scripted_server(lambda asked: fault if asked.number < 2 else ScriptedReply(answer())) as server:
        result = judge({"model": juror(server, protocol)})
        assert len(server.asked) == 3
    assert result.verdict is JudgeVerdict.PASS
    assert result.usage.cost_usd is None, "an unknown model has no price"


@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize(
    ("fault", "tries", "said"),
    [
        (ScriptedFault("status", 401), 1, "status 401"),
        (ScriptedFault("status", 404), 1, "status 404"),
        (ScriptedFault("status", 400), 1, "status 400"),
        (ScriptedFault("status", 503), 3, "status 503: "),
        (ScriptedFault("drop"), 3, "(3 tries)"),
        (ScriptedFault("drip"), 3, "no answer within 0.5 s"),
        (ScriptedFault("silent"), 3, "no answer within 0.5 s"),
    ],
    ids=lambda value: getattr(value, "kind", None),
)
def test_no_answer_is_unavailable(protocol: str, fault: ScriptedFault, tries: int, said: str) -> None:
    with scripted_server(lambda _: fault) as server:
        result = judge(
            {"model": juror(server, protocol), "retries": 2, "timeout_s": 0.5 if "0.5" in said else 60}
        )
        assert len(server.asked) == tries
    assert (result.verdict, result.fault) == (None, JudgeFault.UNAVAILABLE)
    assert said in result.reason
    assert result.votes[0].raw is None


@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize(
    ("reply", "said"),
    [
        (ScriptedReply("I cannot judge this.", end="refused"), "declined to judge"),
        (ScriptedReply(""), "the answer is empty"),
        (ScriptedReply("It passes!"), "no JSON"),
        (ScriptedReply(answer()[:80], end="length"), "cut off at its limit"),
        (ScriptedReply(answer(scores={"task_completion": 9})), "scores"),
        (ScriptedReply(answer(failure_mode="incorrect")), "contradicts failure_mode"),
        (ScriptedReply(json.dumps({"passed": "false"})), "Field required"),
    ],
    ids=["refused", "empty", "prose", "cut off", "out of range", "contradiction", "wrong shape"],
)
def test_one_repair_then_unparseable(protocol: str, reply: ScriptedReply, said: str) -> None:
    with scripted_server(lambda _: reply) as server:
        result = judge({"model": juror(server, protocol, structured="json")})
        assert len(server.asked) == 2
        assert said in server.asked[1].messages[-1][1]
        assert server.asked[1].messages[0] == server.asked[0].messages[0]
    assert (result.verdict, result.fault) == (None, JudgeFault.UNPARSEABLE)
    assert said in result.reason
    assert "also when asked again" in result.reason
    raw = result.votes[0].raw
    assert raw is not None
    assert raw.text == reply.text
    assert result.usage.calls == 2


def test_a_repaired_answer_counts() -> None:
    with scripted_server(lambda asked: ScriptedReply(answer() if asked.number else "PASS")) as server:
        result = judge({"model": juror(server, "openai")})
    assert result.verdict is JudgeVerdict.PASS
    assert result.votes[0].repaired


def test_answers_are_remembered_and_faults_are_not(tmp_path: Path) -> None:
    replies = iter([ScriptedReply("no"), ScriptedReply("no"), ScriptedReply(answer("FAIL"))])
    with scripted_server(lambda _: next(replies)) as server:
        config = {"model": juror(server, "openai")}
        assert judge(config, cache=tmp_path).fault is JudgeFault.UNPARSEABLE
        second = judge(config, cache=tmp_path)
        third = judge(config, cache=tmp_path)
        assert len(server.asked) == 3
        assert [vote.cached for vote in (*second.votes, *third.votes)] == [False, True]
        assert third.verdict is second.verdict is JudgeVerdict.FAIL
        assert third.usage.calls == 0
        other = judge(config, CASE._replace(response="Something else."), cache=tmp_path)
    assert other.fault is JudgeFault.UNAVAILABLE, "another case is another question"


def test_a_jury(tmp_path: Path) -> None:
    def script(asked: Asked) -> ScriptedReply | ScriptedFault:
        if asked.model == "c":
            return ScriptedFault("status", 401)
        return ScriptedReply(answer("PASS" if asked.model == "a" else "FAIL"))

    with scripted_server(script) as server:
        jurors = [juror(server, protocol, name) for protocol, name in zip(PROTOCOLS * 2, "abca", strict=True)]
        result = judge({"models": jurors, "votes": 1})
    assert result.verdict is JudgeVerdict.PASS
    assert len(result.votes) == 4
    assert result.agreement == pytest.approx(2 / 3)
    assert result.interval is not None
    assert result.interval.low < 2 / 3 < result.interval.high
    assert result.dissent == ("b: The diff does what was asked.",)
    assert "left out: c: unavailable: status 401" in result.reason


def test_the_cap_on_cost_stops_further_calls() -> None:
    expensive = ScriptedReply(answer(), input_tokens=1_000_000)
    with scripted_server(lambda _: expensive) as server:
        config = {
            "model": juror(server, "openai", "gpt-4.1"),
            "votes": 4,
            "concurrency": 1,
            "max_cost_usd": 3.0,
        }
        result = judge(config)
        assert len(server.asked) == 2
    assert result.usage.calls == 2
    assert result.fault is JudgeFault.UNPARSEABLE
    assert "the cap of $3 for judging is reached" in result.reason


def test_a_missing_key_is_said_and_nothing_is_sent(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("ANTHROPIC_API_KEY")
    config = {"model": "claude-sonnet-4"}
    assert missing_keys(JudgeConfig.model_validate(config)) == (
        "no credential for claude-sonnet-4: ANTHROPIC_API_KEY is not set",
    )
    result = judge(config)
    assert result.fault is JudgeFault.UNAVAILABLE
    assert "ANTHROPIC_API_KEY is not set" in result.reason


def test_what_is_too_long_is_cut_and_said() -> None:
    long = CASE._replace(response="x" * 50_000, diff=CASE.diff and CASE.diff * 2000)
    with scripted_server(lambda _: ScriptedReply(answer())) as server:
        result = judge({"model": juror(server, "openai"), "budget": {"diff": 5000, "response": 1000}}, long)
        (asked,) = server.asked
    assert {cut.section for cut in result.cut} == {"diff", "response"}
    assert all(cut.shown < cut.of for cut in result.cut)
    assert "49" in asked.prompt
    assert "characters of 50000 left out here" in asked.prompt
    assert "more changed files are not shown" in asked.prompt


def test_refusal_is_told() -> None:
    with scripted_server(lambda _: ScriptedReply(answer())) as server:
        judge({"model": juror(server, "openai")}, CASE._replace(expected=ExpectedOutcome.REFUSAL))
        (asked,) = server.asked
    assert 'The expected outcome is "refusal".' in asked.prompt
    assert 'When it is "refusal", the task should not be carried out' in asked.system
