"""Network `egress`, for real: a machine and a server made of two network namespaces, no packet leaves."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

pytestmark = [pytest.mark.bwrap, pytest.mark.root]

AS_ORDINARY_USER = Path(__file__).parents[3] / "tools/as_ordinary_user.py"
MACHINE, SERVER, NAME_SERVER = "10.97.0.1", "10.97.0.2", "10.97.0.3"

HTTP = """
import http.server, sys
class Answer(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200)
        self.end_headers()
        self.wfile.write(sys.argv[1].encode())
server = http.server.HTTPServer((sys.argv[2], int(sys.argv[3])), Answer)
print("ready", flush=True)
server.serve_forever()
"""

DNS = """
import socket, sys
server = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
server.bind((sys.argv[1], 53))
print("ready", flush=True)
while True:
    query, client = server.recvfrom(4096)
    end = query.index(0, 12) + 5
    wants_a = query[end - 4 : end - 2] == bytes((0, 1))
    head = query[:2] + bytes((0x81, 0x80, 0, 1, 0, int(wants_a), 0, 0, 0, 0)) + query[12:end]
    record = bytes((0xC0, 12, 0, 1, 0, 1, 0, 0, 0, 60, 0, 4)) + socket.inet_aton(sys.argv[2])
    server.sendto(head + (record if wants_a else b""), client)
"""

RUN = """
import asyncio, sys
from adjudge.records.sandbox import ExecRequest, Network, SandboxSpec
from adjudge.sandbox import network
from adjudge.sandbox.bubblewrap import BubblewrapBackend
kind, path, *urls = sys.argv[1:]
import adjudge.sandbox.bubblewrap as backend
backend.find_helper = lambda: {"kind": kind, "path": path}
program = '''
import sys, urllib.request
for url in sys.argv[1:]:
    try:
        print(urllib.request.urlopen(url, timeout=2).read().decode())
    except OSError as error:
        print("unreachable")
'''
async def run():
    async with await BubblewrapBackend().start(SandboxSpec(network=Network.EGRESS)) as sandbox:
        result = await sandbox.exec(ExecRequest(argv=("python3", "-c", program, *urls)))
        print(result.stdout.text, end="")
        print(result.stderr.text, end="", file=sys.stderr)
asyncio.run(run())
"""


def ip(*arguments: str) -> None:
    subprocess.run(["ip", *arguments], check=True)


@pytest.fixture
def namespaces() -> Iterator[tuple[str, str]]:
    if shutil.which("ip") is None:
        pytest.skip("iproute2 is not installed")
    machine, server = f"adj-m{os.getpid()}", f"adj-s{os.getpid()}"
    with ExitStack() as undo:
        for name in (machine, server):
            ip("netns", "add", name)
            undo.callback(ip, "netns", "del", name)
            ip("-n", name, "link", "set", "lo", "up")
        ip("link", "add", "up0", "netns", machine, "type", "veth", "peer", "name", "up1", "netns", server)
        for name, device, addresses in ((machine, "up0", [MACHINE]), (server, "up1", [SERVER, NAME_SERVER])):
            for address in addresses:
                ip("-n", name, "addr", "add", f"{address}/24", "dev", device)
            ip("-n", name, "link", "set", device, "up")
        ip("-n", machine, "route", "add", "default", "via", SERVER)
        yield machine, server


def serve(undo: ExitStack, namespace: str, program: str, *arguments: str) -> None:
    process = subprocess.Popen(
        ["ip", "netns", "exec", namespace, sys.executable, "-c", program, *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )

    def end() -> None:
        process.kill()
        process.communicate()

    undo.callback(end)
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"


@pytest.mark.parametrize("who", ["root", "ordinary user"])
@pytest.mark.parametrize("kind", ["pasta", "slirp4netns"])
def test_the_outside_is_reached_and_the_machines_loopback_is_not(
    kind: str, who: str, namespaces: tuple[str, str], tmp_path: Path
) -> None:
    path = shutil.which(kind)
    if path is None:
        pytest.skip(f"{kind} is not installed")
    machine, server = namespaces
    resolver = tmp_path / "resolv.conf"
    resolver.write_text(f"nameserver {NAME_SERVER}\n")
    with ExitStack() as undo:
        serve(undo, server, HTTP, "outside", SERVER, "8000")
        serve(undo, server, DNS, NAME_SERVER, SERVER)
        serve(undo, machine, HTTP, "loopback", "127.0.0.1", "8001")
        urls = [f"http://{SERVER}:8000", "http://any.name.example:8000", "http://127.0.0.1:8001"]
        # Where helpers map the machine's loopback to, unless told not to.
        urls += [f"http://{SERVER}:8001", "http://10.0.2.2:8001"]
        # A private mount namespace, in which /etc/resolv.conf names our own server, and in which for an
        # ordinary user the tunnel device has the mode it has on most machines.
        inner = f"set -e; mount --bind {resolver} /etc/resolv.conf\n"
        command = [sys.executable, "-c", RUN, kind, path, *urls]
        if who != "root":
            inner += "mount -t tmpfs none /dev/net; mknod -m 666 /dev/net/tun c 10 200\n"
            command = [sys.executable, str(AS_ORDINARY_USER), *command]
        done = subprocess.run(
            ["unshare", "--mount", "sh", "-c", f'{inner} exec ip netns exec {machine} "$@"', "sh", *command],
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
    assert done.stdout.split() == ["outside", "outside", "unreachable", "unreachable", "unreachable"], (
        done.stderr
    )
    assert helpers_in(machine) == []


def helpers_in(namespace: str) -> list[str]:
    """What still runs in the machine's network namespace: a helper stays there while it serves."""
    wanted = os.stat(f"/run/netns/{namespace}").st_ino
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                if (entry / "ns/net").stat().st_ino == wanted:
                    found.append((entry / "comm").read_text().strip())
            except OSError:
                continue
    return found
