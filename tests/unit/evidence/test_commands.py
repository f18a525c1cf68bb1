"""The command collector over a sandbox that does as it is told."""

from __future__ import annotations

import asyncio
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from adjudge.engine.collectors import sandbox_spec
from adjudge.errors import SandboxError
from adjudge.evidence import commands
from adjudge.evidence.commands import CommandCollector
from adjudge.records.base import BlobRef, digest_bytes
from adjudge.records.evidence import CommandRun
from adjudge.records.sandbox import (
    Ended,
    ExecRequest,
    ExecResult,
    Network,
    SandboxReport,
    SandboxSpec,
    Usage,
    WorkspaceTree,
)
from adjudge.records.task import ExposedPath, SandboxSettings

EMPTY = BlobRef(digest=digest_bytes(b""), size_bytes=0)


class Sandbox:
    """Answers with one result, or never."""

    def __init__(self, ended: Ended | None) -> None:
        self.ended = ended
        self.requests: list[ExecRequest] = []
        self.discarded = False
        self.report = SandboxReport(
            backend="fake", isolated=True, copy_on_write="none", network=Network.NONE, limits_held_by={}
        )

    async def __aenter__(self) -> Sandbox:
        return self

    async def __aexit__(self, *exc: object) -> None:
        self.discarded = True

    async def exec(self, request: ExecRequest) -> ExecResult:
        self.requests.append(request)
        if self.ended is None:
            await asyncio.sleep(60)
        code = 3 if self.ended is Ended.EXITED else None
        return ExecResult(
            ended=self.ended or Ended.EXITED,
            exit_code=code,
            stdout=EMPTY,
            stderr=EMPTY,
            usage=Usage(wall_s=0),
        )


class Backend:
    name = "fake"

    def __init__(self, sandbox: Sandbox) -> None:
        self.sandbox = sandbox
        self.specs: list[SandboxSpec] = []

    async def start(self, spec: SandboxSpec, *, blobs: object = None) -> Sandbox:
        self.specs.append(spec)
        return self.sandbox


def run(
    sandbox: Sandbox, settings: SandboxSettings | None = None, timeout_s: float = 7
) -> tuple[Any, Backend]:
    backend = Backend(sandbox)
    collector = CommandCollector(backend, sandbox_spec(settings or SandboxSettings()))  # type: ignore[arg-type]
    subject: Any = SimpleNamespace(workspace=WorkspaceTree(layers=(Path("/w"),)))
    outcome = asyncio.run(collector.collect(CommandRun(command="make", timeout_s=timeout_s), subject))
    assert collector.reports == [sandbox.report]
    return outcome, backend


@pytest.mark.parametrize("ended", [ended for ended in Ended if ended is not Ended.CANCELLED])
def test_however_a_command_ends_is_an_answer(ended: Ended) -> None:
    sandbox = Sandbox(ended)
    outcome, _ = run(sandbox)
    assert outcome.result.ended is ended
    assert sandbox.discarded


def test_a_sandbox_ended_from_outside_is_our_failure() -> None:
    sandbox = Sandbox(Ended.CANCELLED)
    with pytest.raises(SandboxError, match="ended from outside"):
        run(sandbox)
    assert sandbox.discarded


def test_a_sandbox_that_hangs_is_our_failure(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(commands, "_GRACE_S", 0.05)
    sandbox = Sandbox(None)
    with pytest.raises(SandboxError, match="did not come back"):
        run(sandbox, timeout_s=0.05)
    assert sandbox.discarded


def test_the_tasks_settings_reach_the_sandbox() -> None:
    settings = SandboxSettings(
        env={"WORD": "x"}, memory_bytes=5_000_000, processes=7,
        expose=(ExposedPath.model_validate({"source": "/opt/tools", "target": "/opt/tools"}),),
    )  # fmt: skip
    sandbox = Sandbox(Ended.EXITED)
    _, backend = run(sandbox, settings)
    (spec,) = backend.specs
    assert (spec.limits.memory_bytes, spec.limits.processes, spec.limits.wall_s) == (5_000_000, 7, 7)
    assert spec.env == {"WORD": "x"}
    assert (str(spec.mounts[0].source), spec.mounts[0].writable) == ("/opt/tools", False)
    assert spec.network is Network.NONE
    assert spec.workspace == WorkspaceTree(layers=(Path("/w"),))
    assert sandbox.requests[0].shell == "make"
