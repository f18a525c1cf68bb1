"""A trusted run of a suite: falsified copies, sessions side by side, one conclusion on every test.

What is graded arrives here as a tree; what may be believed arrives beside it, as the content of the test
files and the list of expected ids. Where either comes from (a baseline, hidden files, a recipe) is up to
the caller.
"""

from __future__ import annotations

import asyncio
import os
import shutil
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath

from adjudge.errors import UsageError
from adjudge.evidence.tests.order import Order
from adjudge.evidence.tests.reconcile import Heard, Reconciled, reconcile
from adjudge.evidence.tests.session import Suites
from adjudge.evidence.tests.twins import TestFiles, Twins
from adjudge.records.sandbox import WorkspaceTree
from adjudge.records.score import Finding
from adjudge.records.testreport import CollectedTests, TestSession, TrustedTestRun

__all__ = ["TrustedRun", "collect_tests", "run_trusted"]

_SECOND_OPINION = 2
"""Further pairs of sessions where the first leaves doubts."""
_HONEST_SHARE = 0.02
"""Of honest tests, fewer than 1 in 500 pass falsified (one changes the state that another one checks)."""


@dataclass(frozen=True)
class TrustedRun:
    """Everything a trusted run depends on."""

    order: Order
    tree: WorkspaceTree
    """What is graded."""
    files: Mapping[str, bytes]
    """Trusted files by path, laid over the tree: the test files, and what goes with them."""
    expected: tuple[str, ...] | None
    """Ids to account for; None for every test that `files` define."""
    seed: str
    collected: tuple[str, ...] = ()
    """Ids of all tests in the order in which they are reported, where a trusted run has shown that."""
    pairs: int = 1
    """Pairs of twin sessions; 0 for a single session as written."""
    unstable: frozenset[str] = frozenset()
    """Expected ids that are concluded on apart from all others."""


async def run_trusted(suites: Suites, run: TrustedRun) -> TrustedTestRun:
    """Run a suite and conclude on every expected test.

    Raises:
        InfraError: A sandbox could not do its part.
    """
    for path in run.files:
        _check(path)
    files = await asyncio.to_thread(TestFiles, run.files, run.seed, run.expected or (), run.collected)
    expected = files.tests(run.order.command.runner) if run.expected is None else list(run.expected)
    wanted = []
    for id_ in expected:
        located = files.locate(id_)
        definition = files.definition(located) if located is not None else None
        if definition is not None:
            wanted.append(definition)
    place = Path(tempfile.mkdtemp(prefix="adjudge-twins-"))
    heard: list[Heard] = []
    records: list[TestSession] = []

    async def hear(pairs: range) -> Reconciled:
        versions = []
        for pair in pairs:
            twins = await asyncio.to_thread(_twins, run, files if pair == 0 else None, wanted, pair)
            versions += [(twins, number) for number in range(len(twins.falsified))]
        trees = []
        for at, (twins, number) in enumerate(versions, len(heard)):
            await asyncio.to_thread(_write_layer, place / str(at), run.files, twins, number)
            trees.append(run.tree.model_copy(update={"layers": (*run.tree.layers, place / str(at))}))
        order = run.order if run.pairs == 0 else replace(run.order, quick=True)
        for (twins, number), session in zip(versions, await suites.run_all(order, trees), strict=True):
            heard.append(Heard(twins, number, session.channel))
            records.append(session.record(falsified=len(twins.falsified[number])))
        return await asyncio.to_thread(reconcile, expected, files, heard, run.unstable)

    try:
        concluded = await hear(range(max(1, run.pairs)))
        if _doubtful(concluded):
            # Guessed, or a wrong result that met the changed value by chance: new values tell which.
            concluded = await hear(range(max(1, run.pairs), max(1, run.pairs) + _SECOND_OPINION))
    finally:
        await asyncio.to_thread(shutil.rmtree, place)
    broken = [
        Finding(rule="session-problem", message=f"session {number}: {problem}")
        for number, record in enumerate(records, 1)
        for problem in record.problems
    ]
    return TrustedTestRun(
        tests=concluded.tests,
        sessions=tuple(records),
        seed=run.seed,
        unexpected=concluded.unexpected,
        inverted=concluded.inverted,
        findings=(*broken, *concluded.findings),
        unstable=concluded.unstable,
        ran=_ran(heard[0], expected),
        modules=dict(heard[0].channel.modules),
    )


def _ran(session: Heard, expected: Sequence[str]) -> dict[str, tuple[str, ...]]:
    """What each test ran, by the ids that are expected."""
    files = session.twins.files
    ran = {session.twins.real_id(id_): ran for id_, ran in session.channel.ran.items()}
    return ran | {id_: ran[files.canonical(id_)] for id_ in expected if files.canonical(id_) in ran}


async def collect_tests(suites: Suites, order: Order, tree: WorkspaceTree) -> CollectedTests:
    """Which tests a runner finds in a tree without anything of the candidate's, and which plugins."""
    session = await suites.run(order, tree)
    return CollectedTests(
        session=session.record(),
        ids=tuple(dict.fromkeys(session.channel.collected)),
        plugins=tuple(session.channel.plugins),
    )


def _doubtful(concluded: Reconciled) -> bool:
    """Whether the results look guessed: some tests the wrong way round, or too many that always pass."""
    always = sum(finding.rule == "passes-when-falsified" for finding in concluded.findings)
    return concluded.inverted > 0 or always > _HONEST_SHARE * len(concluded.tests)


def _twins(run: TrustedRun, files: TestFiles | None, wanted: list[tuple[str, str]], pair: int) -> Twins:
    seed = f"{run.seed}\0{pair}"
    files = files or TestFiles(run.files, seed, run.expected or (), run.collected)
    return Twins(files, wanted, seed, single=run.pairs == 0)


def _check(path: str) -> None:
    parts = PurePosixPath(path).parts
    if not parts or path.startswith("/") or ".." in parts or "\0" in path:
        raise UsageError(f"{path!r} is not a path inside the workspace")


def _write_layer(layer: Path, files: Mapping[str, bytes], twins: Twins, session: int) -> None:
    """A directory that, laid over the tree, replaces whatever lies at the files' paths."""
    layer.mkdir()
    for path, data in files.items():
        target = layer / PurePosixPath(path)
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(data)
    twins.write(session, layer)
    for parent, folders, names in os.walk(layer):
        for name in folders:
            os.chmod(os.path.join(parent, name), 0o755)
        for name in names:
            os.chmod(os.path.join(parent, name), 0o644)
