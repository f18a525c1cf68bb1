"""Escape attempts on what is beside the sandbox: processes, the supervisor, networks, other sandboxes."""

from __future__ import annotations

import asyncio
import contextlib
import ctypes
import os
import socket
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

from adjudge.errors import SandboxUnavailable
from adjudge.records.sandbox import Network, SandboxSpec
from adjudge.testing.sandbox.bench import Bench, Inapplicable
from adjudge.testing.sandbox.check import check, escape_attempt

# Host processes


@escape_attempt
async def host_processes_are_not_visible(bench: Bench) -> None:
    """A command sees no process of the host."""
    with bench.host_process():
        async with bench.sandbox() as sandbox:
            await bench.attack(
                sandbox,
                """
host = sys.argv[1] + "-host"
for pid in processes():
    try:
        arguments = open(f"/proc/{pid}/cmdline").read().split("\\0")
    except OSError:
        continue
    if host in arguments:
        breach(f"sees process {pid}")
""",
            )


@escape_attempt
async def host_processes_cannot_be_signalled(bench: Bench) -> None:
    """A command cannot send a signal to a process of the host, whether it sees it or not."""
    with bench.host_process() as host:
        async with bench.sandbox() as sandbox:
            await bench.attack(
                sandbox,
                """
host = int(sys.argv[2])
for what, action in (
    ("kill", lambda: os.kill(host, signal.SIGKILL)),
    ("kill its group", lambda: os.killpg(host, signal.SIGKILL)),
    ("kill by handle", lambda: signal.pidfd_send_signal(os.pidfd_open(host), signal.SIGKILL)),
):
    refused(what, action)
""",
                host.pid,
            )
        assert host.alive(), "the host's process is dead"


@escape_attempt
async def host_processes_cannot_be_read(bench: Bench) -> None:
    """A command cannot read a host process's memory or environment, by ptrace, by /proc, or directly."""
    with bench.host_process() as host:
        async with bench.sandbox() as sandbox:
            await bench.attack(
                sandbox,
                """
token, host, address = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
class Part(ctypes.Structure):
    _fields_ = [("start", ctypes.c_void_p), ("length", ctypes.c_size_t)]
buffer = ctypes.create_string_buffer(64)
libc.process_vm_readv(
    host, ctypes.byref(Part(ctypes.addressof(buffer), 64)), 1, ctypes.byref(Part(address, 64)), 1, 0
)
print("memory:", buffer.raw)
try:
    with open(f"/proc/{host}/mem", "rb", 0) as memory:
        memory.seek(address)
        print("memory:", memory.read(64))
except OSError as error:
    print("refused:", error.strerror)
for pid in (host, *processes()):
    try:
        variables = open(f"/proc/{pid}/environ", "rb").read().split(b"\\0")
    except OSError:
        continue
    print([variable for variable in variables if variable.startswith(b"CANARY_SECRET=")])
if libc.ptrace(16, host, None, None) == 0:  # PTRACE_ATTACH
    breach("attached to it")
    libc.ptrace(17, host, None, None)
""",
                host.pid,
                host.address,
            )
        assert host.alive(), "the host's process is dead"


@escape_attempt
async def environment_of_the_supervisor_stays_outside(bench: Bench) -> None:
    """Nothing of the supervisor's environment reaches a command, its own or that of a process it can see."""
    with _environment_canary(bench):
        async with bench.sandbox() as sandbox:
            await bench.attack(
                sandbox,
                """
for pid in ["self", *processes()]:
    try:
        variables = open(f"/proc/{pid}/environ", "rb").read().split(b"\\0")
    except OSError:
        continue
    print([variable for variable in variables if variable.startswith(b"ADJUDGE_CANARY=")])
print(os.environ.get("ADJUDGE_CANARY"))
""",
            )


@contextlib.contextmanager
def _environment_canary(bench: Bench) -> Iterator[None]:
    os.environ["ADJUDGE_CANARY"] = bench.secret
    try:
        yield
    finally:
        del os.environ["ADJUDGE_CANARY"]


@escape_attempt
async def descriptors_of_the_supervisor_stay_outside(bench: Bench) -> None:
    """A command is given standard input, output and error, and no other descriptor."""
    canary = bench.plant()
    with canary.open() as held:
        os.set_inheritable(held.fileno(), True)
        async with bench.sandbox() as sandbox:
            await bench.attack(
                sandbox,
                """
for number in range(3, 1024):
    try:
        kind = os.fstat(number)
    except OSError:
        continue
    breach(f"descriptor {number} is open: {os.readlink(f'/proc/self/fd/{number}')}")
for number in (0, 1, 2):
    kind = os.fstat(number).st_mode
    if stat.S_ISDIR(kind) or stat.S_ISBLK(kind):
        breach(f"descriptor {number} is a directory or a disk")
""",
            )


@escape_attempt
async def keys_of_the_supervisor_stay_outside(bench: Bench) -> None:
    """A key in the supervisor's kernel keyrings cannot be found or read by a command."""
    with _kernel_key(bench) as serial:
        async with bench.sandbox() as sandbox:
            await bench.attack(
                sandbox,
                """
def keyctl(operation, *arguments):
    return libc.syscall(ctypes.c_long(250), ctypes.c_long(operation), *arguments)
token, serial = sys.argv[1], int(sys.argv[2])
serials = [serial]
for ring in (-1, -2, -3, -4, -5):
    serials.append(keyctl(10, ctypes.c_long(ring), b"user", token.encode(), ctypes.c_long(0)))
for number in serials:
    buffer = ctypes.create_string_buffer(256)
    if number > 0 and keyctl(11, ctypes.c_long(number), buffer, ctypes.c_long(256)) > 0:
        print("key:", buffer.value)
""",
                serial,
            )


@contextlib.contextmanager
def _kernel_key(bench: Bench) -> Iterator[int]:
    """A key with the secret in our user's keyring, which everybody may read."""
    if os.uname().machine != "x86_64":
        raise Inapplicable("the numbers of the keyring calls are known for x86_64 only")
    libc = ctypes.CDLL(None, use_errno=True)
    add_key, keyctl, set_permissions, invalidate = map(ctypes.c_long, (248, 250, 5, 21))
    secret = bench.secret.encode()
    serial = libc.syscall(
        *(add_key, b"user", bench.token.encode(), secret, ctypes.c_long(len(secret))),
        ctypes.c_long(-4),  # the user's own keyring
    )
    if serial == -1:
        raise Inapplicable(f"no kernel keyring here: {os.strerror(ctypes.get_errno())}")
    try:
        libc.syscall(keyctl, set_permissions, ctypes.c_long(serial), ctypes.c_long(0x3F3F3F3F))
        yield serial
    finally:
        libc.syscall(keyctl, invalidate, ctypes.c_long(serial))


@escape_attempt
async def shared_memory_of_the_host_is_out_of_reach(bench: Bench) -> None:
    """A System V memory segment of the host cannot be attached."""
    libc = ctypes.CDLL(None, use_errno=True)
    libc.shmat.restype = ctypes.c_void_p
    libc.shmat.argtypes = [ctypes.c_int, ctypes.c_void_p, ctypes.c_int]
    libc.shmdt.argtypes = [ctypes.c_void_p]
    key = int.from_bytes(os.urandom(3), "little") + 1
    segment = libc.shmget(key, 4096, 0o1000 | 0o666)  # IPC_CREAT
    if segment == -1:
        raise Inapplicable(f"no System V memory here: {os.strerror(ctypes.get_errno())}")
    try:
        address = libc.shmat(segment, None, 0)
        ctypes.memmove(address, bench.secret.encode(), len(bench.secret))
        libc.shmdt(address)
        async with bench.sandbox() as sandbox:
            await bench.attack(
                sandbox,
                """
libc.shmat.restype = ctypes.c_void_p
libc.shmat.argtypes = [ctypes.c_int, ctypes.c_void_p, ctypes.c_int]
for segment in (libc.shmget(int(sys.argv[2]), 4096, 0), int(sys.argv[3])):
    address = libc.shmat(segment, None, 0o10000)
    if address and address != ctypes.c_void_p(-1).value:
        print("memory:", ctypes.string_at(address, 64))
""",
                key,
                segment,
            )
    finally:
        libc.shmctl(segment, 0, None)  # IPC_RMID


# The network


@contextlib.asynccontextmanager
async def _listening(bench: Bench, **where: object) -> AsyncIterator[list[object]]:
    """A server of the host that gives the secret to whoever connects; yields who did."""
    callers: list[object] = []

    async def answer(_reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        callers.append(writer)
        writer.write(bench.secret.encode())
        with contextlib.suppress(ConnectionError):
            await writer.drain()
        writer.close()

    connection = where["sock"]
    assert isinstance(connection, socket.socket)
    server = (
        await asyncio.start_unix_server(answer, sock=connection)
        if connection.family == socket.AF_UNIX
        else await asyncio.start_server(answer, sock=connection)
    )
    async with server:
        yield callers


_CONNECT = """
def connect(family, address):
    try:
        with socket.socket(family) as client:
            client.settimeout(3)
            client.connect(address)
            print("answer:", client.recv(100), flush=True)
    except OSError as error:
        print("refused:", address, error)
"""


@escape_attempt
async def loopback_of_the_host_is_out_of_reach(bench: Bench) -> None:
    """A server on the host's loopback cannot be reached, by any address of the machine."""
    listener = socket.create_server(("127.0.0.1", 0))
    port = listener.getsockname()[1]
    async with _listening(bench, sock=listener) as callers, bench.sandbox() as sandbox:
        await bench.attack(
            sandbox,
            f"""{_CONNECT}
for address in ("127.0.0.1", "127.0.0.2", "0.0.0.0", "localhost", *sys.argv[3:]):
    connect(socket.AF_INET, (address, int(sys.argv[2])))
connect(socket.AF_INET6, ("::ffff:127.0.0.1", int(sys.argv[2])))
""",
            port,
        )
        assert not callers


@escape_attempt
async def servers_of_the_host_are_out_of_reach(bench: Bench) -> None:
    """A server on every address of the host cannot be reached."""
    listener = socket.create_server(("0.0.0.0", 0))
    port = listener.getsockname()[1]
    async with _listening(bench, sock=listener) as callers, bench.sandbox() as sandbox:
        await bench.attack(
            sandbox,
            f"""{_CONNECT}
for address in ("127.0.0.1", *sys.argv[3:]):
    connect(socket.AF_INET, (address, int(sys.argv[2])))
""",
            port,
            *_addresses(),
        )
        assert not callers


@escape_attempt
async def egress_keeps_away_from_the_hosts_loopback(bench: Bench) -> None:
    """With a network towards the outside, a server on the host's loopback is still out of reach."""
    listener = socket.create_server(("127.0.0.1", 0))
    port = listener.getsockname()[1]
    async with _listening(bench, sock=listener) as callers:
        try:
            sandbox = await bench.backend.start(SandboxSpec(network=Network.EGRESS))
        except SandboxUnavailable as error:
            raise Inapplicable(f"no network towards the outside here: {error.message}") from error
        async with sandbox:
            await bench.attack(
                sandbox,
                f"""{_CONNECT}
import struct
places = {{"127.0.0.1", "0.0.0.0", *sys.argv[3:]}}
for line in open("/proc/net/route").read().splitlines()[1:]:
    fields = line.split()
    gateway = socket.inet_ntoa(struct.pack("<I", int(fields[2], 16)))
    network = struct.unpack(">I", struct.pack("<I", int(fields[1], 16)))[0]
    # The gateway, and the first addresses of each network: where helpers put the host.
    places |= {{gateway, *(socket.inet_ntoa(struct.pack(">I", network + n)) for n in range(1, 5) if network)}}
for place in sorted(places - {{"0.0.0.0"}}):
    connect(socket.AF_INET, (place, int(sys.argv[2])))
""",
                port,
                *("10.0.2.2", "10.0.2.3", "169.254.1.1", "169.254.2.1", "192.168.127.254", *_addresses()),
            )
        assert not callers


def _addresses() -> list[str]:
    """The machine's own address towards the outside; asking sends nothing."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect(("192.0.2.1", 9))
        except OSError:
            return []
        return [str(probe.getsockname()[0])]


@escape_attempt
async def abstract_sockets_of_the_host_are_out_of_reach(bench: Bench) -> None:
    """A unix socket of the host without a path cannot be reached."""
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(f"\0{bench.token}")
    async with _listening(bench, sock=listener) as callers, bench.sandbox() as sandbox:
        await bench.attack(sandbox, f"{_CONNECT}\nconnect(socket.AF_UNIX, '\\0' + sys.argv[1])")
        assert not callers


@escape_attempt
async def unix_sockets_of_the_host_are_out_of_reach(bench: Bench) -> None:
    """A unix socket in the host's temporary places or in /run cannot be reached."""
    for place in (bench.scratch, Path("/tmp"), Path("/run")):
        if not os.access(place, os.W_OK):
            continue
        path = place / f"{bench.token}.sock"
        listener = socket.socket(socket.AF_UNIX)
        listener.bind(str(path))
        path.chmod(0o777)
        try:
            async with _listening(bench, sock=listener) as callers, bench.sandbox() as sandbox:
                await bench.attack(sandbox, f"{_CONNECT}\nconnect(socket.AF_UNIX, sys.argv[2])", path)
                assert not callers
        finally:
            path.unlink(missing_ok=True)


@escape_attempt
async def there_is_no_network(bench: Bench) -> None:
    """Without a network there is no interface but a loopback of its own, no route, and no raw socket."""
    async with bench.sandbox(network=Network.NONE) as sandbox:
        assert sandbox.report.network is Network.NONE
        await bench.attack(
            sandbox,
            """
others = [name for _, name in socket.if_nameindex() if name != "lo"]
for name in others:
    if open(f"/proc/net/dev").read().count(name + ":"):
        flags = struct.pack("256s", name.encode())
        import fcntl
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
            state = struct.unpack_from("H", fcntl.ioctl(probe.fileno(), 0x8913, flags), 16)[0]
        if state & 1:
            breach(f"interface {name} is up")
with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
    # Connecting a datagram socket only looks for a route; nothing is sent.
    refused("a route to the outside", lambda: probe.connect(("192.0.2.1", 9)))
refused("a raw socket", lambda: socket.socket(socket.AF_PACKET, socket.SOCK_RAW).close())
refused("a raw internet socket", lambda: socket.socket(socket.AF_INET, socket.SOCK_RAW, 1).close())
""",
        )


@check
async def loopback_works_inside(bench: Bench) -> None:
    """Programs of one command can talk to each other over loopback."""
    async with bench.sandbox() as sandbox:
        await bench.attack(
            sandbox,
            """
server = socket.create_server(("127.0.0.1", 0))
client = socket.create_connection(server.getsockname(), timeout=5)
client.sendall(b"hello")
assert server.accept()[0].recv(5) == b"hello"
""",
        )


# Other sandboxes


@escape_attempt
async def sandboxes_do_not_see_each_other(bench: Bench) -> None:
    """One sandbox reaches neither processes nor files nor servers of another."""
    victim_program = """
server = socket.create_server(("127.0.0.1", 0))
abstract = socket.socket(socket.AF_UNIX); abstract.bind("\\0" + sys.argv[1]); abstract.listen()
for place in (".", TEMPORARY, os.environ["HOME"]):
    with open(os.path.join(place, sys.argv[1]), "w") as file:
        file.write(sys.argv[2])
print(server.getsockname()[1], TEMPORARY, os.environ["HOME"], flush=True)
time.sleep(60)
"""
    async with (
        bench.sandbox() as victim,
        bench.sandbox() as attacker,
        bench.running(victim, victim_program, bench.secret, f"{bench.token}-victim") as running,
    ):
        port, temporary, home = running.said.split()
        await bench.attack(
            attacker,
            f"""{_CONNECT}
token, port, *places = sys.argv[1:]
for place in places:
    show(os.path.join(place, token))
for pid in processes():
    try:
        arguments = open(f"/proc/{{pid}}/cmdline").read().split("\\0")
    except OSError:
        continue
    if token + "-victim" in arguments:
        breach(f"sees process {{pid}}")
for address, family in ((("127.0.0.1", int(port)), socket.AF_INET), ("\\0" + token, socket.AF_UNIX)):
    try:
        with socket.socket(family) as client:
            client.settimeout(3)
            client.connect(address)
            breach(f"reached {{address!r}}")
    except OSError as error:
        print("refused:", error)
""",
            *(port, temporary, home, ".", *victim.tree().layers),
        )
        assert not running.task.done(), "the victim is dead"
        await victim.end_processes()


@check
async def several_can_start_at_once(bench: Bench) -> None:
    """Sandboxes can be started and used at the same time, each with a workspace of its own."""

    async def one(number: int) -> str:
        async with bench.sandbox({"number": str(number).encode()}) as sandbox:
            await bench.succeed(sandbox, "echo - >> number; sleep 0.2")
            return await bench.succeed(sandbox, "cat number")

    texts = await asyncio.gather(*(one(number) for number in range(6)))
    assert texts == [f"{number}-" for number in range(6)]
