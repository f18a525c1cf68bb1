"""`command`: a shell command exits as expected."""

from __future__ import annotations

import signal
from collections.abc import Sequence
from typing import ClassVar

from pydantic import AliasChoices, Field, JsonValue

from adjudge.contracts import Evidence
from adjudge.records.base import BlobRef
from adjudge.records.evidence import AnyRequest, CommandRun
from adjudge.records.sandbox import Ended, ExecResult
from adjudge.records.score import Finding, ScorerOutcome, Verdict
from adjudge.scorers.behaviour.coderun import (
    CodeConfig,
    ShellCommand,
    TimeLimit,
    clean_needs,
    left_out,
    tree_of,
)
from adjudge.scorers.wording import first_findings

__all__ = ["Command"]


class Command:
    """A shell command, run in the final workspace, exits as expected: with 0, unless another code is named.

    Measures:
        Behaviour. `/bin/sh` runs the command in a sandbox over a private copy of the final workspace, or
        with `isolation: clean` over the baseline with the attempt's changes to unprotected paths, without
        network. Any other exit code, a signal, a time-out, or running out of memory, processes,
        disk or output is the attempt's failure, with the reason said.

    Evidence:
        One run of the command: its exit code or signal, how it ended, and the ends of stdout and stderr.
        The details have `ended`, `exit_code`, `signal`, `timed_out`, `out_of_memory`, `stdout_tail`,
        `stderr_tail`.

    How it is fooled:
        The command runs what the attempt left: its tests, its configuration, its `conftest.py` or
        `Makefile`. An exit code of 0 proves that some process of the tree said so: the attempt's code can end
        its own process with 0, and, being the same user, can also take over the one that started it, even
        where that one is yours. Guard the files that the command relies on with `isolation: clean`, with
        `inject`, or with `tests_unmodified` and `baseline_unmodified`; where a result has to be worth
        believing, use `pytest`, `tests` or `swebench`, which do not rest on exit codes alone.

    Example:
        ```yaml
        scorers:
          - name: unit tests
            type: command
            command: python -m pytest -q
            timeout_s: 300
        ```
    """

    name: ClassVar[str] = "command"
    version: ClassVar[str] = "2"
    required_by_default: ClassVar[bool] = True
    advisory_only: ClassVar[bool] = False

    class Config(CodeConfig):
        """Fields of `command`."""

        takes_live = True
        command: ShellCommand = Field(validation_alias=AliasChoices("command", "cmd"))
        """What `/bin/sh -c` runs, in the root of the workspace. `cmd` is another name of it."""
        expect_exit: int = Field(default=0, ge=0, le=255, strict=True)
        """The exit code that passes."""
        timeout_s: TimeLimit = 900.0
        """Seconds until the command and all it started are ended, from 1 to 3600."""

    def needs(self, config: Config) -> Sequence[AnyRequest]:
        """One run of the command, and what its tree leaves out."""
        request = _request(config)
        return (request, *clean_needs(request.tree))

    def score(self, config: Config, evidence: Evidence) -> ScorerOutcome:
        """PASS when the command ended by itself with the exit code that is expected."""
        request = _request(config)
        result = evidence[request].result
        informed = left_out(request.tree, evidence)
        reason = _how_it_ended(result, config)
        output = _tails(result)
        details = _details(result)
        if result.ended is Ended.EXITED and result.exit_code == config.expect_exit:
            return ScorerOutcome.passed(
                reason, findings=first_findings(informed), output_tail=output, details=details
            )
        if result.ended is Ended.CANCELLED:
            return ScorerOutcome(verdict=Verdict.ERROR, reason=reason, output_tail=output, details=details)
        failure = Finding(rule=_RULES[result.ended], message=f"`{config.command.strip()}`: {reason}")
        return ScorerOutcome.failed(
            reason,
            findings=first_findings((failure, *informed)),
            output_tail=output,
            details=details,
        )


def _request(config: Command.Config) -> CommandRun:
    return CommandRun(
        command=config.command, timeout_s=config.timeout_s, tree=tree_of(config, config.command)
    )


_SHORT = 1024
"""A blob's tail is what did not fit its head, so it can be a few characters long."""

_RULES = {
    Ended.EXITED: "command-exit-code",
    Ended.SIGNALLED: "command-signalled",
    Ended.TIMED_OUT: "command-timed-out",
    Ended.OUT_OF_MEMORY: "command-out-of-memory",
    Ended.PROCESS_LIMIT: "command-process-limit",
    Ended.DISK_LIMIT: "command-disk-limit",
    Ended.OUTPUT_LIMIT: "command-output-limit",
}

_LIMITS = {
    Ended.OUT_OF_MEMORY: "ran out of memory",
    Ended.PROCESS_LIMIT: "reached the process limit",
    Ended.DISK_LIMIT: "reached the disk limit",
    Ended.OUTPUT_LIMIT: "reached the output limit",
    Ended.CANCELLED: "was cancelled before it ended",
}


def _how_it_ended(result: ExecResult, config: Command.Config) -> str:
    if result.ended is Ended.EXITED:
        if result.exit_code == config.expect_exit:
            return f"exit {result.exit_code}"
        return f"exit {result.exit_code}, expected {config.expect_exit}{_exit_meaning(result.exit_code)}"
    if result.ended is Ended.SIGNALLED:
        return f"ended by signal {result.signal}{_signal_name(result.signal)}"
    what = (
        f"timed out after {config.timeout_s:g} s"
        if result.ended is Ended.TIMED_OUT
        else _LIMITS[result.ended]
    )
    return f"{what}: {result.reason}" if result.reason else what


def _exit_meaning(code: int | None) -> str:
    """What a shell means by an exit code, where it means something."""
    if code in (126, 127):
        return " (not found)" if code == 127 else " (not executable)"
    return _signal_name(code - 128) if code is not None and code > 128 else ""


def _signal_name(number: int | None) -> str:
    try:
        return f" ({signal.Signals(number or 0).name})"
    except ValueError:
        return ""


def _details(result: ExecResult) -> dict[str, JsonValue]:
    return {
        "ended": result.ended.value,
        "exit_code": result.exit_code,
        "signal": result.signal,
        "timed_out": result.ended is Ended.TIMED_OUT,
        "out_of_memory": result.ended is Ended.OUT_OF_MEMORY,
        "stdout_tail": _end_of(result.stdout),
        "stderr_tail": _end_of(result.stderr),
    }


def _end_of(blob: BlobRef) -> str:
    """The end of a stream; with its start, where the end alone is too short to be of use."""
    return blob.tail if len(blob.tail) >= _SHORT else blob.text


def _tails(result: ExecResult) -> str:
    """Both streams' ends as one text. A stream that said nothing is left out."""
    stdout, stderr = _end_of(result.stdout), _end_of(result.stderr)
    parts = [f"[{name}]\n{text}" for name, text in (("stdout", stdout), ("stderr", stderr)) if text]
    return "\n".join(part.rstrip("\n") for part in parts)
