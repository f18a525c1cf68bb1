"""What setup asks of the sandbox, and what happens when the sandbox fails."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Self

import pytest

from adjudge.errors import SandboxError, SandboxUnavailable, UsageError
from adjudge.records.base import BlobRef, digest_bytes
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
from adjudge.records.score import Recipe
from adjudge.records.task import ExposedPath, SandboxSettings, Scenario, Setup
from adjudge.workflows.setup import run_setup


def blob(text: str) -> BlobRef:
    return BlobRef(digest=digest_bytes(text.encode()), size_bytes=len(text), head=text)


class FakeBackend:
    """Starts sandboxes that end every command as told, over a given tree; fails to start as told."""

    name = "fake"

    def __init__(self, tree: Path, *, failures: list[Exception] | None = None, **result: Any) -> None:
        self.specs: list[SandboxSpec] = []
        self.requests: list[ExecRequest] = []
        self.discarded = 0
        self._tree = tree
        self._failures = failures or []
        empty = blob("")
        self._result = ExecResult.model_validate(
            {
                "ended": Ended.EXITED,
                "exit_code": 0,
                "stdout": empty,
                "stderr": empty,
                "usage": Usage(wall_s=0),
            }
            | result
        )

    async def start(self, spec: SandboxSpec, *, blobs: object = None) -> Self:
        self.specs.append(spec)
        if self._failures:
            raise self._failures.pop(0)
        return self

    async def exec(self, request: ExecRequest, *, on_output: object = None) -> ExecResult:
        self.requests.append(request)
        return self._result

    async def end_processes(self) -> None:
        """There are none."""

    def tree(self) -> WorkspaceTree:
        return WorkspaceTree(layers=(self._tree,))

    @property
    def report(self) -> SandboxReport:
        return SandboxReport(
            backend="fake", isolated=False, copy_on_write="none", network=Network.NONE, limits_held_by={}
        )

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *exc: object) -> None:
        self.discarded += 1


def scenario(**setup: Any) -> Scenario:
    return Scenario(
        name="x",
        recipe=Recipe(scorers=()),
        setup=Setup.model_validate({"command": "make deps", **setup}),
        sandbox=SandboxSettings(
            expose=(ExposedPath.model_validate({"source": "/opt/x", "target": "/opt/y"}),),
            env={"A": "1"},
            memory_bytes=1 << 30,
            processes=7,
        ),
    )


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    (tmp_path / "tree").mkdir()
    (tmp_path / "tree" / "made").write_text("x")
    return tmp_path / "tree"


def run(backend: FakeBackend, tmp_path: Path, **setup: Any) -> Any:
    return run_setup(scenario(**setup), tmp_path / "source", backend, tmp_path / "state")  # type: ignore[arg-type]


@pytest.mark.parametrize(("written", "asked"), [(True, Network.EGRESS), (False, Network.NONE)])
def test_the_sandbox_gets_what_the_scenario_asks_for(
    tree: Path, tmp_path: Path, written: bool, asked: Network
) -> None:
    backend = FakeBackend(tree)
    baseline, report = run(backend, tmp_path, network=written, timeout_s=12)
    (spec,) = backend.specs
    assert spec.network is asked
    assert spec.workspace == WorkspaceTree(layers=(tmp_path / "source",))
    assert spec.limits.wall_s == 12
    assert (spec.limits.memory_bytes, spec.limits.processes) == (1 << 30, 7)
    assert spec.env == {"A": "1"}
    assert [(str(mount.source), str(mount.target), mount.writable) for mount in spec.mounts] == [
        ("/opt/x", "/opt/y", False)
    ]
    assert [request.shell for request in backend.requests] == ["make deps"]
    assert [entry.path for entry in baseline.entries] == ["made"]
    assert report.backend == "fake"
    assert backend.discarded == 1


@pytest.mark.parametrize(
    ("result", "said"),
    [
        ({"exit_code": 2}, "setup failed: exit 2"),
        ({"ended": Ended.SIGNALLED, "exit_code": None, "signal": 11}, "setup failed: ended by signal 11"),
        ({"ended": Ended.TIMED_OUT, "exit_code": None}, "setup failed: timed out after 900 s"),
        (
            {"ended": Ended.OUT_OF_MEMORY, "exit_code": None, "reason": "used 5 GiB"},
            "setup failed: out of memory (used 5 GiB)",
        ),
        ({"exit_code": 1, "stdout": blob("out\n"), "stderr": blob("err\n")}, "exit 1\n  | out\n  | err"),
        ({"exit_code": 1, "stdout": blob("x" * 9000)}, "exit 1\n  | " + "x" * 2000),
    ],
)
def test_a_failing_command_is_the_authors_error(
    tree: Path, tmp_path: Path, result: dict[str, Any], said: str
) -> None:
    backend = FakeBackend(tree, **result)
    with pytest.raises(UsageError) as caught:
        run(backend, tmp_path)
    assert caught.value.message.endswith(said)
    assert backend.discarded == 1
    assert not (tmp_path / "state").exists()


def test_a_sandbox_that_fails_once_is_tried_again(tree: Path, tmp_path: Path) -> None:
    backend = FakeBackend(tree, failures=[SandboxError("no luck")])
    run(backend, tmp_path)
    assert len(backend.specs) == 2


def test_a_sandbox_that_fails_twice_is_an_error(tree: Path, tmp_path: Path) -> None:
    backend = FakeBackend(tree, failures=[SandboxError("no luck"), SandboxError("none again")])
    with pytest.raises(SandboxError, match="none again"):
        run(backend, tmp_path)


def test_a_sandbox_that_cannot_be_had_is_not_asked_twice(tree: Path, tmp_path: Path) -> None:
    backend = FakeBackend(tree, failures=[SandboxUnavailable("not here")])
    with pytest.raises(SandboxUnavailable):
        run(backend, tmp_path)
    assert len(backend.specs) == 1
