"""The collector of `VerifierRun`: the task's program in a sandbox made for it alone.

The verifier sees its own tests at /tests, read-only, empty folders at /logs, and a copy of the final
workspace where the task expects it. Nothing that an attempt left steers it: HOME, /tmp and the environment
are fresh, PATH holds the system's folders and the `candidate` launcher, and Python looks for modules in
/tests and not in the folder it is started in. What it wrote is read when every process of it is gone.
"""

from __future__ import annotations

import asyncio
import os
import shutil
import tempfile
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path, PurePosixPath
from typing import ClassVar

from adjudge.contracts import BlobStore, Sandbox, SandboxBackend, Subject
from adjudge.errors import SandboxError, SandboxUnavailable, StoreError, SubjectError
from adjudge.evidence.gradedtree import laid_over
from adjudge.evidence.hiddenfiles import HiddenFiles, read_scenario_file
from adjudge.evidence.outputs import scenario_schema
from adjudge.evidence.verifier.candidate import BIN, CandidateDesk
from adjudge.evidence.verifier.environment import STEADY, resolve_environment
from adjudge.evidence.verifier.links import risky_links
from adjudge.formats.outputs import MAX_OUTPUT_BYTES, check_output, missing_output
from adjudge.formats.reward import (
    DETAILS_FILES,
    MAX_DETAILS_BYTES,
    MAX_REWARD_BYTES,
    REWARD_TXT,
    TAGS_FILE,
    Artifact,
    parse_notes,
    parse_reward,
)
from adjudge.formats.verifierscripts import mentions_candidate
from adjudge.records.change import EntryType
from adjudge.records.evidence import VerifierOutcome, VerifierRun
from adjudge.records.outputs import CheckedOutput
from adjudge.records.paths import path_bytes, render_path
from adjudge.records.sandbox import (
    Ended,
    ExecRequest,
    ExecResult,
    Mount,
    Network,
    SandboxReport,
    SandboxSpec,
)
from adjudge.records.tree import DIRECTORY, TreeEntry
from adjudge.records.verifier import RewardProblem

__all__ = ["LOGS", "TESTS", "VerifierCollector"]

TESTS = PurePosixPath("/tests")
LOGS = (PurePosixPath("/logs/verifier"), PurePosixPath("/logs/agent"), PurePosixPath("/logs/artifacts"))
"""Fresh and empty. What an agent of ours wrote there is kept elsewhere."""
_WORKSPACE = PurePosixPath("/workspace")
_GRACE_S = 60.0
"""What sandboxes may take beyond the verifier's time to start, end a tree and clean up."""
_MAX_TESTS_BYTES = 512 * 1024 * 1024
_MAX_SCANNED_BYTES = 1024 * 1024
_START = f'PATH={BIN}:$PATH; export PATH; exec "$@"'


class VerifierCollector:
    """Runs verifiers, each in a sandbox of its own.

    Args:
        backend: Where sandboxes come from.
        base: What every sandbox of the task has in common: mounts, environment, limits.
        blobs: Where output is kept whole, when it is to be kept.
        candidate_fails: Let every command fail that a verifier runs with `candidate`, to see whether it
            notices.
    """

    kind: ClassVar[str] = "verifier_run"
    cost: ClassVar[int] = 2

    def __init__(
        self,
        backend: SandboxBackend,
        base: SandboxSpec,
        *,
        blobs: BlobStore | None = None,
        candidate_fails: bool = False,
    ) -> None:
        self._backend = backend
        self._base = base
        self._blobs = blobs
        self._candidate_fails = candidate_fails
        self.reports: list[SandboxReport] = []
        """How each sandbox came about, for provenance."""
        self.secrets: list[str] = []
        """Values of our environment that the task asked for; they are in no document."""

    async def collect(self, request: VerifierRun, subject: Subject) -> VerifierOutcome:
        """Run the verifier to its end, one way or another, and read what it left.

        Raises:
            SandboxUnavailable: This version has no sandbox that can run it.
            UsageError: Its environment asks for a variable that is not set.
            StoreError: A file of the task is not what the task was made with.
            SandboxError: A sandbox could not do its part.
        """
        if request.unsupported:
            raise SandboxUnavailable(f"this verifier cannot be run here: {request.unsupported}")
        env, secrets = resolve_environment(request.env, os.environ)
        self.secrets += secrets
        try:
            async with asyncio.timeout(request.timeout_s + _GRACE_S), _scratch() as place:
                return await self._run(request, subject, env, place)
        except TimeoutError as error:
            raise SandboxError(
                f"the {self._backend.name} sandbox did not come back within {_GRACE_S:g} s of the verifier's "
                f"time limit of {request.timeout_s:g} s"
            ) from error

    async def _run(
        self, request: VerifierRun, subject: Subject, env: dict[str, str], place: Path
    ) -> VerifierOutcome:
        workdir = PurePosixPath(request.workdir)
        output = await asyncio.to_thread(_check_output, request, subject)
        separate = await asyncio.to_thread(_write_tests, request, subject, place / "tests")
        links = risky_links(subject.change_set, subject.contents, (_WORKSPACE, workdir))
        tree, _ = await laid_over(subject.workspace, place / "links", HiddenFiles(), without=links)
        common = self._base.model_copy(
            update={
                "workspace": subject.workspace,
                "also_at": tuple(
                    dict.fromkeys(place for place in (*self._base.also_at, workdir) if place != _WORKSPACE)
                ),
                "limits": self._base.limits.model_copy(update={"wall_s": request.timeout_s}),
            }
        )
        desk = CandidateDesk(
            self._backend,
            common,
            workdir=workdir,
            place=place / "bin",
            deadline=time.monotonic() + request.timeout_s,
            fails=self._candidate_fails,
        )
        async with desk:
            spec = common.model_copy(
                update={
                    "workspace": tree,
                    "mounts": (
                        *common.mounts,
                        Mount(source=place / "tests", target=TESTS),
                        desk.mount,
                    ),
                    "folders": LOGS,
                    "env": {**common.env, "PYTHONPATH": str(TESTS), **STEADY, **env},
                    "network": Network.EGRESS if request.network else Network.NONE,
                }
            )
            async with await self._backend.start(spec, blobs=self._blobs) as sandbox:
                self.reports.append(sandbox.report)
                result = await sandbox.exec(ExecRequest(argv=_command(request), cwd=workdir))
                await sandbox.end_processes()
                if result.ended is Ended.CANCELLED:
                    raise SandboxError("the sandbox was ended from outside while the verifier ran")
                outcome = await _read(request, sandbox, result)
        self.reports += desk.reports
        if desk.failure is not None:
            raise desk.failure
        return outcome.model_copy(
            update={
                "output": output,
                "links": links,
                "candidate_runs": desk.calls,
                "separate": separate or desk.calls > 0,
            }
        )


@asynccontextmanager
async def _scratch() -> AsyncIterator[Path]:
    place = Path(tempfile.mkdtemp(prefix="adjudge-verifier-"))
    try:
        yield place
    finally:
        await asyncio.to_thread(shutil.rmtree, place)


def _command(request: VerifierRun) -> tuple[str, ...]:
    script = str(TESTS / request.script)
    program = ("python3", script) if request.script.endswith(".py") else (script,)
    return ("/bin/sh", "-c", _START, "sh", *program)


def _test_entries(request: VerifierRun, subject: Subject) -> list[tuple[TreeEntry, str]]:
    prefix = f"{request.tests}/"
    found = [
        (entry, entry.path.removeprefix(prefix))
        for entry in subject.task.files
        if entry.path.startswith(prefix) and entry.mode != DIRECTORY
    ]
    if not any(path == request.script for _, path in found):
        raise StoreError(f"{render_path(prefix + request.script)} is not kept with the task")
    return found


def _write_tests(request: VerifierRun, subject: Subject, into: Path) -> bool:
    """Write the task's own tests to a fresh folder; whether they know of `candidate`."""
    os.mkdir(into, 0o755)
    os.chmod(into, 0o755)
    size, separate = 0, False
    for entry, path in _test_entries(request, subject):
        data = read_scenario_file(entry, subject.scenario_files)
        size += len(data)
        if size > _MAX_TESTS_BYTES:
            raise StoreError(f"the tests have more than {_MAX_TESTS_BYTES >> 20} MiB")
        target = os.path.join(os.fsencode(into), path_bytes(path))
        os.makedirs(os.path.dirname(target), 0o755, exist_ok=True)
        with open(target, "wb") as file:
            file.write(data)
        # As a container's tests are made executable: they may come from a machine without modes.
        os.chmod(target, 0o755)
        separate = separate or mentions_candidate(data[:_MAX_SCANNED_BYTES])
    return separate


def _check_output(request: VerifierRun, subject: Subject) -> CheckedOutput | None:
    """What became of the file that the attempt was to write."""
    if request.output is None:
        return None
    schema = scenario_schema(request.output_schema, subject)
    shown = render_path(request.output)
    entry_there = subject.contents.look(request.output)
    if entry_there is None:
        return missing_output(f"{shown} is missing")
    data = subject.contents.read(request.output, max_bytes=MAX_OUTPUT_BYTES + 1)
    if data is None and request.output_format is None and entry_there.type is EntryType.DIRECTORY:
        return CheckedOutput(output_parseable=True, schema_valid=True)
    if data is None:
        return missing_output(f"{shown} is a {entry_there.type.value}, not a file")
    if request.output_format is None:
        return CheckedOutput(output_parseable=True, schema_valid=True)
    checked = check_output(data, request.output_format, schema)
    errors = tuple(f"{shown}: {error}" for error in checked.errors)
    return checked.model_copy(update={"value": None, "errors": errors})


async def _read(request: VerifierRun, sandbox: Sandbox, result: ExecResult) -> VerifierOutcome:
    """Read what the verifier left, now that nobody can write to it."""
    reward = PurePosixPath(request.reward_path)
    folder = reward.parent
    details = (
        [PurePosixPath(request.details_path)]
        if request.details_path is not None
        else [folder / name for name in DETAILS_FILES]
    )
    as_json = await _artifact(sandbox, reward, MAX_REWARD_BYTES)
    as_text = await _artifact(sandbox, folder / REWARD_TXT, MAX_REWARD_BYTES)
    tags = await _artifact(sandbox, folder / TAGS_FILE, MAX_DETAILS_BYTES)
    for path in details:
        found = await _artifact(sandbox, path, MAX_DETAILS_BYTES)
        if found.there:
            break
    return VerifierOutcome(
        result=result, reading=parse_reward(as_json, as_text), notes=parse_notes(found, tags)
    )


async def _artifact(sandbox: Sandbox, path: PurePosixPath, max_bytes: int) -> Artifact:
    try:
        data = await sandbox.read_file(path, max_bytes=max_bytes + 1)
    except FileNotFoundError:
        return Artifact(problem=RewardProblem.MISSING, reason="missing")
    except SubjectError as error:
        return Artifact(problem=RewardProblem.NOT_A_FILE, reason=error.message)
    if len(data) > max_bytes:
        return Artifact(problem=RewardProblem.TOO_LARGE, reason=f"more than {max_bytes:,} bytes")
    return Artifact(data)
