"""What 1,000 sandboxes leave behind: processes, mounts, users, control groups, files, descriptors.

Each writes, starts a daemon that detaches, and is discarded; one in ten is cancelled half-way. Counted in
this process's own scratch directory, so that other adjudge processes on the machine do not show.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import tempfile
import threading
import time
from pathlib import Path

from adjudge.records.sandbox import ExecRequest, SandboxSpec, WorkspaceTree
from adjudge.sandbox.bubblewrap import BubblewrapBackend
from adjudge.sandbox.cgroups import find_places, group_prefix
from adjudge.sandbox.processes import descendants
from adjudge.sandbox.scratch import own_scratch
from adjudge.sandbox.uids import lease_directory

COUNT = 1000
AT_ONCE = 8
MARK = f"adjudge-bench-{os.getpid()}"
SCRIPT = (
    f"echo x >> file; mkdir -m 0 closed; (setsid sh -c 'sleep 600; : {MARK}' >/dev/null 2>&1 &); sleep 0.01"
)


def marked() -> int:
    """Processes of our commands, wherever they are by now."""
    count = 0
    for name in os.listdir("/proc"):
        if name.isdigit() and int(name) != os.getpid():
            with contextlib.suppress(OSError), open(f"/proc/{name}/cmdline", "rb") as file:
                count += MARK.encode() in file.read()
    return count


def leases() -> int:
    """User leases that this process holds."""
    held = 0
    with contextlib.suppress(OSError):
        ours = {os.stat(f"/proc/self/fd/{fd}").st_ino for fd in os.listdir("/proc/self/fd") if _alive(fd)}
        held = sum(path.stat().st_ino in ours for path in lease_directory().iterdir())
    return held


def _alive(descriptor: str) -> bool:
    return os.path.exists(f"/proc/self/fd/{descriptor}")


def count() -> dict[str, int]:
    own = own_scratch()[0]
    places = find_places()
    groups = 0
    if places is not None:
        groups = sum(len(list(parent.glob(f"{group_prefix(own.id)}*"))) for parent in places.parents)
    return {
        "processes of commands": marked(),
        "processes below us": len(descendants(os.getpid())) - 1,
        "mounts": len(Path("/proc/self/mountinfo").read_text().splitlines()),
        "leased users": leases(),
        "control groups": groups,
        "scratch directories": len([path for path in own.path.iterdir() if path.name.isdigit()]),
        "open descriptors": len(os.listdir("/proc/self/fd")),
        "watching threads": sum("watcher" in thread.name for thread in threading.enumerate()),
    }


async def measure(workspace: Path) -> None:
    backend = BubblewrapBackend()
    spec = SandboxSpec(workspace=WorkspaceTree(layers=(workspace,), single_owner=True))
    turns = asyncio.Semaphore(AT_ONCE)

    async def one(number: int) -> None:
        async with turns, await backend.start(spec) as sandbox:
            task = asyncio.ensure_future(sandbox.exec(ExecRequest(shell=SCRIPT)))
            if number % 10 == 0:
                await asyncio.sleep(0.01)
                task.cancel()
                with contextlib.suppress(asyncio.CancelledError):
                    await task
            else:
                assert (await task).ok

    # The first ones start the launcher, its spares and the thread pool, which stay.
    await asyncio.gather(*(one(number) for number in range(1, 2 * AT_ONCE)))
    await asyncio.sleep(0.5)
    before = count()
    started = time.perf_counter()
    await asyncio.gather(*(one(number) for number in range(COUNT)))
    taken = time.perf_counter() - started
    await asyncio.sleep(0.5)
    after = count()
    print(f"{COUNT} sandboxes, {AT_ONCE} at once, in {taken:.1f} s")
    for name, value in before.items():
        verdict = "" if after[name] <= value else "   LEFT BEHIND"
        print(f"{name:>22}: {value:>4} before, {after[name]:>4} after{verdict}")


def run() -> None:
    with tempfile.TemporaryDirectory(dir="/var/tmp") as name:
        Path(name, "file").write_text("content\n")
        asyncio.run(measure(Path(name)))
