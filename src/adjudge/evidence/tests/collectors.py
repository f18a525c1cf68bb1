"""The collectors of `TestCollection` and `TestRun`: trusted files come from the baseline."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace
from typing import ClassVar

from adjudge.contracts import SandboxBackend, Subject
from adjudge.errors import UsageError
from adjudge.evidence.gradedtree import Graded, graded_tree, laid_over
from adjudge.evidence.hiddenfiles import baseline_directory
from adjudge.evidence.tests.gosuite import find_go_suite
from adjudge.evidence.tests.javascriptsuite import find_javascript_suite
from adjudge.evidence.tests.nodesuite import find_node_suite
from adjudge.evidence.tests.order import Order
from adjudge.evidence.tests.session import Suites
from adjudge.evidence.tests.suite import Suite, find_suite
from adjudge.evidence.tests.trusted import TrustedRun, collect_tests, run_trusted
from adjudge.records.evidence import TestCollection, TestProof, TestRun
from adjudge.records.sandbox import SandboxReport, SandboxSpec, WorkspaceTree
from adjudge.records.testreport import CollectedTests, TestOutcome, TrustedTestRun

__all__ = ["TestCollectionCollector", "TestRunCollector"]

_FINDS: Mapping[str, Callable[[TestRun, Graded, WorkspaceTree, Suites], Awaitable[Suite]]] = {
    "pytest": find_suite,
    "unittest": find_suite,
    "node": find_node_suite,
    "jest": find_javascript_suite,
    "vitest": find_javascript_suite,
    "go": find_go_suite,
}
"""How it is found out for each runner which files may be believed and which ids are expected."""


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

    @property
    def reports(self) -> list[SandboxReport]:
        """How each sandbox came about, for provenance."""
        return self._suites.reports

    async def collect(self, request: TestCollection, subject: Subject) -> CollectedTests:
        """Collect."""
        tree = await asyncio.to_thread(baseline_directory, subject)
        order = Order(request.command, plugins=None, collect_only=True, timeout_s=request.timeout_s)
        return await collect_tests(self._suites, order, tree)


class TestRunCollector:
    """Runs the baseline's test files, and hidden ones, over the graded tree.

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

    @property
    def reports(self) -> list[SandboxReport]:
        """How each sandbox came about, for provenance."""
        return self._suites.reports

    async def collect(self, request: TestRun, subject: Subject) -> TrustedTestRun:
        """Run."""
        baseline = await asyncio.to_thread(baseline_directory, subject)
        if not baseline.flat:
            raise UsageError("a trusted test run needs a baseline that is a plain directory")
        async with graded_tree(request.tree, subject) as graded:
            find = _FINDS[request.command.runner]
            suite = await find(request, graded, baseline, self._suites)
            # Test files are falsified, so each session has a version of its own on top of this.
            tree, _ = await laid_over(graded.tree, graded.place / "hidden", graded.hidden)
            run = TrustedRun(
                order=Order(
                    suite.command,
                    plugins=suite.plugins,
                    watch=request.watch,
                    timeout_s=request.timeout_s,
                    test_timeout_s=request.test_timeout_s,
                    mounts=suite.mounts,
                ),
                tree=tree,
                files=suite.files,
                expected=suite.expected,
                seed=self._seed,
                collected=suite.order,
                pairs=1 if request.proof is TestProof.TWIN else 0,
                unstable=subject.unstable.get(request.digest, frozenset()),
            )
            answer = await run_trusted(self._suites, run)
            retry = set(request.retry)
            failed = [
                test.id
                for test in answer.tests
                if test.id in retry and test.outcome is not TestOutcome.PASSED
            ]
            if failed:
                once_more = replace(run, expected=tuple(failed), seed=f"{self._seed}-again")
                again = (await run_trusted(self._suites, once_more)).tests
                answer = answer.model_copy(update={"again": again})
        return answer.model_copy(update={"collected": suite.collected, "plugins": suite.plugins})
