"""What of an earlier evaluation still holds."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from adjudge.records.base import digest_json
from adjudge.records.evaluation import Evaluation
from adjudge.records.score import Recipe, ScorerResult, ScorerSpec, Verdict
from adjudge.records.stability import StabilityMeasurement, StabilityRecord, SuiteStability, UnstableTest
from adjudge.records.task import Scenario, Task
from adjudge.records.tree import FILE, TreeEntry
from adjudge.testing.results import evaluation, scorer_result
from adjudge.workflows import carrying
from adjudge.workflows.carrying import Carried, ScorerFacts, carry, same_files

pytestmark = pytest.mark.anyone

NOW = {"python3": "3.11", "system": "x"}
FACTS = {"unit": ScorerFacts("1", runs_code=True), "paths": ScorerFacts("1", runs_code=False)}


@pytest.fixture(autouse=True)
def environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(carrying, "_environment", lambda: NOW)


def spec(name: str, **config: Any) -> ScorerSpec:
    return ScorerSpec(name=name, type=name, required=True, counted=True, config=config)


def row(name: str, verdict: Verdict = Verdict.PASS, **more: Any) -> ScorerResult:
    config = more.pop("config", {})
    made = scorer_result(verdict, name=name, type=name, config_digest=digest_json(config))
    return made.model_copy(update=more)


def task(*specs: ScorerSpec, files: Mapping[str, str] | None = None, **scenario: Any) -> Task:
    made = Scenario(name="t", recipe=Recipe(scorers=specs), **scenario)
    entries = tuple(
        TreeEntry(path=path, mode=FILE, digest=digest_json(content))
        for path, content in (files or {}).items()
    )
    return Task(name="t", digest=digest_json(repr((specs, entries))), scenario=made, files=entries)


def graded(*rows: ScorerResult, environment: Mapping[str, str] = NOW) -> Evaluation:
    made = evaluation(rows)
    return made.model_copy(
        update={"provenance": made.provenance.model_copy(update={"environment": environment})}
    )


def carried(before: Evaluation, old: Task, new: Task | None = None, **more: Any) -> Carried:
    more.setdefault("stability", None)
    facts = more.pop("facts", FACTS)
    return carry(before, old, new or old, facts, **more)


BOTH = task(spec("unit"), spec("paths"))


def test_everything_holds_while_nothing_changed() -> None:
    found = carried(graded(row("unit"), row("paths")), BOTH)
    assert set(found.rows) == {"unit", "paths"}
    assert found.evidence
    assert found.environment == ()


def test_force_and_only() -> None:
    before = graded(row("unit"), row("paths"))
    assert carried(before, BOTH, force=True) == Carried({}, evidence=False, environment=())
    assert set(carried(before, BOTH, only=("unit",)).rows) == {"paths"}


def test_another_version_other_fields_and_errors_are_computed() -> None:
    newer = {**FACTS, "unit": ScorerFacts("2", runs_code=True)}
    before = graded(row("unit"), row("paths"))
    assert set(carried(before, BOTH, facts=newer).rows) == {"paths"}
    assert set(carried(before, BOTH, task(spec("unit"), spec("paths", limit=1))).rows) == {"unit"}
    broken = graded(row("unit", Verdict.ERROR), row("paths"))
    assert set(carried(broken, BOTH).rows) == {"paths"}


def test_flags_and_names_are_those_of_the_recipe_now() -> None:
    renamed = ScorerSpec(name="other", type="unit", required=False, counted=False, weight=0.5, config={})
    found = carried(
        graded(row("unit")), BOTH, task(renamed), facts={"other": ScorerFacts("1", runs_code=True)}
    )
    assert (found.rows["other"].name, found.rows["other"].required, found.rows["other"].weight) == (
        "other", False, 0.5,
    )  # fmt: skip


def test_another_environment_holds_for_what_runs_no_code() -> None:
    before = graded(row("unit"), row("paths"), environment={**NOW, "python3": "3.10"})
    found = carried(before, BOTH)
    assert set(found.rows) == {"paths"}
    assert not found.evidence
    assert found.environment == ("python3",)


def test_a_changed_file_matters_to_those_who_mention_it() -> None:
    old = task(spec("unit", inject=["hidden"]), spec("paths"), files={"hidden/a": "1", "fix.patch": "1"})
    before = graded(row("unit", config={"inject": ["hidden"]}), row("paths"))
    same = task(spec("unit", inject=["hidden"]), spec("paths"), files={"hidden/a": "1", "fix.patch": "2"})
    other = task(spec("unit", inject=["hidden"]), spec("paths"), files={"hidden/a": "2", "fix.patch": "1"})
    assert set(carried(before, old, same).rows) == {"unit", "paths"}
    assert set(carried(before, old, other).rows) == {"paths"}
    assert same_files({"src": "./hidden/"}, old, same)
    assert not same_files([{"src": "hidden/a"}], old, other)


def test_live_results_and_models_are_only_ever_carried() -> None:
    live = task(spec("unit", isolation="live"), spec("model_judge"))
    before = graded(row("unit", config={"isolation": "live"}), row("model_judge"))
    facts = {"unit": ScorerFacts("2", runs_code=True), "model_judge": ScorerFacts("9", runs_code=True)}
    assert set(carried(before, live, facts=facts, force=True).rows) == {"unit", "model_judge"}


def test_models_are_asked_only_when_that_is_asked_for() -> None:
    judged = task(spec("model_judge"), spec("paths"))
    facts = {**FACTS, "model_judge": ScorerFacts("1", runs_code=True)}
    said = graded(row("model_judge"), row("paths"))
    assert carried(said, judged, facts=facts).rows["model_judge"].verdict is Verdict.PASS
    assert set(carried(said, judged, facts=facts, ask_models=True).rows) == {"paths"}
    new = carried(graded(row("paths")), judged, facts=facts).rows["model_judge"]
    assert (new.verdict, new.score) == (Verdict.NA, None)
    assert "model_judge" not in carried(graded(row("paths")), judged, facts=facts, ask_models=True).rows


def test_unstable_tests_found_later_are_taken_into_account() -> None:
    before = graded(row("unit"), row("paths"))
    suite = SuiteStability(scorer="unit", tests=1, unstable=(UnstableTest(id="a", outcomes={"passed": 1}),))

    def record(measured_at: str) -> StabilityRecord:
        measurement = StabilityMeasurement(
            measured_at=measured_at, baseline_digest=digest_json(1), repeats=2, suites=(suite,)
        )
        return StabilityRecord(task_digest=BOTH.digest, measurements=(measurement,))

    assert set(carried(before, BOTH, stability=record("2100-01-01T00:00:00+00:00")).rows) == {"paths"}
    assert set(carried(before, BOTH, stability=record("1999-01-01T00:00:00+00:00")).rows) == {"unit", "paths"}
