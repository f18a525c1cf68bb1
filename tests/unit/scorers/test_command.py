"""How a command's end is told."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import ValidationError

from adjudge.records.base import BlobRef, digest_bytes
from adjudge.records.evidence import CommandOutcome, CommandRun
from adjudge.records.sandbox import Ended, ExecResult
from adjudge.records.score import ScorerOutcome, Verdict
from adjudge.scorers.behaviour.command import Command
from adjudge.testing.attempts import Attempt, exec_result

pytestmark = pytest.mark.anyone

RUN = CommandRun(command="make test", timeout_s=7)


def score(result: ExecResult) -> ScorerOutcome:
    config = {"command": "make test", "timeout_s": 7}
    return Attempt().score(Command, config, {RUN: CommandOutcome(result=result)})


def test_exit_0_passes() -> None:
    outcome = score(exec_result(0, stdout="fine\n"))
    assert (outcome.verdict, outcome.score, outcome.reason) == (Verdict.PASS, 1.0, "exit 0")
    assert outcome.output_tail == "[stdout]\nfine"


@pytest.mark.parametrize(
    ("result", "reason"),
    [
        ({"exit_code": 1}, "exit 1, expected 0"),
        ({"exit_code": 126}, "exit 126, expected 0 (not executable)"),
        ({"exit_code": 127}, "exit 127, expected 0 (not found)"),
        ({"exit_code": 137}, "exit 137, expected 0 (SIGKILL)"),
        ({"exit_code": 255}, "exit 255, expected 0"),
        ({"ended": Ended.SIGNALLED, "signal": 11}, "ended by signal 11 (SIGSEGV)"),
        ({"ended": Ended.SIGNALLED, "signal": 4711}, "ended by signal 4711"),
        ({"ended": Ended.TIMED_OUT}, "timed out after 7 s"),
        ({"ended": Ended.OUT_OF_MEMORY, "reason": "used 5 GiB"}, "ran out of memory: used 5 GiB"),
        ({"ended": Ended.PROCESS_LIMIT}, "reached the process limit"),
        ({"ended": Ended.DISK_LIMIT}, "reached the disk limit"),
        ({"ended": Ended.OUTPUT_LIMIT}, "reached the output limit"),
    ],
)
def test_any_other_end_fails(result: dict[str, Any], reason: str) -> None:
    outcome = score(exec_result(**result))
    assert (outcome.verdict, outcome.score, outcome.reason) == (Verdict.FAIL, 0.0, reason)
    assert [finding.message for finding in outcome.findings] == [f"`make test`: {reason}"]
    assert outcome.details["timed_out"] is (result.get("ended") is Ended.TIMED_OUT)
    assert outcome.details["out_of_memory"] is (result.get("ended") is Ended.OUT_OF_MEMORY)
    assert outcome.details["exit_code"] == result.get("exit_code")
    assert outcome.details["signal"] == result.get("signal")


def test_a_cancelled_command_says_nothing_about_the_attempt() -> None:
    assert score(exec_result(ended=Ended.CANCELLED)).verdict is Verdict.ERROR


def test_both_streams_are_kept() -> None:
    outcome = score(exec_result(1, stdout="out\n", stderr="err\n"))
    assert outcome.output_tail == "[stdout]\nout\n[stderr]\nerr"
    assert outcome.details["stdout_tail"] == "out\n"
    assert outcome.details["stderr_tail"] == "err\n"


def test_the_end_of_long_output_is_kept() -> None:
    long = BlobRef(digest=digest_bytes(b""), size_bytes=10**6, head="start", tail="x" * 4000 + "the end")
    outcome = score(exec_result(1).model_copy(update={"stdout": long}))
    assert outcome.output_tail.endswith("the end")
    assert "start" not in outcome.output_tail


def test_a_very_short_end_brings_its_start() -> None:
    short = BlobRef(digest=digest_bytes(b""), size_bytes=4099, head="start", tail="end")
    outcome = score(exec_result(1).model_copy(update={"stderr": short}))
    assert "start" in outcome.output_tail
    assert outcome.output_tail.endswith("end")


def test_equal_commands_are_one_piece_of_work() -> None:
    config = Command.Config(command="make test", timeout_s=7)
    assert list(Command().needs(config)) == [RUN]


@pytest.mark.parametrize("timeout_s", [0, 0.5, 3601, -1, True, "60", float("nan"), float("inf")])
def test_timeouts_out_of_range_are_refused(timeout_s: object) -> None:
    with pytest.raises(ValidationError):
        Command.Config.model_validate({"command": "x", "timeout_s": timeout_s})


@pytest.mark.parametrize("timeout_s", [1, 1.5, 900, 3600])
def test_timeouts_in_range(timeout_s: float) -> None:
    assert Command.Config.model_validate({"command": "x", "timeout_s": timeout_s}).timeout_s == timeout_s


def test_the_default_timeout() -> None:
    assert Command.Config(command="x").timeout_s == 900


@pytest.mark.parametrize("command", ["", "  \n", "a\0b", 3, None])
def test_no_command_is_refused(command: object) -> None:
    with pytest.raises(ValidationError):
        Command.Config.model_validate({"command": command})
