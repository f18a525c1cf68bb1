"""Answers that lie in a repository, loose or packed."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from adjudge.formats.gitids import blob_id, packed_ids
from adjudge.workflows.fitness.looking import find_history, read_scripts

pytestmark = pytest.mark.anyone

ANSWER = b"the answer, all of it\n"


def git(folder: Path, *args: str) -> str:
    environment = {
        "PATH": "/usr/local/bin:/usr/bin:/bin",
        "GIT_CONFIG_GLOBAL": "/dev/null",
        "GIT_CONFIG_SYSTEM": "/dev/null",
        "GIT_AUTHOR_NAME": "a",
        "GIT_AUTHOR_EMAIL": "a@example.org",
        "GIT_COMMITTER_NAME": "a",
        "GIT_COMMITTER_EMAIL": "a@example.org",
    }
    return subprocess.run(
        ["git", *args], cwd=folder, env=environment, check=True, capture_output=True, text=True
    ).stdout.strip()


def test_names_are_gits_own(tmp_path: Path) -> None:
    git(tmp_path, "init", "-q")
    (tmp_path / "file").write_bytes(ANSWER)
    assert git(tmp_path, "hash-object", "file") == blob_id(ANSWER)


@pytest.mark.parametrize("packed", [False, True])
def test_an_answer_in_a_history_is_found(tmp_path: Path, packed: bool) -> None:
    work = tmp_path / "workspace" / "vendored"
    work.mkdir(parents=True)
    git(work, "init", "-q")
    (work / "file").write_bytes(ANSWER)
    git(work, "add", ".")
    git(work, "commit", "-qm", "solved")
    (work / "file").write_text("not yet\n")
    git(work, "commit", "-qam", "unsolved")
    if packed:
        git(work, "gc", "-q")
    assert find_history([tmp_path], [ANSWER]) == ["workspace/vendored/.git"]
    assert find_history([tmp_path], [b"something else entirely\n"]) == []
    assert find_history([tmp_path], [b"short"]) == []


def test_what_is_no_index_lists_nothing() -> None:
    assert list(packed_ids(b"")) == []
    assert list(packed_ids(b"\xfftOc\x00\x00\x00\x02" + b"\xff" * 1024 + b"x" * 30)) == ["78" * 20]


def test_scripts_are_read_without_golden_outputs(tmp_path: Path) -> None:
    for name in ("test.sh", "lib/more.py", "golden/pass/a.sh", "data.json"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("x")
    assert set(read_scripts(tmp_path)) == {"test.sh", "lib/more.py"}
