"""Capture of 20 changes in trees of 1,000, 10,000 and 100,000 files, seeded and foreign, beside git.

Seeded: the change set is read from the layer of a real overlay over the baseline. Copied: a workspace we
copied ourselves, with a stat index. Directory, commit: a foreign workspace, all of which is read. Beside
them `git status` and `git diff` of the same tree, which trust the index that the agent could write, and
`git status` with a void index, which has to read every file as we have to. Kinds take turns within a round;
figures are medians.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from adjudge.capture.baseline import directory_baseline, resolve_baseline
from adjudge.capture.changes import capture_changes
from adjudge.capture.fingerprint import fingerprint, record_stat_index
from adjudge.records.change import ChangeSet
from adjudge.records.sandbox import WorkspaceTree

SIZES = (1_000, 10_000, 100_000)
ROUNDS = 5
CHANGES = 20
KINDS = ("seeded", "copied", "directory", "commit", "fingerprint", "git reading", "git status", "git diff")
GIT_ENV = {**os.environ, "GIT_CONFIG_GLOBAL": "/dev/null", "GIT_CONFIG_NOSYSTEM": "1"}


def git(workspace: Path, *arguments: str, **env: str) -> str:
    command = ["git", "-c", "user.name=b", "-c", "user.email=b@example.org", "-c", "gc.auto=0", *arguments]
    done = subprocess.run(
        command, cwd=workspace, env=GIT_ENV | env, check=True, capture_output=True, text=True
    )
    return done.stdout


def build(root: Path, files: int) -> None:
    """A tree like a source tree: 20 files to a folder, three levels, 2 kB a file."""
    for number in range(files):
        if number % 20 == 0:
            folder = root / f"d{number // 20_000}/d{number // 400 % 50}/d{number // 20 % 20}"
            folder.mkdir(parents=True)
        (folder / f"file{number}.py").write_text(f"# file {number}\n" + "value = 1\n" * 200)


def change(root: Path, files: int) -> None:
    """Twenty changes: edits, an addition, a deletion, a rename."""
    paths = sorted(root.glob("d*/d*/d*/*.py"))
    chosen = [paths[number * (files // CHANGES)] for number in range(CHANGES)]
    for path in chosen[:17]:
        path.write_text(path.read_text().replace("value = 1\n", "value = 2\n", 3))
    (chosen[17].parent / "added.py").write_text("new = True\n")
    chosen[18].unlink()
    chosen[19].rename(chosen[19].with_name("renamed.py"))


def overlay(base: Path, place: Path, files: int) -> WorkspaceTree:
    """A real overlay over `base` in which the twenty changes were made."""
    upper, work, merged = place / "upper", place / "work", place / "merged"
    for folder in (upper, work, merged):
        folder.mkdir()
    root = os.geteuid() == 0
    own = "redirect_dir=on,metacopy=off" if root else "userxattr"
    mount = f"mount -t overlay overlay -o lowerdir={base},upperdir={upper},workdir={work},{own} {merged}"
    code = (
        f"from pathlib import Path; from bench.capture import change; change(Path({str(merged)!r}), {files})"
    )
    namespace = ["unshare", "-m"] if root else ["unshare", "-Urm"]
    subprocess.run([*namespace, "sh", "-c", f'{mount} && {sys.executable} -c "{code}"'], check=True)
    return WorkspaceTree(layers=(base, upper), xattr_prefix="trusted.overlay." if root else "user.overlay.")


def median_ms(works: dict[str, Callable[[], object]]) -> dict[str, float]:
    taken: dict[str, list[float]] = {kind: [] for kind in works}
    for _ in range(ROUNDS):
        for kind, work in works.items():
            started = time.perf_counter()
            work()
            taken[kind].append(time.perf_counter() - started)
    return {kind: statistics.median(times) * 1000 for kind, times in taken.items()}


def twenty(found: ChangeSet) -> None:
    if len(found.changes) != CHANGES:
        raise RuntimeError(f"{len(found.changes)} changes instead of {CHANGES}")


def measure(files: int, place: Path) -> None:
    base, workspace = place / "base", place / "workspace"
    build(base, files)
    subprocess.run(["cp", "-a", base, workspace], check=True)
    index = record_stat_index(workspace)
    git(workspace, "init", "-q")
    git(workspace, "add", "-A")
    git(workspace, "commit", "-qm", "before")
    commit = git(workspace, "rev-parse", "HEAD").strip()
    git(workspace, "repack", "-adq")
    change(workspace, files)
    tree = WorkspaceTree(layers=(workspace,))
    layered = overlay(base, place, files)
    by_directory, by_commit = directory_baseline(base), resolve_baseline(workspace, commit)
    # An index that knows the ids but no status; git does not write it back, so every turn reads everything.
    void = {"GIT_INDEX_FILE": str(place / "void-index"), "GIT_OPTIONAL_LOCKS": "0"}
    git(workspace, "read-tree", "HEAD", **void)
    git(workspace, "status", "--porcelain")
    works: tuple[Callable[[], object], ...] = (
        lambda: twenty(capture_changes(by_directory, layered)),
        lambda: twenty(capture_changes(by_directory, tree, index=index)),
        lambda: twenty(capture_changes(by_directory, tree)),
        lambda: twenty(capture_changes(by_commit, tree)),
        lambda: fingerprint(tree),
        lambda: git(workspace, "status", "--porcelain", **void),
        lambda: git(workspace, "status", "--porcelain"),
        lambda: git(workspace, "diff", "HEAD"),
    )
    figures = median_ms(dict(zip(KINDS, works, strict=True)))
    cells = "".join(f"{figures[kind]:12.1f}" for kind in KINDS)
    seeded, foreign = figures["seeded"] / figures["git status"], figures["commit"] / figures["git reading"]
    print(f"{files:8d}{cells}   {seeded:.3f}, {foreign:.2f}", flush=True)


def run() -> None:
    print(
        "   files"
        + "".join(f"{kind:>12}" for kind in KINDS)
        + "   ms; seeded ÷ git status, commit ÷ git reading"
    )
    for files in SIZES:
        with tempfile.TemporaryDirectory(prefix="adjudge-bench-", dir="/var/tmp") as name:
            measure(files, Path(name))
