"""Checks on limits: they hold for the whole tree of a command, and the result says which one ended it.

The bombs here are of limited size, so that a backend without limits fails the check and not the machine.
"""

from __future__ import annotations

import time
from pathlib import Path, PurePosixPath

from adjudge.errors import SandboxUnavailable
from adjudge.records.sandbox import Ended, Limits
from adjudge.testing.sandbox.bench import Bench, Inapplicable, Ran
from adjudge.testing.sandbox.check import check, escape_attempt

_MIB = 1024 * 1024


def _assert_ended(ran: Ran, *expected: Ended) -> None:
    assert ran.result.ended in expected, f"expected {' or '.join(expected)}: {ran.told}"
    assert ran.result.reason, "a limit that ended a command is explained"


@escape_attempt
async def memory_bombs_are_ended(bench: Bench) -> None:
    """A process that takes more memory than allowed is ended for it."""
    async with bench.sandbox() as sandbox:
        bomb = "held = [bytearray(b'x') * (16 << 20) for _ in range(48)]\ntime.sleep(30)"
        started = time.monotonic()
        ran = await bench.program(sandbox, bomb, limits=Limits(memory_bytes=128 * _MIB))
        _assert_ended(ran, Ended.OUT_OF_MEMORY)
        assert time.monotonic() - started < 15
        assert not bench.marked_processes()


@escape_attempt
async def memory_is_counted_over_the_whole_tree(bench: Bench) -> None:
    """Many processes that each stay small are ended when together they take too much."""
    bomb = """
for _ in range(12):
    if os.fork() == 0:
        os.setsid()
        held = bytearray(b"x") * (32 << 20)
        time.sleep(30)
        os._exit(0)
time.sleep(30)
"""
    async with bench.sandbox() as sandbox:
        ran = await bench.program(sandbox, bomb, limits=Limits(memory_bytes=160 * _MIB))
        _assert_ended(ran, Ended.OUT_OF_MEMORY)
        assert not bench.marked_processes()


@check
async def address_space_is_not_limited(bench: Bench) -> None:
    """Address space that is reserved and not used costs nothing, as Node and the JVM need it."""
    async with bench.sandbox() as sandbox:
        reserve = "import mmap; area = mmap.mmap(-1, 8 << 30, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | 0x4000)"
        await bench.attack(sandbox, reserve, limits=Limits(memory_bytes=128 * _MIB))


@escape_attempt
async def fork_bombs_are_ended(bench: Bench) -> None:
    """A tree never has many more processes than allowed, and none is left afterwards."""
    bomb = """
def born():
    with open("born", "ab") as file:
        file.write(b".")
        file.flush()
        return os.stat("born").st_size
refusals = 0
while born() < 600 and refusals < 50:
    try:
        os.fork()
    except OSError:
        refusals += 1
        time.sleep(0.02)
time.sleep(1 if refusals else 30)
"""
    async with bench.sandbox() as sandbox:
        ran = await bench.program(sandbox, bomb, limits=Limits(processes=40, wall_s=45))
        assert not bench.marked_processes(), "left running"
        if ran.result.ended is not Ended.PROCESS_LIMIT:
            # Forks were refused at the limit instead: then there never were more.
            peak = ran.result.usage.peak_processes
            assert peak is not None, ran.told
            assert peak <= 40, ran.told
        assert await bench.succeed(sandbox, "echo on") == "on"


@escape_attempt
async def threads_count_as_processes(bench: Bench) -> None:
    """Threads are counted with the processes."""
    bomb = """
import threading
for _ in range(400):
    threading.Thread(target=time.sleep, args=(20,), daemon=True).start()
time.sleep(20)
breach("400 threads")
"""
    async with bench.sandbox() as sandbox:
        ran = await bench.program(sandbox, bomb, limits=Limits(processes=40, wall_s=45))
        held = ran.result.ended is Ended.PROCESS_LIMIT or b"can't start new thread" in ran.stderr
        assert held, ran.told


_FILL = """
held = []
try:
    with open(os.path.join(sys.argv[2], sys.argv[1]), "wb", 0) as file:
        for _ in range(400):
            file.write(b"x" * (1 << 20))
    time.sleep(30)
    breach("400 MiB written")
except OSError as error:
    print("stopped by", errno.errorcode[error.errno], flush=True)
    sys.exit(40)
"""


async def _fill(bench: Bench, place: str, *expected: Ended, folders: tuple[PurePosixPath, ...] = ()) -> None:
    """Write far more than allowed to one file in `place`."""
    limits = Limits(disk_bytes=64 * _MIB, memory_bytes=192 * _MIB, wall_s=45)
    async with bench.sandbox(folders=folders) as sandbox:
        where = await bench.succeed(sandbox, f'printf %s "{place}"')
        ran = await bench.program(sandbox, _FILL, where, limits=limits)
        if ran.result.exit_code == 40 and "stopped by" in ran.text:
            return  # the file system itself refused to grow, or to be written to
        _assert_ended(ran, *expected)


@escape_attempt
async def workspace_cannot_fill_the_disk(bench: Bench) -> None:
    """A command that writes more than allowed to the workspace is ended for it."""
    await _fill(bench, ".", Ended.DISK_LIMIT)


@escape_attempt
async def temporary_files_cannot_fill_the_disk(bench: Bench) -> None:
    """A command that writes more than allowed to its temporary place is ended for it."""
    await _fill(bench, "${TMPDIR:-/tmp}", Ended.DISK_LIMIT, Ended.OUT_OF_MEMORY)


@escape_attempt
async def home_cannot_fill_the_disk(bench: Bench) -> None:
    """A command that writes more than allowed to HOME is ended for it."""
    await _fill(bench, "$HOME", Ended.DISK_LIMIT, Ended.OUT_OF_MEMORY)


@escape_attempt
async def further_folders_cannot_fill_the_disk(bench: Bench) -> None:
    """A command that writes more than allowed to a folder that the caller asked for is ended for it."""
    try:
        await _fill(bench, "/logs/verifier", Ended.DISK_LIMIT, folders=(PurePosixPath("/logs/verifier"),))
    except SandboxUnavailable as error:
        raise Inapplicable(error.message) from error


@escape_attempt
async def shared_memory_cannot_fill_the_machine(bench: Bench) -> None:
    """A command that fills /dev/shm is ended for it, and what it wrote is gone with the sandbox."""
    try:
        await _fill(bench, "/dev/shm", Ended.DISK_LIMIT, Ended.OUT_OF_MEMORY)
        assert not Path("/dev/shm", bench.token).exists(), "it is the host's /dev/shm"
    finally:
        Path("/dev/shm", bench.token).unlink(missing_ok=True)


@escape_attempt
async def small_files_count_by_what_they_take(bench: Bench) -> None:
    """Very many tiny files are counted by the room they take, not by their length."""
    bomb = """
for number in range(20_000):
    with open(f"f{number}", "wb") as file:
        file.write(b"x")
time.sleep(30)
"""
    async with bench.sandbox() as sandbox:
        ran = await bench.program(sandbox, bomb, limits=Limits(disk_bytes=16 * _MIB, wall_s=45))
        _assert_ended(ran, Ended.DISK_LIMIT)


@escape_attempt
async def deleted_files_count_while_they_are_open(bench: Bench) -> None:
    """A file that was deleted but is still open counts like any other."""
    bomb = """
held = []
for _ in range(12):  # each below what a limit on the size of one file would stop
    held.append(open("f", "wb", 0))
    os.unlink("f")
    held[-1].write(b"x" * (32 << 20))
time.sleep(30)
"""
    async with bench.sandbox() as sandbox:
        ran = await bench.program(sandbox, bomb, limits=Limits(disk_bytes=64 * _MIB, wall_s=20))
        _assert_ended(ran, Ended.DISK_LIMIT)


@escape_attempt
async def output_floods_are_ended(bench: Bench) -> None:
    """A command that writes more output than allowed is ended, on either stream, and both ends are kept."""
    async with bench.sandbox() as sandbox:
        for redirect in ("", ">&2"):
            flood = f"echo first {redirect}; exec yes 0123456789 {redirect}"
            started = time.monotonic()
            ran = await bench.run(sandbox, shell=flood, limits=Limits(output_bytes=_MIB, wall_s=30))
            _assert_ended(ran, Ended.OUTPUT_LIMIT)
            assert time.monotonic() - started < 10
            stream = ran.result.stderr if redirect else ran.result.stdout
            assert stream.head.startswith("first\n0123456789\n")
            assert stream.size_bytes >= _MIB


@check
async def output_below_the_limit_is_fine(bench: Bench) -> None:
    """Output up to the limit ends nothing and is counted to the byte."""
    async with bench.sandbox() as sandbox:
        ran = await bench.run(sandbox, shell="head -c 1000000 /dev/zero", limits=Limits(output_bytes=_MIB))
        assert ran.result.ok, ran.told
        assert (ran.result.stdout.size_bytes, len(ran.stdout)) == (1_000_000, 1_000_000)


@escape_attempt
async def limits_of_one_sandbox_do_not_touch_another(bench: Bench) -> None:
    """A sandbox at its process limit leaves another one all of its own."""
    crowd = """
for _ in range(30):
    if os.fork() == 0:
        time.sleep(30)
        os._exit(0)
print("ready", flush=True)
time.sleep(30)
"""
    few = Limits(processes=40, wall_s=60)
    async with (
        bench.sandbox(limits=few) as crowded,
        bench.sandbox(limits=few) as other,
        bench.running(crowded, crowd) as running,
    ):
        ran = await bench.program(other, crowd.replace("time.sleep(30)", "time.sleep(1)"))
        assert ran.result.ok, ran.told
        assert not running.task.done()
        await crowded.end_processes()


@check
async def limits_of_a_command_win_over_the_sandbox(bench: Bench) -> None:
    """Limits given with one command hold instead of the sandbox's own, for that command only."""
    async with bench.sandbox(limits=Limits(wall_s=0.5)) as sandbox:
        assert (await bench.run(sandbox, shell="sleep 1", limits=Limits(wall_s=20))).result.ok
        assert (await bench.run(sandbox, shell="sleep 20")).result.ended is Ended.TIMED_OUT
