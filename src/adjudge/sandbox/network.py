"""Choosing the program that connects a sandbox to the outside, and the resolver it is to use."""

from __future__ import annotations

import shutil
from pathlib import Path

from adjudge.errors import SandboxUnavailable
from adjudge.sandbox.launchrequest import Helper
from adjudge.sandbox.networkhelper import PASTA_DNS, SLIRP_DNS

__all__ = ["HELPER_HINT", "find_helper", "look_for_helper", "write_resolver"]

HELPER_HINT = "install pasta (package `passt`) or slirp4netns, or run without a network"


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
        SandboxUnavailable: Neither is installed.
    """
    helper = look_for_helper()
    if helper is None:
        raise SandboxUnavailable("network `egress` needs a helper program", hint=HELPER_HINT)
    return helper


def write_resolver(etc: Path, scratch: Path, helper: Helper) -> Path:
    """An /etc for one sandbox whose resolver is the helper's own."""
    own = scratch / "etc"
    shutil.copytree(etc, own, symlinks=True)
    address = PASTA_DNS if helper["kind"] == "pasta" else SLIRP_DNS
    (own / "resolv.conf").write_text(f"nameserver {address}\n")
    return own
