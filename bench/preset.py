"""What the integrity preset costs where nothing is run: time and memory of a change to fifty files.

A grading of its static detectors, over a change to fifty files of a project of a thousand: half of them
product code and half tests, of 120 lines each, with the harness among them. `bare` is the same grading
with one scorer that only counts files, so the difference is what the detectors cost.

The parsers are forked off a process that outlives a grading, and what they used is known when it has ended.
So whole programs are measured, one that grades once and one that grades several times: the first has what a
command costs, start-up and all, and the difference is what each further grading costs.
"""

from __future__ import annotations

import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

FILES = 1000
CHANGED = 50
ROUNDS = 5
FURTHER = 4
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


def run_program(root: Path, recipe: str, gradings: int) -> tuple[float, float, float]:
    """Seconds of a program that grades so often, processor seconds of all its processes, and peak MiB."""
    script = (
        "import sys, adjudge\n"
        "base, work, recipe, gradings = sys.argv[1:]\n"
        "for _ in range(int(gradings)):\n"
        "    adjudge.grade(recipe, workspace=work, baseline=base)\n"
    )
    file = root / "recipe.yaml"
    file.write_text(recipe)
    argv = [sys.executable, "-c", script, str(root / "base"), str(root / "work"), str(file), str(gradings)]
    began, before = time.perf_counter(), resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(argv, check=True)
    wall, after = time.perf_counter() - began, resource.getrusage(resource.RUSAGE_CHILDREN)
    spent = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return wall, spent, after.ru_maxrss / 1024


def run() -> None:
    """Print the figures."""
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        write_projects(root)
        figures = {}
        for name, recipe in (("bare", BARE), ("preset", PRESET)):
            once, often = (
                [statistics.median(each) for each in zip(*rounds, strict=True)]
                for rounds in (
                    [run_program(root, recipe, gradings) for _ in range(ROUNDS)]
                    for gradings in (1, 1 + FURTHER)
                )
            )
            figures[name] = [(often[at] - once[at]) / FURTHER for at in (0, 1)]
            for which, (wall, spent) in (("program", once[:2]), ("further", figures[name])):
                used = f"{wall * 1000:6.0f} ms, {spent * 1000:6.0f} ms of processor"
                print(f"  {name:7} {which}  {used}, {often[2]:5.0f} MiB at most")
        wall, spent = (figures["preset"][at] - figures["bare"][at] for at in (0, 1))
        print(f"  so the detectors cost {wall * 1000:.0f} ms, {spent * 1000:.0f} ms of processor")
