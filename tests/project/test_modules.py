"""Every module can be imported by itself, without a warning, and the layers hold."""

from __future__ import annotations

import ast
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


_IMPORT_EACH = """\
import os, sys, traceback
# What others wrote is loaded once; each module of ours is then imported in a process of its own.
import acp, alembic.command, asyncio, click, fastapi.responses, pydantic
import pygit2, pytest, sqlalchemy, tree_sitter, yaml
pydantic.create_model("Warm", number=(int, 0))
failed = []
for module in sys.argv[1:]:
    child = os.fork()
    if child == 0:
        try:
            __import__(module)
        except BaseException:
            print(f"{module}:\\n{traceback.format_exc()}", file=sys.stderr, flush=True)
            os._exit(1)
        sys.stdout.flush()
        os._exit(0)
    if os.waitpid(child, 0)[1] != 0:
        failed.append(module)
sys.exit(", ".join(failed) or 0)
"""


@pytest.mark.parametrize("part", range(4))  # so that workers share them
def test_each_module_imports_alone_in_silence(part: int) -> None:
    argv = [sys.executable, "-W", "error", "-c", _IMPORT_EACH, *MODULES[part::4]]
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
        assert ast.get_docstring(ast.parse(path.read_text())), f"{path} says nothing about itself"
