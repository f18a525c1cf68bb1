"""Whatever git can write between two trees, applying it to the first gives the second."""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
import tempfile
from pathlib import Path

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from adjudge.errors import PatchUnreadable
from adjudge.formats.patch import parse_patch
from adjudge.formats.patching import FOLDER, TreeFile, apply_patch
from adjudge.records.paths import path_bytes, path_from_bytes

LINES = st.lists(st.sampled_from([b"a", b"b", b"", b" c", b"\xff\xfe", b"d\r", b"--- a/x"]), max_size=40)
TEXT = st.builds(lambda lines, end: b"\n".join(lines) + end, LINES, st.sampled_from([b"", b"\n"]))
CONTENT = TEXT | st.binary(max_size=200).map(lambda data: b"\0" + data) | st.just(b"x" * 9000 + b"\0")
NAMES = st.sampled_from(
    [
        b"a",
        b"b",
        b"dir/a",
        b"dir/b",
        b"with space",
        b"caf\xc3\xa9",
        b"latin\xe9",
        b'quo"te',
        b"tab\tname",
        b"n\nl",
    ]
)
ENTRY = st.tuples(st.sampled_from([0o100644, 0o100755]), CONTENT) | st.tuples(
    st.just(0o120000), st.sampled_from([b"a", b"../x", b"/etc/passwd"])
)
TREES = st.dictionaries(NAMES, ENTRY, max_size=6)

GIT = {
    **os.environ,
    "GIT_CONFIG_GLOBAL": "/dev/null",
    "GIT_CONFIG_SYSTEM": "/dev/null",
    "GIT_AUTHOR_NAME": "t", "GIT_AUTHOR_EMAIL": "t@t",
    "GIT_COMMITTER_NAME": "t", "GIT_COMMITTER_EMAIL": "t@t",
}  # fmt: skip


def git(repo: Path, *args: str) -> bytes:
    return subprocess.run(["git", "-C", str(repo), *args], env=GIT, check=True, capture_output=True).stdout


def write(repo: Path, tree: dict[bytes, tuple[int, bytes]]) -> None:
    for entry in repo.iterdir():
        if entry.name != ".git":
            shutil.rmtree(entry) if entry.is_dir() and not entry.is_symlink() else entry.unlink()
    for name, (mode, content) in tree.items():
        path = os.path.join(os.fsencode(repo), name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        if mode == 0o120000:
            os.symlink(content, path)
        else:
            with open(path, "wb") as file:
                file.write(content)
            os.chmod(path, mode & 0o777)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(TREES, TREES, st.sampled_from([["-M", "-C"], ["--no-renames"], ["-U0"], ["--no-prefix"]]))
def test_applying_gits_diff_gives_the_second_tree(
    old: dict[bytes, tuple[int, bytes]], new: dict[bytes, tuple[int, bytes]], options: list[str]
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        repo = Path(folder)
        git(repo, "init", "-q")
        for tree in (old, new):
            write(repo, tree)
            git(repo, "add", "-A", "-f")
            git(repo, "commit", "-qm", "x", "--allow-empty")
        patch = git(repo, "diff", "--binary", "--full-index", *options, "HEAD~1", "HEAD")

    def look(path: str) -> TreeFile | None:
        raw = path_bytes(path)
        if raw in old:
            return TreeFile(*old[raw])
        return TreeFile(FOLDER, b"") if any(name.startswith(raw + b"/") for name in old) else None

    result = {path_from_bytes(name): TreeFile(*entry) for name, entry in old.items()}
    for path, entry in apply_patch(parse_patch(patch), look).items():
        if entry is None:
            result.pop(path, None)
        else:
            result[path] = entry
    assert result == {path_from_bytes(name): TreeFile(*entry) for name, entry in new.items()}


@settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.binary(max_size=300) | st.text(alphabet="+- @,019ab/\n\\", max_size=200).map(
    lambda text: b"diff --git a/a b/a\n--- a/a\n+++ b/a\n" + text.encode()
))  # fmt: skip
def test_no_bytes_make_it_crash(data: bytes) -> None:
    with contextlib.suppress(PatchUnreadable):
        apply_patch(parse_patch(data), lambda path: TreeFile(0o100644, b"x\n") if path == "a" else None)
