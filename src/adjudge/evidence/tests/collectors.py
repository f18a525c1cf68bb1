"""The collectors of `TestCollection` and `TestRun`: trusted files come from the baseline."""

from __future__ import annotations

import asyncio
import os
import secrets
from collections.abc import Sequence
from fnmatch import fnmatchcase
from pathlib import Path
from typing import ClassVar

from adjudge.contracts import SandboxBackend, Subject
from adjudge.errors import UsageError
from adjudge.evidence.tests.session import Order, Suites
from adjudge.evidence.tests.trusted import TrustedRun, collect_tests, run_trusted
from adjudge.records.evidence import TestCollection, TestProof, TestRun
from adjudge.records.paths import path_from_bytes
from adjudge.records.sandbox import SandboxSpec
from adjudge.records.testreport import CollectedTests, TrustedTestRun

__all__ = ["TestCollectionCollector", "TestRunCollector", "read_test_files"]

_TEST_FILES = ("test*.py", "*_test.py", "conftest.py")
_OTHERS_FILES = (".git", ".venv", "venv", "node_modules", "__pycache__", ".tox", "site-packages")
_MAX_FILE = 8 * 1024 * 1024


class TestCollectionCollector:
    """Finds the tests of the baseline, where nothing of the candidate's can run.

    Args:
        backend: Where sandboxes come from.
        base: What every sandbox of the task has in common.
    """

    __test__: ClassVar[bool] = False
    kind: ClassVar[str] = "test_collection"
    cost: ClassVar[int] = 2

    def __init__(self, backend: SandboxBackend, base: SandboxSpec) -> None:
        self._suites = Suites(backend, base)

    async def collect(self, request: TestCollection, subject: Subject) -> CollectedTests:
        """Collect."""
        if subject.baseline is None:
            raise _no_baseline()
        order = Order(request.command, plugins=None, collect_only=True, timeout_s=request.timeout_s)
        return await collect_tests(self._suites, order, subject.baseline)


class TestRunCollector:
    """Runs the baseline's test files over the final workspace.

    Args:
        backend: Where sandboxes come from.
        base: What every sandbox of the task has in common.
        seed: Fixes which test is falsified where, and how; drawn when not given. It is in the answer.
    """

    __test__: ClassVar[bool] = False
    kind: ClassVar[str] = "test_run"
    cost: ClassVar[int] = 2

    def __init__(self, backend: SandboxBackend, base: SandboxSpec, *, seed: str | None = None) -> None:
        self._suites = Suites(backend, base)
        self._seed = seed or secrets.token_hex(16)

    async def collect(self, request: TestRun, subject: Subject) -> TrustedTestRun:
        """Run."""
        if subject.baseline is None or not subject.baseline.flat:
            raise _no_baseline()
        files = await asyncio.to_thread(read_test_files, subject.baseline.base, request.files)
        order = Order(
            request.command,
            plugins=request.plugins,
            timeout_s=request.timeout_s,
            test_timeout_s=request.test_timeout_s,
        )
        run = TrustedRun(
            order=order,
            tree=subject.workspace,
            files=files,
            expected=request.expected,
            seed=self._seed,
            pairs=1 if request.proof is TestProof.TWIN else 0,
        )
        return await run_trusted(self._suites, run)


def _no_baseline() -> UsageError:
    return UsageError(
        "a trusted test run takes its test files from the baseline, and there is none as a directory",
        hint="name one with --baseline",
    )


def read_test_files(root: Path, wanted: Sequence[str] = ()) -> dict[str, bytes]:
    """The test files below a trusted directory: those named, or all that look like one; no links."""
    if not wanted:
        return {path: _content(root, path) for path in sorted(_find(root))}
    found: dict[str, bytes] = {}
    for path in wanted:
        if not (root / path).is_file() or (root / path).is_symlink():
            raise UsageError(f"{path} is not a file of the baseline")
        found[path] = _content(root, path)
    return found


def _find(root: Path) -> list[str]:
    found = []
    for folder, folders, names in os.walk(os.fsencode(root)):
        folders[:] = [name for name in folders if os.fsdecode(name) not in _OTHERS_FILES]
        for name in names:
            full = os.path.join(folder, name)
            if not os.path.islink(full) and any(fnmatchcase(os.fsdecode(name), p) for p in _TEST_FILES):
                found.append(path_from_bytes(os.path.relpath(full, os.fsencode(root))))
    return found


def _content(root: Path, path: str) -> bytes:
    with (root / path).open("rb") as file:
        data = file.read(_MAX_FILE + 1)
    if len(data) > _MAX_FILE:
        raise UsageError(f"test file {path} is larger than {_MAX_FILE >> 20} MiB")
    return data
