"""Sessions of Go tests, step by step, in a sandbox that only plays one."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from adjudge.contracts import OutputObserver
from adjudge.evidence.tests.channel import Channel
from adjudge.evidence.tests.order import Order
from adjudge.evidence.tests.outcomes import ended
from adjudge.evidence.tests.runners.golang import drive_go
from adjudge.records.evidence import TestCommand
from adjudge.records.sandbox import Ended, ExecRequest, ExecResult, Limits
from adjudge.testing.attempts import exec_result

pytestmark = pytest.mark.anyone

_BUILT = """\
@version\tgo1.19.8
@package\texample.com/shop\t/workspace\ta_test.go\t
@package\texample.com/shop/tax\t/workspace/tax\t\tb_test.go
@package\tfmt\t/usr/lib/go/src/fmt\tfmt_test.go\t
@listed\t0
@function\t./a_test.go:func TestA(
@function\t./a_test.go:func TestB(
@function\t./a_test.go:func TestC(
@function\t./tax/b_test.go:func TestTax(
@function\t./left_out_test.go:func TestLeftOut(
@built\t0
"""

HANGS = object()


class _Sandbox:
    """Says what a script has for each run of a program: its output, its exit code, or that it hangs."""

    def __init__(self, built: str, script: Callable[[str, str | None], tuple[str, object]]) -> None:
        self._built = built
        self._script = script
        self._ended = asyncio.Event()
        self.runs: list[tuple[str, str | None]] = []

    async def exec(self, request: ExecRequest, *, on_output: OutputObserver | None = None) -> ExecResult:
        assert on_output is not None
        if "adjudge" in request.argv:
            on_output("stdout", self._built.encode())
            return exec_result(0)
        chosen = [arg.partition("=")[2] for arg in request.argv if arg.startswith("-test.run=")]
        run = (str(request.cwd), chosen[0] if chosen else None)
        self.runs.append(run)
        said, code = self._script(*run)
        on_output("stdout", said.encode())
        if code is HANGS:
            await self._ended.wait()
            self._ended.clear()
            return exec_result(0).model_copy(update={"ended": Ended.CANCELLED, "exit_code": None})
        assert isinstance(code, int)
        return exec_result(code)

    async def end_processes(self) -> None:
        self._ended.set()


def _drive(
    script: Callable[[str, str | None], tuple[str, object]], *, built: str = _BUILT, **order: Any
) -> tuple[_Sandbox, Channel, ExecResult]:
    async def go() -> tuple[_Sandbox, Channel, ExecResult]:
        sandbox, channel = _Sandbox(built, script), Channel()
        command = TestCommand(runner="go", interpreter=("go",), args=("./...",), path=())
        result = await drive_go(
            sandbox,  # type: ignore[arg-type]
            Order(command, plugins=(), **order),
            Limits(),
            channel,
        )
        return sandbox, channel, result

    return asyncio.run(go())


def _ran(*names: str, fail: str = "", end: bool = True) -> str:
    text = ""
    for name in names:
        how = "FAIL" if name == fail else "PASS"
        text += f"=== RUN   {name}\n--- {how}: {name} (0.00s)\n"
    return text + (("FAIL\n" if fail else "PASS\n") if end else "")


def _outcomes(channel: Channel) -> dict[str, str]:
    return {id_: str(ended(phases).outcome) for id_, phases in channel.phases.items()}


def test_every_package_runs_in_its_folder() -> None:
    def script(folder: str, _: str | None) -> tuple[str, object]:
        return (_ran("TestTax"), 0) if "tax" in folder else (_ran("TestA", "TestB", "TestC", fail="TestB"), 1)

    sandbox, channel, result = _drive(script)
    assert sandbox.runs == [("/workspace", None), ("/workspace/tax", None)]
    assert _outcomes(channel) == {
        "a_test.go::TestA": "passed",
        "a_test.go::TestB": "failed",
        "a_test.go::TestC": "passed",
        "tax/b_test.go::TestTax": "passed",
    }
    assert (channel.ends, result.exit_code, channel.problems) == ([1], 1, ())


def test_a_test_that_takes_its_program_down_costs_only_itself() -> None:
    def script(folder: str, chosen: str | None) -> tuple[str, object]:
        if "tax" in folder:
            return _ran("TestTax"), 0
        if chosen is None:
            return _ran("TestA", end=False) + "=== RUN   TestB\n", 0
        return _ran("TestC"), 0

    sandbox, channel, result = _drive(script)
    assert sandbox.runs[:2] == [("/workspace", None), ("/workspace", "^(TestC)$")]
    outcomes = _outcomes(channel)
    assert outcomes["a_test.go::TestB"] == "failed"
    assert outcomes["a_test.go::TestC"] == "passed"
    assert result.ended is Ended.EXITED


def test_a_test_that_hangs_is_ended_and_the_others_go_on() -> None:
    def script(folder: str, chosen: str | None) -> tuple[str, object]:
        if "tax" in folder:
            return _ran("TestTax"), 0
        if chosen is None:
            return "=== RUN   TestA\n=== RUN   TestB\n", HANGS
        if "TestA" in chosen:
            return "=== RUN   TestA\n=== RUN   TestA/part\n", HANGS
        return _ran("TestB" if "TestB" in chosen else "TestC"), 0

    sandbox, channel, result = _drive(script, test_timeout_s=0.05)
    # Two were running, so each is tried alone before anybody is blamed.
    assert [chosen for folder, chosen in sandbox.runs if "tax" not in folder] == [
        None,
        "^(TestA)$",
        "^(TestB)$",
        "^(TestC)$",
    ]
    assert _outcomes(channel) == {
        "a_test.go::TestA": "failed",
        "a_test.go::TestA/part": "failed",
        "a_test.go::TestB": "passed",
        "a_test.go::TestC": "passed",
        "tax/b_test.go::TestTax": "passed",
    }
    assert "longer than 0.05 s" in ended(channel.phases["a_test.go::TestA"]).message
    assert (result.ended, result.exit_code) == (Ended.EXITED, 1)


def test_who_leaves_before_any_test_is_not_started_again() -> None:
    sandbox, channel, _ = _drive(lambda *_: ("", 0))
    assert len(sandbox.runs) == 2
    assert channel.phases == {}


def test_exit_codes_have_to_agree() -> None:
    _, channel, _ = _drive(lambda *_: (_ran("TestA", fail="TestA"), 0))
    assert any("exit code 0, though 1 tests failed" in problem for problem in channel.problems)


def test_packages_that_are_not_built_have_no_results() -> None:
    built = _BUILT.replace("@built", "FAIL\texample.com/shop/tax [build failed]\n@built")
    sandbox, channel, result = _drive(lambda *_: (_ran("TestA", "TestB", "TestC"), 0), built=built)
    assert sandbox.runs == [("/workspace", None)]
    assert [id_ for id_, _, _ in channel.uncollected] == ["tax"]
    assert result.exit_code == 1


def test_code_that_embeds_tests_does_not_run() -> None:
    built = _BUILT.replace("@built", "@embedded\t/workspace/tax/b_test.go\n@built")
    sandbox, channel, _ = _drive(lambda *_: ("", 0), built=built)
    assert sandbox.runs == []
    assert any("embedded" in problem for problem in channel.problems)


def test_without_go_there_is_no_session() -> None:
    _, channel, _ = _drive(lambda *_: ("", 0), built="@version\tgo: not found\n".replace("go:", "sh: go:"))
    assert channel.unavailable


def test_collecting_runs_nothing() -> None:
    sandbox, channel, _ = _drive(lambda *_: ("", 0), collect_only=True)
    assert sandbox.runs == []
    assert channel.collected == [
        "a_test.go::TestA",
        "a_test.go::TestB",
        "a_test.go::TestC",
        "tax/b_test.go::TestTax",
    ]
