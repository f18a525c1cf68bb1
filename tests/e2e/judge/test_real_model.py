"""A real language model judges, through the OpenAI-compatible provider, held to the schema.

It is a very small one: it shows that everything between the case and the record works, not that it judges
well. Its verdict is whatever it is; the record has to be complete and valid.
"""

from __future__ import annotations

import asyncio
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from adjudge.judge.case import Case
from adjudge.judge.court import Court
from adjudge.records.judgement import JudgeFault, Judgement
from adjudge.records.judging import JudgeConfig

_MODEL = Path(sys.prefix) / "model"

pytestmark = [
    pytest.mark.anyone,
    pytest.mark.timeout(1800),
    pytest.mark.skipif(not (_MODEL / "xllamacpp").is_dir(), reason="no local model: run make setup"),
]


@pytest.fixture
def address(tmp_path: Path) -> Iterator[str]:
    command = [sys.executable, str(Path(__file__).with_name("model_server.py")), str(_MODEL)]
    with (tmp_path / "server.log").open("w") as log:
        server = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log, text=True
        )
        assert server.stdout is not None
        try:
            # The model's own log may go to stdout too.
            line = next((line for line in server.stdout if line.startswith("http")), "")
            assert line, (tmp_path / "server.log").read_text()
            yield line.strip()
        finally:
            server.kill()
            server.communicate()


def test_a_small_model_judges(address: str) -> None:
    case = Case(
        instruction="Make total() add the prices.",
        response="Done. total() now returns the sum of the prices.",
        diff="diff --git a/shop.py b/shop.py\n@@ -2 +2 @@\n-    return 0\n+    return sum(prices)\n",
    )
    config = JudgeConfig.model_validate(
        {
            "model": {"model": "smollm2", "base_url": f"{address}/v1"},
            "max_output_tokens": 384,
            "timeout_s": 800,
            "retries": 0,
        }
    )

    async def judge() -> Judgement:
        async with Court(config) as court:
            return await court.judge(case)

    judgement = asyncio.run(judge())
    (vote,) = judgement.votes
    assert vote.raw is not None, judgement
    assert vote.raw.text.strip(), "a real answer came back"
    assert vote.usage.calls in (1, 2)
    assert vote.usage.input_tokens
    assert vote.usage.output_tokens
    assert judgement.usage.cost_usd is None, "a local model has no price"
    if judgement.verdict is None:
        # It talked until its limit; that is a fault with its reason, never a grade.
        assert judgement.fault is JudgeFault.UNPARSEABLE, judgement
        assert judgement.reason
    else:
        assert judgement.scores is not None
        assert judgement.reasoning
    assert Judgement.model_validate_json(judgement.model_dump_json()) == judgement
