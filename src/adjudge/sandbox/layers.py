"""How a sandbox gets its own workspace: a copy-on-write layer over the given tree, or a copy of it."""

from __future__ import annotations

import asyncio
import os
from dataclasses import dataclass, field
from pathlib import Path

from adjudge.errors import SandboxError, WorkspaceUnreadable
from adjudge.records.sandbox import SandboxSpec, WorkspaceTree
from adjudge.sandbox.launching import send_errand
from adjudge.sandbox.launchrequest import STAGE, Copy, Identity, Overlay, Report, Request, Staged
from adjudge.sandbox.ownership import root_owner, single_owner

__all__ = [
    "OwnWorkspace",
    "copy_workspace",
    "empty_workspace",
    "prepare_workspace",
    "run_quietly",
    "stages_by_user_namespace",
]

_proven: set[tuple[int, ...]] = set()
"""Where an overlay worked: (is root, device of the scratch directory, devices of the layers)."""
_user_namespace: list[bool] = []


@dataclass
class OwnWorkspace:
    """The sandbox's own workspace."""

    copy_on_write: str
    tree: WorkspaceTree
    staged: list[Staged] = field(default_factory=list)
    overlay: Overlay | None = None
    directory: Path | None = None
    """Where it lies when it is a plain directory."""
    notes: list[str] = field(default_factory=list)


async def run_quietly(request: Request) -> Report:
    """Run an errand without streams."""
    null = os.open(os.devnull, os.O_RDWR | os.O_CLOEXEC)
    try:
        errand = send_errand(request, stdin=null, stdout=null, stderr=null)
    finally:
        os.close(null)
    return await errand.wait()


async def stages_by_user_namespace() -> bool:
    """Whether an ordinary user can make a user namespace with mounts of its own; found out once."""
    if not _user_namespace:
        request: Request = {
            "identity": None,
            "user_namespace": True,
            "staged": [],
            "overlay": None,
            "mount_points": [],
            "errand": None,
        }
        _user_namespace.append("failed" not in await run_quietly(request))
    return _user_namespace[0]


async def prepare_workspace(
    spec: SandboxSpec, scratch: Path, identity: Identity | None, *, stages: bool
) -> OwnWorkspace:
    """Make the sandbox's workspace in `scratch`.

    Raises:
        WorkspaceUnreadable: The given tree is not there, or not a directory.
        SandboxError: It could not be copied.
    """
    plain = scratch / "workspace"
    if spec.workspace is None:
        return empty_workspace(plain, identity)
    given = spec.workspace
    _check(given)
    reason = await _why_no_overlay(spec, given, scratch, identity, stages=stages)
    if reason is None:
        return _overlaid(given, scratch, identity)
    return await copy_workspace(given, plain, identity, reason=reason, stages=stages)


def empty_workspace(plain: Path, identity: Identity | None) -> OwnWorkspace:
    """A new plain directory."""
    plain.mkdir(mode=0o755)
    if identity is not None:
        os.chown(plain, identity["uid"], identity["gid"])
    return OwnWorkspace("none", WorkspaceTree(layers=(plain,), single_owner=True), directory=plain)


def _check(given: WorkspaceTree) -> None:
    for layer in given.layers:
        if not layer.is_dir():
            raise WorkspaceUnreadable(f"workspace {layer} is not a directory")


async def _why_no_overlay(
    spec: SandboxSpec, given: WorkspaceTree, scratch: Path, identity: Identity | None, *, stages: bool
) -> str | None:
    """Why the workspace has to be copied; empty when that needs no note, None when it need not be."""
    if not stages:
        return "copied: this machine gives no mount namespace to stage an overlay in"
    if identity is None and spec.exact_renames:
        return ""
    mine = (os.getuid(), os.getgid())
    for layer in given.layers:
        if identity is None and root_owner(layer) != mine:
            return "copied: the workspace belongs to another user or group"
        if not given.single_owner and not await asyncio.to_thread(single_owner, layer):
            return (
                "copied: the workspace has files of several owners; all belong to the sandbox's user inside"
            )
    devices = [os.stat(layer).st_dev for layer in given.layers]
    key = (identity is not None, os.stat(scratch).st_dev, *devices)
    if key not in _proven:
        trial = _overlaid(given, scratch, identity)
        report = await run_quietly(_stage_request(identity, trial.staged, trial.overlay, None))
        if "failed" in report:
            return f"copied: overlay refused ({report['failed']})"
        _proven.add(key)
    return None


def _overlaid(given: WorkspaceTree, scratch: Path, identity: Identity | None) -> OwnWorkspace:
    upper = scratch / "upper"
    if identity is not None:
        os.chown(upper, identity["uid"], identity["gid"])
    # The merged root shows the upper directory's mode: what the given workspace had.
    upper.chmod(given.layers[-1].stat().st_mode & 0o7777)
    staged = _stage_layers(given, mapped=identity is not None)
    staged.append({"source": str(scratch), "name": "s", "read_only": False})
    userxattr = identity is None or (not given.flat and given.xattr_prefix.startswith("user."))
    overlay: Overlay = {
        "layers": [layer["name"] for layer in reversed(staged[:-1])],
        "upper": "s",
        "userxattr": userxattr,
    }
    tree = WorkspaceTree(
        layers=(*given.layers, upper),
        xattr_prefix="user.overlay." if userxattr else "trusted.overlay.",
        single_owner=True,
    )
    return OwnWorkspace("overlay", tree, staged, overlay)


async def copy_workspace(
    given: WorkspaceTree, plain: Path, identity: Identity | None, *, reason: str = "", stages: bool
) -> OwnWorkspace:
    """Copy a tree, whatever it is made of, into a new plain directory.

    Raises:
        WorkspaceUnreadable: The given tree is not there, not a directory, or nested too deeply.
        SandboxError: It could not be copied.
    """
    _check(given)
    os.mkdir(plain, 0o755)
    errand: Copy = {"op": "copy", "source": str(given.base), "target": str(plain)}
    if not stages:
        if not given.flat:
            raise SandboxError("a workspace in layers cannot be read without a mount namespace")
        request = _stage_request(identity, [], None, errand, user_namespace=False)
    else:
        staged = _stage_layers(given, mapped=False)
        overlay: Overlay | None = None
        errand["source"] = f"{STAGE}/{staged[0]['name']}"
        if not given.flat:
            overlay = {
                "layers": [layer["name"] for layer in reversed(staged)],
                "upper": None,
                "userxattr": given.xattr_prefix.startswith("user."),
            }
            errand["source"] = f"{STAGE}/w"
        staged.append({"source": str(plain), "name": "s", "read_only": False})
        errand["target"] = f"{STAGE}/s"
        request = _stage_request(identity, staged, overlay, errand)
    report = await run_quietly(request)
    if "refused" in report:
        raise WorkspaceUnreadable(f"workspace {given.base} is nested too deeply: {report['refused'][1]}")
    if "failed" in report:
        raise SandboxError(f"workspace {given.base} cannot be copied: {report['failed']}")
    notes = [reason] if reason else []
    return OwnWorkspace(
        "copy",
        WorkspaceTree(layers=(plain,), single_owner=True),
        directory=plain,
        notes=[*notes, *report.get("notes", [])],
    )


def _stage_layers(given: WorkspaceTree, *, mapped: bool) -> list[Staged]:
    staged: list[Staged] = []
    for number, layer in enumerate(given.layers):
        one: Staged = {"source": str(layer.resolve()), "name": f"l{number}", "read_only": True}
        if mapped:
            one["owner"] = root_owner(layer)
        staged.append(one)
    return staged


def _stage_request(
    identity: Identity | None,
    staged: list[Staged],
    overlay: Overlay | None,
    errand: Copy | None,
    *,
    user_namespace: bool = True,
) -> Request:
    return {
        "identity": identity,
        "user_namespace": identity is None and user_namespace,
        "staged": staged,
        "overlay": overlay,
        "mount_points": [],
        "errand": errand,
    }
