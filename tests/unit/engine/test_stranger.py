"""Scorers of other distributions: real ones, on the path, in their own processes."""

from __future__ import annotations

import os
import sys
import textwrap
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from adjudge import catalog
from adjudge.engine.collect import Piece
from adjudge.engine.plan import make_plan
from adjudge.engine.score import score_planned
from adjudge.engine.stranger import StrangerScorer
from adjudge.records.evidence import PathStatus
from adjudge.records.score import Recipe, ScorerResult, ScorerSpec, Verdict

Install = Callable[[str], None]

PREAMBLE = """
import os, sys, time, re
from adjudge.records.evidence import PathState, ParsedChange
from adjudge.records.score import Finding, ScorerConfig, ScorerOutcome

class Scorer:
    name = "stranger"
    version = "7"
    required_by_default = True
    advisory_only = False
    class Config(ScorerConfig):
        path: str = "caf\\u00e9"
    def needs(self, config):
        return [PathState(path=config.path)]
    def score(self, config, evidence):
        return ScorerOutcome.passed(f"exists: {evidence[PathState(path=config.path)].exists}")
"""


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Install]:
    """Install a distribution whose scorer is this source."""

    def write(source: str) -> None:
        (tmp_path / "strange_plugin.py").write_text(PREAMBLE + textwrap.dedent(source), encoding="utf-8")
        info = tmp_path / "strange_plugin-1.0.dist-info"
        info.mkdir(exist_ok=True)
        (info / "METADATA").write_text("Metadata-Version: 2.1\nName: strange-plugin\nVersion: 1.0\n")
        (info / "entry_points.txt").write_text("[adjudge.scorers]\nstranger = strange_plugin:Scorer\n")

    monkeypatch.syspath_prepend(str(tmp_path))
    catalog._strangers.cache_clear()
    yield write
    catalog._strangers.cache_clear()
    sys.modules.pop("strange_plugin", None)


def grade(**config: str) -> ScorerResult:
    spec = ScorerSpec(name="s", type="stranger", required=True, counted=True, config=config)
    plan = make_plan(Recipe(scorers=(spec,)))
    try:
        gathered = {digest: Piece(PathStatus(exists=True), None, 0.0) for digest in plan.requests}
        return score_planned(plan.scorers[0], plan.requests, gathered)
    finally:
        plan.close()


def test_it_asks_and_scores(install: Install) -> None:
    install("")
    row = grade()
    assert (row.verdict, row.reason, row.version) == (Verdict.PASS, "exists: True", "7")


def test_what_it_prints_is_not_taken_for_an_answer(install: Install) -> None:
    install("""
    print('{"version": "forged"}')
    original = Scorer.score
    def score(self, config, evidence):
        print('{"outcome": {}}')
        os.write(1, b'{"outcome": {}}\\n')
        return original(self, config, evidence)
    Scorer.score = score
    """)
    assert grade().reason == "exists: True"


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ("raise ValueError('oh')", "ValueError: oh"),
        ("sys.exit(0)", "SystemExit"),
        ("os._exit(3)", "ended without an answer (exit code 3)"),
        ("os.kill(os.getpid(), 11)", "ended without an answer (signal 11)"),
        ("return 1", "returned int, expected ScorerOutcome"),
        ("return evidence[ParsedChange()]", "was not declared"),
        ("return ScorerOutcome.passed('x' * 20_000_000)", "larger than"),
    ],
)
def test_whatever_it_does_is_one_row_with_its_name(install: Install, body: str, said: str) -> None:
    install(f"""
    def score(self, config, evidence):
        {body}
    Scorer.score = score
    """)
    row = grade()
    assert row.verdict is Verdict.ERROR
    assert said in row.reason
    assert "scorer type 'stranger' version 7 of distribution 'strange-plugin'" in row.reason


@pytest.mark.parametrize(
    "body",
    ["time.sleep(60)", "re.match('(a+)+$', 'a' * 60 + 'b')", "os.system('sleep 60')"],
    ids=["sleeps", "holds the interpreter lock", "waits for a child"],
)
def test_a_hang_is_ended_in_time_with_all_it_started(
    install: Install, monkeypatch: pytest.MonkeyPatch, body: str
) -> None:
    monkeypatch.setattr(StrangerScorer.__init__, "__kwdefaults__", {"answer_within_s": 3.0})
    install(f"""
    def score(self, config, evidence):
        {body}
    Scorer.score = score
    """)
    began = time.monotonic()
    row = grade()
    assert time.monotonic() - began < 20
    assert (row.verdict, "no answer within 3 s" in row.reason) == (Verdict.ERROR, True)


def test_its_mess_stays_in_its_process(install: Install) -> None:
    install("""
    def score(self, config, evidence):
        os.chdir("/")
        os.environ["STRANGE"] = "1"
        ScorerOutcome.passed = None
        return ScorerOutcome.failed("messy")
    Scorer.score = score
    """)
    before = Path.cwd()
    assert grade().reason == "messy"
    assert Path.cwd() == before
    assert "STRANGE" not in os.environ
    assert grade().reason == "messy"


def test_one_that_cannot_be_loaded_names_its_distribution(install: Install) -> None:
    install("raise ImportError('needs numpy')")
    row = grade()
    assert row.verdict is Verdict.ERROR
    assert "'strange-plugin'" in row.reason
    assert "needs numpy" in row.reason


def test_no_process_is_left(install: Install) -> None:
    install("")
    scorer = StrangerScorer(ScorerSpec(name="s", type="stranger", required=True, counted=True))
    child = scorer._child.pid
    scorer.close()
    assert not Path(f"/proc/{child}").exists()
