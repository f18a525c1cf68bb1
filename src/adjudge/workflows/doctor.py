"""`adjudge doctor`: what this machine can do, found out by trying."""

from __future__ import annotations

import platform
from collections.abc import Mapping
from dataclasses import dataclass

from adjudge import catalog
from adjudge.contracts import SandboxBackend
from adjudge.errors import PluginError
from adjudge.records.sandbox import SandboxSupport
from adjudge.sandbox.choose import AUTOMATIC
from adjudge.version import __version__

__all__ = ["Checkup", "examine"]


@dataclass(frozen=True)
class Checkup:
    """What was found."""

    versions: Mapping[str, str]
    sandboxes: tuple[SandboxSupport, ...]
    automatic: str | None
    """What `--sandbox auto` would take; None when nothing here isolates."""


def examine() -> Checkup:
    """Try every sandbox backend."""
    found = tuple(_examine(name) for name in catalog.names("sandboxes"))
    works = {support.backend for support in found if support.available}
    return Checkup(
        versions={"adjudge": __version__, "Python": platform.python_version()},
        sandboxes=found,
        automatic=next((name for name in AUTOMATIC if name in works), None),
    )


def _examine(name: str) -> SandboxSupport:
    try:
        backend: SandboxBackend = catalog.load("sandboxes", name)()
    except PluginError as error:
        # A broken extension must not keep the rest of the machine from being looked at.
        return SandboxSupport(backend=name, available=False, reason=error.message, hint=error.hint)
    return backend.probe()
