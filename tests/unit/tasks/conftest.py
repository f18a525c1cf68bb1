"""Scenarios and repositories on disk, made for one test."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

CLEAN = {
    "PATH": os.environ["PATH"],
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_CONFIG_GLOBAL": "/dev/null",
    "GIT_AUTHOR_NAME": "a", "GIT_AUTHOR_EMAIL": "a@example.org", "GIT_AUTHOR_DATE": "2020-01-01T00:00:00Z",
    "GIT_COMMITTER_NAME": "a", "GIT_COMMITTER_EMAIL": "a@example.org",
    "GIT_COMMITTER_DATE": "2020-01-01T00:00:00Z",
}  # fmt: skip


class Repository:
    """A git repository driven by the git command."""

    def __init__(self, root: Path) -> None:
        self.root = root
        root.mkdir(parents=True)
        self.git("init", "-q", "-b", "main")

    def git(self, *arguments: str) -> str:
        done = subprocess.run(
            ["git", *arguments],
            cwd=self.root,
            env={**CLEAN, "HOME": str(self.root)},
            capture_output=True,
            check=True,
        )
        return done.stdout.decode("utf-8", "surrogateescape").strip()

    def commit(self, **files: str) -> str:
        """Write files (`__` for a slash), commit everything, return the commit."""
        for name, text in files.items():
            file = self.root / name.replace("__", "/")
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text)
        self.git("add", "-A")
        self.git("commit", "-q", "--allow-empty", "-m", "work")
        return self.git("rev-parse", "HEAD")


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    return Repository(tmp_path / "scenario" / "repo")


@pytest.fixture
def scenario(tmp_path: Path) -> Path:
    """The folder of a scenario that seeds from the folder `project` in it."""
    folder = tmp_path / "scenario"
    folder.mkdir(exist_ok=True)
    (folder / "project").mkdir()
    (folder / "project" / "a.txt").write_text("alpha\n")
    (folder / "adjudge.yaml").write_text(
        "instruction: Do it.\n"
        "workspace: {source: directory, path: project}\n"
        "scorers: [{type: forbid_secrets}]\n"
    )
    return folder


@pytest.fixture
def state(tmp_path: Path) -> Path:
    return tmp_path / "state"
