"""What an agent can do with the file system to hide a change, and what must survive being seen."""

from __future__ import annotations

import json
import os
import resource
import socket
import stat
import subprocess
import sys
import threading
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from adjudge.capture.baseline import directory_baseline
from adjudge.capture.changes import capture_changes
from adjudge.capture.diff import DiffLimits
from adjudge.capture.fingerprint import fingerprint, record_stat_index
from adjudge.errors import SubjectChanged, WorkspaceUnreadable
from adjudge.records.change import ChangeKind, ChangeSet, EntryType
from adjudge.records.sandbox import WorkspaceTree

if TYPE_CHECKING:
    from tests.e2e.capture.conftest import Workspace

IS_ROOT = os.geteuid() == 0


@pytest.fixture
def pair(hostile_tmp: Path) -> tuple[Path, Path]:
    """An empty baseline directory and an empty workspace."""
    before, after = hostile_tmp / "before", hostile_tmp / "after"
    before.mkdir()
    after.mkdir()
    return before, after


def changes(pair: tuple[Path, Path], limits: DiffLimits | None = None) -> ChangeSet:
    return capture_changes(directory_baseline(pair[0]), WorkspaceTree(layers=(pair[1],)), limits=limits)


def summary(found: ChangeSet) -> dict[str, str]:
    return {change.path: change.kind.value for change in found.changes}


def test_a_touched_file_is_not_a_change(pair: tuple[Path, Path]) -> None:
    for place in pair:
        (place / "a.py").write_text("same\n")
    os.utime(pair[1] / "a.py", (0, 0))
    assert summary(changes(pair)) == {}


def test_a_restored_time_stamp_hides_no_change(pair: tuple[Path, Path]) -> None:
    for place in pair:
        (place / "a.py").write_text("same\n")
    status = (pair[1] / "a.py").stat()
    (pair[1] / "a.py").write_text("evil\n")
    os.utime(pair[1] / "a.py", ns=(status.st_atime_ns, status.st_mtime_ns))
    assert summary(changes(pair)) == {"a.py": "modified"}


def test_case_only_renames(pair: tuple[Path, Path]) -> None:
    (pair[0] / "Readme.md").write_text("text\n" * 10)
    (pair[1] / "README.md").write_text("text\n" * 10)
    (change,) = changes(pair).changes
    assert (change.kind, change.old_path, change.path) == (ChangeKind.RENAMED, "Readme.md", "README.md")


def test_names_keep_their_true_bytes(pair: tuple[Path, Path]) -> None:
    names = [
        b"\xff\xfe.py",
        b"new\nline.py",
        b'quo"te',
        b"back\\slash",
        b"tab\t",
        " \u202ertl".encode(),
        b"a" * 255,
    ]
    for name in names:
        with open(os.fsencode(pair[1]) + b"/" + name, "wb") as stream:
            stream.write(b"x\n")
    found = changes(pair)
    assert sorted(change.path.encode("utf-8", "surrogateescape") for change in found.changes) == sorted(names)
    again = ChangeSet.model_validate_json(found.model_dump_json())
    assert again == found
    assert [entry["path"] for entry in json.loads(found.model_dump_json())["changes"]] != names


def test_a_baseline_with_an_odd_name_is_described_in_the_document(hostile_tmp: Path) -> None:
    before, after = Path(os.fsdecode(os.fsencode(hostile_tmp) + b"/be\xfffore")), hostile_tmp / "after"
    before.mkdir()
    after.mkdir()
    found = changes((before, after))
    assert "be\\377fore" in json.loads(found.model_dump_json())["baseline"]["description"]


def test_renamed_files_with_changes_in_them(pair: tuple[Path, Path]) -> None:
    text = "".join(f"line {number}\n" for number in range(100))
    (pair[0] / "old.py").write_text(text)
    (pair[1] / "new.py").write_text(text.replace("line 50\n", "changed\n"))
    (pair[1] / "unrelated.py").write_text("something\nelse\n")
    found = changes(pair)
    assert summary(found) == {"new.py": "renamed", "unrelated.py": "added"}
    renamed = found.changes[0]
    assert renamed.paths == ("old.py", "new.py")
    assert (renamed.added_lines, renamed.removed_lines) == (1, 1)
    assert renamed.hunks[0].old_start == 51
    assert "similarity index 9" in found.diff.text


def test_many_equal_files_are_paired_in_little_time(pair: tuple[Path, Path]) -> None:
    for number in range(1000):
        (pair[0] / f"old{number}").write_text("")
        (pair[1] / f"new{number}").write_text("")
    assert {change.kind for change in changes(pair).changes} == {ChangeKind.RENAMED}


def test_files_become_directories_and_back(pair: tuple[Path, Path]) -> None:
    (pair[0] / "a").write_text("file\n")
    (pair[1] / "a").mkdir()
    (pair[1] / "a/b").write_text("inner\n")
    (pair[0] / "c").mkdir()
    (pair[0] / "c/d").write_text("deep\n" * 9)
    (pair[1] / "c").write_text("file now\n")
    (pair[0] / "e").write_text("empty directory now\n")
    (pair[1] / "e").mkdir()
    assert summary(changes(pair)) == {
        "a": "deleted",
        "a/b": "added",
        "c": "added",
        "c/d": "deleted",
        "e": "type_changed",
    }


def test_symlinks_are_never_followed(pair: tuple[Path, Path]) -> None:
    secret = pair[0].parent / "secret"
    secret.mkdir()
    (secret / "key").write_text("do not read\n")
    (pair[0] / "data").mkdir()
    (pair[0] / "data/key").write_text("do not read\n")
    (pair[0] / "file").write_text("x\n")
    (pair[1] / "data").symlink_to(secret)
    (pair[1] / "file").symlink_to(secret / "key")
    (pair[1] / "dangling").symlink_to("nowhere")
    (pair[1] / "loop").symlink_to("loop")
    (pair[1] / "up").symlink_to("..")
    found = changes(pair)
    assert summary(found) == {
        "dangling": "added",
        "data": "added",
        "data/key": "deleted",
        "file": "type_changed",
        "loop": "added",
        "up": "added",
    }
    assert all(
        change.new_type is EntryType.SYMLINK
        for change in found.changes
        if change.kind is not ChangeKind.DELETED
    )
    assert "+do not read" not in found.diff.text


def test_special_files_are_seen_and_never_opened(
    pair: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    (pair[0] / "was a file").write_text("x\n")
    os.mkfifo(pair[1] / "was a file")
    os.mkfifo(pair[1] / "fifo")
    monkeypatch.chdir(pair[1])
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind("socket")
        if IS_ROOT:
            os.mknod(pair[1] / "device", stat.S_IFCHR | 0o666, os.makedev(1, 3))
        found = changes(pair)
    expected = {"fifo": "added", "socket": "added", "was a file": "type_changed"}
    assert summary(found) == (expected | {"device": "added"} if IS_ROOT else expected)
    assert {change.new_type for change in found.changes} == {EntryType.SPECIAL}
    assert found.changes[-1].new_mode == stat.S_IFIFO
    assert any("special file" in warning for warning in found.warnings)


def test_mode_changes(pair: tuple[Path, Path]) -> None:
    for place in pair:
        (place / "run.sh").write_text("x\n")
        (place / "quiet").write_text("x\n")
    (pair[1] / "run.sh").chmod(0o755)
    (pair[1] / "quiet").chmod(0o600)
    found = changes(pair)
    assert summary(found) == {"run.sh": "mode_changed"}
    assert (found.changes[0].old_mode, found.changes[0].new_mode) == (0o100644, 0o100755)
    assert "old mode 100644\nnew mode 100755\n" in found.diff.text


def test_permissions_that_git_does_not_record_are_warned_about(pair: tuple[Path, Path]) -> None:
    for place in pair:
        for name in ("open", "setuid"):
            (place / name).write_text("x\n")
            (place / name).chmod(0o755)
    (pair[1] / "open").chmod(0o777)
    (pair[1] / "setuid").chmod(0o4755)
    (pair[1] / "new").write_text("x\n")
    (pair[1] / "new").chmod(0o6755)
    assert changes(pair).warnings == (
        "2 paths became set-user-id: new, setuid",
        "1 path became set-group-id: new",
        "1 path became world-writable: open",
    )


def test_empty_directories(pair: tuple[Path, Path]) -> None:
    (pair[0] / "gone").mkdir()
    (pair[0] / "emptied").mkdir()
    (pair[0] / "emptied/file").write_text("x\n")
    (pair[1] / "emptied").mkdir()
    (pair[0] / "filled").mkdir()
    (pair[1] / "filled").mkdir()
    (pair[1] / "filled/file").write_text("y\n")
    (pair[1] / "a/b/c").mkdir(parents=True)
    found = changes(pair)
    assert summary(found) == {
        "a/b/c": "added",
        "emptied/file": "deleted",
        "filled/file": "added",
        "gone": "deleted",
    }
    assert found.changes[0].new_type is EntryType.DIRECTORY


def test_hardlinks_are_files_like_any_other(pair: tuple[Path, Path]) -> None:
    (pair[0] / "one").write_text("x\n")
    os.link(pair[0] / "one", pair[0] / "two")
    (pair[1] / "one").write_text("y\n")
    os.link(pair[1] / "one", pair[1] / "two")
    os.link(pair[0] / "one", pair[0] / "same")
    os.link(pair[0] / "one", pair[1] / "same")
    assert summary(changes(pair)) == {"one": "modified", "two": "modified"}


def test_paths_longer_than_the_kernel_takes_at_once(pair: tuple[Path, Path]) -> None:
    depth = 300
    here = os.open(pair[1], os.O_RDONLY)
    for _ in range(depth):
        os.mkdir("d" * 50, dir_fd=here)
        inner = os.open("d" * 50, os.O_RDONLY, dir_fd=here)
        os.close(here)
        here = inner
    for name in ("deep.py", "second.py"):
        with os.fdopen(os.open(name, os.O_CREAT | os.O_WRONLY, 0o644, dir_fd=here), "w") as stream:
            stream.write(f"{name}\n")
    os.close(here)
    found = changes(pair)
    assert len(found.changes) == 2
    assert len(found.changes[0].path) > 4 * 4096 // 2 > 4096
    assert found.changes[0].new_digest is not None
    assert "+second.py" in found.diff.text


def test_thousands_of_nested_directories(pair: tuple[Path, Path]) -> None:
    here = os.open(pair[1], os.O_RDONLY)
    for number in range(3000):
        os.mkdir("d", dir_fd=here)
        if number % 100 == 0:
            os.mkdir("side", dir_fd=here)
        inner = os.open("d", os.O_RDONLY, dir_fd=here)
        os.close(here)
        here = inner
    os.close(here)
    found = changes(pair)
    assert len(found.changes) == 31
    assert {change.new_type for change in found.changes} == {EntryType.DIRECTORY}


@pytest.mark.skipif(IS_ROOT, reason="root reads everything")
def test_unreadable_entries_are_certain_changes(pair: tuple[Path, Path]) -> None:
    for place in pair:
        (place / "closed").mkdir()
        (place / "closed/inner").write_text("x\n")
        (place / "searchless").mkdir()
        (place / "searchless/inner").write_text("x\n")
        (place / "file").write_text("x\n")
    (pair[1] / "new").mkdir()
    (pair[1] / "new").chmod(0)
    (pair[1] / "closed").chmod(0)
    (pair[1] / "searchless").chmod(0o444)
    (pair[1] / "file").chmod(0)
    (pair[1] / "added").write_text("x\n")
    (pair[1] / "added").chmod(0)
    found = changes(pair)
    assert summary(found) == {
        "added": "added",
        "closed": "modified",
        "closed/inner": "modified",
        "file": "modified",
        "new": "added",
        "searchless/inner": "modified",
    }
    assert all(change.unreadable for change in found.changes)
    assert any("could not be read" in warning for warning in found.warnings)


@pytest.mark.root
def test_root_reads_what_the_owner_may_not(pair: tuple[Path, Path]) -> None:
    for place in pair:
        (place / "closed").mkdir()
        (place / "closed/inner").write_text("x\n")
        (place / "file").write_text("x\n")
    (pair[1] / "closed/inner").write_text("y\n")
    (pair[1] / "closed").chmod(0)
    (pair[1] / "file").chmod(0)
    found = changes(pair)
    assert summary(found) == {"closed/inner": "modified"}
    assert found.changes[0].unreadable is None


LARGE = """
import hashlib, json, resource, sys
from pathlib import Path
from adjudge.capture.baseline import resolve_baseline
from adjudge.capture.changes import capture_changes
from adjudge.records.sandbox import WorkspaceTree
baseline = resolve_baseline(Path(sys.argv[1]), sys.argv[2])
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
found = capture_changes(baseline, WorkspaceTree(layers=(Path(sys.argv[1]),)))
grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
print(json.dumps({"grown_kib": grown, "changes": json.loads(found.model_dump_json())}))
"""


def test_a_200_mb_file_is_right_and_costs_no_memory(workspace: Workspace) -> None:
    line = b"x" * 99 + b"\n"
    place = workspace.write("big.txt", b"")
    with place.open("wb") as stream:
        for _ in range(200):
            stream.write(line * 10_000)
    workspace.git("config", "core.compression", "0")
    before = workspace.commit()
    copy = workspace.copy()
    with place.open("ab") as stream:
        stream.write(b"one line more\n")
    digest = subprocess.run(["sha256sum", place], capture_output=True, check=True, text=True).stdout[:64]
    for baseline in (str(copy), before):
        done = subprocess.run(
            [sys.executable, "-c", LARGE, workspace.root, baseline],
            capture_output=True,
            check=True,
            text=True,
        )
        told = json.loads(done.stdout)
        (change,) = told["changes"]["changes"]
        assert change["new_digest"] == f"sha256:{digest}"
        assert change["new_size_bytes"] == 200_000_014
        assert change["old_size_bytes"] == 200_000_000
        assert change["diff_truncated"]
        assert change["added_lines"] is None
        assert told["changes"]["diff"]["truncated"]
        assert "content left out: 200000014 bytes" in told["changes"]["diff"]["head"]
        assert told["grown_kib"] < 30_000


def test_a_sparse_file_of_any_size_costs_nothing(pair: tuple[Path, Path]) -> None:
    with (pair[1] / "huge").open("wb") as stream:
        os.ftruncate(stream.fileno(), 1 << 42)
    (change,) = changes(pair).changes
    assert change.new_size_bytes == 1 << 42
    assert change.new_digest is None
    assert change.unreadable is not None


def test_a_diff_at_its_limit_is_marked_and_counts_go_on(pair: tuple[Path, Path]) -> None:
    for number in range(10):
        (pair[1] / f"{number}.py").write_text(f"line {number}\n" * 100)
    found = changes(pair, DiffLimits(total_bytes=3000))
    assert found.diff.truncated
    assert [change.added_lines for change in found.changes] == [100] * 10
    assert [change.diff_truncated for change in found.changes] == [False] * 3 + [True] * 7
    assert all(change.new_digest for change in found.changes)


def test_binary_files_are_patched_whole(pair: tuple[Path, Path]) -> None:
    (pair[0] / "image.png").write_bytes(bytes(range(256)) * 20)
    (pair[1] / "image.png").write_bytes(bytes(range(256)) * 21)
    found = changes(pair)
    assert found.changes[0].binary
    assert found.changes[0].added_lines is None
    assert not found.changes[0].diff_truncated
    assert "GIT binary patch" in found.diff.text


def test_too_many_changes_are_the_attempts_fault(pair: tuple[Path, Path]) -> None:
    for number in range(20):
        (pair[1] / str(number)).write_text("")
    with pytest.raises(WorkspaceUnreadable, match="more than 10 paths"):
        changes(pair, DiffLimits(changes=10))


def test_litter_is_kept_apart_and_listed(pair: tuple[Path, Path]) -> None:
    (pair[0] / ".gitignore").write_text("*.log\nbuild/\n")
    (pair[0] / "pkg/__pycache__").mkdir(parents=True)
    (pair[0] / "pkg/__pycache__/m.pyc").write_bytes(b"old")
    (pair[0] / "build").mkdir()
    (pair[0] / "build/kept.js").write_text("tracked, as far as a directory can tell\n")
    subprocess.run(["cp", "-a", f"{pair[0]}/.", pair[1]], check=True)
    (pair[1] / "pkg/__pycache__/m.pyc").write_bytes(b"new")
    (pair[1] / "build/kept.js").write_text("changed\n")
    for name in ("x.log", "build/out.js", "node_modules/p/index.js", ".DS_Store", "target/main.rs", "a.py~"):
        (pair[1] / name).parent.mkdir(parents=True, exist_ok=True)
        (pair[1] / name).write_text("x\n")
    found = changes(pair)
    assert {change.path for change in found.litter} == {
        ".DS_Store",
        "a.py~",
        "build/out.js",
        "node_modules/p/index.js",
        "pkg/__pycache__/m.pyc",
        "x.log",
    }
    assert {change.path for change in found.work} == {"build/kept.js", "target/main.rs"}
    assert "node_modules" not in found.diff.text


def test_litter_beyond_its_budget_is_listed_without_digests(pair: tuple[Path, Path]) -> None:
    (pair[1] / "node_modules").mkdir()
    for number in range(50):
        (pair[1] / f"node_modules/{number:02}.js").write_text("x\n")
    found = changes(pair, DiffLimits(litter_hashed_files=10))
    assert len(found.litter) == 50
    assert sum(change.new_digest is not None for change in found.litter) == 10
    (pair[1] / "node_modules/49.js").write_text("longer\n")
    assert changes(pair, DiffLimits(litter_hashed_files=10)).digest != found.digest


def test_the_digest_is_of_the_change_alone(pair: tuple[Path, Path], hostile_tmp: Path) -> None:
    (pair[0] / "a.py").write_text("1\n")
    (pair[1] / "a.py").write_text("2\n")
    first = changes(pair).digest
    for place, moved in zip(pair, (hostile_tmp / "elsewhere", hostile_tmp / "other"), strict=True):
        subprocess.run(["cp", "-r", place, moved], check=True)
        (moved / "untouched").write_text("x\n")
    assert changes((hostile_tmp / "elsewhere", hostile_tmp / "other")).digest == first
    (pair[1] / "a.py").write_text("3\n")
    assert changes(pair).digest != first


def test_a_workspace_written_to_meanwhile_is_noticed(pair: tuple[Path, Path]) -> None:
    for number in range(200):
        (pair[1] / f"{number:03}").write_text("x\n")
    tree = WorkspaceTree(layers=(pair[1],))
    stop = threading.Event()

    def churn() -> None:
        number = 0
        while not stop.is_set():
            number = (number + 1) % 200
            (pair[1] / f"{number:03}").unlink()
            (pair[1] / f"{number:03}").symlink_to("nowhere")
            (pair[1] / f"{number:03}").unlink()
            (pair[1] / f"{number:03}").write_text("x\n")

    writer = threading.Thread(target=churn)
    first = fingerprint(tree)
    assert fingerprint(tree) == first
    writer.start()
    try:
        for _ in range(20):
            try:
                capture_changes(directory_baseline(pair[0]), tree)
            except SubjectChanged:
                break
    finally:
        stop.set()
        writer.join()
    assert fingerprint(tree) != first


def test_a_fingerprint_sees_a_change_with_restored_times(pair: tuple[Path, Path]) -> None:
    (pair[1] / "a").write_text("1\n")
    tree = WorkspaceTree(layers=(pair[1],))
    first = fingerprint(tree)
    status = (pair[1] / "a").stat()
    (pair[1] / "a").write_text("2\n")
    os.utime(pair[1] / "a", ns=(status.st_atime_ns, status.st_mtime_ns))
    assert fingerprint(tree) != first


def test_a_stat_index_spares_reading_and_hides_nothing(pair: tuple[Path, Path]) -> None:
    for place in pair:
        for number in range(100):
            (place / f"{number:02}").write_text("same\n")
    for number in range(90):
        os.utime(pair[1] / f"{number:02}")
    index = record_stat_index(pair[1])
    baseline, tree = directory_baseline(pair[0]), WorkspaceTree(layers=(pair[1],))
    assert capture_changes(baseline, tree, index=index).changes == ()
    # Right after recording, and with the times put back: the cases a careless index would miss.
    for name in ("00", "99"):
        status = (pair[1] / name).stat()
        (pair[1] / name).write_text("evil\n")
        os.utime(pair[1] / name, ns=(status.st_atime_ns, status.st_mtime_ns))
    (pair[1] / "50").chmod(0o755)
    (pair[1] / "51").unlink()
    found = capture_changes(baseline, tree, index=index)
    assert summary(found) == {"00": "modified", "50": "mode_changed", "51": "deleted", "99": "modified"}


def test_descriptors_are_given_back(pair: tuple[Path, Path]) -> None:
    (pair[1] / "a/b/c").mkdir(parents=True)
    before = len(os.listdir("/proc/self/fd"))
    for _ in range(5):
        changes(pair)
    assert len(os.listdir("/proc/self/fd")) == before
    assert resource.getrlimit(resource.RLIMIT_NOFILE)[0] > 64
