"""The repository itself: entry points, tracked files, changelog fragments."""

from __future__ import annotations

import re
import subprocess
import tomllib
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from adjudge import catalog

ROOT = Path(__file__).resolve().parents[2]
_MEGABYTE = 1024 * 1024


@cache
def project() -> dict[str, Any]:
    return tomllib.loads((ROOT / "pyproject.toml").read_text())


@cache
def tracked() -> tuple[Path, ...]:
    done = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=False)
    if done.returncode != 0:
        pytest.skip(f"git cannot list the files here: {done.stderr.decode().strip().splitlines()[0]}")
    names = done.stdout.decode().split("\0")
    return tuple(ROOT / name for name in names if name and (ROOT / name).is_file())


def test_entry_points_equal_the_built_in_table() -> None:
    declared = {
        group.removeprefix("adjudge."): points
        for group, points in project()["project"]["entry-points"].items()
        if group.startswith("adjudge.")
    }
    assert declared == {kind: dict(table) for kind, table in catalog.BUILTINS.items()}


def test_built_ins_can_be_loaded() -> None:
    for kind, table in catalog.BUILTINS.items():
        for name in table:
            assert catalog.load(kind, name) is not None


def test_no_tracked_file_is_large() -> None:
    assert [path for path in tracked() if path.stat().st_size > _MEGABYTE] == []


# In pieces, so that this file does not find itself.
_MACHINE = re.compile(
    "|".join(
        (
            r"/ro" r"ot/\.",
            r"/ho" r"me/[a-z]",
            r"/wo" r"rk/(main|wt|shared)",
            r"/opt/py" r"pi",
            r"/mn" r"t/",
            r"https?://[^\s/\"')]*(artif" r"actory|ne" r"xus|py" r"pi\.|npmjs|files\.pythonho" r"sted)",
            r"index-u" r"rl\s*=",
        )
    )
)


def test_no_path_of_a_machine_and_no_registry_is_tracked() -> None:
    found = []
    for path in tracked():
        text = path.read_bytes().decode("utf-8", "replace")
        found += [f"{path.relative_to(ROOT)}: {match[0]}" for match in _MACHINE.finditer(text)]
    assert found == []


def test_changelog_fragments_are_named_right() -> None:
    kinds = {kind["directory"] for kind in project()["tool"]["towncrier"]["type"]}
    pattern = re.compile(rf"[a-z0-9]+(-[a-z0-9]+)*\.({'|'.join(sorted(kinds))})\.md")
    folder = ROOT / "changelog.d"
    fragments = [path for path in folder.iterdir() if path.name not in (".gitkeep", "README.md")]
    assert [path.name for path in fragments if not pattern.fullmatch(path.name)] == []
    for path in fragments:
        text = path.read_text().strip()
        assert text.endswith("."), f"{path.name} is not a sentence"
        assert "\n" not in text, f"{path.name} is more than one sentence on one line"
