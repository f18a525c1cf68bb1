"""What a sandbox is asked for and what it answers. The backends live in `adjudge.sandbox`."""

from collections.abc import Mapping
from enum import StrEnum
from pathlib import Path, PurePosixPath

from pydantic import Field

from adjudge.records.base import BlobRef, Record

__all__ = [
    "Ended",
    "ExecRequest",
    "ExecResult",
    "LeftProcess",
    "Limits",
    "Mount",
    "Network",
    "OutsideWrite",
    "SandboxReport",
    "SandboxSpec",
    "SandboxSupport",
    "Usage",
    "WorkspaceTree",
]

_MIB = 1024 * 1024


class Network(StrEnum):
    """What a sandbox may reach."""

    NONE = "none"
    """An empty network namespace: not even the host's loopback."""
    EGRESS = "egress"
    """A namespace of its own whose traffic leaves through a helper; the host's loopback stays unreachable."""
    HOST = "host"
    """The host's own namespace. Only when spelled out, and noted in every result's provenance."""


class Limits(Record):
    """Limits on the whole process tree of one exec."""

    wall_s: float = Field(default=900.0, gt=0)
    memory_bytes: int = Field(default=4096 * _MIB, gt=0)
    """Resident memory of the tree."""
    processes: int = Field(default=1024, gt=0)
    """Processes and threads alive at once."""
    disk_bytes: int = Field(default=8192 * _MIB, gt=0)
    """What the tree may add to the workspace, /tmp and HOME together."""
    output_bytes: int = Field(default=64 * _MIB, gt=0)
    """stdout and stderr together; a tree that writes more is ended."""


class Mount(Record):
    """A host path shown inside the sandbox. Read-only unless said."""

    source: Path
    target: PurePosixPath
    writable: bool = False


class WorkspaceTree(Record):
    """A workspace on disk: one directory, or copy-on-write layers stacked on one.

    `layers[0]` is the bottom, a plain directory. Each later one is the upper directory of an overlay over
    those before it, with whiteouts and opaque marks in the kernel's own form.
    """

    layers: tuple[Path, ...] = Field(min_length=1)
    xattr_prefix: str = "trusted.overlay."
    """Where the upper layers keep their marks: `trusted.overlay.` as root, `user.overlay.` otherwise."""
    single_owner: bool = False
    """Whether all entries of each layer are known to belong to the owner of that layer's root. When not
    known, whoever makes a sandbox of the tree has to walk it."""

    @property
    def base(self) -> Path:
        """The bottom layer."""
        return self.layers[0]

    @property
    def flat(self) -> bool:
        """Whether the tree is just a directory."""
        return len(self.layers) == 1


class SandboxSpec(Record):
    """Everything a backend needs to start a sandbox."""

    workspace: WorkspaceTree | None = None
    """What /workspace starts as; sandboxes write to a layer or copy of their own. None: empty."""
    exact_renames: bool = False
    """Directory renames must behave as on a plain file system. Where an overlay cannot (EXDEV in user
    namespaces), the workspace is copied instead."""
    mounts: tuple[Mount, ...] = ()
    """Host paths to show beside the system's own toolchains; later ones win. Targets inside /workspace are
    allowed and lie over what is there."""
    also_at: tuple[PurePosixPath, ...] = ()
    """Further places that show the same workspace, such as /app for a task that expects it there."""
    folders: tuple[PurePosixPath, ...] = ()
    """Empty folders of the sandbox's own, writable and counted as disk, such as /logs/verifier."""
    env: Mapping[str, str] = Field(default_factory=dict)
    """Set in every exec. Nothing is inherited from the host."""
    network: Network = Network.NONE
    limits: Limits = Limits()
    """Defaults for each exec."""


class ExecRequest(Record):
    """One command. Give `argv`, or `shell` for a string that /bin/sh reads."""

    argv: tuple[str, ...] = ()
    shell: str | None = None
    stdin: bytes = b""
    env: Mapping[str, str] = Field(default_factory=dict)
    """Added to the sandbox's own; a value here wins."""
    cwd: PurePosixPath = PurePosixPath("/workspace")
    limits: Limits | None = None
    """Instead of the sandbox's defaults."""
    keep: bool = False
    """Keep the processes the command leaves behind, until the sandbox is told to end them. Commands that
    follow join them."""

    @property
    def command(self) -> tuple[str, ...]:
        """The argument vector that is executed."""
        return ("/bin/sh", "-c", self.shell) if self.shell is not None else self.argv


class Ended(StrEnum):
    """How a command came to its end."""

    EXITED = "exited"
    SIGNALLED = "signalled"
    TIMED_OUT = "timed_out"
    OUT_OF_MEMORY = "out_of_memory"
    PROCESS_LIMIT = "process_limit"
    DISK_LIMIT = "disk_limit"
    OUTPUT_LIMIT = "output_limit"
    CANCELLED = "cancelled"
    """The sandbox was told to end its processes while the command ran."""


class Usage(Record):
    """What a command cost, for its whole tree, as far as the backend can tell."""

    wall_s: float
    cpu_s: float | None = None
    peak_memory_bytes: int | None = None
    peak_processes: int | None = None


class ExecResult(Record):
    """How one command went. A command that could not be started exits 127 or 126, as a shell would."""

    ended: Ended
    exit_code: int | None = None
    """Set when `ended` is `exited`."""
    signal: int | None = None
    """Set when `ended` is `signalled`."""
    stdout: BlobRef
    stderr: BlobRef
    usage: Usage
    reason: str = ""
    """For people, when a limit ended it: `used 4.1 GiB of memory, limit 4.0 GiB (cgroup v1)`."""

    @property
    def ok(self) -> bool:
        """Whether the command ended by itself with exit code 0."""
        return self.ended is Ended.EXITED and self.exit_code == 0


class LeftProcess(Record):
    """A process that was alive when the agent was stopped, its own main process left out."""

    command: str
    detached: bool = False
    """Whether it had left the agent's session."""


class OutsideWrite(Record):
    """Something that was written outside the workspace, as a path inside the sandbox."""

    path: str
    size_bytes: int | None = None
    type: str = "file"
    ordinary: bool | None = None
    """Of a file that programs start with, whether all in it is what installers put there; None where nobody
    looked. Its content is not kept."""


class SandboxReport(Record):
    """How a started sandbox came about; part of an evaluation's provenance."""

    backend: str
    isolated: bool
    copy_on_write: str
    """`overlay`, `copy` or `none`."""
    network: Network
    limits_held_by: Mapping[str, str]
    """Limit → what enforces it, such as `{"memory": "cgroup v1", "disk": "watcher"}`."""
    notes: tuple[str, ...] = ()
    """What a careful reader should know: foreign owners, missing isolation, host network."""


class SandboxSupport(Record):
    """What a backend can do on this machine."""

    backend: str
    available: bool
    reason: str
    """Why not, or in one line what it would use."""
    hint: str | None = None
    """What to install or switch on."""
    facts: Mapping[str, str] = Field(default_factory=dict)
    """Feature → what was found, in the order `adjudge doctor` prints."""
