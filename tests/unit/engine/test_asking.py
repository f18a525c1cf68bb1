"""Collectors that ask for other evidence get it once, and keep nobody from running."""

from __future__ import annotations

import asyncio
from typing import Any, ClassVar

import pytest

from adjudge.contracts import Collector, Subject
from adjudge.engine.concurrent import collect_concurrently
from adjudge.errors import AdjudgeError, InfraError
from adjudge.records.differential import Comparison, TreeComparison
from adjudge.records.evidence import AnyRequest, CommandOutcome, CommandRun, Differential
from adjudge.testing.attempts import Attempt, exec_result

pytestmark = pytest.mark.anyone

RUN = CommandRun(command="true", timeout_s=1.0)


class Commands:
    kind: ClassVar[str] = "command_run"
    cost: ClassVar[int] = 2

    def __init__(self, *, fails: bool = False) -> None:
        self.ran: list[str] = []
        self._fails = fails

    async def collect(self, request: Any, subject: Subject) -> CommandOutcome:
        assert subject.ask is None, "only those that build on others may ask"
        self.ran.append(request.command)
        await asyncio.sleep(0)
        if self._fails:
            raise InfraError("no sandbox today")
        return CommandOutcome(result=exec_result())


class Asks:
    kind: ClassVar[str] = "differential"
    cost: ClassVar[int] = 2
    asks: ClassVar[bool] = True

    async def collect(self, request: Any, subject: Subject) -> TreeComparison:
        assert subject.ask is not None
        first, second = await asyncio.gather(subject.ask(RUN), subject.ask(RUN))
        assert first is second
        return TreeComparison(outcome=Comparison.GREEN_CLEAN)


def collect(commands: Commands, *wanted: AnyRequest, **more: Any) -> dict[str, Any]:
    answers: dict[str, Collector] = {"command_run": commands, "differential": Asks()}

    def collector_of(kind: str) -> Collector | AdjudgeError:
        return answers[kind]

    pairs = [(request.digest, request) for request in wanted]
    return asyncio.run(collect_concurrently(pairs, collector_of, Attempt().subject(), jobs=1, **more))


@pytest.mark.parametrize("wanted", [(RUN, Differential()), (Differential(), RUN)])
def test_what_a_scorer_asked_for_is_not_collected_again(wanted: tuple[AnyRequest, ...]) -> None:
    commands = Commands()
    gathered = collect(commands, *wanted)
    assert commands.ran == ["true"]
    assert {type(piece.answer) for piece in gathered.values()} == {CommandOutcome, TreeComparison}


def test_several_that_ask_with_one_slot() -> None:
    commands = Commands()
    gathered = collect(commands, Differential(), Differential(command="other"))
    assert commands.ran == ["true"]
    assert len(gathered) == 2


def test_what_is_known_is_not_collected() -> None:
    commands = Commands()
    collect(commands, Differential(), known={RUN.digest: CommandOutcome(result=exec_result())})
    assert commands.ran == []


def test_a_failure_reaches_whoever_asked() -> None:
    commands = Commands(fails=True)
    (piece,) = collect(commands, Differential()).values()
    assert piece.answer is None
    assert "no sandbox today" in str(piece.error)
