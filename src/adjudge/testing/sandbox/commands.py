"""Checks on running a command: what it is given, and what is said about it afterwards."""

from __future__ import annotations

import asyncio

from adjudge.records.base import digest_bytes
from adjudge.records.sandbox import Ended
from adjudge.testing.blobs import MemoryBlobs
from adjudge.testing.sandbox.bench import WORKSPACE, Bench
from adjudge.testing.sandbox.check import check


@check
async def exit_codes_are_reported(bench: Bench) -> None:
    """The exit code of a command is reported as it was."""
    async with bench.sandbox() as sandbox:
        for code in (0, 1, 77, 255):
            result = (await bench.run(sandbox, shell=f"exit {code}")).result
            assert (result.ended, result.exit_code, result.signal) == (Ended.EXITED, code, None)


@check
async def signals_are_reported(bench: Bench) -> None:
    """A command that a signal ended is reported with that signal, not with an exit code."""
    async with bench.sandbox() as sandbox:
        for signal in (9, 15, 11):
            result = (await bench.run(sandbox, shell=f"ulimit -c 0; kill -{signal} $$")).result
            assert (result.ended, result.exit_code, result.signal) == (Ended.SIGNALLED, None, signal)


@check
async def missing_programs_exit_127(bench: Bench) -> None:
    """A program that is not there is a result, exit 127, as from a shell."""
    async with bench.sandbox() as sandbox:
        for program in (f"/nowhere/{bench.token}", bench.token):
            ran = await bench.run(sandbox, program)
            assert (ran.result.ended, ran.result.exit_code) == (Ended.EXITED, 127), ran.told


@check
async def unexecutable_programs_exit_126(bench: Bench) -> None:
    """A file that cannot be executed is a result, exit 126, as from a shell."""
    async with bench.sandbox({"data.txt": b"no program\n"}) as sandbox:
        ran = await bench.run(sandbox, "./data.txt")
        assert (ran.result.ended, ran.result.exit_code) == (Ended.EXITED, 126), ran.told


@check
async def missing_directories_are_a_result(bench: Bench) -> None:
    """A working directory that is not there keeps a command from starting, and is a result: exit 126."""
    async with bench.sandbox() as sandbox:
        ran = await bench.run(sandbox, "true", cwd=WORKSPACE / "nowhere")
        assert (ran.result.ended, ran.result.exit_code) == (Ended.EXITED, 126), ran.told
        assert b"nowhere" in ran.stderr


@check
async def exit_codes_of_commands_are_not_ours(bench: Bench) -> None:
    """A command may exit with 126, 127 or 128 and more by itself, and that is what is reported."""
    async with bench.sandbox() as sandbox:
        for code in (126, 127, 137, 143):
            result = (await bench.run(sandbox, shell=f"exit {code}")).result
            assert (result.ended, result.exit_code) == (Ended.EXITED, code)


@check
async def stdin_arrives_whole(bench: Bench) -> None:
    """Standard input arrives whole and ends; without any it is empty."""
    data = bytes(range(256)) * 4096
    async with bench.sandbox() as sandbox:
        ran = await bench.run(sandbox, shell="cat > received; wc -c < received", stdin=data)
        assert ran.result.ok, ran.told
        assert await sandbox.read_file(WORKSPACE / "received", max_bytes=2 * len(data)) == data
        assert (await bench.run(sandbox, "cat")).stdout == b""


@check
async def unread_stdin_is_no_error(bench: Bench) -> None:
    """A command that does not read its input simply ends."""
    async with bench.sandbox() as sandbox:
        ran = await bench.run(sandbox, shell="exec 0<&-; exit 3", stdin=b"x" * 4_000_000)
        assert (ran.result.ended, ran.result.exit_code) == (Ended.EXITED, 3), ran.told


@check
async def environment_is_what_was_asked_for(bench: Bench) -> None:
    """A command sees the sandbox's environment and its own additions, and its own win."""
    async with bench.sandbox(env={"SHARED": "sandbox", "WON": "sandbox"}) as sandbox:
        text = await bench.succeed(sandbox, 'printf "%s|%s" "$SHARED" "$WON"', env={"WON": "täglich\n'\""})
        assert text == "sandbox|täglich\n'\""
        assert await bench.succeed(sandbox, 'printf "%s" "$WON"') == "sandbox"


@check
async def usual_variables_are_set(bench: Bench) -> None:
    """PATH finds the usual programs; HOME and the place for temporary files exist and can be written to."""
    async with bench.sandbox() as sandbox:
        await bench.succeed(sandbox, "command -v sh cat ls >/dev/null")
        await bench.succeed(sandbox, 'echo a > "$HOME/a" && echo b > "${TMPDIR:-/tmp}/b"')


@check
async def working_directory_is_kept(bench: Bench) -> None:
    """`cwd` is where the command starts, the workspace unless said."""
    async with bench.sandbox({"deep/er/file": b"here"}) as sandbox:
        assert await bench.succeed(sandbox, "cat deep/er/file") == "here"
        assert await bench.succeed(sandbox, "cat file", cwd=WORKSPACE / "deep" / "er") == "here"


@check
async def workspace_is_at_its_place(bench: Bench) -> None:
    """The workspace is /workspace for the command inside."""
    async with bench.sandbox({"file": b"here"}) as sandbox:
        assert await bench.succeed(sandbox, "pwd") == "/workspace"
        assert await bench.succeed(sandbox, "cat /workspace/file") == "here"


@check
async def arguments_arrive_in_their_bytes(bench: Bench) -> None:
    """Arguments arrive byte for byte: empty, with newlines and quotes, undecodable, or long."""
    arguments = ("", " ", "a\nb", "'\"\\$`", "-n", "ä€😀", "\udcff\udc80", "x" * 100_000)
    async with bench.sandbox() as sandbox:
        ran = await bench.run(
            sandbox,
            *(bench.python, "-I", "-S", "-c"),
            "import os, sys; sys.stdout.buffer.write(b'\\0'.join(map(os.fsencode, sys.argv[1:])))",
            *arguments,
        )
        assert ran.stdout.split(b"\0") == [a.encode("utf-8", "surrogateescape") for a in arguments]


@check
async def undecodable_output_survives(bench: Bench) -> None:
    """Output that is no text is counted and digested in its bytes and shown with replacement characters."""
    data = bytes(range(256))
    async with bench.sandbox({"data": data}) as sandbox:
        ran = await bench.run(sandbox, "cat", "data")
        assert ran.stdout == data
        assert (ran.result.stdout.size_bytes, ran.result.stdout.digest) == (256, digest_bytes(data))
        assert ran.result.stdout.head == data.decode("utf-8", "replace")


@check
async def output_streams_are_kept_apart(bench: Bench) -> None:
    """Standard output and error are two things, and each arrives in order as it is written."""
    async with bench.sandbox() as sandbox:
        script = "for i in 1 2 3; do echo out$i; echo err$i >&2; done"
        ran = await bench.run(sandbox, shell=script)
        assert (ran.stdout, ran.stderr) == (b"out1\nout2\nout3\n", b"err1\nerr2\nerr3\n")
        assert (ran.result.stdout.head, ran.result.stderr.head) == (
            "out1\nout2\nout3\n",
            "err1\nerr2\nerr3\n",
        )


@check
async def output_is_streamed(bench: Bench) -> None:
    """Output is seen while the command still runs."""
    async with bench.sandbox() as sandbox:
        program = "print('first', flush=True); time.sleep(1.5); print('second')"
        async with bench.running(sandbox, program) as running:
            assert running.said == "first"
            assert not running.task.done()
        assert running.task.result().stdout.head.startswith("first\nsecond\n")


@check
async def kept_output_is_whole(bench: Bench) -> None:
    """With a blob store, output below the limit is kept whole and can be read back."""
    blobs = MemoryBlobs()
    data = b"0123456789abcdef" * 65_536
    async with bench.sandbox({"data": data}, blobs=blobs) as sandbox:
        result = (await bench.run(sandbox, "cat", "data")).result
        assert result.stdout.stored
        assert not result.stdout.truncated
        with blobs.open(result.stdout) as kept:
            assert kept.read() == data


@check
async def commands_run_one_at_a_time(bench: Bench) -> None:
    """Of two commands asked for at once, the second waits for the first."""
    async with bench.sandbox() as sandbox:
        script = "[ ! -e busy ] || exit 9; touch busy; sleep 0.3; rm busy"
        both = await asyncio.gather(*(bench.run(sandbox, shell=script) for _ in range(2)))
        assert [ran.result.exit_code for ran in both] == [0, 0]


@check
async def cost_is_reported(bench: Bench) -> None:
    """The time a command took is reported, and processor time where the backend can tell."""
    async with bench.sandbox() as sandbox:
        usage = (await bench.run(sandbox, shell="sleep 0.3")).result.usage
        assert 0.3 <= usage.wall_s < 10
        busy = "import time\nend = time.process_time() + 0.3\nwhile time.process_time() < end: pass"
        usage = (await bench.program(sandbox, busy)).result.usage
        assert usage.cpu_s is None or 0.25 <= usage.cpu_s < 10


@check
async def report_tells_the_truth(bench: Bench) -> None:
    """The report names the backend, the network, what holds each limit, and says so without isolation."""
    support = bench.backend.probe()
    assert support.available, support.reason
    assert support.reason
    async with bench.sandbox() as sandbox:
        report = sandbox.report
        assert report.backend == bench.backend.name == support.backend
        assert {"memory", "processes", "disk", "output", "wall"} <= set(report.limits_held_by)
        assert all(report.limits_held_by.values())
        assert report.isolated or any("isolat" in note for note in report.notes)
