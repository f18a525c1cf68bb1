"""A system call filter for sandboxed commands, as a classic BPF program.

Namespaces hide the host's objects; this closes kernel interfaces that honest builds and tests do not use
and that many kernel escapes started from. User namespaces are refused by argument where the kernel shows
it (`clone`, `unshare`) and by call where not (`clone3`, for which every C library has a fallback).
"""

from __future__ import annotations

import os
import struct
from collections.abc import Mapping
from functools import cache

__all__ = ["filter_program"]

_LOAD, _JUMP_EQUAL, _JUMP_GREATER_EQUAL, _JUMP_SET, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
_NR_OFFSET, _ARCH_OFFSET, _ARG0_OFFSET = 0, 4, 16
_ALLOW = 0x7FFF0000
_ENOSYS = 0x00050000 | 38
_EPERM = 0x00050000 | 1
_CLONE_NEWUSER = 0x10000000
_X32_BIT = 0x40000000

_ABSENT: Mapping[str, Mapping[str, int]] = {
    "x86_64": {
        "add_key": 248, "request_key": 249, "keyctl": 250, "bpf": 321, "perf_event_open": 298,
        "userfaultfd": 323,
    },
    "aarch64": {
        "add_key": 217, "request_key": 218, "keyctl": 219, "bpf": 280, "perf_event_open": 241,
        "userfaultfd": 282,
    },
}  # fmt: skip
"""Answered as by a kernel without them. Keyrings are shared by every process of a user, whatever its
namespaces; the others are large interfaces with a long record of holes."""
_ABSENT_EVERYWHERE = {
    "io_uring_setup": 425, "io_uring_enter": 426, "io_uring_register": 427, "clone3": 435,
}  # fmt: skip
_FORBIDDEN: Mapping[str, Mapping[str, int]] = {
    "x86_64": {
        "mount": 165, "umount2": 166, "pivot_root": 155, "swapon": 167, "swapoff": 168, "setns": 308,
        "kexec_load": 246, "kexec_file_load": 320, "open_by_handle_at": 304, "init_module": 175,
        "finit_module": 313, "delete_module": 176, "quotactl": 179, "syslog": 103,
    },
    "aarch64": {
        "mount": 40, "umount2": 39, "pivot_root": 41, "swapon": 224, "swapoff": 225, "setns": 268,
        "kexec_load": 104, "kexec_file_load": 294, "open_by_handle_at": 265, "init_module": 105,
        "finit_module": 273, "delete_module": 106, "quotactl": 60, "syslog": 116,
    },
}  # fmt: skip
"""Refused outright: no command without privileges could use them anyway."""
_FORBIDDEN_EVERYWHERE = {
    "open_tree": 428, "move_mount": 429, "fsopen": 430, "fsconfig": 431, "fsmount": 432, "fspick": 433,
    "mount_setattr": 442,
}  # fmt: skip
_BY_FLAG = {"x86_64": (56, 272), "aarch64": (220, 97)}
"""`clone` and `unshare`: refused when their first argument asks for a user namespace."""
_ARCHITECTURE = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}


@cache
def filter_program(machine: str | None = None) -> bytes | None:
    """The filter for this machine; None where we have no table, and nothing is filtered."""
    machine = os.uname().machine if machine is None else machine
    if machine not in _ABSENT:
        return None
    code: list[tuple[int, int, int, int]] = [
        (_LOAD, 0, 0, _ARCH_OFFSET),
        (_JUMP_EQUAL, 1, 0, _ARCHITECTURE[machine]),
        # Another architecture's calls (32-bit programs) have other numbers: none of them is let through.
        (_RETURN, 0, 0, _ENOSYS),
        (_LOAD, 0, 0, _NR_OFFSET),
    ]
    if machine == "x86_64":
        code += [(_JUMP_GREATER_EQUAL, 0, 1, _X32_BIT), (_RETURN, 0, 0, _ENOSYS)]
    for number in (*_ABSENT[machine].values(), *_ABSENT_EVERYWHERE.values()):
        code += [(_JUMP_EQUAL, 0, 1, number), (_RETURN, 0, 0, _ENOSYS)]
    for number in (*_FORBIDDEN[machine].values(), *_FORBIDDEN_EVERYWHERE.values()):
        code += [(_JUMP_EQUAL, 0, 1, number), (_RETURN, 0, 0, _EPERM)]
    clone, unshare = _BY_FLAG[machine]
    code += [
        (_JUMP_EQUAL, 2, 0, clone),
        (_JUMP_EQUAL, 1, 0, unshare),
        (_RETURN, 0, 0, _ALLOW),
        (_LOAD, 0, 0, _ARG0_OFFSET),
        (_JUMP_SET, 0, 1, _CLONE_NEWUSER),
        (_RETURN, 0, 0, _EPERM),
        (_RETURN, 0, 0, _ALLOW),
    ]
    return b"".join(struct.pack("=HBBI", *instruction) for instruction in code)
