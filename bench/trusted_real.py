"""Trusted runs of real packages' own suites: honest tests miscounted, and how much is unproven.

Source distributions are fetched with pip when this runs (from wherever pip is configured to look), together
with what their tests import; nothing of them is kept. Names given in ADJUDGE_BENCH_PACKAGES replace the list.
"""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
import tarfile
import tempfile
import time
from collections import Counter
from pathlib import Path

from adjudge import catalog
from adjudge.evidence.tests.order import Order
from adjudge.evidence.tests.session import Suites
from adjudge.evidence.tests.suite import read_test_files
from adjudge.evidence.tests.trusted import TrustedRun, collect_tests, run_trusted
from adjudge.records.evidence import TestCommand
from adjudge.records.sandbox import Mount, SandboxSpec, WorkspaceTree
from adjudge.records.testreport import Proof, TestOutcome

PACKAGES = (
    "inflection",
    "itsdangerous",
    "toolz",
    "tomlkit",
    "humanize",
    "markupsafe",
    "boltons",
    "python-slugify",
)
NEEDED = ("pytest", "freezegun", "hypothesis", "text-unidecode", "PyYAML", "attrs")


def _pip(*arguments: str) -> None:
    command = [sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check", *arguments]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def _fetch(name: str, place: Path) -> Path:
    archives = place / "archives"
    _pip("download", "--no-deps", "--no-binary", name, "--dest", str(archives), name)
    archive = max(archives.iterdir(), key=lambda path: path.stat().st_mtime)
    with tarfile.open(archive) as file:
        file.extractall(place / name, filter="data")
    return next((place / name).iterdir())


async def _measure(name: str, tree: Path, libraries: Path) -> tuple[int, int, int]:
    spec = SandboxSpec(mounts=(Mount(source=libraries, target=Path("/opt/libraries")),))
    suites = Suites(catalog.load("sandboxes", "bubblewrap")(), spec)
    path = (".", "src", "/opt/libraries")
    config = next(
        (c for c in ("pytest.ini", "pyproject.toml", "tox.ini", "setup.cfg") if (tree / c).exists()), None
    )
    folder = next((f for f in ("tests", "test", "toolz") if (tree / f).is_dir()), ".")
    command = TestCommand(args=(folder,), path=path, config=config)
    workspace = WorkspaceTree(layers=(tree,))
    started = time.perf_counter()
    found = await collect_tests(suites, Order(command, plugins=(), collect_only=True), workspace)
    files = {
        path: data
        for path, data in read_test_files(tree).items()
        if any(id_.startswith(f"{path}::") for id_ in found.ids)
    }
    order = Order(command, plugins=())
    base = TrustedRun(order, workspace, files, expected=found.ids, seed="bench", pairs=0)
    plain = await run_trusted(suites, base)
    twins = await run_trusted(suites, TrustedRun(order, workspace, files, expected=found.ids, seed="bench"))
    honest = {test.id for test in plain.tests if test.outcome is TestOutcome.PASSED}
    again = {test.id: test for test in twins.tests}
    lost = [id_ for id_ in sorted(honest) if again[id_].outcome is not TestOutcome.PASSED]
    proofs = Counter(test.proof for test in twins.tests if test.proof is not None)
    shown = "   ".join(f"{proof.value} {proofs[proof]:5}" for proof in Proof)
    seconds = time.perf_counter() - started
    print(
        f"{name:<16} {len(honest):5} passed   {shown}   miscounted {len(lost):2}   {seconds:5.1f} s",
        flush=True,
    )
    for id_ in lost[:5]:
        print(f"    {id_}: {again[id_].reason}")
    if not honest:
        print("    " + plain.sessions[0].result.stdout.text[-400:].replace("\n", "\n    "))
    return len(honest), proofs[Proof.UNPROVEN], len(lost)


def run() -> None:
    packages = os.environ.get("ADJUDGE_BENCH_PACKAGES", "").split() or PACKAGES
    totals = [0, 0, 0]
    with tempfile.TemporaryDirectory(prefix="adjudge-bench-") as name:
        place = Path(name)
        place.chmod(0o755)
        (place / "archives").mkdir()
        libraries = place / "libraries"
        _pip("install", "--target", str(libraries), *NEEDED)
        for package in packages:
            tree = _fetch(package, place)
            result = asyncio.run(_measure(package, tree, libraries))
            totals = [total + more for total, more in zip(totals, result, strict=True)]
    passed, unproven, lost = totals
    share = unproven / max(1, passed)
    print(f"in all {passed} honest passes: {lost} miscounted, {unproven} ({share:.1%}) unproven")
