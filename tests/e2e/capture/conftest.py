"""A repository that real git works on, and an overlay that the real kernel keeps."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest

from adjudge.capture.baseline import resolve_baseline
from adjudge.capture.changes import capture_changes
from adjudge.capture.diff import DiffLimits
from adjudge.records.change import ChangeSet, FileChange, RepositoryRule
from adjudge.records.sandbox import WorkspaceTree
from adjudge.store.blobs import BlobDirectory

GIT_ENV = {
    "PATH": os.environ["PATH"],
    "GIT_CONFIG_GLOBAL": "/dev/null",
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_AUTHOR_NAME": "t",
    "GIT_AUTHOR_EMAIL": "t@example.org",
    "GIT_COMMITTER_NAME": "t",
    "GIT_COMMITTER_EMAIL": "t@example.org",
    "GIT_ALLOW_PROTOCOL": "file",
}


@dataclass
class Seen:
    """A change set, and its diff in full."""

    changes: ChangeSet
    diff: bytes

    @property
    def summary(self) -> dict[str, str]:
        """Path → kind, litter in parentheses."""
        return {
            change.path: f"({change.kind.value})" if change.litter else change.kind.value
            for change in self.changes.changes
        }

    @property
    def rules(self) -> set[RepositoryRule]:
        """What was found planted in `.git`."""
        return {finding.rule for finding in self.changes.repository}

    def __getitem__(self, path: str) -> FileChange:
        return next(change for change in self.changes.changes if change.path == path)


class Workspace:
    """A working tree with git in it."""

    def __init__(self, root: Path, scratch: Path) -> None:
        self.root = root
        self.scratch = scratch
        self.home = scratch / "home"
        self.home.mkdir(exist_ok=True)

    def git(self, *arguments: str, cwd: Path | None = None) -> str:
        done = subprocess.run(
            ["git", *arguments],
            cwd=cwd or self.root,
            env={**GIT_ENV, "HOME": str(self.home)},
            check=True,
            capture_output=True,
            text=True,
            errors="surrogateescape",
        )
        return done.stdout.strip()

    def write(self, path: str, content: str | bytes = "content\n", mode: int = 0o644) -> Path:
        place = self.root / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(content.encode() if isinstance(content, str) else content)
        place.chmod(mode)
        return place

    def commit(self, message: str = "change") -> str:
        self.git("add", "-A", "-f")
        self.git("commit", "-q", "--allow-empty", "-m", message)
        return self.git("rev-parse", "HEAD")

    def copy(self, name: str = "before") -> Path:
        """Copy the working tree, `.git` and all, as a directory baseline."""
        place = self.scratch / name
        shutil.copytree(self.root, place, symlinks=True)
        return place

    def see(self, baseline: str | Path | None = None, limits: DiffLimits | None = None) -> Seen:
        """What changed, the way the command line would see it."""
        given = None if baseline is None else str(baseline)
        return see(
            resolve_baseline(self.root, given), WorkspaceTree(layers=(self.root,)), self.scratch, limits
        )


def see(baseline: object, tree: WorkspaceTree, scratch: Path, limits: DiffLimits | None = None) -> Seen:
    blobs = BlobDirectory(scratch / "blobs")
    changes = capture_changes(baseline, tree, blobs=blobs, limits=limits)  # type: ignore[arg-type]
    with blobs.open(changes.diff) as stream:
        return Seen(changes, stream.read())


@pytest.fixture
def workspace(hostile_tmp: Path) -> Workspace:
    """An empty repository on branch main."""
    if shutil.which("git") is None:
        pytest.skip("git is not installed")
    root = hostile_tmp / "workspace"
    root.mkdir()
    made = Workspace(root, hostile_tmp)
    made.git("init", "-q", "-b", "main")
    return made


class Overlay:
    """A baseline directory with a real overlay over it.

    Args:
        scratch: Where the layers lie.
        privileged: Whether the marks are in `trusted.*` (root, exact renames) or in `user.*`.
    """

    def __init__(self, scratch: Path, *, privileged: bool) -> None:
        scratch.mkdir(exist_ok=True)
        self.base = scratch / "base"
        self.layers = [self.base]
        self._scratch = scratch
        self._privileged = privileged
        self._merged = scratch / "merged"
        for place in (self.base, self._merged):
            place.mkdir()

    def another(self) -> Overlay:
        """One of the same kind, over an empty baseline."""
        place = tempfile.mkdtemp(prefix="overlay-", dir=self._scratch)
        return Overlay(Path(place), privileged=self._privileged)

    @property
    def tree(self) -> WorkspaceTree:
        prefix = "trusted.overlay." if self._privileged else "user.overlay."
        return WorkspaceTree(layers=tuple(self.layers), xattr_prefix=prefix)

    def run(self, script: str) -> Path:
        """Run Python code in the mounted overlay, on a new layer; returns a plain copy of the result."""
        number = len(self.layers)
        upper, work = self._scratch / f"upper{number}", self._scratch / f"work{number}"
        flat = self._scratch / f"flat{number}"
        upper.mkdir()
        work.mkdir()
        lower = ":".join(str(layer) for layer in reversed(self.layers))
        own = "redirect_dir=on,metacopy=off,index=off" if self._privileged else "userxattr"
        options = f"lowerdir={lower},upperdir={upper},workdir={work},{own}"
        program = self._scratch / f"script{number}.py"
        program.write_text(script)
        shell = (
            f"mount -t overlay overlay -o {options} {self._merged} && cd {self._merged} && "
            f"{sys.executable} -I {program} && cp -a {self._merged} {flat}"
        )
        subprocess.run([*_namespace(), "sh", "-c", shell], check=True, capture_output=True)
        self.layers.append(upper)
        return flat


def _namespace() -> list[str]:
    return ["unshare", "-m"] if os.geteuid() == 0 else ["unshare", "-Urm"]


@cache
def _why_no_overlay(place: str, privileged: bool) -> str | None:
    if privileged and os.geteuid() != 0:
        return "an overlay with trusted marks needs root"
    trial = Path(place, f"trial-{privileged}")
    trial.mkdir()
    try:
        Overlay(trial, privileged=privileged).run("")
    except (OSError, subprocess.CalledProcessError) as error:
        return f"overlays cannot be mounted here: {getattr(error, 'stderr', error)!r}"
    return None


@pytest.fixture(params=["trusted marks", "user marks"])
def overlay(request: pytest.FixtureRequest, hostile_tmp: Path) -> Overlay:
    """An overlay whose marks are kept the one way or the other."""
    privileged = request.param == "trusted marks"
    reason = _why_no_overlay(str(hostile_tmp), privileged)
    if reason is not None:
        pytest.skip(reason)
    return Overlay(hostile_tmp, privileged=privileged)
