"""The collectors over a real subject: baseline and workspace as directories, the real sandbox."""

from __future__ import annotations

import asyncio
from pathlib import Path
from unittest.mock import sentinel

import pytest
from tests.e2e.trusted_tests.project import EXPECTED, FILE, HONEST, LAZY, TESTS

from adjudge import catalog
from adjudge.contracts import Subject
from adjudge.errors import UsageError
from adjudge.evidence.tests.collectors import TestCollectionCollector, TestRunCollector
from adjudge.records.evidence import TestCollection, TestCommand, TestProof, TestRun
from adjudge.records.sandbox import SandboxSpec, WorkspaceTree

pytestmark = pytest.mark.bwrap


def tree(place: Path, shop: str, tests: str) -> WorkspaceTree:
    place.mkdir(mode=0o755)
    (place / "shop.py").write_text(shop)
    (place / "tests").mkdir()
    (place / FILE).write_text(tests)
    return WorkspaceTree(layers=(place,))


def subject(baseline: WorkspaceTree | None, workspace: WorkspaceTree) -> Subject:
    return Subject(
        task=sentinel.task,
        change_set=sentinel.change_set,
        baseline=baseline,
        workspace=workspace,
        contents=sentinel.contents,
    )


def test_collect_on_the_baseline_then_run_on_the_workspace(hostile_tmp: Path) -> None:
    baseline = tree(hostile_tmp / "baseline", LAZY, TESTS)
    workspace = tree(hostile_tmp / "workspace", HONEST, "def test_label():\n    pass\n")
    graded = subject(baseline, workspace)
    backend = catalog.load("sandboxes", "bubblewrap")()
    command = TestCommand(args=("tests",))

    async def run() -> None:
        found = await TestCollectionCollector(backend, SandboxSpec()).collect(
            TestCollection(command=command), graded
        )
        assert sorted(found.ids) == sorted(EXPECTED)
        assert found.session.complete
        collector = TestRunCollector(backend, SandboxSpec(), seed="s")
        request = TestRun(command=command, expected=found.ids, plugins=found.plugins)
        answer = await collector.collect(request, graded)
        assert answer.credited == len(EXPECTED)
        assert answer.unproven == 0
        assert answer.seed == "s"
        once = await collector.collect(request.model_copy(update={"proof": TestProof.SINGLE}), graded)
        assert once.credited == once.unproven == len(EXPECTED)
        with pytest.raises(UsageError, match="baseline"):
            await collector.collect(request, subject(None, workspace))
        with pytest.raises(UsageError, match="not a file of the baseline"):
            await collector.collect(request.model_copy(update={"files": ("tests/gone.py",)}), graded)

    asyncio.run(run())
