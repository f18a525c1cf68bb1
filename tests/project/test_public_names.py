"""The public surface, pinned: a change here is a change users notice."""

from __future__ import annotations

import importlib
import inspect
import subprocess
import sys
from pathlib import Path

import pytest

from adjudge import contracts, errors

TOOL = Path(__file__).resolve().parents[2] / "tools" / "public_names.py"
PINNED = Path(__file__).with_name("public-names.txt")


def test_public_names_are_pinned() -> None:
    done = subprocess.run([sys.executable, TOOL], capture_output=True, text=True, check=True)
    now, before = set(done.stdout.splitlines()), set(PINNED.read_text().splitlines())
    assert {"added": now - before, "gone": before - now} == {"added": set(), "gone": set()}, (
        "if that is meant: .venv/bin/python tools/public_names.py --write"
    )


@pytest.mark.parametrize("line", PINNED.read_text().splitlines())
def test_public_names_exist(line: str) -> None:
    module, name = line.split()
    assert hasattr(importlib.import_module(module), name)


def test_every_error_is_public_and_drawn_in_the_tree() -> None:
    defined = {
        name
        for name, value in vars(errors).items()
        if inspect.isclass(value) and issubclass(value, errors.AdjudgeError)
    }
    assert defined <= set(errors.__all__)
    assert [name for name in defined if name not in (errors.__doc__ or "")] == []


def test_every_contract_is_public() -> None:
    defined = {
        name
        for name, value in vars(contracts).items()
        if inspect.isclass(value) and value.__module__ == contracts.__name__
    }
    assert defined <= set(contracts.__all__)
