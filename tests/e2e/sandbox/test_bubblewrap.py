"""What the bubblewrap backend does beyond the contract's suite."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
import tempfile
import time
import venv
from collections.abc import Awaitable, Callable
from pathlib import Path, PurePosixPath

import pytest

from adjudge.contracts import Sandbox
from adjudge.errors import SandboxError, SubjectError, UsageError
from adjudge.records.sandbox import (
    Ended,
    ExecRequest,
    ExecResult,
    Limits,
    Mount,
    Network,
    SandboxSpec,
    WorkspaceTree,
)
from adjudge.sandbox.bubblewrap import BubblewrapBackend
from adjudge.sandbox.cgroups import find_places
from adjudge.sandbox.scratch import current_scratch

pytestmark = pytest.mark.bwrap
ROOT = os.geteuid() == 0
MIB = 1024 * 1024


def in_sandbox(spec: SandboxSpec, use: Callable[[Sandbox], Awaitable[None]]) -> None:
    async def run() -> None:
        async with await BubblewrapBackend().start(spec) as sandbox:
            await use(sandbox)

    asyncio.run(run())


async def sh(sandbox: Sandbox, script: str, limits: Limits | None = None) -> ExecResult:
    return await sandbox.exec(ExecRequest(shell=script, limits=limits))


async def ok(sandbox: Sandbox, script: str) -> str:
    result = await sh(sandbox, script)
    assert result.ok, (result.ended, result.exit_code, result.reason, result.stderr.text)
    return result.stdout.text


def test_the_workspace_is_shared_not_copied_and_never_written(workspace: Path) -> None:
    async def use(sandbox: Sandbox) -> None:
        assert sandbox.report.copy_on_write == "overlay"
        assert sandbox.report.notes == ()
        await ok(sandbox, "echo more >> README && rm src/module.py && echo new > src/new")
        tree = sandbox.tree()
        assert tree.base == workspace
        assert (tree.layers[-1] / "README").read_text() == "read me\nmore\n"
        assert tree.xattr_prefix == ("trusted.overlay." if ROOT else "user.overlay.")

    in_sandbox(SandboxSpec(workspace=WorkspaceTree(layers=(workspace,))), use)
    assert (workspace / "README").read_text() == "read me\n"
    assert [path.name for path in (workspace / "src").iterdir()] == ["module.py"]


def test_a_sandbox_can_stand_on_another_ones_layers(workspace: Path) -> None:
    async def use(agent: Sandbox) -> None:
        await ok(agent, "rm README; mv src/module.py src/moved.py; mkdir src/deep; echo 1 > src/deep/file")
        async with await BubblewrapBackend().start(SandboxSpec(workspace=agent.tree())) as scorer:
            assert scorer.report.copy_on_write == "overlay"
            assert await ok(scorer, "find . -type f | sort") == "./src/deep/file\n./src/moved.py\n"
            await ok(scorer, "echo scorer > src/deep/file && rm src/moved.py")
            async with await BubblewrapBackend().start(SandboxSpec(workspace=scorer.tree())) as third:
                assert await ok(third, "find . -type f; cat src/deep/file") == "./src/deep/file\nscorer\n"
        assert await ok(agent, "cat src/deep/file src/moved.py") == "1\nvalue = 1\n"

    in_sandbox(SandboxSpec(workspace=WorkspaceTree(layers=(workspace,))), use)


def test_directories_can_be_renamed_where_that_is_asked_for(workspace: Path) -> None:
    async def use(sandbox: Sandbox) -> None:
        assert sandbox.report.copy_on_write == ("overlay" if ROOT else "copy")
        program = "import os; os.rename('src', 'lib'); print(open('lib/module.py').read(), end='')"
        result = await sandbox.exec(ExecRequest(argv=("python3", "-c", program)))
        assert result.stdout.text == "value = 1\n", result.stderr.text

    in_sandbox(SandboxSpec(workspace=WorkspaceTree(layers=(workspace,)), exact_renames=True), use)


def test_layers_are_copied_as_one_where_renames_matter(workspace: Path) -> None:
    async def use(agent: Sandbox) -> None:
        await ok(agent, "rm README; echo 2 > src/second")
        spec = SandboxSpec(workspace=agent.tree(), exact_renames=True)
        async with await BubblewrapBackend().start(spec) as again:
            assert await ok(again, "find . -type f | sort") == "./src/module.py\n./src/second\n"

    in_sandbox(SandboxSpec(workspace=WorkspaceTree(layers=(workspace,))), use)


@pytest.mark.root
def test_a_workspace_of_another_user_is_the_agents_own_inside(workspace: Path) -> None:
    for path in (workspace, *workspace.rglob("*")):
        os.chown(path, 54321, 54321)
    (workspace / "README").chmod(0o600)
    workspace.chmod(0o700)

    async def use(sandbox: Sandbox) -> None:
        assert sandbox.report.copy_on_write == "overlay"
        assert await ok(sandbox, "stat -c %U:%G . README; echo x >> README; cat README") == (
            "agent:agent\nagent:agent\nread me\nx\n"
        )

    in_sandbox(SandboxSpec(workspace=WorkspaceTree(layers=(workspace,))), use)
    assert (workspace / "README").stat().st_uid == 54321


@pytest.mark.root
def test_a_workspace_of_several_owners_is_copied_and_that_is_said(workspace: Path) -> None:
    os.chown(workspace / "README", 54321, 54321)
    (workspace / "README").chmod(0o600)

    async def use(sandbox: Sandbox) -> None:
        assert sandbox.report.copy_on_write == "copy"
        assert "several owners" in sandbox.report.notes[0]
        await ok(sandbox, "echo x >> README && echo y >> src/module.py")

    in_sandbox(SandboxSpec(workspace=WorkspaceTree(layers=(workspace,))), use)
    assert (workspace / "README").read_text() == "read me\n"


@pytest.mark.root
def test_a_workspace_below_a_closed_directory_is_reached(hostile_tmp: Path) -> None:
    closed = hostile_tmp / "closed"
    (closed / "workspace").mkdir(parents=True)
    (closed / "workspace/file").write_text("inside\n")
    closed.chmod(0o700)

    async def use(sandbox: Sandbox) -> None:
        assert await ok(sandbox, "cat file") == "inside\n"

    in_sandbox(SandboxSpec(workspace=WorkspaceTree(layers=(closed / "workspace",))), use)


def test_the_interpreter_and_environment_in_use_are_there() -> None:
    async def use(sandbox: Sandbox) -> None:
        program = "import sys, pydantic; print(sys.prefix, sys.version_info[:3])"
        result = await sandbox.exec(ExecRequest(argv=(sys.executable, "-c", program)))
        assert result.stdout.text == f"{sys.prefix} {sys.version_info[:3]}\n", result.stderr.text
        assert (await ok(sandbox, "command -v python3")).strip() == f"{sys.prefix}/bin/python3"

    in_sandbox(SandboxSpec(), use)


def test_mounts_inside_the_workspace_lie_over_it_and_leave_no_trace(
    workspace: Path, hostile_tmp: Path
) -> None:
    hidden = hostile_tmp / "hidden"
    hidden.mkdir()
    (hidden / "test.py").write_text("secret\n")
    (hidden / "test.py").chmod(0o600)
    mounts = (
        Mount(source=hidden, target=PurePosixPath("/workspace/tests/hidden")),
        Mount(source=hidden / "test.py", target=PurePosixPath("/workspace/README")),
        Mount(source=hidden, target=PurePosixPath("/data/set")),
    )

    async def use(sandbox: Sandbox) -> None:
        assert await ok(sandbox, "cat tests/hidden/test.py README /data/set/test.py") == "secret\n" * 3
        assert not (await sh(sandbox, "echo x > tests/hidden/test.py")).ok
        assert not (await sh(sandbox, "rm -rf tests/hidden README")).ok
        assert await sandbox.read_file(PurePosixPath("tests/hidden/test.py"), max_bytes=99) == b"secret\n"
        assert not (sandbox.tree().layers[-1] / "tests").exists()
        assert not (sandbox.tree().layers[-1] / "README").exists()

    in_sandbox(SandboxSpec(workspace=WorkspaceTree(layers=(workspace,)), mounts=mounts), use)
    assert (hidden / "test.py").read_text() == "secret\n"


def test_a_link_planted_where_something_is_mounted_is_not_followed(
    workspace: Path, hostile_tmp: Path
) -> None:
    target = hostile_tmp / "target"
    target.mkdir()

    async def use(sandbox: Sandbox) -> None:
        planted = f"ln -s /oldroot{target} tests; ln -s /oldroot{target} /tmp/there"
        outside = SandboxSpec(
            workspace=sandbox.tree(),
            mounts=(Mount(source=workspace / "README", target=PurePosixPath("/workspace/tests/hidden")),),
        )
        await ok(sandbox, planted)
        async with await BubblewrapBackend().start(outside) as grading:
            with pytest.raises(SubjectError, match="tests"):
                await sh(grading, "true")

    in_sandbox(SandboxSpec(workspace=WorkspaceTree(layers=(workspace,))), use)
    assert list(target.iterdir()) == []


def test_writable_mounts_are_written_as_their_owner(hostile_tmp: Path) -> None:
    shared = hostile_tmp / "shared"
    shared.mkdir()
    if ROOT:
        os.chown(shared, 54321, 54321)
    mount = Mount(source=shared, target=PurePosixPath("/shared"), writable=True)

    async def use(sandbox: Sandbox) -> None:
        await ok(sandbox, "echo out > /shared/result")

    in_sandbox(SandboxSpec(mounts=(mount,)), use)
    assert (shared / "result").read_text() == "out\n"
    assert (shared / "result").stat().st_uid == shared.stat().st_uid


@pytest.mark.parametrize("target", ["/", "/workspace", "/proc/self", "/etc/passwd", "/a/../b"])
def test_targets_that_cannot_be_are_refused(target: str, workspace: Path) -> None:
    mount = Mount(source=workspace, target=PurePosixPath(target))
    with pytest.raises(UsageError):
        in_sandbox(SandboxSpec(mounts=(mount,)), lambda sandbox: asyncio.sleep(0))


def test_a_missing_source_is_refused_and_nothing_is_left(hostile_tmp: Path) -> None:
    mount = Mount(source=hostile_tmp / "missing", target=PurePosixPath("/x"))
    with pytest.raises(UsageError, match="does not exist"):
        in_sandbox(SandboxSpec(mounts=(mount,)), lambda sandbox: asyncio.sleep(0))


def test_etc_holds_nothing_of_the_host() -> None:
    async def use(sandbox: Sandbox) -> None:
        assert await ok(sandbox, "cut -d: -f1 /etc/passwd | sort | tr '\\n' ' '") == "agent nobody root "
        assert not (await sh(sandbox, "ls /etc/shadow /etc/ssh /etc/machine-id")).ok
        assert await ok(sandbox, "cat /etc/hostname; id -un; ls -A /run /home") == (
            "sandbox\nagent\n/home:\nagent\n\n/run:\n"
        )

    in_sandbox(SandboxSpec(), use)


def test_what_no_command_needs_is_closed() -> None:
    program = """
import ctypes, errno
libc = ctypes.CDLL(None, use_errno=True)
def call(*args):
    return errno.errorcode[ctypes.get_errno()] if libc.syscall(*args) < 0 else "done"
print(call(425, 1, None), call(435, None, 0), call(321, 0, None, 0), call(250, 0, -3, 0))
print(libc.unshare(0x10000000), errno.errorcode[ctypes.get_errno()])
"""

    async def use(sandbox: Sandbox) -> None:
        result = await sandbox.exec(ExecRequest(argv=("python3", "-c", program)))
        assert result.stdout.text == "ENOSYS ENOSYS ENOSYS ENOSYS\n-1 EPERM\n", result.stderr.text

    if os.uname().machine != "x86_64":
        pytest.skip("the system call numbers are those of x86_64")
    in_sandbox(SandboxSpec(), use)


def test_processes_that_close_everything_do_not_hold_an_exec(workspace: Path) -> None:
    async def use(sandbox: Sandbox) -> None:
        started = time.monotonic()
        result = await sh(sandbox, "(setsid sleep 300 >/dev/null 2>&1 </dev/null &) ; sleep 300 & echo done")
        assert result.ok
        assert result.stdout.text == "done\n"
        assert time.monotonic() - started < 20
        assert await ok(sandbox, "cat /proc/[0-9]*/comm | grep -c sleep || true") == "0\n"

    in_sandbox(SandboxSpec(workspace=WorkspaceTree(layers=(workspace,))), use)


def test_sandboxes_at_once_do_not_share_limits() -> None:
    async def one(number: int) -> None:
        limits = Limits(processes=12, wall_s=60)
        async with await BubblewrapBackend().start(SandboxSpec(limits=limits)) as sandbox:
            result = await sh(sandbox, "for i in 1 2 3 4 5 6; do sleep 1 & done; wait; echo ok")
            assert result.stdout.text == "ok\n", (number, result)

    async def run() -> None:
        await asyncio.gather(*(one(number) for number in range(6)))

    asyncio.run(run())


def test_a_discarded_sandbox_says_so(workspace: Path) -> None:
    async def run() -> None:
        sandbox = await BubblewrapBackend().start(SandboxSpec())
        await sandbox.discard()
        with pytest.raises(SandboxError, match="discarded"):
            await sh(sandbox, "true")

    asyncio.run(run())


def test_the_host_network_is_noted() -> None:
    async def use(sandbox: Sandbox) -> None:
        assert any("host" in note for note in sandbox.report.notes)
        assert await ok(sandbox, "readlink /proc/self/ns/net") == os.readlink("/proc/self/ns/net") + "\n"

    in_sandbox(SandboxSpec(network=Network.HOST), use)


def test_arguments_and_environment_may_be_large_and_odd() -> None:
    async def use(sandbox: Sandbox) -> None:
        odd = "a b\n'\"$x\\ ü\udcff"
        request = ExecRequest(argv=("printf", "%s|", odd, "x" * 100_000), env={"a.b-c": odd})
        assert (await sandbox.exec(request)).stdout.size_bytes == len(os.fsencode(odd)) + 100_002
        echo = ExecRequest(
            argv=("python3", "-c", "import os; print(ascii(os.environ['a.b-c']))"), env={"a.b-c": odd}
        )
        assert (await sandbox.exec(echo)).stdout.text == ascii(odd) + "\n"

    in_sandbox(SandboxSpec(), use)


def test_a_sandbox_works_in_a_thread_and_in_a_fork_of_its_process() -> None:
    code = """
import asyncio, os, threading
from adjudge.records.sandbox import ExecRequest, SandboxSpec
from adjudge.sandbox.bubblewrap import BubblewrapBackend
from adjudge.sandbox.cgroups import find_places
from adjudge.sandbox.scratch import current_scratch
async def use():
    async with await BubblewrapBackend().start(SandboxSpec()) as sandbox:
        assert (await sandbox.exec(ExecRequest(shell="true"))).ok
threads = [threading.Thread(target=lambda: asyncio.run(use())) for _ in range(3)]
for thread in threads: thread.start()
for thread in threads: thread.join()
child = os.fork()
if child == 0:
    asyncio.run(use())
    os._exit(0)
assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
asyncio.run(use())
print("fine")
"""
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=120, check=False
    )
    assert done.stdout == "fine\n", done.stderr


@pytest.mark.parametrize("after_s", [0.0, 0.005, 0.02, 0.1])
def test_a_cancelled_exec_leaves_nothing_whenever_it_comes(after_s: float) -> None:
    async def use(sandbox: Sandbox) -> None:
        task = asyncio.ensure_future(sh(sandbox, "sleep 300 & sleep 300"))
        await asyncio.sleep(after_s)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        own, places = current_scratch(), find_places()
        assert own is not None
        left = [path for parent in (places.parents if places else []) for path in parent.glob(f"*{own.id}*")]
        assert left == []
        assert await ok(sandbox, "cat /proc/[0-9]*/comm | grep -c sleep || true") == "0\n"

    in_sandbox(SandboxSpec(), use)


@pytest.mark.skipif(not ROOT, reason="only root has limits of both kinds")
@pytest.mark.parametrize("held_by", ["cgroup", "watcher"])
def test_limits_are_held_either_way(held_by: str, monkeypatch: pytest.MonkeyPatch) -> None:
    if held_by == "watcher":
        monkeypatch.setattr("adjudge.sandbox.bubblewrap.find_places", lambda: None)

    async def use(sandbox: Sandbox) -> None:
        holder = sandbox.report.limits_held_by["memory"]
        if held_by == "cgroup" and holder == "watcher":
            pytest.skip("no writable control groups")
        assert holder.startswith(held_by)
        limits = Limits(memory_bytes=100 * MIB, processes=20, wall_s=30)
        grow = "import time\ndata = []\nfor _ in range(400): data.append(bytearray(1 << 20))\ntime.sleep(30)"
        eaten = await sandbox.exec(ExecRequest(argv=("python3", "-c", grow), limits=limits))
        assert eaten.ended is Ended.OUT_OF_MEMORY, eaten
        bomb = await sh(sandbox, "while :; do sleep 20 & done", limits)
        assert bomb.ended is Ended.PROCESS_LIMIT, bomb
        assert bomb.usage.wall_s < 10

    in_sandbox(SandboxSpec(), use)


_FROM_AN_ENVIRONMENT = """
import asyncio, sys
from pathlib import Path
from adjudge.records.sandbox import ExecRequest, SandboxSpec, WorkspaceTree
from adjudge.sandbox.bubblewrap import BubblewrapBackend

async def run():
    spec = SandboxSpec(workspace=WorkspaceTree(layers=(Path(sys.argv[1]),)))
    async with await BubblewrapBackend().start(spec) as sandbox:
        for _ in range(2):
            argv = (sys.executable, "-c", "import sys; print(sys.prefix)")
            done = await sandbox.exec(ExecRequest(argv=argv))
            assert done.ok, (done.reason, done.stderr.text)
            print(done.stdout.text.strip())
        print((await sandbox.exec(ExecRequest(shell="ls -A /tmp"))).stdout.text.strip())

asyncio.run(run())
"""


@pytest.mark.parametrize("parent", ["/tmp", "/var/tmp"])
def test_an_environment_in_a_folder_for_temporary_files_is_seen(workspace: Path, parent: str) -> None:
    with tempfile.TemporaryDirectory(dir=parent) as folder:
        os.chmod(folder, 0o755)
        environment = Path(folder) / "env"
        venv.create(environment, symlinks=True, with_pip=False)
        packages = [path for path in sys.path if path]
        ran = subprocess.run(
            [environment / "bin/python", "-c", _FROM_AN_ENVIRONMENT, workspace],
            env={**os.environ, "PYTHONPATH": os.pathsep.join(packages)},
            capture_output=True,
            text=True,
        )
        assert ran.stdout.split("\n") == [str(environment), str(environment), Path(folder).name, ""], (
            ran.stderr
        )
