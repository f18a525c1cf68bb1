"""Capture against a naive oracle, and its diff against `git apply`, over random trees."""

from __future__ import annotations

import os
import shutil
import stat
import subprocess
import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from adjudge.capture.baseline import directory_baseline, resolve_baseline
from adjudge.capture.changes import capture_changes
from adjudge.capture.linediff import Budget, diff_lines
from adjudge.formats.gitpatterns import parse_ignore_file
from adjudge.records.change import ChangeKind, ChangeSet, EntryType
from adjudge.records.paths import path_bytes
from adjudge.records.sandbox import WorkspaceTree
from adjudge.store.blobs import BlobDirectory

GIT = shutil.which("git")
needs_git = pytest.mark.skipif(GIT is None, reason="git is not installed")
GIT_ENV = {
    **os.environ,
    "GIT_CONFIG_GLOBAL": "/dev/null",
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_AUTHOR_NAME": "t",
    "GIT_AUTHOR_EMAIL": "t@example.org",
    "GIT_COMMITTER_NAME": "t",
    "GIT_COMMITTER_EMAIL": "t@example.org",
}

NAMES = [
    b"a", b"A", b"b", b"b ", b" b", b"a b", b"x.py", b"q\"uote", b"new\nline", b"tab\there", b"\xff\xfe",
    "ü".encode(), b"back\\slash", b"-dash", b"[x]",
]  # fmt: skip
LINES = [b"one\n", b"two\n", b"three\n", b"    return 1\n", b"def f():\n", b"\n", b"x" * 100 + b"\n"]
contents = st.one_of(
    st.sampled_from([b"", b"text", b"text\n", b"a\r\nb\r\n", b"\0binary\n", b"lone\rcr\n", b"\n"]),
    st.lists(st.sampled_from(LINES), max_size=25).map(b"".join),
    st.binary(max_size=40),
)
leaves = st.one_of(
    st.tuples(st.just("file"), contents, st.booleans()),
    st.tuples(st.just("link"), st.sampled_from([b"target", b"../b", b"/nowhere", b"\xff\n"])),
)
Tree = dict[bytes, Any]


def trees(*, with_oddities: bool) -> st.SearchStrategy[Tree]:
    leaf: st.SearchStrategy[Any] = leaves
    if with_oddities:
        leaf = st.one_of(leaves, st.just(("fifo",)), st.just({}))
    return st.dictionaries(
        st.sampled_from(NAMES),
        st.recursive(
            leaf,
            lambda inner: st.dictionaries(st.sampled_from(NAMES), inner, min_size=1, max_size=4),
            max_leaves=8,
        ),
        max_size=6,
    )


def write(root: bytes, tree: Tree) -> None:
    os.makedirs(root, exist_ok=True)
    for name, node in tree.items():
        path = root + b"/" + name
        if isinstance(node, dict):
            write(path, node)
        elif node[0] == "file":
            with open(path, "wb") as stream:
                stream.write(node[1])
            os.chmod(path, 0o755 if node[2] else 0o644)
        elif node[0] == "link":
            os.symlink(node[1], path)
        else:
            os.mkfifo(path)


def read(root: bytes) -> dict[bytes, tuple[object, ...]]:
    """Everything below a directory, the plain way."""
    found: dict[bytes, tuple[object, ...]] = {}
    for folder, directories, files in os.walk(root):
        for name in directories + files:
            path = folder + b"/" + name
            status = os.lstat(path)
            relative = path[len(root) + 1 :]
            if stat.S_ISLNK(status.st_mode):
                found[relative] = ("link", os.readlink(path))
            elif stat.S_ISREG(status.st_mode):
                with open(path, "rb") as stream:
                    found[relative] = ("file", stream.read(), bool(status.st_mode & 0o100))
            elif stat.S_ISDIR(status.st_mode):
                found[relative] = ("dir",)
            else:
                found[relative] = ("special",)
    return found


def expected_paths(old: dict[bytes, tuple[object, ...]], new: dict[bytes, tuple[object, ...]]) -> set[bytes]:
    """The paths a careful person would call changed. A directory counts only when nothing in it tells."""
    changed = {path for path in old.keys() | new.keys() if old.get(path) != new.get(path)}

    def speaks_for_itself(path: bytes) -> bool:
        sides = [(side, other) for side, other in ((old, new), (new, old)) if side.get(path) == ("dir",)]
        for side, other in sides:
            has_entries = any(inner.startswith(path + b"/") for inner in side)
            if has_entries and path not in other:
                return False
        return True

    return {path for path in changed if speaks_for_itself(path)}


def paths(found: ChangeSet) -> set[bytes]:
    return {path_bytes(path) for change in found.changes for path in change.paths}


@pytest.fixture
def place() -> Any:
    with tempfile.TemporaryDirectory(prefix="adjudge-test-") as name:
        yield Path(name)


def fresh(place: Path) -> Path:
    return Path(tempfile.mkdtemp(dir=place))


slow = settings(
    max_examples=120,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)


@slow
@given(old=trees(with_oddities=True), new=trees(with_oddities=True))
def test_every_path_that_differs_is_reported_and_no_other(place: Path, old: Tree, new: Tree) -> None:
    here = fresh(place)
    write(os.fsencode(here / "old"), old)
    write(os.fsencode(here / "new"), new)
    found = capture_changes(directory_baseline(here / "old"), WorkspaceTree(layers=(here / "new",)))
    before, after = read(os.fsencode(here / "old")), read(os.fsencode(here / "new"))
    assert paths(found) == expected_paths(before, after)
    for change in found.changes:
        now = after.get(path_bytes(change.path))
        if change.kind is ChangeKind.ADDED:
            assert before.get(path_bytes(change.path)) in (None, ("dir",))
        if change.kind is ChangeKind.DELETED:
            assert now is None or now == ("dir",)
        if change.new_type is EntryType.FILE:
            assert now is not None
            assert now[0] == "file"
            assert change.new_mode == (0o100755 if now[2] else 0o100644)


@slow
@given(old=trees(with_oddities=False), new=trees(with_oddities=False))
@needs_git
def test_the_diff_applied_to_the_baseline_gives_the_final_tree(place: Path, old: Tree, new: Tree) -> None:
    here = fresh(place)
    write(os.fsencode(here / "old"), old)
    write(os.fsencode(here / "new"), new)
    blobs = BlobDirectory(here / "blobs")
    found = capture_changes(
        directory_baseline(here / "old"), WorkspaceTree(layers=(here / "new",)), blobs=blobs
    )
    with blobs.open(found.diff) as stream:
        text = stream.read()
    assert not found.diff.truncated
    if text:
        command = ["git", "apply", "--binary", "--whitespace=nowarn", "-"]
        env = {**GIT_ENV, "GIT_CEILING_DIRECTORIES": str(here)}
        subprocess.run(command, cwd=here / "old", input=text, env=env, check=True, capture_output=True)
    assert read(os.fsencode(here / "old")) == read(os.fsencode(here / "new"))


@settings(parent=slow, max_examples=40)
@given(old=trees(with_oddities=False), new=trees(with_oddities=False))
@needs_git
def test_a_commit_and_the_directory_it_came_from_give_the_same_change_set(
    place: Path, old: Tree, new: Tree
) -> None:
    here = fresh(place)
    write(os.fsencode(here / "old"), old)
    work = here / "work"
    write(os.fsencode(work), old)
    for command in (["init", "-q"], ["add", "-Af"], ["commit", "-q", "--allow-empty", "-m", "before"]):
        subprocess.run(["git", *command], cwd=work, env=GIT_ENV, check=True, capture_output=True)
    rev = subprocess.run(["git", "rev-parse", "HEAD"], cwd=work, env=GIT_ENV, check=True, capture_output=True)
    for name in os.listdir(os.fsencode(work)):
        if name != b".git":
            path = os.fsencode(work) + b"/" + name
            shutil.rmtree(path) if os.path.isdir(path) and not os.path.islink(path) else os.remove(path)
    write(os.fsencode(work), new)
    tree = WorkspaceTree(layers=(work,))
    by_commit = capture_changes(resolve_baseline(work, rev.stdout.decode().strip()), tree)
    by_directory = capture_changes(directory_baseline(here / "old"), tree)
    assert by_commit.baseline.trusted
    assert by_commit.changes == by_directory.changes
    assert by_commit.digest == by_directory.digest
    assert by_commit.diff == by_directory.diff


@given(
    old=st.lists(st.sampled_from([b"a", b"b", b"c"]), max_size=20),
    new=st.lists(st.sampled_from([b"a", b"b", b"c"]), max_size=20),
    steps=st.integers(0, 300),
)
def test_a_line_diff_is_right_whatever_its_budget(old: list[bytes], new: list[bytes], steps: int) -> None:
    a_at = b_at = 0
    for a_low, a_high, b_low, b_high in diff_lines(old, new, Budget(steps)):
        assert old[a_at:a_low] == new[b_at:b_low]
        assert a_high > a_low or b_high > b_low
        a_at, b_at = a_high, b_high
    assert old[a_at:] == new[b_at:]


@settings(parent=slow, max_examples=60)
@given(
    rules=st.lists(
        st.lists(
            st.sampled_from(
                ["a", "b", "*", "**", "/", "?", "[ab]", "[!a]", "!", "\\", " ", ".x", "[[:alpha:]]", "a-"]
            ),
            min_size=1,
            max_size=5,
        ).map("".join),
        min_size=1,
        max_size=5,
    ),
    names=st.lists(st.sampled_from(["a", "b", "ab", "a b", ".x", "b.x", "a*"]), min_size=1, max_size=4),
)
@needs_git
def test_ignore_rules_mean_what_git_says_they_mean(place: Path, rules: list[str], names: list[str]) -> None:
    here = fresh(place)
    subprocess.run(["git", "init", "-q"], cwd=here, env=GIT_ENV, check=True)
    (here / ".gitignore").write_text("\n".join(rules) + "\n")
    path = "/".join(names)
    (here / path).parent.mkdir(parents=True, exist_ok=True)
    (here / path).write_text("")
    told = subprocess.run(
        ["git", "ls-files", "-z", "--others", "--exclude-standard"],
        cwd=here,
        env=GIT_ENV,
        check=True,
        capture_output=True,
    )
    ignored_by_git = path.encode() not in told.stdout.split(b"\0")
    parsed = parse_ignore_file((here / ".gitignore").read_bytes())
    ignored = any(
        parsed.decide("/".join(names[:depth]).encode(), is_directory=depth < len(names))
        for depth in range(1, len(names) + 1)
    )
    assert ignored == ignored_by_git
