"""Putting known files into a workspace through its sandbox: for agents that repeat an attempt."""

from __future__ import annotations

import io
import tarfile
from collections.abc import Mapping

from adjudge.agents.session import refuse_fault
from adjudge.contracts import AgentPlace, Sandbox
from adjudge.formats.patch import parse_patch
from adjudge.formats.patching import TreeFile, apply_patch
from adjudge.records.sandbox import ExecRequest

__all__ = ["apply_files", "patched_files"]

_SYMLINK = 0o120000
_ARGUMENTS = 1000
"""How many paths go into one command."""
_REMOVE = 'rm -rf -- "$@"'
_PRUNE = 'rmdir -p --ignore-fail-on-non-empty -- "$@" 2>/dev/null || true'


def patched_files(patch: bytes, place: AgentPlace) -> Mapping[str, TreeFile | None]:
    """What a patch makes of the workspace as it starts.

    Raises:
        PatchUnreadable: It does not apply.
    """

    def look(path: str) -> TreeFile | None:
        found = place.at_start(path)
        return None if found is None else TreeFile(*found)

    return apply_patch(parse_patch(patch), look)


async def apply_files(sandbox: Sandbox, files: Mapping[str, TreeFile | None]) -> None:
    """Write files into the workspace; None removes what lies at a path, with the folders it leaves empty.

    Raises:
        RunFault: The sandbox could not do it.
    """
    gone = [path for path, file in files.items() if file is None]
    # Everything that changes goes first: tar replaces a file, but no folder by a file.
    changed = list(files)
    for start in range(0, len(changed), _ARGUMENTS):
        await _run(sandbox, _REMOVE, changed[start : start + _ARGUMENTS], b"")
    parents = sorted({path.rpartition("/")[0] for path in gone} - {""}, reverse=True)
    for start in range(0, len(parents), _ARGUMENTS):
        await _run(sandbox, _PRUNE, parents[start : start + _ARGUMENTS], b"")
    written = {path: file for path, file in files.items() if file is not None}
    if written:
        await _run(sandbox, "tar -xf -", [], _archive(written))


def _archive(files: Mapping[str, TreeFile]) -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w", format=tarfile.PAX_FORMAT, errors="surrogateescape") as tar:
        for path, file in files.items():
            member = tarfile.TarInfo(path)
            if file.mode == _SYMLINK:
                member.type = tarfile.SYMTYPE
                member.linkname = file.content.decode("utf-8", "surrogateescape")
                tar.addfile(member)
            else:
                member.mode = 0o755 if file.mode & 0o100 else 0o644
                member.size = len(file.content)
                tar.addfile(member, io.BytesIO(file.content))
    return buffer.getvalue()


async def _run(sandbox: Sandbox, script: str, arguments: list[str], stdin: bytes) -> None:
    argv = ("/bin/sh", "-c", script, "sh", *arguments)
    result = await sandbox.exec(ExecRequest(argv=argv, stdin=stdin))
    refuse_fault(result, "the files of a known attempt cannot be written")
