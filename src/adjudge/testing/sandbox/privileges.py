"""Escape attempts on the kernel: rights, mounts, namespaces, devices, and the knobs in /proc and /sys."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

from adjudge.records.sandbox import WorkspaceTree
from adjudge.testing.sandbox.bench import WORKSPACE, Bench, Inapplicable
from adjudge.testing.sandbox.check import escape_attempt


@escape_attempt
async def commands_do_not_run_as_root(bench: Bench) -> None:
    """A command is not root, neither in its own eyes nor in the host's."""
    async with bench.sandbox() as sandbox:
        await bench.attack(
            sandbox,
            """
if 0 in (*os.getresuid(), *os.getresgid(), *os.getgroups()):
    breach(f"uids {os.getresuid()}, gids {os.getresgid()}, groups {os.getgroups()}")
open("mine", "w").close()
refused("become root", lambda: os.setuid(0))
refused("become root's group", lambda: os.setgid(0))
refused("take groups", lambda: os.setgroups([0]))
""",
        )
        top = sandbox.tree().layers[-1]
        assert os.lstat(top / "mine").st_uid != 0, "its files belong to the host's root"


@escape_attempt
async def capabilities_are_gone(bench: Bench) -> None:
    """A command holds no capability, in any of its sets that count."""
    async with bench.sandbox() as sandbox:
        await bench.attack(
            sandbox,
            """
for line in open("/proc/self/status"):
    name, _, value = line.partition(":")
    if name in ("CapInh", "CapPrm", "CapEff", "CapAmb") and int(value, 16):
        breach(line.strip())
""",
        )


@escape_attempt
async def no_new_privileges(bench: Bench) -> None:
    """The kernel is told that nothing a command executes may gain rights."""
    async with bench.sandbox() as sandbox:
        text = await bench.succeed(sandbox, "grep NoNewPrivs /proc/self/status")
        assert text.split() == ["NoNewPrivs:", "1"]


@escape_attempt
async def setuid_programs_gain_nothing(bench: Bench) -> None:
    """A setuid program of the system runs without its owner's rights."""
    async with bench.sandbox() as sandbox:
        await bench.attack(
            sandbox,
            """
# They wait for a password on standard input, which leaves time to look at them. Nothing is ever sent.
for program in ("/usr/bin/su", "/usr/bin/passwd", "/usr/bin/chsh"):
    if not os.path.exists(program):
        continue
    silent = subprocess.DEVNULL
    process = subprocess.Popen([program], stdin=subprocess.PIPE, stdout=silent, stderr=silent)
    time.sleep(0.2)
    try:
        lines = open(f"/proc/{process.pid}/status").read().splitlines()
    except OSError:
        lines = []
    uids = [uid for line in lines if line.startswith("Uid:") for uid in line.split()[1:]]
    if "0" in uids:
        breach(f"{program} runs with uids {uids}")
    process.kill()
    process.wait()
""",
        )


@escape_attempt
async def planted_setuid_programs_gain_nothing(bench: Bench) -> None:
    """A setuid bit on a seeded program, whoever owned it on the host, gives nobody's rights."""
    program = shutil.which("id")
    if program is None:
        raise Inapplicable("no `id` to plant")
    source = bench.source({"id": Path(program).read_bytes()})
    (source / "id").chmod(0o6755)
    async with bench.sandbox(tree=WorkspaceTree(layers=(source,))) as sandbox:
        await bench.attack(
            sandbox,
            """
text = subprocess.run(["./id"], capture_output=True, text=True).stdout
print(text)
if any(sign in text for sign in ("euid=", "egid=", "uid=0(")):
    breach(text)
""",
        )


@escape_attempt
async def nothing_can_be_mounted(bench: Bench) -> None:
    """A command cannot mount, unmount, bind, stack or pivot in the namespace it was given."""
    async with bench.sandbox({"below/file": b"", "above/file": b""}) as sandbox:
        await bench.attack(
            sandbox,
            """
here = os.getcwd().encode()
try:
    private_mounts()
    breach("has the right to a mount namespace")
except OSError as error:
    print("refused:", error)
    # Without the right to make a namespace nothing below can succeed on a namespace that is not ours.
    refused("mount a tmpfs", lambda: call("mount", b"tmpfs", here + b"/above", b"tmpfs", 0, None))
    refused("bind", lambda: call("mount", here + b"/below", here + b"/above", None, MS_BIND, None))
    options = b"lowerdir=" + here + b"/below:" + here + b"/above"
    refused("stack", lambda: call("mount", b"overlay", here + b"/above", b"overlay", 0, options))
    refused("mount proc", lambda: call("mount", b"proc", here + b"/above", b"proc", 0, None))
    refused("unmount", lambda: call("umount2", here, 2))
    refused("make writable", lambda: call("mount", b"none", b"/usr", None, MS_REMOUNT | MS_BIND, None))
    refused("pivot", lambda: call("pivot_root", here, here + b"/above"))
    refused("change root", lambda: os.chroot("above"))
""",
        )


@escape_attempt
async def nested_namespaces_uncover_nothing(bench: Bench) -> None:
    """As root of a user namespace of its own, a command still finds no way to the host's files."""
    canary = bench.plant()
    async with bench.sandbox({"empty/file": b""}) as sandbox:
        await bench.attack(
            sandbox,
            """
path = sys.argv[2]
try:
    nested_user_namespace()
except OSError as error:
    print("refused:", error)
else:
    show(path)
    mounts = [line.split()[4].encode() for line in open("/proc/self/mountinfo")]
    for mount in reversed(mounts):  # whatever lies under a mount point comes to light
        libc.umount2(mount, 2)
        show(path)
    libc.mount(b"none", b"/", None, MS_REMOUNT | MS_BIND, None)
    here = os.open(".", os.O_RDONLY)
    if libc.chroot(b"empty") == 0:  # the classic: a root below us, a handle above it, and up
        os.fchdir(here)
        for _ in range(40):
            os.chdir("..")
        libc.chroot(b".")
        show(path)
""",
            canary,
        )


@escape_attempt
async def namespaces_of_the_host_cannot_be_joined(bench: Bench) -> None:
    """A command cannot enter the namespaces of a host process."""
    with bench.host_process() as host:
        async with bench.sandbox() as sandbox:
            await bench.attack(
                sandbox,
                """
own = {kind: os.readlink(f"/proc/self/ns/{kind}") for kind in ("mnt", "net", "pid", "ipc", "user")}
theirs = dict(pair.split("=") for pair in sys.argv[3:])
for kind in ("mnt", "net", "pid", "ipc"):
    if own[kind] == theirs[kind]:
        breach(f"shares the host's {kind} namespace")
    for pid in (1, int(sys.argv[2])):
        try:
            handle = os.open(f"/proc/{pid}/ns/{kind}", os.O_RDONLY)
        except OSError as error:
            print("refused:", kind, pid, error.strerror)
            continue
        if os.readlink(f"/proc/{pid}/ns/{kind}") == theirs[kind] and libc.setns(handle, 0) == 0:
            breach(f"entered the {kind} namespace of {pid}")
        os.close(handle)
""",
                host.pid,
                *(f"{kind}={os.readlink(f'/proc/self/ns/{kind}')}" for kind in ("mnt", "net", "pid", "ipc")),
            )


@escape_attempt
async def device_nodes_cannot_be_made(bench: Bench) -> None:
    """A command cannot make a device node, nor use one that came with its workspace."""
    source = bench.source()
    if os.geteuid() == 0:
        os.mknod(source / "seeded", 0o060666, os.makedev(1, 1))
        (source / "seeded").chmod(0o666)
    async with bench.sandbox(tree=WorkspaceTree(layers=(source,))) as sandbox:
        await bench.attack(
            sandbox,
            """
for place in (".", TEMPORARY, "/dev"):
    for kind, device in ((stat.S_IFBLK, os.makedev(254, 0)), (stat.S_IFCHR, os.makedev(1, 1))):
        path = os.path.join(place, sys.argv[1])
        try:
            os.mknod(path, kind | 0o666, device)
        except OSError as error:
            print("refused:", path, error.strerror)
        else:
            breach(f"made {path}")
            os.unlink(path)
try:
    os.close(os.open("seeded", os.O_RDONLY))
    breach("a seeded device can be opened")
except OSError as error:
    print("refused:", error.strerror)
""",
        )


@escape_attempt
async def devices_of_the_host_cannot_be_opened(bench: Bench) -> None:
    """Disks, memory and other devices of the host cannot be opened."""
    async with bench.sandbox() as sandbox:
        await bench.attack(
            sandbox,
            """
for name in names("/dev"):
    path = os.path.join("/dev", name)
    block = stat.S_ISBLK(os.lstat(path).st_mode)
    if block or name in ("mem", "kmem", "port", "kvm", "fuse", "loop-control", "uinput", "vhost-net"):
        for flags in (os.O_RDONLY, os.O_WRONLY):
            try:
                os.close(os.open(path, flags | os.O_NONBLOCK))
            except OSError as error:
                print("refused:", path, error.strerror)
            else:
                breach(f"{path} can be opened")
""",
        )


@escape_attempt
async def kernel_log_cannot_be_opened(bench: Bench) -> None:
    """The kernel's log device cannot be opened."""
    async with bench.sandbox() as sandbox:
        await bench.attack(
            sandbox, "refused('open', lambda: os.close(os.open('/dev/kmsg', os.O_RDONLY | os.O_NONBLOCK)))"
        )


@escape_attempt
async def kernel_settings_cannot_be_changed(bench: Bench) -> None:
    """No switch of the kernel in /proc or /sys can be opened for writing."""
    async with bench.sandbox() as sandbox:
        await bench.attack(
            sandbox,
            """
for path in (
    "/proc/sysrq-trigger",
    "/proc/sys/kernel/core_pattern",
    "/proc/sys/kernel/modprobe",
    "/proc/sys/kernel/hostname",
    "/proc/sys/vm/drop_caches",
    "/proc/sys/fs/file-max",
    "/sys/kernel/uevent_helper",
    "/sys/power/state",
    "/sys/kernel/mm/transparent_hugepage/enabled",
):
    try:
        os.close(os.open(path, os.O_WRONLY))  # opening is the proof; nothing is written
    except OSError as error:
        print("refused:", path, error.strerror)
    else:
        breach(f"{path} can be opened for writing")
""",
        )


@escape_attempt
async def control_groups_cannot_be_changed(bench: Bench) -> None:
    """A command cannot leave the control group its limits are kept in."""
    async with bench.sandbox() as sandbox:
        await bench.attack(
            sandbox,
            """
switches = ("cgroup.procs", "tasks", "memory.limit_in_bytes", "memory.max", "pids.max", "release_agent")
for place, directories, files in os.walk("/sys/fs/cgroup"):
    del directories[8:]  # a few of each level will do
    for name in set(files) & set(switches):
        try:
            os.close(os.open(os.path.join(place, name), os.O_WRONLY))
        except OSError:
            continue
        breach(f"{place}/{name} can be opened for writing")
        sys.exit(0)
""",
        )


@escape_attempt
async def priority_cannot_be_raised(bench: Bench) -> None:
    """A command cannot shield itself from the memory killer or push itself before others."""
    async with bench.sandbox() as sandbox:
        await bench.attack(
            sandbox,
            """
def shield():
    with open("/proc/self/oom_score_adj", "w") as file:
        file.write("-900")
refused("be spared by the memory killer", shield)
refused("get a better priority", lambda: os.setpriority(os.PRIO_PROCESS, 0, -10))
""",
        )


@escape_attempt
async def terminals_of_the_host_are_out_of_reach(bench: Bench) -> None:
    """A command has a session of its own and no controlling terminal to type into."""
    async with bench.sandbox() as sandbox:
        await bench.attack(
            sandbox,
            """
if os.getsid(0) in (0, int(sys.argv[2])):
    breach(f"in the supervisor's session ({os.getsid(0)})")
terminal = int(open("/proc/self/stat").read().rpartition(")")[2].split()[4])
if terminal:
    breach(f"has the controlling terminal {terminal}")
refused("open the terminal", lambda: os.close(os.open("/dev/tty", os.O_RDWR)))
""",
            os.getsid(0),
        )


@escape_attempt
async def workspaces_cannot_smuggle_attributes(bench: Bench) -> None:
    """Attributes that mean something to the kernel's overlay, forged inside, do not hide or reveal files."""
    async with bench.sandbox({"dir/kept": b"kept"}) as sandbox:
        await bench.attack(
            sandbox,
            """
for prefix in ("user.overlay.", "trusted.overlay."):
    for name, value in (("opaque", b"y"), ("redirect", b"/etc"), ("whiteout", b"y"), ("metacopy", b"")):
        for path in ("dir", "dir/kept"):
            try:
                os.setxattr(path, prefix + name, value)
            except OSError as error:
                print("refused:", prefix + name, error.strerror)
open("dir/new", "w").write("new")
""",
        )
        async with bench.sandbox(tree=sandbox.tree()) as second:
            assert await bench.succeed(second, "ls dir; cat dir/kept") == "kept\nnew\nkept"
        assert await sandbox.read_file(WORKSPACE / "dir/kept", max_bytes=10) == b"kept"
