"""The parts of a scenario other than its recipe: what may be written in each, and what goes with what."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import PurePosixPath
from typing import Annotated, Protocol
from urllib.parse import urlsplit

from pydantic import AfterValidator, Field, WithJsonSchema, field_validator

from adjudge import catalog
from adjudge.formats.tasks.checking import Findings, check, entries
from adjudge.formats.tasks.document import Node
from adjudge.formats.tasks.messages import describe, did_you_mean
from adjudge.records.base import Record
from adjudge.records.paths import RelativePath, check_relative
from adjudge.records.score import Rollup
from adjudge.records.task import (
    ExpectedOutcome,
    ExposedPath,
    SandboxSettings,
    Setup,
    SourceKind,
    WorkspaceSource,
)

__all__ = [
    "Expect",
    "Exposed",
    "Header",
    "InstructionFile",
    "ScenarioFolder",
    "WrittenSandbox",
    "parse_instruction",
    "parse_sandbox",
    "parse_setup",
    "parse_solution",
    "parse_workspace",
]

_MIB = 1024 * 1024
_SIZE = re.compile(r"\s*([0-9]+(?:\.[0-9]+)?)\s*(KiB|MiB|GiB|TiB|kB|KB|MB|GB|TB)\s*\Z")
_UNITS = {
    "KiB": 2**10, "MiB": 2**20, "GiB": 2**30, "TiB": 2**40,
    "kB": 10**3, "KB": 10**3, "MB": 10**6, "GB": 10**9, "TB": 10**12,
}  # fmt: skip
_LEAST_MEMORY = 16 * _MIB
_PROTOCOLS = ("https", "ssh", "http", "git")
_SCP_LIKE = re.compile(r"(?:[\w.-]+@)?[\w.-]+:(?!//)[^\s:]+\Z")
_TAG = re.compile(r"[A-Za-z][A-Za-z0-9_.-]{0,59}\Z")
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\Z")
_NOT_SHOWN = ("/", "/proc", "/sys", "/dev", "/run", "/tmp", "/workspace")
"""Host paths and places in the sandbox that `expose` cannot name: the machine itself, and what is the
sandbox's own."""


class ScenarioFolder(Protocol):
    """The folder a scenario lies in, as far as reading it needs."""

    def __call__(self, path: str) -> None:
        """Note that the recipe refers to a file or folder. `ValueError` when it cannot be used."""

    def source(self, path: str, kind: SourceKind) -> None:
        """Look at what a workspace is to be made from. `ValueError` when it cannot be used."""

    def text(self, path: str) -> str:
        """The content of a text file. `ValueError` when it cannot be read."""


def _one_line(value: str) -> str:
    if not value.strip():
        raise ValueError("must not be empty")
    if "\n" in value or "\r" in value:
        raise ValueError("must be a single line")
    return value


Label = Annotated[str, Field(min_length=1, max_length=100), AfterValidator(_one_line)]


def _tag_name(value: str) -> str:
    if not _TAG.match(value):
        raise ValueError(f"{value[:60]!r} is not a name for a tag; use letters, digits, '-', '_' and '.'")
    if value in ("task", "agent", "model", "trial"):
        raise ValueError(f"every run has a {value} already; call the tag something else")
    return value


TagName = Annotated[
    str, AfterValidator(_tag_name), WithJsonSchema({"type": "string", "pattern": "^[A-Za-z][A-Za-z0-9_.-]*$"})
]


class Header(Record):
    """The single values at the top of a scenario."""

    name: Label | None = None
    """What reports call it. When left out: the folder's name, or the file's if it is not `adjudge.yaml`."""
    tags: Mapping[TagName, Label] = Field(default_factory=dict, max_length=50)
    """Labels such as `difficulty: hard`, for `adjudge run --where` and for reports."""
    rollup: Rollup = Rollup.WEIGHTED_MEAN
    """How the counted scores become one: `weighted_mean`, or `min` where the worst decides."""
    pass_threshold: float | None = Field(default=None, ge=0.0, le=1.0)
    """With `scorers`: the combined score an attempt must reach. Without it only required scorers decide."""
    expected_outcome: ExpectedOutcome = ExpectedOutcome.COMPLETION
    """What a correct attempt does: `completion`, or `refusal` where declining is right. Read by the judge."""
    error_categories: tuple[Label, ...] = Field(default=(), max_length=200)
    """The task's own categories of errors, for tags, reviews and reports. Tags with others get a warning."""

    @field_validator("error_categories")
    @classmethod
    def _once(cls, categories: tuple[str, ...]) -> tuple[str, ...]:
        for index, category in enumerate(categories):
            if category in categories[:index]:
                raise ValueError(f"{category!r} is there twice")
        return categories


class Expect(Record):
    """What an attempt must reach, in a recipe under `graders`."""

    pass_threshold: float = Field(default=1.0, ge=0.0, le=1.0)
    """The combined score an attempt must reach."""


class InstructionFile(Record):
    """An instruction kept in a file of its own."""

    file: RelativePath
    """A text file in the scenario's folder."""


def parse_instruction(node: Node, findings: Findings, folder: ScenarioFolder) -> str:
    """The instruction: text, or a mapping that names a file."""
    if isinstance(node.value, str):
        if not node.value.strip():
            findings.problem(node, "instruction", "must not be empty")
        return node.value
    if not isinstance(node.value, dict):
        found = describe(node.plain())
        findings.problem(node, "instruction", f"text, or a mapping with 'file', expected; found {found}")
        return ""
    written = check(InstructionFile, node, "instruction", findings)
    if written is None:
        return ""
    try:
        return folder.text(written.file)
    except ValueError as error:
        findings.problem(node.value["file"], "instruction.file", str(error))
        return ""


def parse_workspace(node: Node, findings: Findings, folder: ScenarioFolder) -> WorkspaceSource | None:
    """Where the workspace comes from, with fields that do not go together refused."""
    fields = entries(node, "workspace", findings)
    if fields is None:
        return None
    before = len(findings.problems)
    source = check(WorkspaceSource, node, "workspace", findings, needed_by="workspace")
    kind = fields["source"].value if "source" in fields else None
    if isinstance(kind, str) and kind in list(SourceKind):
        for field, message in _misfits(SourceKind(kind), fields).items():
            findings.problem(fields.get(field, node), f"workspace.{field}", message)
    url = fields["url"].value if "url" in fields else None
    if kind == SourceKind.GIT and isinstance(url, str) and (refused := _refused_address(url)):
        findings.problem(fields["url"], "workspace.url", refused)
    if source is None:
        return None
    if source.path is not None and len(findings.problems) == before:
        try:
            folder.source(source.path, source.source)
        except ValueError as error:
            findings.problem(fields["path"], "workspace.path", str(error))
    for number, file in enumerate(source.files):
        try:
            folder.source(file.src, SourceKind.FILES)
        except ValueError as error:
            findings.problem(fields["files"], f"workspace.files[{number}].src", str(error))
    return source


_TAKES = {
    SourceKind.GIT: ("url", "path", "ref", "subdir"),
    SourceKind.ARCHIVE: ("path", "subdir"),
    SourceKind.DIRECTORY: ("path", "subdir"),
    SourceKind.EMPTY: (),
    SourceKind.FILES: ("files",),
}


def _misfits(kind: SourceKind, fields: Mapping[str, Node]) -> Mapping[str, str]:
    """Fields that a kind of source does not take, or lacks."""
    found = {
        field: f"a workspace from '{kind}' takes no {field}"
        for field in ("url", "path", "ref", "subdir")
        if field in fields and field not in _TAKES[kind]
    }
    if kind is SourceKind.ARCHIVE and "url" in fields:
        found["url"] = "archives are not downloaded; give the path of one in the scenario's folder"
    if kind is SourceKind.GIT:
        if "url" in fields and "path" in fields:
            found["path"] = "give url or path, not both"
        elif "url" not in fields and "path" not in fields:
            found["url"] = "missing; a workspace from 'git' needs url or path"
    elif kind is SourceKind.FILES and "files" not in fields:
        found["files"] = "missing; a workspace from 'files' needs it"
    elif "path" in _TAKES[kind] and "path" not in fields and not (kind is SourceKind.ARCHIVE and found):
        found["path"] = f"missing; a workspace from '{kind}' needs it"
    return found


def _refused_address(url: str) -> str | None:
    """Why a repository's address cannot be used, if so."""
    if not url or url.startswith("-") or any(char.isspace() for char in url):
        return f"{url!r} is not an address"
    try:
        parts = urlsplit(url)
    except ValueError as error:
        return f"{url!r} is not an address: {error}"
    if not parts.scheme or "://" not in url:
        if _SCP_LIKE.match(url):
            return None
        return f"{url!r} is not an address; a repository on this machine is given as 'path'"
    if parts.scheme not in _PROTOCOLS:
        return f"protocol {parts.scheme!r} is not supported; use {', '.join(_PROTOCOLS)}"
    if not parts.hostname:
        return f"{url!r} names no host"
    if parts.password is not None:
        return "an address must not hold a password or token; it would be kept with every task"
    return None


def parse_setup(node: Node, findings: Findings) -> Setup | None:
    """The setup command: text, or a mapping."""
    if isinstance(node.value, str):
        command = Node({"command": Node(node.value, node.line, node.column)}, node.line, node.column)
        return check(Setup, command, "setup", findings)
    if not isinstance(node.value, dict):
        findings.problem(node, "setup", f"a command or a mapping expected, found {describe(node.plain())}")
        return None
    return check(Setup, node, "setup", findings, needed_by="setup")


def parse_solution(node: Node, findings: Findings, folder: ScenarioFolder) -> str | None:
    """The path of a known good attempt: a patch, a folder of files, or a script."""
    if not isinstance(node.value, str):
        found = describe(node.plain())
        findings.problem(node, "solution", f"the path of a patch, folder or script expected; found {found}")
        return None
    try:
        path = check_relative(node.value)
        folder(path)
        above = path.rpartition("/")[0]
        if above and not path.endswith((".patch", ".diff")):
            # A script may use what lies beside it.
            folder(above)
    except ValueError as error:
        findings.problem(node, "solution", str(error))
        return None
    return path


def _absolute(path: str) -> str:
    if not path.startswith("/"):
        raise ValueError(f"{path!r} is not absolute; a place on the machine is written from the root")
    if ".." in path.split("/"):
        raise ValueError(f"{path!r} goes up with '..'")
    shortest = str(PurePosixPath("/", *[part for part in path.split("/") if part not in ("", ".")]))
    if shortest in _NOT_SHOWN or shortest.startswith(("/proc/", "/sys/", "/dev/")):
        raise ValueError(f"{shortest} cannot be exposed; name the folder of a toolchain")
    return shortest


AbsolutePath = Annotated[
    str,
    AfterValidator(_absolute),
    WithJsonSchema({"type": "string", "pattern": r"^/(?!(.*/)?\.\.(/|$)).+$"}),
]


class Exposed(Record):
    """A place on the machine shown read-only in the sandbox."""

    source: AbsolutePath
    """The folder or file on the machine."""
    target: AbsolutePath | None = None
    """Where it appears in the sandbox; the same place when left out."""


def _size(text: str) -> str:
    match = _SIZE.match(text)
    if match is None:
        raise ValueError(f"{text!r} is not a size; write it as 512MiB or 2GiB")
    if _bytes(text) < _LEAST_MEMORY:
        raise ValueError(f"{text} is below {_LEAST_MEMORY // _MIB}MiB, in which nothing starts")
    return text


def _bytes(text: str) -> int:
    match = _SIZE.match(text)
    assert match is not None
    return int(float(match[1]) * _UNITS[match[2]])


def _known_backend(name: str) -> str:
    # Ours first: looking for others reads the metadata of every installed package.
    if name != "auto" and name not in catalog.BUILTINS["sandboxes"]:
        known = ["auto", *catalog.names("sandboxes")]
        if name not in known:
            raise ValueError(f"no sandbox is called {name[:60]!r}; {did_you_mean(name, known)}")
    return name


def _variable(name: str) -> str:
    if not _VARIABLE.match(name):
        raise ValueError(f"{name[:60]!r} is not a name for an environment variable")
    return name


class WrittenSandbox(Record):
    """What a scenario asks of the sandbox."""

    backend: Annotated[str, AfterValidator(_known_backend)] = "auto"
    """Which sandbox: `auto` picks the best one this machine can run."""
    expose: tuple[Exposed, ...] = ()
    """Places on the machine shown read-only, such as toolchains outside the system's own folders."""
    env: Mapping[Annotated[str, AfterValidator(_variable)], str] = Field(default_factory=dict)
    """Environment variables for setup and for every command; nothing is inherited."""
    memory: (
        Annotated[
            str,
            AfterValidator(_size),
            WithJsonSchema(
                {"type": "string", "pattern": r"^\s*[0-9]+(\.[0-9]+)?\s*([KMGT]iB|kB|[KMGT]B)\s*$"}
            ),
        ]
        | None
    ) = None
    """Most memory the commands may use together, such as `2GiB`."""
    processes: int | None = Field(default=None, ge=1, le=1_000_000)
    """Most processes and threads alive at once."""


def parse_sandbox(node: Node, findings: Findings) -> SandboxSettings:
    """The sandbox section."""
    fields = entries(node, "sandbox", findings)
    if fields is None:
        return SandboxSettings()
    before = len(findings.problems)
    exposed: list[Exposed | None] = []
    if "expose" in fields and isinstance(fields["expose"].value, list):
        exposed = [
            _exposed(item, f"sandbox.expose[{index}]", findings)
            for index, item in enumerate(fields["expose"].value)
        ]
        fields = {**fields, "expose": Node([], node.line, node.column)}
    written = check(WrittenSandbox, node, "sandbox", findings, fields=fields)
    if written is None or len(findings.problems) > before:
        return SandboxSettings()
    if written.backend == "process":
        findings.warn(fields["backend"], "sandbox.backend", "process isolates nothing from this machine")
    return SandboxSettings(
        backend=written.backend,
        expose=tuple(
            ExposedPath(source=shown.source, target=PurePosixPath(shown.target or shown.source))
            for shown in exposed
            if shown is not None
        ),
        env=dict(written.env),
        memory_bytes=_bytes(written.memory) if written.memory is not None else None,
        processes=written.processes,
    )


def _exposed(node: Node, where: str, findings: Findings) -> Exposed | None:
    """One place to show; a plain path stands for a mapping that names only the source."""
    if isinstance(node.value, str):
        node = Node({"source": node}, node.line, node.column)
    return check(Exposed, node, where, findings, needed_by="expose")
