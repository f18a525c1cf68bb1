"""Checks on the workspace: seeding, ownership, reading and writing from outside, and snapshots."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path, PurePosixPath

from adjudge.errors import AdjudgeError, SandboxUnavailable, SubjectError
from adjudge.records.sandbox import Mount, WorkspaceTree
from adjudge.testing.sandbox.bench import WORKSPACE, Bench, Inapplicable
from adjudge.testing.sandbox.check import check, escape_attempt

_FILES = {
    "a.txt": b"alpha\n",
    "dir/b.txt": b"beta\n",
    "dir/sub/c.txt": b"gamma\n",
    "bin/tool": b"#!/bin/sh\n",
}


def _digest(root: Path) -> dict[str, tuple[int, bytes]]:
    """Every file below `root` with its mode and content."""
    return {
        os.path.relpath(os.path.join(place, name), root): (
            os.lstat(os.path.join(place, name)).st_mode,
            Path(place, name).read_bytes(),
        )
        for place, _, names in os.walk(root)
        for name in names
    }


@check
async def workspace_starts_as_its_source(bench: Bench) -> None:
    """The workspace holds what its source holds: content, executable bits, symlinks, odd names."""
    source = bench.source(_FILES)
    (source / "bin/tool").chmod(0o755)
    (source / "link").symlink_to("a.txt")
    (source / "broken").symlink_to("/nowhere/at/all")
    odd = os.fsencode(source) + b"/odd \n\xff name"
    Path(os.fsdecode(odd)).write_bytes(b"odd")
    async with bench.sandbox(tree=WorkspaceTree(layers=(source,))) as sandbox:
        assert await bench.succeed(sandbox, "cat a.txt dir/sub/c.txt link") == "alpha\ngamma\nalpha"
        await bench.succeed(sandbox, "[ -x bin/tool ] && [ ! -x a.txt ]")
        assert await bench.succeed(sandbox, "readlink broken") == "/nowhere/at/all"
        name = PurePosixPath("odd \n\udcff name")
        assert await sandbox.read_file(WORKSPACE / name, max_bytes=10) == b"odd"


@check
async def workspace_can_start_empty(bench: Bench) -> None:
    """Over an empty source the workspace is an empty directory that can be written to."""
    async with bench.sandbox() as sandbox:
        assert await bench.succeed(sandbox, "ls -A") == ""
        await bench.succeed(sandbox, "echo x > x")


@check
async def workspace_can_be_shown_at_further_places(bench: Bench) -> None:
    """A place that tasks expect shows the same workspace, for reading and writing."""
    try:
        async with bench.sandbox(
            _FILES, also_at=(PurePosixPath("/app"), PurePosixPath("/srv/task"))
        ) as sandbox:
            await bench.succeed(
                sandbox, "cat /app/a.txt && echo new > /srv/task/new && [ -s /workspace/new ]"
            )
            ran = await bench.run(sandbox, shell="cat dir/b.txt", cwd=PurePosixPath("/app"))
            assert ran.stdout == b"beta\n"
            assert await sandbox.read_file(WORKSPACE / "new", max_bytes=10) == b"new\n"
    except SandboxUnavailable as error:
        raise Inapplicable(error.message) from error


@check
async def further_folders_are_fresh_and_its_own(bench: Bench) -> None:
    """Folders that the caller asks for are empty, writable, kept between commands, and read without links."""
    logs = PurePosixPath("/logs/verifier")
    try:
        async with bench.sandbox(_FILES, folders=(logs, PurePosixPath("/logs/agent"))) as sandbox:
            assert await bench.succeed(sandbox, "ls -A /logs/verifier /logs/agent | grep -v :") == ""
            await bench.succeed(sandbox, "echo x > /logs/verifier/x; ln -s x /logs/verifier/link")
            assert await bench.succeed(sandbox, "cat /logs/verifier/x") == "x"
            assert await sandbox.read_file(logs / "x", max_bytes=10) == b"x\n"
            try:
                await sandbox.read_file(logs / "link", max_bytes=10)
            except SubjectError:
                pass
            else:
                raise AssertionError("a link was followed")
            assert await bench.succeed(sandbox, "ls /workspace") == "a.txt\nbin\ndir"
    except SandboxUnavailable as error:
        raise Inapplicable(error.message) from error


@check
async def seeded_files_belong_to_the_command(bench: Bench) -> None:
    """A command may change, chmod, rename and delete every seeded file and directory entry."""
    async with bench.sandbox(_FILES) as sandbox:
        await bench.succeed(
            sandbox,
            "echo more >> a.txt && chmod 600 a.txt && mv a.txt z.txt && rm dir/b.txt && rm -r dir/sub &&"
            " chmod 700 dir && echo new > dir/new && touch -d 2001-01-01 bin/tool && chmod 755 bin/tool",
        )
        assert await bench.succeed(sandbox, "find . -type f | sort") == "./bin/tool\n./dir/new\n./z.txt"
        owner = await bench.succeed(sandbox, "stat -c %u z.txt dir bin/tool dir/new | sort -u; id -u")
        assert len(set(owner.split())) == 1, f"mixed owners: {owner}"


@check
async def directories_can_be_renamed(bench: Bench) -> None:
    """With `exact_renames` a directory can be renamed as on any file system."""
    async with bench.sandbox(_FILES, exact_renames=True) as sandbox:
        program = "os.rename('dir', 'moved'); os.rename('moved/sub', 'up'); os.mkdir('dir')"
        await bench.attack(sandbox, program)
        text = await bench.succeed(sandbox, "find . -type f | sort; ls -A dir")
        assert text == "./a.txt\n./bin/tool\n./moved/b.txt\n./up/c.txt"


@escape_attempt
async def source_of_the_workspace_stays_untouched(bench: Bench) -> None:
    """Whatever a command does to its workspace, the tree it started from stays as it was."""
    source = bench.source(_FILES)
    before = _digest(source)
    async with bench.sandbox(tree=WorkspaceTree(layers=(source,))) as sandbox:
        await bench.succeed(
            sandbox, "echo x >> a.txt; chmod 0 dir/b.txt; rm -rf bin; ln dir/sub/c.txt hard; echo y >> hard"
        )
        await bench.attack(
            sandbox,
            "import mmap\n"
            "with open('dir/sub/c.txt', 'r+b') as file, mmap.mmap(file.fileno(), 0) as memory:\n"
            "    memory[:1] = b'!'",
        )
    assert _digest(source) == before


@check
async def state_lasts_between_commands(bench: Bench) -> None:
    """What one command leaves in the workspace, in HOME and in its temporary place, the next one finds."""
    async with bench.sandbox() as sandbox:
        await bench.succeed(sandbox, 'echo 1 > w; echo 2 > "$HOME/h"; echo 3 > "${TMPDIR:-/tmp}/t"')
        assert await bench.succeed(sandbox, 'cat w "$HOME/h" "${TMPDIR:-/tmp}/t"') == "1\n2\n3"


@check
async def files_can_be_read_back(bench: Bench) -> None:
    """`read_file` gives a file's bytes up to the asked number, and says when nothing is there."""
    async with bench.sandbox(_FILES) as sandbox:
        await bench.succeed(sandbox, "printf 'a\\0b' > new; rm a.txt")
        assert await sandbox.read_file(WORKSPACE / "new", max_bytes=100) == b"a\0b"
        assert await sandbox.read_file(WORKSPACE / "new", max_bytes=2) == b"a\0"
        assert await sandbox.read_file(WORKSPACE / "dir/b.txt", max_bytes=100) == b"beta\n"
        for gone in ("a.txt", "never", "never/at/all"):
            try:
                await sandbox.read_file(WORKSPACE / gone, max_bytes=100)
            except FileNotFoundError:
                continue
            raise AssertionError(f"{gone} is not there, and could be read")


@check
async def closed_files_can_be_read_back(bench: Bench) -> None:
    """`read_file` reads a file without permission bits in a directory without permission bits."""
    async with bench.sandbox() as sandbox:
        await bench.succeed(
            sandbox, "mkdir -p shut/in && echo x > shut/in/file && chmod 0 shut/in/file shut/in shut"
        )
        assert await sandbox.read_file(WORKSPACE / "shut/in/file", max_bytes=100) == b"x\n"


@check
async def files_can_be_written(bench: Bench) -> None:
    """`write_file` makes parents, replaces what is there, sets the mode; the file is the command's own."""
    async with bench.sandbox(_FILES) as sandbox:
        await sandbox.write_file(WORKSPACE / "new/er/file", b"one\n")
        await sandbox.write_file(WORKSPACE / "a.txt", b"#!/bin/sh\necho ran\n", mode=0o755)
        assert await bench.succeed(sandbox, "cat new/er/file && ./a.txt") == "one\nran"
        await bench.succeed(
            sandbox, "echo two >> new/er/file && rm new/er/file && rmdir new/er && echo > new/x"
        )


@escape_attempt
async def reading_follows_no_symlink(bench: Bench) -> None:
    """`read_file` follows no symlink, neither at the end of a path nor on its way."""
    canary = bench.plant()
    async with bench.sandbox(_FILES) as sandbox:
        await bench.succeed(
            sandbox, f"ln -s {canary} direct; ln -s {canary.parent} parent; ln -s a.txt inner; ln -s / root"
        )
        for path in ("direct", f"parent/{canary.name}", "inner", f"root{canary}", "root/etc/passwd"):
            try:
                data = await sandbox.read_file(WORKSPACE / path, max_bytes=100)
            except SubjectError:
                continue
            raise AssertionError(f"{path} was followed: {data!r}")


@escape_attempt
async def reading_opens_only_regular_files(bench: Bench) -> None:
    """`read_file` refuses a fifo, a socket and a directory, and does not wait for a writer."""
    async with bench.sandbox() as sandbox:
        await bench.attack(
            sandbox, "os.mkfifo('fifo'); os.mkdir('dir'); socket.socket(socket.AF_UNIX).bind('socket')"
        )
        for name in ("fifo", "dir", "socket"):
            try:
                await sandbox.read_file(WORKSPACE / name, max_bytes=100)
            except SubjectError:
                continue
            raise AssertionError(f"{name} was read")


@escape_attempt
async def reading_stays_inside(bench: Bench) -> None:
    """`read_file` does not leave the sandbox by `..`."""
    canary = bench.plant()
    async with bench.sandbox(_FILES) as sandbox:
        steps = "/".join([".."] * 30)
        for path in (f"/workspace/{steps}{canary}", f"/workspace/dir/{steps}{canary}"):
            try:
                data = await sandbox.read_file(PurePosixPath(path), max_bytes=100)
            except (FileNotFoundError, AdjudgeError):
                continue
            raise AssertionError(f"{path} gave {data!r}")


@escape_attempt
async def writing_follows_no_symlink(bench: Bench) -> None:
    """`write_file` replaces a symlink at its path and leaves what it pointed to alone."""
    canary = bench.plant()
    async with bench.sandbox(_FILES) as sandbox:
        await bench.succeed(sandbox, f"ln -s {canary} direct; ln -s a.txt inner; ln dir/b.txt hard")
        for name in ("direct", "inner", "hard"):
            await sandbox.write_file(WORKSPACE / name, b"written")
            assert await sandbox.read_file(WORKSPACE / name, max_bytes=100) == b"written"
        assert await bench.succeed(sandbox, "cat a.txt dir/b.txt") == "alpha\nbeta"
    assert canary.read_text() == bench.secret


@escape_attempt
async def writing_refuses_symlinked_parents(bench: Bench) -> None:
    """`write_file` refuses a symlink or a file among its parents, and `..`."""
    canary = bench.plant()
    async with bench.sandbox(_FILES) as sandbox:
        await bench.succeed(sandbox, f"ln -s {canary.parent} parent; ln -s dir inner")
        steps = "/".join([".."] * 30)
        for path in (f"parent/{canary.name}", "parent/new", "inner/new", "a.txt/new", f"{steps}{canary}"):
            try:
                await sandbox.write_file(PurePosixPath(f"/workspace/{path}"), b"written")
            except AdjudgeError:
                continue
            raise AssertionError(f"{path} was written")
    assert canary.read_text() == bench.secret
    assert [path.name for path in canary.parent.iterdir() if path.is_file()] == [canary.name]


@escape_attempt
async def swapped_directories_win_nothing(bench: Bench) -> None:
    """A parent swapped for a symlink to the host while we read and write leads nowhere."""
    outside = bench.scratch / "outside"
    outside.mkdir()
    (outside / "file").write_text(bench.secret)
    async with bench.sandbox({"real/file": b"inside"}) as sandbox:
        swap = """
os.symlink(sys.argv[2], "decoy")
end = time.monotonic() + 1.0
while time.monotonic() < end:
    for old, new in (("real", "aside"), ("decoy", "real"), ("real", "decoy"), ("aside", "real")):
        try:
            os.rename(old, new)
        except OSError:  # the supervisor made a directory in between
            pass
"""
        swapping = asyncio.create_task(bench.program(sandbox, swap, outside))
        for number in range(200):
            try:
                data = await sandbox.read_file(WORKSPACE / "real/file", max_bytes=100)
                assert bench.secret not in data.decode("utf-8", "replace"), "read through the swapped parent"
                await sandbox.write_file(WORKSPACE / "real/file", b"inside %d" % number)
            except (FileNotFoundError, AdjudgeError):
                continue
        ran = await swapping
        assert ran.result.ok, ran.told
    assert (outside / "file").read_text() == bench.secret
    assert [path.name for path in outside.iterdir()] == ["file"]


@escape_attempt
async def mounts_stay_read_only(bench: Bench) -> None:
    """A mount lies over the workspace's own content, and its source cannot be changed through it."""
    hidden = bench.source({"test.py": b"trusted\n"})
    (hidden / "test.py").chmod(0o666)
    hidden.chmod(0o777)
    async with bench.sandbox(
        {"tests/test.py": b"forged\n", "tests/own.py": b"own\n"},
        mounts=(Mount(source=hidden, target=WORKSPACE / "tests"),),
    ) as sandbox:
        assert await bench.succeed(sandbox, "cat tests/test.py; ls tests") == "trusted\ntest.py"
        await bench.attack(
            sandbox,
            """
refused("write to a read-only mount", lambda: open("tests/test.py", "w").close())
refused("create in a read-only mount", lambda: open("tests/new", "w").close())
refused("delete in a read-only mount", lambda: os.unlink("tests/test.py"))
refused("chmod in a read-only mount", lambda: os.chmod("tests/test.py", 0o777))
refused("rename a mount away", lambda: os.rename("tests", "elsewhere"))
""",
        )
    assert _digest(hidden) == {"test.py": (0o100666, b"trusted\n")}


@check
async def mounts_show_single_files(bench: Bench) -> None:
    """A single file can be mounted into the workspace, where nothing was before."""
    source = bench.source({"key": b"answer\n"})
    target = WORKSPACE / "given" / "key"
    async with bench.sandbox(mounts=(Mount(source=source / "key", target=target),)) as sandbox:
        assert await bench.succeed(sandbox, "cat given/key") == "answer"


@check
async def finished_workspaces_can_be_continued(bench: Bench) -> None:
    """A sandbox's tree can be the source of another one, which sees the same and changes nothing in it."""
    async with bench.sandbox(_FILES) as first:
        await bench.succeed(
            first,
            "rm a.txt && rm -r dir && mkdir dir && echo new > dir/new && chmod 755 bin/tool &&"
            " ln -s new dir/link && mkdir shut && echo deep > shut/file && chmod 0 shut/file",
        )
        seen = "find . | sort && cat dir/link"
        want = await bench.succeed(first, seen)
        async with bench.sandbox(tree=first.tree()) as second:
            assert await bench.succeed(second, seen) == want
            await bench.succeed(second, "rm -rf dir && echo other > bin/tool && chmod 600 shut/file")
        async with bench.sandbox(tree=first.tree()) as third:
            assert await bench.succeed(third, seen) == want
        assert await bench.succeed(first, seen) == want
