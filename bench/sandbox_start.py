"""Sandbox start against a bare spawn and a bare bwrap, side by side, alone and 2, 8 and 32 at once.

A round is: start a sandbox over a small workspace, run `true`, discard. The kinds take turns, so that
whatever else the machine does falls on all of them alike. A turn is a few rounds of which the first is
dropped: a bare spawn forks this process, and the next round of any kind pays for the pages that shares.
The ratio is of the medians.
"""

from __future__ import annotations

import asyncio
import os
import statistics
import tempfile
import time
from collections.abc import Awaitable, Callable
from pathlib import Path

from adjudge.records.sandbox import ExecRequest, SandboxSpec, WorkspaceTree
from adjudge.sandbox.bubblewrap import BubblewrapBackend
from adjudge.sandbox.bwrap import find_bwrap
from adjudge.sandbox.uids import FIRST_UID, LEASES

TURNS = 12
ROUNDS = 5
AT_ONCE = (1, 2, 8, 32)
# The last leasable user: free unless 4,096 sandboxes run.
BARE_UID = FIRST_UID + LEASES - 1


async def spawn(command: list[str]) -> None:
    kwargs = {"user": BARE_UID, "group": BARE_UID, "extra_groups": []} if os.geteuid() == 0 else {}
    process = await asyncio.create_subprocess_exec(
        *command,
        stdin=-3,
        stdout=-3,
        stderr=-3,
        cwd="/",
        **kwargs,  # type: ignore[arg-type]
    )
    if await process.wait() != 0:
        raise RuntimeError(f"{command[0]} failed")


def bare_bwrap() -> list[str]:
    """What anyone would write: every namespace, the system read-only, its own /tmp."""
    found = find_bwrap()
    if found is None:
        raise RuntimeError("no bwrap")
    links = [part for name in ("bin", "lib", "lib64") for part in ("--symlink", f"usr/{name}", f"/{name}")]
    return [
        str(found.path), "--unshare-all", "--new-session", "--die-with-parent", "--ro-bind", "/usr", "/usr",
        *links, "--ro-bind", "/etc", "/etc", "--proc", "/proc", "--dev", "/dev", "--tmpfs", "/tmp",
        "--tmpfs", "/home", "--dir", "/workspace", "--chdir", "/workspace", "--", "/bin/true",
    ]  # fmt: skip


async def timed(make: Callable[[], Awaitable[None]], count: int) -> float:
    started = time.perf_counter()
    await asyncio.gather(*(make() for _ in range(count)))
    return (time.perf_counter() - started) / count


async def measure(workspace: Path) -> None:
    backend = BubblewrapBackend()
    spec = SandboxSpec(workspace=WorkspaceTree(layers=(workspace,), single_owner=True))
    reused = await backend.start(spec)
    wrapped = bare_bwrap()

    async def whole() -> None:
        async with await backend.start(spec) as sandbox:
            assert (await sandbox.exec(ExecRequest(argv=("/bin/true",)))).ok

    async def again() -> None:
        assert (await reused.exec(ExecRequest(argv=("/bin/true",)))).ok

    kinds: dict[str, Callable[[], Awaitable[None]]] = {
        "spawn": lambda: spawn(["/bin/true"]),
        "bwrap": lambda: spawn(wrapped),
        "sandbox": whole,
        "exec again": again,
    }
    await whole()
    print(f"{'at once':>8}" + "".join(f"{kind:>14}" for kind in kinds) + "   sandbox ÷ bwrap   exec ÷ bwrap")
    for count in AT_ONCE:
        taken: dict[str, list[float]] = {kind: [] for kind in kinds}
        for _ in range(max(2, TURNS // count)):
            for kind, make in kinds.items():
                # Execs of one sandbox wait for each other, so there is no "at once" for them.
                rounds = [await timed(make, 1 if make is again else count) for _ in range(ROUNDS)]
                taken[kind] += rounds[1:]
        median = {kind: statistics.median(values) * 1000 for kind, values in taken.items()}
        print(
            f"{count:>8}"
            + "".join(f"{median[kind]:>11.2f} ms" for kind in kinds)
            + f"{median['sandbox'] / median['bwrap']:>18.2f}{median['exec again'] / median['bwrap']:>15.2f}",
            flush=True,
        )
    await reused.discard()


def run() -> None:
    with tempfile.TemporaryDirectory(dir="/var/tmp") as name:
        Path(name, "file").write_text("content\n")
        asyncio.run(measure(Path(name)))
