"""The collector of `SuiteInventory`: the tests of the baseline, and what became of them as left.

pytest and unittest run in sessions of ours on both sides, which also say what code each test ran. For the
other runners the command itself runs with a reporter, once over the baseline and once as left.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Mapping
from pathlib import PurePosixPath
from typing import ClassVar

from adjudge.contracts import Subject
from adjudge.errors import UsageError
from adjudge.evidence.differential import (
    BASELINE,
    NO_COMMAND,
    NOTHING_CHANGED,
    ask,
    changes_anything,
    suite_run,
)
from adjudge.evidence.protected import Protection
from adjudge.evidence.testcommand import BaselineFiles, find_command, plain_baseline, read_orders
from adjudge.evidence.tests.suite import find_config
from adjudge.formats.testcommands.named import is_named, written_command
from adjudge.formats.testcommands.reporters import add_reporter
from adjudge.formats.testcommands.suites import parse_suite
from adjudge.records.differential import Inventory, InventoryTest, LoadedModule, SuiteInventories
from adjudge.records.evidence import (
    GradedTree,
    Isolation,
    ReportedTests,
    ReportRun,
    SuiteInventory,
    TestProof,
    TestRun,
)
from adjudge.records.testreport import TestOutcome, TrustedTestRun

__all__ = ["SuiteInventoryCollector"]

_PYTHON = ("pytest", "unittest")
_MAX_CONFIG = 1024 * 1024
_MAX_MODULES = 2000
_ANYWHERE = PurePosixPath("/tmp/report")
_AS_LEFT = GradedTree(isolation=Isolation.SNAPSHOT, allow=("*",))
"""The final workspace, test files and all."""


class SuiteInventoryCollector:
    """Takes both inventories, when anything that could change them was changed."""

    kind: ClassVar[str] = "suite_inventory"
    cost: ClassVar[int] = 2
    asks: ClassVar[bool] = True

    async def collect(self, request: SuiteInventory, subject: Subject) -> SuiteInventories:
        """Take them."""
        asked = request.command or ""
        if not await changes_anything(subject, asked):
            return SuiteInventories(command=asked, why=NOTHING_CHANGED)
        try:
            files = BaselineFiles(await asyncio.to_thread(plain_baseline, subject))
        except UsageError as error:
            return SuiteInventories(command=asked, why=error.message)
        found = await asyncio.to_thread(find_command, request.command, files)
        if found is None:
            return SuiteInventories(why=NO_COMMAND)
        protection = Protection()
        decides = [
            path
            for change in subject.change_set.changes
            for path in change.paths
            if protection.of(path, in_baseline=change.old_type is not None) is not None
        ]
        told = SuiteInventories(
            command=found.command, source=found.because, orders=read_orders(subject, decides)
        )
        written = written_command(found.command, files.data)
        suite = None if written is None else parse_suite(written)
        try:
            of_python = suite is not None and suite.command.runner in _PYTHON
            if written is not None and of_python and not request.reports:
                return await _of_python(request, subject, files, told, written)
            return await _of_reports(request, subject, files, told)
        except UsageError as error:
            return told.model_copy(update={"why": error.message})


async def _of_python(
    request: SuiteInventory,
    subject: Subject,
    files: BaselineFiles,
    told: SuiteInventories,
    command_line: str,
) -> SuiteInventories:
    asked = suite_run(request, command_line, BASELINE, proof=TestProof.SINGLE, watch=True)
    assert isinstance(asked, TestRun)
    before: TrustedTestRun = await ask(subject, asked)
    if not before.tests:
        return told.model_copy(update={"why": "the baseline has no tests"})
    command = asked.command
    if command.runner == "pytest" and command.config is None:
        config = await asyncio.to_thread(find_config, lambda path: _read(subject, path))
        command = command.model_copy(update={"config": config})
    after: TrustedTestRun = await ask(
        subject,
        asked.model_copy(
            update={
                "command": command,
                "select": (),
                "find_config": False,
                "plugins": before.plugins,
                "expected": tuple(test.id for test in before.tests),
                "tree": _AS_LEFT,
            }
        ),
    )
    old_places = await asyncio.to_thread(_places, files, before)
    return told.model_copy(
        update={
            "watched": bool(before.modules and after.modules),
            "before": _inventory(before, old_places),
            "after": _inventory(after, old_places),
        }
    )


def _read(subject: Subject, path: str) -> bytes | None:
    return subject.contents.read(path, max_bytes=_MAX_CONFIG)


def _places(files: BaselineFiles, run: TrustedTestRun) -> dict[str, str | None]:
    return {test.id: files.file_of(test.id) for test in run.tests}


def _inventory(run: TrustedTestRun, places: Mapping[str, str | None]) -> Inventory:
    product = _Product()
    tests = []
    for test in run.tests:
        ran = run.ran.get(test.id)
        tests.append(
            InventoryTest(
                id=test.id,
                outcome=test.written or TestOutcome.ERROR,
                path=places.get(test.id),
                reason="" if test.written is not None else "missing",
                ran=None if ran is None else product.among(ran),
            )
        )
    return Inventory(
        tests=tuple(tests),
        modules=tuple(
            LoadedModule(name=name, place=place) for name, place in list(run.modules.items())[:_MAX_MODULES]
        ),
        uncollected=tuple(note for session in run.sessions for note in session.uncollected),
        complete=all(session.complete for session in run.sessions),
    )


class _Product:
    """Which files are the product's: all that is not protected."""

    def __init__(self) -> None:
        self._protection = Protection()
        self._known: dict[str, bool] = {}

    def among(self, paths: Iterable[str]) -> tuple[str, ...]:
        """Those of the product."""
        return tuple(path for path in paths if self._is(path))

    def _is(self, path: str) -> bool:
        if path not in self._known:
            self._known[path] = self._protection.of(path, in_baseline=True) is None
        return self._known[path]


async def _of_reports(
    request: SuiteInventory, subject: Subject, files: BaselineFiles, told: SuiteInventories
) -> SuiteInventories:
    old = _naive(told.command, files.data)
    new = _naive(told.command, lambda path: _read(subject, path))
    if not request.reports and (old is None or add_reporter(old, _ANYWHERE) is None):
        why = f"no report tells which tests `{told.command}` runs; name report files with junit_xml"
        return told.model_copy(update={"why": why})
    before = await _reported(request, subject, files, old or told.command, BASELINE)
    if before is None or not before.tests:
        return told.model_copy(update={"why": "no report of the baseline's tests could be read"})
    after = await _reported(request, subject, files, new or told.command, GradedTree())
    return told.model_copy(update={"before": before, "after": after})


def _naive(command: str, read: Callable[[str], bytes | None]) -> str | None:
    """The command, or what a file of the project has behind it; None when that is not one command."""
    written = written_command(command, read)
    if written is None or not is_named(command):
        return written
    return f"npx {written}" if written.split()[0] in ("jest", "vitest") else written


async def _reported(
    request: SuiteInventory, subject: Subject, files: BaselineFiles, command: str, tree: GradedTree
) -> Inventory | None:
    answer: ReportedTests = await ask(
        subject, ReportRun(command=command, timeout_s=request.timeout_s, reports=request.reports, tree=tree)
    )
    if answer.report is None or answer.source == "console":
        # Green without a report: whatever ran, it was none of the tests.
        return Inventory(tests=(), complete=answer.result.exit_code == 0) if tree != BASELINE else None
    tests = tuple(
        InventoryTest(id=case.id, outcome=case.outcome, path=_path(case.file) or files.file_of(case.id))
        for case in answer.report.cases
    )
    return Inventory(tests=tests, complete=answer.report.complete)


def _path(file: str | None) -> str | None:
    """A path in the workspace, as a report has it."""
    place = (file or "/").removeprefix("/workspace/")
    return None if place.startswith("/") else place
