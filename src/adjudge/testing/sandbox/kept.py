"""Checks on what outlives its command because it is to: kept, frozen, thawed, joined, ended."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Awaitable, Callable

from adjudge.contracts import Sandbox
from adjudge.records.sandbox import Ended, ExecRequest, Limits
from adjudge.testing.sandbox.bench import WORKSPACE, Bench
from adjudge.testing.sandbox.check import check, escape_attempt

_PATIENCE_S = 60.0
_BEAT = "while :; do echo . >> beat; sleep 0.02; done"
_LEAVE = f"({_BEAT}) >/dev/null 2>&1 & while [ ! -s beat ]; do sleep 0.01; done"
_BREED = """
if os.fork() == 0:
    os.setsid()
    for descriptor in (0, 1, 2):
        os.close(descriptor)
    end = time.monotonic() + 300
    while time.monotonic() < end:
        if os.fork():
            os._exit(0)
        open("beat", "a").write(".")
        time.sleep(0.001)
while not os.path.exists("beat"):
    time.sleep(0.01)
"""


async def _until(met: Callable[[], Awaitable[bool]], what: str) -> None:
    deadline = time.monotonic() + _PATIENCE_S
    while not await met():
        assert time.monotonic() < deadline, f"waited in vain for {what}"
        await asyncio.sleep(0.02)


async def _beats(sandbox: Sandbox) -> int:
    try:
        return len(await sandbox.read_file(WORKSPACE / "beat", max_bytes=1 << 20))
    except FileNotFoundError:
        return 0


async def _assert_beating(sandbox: Sandbox) -> None:
    before = await _beats(sandbox)

    async def more() -> bool:
        return await _beats(sandbox) > before

    await _until(more, "a kept process to write")


async def _assert_still(sandbox: Sandbox) -> None:
    before = await _beats(sandbox)
    assert before, "nothing was ever written, so silence proves nothing"
    await asyncio.sleep(0.3)
    assert await _beats(sandbox) == before, "something still writes"


async def _leave(bench: Bench, sandbox: Sandbox) -> None:
    ran = await bench.run(sandbox, shell=_LEAVE, keep=True)
    assert ran.result.ok, ran.told


@check
async def processes_can_be_kept(bench: Bench) -> None:
    """With `keep`, what a command leaves behind goes on after it has returned, until it is told to end."""
    async with bench.sandbox() as sandbox:
        await _leave(bench, sandbox)
        await _assert_beating(sandbox)
        await sandbox.end_processes()
        await _assert_still(sandbox)


@check
async def a_kept_command_is_told_as_any_other(bench: Bench) -> None:
    """A command whose processes are kept has its own exit code and output."""
    async with bench.sandbox() as sandbox:
        ran = await bench.run(sandbox, shell="sleep 100 & echo said; echo more >&2; exit 3", keep=True)
        assert ran.result.ended is Ended.EXITED, ran.told
        assert ran.result.exit_code == 3, ran.told
        assert (ran.stdout, ran.stderr) == (b"said\n", b"more\n")
        plain = await bench.run(sandbox, shell="exit 4", keep=True)
        assert plain.result.exit_code == 4, plain.told


@check
async def kept_processes_can_write_to_their_output(bench: Bench) -> None:
    """What is kept can go on printing: nobody reads it, and nothing breaks."""
    loop = "while echo noise; do echo . >> beat; sleep 0.01; done"
    async with bench.sandbox() as sandbox:
        await bench.run(sandbox, shell=f"({loop}) & while [ ! -s beat ]; do sleep 0.01; done", keep=True)
        await _assert_beating(sandbox)


@check
async def nothing_kept_outlives_the_sandbox(bench: Bench) -> None:
    """Discarding a sandbox ends what it keeps, frozen or not."""
    for frozen in (False, True):
        async with bench.sandbox() as sandbox:
            await bench.program(
                sandbox,
                "if os.fork() == 0:\n    os.setsid(); open('beat', 'w').write('.'); time.sleep(300)\n"
                "while not os.path.exists('beat'):\n    time.sleep(0.01)",
                keep=True,
            )
            assert bench.marked_processes(), "nothing was kept"
            if frozen:
                await sandbox.freeze()
        assert not bench.marked_processes()


@check
async def frozen_processes_do_not_run(bench: Bench) -> None:
    """Between `freeze` and `thaw` nothing that is kept runs; then it goes on."""
    async with bench.sandbox() as sandbox:
        await _leave(bench, sandbox)
        left = await sandbox.freeze()
        assert left, "nothing was said to be frozen"
        await _assert_still(sandbox)
        await sandbox.thaw()
        await _assert_beating(sandbox)
        await sandbox.freeze()
        await _assert_still(sandbox)


@escape_attempt
async def a_process_that_breeds_is_frozen(bench: Bench) -> None:
    """A process that keeps forking and dying, so that its pid is always another, is frozen and thawed."""
    async with bench.sandbox() as sandbox:
        ran = await bench.program(sandbox, _BREED, keep=True)
        assert ran.result.ended is Ended.EXITED, ran.told
        await _assert_beating(sandbox)
        for _ in range(3):
            await sandbox.freeze()
            await _assert_still(sandbox)
            await sandbox.thaw()
            await _assert_beating(sandbox)


@escape_attempt
async def nobody_inside_can_thaw(bench: Bench) -> None:
    """A process that sends every other one SIGCONT for ever thaws nobody: it is frozen with them."""
    program = """
for _ in range(4):
    if os.fork() == 0:
        os.setsid()
        while True:
            for pid in os.listdir("/proc"):
                if pid.isdigit() and int(pid) > 1 and os.stat("/proc/" + pid).st_uid == os.getuid():
                    try:
                        mine = sys.argv[1].encode() in open("/proc/" + pid + "/cmdline", "rb").read()
                        if mine:
                            os.kill(int(pid), signal.SIGCONT)
                    except OSError:
                        pass
            open("beat", "a").write(".")
while not os.path.exists("beat"):
    time.sleep(0.01)
"""
    async with bench.sandbox() as sandbox:
        await bench.program(sandbox, program, keep=True)
        await sandbox.freeze()
        await _assert_still(sandbox)


@check
async def what_is_left_is_named(bench: Bench) -> None:
    """`freeze` says which processes there are and which of them left the command's session."""
    async with bench.sandbox() as sandbox:
        await bench.run(sandbox, shell="sleep 1000 & setsid sleep 2000 &", keep=True)
        found: dict[str, bool] = {}

        async def both() -> bool:
            found.update({process.command: process.detached for process in await sandbox.freeze()})
            await sandbox.thaw()
            return {"sleep 1000", "sleep 2000"} <= set(found)

        await _until(both, "both processes to be named")
        assert not found["sleep 1000"], found
        assert found["sleep 2000"], found


@check
async def a_running_command_is_ended_by_freezing(bench: Bench) -> None:
    """Freezing ends the command that runs, which then returns, and keeps what it started."""
    async with bench.sandbox() as sandbox:
        request = ExecRequest(shell=f"{_LEAVE}; echo ready; sleep 1000", keep=True)
        ready = asyncio.Event()
        task = asyncio.create_task(sandbox.exec(request, on_output=lambda *_: ready.set()))
        async with asyncio.timeout(_PATIENCE_S):
            await ready.wait()
            await sandbox.freeze()
            result = await task
        assert not result.ok
        await _assert_still(sandbox)
        await sandbox.thaw()
        await _assert_beating(sandbox)


@check
async def commands_can_be_run_beside_others(bench: Bench) -> None:
    """`enter` runs a command while another runs, in the same place, and reads what it is given."""
    async with bench.sandbox({"given": b"text"}) as sandbox:
        ready = asyncio.Event()
        # It outlives what runs beside it: that would be ended with it.
        request = ExecRequest(
            shell="echo ready; until [ -s sign ]; do sleep 0.01; done; cat sign;"
            "until [ -e over ]; do sleep 0.01; done"
        )
        said: list[bytes] = []

        def take(_: str, data: bytes) -> None:
            said.append(data)
            ready.set()

        task = asyncio.create_task(sandbox.exec(request, on_output=take))
        async with asyncio.timeout(_PATIENCE_S):
            await ready.wait()
            beside: list[bytes] = []
            result = await sandbox.enter(
                ExecRequest(shell="cat given; cat > sign; exit 5", stdin=b"from beside"),
                on_output=lambda _, data: beside.append(data),
            )
            assert result.exit_code == 5, result
            assert b"".join(beside) == b"text"
            await sandbox.enter(ExecRequest(shell="touch over"))
            assert (await task).ok
        assert b"".join(said) == b"ready\nfrom beside"


@check
async def later_commands_join_what_is_kept(bench: Bench) -> None:
    """A command that follows a kept one sees what it left: its processes can be signalled."""
    async with bench.sandbox() as sandbox:
        ran = await bench.run(
            sandbox,
            shell="(trap 'echo got > sign; exit' USR1; echo > set; while :; do sleep 0.01; done) & echo $!;"
            "until [ -s set ]; do sleep 0.01; done",
            keep=True,
        )
        joined = await bench.run(
            sandbox, shell=f"kill -USR1 {ran.text}; until [ -s sign ]; do sleep 0.01; done"
        )
        assert joined.result.ok, joined.told
        assert await sandbox.read_file(WORKSPACE / "sign", max_bytes=10) == b"got\n"


@check
async def what_joins_outlives_what_was_kept(bench: Bench) -> None:
    """A command that joined goes on when the last process it joined has ended."""
    async with bench.sandbox() as sandbox:
        ran = await bench.run(sandbox, shell="sleep 1000 >/dev/null & echo $!", keep=True)
        joined = await bench.run(
            sandbox,
            shell=f"kill -9 {ran.text}; while kill -0 {ran.text} 2>/dev/null; do sleep 0.01; done; sleep 0.2;"
            "echo on",
        )
        assert joined.text == "on", joined.told


@escape_attempt
async def what_joins_has_no_more_rights(bench: Bench) -> None:
    """A command that joins is the same user, without capabilities, privileges or the host's files."""
    planted = bench.plant()
    program = f"""
import re
status = open("/proc/self/status").read()
print(os.getuid(), os.getgid(), os.getgroups(), re.findall(r"Cap(?:Inh|Prm|Eff|Bnd|Amb):\\s*(\\w+)", status),
      re.findall(r"(?:NoNewPrivs|Seccomp):\\s*(\\w+)", status), sorted(os.listdir("/proc/self/fd"))[:3],
      os.path.exists({str(planted)!r}))
"""
    async with bench.sandbox() as sandbox:
        alone = await bench.program(sandbox, program)
        await _leave(bench, sandbox)
        joined = await bench.program(sandbox, program)
        assert alone.result.ok, alone.told
        assert joined.text == alone.text, f"alone {alone.text}, joined {joined.told}"


@escape_attempt
async def what_joins_is_limited(bench: Bench) -> None:
    """A command that joins ends at its own time limit, and what is kept stays."""
    async with bench.sandbox() as sandbox:
        await _leave(bench, sandbox)
        ran = await bench.run(sandbox, shell="echo partial; sleep 1000", limits=Limits(wall_s=1))
        assert ran.result.ended is Ended.TIMED_OUT, ran.told
        assert ran.text == "partial"
        await _assert_beating(sandbox)


@check
async def input_can_be_streamed(bench: Bench) -> None:
    """A command can be given a descriptor that is written to while it runs."""
    async with bench.sandbox() as sandbox:
        for run in (sandbox.exec, sandbox.enter):
            read, write = os.pipe()
            said = bytearray()
            answered = asyncio.Event()

            def take(_: str, data: bytes, said: bytearray = said, answered: asyncio.Event = answered) -> None:
                said.extend(data)
                answered.set()

            loop = 'while read -r line; do echo "<$line>"; done; echo end'
            task = asyncio.create_task(run(ExecRequest(shell=loop), on_output=take, stdin=read))
            try:
                async with asyncio.timeout(_PATIENCE_S):
                    os.write(write, b"one\n")
                    await answered.wait()
                    os.write(write, b"two\n")
                    os.close(write)
                    assert (await task).ok
            finally:
                os.close(read)
            assert bytes(said) == b"<one>\n<two>\nend\n"


@check
async def files_can_be_read_and_written_beside_what_is_kept(bench: Bench) -> None:
    """Files are read and written as ever while something is kept."""
    async with bench.sandbox() as sandbox:
        await _leave(bench, sandbox)
        await sandbox.write_file(WORKSPACE / "new" / "file", b"data")
        told = await bench.succeed(sandbox, "cat new/file && rm new/file && rmdir new")
        assert told == "data"
        assert (await _beats(sandbox)) > 0


@check
async def writes_outside_are_told(bench: Bench) -> None:
    """What was written to HOME, /tmp and shared memory is told, where the sandbox can tell."""
    async with bench.sandbox() as sandbox:
        shell = (
            "mkdir ~/made; echo four > ~/made/file; ln -s x /tmp/link; echo > /dev/shm/shared; sleep 1000 &"
        )
        if sandbox.outside_writes() is None:
            return
        await bench.run(sandbox, shell=shell, keep=True)
        written = {write.path: (write.type, write.size_bytes) for write in sandbox.outside_writes() or ()}
        home = next(path for path in written if path.endswith("/made"))
        assert written[home] == ("directory", None)
        assert written[f"{home}/file"] == ("file", 5)
        assert written["/tmp/link"] == ("symlink", None)
        assert written["/dev/shm/shared"] == ("file", 1)
