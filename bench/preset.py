"""What the integrity preset costs where nothing is run: time and memory of a change to fifty files.

A grading of its static detectors, over a change to fifty files of a project of a thousand: half of them
product code and half tests, of 120 lines each, with the harness among them. `bare` is the same grading
with one scorer that only counts files, so the difference is what the detectors cost.
"""

from __future__ import annotations

import shutil
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

FILES = 1000
CHANGED = 50
ROUNDS = 5
BARE = "scorers:\n  - {type: max_files_changed, limit: 100000}\n"
STATIC = (
    "assertions_not_weakened",
    "no_new_skips",
    "no_runtime_tricks",
    "no_special_casing",
    "harness_unmodified",
    "workspace_confined",
)
PRESET = "scorers:\n" + "".join(f"  - {{type: {kind}}}\n" for kind in STATIC)


def product(number: int, edited: str = "") -> str:
    """A module of ordinary code."""
    lines = [f'"""Prices, part {number}."""', "", "RATES = {'a': 3, 'b': 5, 'c': 8}", ""]
    for part in range(20):
        lines += [
            "",
            f"def price_{part}(amount, kind='a'):",
            f"    base = RATES.get(kind, {part}) * amount{edited}",
            f"    return round(base + {number}, 2)",
            "",
        ]
    return "\n".join(lines) + "\n"


def suite(number: int, edited: str = "") -> str:
    """A file of ordinary tests."""
    lines = ["import pytest", "", f"from shop.part{number} import price_0, price_1", ""]
    for part in range(20):
        lines += [
            "",
            f"def test_price_{part}():",
            f"    got = price_{part % 2}({part}, 'a')",
            f"    assert got == {part * 3 + number}{edited}",
            "",
        ]
    return "\n".join(lines) + "\n"


def write_projects(root: Path) -> None:
    """A project, and the same with fifty files changed."""
    base, work = root / "base", root / "work"
    for number in range(FILES // 2):
        for path, text in (
            (f"shop/part{number}.py", product(number)),
            (f"tests/test_part{number}.py", suite(number)),
        ):
            (base / path).parent.mkdir(parents=True, exist_ok=True)
            (base / path).write_text(text)
    (base / "tests/conftest.py").write_text("import pytest\n")
    (base / "pyproject.toml").write_text("[project]\nname = 'shop'\nversion = '1'\n")
    shutil.copytree(base, work)
    for number in range(CHANGED // 2 - 1):
        (work / f"shop/part{number}.py").write_text(product(number, " * 2"))
        (work / f"tests/test_part{number}.py").write_text(suite(number, " * 2"))
    (work / "tests/conftest.py").write_text(
        "import pytest\n\n\n@pytest.fixture\ndef basket():\n    return []\n\n\n"
        "def pytest_configure(config):\n    config.addinivalue_line('markers', 'slow: takes long')\n"
    )
    (work / "pyproject.toml").write_text("[project]\nname = 'shop'\nversion = '2'\n")


def grade_in_a_process(root: Path, recipe: str) -> tuple[float, float, float]:
    """Seconds of a grading that runs warm, processor seconds with its children, and peak memory in MiB."""
    script = (
        "import resource, sys, time, adjudge\n"
        "base, work, recipe = sys.argv[1:]\n"
        "def cpu():\n"
        "    both = map(resource.getrusage, (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))\n"
        "    return sum(one.ru_utime + one.ru_stime for one in both)\n"
        "times = []\n"
        "for _ in range(3):\n"
        "    began, spent = time.perf_counter(), cpu()\n"
        "    adjudge.grade(recipe, workspace=work, baseline=base)\n"
        "    times.append((time.perf_counter() - began, cpu() - spent))\n"
        "own, children = map(resource.getrusage, (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))\n"
        "peak = max(own.ru_maxrss, children.ru_maxrss)\n"
        "print(*min(times), peak / 1024)\n"
    )
    file = root / "recipe.yaml"
    file.write_text(recipe)
    argv = [sys.executable, "-c", script, str(root / "base"), str(root / "work"), str(file)]
    out = subprocess.run(argv, capture_output=True, text=True, check=True).stdout.split()
    return float(out[0]), float(out[1]), float(out[2])


def run() -> None:
    """Print the figures."""
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        write_projects(root)
        figures = {}
        for name, recipe in (("bare", BARE), ("preset", PRESET)):
            rounds = [grade_in_a_process(root, recipe) for _ in range(ROUNDS)]
            wall, spent, peak = (statistics.median(each) for each in zip(*rounds, strict=True))
            figures[name] = (wall, spent)
            used = f"{wall * 1000:6.0f} ms, {spent * 1000:6.0f} ms of processor"
            print(f"  {name:7} {used}, {peak:5.0f} MiB at most")
        wall, spent = (figures["preset"][at] - figures["bare"][at] for at in (0, 1))
        print(f"  so the detectors cost {wall * 1000:.0f} ms, {spent * 1000:.0f} ms of processor")
