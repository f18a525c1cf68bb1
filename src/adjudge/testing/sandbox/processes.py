"""Checks on ending: no process of a command outlives it, and nothing outlives the sandbox."""

from __future__ import annotations

import contextlib
import os
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from adjudge.records.sandbox import Ended, Limits
from adjudge.testing.sandbox.bench import WORKSPACE, Bench
from adjudge.testing.sandbox.check import check, escape_attempt

_DAEMON = """
def daemon(beat):
    # Twice forked, in a session of its own, deaf to polite signals, writing as long as it lives.
    if os.fork():
        return
    os.setsid()
    if os.fork():
        os._exit(0)
    for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
        signal.signal(number, signal.SIG_IGN)
    while True:
        with open(beat, "a") as file:
            file.write(".")
        time.sleep(0.02)

def wait_for(beat):
    while not os.path.exists(beat):
        time.sleep(0.01)
"""


_DAEMON_AND_WAIT = f"{_DAEMON}\ndaemon('beat'); wait_for('beat')\nprint('ready', flush=True)\ntime.sleep(50)"


@escape_attempt
async def daemons_end_with_their_command(bench: Bench) -> None:
    """A daemon that detached itself is ended when its command returns."""
    async with bench.sandbox() as sandbox:
        await bench.attack(sandbox, f"{_DAEMON}\ndaemon('beat'); wait_for('beat')")
        await bench.assert_still(sandbox, "beat")


@escape_attempt
async def disguised_daemons_end_with_their_command(bench: Bench) -> None:
    """A daemon that also wiped its arguments and environment and closed every file is ended all the same."""
    program = f"""{_DAEMON}
if os.fork() == 0:
    os.setsid()
    if os.fork():
        os._exit(0)
    os.closerange(0, 256)
    loop = "while :; do echo . >> beat; sleep 0.05; done"
    os.execve("/bin/sh", ["innocent", "-c", loop], {{}})
wait_for("beat")
"""
    async with bench.sandbox() as sandbox:
        await bench.attack(sandbox, program)
        await bench.assert_still(sandbox, "beat")


@escape_attempt
async def daemons_cannot_hold_a_command_open(bench: Bench) -> None:
    """A daemon that keeps standard output open does not keep its command from returning."""
    async with bench.sandbox() as sandbox:
        started = time.monotonic()
        ran = await bench.run(sandbox, shell="sleep 50 & echo done", limits=Limits(wall_s=30))
        assert ran.result.ok, ran.told
        assert ran.text == "done"
        assert time.monotonic() - started < 10


@escape_attempt
async def stopped_processes_end(bench: Bench) -> None:
    """A process that stopped itself is ended with the others."""
    program = f"""{_DAEMON}
if os.fork() == 0:
    os.setsid()
    open("beat", "w").write(".")
    os.kill(os.getpid(), signal.SIGSTOP)
wait_for("beat")
"""
    async with bench.sandbox() as sandbox:
        await bench.attack(sandbox, program)
        await bench.assert_still(sandbox, "beat")


@escape_attempt
async def processes_that_breed_end(bench: Bench) -> None:
    """A process that keeps forking and dying, so that its pid is always another, is ended."""
    program = f"""{_DAEMON}
if os.fork() == 0:
    os.setsid()
    end = time.monotonic() + 30
    while time.monotonic() < end:
        if os.fork():
            os._exit(0)
        open("beat", "a").write(".")
        time.sleep(0.001)
wait_for("beat")
"""
    async with bench.sandbox() as sandbox:
        await bench.attack(sandbox, program)
        await bench.assert_still(sandbox, "beat")


@escape_attempt
async def timeouts_end_everything(bench: Bench) -> None:
    """At the time limit the whole tree is ended, detached daemons included, and the result says so."""
    async with bench.sandbox() as sandbox:
        program = f"{_DAEMON}\ndaemon('beat'); wait_for('beat')\nprint('partial', flush=True)\ntime.sleep(50)"
        started = time.monotonic()
        ran = await bench.program(sandbox, program, limits=Limits(wall_s=1))
        assert ran.result.ended is Ended.TIMED_OUT, ran.told
        assert ran.result.exit_code is None
        assert ran.result.reason
        assert time.monotonic() - started < 6
        assert ran.text == "partial", "output before the limit is kept"
        await bench.assert_still(sandbox, "beat")


@check
async def sandboxes_survive_a_timeout(bench: Bench) -> None:
    """After a command ran into a limit the sandbox can be used on."""
    async with bench.sandbox() as sandbox:
        ran = await bench.run(sandbox, shell="echo kept > kept; sleep 50", limits=Limits(wall_s=0.5))
        assert ran.result.ended is Ended.TIMED_OUT, ran.told
        assert await bench.succeed(sandbox, "cat kept") == "kept"


@escape_attempt
async def cancelling_ends_everything(bench: Bench) -> None:
    """Cancelling the awaiting task ends the whole tree first; the sandbox can be used on."""
    async with bench.sandbox() as sandbox:
        async with bench.running(sandbox, _DAEMON_AND_WAIT) as running:
            running.task.cancel()
        assert running.task.cancelled(), "the cancellation was swallowed"
        await bench.assert_still(sandbox, "beat")
        assert await bench.succeed(sandbox, "echo on") == "on"


@escape_attempt
async def ending_processes_ends_everything(bench: Bench) -> None:
    """`end_processes` ends the tree and the running command is `cancelled`; the sandbox can be used on."""
    async with bench.sandbox() as sandbox:
        async with bench.running(sandbox, _DAEMON_AND_WAIT) as running:
            await sandbox.end_processes()
            assert not bench.marked_processes()
        assert running.task.result().ended is Ended.CANCELLED, running.task.result()
        await bench.assert_still(sandbox, "beat")
        assert await bench.succeed(sandbox, "echo on") == "on"


@check
async def ending_nothing_is_no_error(bench: Bench) -> None:
    """`end_processes` without a running command, and twice, does nothing."""
    async with bench.sandbox() as sandbox:
        await sandbox.end_processes()
        await sandbox.end_processes()
        assert await bench.succeed(sandbox, "echo on") == "on"


@escape_attempt
async def discarding_leaves_nothing(bench: Bench) -> None:
    """After `discard`, even with a command running, no process, file, mount or cgroup is left."""
    async with bench.sandbox({"seed": b"x"}) as sandbox:
        layers = sandbox.tree().layers
        own = [layer for layer in layers if bench.scratch not in layer.parents]
        async with bench.running(sandbox, _DAEMON_AND_WAIT) as running:
            groups = _cgroups(bench.marked_processes())
            await sandbox.discard()
        assert running.task.result().ended is Ended.CANCELLED, running.task.result()
        assert not bench.marked_processes()
        for path in (*own, *groups):
            assert not path.exists(), f"{path} was left behind"
        mounts = Path("/proc/self/mountinfo").read_text()
        assert not [layer for layer in own if str(layer) in mounts], "a mount was left behind"


def _cgroups(pids: list[int]) -> set[Path]:
    """The control groups of these processes that are not our own."""

    def groups_of(pid: int | str) -> set[tuple[str, str]]:
        lines = Path(f"/proc/{pid}/cgroup").read_text().splitlines()
        return {(line.split(":")[1], line.split(":", 2)[2]) for line in lines}

    own = groups_of("self")
    found: set[Path] = set()
    for pid in pids:
        with contextlib.suppress(FileNotFoundError, ProcessLookupError):
            for controllers, group in groups_of(pid) - own:
                found.add(Path("/sys/fs/cgroup", controllers.removeprefix("name="), group.lstrip("/")))
    return found


@escape_attempt
async def stubborn_files_are_discarded(bench: Bench) -> None:
    """Directories without permission bits, very deep ones and immutable names do not survive `discard`."""
    program = """
os.makedirs("shut/in"); open("shut/in/file", "w").close()
os.chmod("shut/in", 0); os.chmod("shut", 0)
for _ in range(1500):  # 6,000 bytes of path: more than the kernel takes in one piece
    os.mkdir("aaa"); os.chdir("aaa")
open("bottom", "w").close()
os.chdir(TEMPORARY); os.mkdir("shut"); os.chmod("shut", 0)
"""
    async with bench.sandbox() as sandbox:
        await bench.attack(sandbox, program)
        own = [layer for layer in sandbox.tree().layers if bench.scratch not in layer.parents]
        await sandbox.discard()
        assert not [layer for layer in own if os.path.lexists(layer)]


@check
async def temporary_places_are_left_clean(bench: Bench) -> None:
    """A sandbox leaves nothing in the host's temporary place, whatever the command left in its own."""
    place = bench.scratch / "temporary"
    place.mkdir()
    place.chmod(0o1777)
    with _temporary_place(place):
        async with bench.sandbox({"a": b"a"}) as sandbox:
            await bench.succeed(
                sandbox, 'echo x > "${TMPDIR:-/tmp}/x"; mkdir "$HOME/h"; chmod 0 "$HOME/h"; echo b > a'
            )
            await sandbox.read_file(WORKSPACE / "a", max_bytes=10)
    assert list(place.iterdir()) == []


@contextlib.contextmanager
def _temporary_place(place: Path) -> Iterator[None]:
    """Let this process put its temporary files in `place`."""
    before = tempfile.tempdir, os.environ.get("TMPDIR")
    tempfile.tempdir = os.environ["TMPDIR"] = str(place)
    try:
        yield
    finally:
        tempfile.tempdir = before[0]
        if before[1] is None:
            del os.environ["TMPDIR"]
        else:
            os.environ["TMPDIR"] = before[1]


@check
async def discarding_twice_is_no_error(bench: Bench) -> None:
    """`discard` may be called again."""
    async with bench.sandbox() as sandbox:
        await sandbox.discard()
        await sandbox.discard()
