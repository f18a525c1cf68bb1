"""The attacker's tool bag: Python source that every attack program starts with.

An attack calls `breach` for each thing it should not have been able to do. Reaching its last line prints a
mark, so that an attack which crashed on the way is not taken for one that was held off.
"""

from __future__ import annotations

__all__ = ["BREACH", "FINISHED", "attack_program"]

BREACH = "BREACH "
FINISHED = "ATTACK FINISHED"

_TOOLS = f"""\
import ctypes, errno, os, signal, socket, stat, struct, subprocess, sys, time

libc = ctypes.CDLL(None, use_errno=True)
TEMPORARY = os.environ.get("TMPDIR", "/tmp")
CLONE_NEWNS, CLONE_NEWUSER = 0x20000, 0x10000000
MS_RDONLY, MS_REMOUNT, MS_BIND, MS_REC, MS_PRIVATE = 1, 32, 4096, 16384, 1 << 18

def breach(what):
    print("{BREACH}" + what, flush=True)

def call(function, *arguments):
    result = getattr(libc, function)(*arguments)
    if result == -1:
        number = ctypes.get_errno()
        raise OSError(number, f"{{function}}: {{os.strerror(number)}}")
    return result

def refused(what, action):
    try:
        action()
    except OSError as error:
        print("refused:", what, error.strerror, flush=True)
        return True
    breach(what)
    return False

def show(path):
    # Whatever can be read of a canary is printed; the supervisor looks for the secret.
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    except OSError as error:
        print("refused:", path, error.strerror, flush=True)
        return
    try:
        print("read:", path, os.read(handle, 4096), flush=True)
    except OSError as error:
        print("refused:", path, error.strerror, flush=True)
    finally:
        os.close(handle)

def names(directory):
    try:
        return os.listdir(directory)
    except OSError:
        return []

def processes():
    return [int(name) for name in names("/proc") if name.isdigit()]

def private_mounts():
    # Never touch a mount namespace that might be the host's own: take a copy of it first.
    call("unshare", CLONE_NEWNS)
    call("mount", b"none", b"/", None, MS_REC | MS_PRIVATE, None)

def nested_user_namespace():
    uid, gid = os.getuid(), os.getgid()
    call("unshare", CLONE_NEWUSER | CLONE_NEWNS)
    for name, text in (("setgroups", "deny"), ("uid_map", f"0 {{uid}} 1"), ("gid_map", f"0 {{gid}} 1")):
        with open(f"/proc/self/{{name}}", "w") as file:
            file.write(text)
    call("mount", b"none", b"/", None, MS_REC | MS_PRIVATE, None)

"""


def attack_program(source: str) -> str:
    """A whole program from the part that is particular to one attack."""
    return f"{_TOOLS}{source}\nprint({FINISHED!r}, flush=True)\n"
