"""A patch as a workspace: the baseline written to a scratch folder, and the patch applied there."""

from __future__ import annotations

import os
import stat
from pathlib import Path

from adjudge.capture.baseline import Baseline
from adjudge.errors import CaptureError, PatchUnreadable, UsageError, boundary
from adjudge.formats.patch import parse_patch
from adjudge.formats.patching import FOLDER, TreeFile, apply_patch
from adjudge.records.paths import path_bytes, render_path
from adjudge.workflows.baselines import write_baseline

__all__ = ["look_up", "patched_workspace", "read_patch"]

_MAX_PATCH_BYTES = 256 * 1024 * 1024


def read_patch(given: str | Path | bytes) -> bytes:
    """The bytes of a patch, from a file or as they are.

    Raises:
        UsageError: The file cannot be read. What is in it is the attempt's, so that never raises here.
    """
    if isinstance(given, bytes):
        return given
    try:
        descriptor = os.open(given, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        with os.fdopen(descriptor, "rb") as file:
            if not stat.S_ISREG(os.fstat(descriptor).st_mode):
                raise UsageError(f"patch {given} is not a file")
            return file.read(_MAX_PATCH_BYTES + 1)
    except OSError as error:
        raise UsageError(f"patch {given} cannot be read: {error.strerror}") from error


def patched_workspace(baseline: Baseline, patch: bytes, place: Path) -> None:
    """Write the baseline to `place`, a folder that does not exist yet, and apply the patch to it.

    Raises:
        PatchUnreadable: The patch is malformed, touches what it may not, or does not apply.
        CaptureError: The baseline cannot be written out.
    """
    patches = parse_patch(patch)
    write_baseline(baseline, place)
    root = os.fsencode(place)
    changed = apply_patch(patches, lambda path: look_up(root, path))
    with boundary(CaptureError, "the patched workspace cannot be written"):
        _write(root, {path_bytes(path): (path, entry) for path, entry in changed.items()})


def look_up(root: bytes, path: str) -> TreeFile | None:
    """What lies at a path of the scratch copy, which holds files, folders and symlinks only."""
    raw = path_bytes(path)
    place = root
    parts = raw.split(b"/")
    for part in parts[:-1]:
        place = os.path.join(place, part)
        if not stat.S_ISDIR(_mode(place)):
            return None
    place = os.path.join(root, raw)
    mode = _mode(place)
    if stat.S_ISDIR(mode):
        return TreeFile(FOLDER, b"")
    if stat.S_ISLNK(mode):
        return TreeFile(0o120000, os.readlink(place))
    if not mode:
        return None
    with open(place, "rb") as file:
        return TreeFile(0o100755 if mode & 0o100 else 0o100644, file.read())


def _mode(place: bytes) -> int:
    try:
        return os.lstat(place).st_mode
    except (FileNotFoundError, NotADirectoryError):
        return 0
    except OSError as error:
        raise PatchUnreadable(f"a path that cannot be: {error.strerror}") from error


def _write(root: bytes, changes: dict[bytes, tuple[str, TreeFile | None]]) -> None:
    """Write the new entries. Removals first, so that a file can take a folder's place and the reverse."""
    for raw in sorted(changes, reverse=True):
        place = os.path.join(root, raw)
        if os.path.lexists(place) and not (os.path.isdir(place) and not os.path.islink(place)):
            os.unlink(place)
    for raw, (_, entry) in changes.items():
        if entry is None:
            _drop_empty_parents(root, raw)
    for raw, (path, entry) in sorted(changes.items()):
        if entry is None:
            continue
        place = os.path.join(root, raw)
        try:
            os.makedirs(os.path.dirname(place), mode=0o755, exist_ok=True)
            _write_entry(place, entry)
        except (FileExistsError, IsADirectoryError, NotADirectoryError) as error:
            raise PatchUnreadable(f"{render_path(path)}: something else is in its place") from error
        except OSError as error:
            raise PatchUnreadable(f"{render_path(path)} cannot be written: {error.strerror}") from error


def _write_entry(place: bytes, entry: TreeFile) -> None:
    if entry.mode == 0o120000:
        os.symlink(entry.content, place)
        return
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    with os.fdopen(os.open(place, flags, 0o600), "wb") as file:
        file.write(entry.content)
        os.fchmod(file.fileno(), entry.mode & 0o777)


def _drop_empty_parents(root: bytes, raw: bytes) -> None:
    """Git keeps no empty folders: one that the patch emptied is gone."""
    parent = os.path.dirname(raw)
    while parent:
        try:
            os.rmdir(os.path.join(root, parent))
        except OSError:
            return
        parent = os.path.dirname(parent)
