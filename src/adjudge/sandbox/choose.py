"""`--sandbox NAME`: the backend of that name, or for `auto` the first that really isolates here."""

from __future__ import annotations

from dataclasses import dataclass

from adjudge import catalog
from adjudge.contracts import SandboxBackend
from adjudge.errors import SandboxUnavailable

__all__ = ["AUTOMATIC", "Choice", "choose_backend", "refuse_unknown"]

AUTOMATIC = ("bubblewrap",)
"""What `auto` tries, best first. A backend without isolation is never chosen without being named."""


@dataclass(frozen=True)
class Choice:
    """A backend and why it is the one."""

    backend: SandboxBackend
    explanation: str


def refuse_unknown(name: str) -> None:
    """Refuse a name that no backend has, before anything rests on it.

    Raises:
        PluginNotFound: There is none of that name.
    """
    if name != "auto":
        catalog.load("sandboxes", name)


def choose_backend(name: str) -> Choice:
    """Find a backend.

    Raises:
        PluginNotFound: There is none of that name.
        SandboxUnavailable: `auto`, and none that isolates works on this machine.
    """
    if name != "auto":
        backend: SandboxBackend = catalog.load("sandboxes", name)()
        return Choice(backend, f"{name}, as asked for")
    refusals = []
    hint = None
    for candidate in AUTOMATIC:
        backend = catalog.load("sandboxes", candidate)()
        support = backend.probe()
        if support.available:
            return Choice(backend, f"{candidate}, chosen automatically: {support.reason}")
        refusals.append(f"{candidate}: {support.reason}")
        hint = hint or support.hint
    raise SandboxUnavailable(f"no sandbox that isolates works here ({'; '.join(refusals)})", hint=hint)
