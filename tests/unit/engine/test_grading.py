"""The engine over fakes: each request once, cheap first, and every failure in its own row."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, ClassVar

import pytest

from adjudge import catalog
from adjudge.contracts import Evidence, SandboxBackend, Subject
from adjudge.engine import collectors
from adjudge.engine.collectors import Means
from adjudge.engine.grading import Grading
from adjudge.errors import InfraError, PatchUnreadable, SandboxUnavailable, SubjectError
from adjudge.records.base import BlobRef, Record, digest_bytes
from adjudge.records.change import BaselineOrigin, BaselineRef, ChangeSet
from adjudge.records.evidence import AnyRequest, CommandRun, ParsedChange, PathState, PathStatus
from adjudge.records.sandbox import WorkspaceTree
from adjudge.records.score import Recipe, ScorerConfig, ScorerOutcome, ScorerResult, ScorerSpec, Verdict
from adjudge.records.task import SandboxSettings, Scenario, Task

LOG: list[str] = []
BEHAVIOUR: dict[str, list[Record | Exception]] = {}
"""What collecting a path or command gives, one item per try; the last one repeats."""
PEAK = {"now": 0, "most": 0}


@pytest.fixture(autouse=True)
def fakes(monkeypatch: pytest.MonkeyPatch) -> None:
    LOG.clear()
    BEHAVIOUR.clear()
    PEAK.update(now=0, most=0)
    here = __name__
    monkeypatch.setattr(
        catalog, "BUILTINS", {"scorers": {name: f"{here}:{name}" for name in ("Looks", "Raises", "Greedy")}}
    )
    table = {
        "path_state": f"{here}:Paths",
        "command_run": f"{here}:Commands",
        "parsed_change": f"{here}:Paths",
    }
    monkeypatch.setattr(collectors, "COLLECTORS", table)


class _Fake:
    cost: ClassVar[int]

    def __init__(self, *args: object, **more: object) -> None:
        pass

    async def answer(self, name: str) -> Record:
        LOG.append(name)
        results = BEHAVIOUR.get(name, [PathStatus(exists=True)])
        result = results.pop(0) if len(results) > 1 else results[0]
        if isinstance(result, Exception):
            raise result
        return result


class Paths(_Fake):
    kind = "path_state"
    cost = 1

    async def collect(self, request: PathState, subject: Subject) -> Record:
        return await self.answer(request.path)


class Commands(_Fake):
    kind = "command_run"
    cost = 2

    async def collect(self, request: CommandRun, subject: Subject) -> Record:
        PEAK["now"] += 1
        PEAK["most"] = max(PEAK["most"], PEAK["now"])
        try:
            await asyncio.sleep(3600 if request.command.startswith("endless") else 0.01)
            return await self.answer(request.command)
        except asyncio.CancelledError:
            LOG.append(f"cleaned up {request.command}")
            raise
        finally:
            PEAK["now"] -= 1


class Looks:
    """Passes when everything it asked for exists."""

    version = "3"

    class Config(ScorerConfig):
        """What to ask for."""

        paths: tuple[str, ...] = ()
        commands: tuple[str, ...] = ()

    def needs(self, config: Config) -> Sequence[AnyRequest]:
        return [
            *(PathState(path=path) for path in config.paths),
            *(CommandRun(command=command, timeout_s=5) for command in config.commands),
        ]

    def score(self, config: Config, evidence: Evidence) -> ScorerOutcome:
        found = [evidence[request] for request in self.needs(config)]
        return ScorerOutcome.passed(f"{len(found)} seen")


class Raises(Looks):
    def score(self, config: Looks.Config, evidence: Evidence) -> ScorerOutcome:
        raise ZeroDivisionError("by zero")


class Greedy(Looks):
    """Reads what it did not declare."""

    def score(self, config: Looks.Config, evidence: Evidence) -> ScorerOutcome:
        evidence[ParsedChange()]
        return ScorerOutcome.passed("saw everything")


def spec(name: str, type_: str = "Looks", **config: Any) -> ScorerSpec:
    return ScorerSpec(name=name, type=type_, required=True, counted=True, config=config)


def no_backend() -> SandboxBackend:
    return None  # type: ignore[return-value]


def subject(tmp_path: Path) -> Subject:
    recipe = Recipe(scorers=())
    return Subject(
        task=Task(name="t", digest=digest_bytes(b""), scenario=Scenario(name="t", recipe=recipe)),
        change_set=ChangeSet(
            baseline=BaselineRef(origin=BaselineOrigin.DIRECTORY, description="d"),
            changes=(),
            diff=BlobRef(digest=digest_bytes(b""), size_bytes=0),
            digest=digest_bytes(b""),
        ),
        baseline=None,
        workspace=WorkspaceTree(layers=(tmp_path,)),
        contents=None,  # type: ignore[arg-type]
    )


def grade(
    specs: Sequence[ScorerSpec],
    given: Subject | SubjectError | InfraError,
    *,
    jobs: int = 2,
    backend: Callable[[], SandboxBackend] = no_backend,
) -> dict[str, ScorerResult]:
    means = Means(backend=backend, settings=SandboxSettings())
    with Grading(Recipe(scorers=tuple(specs)), means, jobs=jobs) as grading:
        grading.begin(given)
        asyncio.run(grading.wait())
        return {result.name: result for result in grading.conclude()}


def test_equal_requests_are_collected_once_and_cheap_ones_first(tmp_path: Path) -> None:
    rows = grade(
        [
            spec("a", commands=["slow"], paths=["x"]),
            spec("b", paths=["x", "y"]),
            spec("c", commands=["slow"]),
        ],
        subject(tmp_path),
    )
    assert LOG == ["x", "y", "slow"]
    assert {row.verdict for row in rows.values()} == {Verdict.PASS}
    assert (rows["a"].reason, rows["a"].version) == ("2 seen", "3")
    assert rows["c"].duration_s >= 0.01


def test_code_runs_in_parallel_but_never_more_than_allowed(tmp_path: Path) -> None:
    grade([spec(f"s{n}", commands=[f"c{n}"]) for n in range(7)], subject(tmp_path), jobs=3)
    assert PEAK["most"] == 3
    assert sorted(LOG) == [f"c{n}" for n in range(7)]


def test_nothing_waits_when_no_code_runs(tmp_path: Path) -> None:
    means = Means(backend=no_backend, settings=SandboxSettings())
    with Grading(Recipe(scorers=(spec("a", paths=["x"]),)), means) as grading:
        grading.begin(subject(tmp_path))
        assert not grading.runs_code
        assert grading.conclude()[0].verdict is Verdict.PASS


def test_our_own_failure_is_tried_again_once_and_said(tmp_path: Path) -> None:
    BEHAVIOUR["x"] = [InfraError("disk full"), PathStatus(exists=True)]
    means = Means(backend=no_backend, settings=SandboxSettings())
    with Grading(Recipe(scorers=(spec("a", paths=["x"]),)), means) as grading:
        grading.begin(subject(tmp_path))
        assert grading.conclude()[0].verdict is Verdict.PASS
        assert grading.warnings == ("path_state: succeeded only when tried again: disk full",)
    assert LOG == ["x", "x"]


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (InfraError("disk full", hint="free some"), "disk full (hint: free some)"),
        (OSError(28, "No space left"), "collecting command_run failed: OSError: [Errno 28] No space left"),
        (RuntimeError("bug"), "collecting command_run failed: RuntimeError: bug"),
    ],
)
def test_failing_twice_is_an_error_of_the_scorers_that_need_it_alone(
    tmp_path: Path, error: Exception, reason: str
) -> None:
    BEHAVIOUR["bad"] = [error]
    rows = grade(
        [spec("a", commands=["bad"]), spec("b", commands=["good"]), spec("c", commands=["bad", "good"])],
        subject(tmp_path),
    )
    assert {name: row.verdict.value for name, row in rows.items()} == {
        "a": "ERROR",
        "b": "PASS",
        "c": "ERROR",
    }
    assert rows["a"].reason == rows["c"].reason == reason
    assert LOG.count("bad") == 2


def test_a_fault_of_the_attempt_fails_the_scorers_that_need_it_and_is_not_retried(tmp_path: Path) -> None:
    BEHAVIOUR["x"] = [SubjectError("the file is a fifo")]
    BEHAVIOUR["y"] = [InfraError("ours")]
    rows = grade([spec("a", paths=["y", "x"]), spec("b", paths=["z"])], subject(tmp_path))
    assert (rows["a"].verdict, rows["a"].score, rows["a"].reason) == (Verdict.FAIL, 0.0, "the file is a fifo")
    assert rows["b"].verdict is Verdict.PASS
    assert LOG.count("x") == 1


def test_a_scorer_that_raises_is_named_and_touches_no_other(tmp_path: Path) -> None:
    rows = grade([spec("a", "Raises"), spec("b"), spec("c", "Raises")], subject(tmp_path))
    assert rows["b"].verdict is Verdict.PASS
    assert rows["a"].verdict is rows["c"].verdict is Verdict.ERROR
    assert rows["a"].reason == (
        "scorer type 'Raises' version 3 of distribution 'adjudge' raised in score(): "
        "ZeroDivisionError: by zero"
    )


def test_a_scorer_sees_nothing_it_did_not_declare(tmp_path: Path) -> None:
    rows = grade([spec("a", "Greedy", paths=["x"])], subject(tmp_path))
    assert rows["a"].verdict is Verdict.ERROR
    assert "was not declared in needs()" in rows["a"].reason


def test_a_configuration_that_does_not_fit_is_an_error_of_its_row(tmp_path: Path) -> None:
    rows = grade([spec("a", nonsense=1), spec("b")], subject(tmp_path))
    assert (rows["a"].verdict, rows["b"].verdict) == (Verdict.ERROR, Verdict.PASS)
    assert "cannot be made ready" in rows["a"].reason


def test_a_subject_that_cannot_be_had_fails_who_would_have_looked_at_it(tmp_path: Path) -> None:
    rows = grade([spec("a", paths=["x"]), spec("b")], PatchUnreadable("does not apply"))
    assert (rows["a"].verdict, rows["a"].reason) == (Verdict.FAIL, "does not apply")
    assert rows["b"].verdict is Verdict.PASS
    rows = grade([spec("a", commands=["x"])], InfraError("gone"))
    assert rows["a"].verdict is Verdict.ERROR


def test_no_sandbox_on_this_machine_is_an_error_with_its_hint(tmp_path: Path) -> None:
    def unavailable() -> SandboxBackend:
        raise SandboxUnavailable("no user namespaces", hint="use --sandbox process")

    rows = grade([spec("a", commands=["c"]), spec("b", paths=["p"])], subject(tmp_path), backend=unavailable)
    assert rows["a"].reason == "no user namespaces (hint: use --sandbox process)"
    assert (rows["a"].verdict, rows["b"].verdict) == (Verdict.ERROR, Verdict.PASS)


def test_cancelling_cleans_up_every_collector(tmp_path: Path) -> None:
    means = Means(backend=no_backend, settings=SandboxSettings())
    recipe = Recipe(scorers=tuple(spec(f"s{n}", commands=[f"endless {n}"]) for n in range(3)))

    async def run() -> None:
        with Grading(recipe, means, jobs=2) as grading:
            grading.begin(subject(tmp_path))
            task = asyncio.create_task(grading.wait())
            while PEAK["now"] < 2:  # noqa: ASYNC110 - counted by the fake, which has no event to wait for
                await asyncio.sleep(0.001)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task

    asyncio.run(run())
    assert sorted(LOG) == ["cleaned up endless 0", "cleaned up endless 1"]
