"""Choosing the program that connects a sandbox to the outside, and the resolver it is to use."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

from adjudge.errors import SandboxUnavailable
from adjudge.sandbox.launchrequest import Helper
from adjudge.sandbox.networkhelper import PASTA_DNS, SLIRP_DNS, TUN

__all__ = ["HELPER_HINT", "find_helper", "look_for_helper", "why_no_tunnel", "write_resolver"]

HELPER_HINT = "install pasta (package `passt`) or slirp4netns, or run without a network"
_TUNNEL_HINT = f"have root run `chmod 666 {TUN}` (the usual mode), after `modprobe tun` if it is missing"


def look_for_helper() -> Helper | None:
    """Pasta if installed (faster, IPv6), else slirp4netns."""
    pasta = shutil.which("pasta")
    if pasta is not None:
        return {"kind": "pasta", "path": pasta}
    slirp = shutil.which("slirp4netns")
    return None if slirp is None else {"kind": "slirp4netns", "path": slirp}


def find_helper() -> Helper:
    """The same.

    Raises:
        SandboxUnavailable: Neither is installed, or it could not work.
    """
    helper = look_for_helper()
    if helper is None:
        raise SandboxUnavailable("network `egress` needs a helper program", hint=HELPER_HINT)
    reason = why_no_tunnel()
    if reason is not None:
        raise SandboxUnavailable(f"network `egress` needs a tunnel device: {reason}", hint=_TUNNEL_HINT)
    return helper


def why_no_tunnel() -> str | None:
    """Why this user cannot have a tunnel device; None when it can. Root gives its sandboxes one."""
    if not os.path.exists(TUN):
        return f"{TUN} does not exist"
    if os.geteuid() != 0 and not os.access(TUN, os.R_OK | os.W_OK):
        return f"{TUN} may not be opened by this user"
    return None


def write_resolver(etc: Path, scratch: Path, helper: Helper) -> Path:
    """An /etc for one sandbox whose resolver is the helper's own."""
    own = scratch / "etc"
    shutil.copytree(etc, own, symlinks=True)
    address = PASTA_DNS if helper["kind"] == "pasta" else SLIRP_DNS
    (own / "resolv.conf").write_text(f"nameserver {address}\n")
    return own
