"""What a trusted run costs on a suite of 1,000 pytest tests, as a ratio to plain pytest."""

from __future__ import annotations

import asyncio
import statistics
import tempfile
from pathlib import Path

from adjudge import catalog
from adjudge.evidence.tests.order import Order
from adjudge.evidence.tests.session import Suites
from adjudge.evidence.tests.trusted import TrustedRun, run_trusted
from adjudge.records.evidence import TestCommand
from adjudge.records.sandbox import ExecRequest, SandboxSpec, WorkspaceTree

TESTS = 1000
FILES = 20
ROUNDS = 5

_TEST = """
def test_{n}():
    values = [shop.step(k) for k in range({n} % 7 + 150)]
    assert values[-1] == {last}
"""


def _write_suite(place: Path) -> dict[str, bytes]:
    (place / "shop.py").write_text("def step(k):\n    return sum(range(k)) * 2 + k * k\n")
    files: dict[str, bytes] = {}
    for number in range(FILES):
        tests = []
        for n in range(number * TESTS // FILES, (number + 1) * TESTS // FILES):
            k = n % 7 + 149
            tests.append(_TEST.format(n=n, last=sum(range(k)) * 2 + k * k))
        files[f"tests/test_{number}.py"] = ("import shop\n" + "".join(tests)).encode()
    (place / "tests").mkdir()
    for path, data in files.items():
        (place / path).write_bytes(data)
    return files


async def _measure(place: Path, files: dict[str, bytes]) -> None:
    backend = catalog.load("sandboxes", "bubblewrap")()
    tree = WorkspaceTree(layers=(place,))
    suites = Suites(backend, SandboxSpec())
    order = Order(TestCommand(args=("tests", "-q")), plugins=())
    env = {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "PYTHONDONTWRITEBYTECODE": "1"}
    plain: list[tuple[float, float]] = []
    single: list[tuple[float, float]] = []
    twin: list[tuple[float, float]] = []
    loop = asyncio.get_running_loop()
    for round_ in range(ROUNDS):
        started = loop.time()
        async with await backend.start(SandboxSpec(workspace=tree)) as sandbox:
            argv = ("python3", "-m", "pytest", "-q", "-p", "no:cacheprovider", "tests")
            result = await sandbox.exec(ExecRequest(argv=argv, env=env))
        assert result.ok, result.stdout.text
        plain.append((loop.time() - started, result.usage.cpu_s or 0.0))
        for pairs, kept in ((0, single), (1, twin)):
            started = loop.time()
            run = await run_trusted(
                suites, TrustedRun(order, tree, files, expected=None, seed=str(round_), pairs=pairs)
            )
            cpu = sum(session.result.usage.cpu_s or 0.0 for session in run.sessions)
            kept.append((loop.time() - started, cpu))
            assert run.credited == TESTS, run.findings[:5]
            assert run.unproven == (TESTS if pairs == 0 else 0)
    wall, cpu = (statistics.median(values) for values in zip(*plain, strict=True))
    print(f"plain pytest             {wall:6.2f} s wall   {cpu:6.2f} s CPU")
    for name, kept in (("one session", single), ("twin sessions", twin)):
        its_wall, its_cpu = (statistics.median(values) for values in zip(*kept, strict=True))
        print(
            f"trusted, {name:<15} {its_wall:6.2f} s wall   {its_cpu:6.2f} s CPU"
            f"   ratio {its_wall / wall:4.2f} wall, {its_cpu / cpu:4.2f} CPU"
        )


def run() -> None:
    with tempfile.TemporaryDirectory(prefix="adjudge-bench-") as name:
        place = Path(name)
        place.chmod(0o755)
        asyncio.run(_measure(place, _write_suite(place)))
