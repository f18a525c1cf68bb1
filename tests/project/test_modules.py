"""Every module can be imported by itself, without a warning, and the layers hold."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

SOURCE = Path(__file__).resolve().parents[2] / "src"
MODULES = sorted(
    ".".join(path.relative_to(SOURCE).with_suffix("").parts).removesuffix(".__init__")
    for path in (SOURCE / "adjudge").rglob("*.py")
    if path.name != "__main__.py"  # importing it runs the command line
)


@pytest.mark.parametrize("module", MODULES)
def test_module_imports_alone(module: str) -> None:
    argv = [sys.executable, "-W", "error", "-c", f"import {module}"]
    done = subprocess.run(argv, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout == ""


def test_layers_hold() -> None:
    done = subprocess.run(
        [Path(sys.executable).with_name("lint-imports"), "--no-cache"],
        cwd=SOURCE.parent,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_names_follow_the_rules() -> None:
    for path in (SOURCE / "adjudge").rglob("*.py"):
        name = path.stem
        assert not name.startswith("test_"), path
        assert name in ("__init__", "__main__") or not name.startswith("_"), path
        assert name not in ("utils", "util", "helpers", "common", "manager"), path
        assert path.read_text().startswith('"""'), f"{path} says nothing about itself"
