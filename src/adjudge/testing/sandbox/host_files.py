"""Escape attempts on the host's files: reading, writing, and every way round a path."""

from __future__ import annotations

import contextlib
import ctypes
import os
from pathlib import Path

from adjudge.records.sandbox import WorkspaceTree
from adjudge.testing.sandbox.bench import Bench, Inapplicable
from adjudge.testing.sandbox.check import escape_attempt

_AT_FDCWD = -100


@escape_attempt
async def host_files_cannot_be_read(bench: Bench) -> None:
    """A file of the host cannot be read by its path, by `..`, or through a symlink in the workspace."""
    canary = bench.plant()
    async with bench.sandbox({"deep/er/file": b""}) as sandbox:
        await bench.attack(
            sandbox,
            """
path = sys.argv[2]
show(path)
show("../" * 30 + path)
os.chdir("deep/er"); show("../" * 30 + path); os.chdir("../..")
os.symlink(path, "link"); show("link")
os.symlink("/", "root"); show("root" + path)
os.symlink("/proc/self/root" + path, "long"); show("long")
""",
            canary,
        )


@escape_attempt
async def symlinks_in_the_source_lead_nowhere(bench: Bench) -> None:
    """A symlink that the source tree already held does not bring the host's file along."""
    canary = bench.plant()
    source = bench.source({"file": b""})
    (source / "link").symlink_to(canary)
    (source / "directory").symlink_to(canary.parent)
    async with bench.sandbox(tree=WorkspaceTree(layers=(source,))) as sandbox:
        await bench.attack(sandbox, "show('link'); show('directory/' + sys.argv[2])", canary.name)


@escape_attempt
async def host_files_cannot_be_read_through_proc(bench: Bench) -> None:
    """A file of the host cannot be reached over /proc/*/root, /proc/*/cwd or an open descriptor in /proc."""
    canary = bench.plant()
    with bench.host_process() as host, canary.open() as held:
        os.set_inheritable(held.fileno(), True)
        async with bench.sandbox() as sandbox:
            await bench.attack(
                sandbox,
                """
token, path, host = sys.argv[1:4]
for pid in {1, int(host), os.getppid(), *processes()}:
    show(f"/proc/{pid}/root{path}")
    show(f"/proc/{pid}/cwd/" + "../" * 30 + path)
    show(f"/proc/{pid}/task/{pid}/root{path}")
    for number in names(f"/proc/{pid}/fd"):
        try:
            target = os.readlink(f"/proc/{pid}/fd/{number}")
        except OSError:
            continue
        if token in target:
            breach(f"descriptor {number} of process {pid} leads to {target}")
""",
                canary,
                host.pid,
            )


@escape_attempt
async def host_files_cannot_be_changed(bench: Bench) -> None:
    """A file of the host cannot be written, cut, replaced, renamed, deleted, or given other permissions."""
    canary = bench.plant()
    canary.parent.chmod(0o777)
    before = canary.stat()
    async with bench.sandbox() as sandbox:
        attack = """
path = sys.argv[2]
for what, action in (
    ("append", lambda: open(path, "a").write("!")),
    ("chmod", lambda: os.chmod(path, 0o777)),
    ("touch", lambda: os.utime(path, (1, 1))),
    ("create beside", lambda: os.close(os.open(path + "-new", os.O_WRONLY | os.O_CREAT))),
    ("rename", lambda: os.rename(path, path + "-moved")),
    ("delete", lambda: os.unlink(path)),
):
    try:
        action()
    except OSError as error:
        print("refused:", what, error.strerror)
"""
        await bench.attack(sandbox, attack, canary)
    assert [path.name for path in bench.scratch.iterdir() if path.is_file()] == [canary.name]
    assert canary.read_text() == bench.secret
    after = canary.stat()
    assert (after.st_mode, after.st_mtime_ns, after.st_ino) == (
        before.st_mode,
        before.st_mtime_ns,
        before.st_ino,
    )


@escape_attempt
async def shared_places_of_the_host_are_not_visible(bench: Bench) -> None:
    """The host's home, /tmp, /var/tmp, /run and /dev/shm are not those the command sees."""
    with contextlib.ExitStack() as planted:
        places = []
        for place in (Path.home(), Path("/tmp"), Path("/var/tmp"), Path("/run"), Path("/dev/shm")):
            if os.access(place, os.W_OK):
                canary = bench.plant("shared", directory=place)
                planted.callback(canary.unlink)
                places.append(place)
        async with bench.sandbox() as sandbox:
            await bench.attack(
                sandbox,
                """
token = sys.argv[1]
for place in sys.argv[2:]:
    for name in names(place):
        if token in name:
            show(os.path.join(place, name))
    show(os.path.join(place, token + "-shared"))
""",
                *places,
            )


@escape_attempt
async def what_is_written_to_shared_places_stays_inside(bench: Bench) -> None:
    """What a command writes to /tmp, /var/tmp, /run or /dev/shm does not appear on the host."""
    places = [Path(place) for place in ("/tmp", "/var/tmp", "/run", "/dev/shm")]
    try:
        async with bench.sandbox() as sandbox:
            await bench.attack(
                sandbox,
                """
for place in sys.argv[2:]:
    try:
        open(os.path.join(place, sys.argv[1]), "w").close()
    except OSError as error:
        print("refused:", place, error.strerror)
""",
                *places,
            )
            appeared = [place for place in places if (place / bench.token).exists()]
            assert not appeared, f"appeared on the host: {appeared}"
    finally:
        for place in places:
            (place / bench.token).unlink(missing_ok=True)


@escape_attempt
async def hard_links_reach_nothing(bench: Bench) -> None:
    """No file of the host or of the system can be linked into the workspace and written there."""
    canary = bench.plant()
    async with bench.sandbox() as sandbox:
        await bench.attack(
            sandbox,
            """
for number, path in enumerate([sys.argv[2], "/etc/passwd", "/usr/bin/env", sys.executable]):
    try:
        os.link(path, f"linked{number}")
    except OSError as error:
        print("refused:", path, error.strerror)
        continue
    try:
        open(f"linked{number}", "a").close()
    except OSError as error:
        print("linked, but not writable:", path, error.strerror)
    else:
        breach(f"{path} is writable through a hard link")
    show(f"linked{number}") if number == 0 else None
    os.unlink(f"linked{number}")
""",
            canary,
        )


@escape_attempt
async def system_directories_cannot_be_written(bench: Bench) -> None:
    """System directories, and the interpreter in use, cannot be written, not even after a remount."""
    places = ["/", "/usr", "/etc", "/usr/bin", "/var", "/opt", str(Path(bench.python).parent)]
    try:
        async with bench.sandbox() as sandbox:
            await bench.attack(
                sandbox,
                """
token, places = sys.argv[1], sys.argv[2:]
def plant():
    for place in places:
        path = os.path.join(place, token)
        try:
            open(path, "w").close()
        except OSError as error:
            print("refused:", path, error.strerror)
plant()
try:
    private_mounts()
except OSError as error:
    print("refused:", error)
else:
    for place in places:
        libc.mount(b"none", place.encode(), None, MS_REMOUNT | MS_BIND, None)
    plant()
""",
                *places,
            )
        appeared = [place for place in places if Path(place, bench.token).exists()]
        assert not appeared, f"appeared on the host: {appeared}"
    finally:
        for place in places:
            Path(place, bench.token).unlink(missing_ok=True)


@escape_attempt
async def secrets_of_the_system_cannot_be_read(bench: Bench) -> None:
    """Files that only root may read cannot be opened."""
    async with bench.sandbox() as sandbox:
        await bench.attack(
            sandbox,
            """
for path in ("/etc/shadow", "/etc/gshadow", "/etc/sudoers", "/proc/kcore"):
    try:
        os.close(os.open(path, os.O_RDONLY))
    except OSError as error:
        print("refused:", path, error.strerror)
    else:
        breach(f"{path} can be opened")
""",
        )


@escape_attempt
async def file_handles_open_nothing(bench: Bench) -> None:
    """A kernel file handle of a host file, known to the attacker, opens nothing."""
    canary = bench.plant()
    handle = _file_handle(canary)
    async with bench.sandbox() as sandbox:
        await bench.attack(
            sandbox,
            """
handle = bytes.fromhex(sys.argv[2])
for place in (".", "/", "/usr", TEMPORARY, os.environ["HOME"]):
    mount = os.open(place, os.O_RDONLY)
    opened = libc.open_by_handle_at(mount, ctypes.create_string_buffer(handle, len(handle)), os.O_RDONLY)
    if opened == -1:
        print("refused:", os.strerror(ctypes.get_errno()))
    else:
        print("read:", os.read(opened, 4096))
        breach(f"opened by handle, over {place}")
""",
            handle.hex(),
        )


def _file_handle(path: Path) -> bytes:
    """The kernel's handle of a file, as `open_by_handle_at` wants it."""
    libc = ctypes.CDLL(None, use_errno=True)
    room = 128
    buffer = ctypes.create_string_buffer(room.to_bytes(4, "little") + bytes(4 + room), 8 + room)
    mount_id = ctypes.c_int()
    if libc.name_to_handle_at(_AT_FDCWD, os.fsencode(path), buffer, ctypes.byref(mount_id), 0) != 0:
        raise Inapplicable(f"no file handles here: {os.strerror(ctypes.get_errno())}")
    return buffer.raw[: 8 + int.from_bytes(buffer.raw[:4], "little")]
