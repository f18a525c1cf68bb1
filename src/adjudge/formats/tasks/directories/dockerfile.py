"""What a Dockerfile makes of a workspace, as far as that can be told without building it.

`WORKDIR`, `ENV` and `COPY` of local files say what the workspace is. Whatever installs or changes something
else makes an image that only a container can be started from; which line that is, is noted. Nothing here
touches the disk.
"""

from __future__ import annotations

import json
import posixpath
import re
import shlex
from dataclasses import dataclass, field
from typing import NamedTuple

__all__ = ["Copied", "Dockerfile", "parse_dockerfile"]

_PLAIN_IMAGES = frozenset({"alpine", "busybox", "debian", "python", "scratch", "ubuntu"})
"""Images of which a task may expect no more than a system and Python."""
_WITHOUT_EFFECT = frozenset(
    {
        "ARG",
        "CMD",
        "ENTRYPOINT",
        "EXPOSE",
        "HEALTHCHECK",
        "LABEL",
        "MAINTAINER",
        "STOPSIGNAL",
        "USER",
        "VOLUME",
    }
)
"""Instructions that leave the files of an image as they are."""
_MAKES_FOLDERS = re.compile(r"mkdir(?:\s+-p|\s+--parents)*(?:\s+[\w./-]+)+\Z")
_UNCLEAR = re.compile(r"[$*?\[]")
_HARMLESS_FLAGS = ("--chmod=", "--chown=", "--link")


class Copied(NamedTuple):
    """Something that the image has in its workspace."""

    source: str
    """Relative to the folder of the Dockerfile; `.` for all of it."""
    dest: str
    """Relative to the workspace."""
    into: bool
    """Whether `dest` is a folder that the source goes into, should it be a file."""


@dataclass
class Dockerfile:
    """What could be told."""

    workdir: str = "/workspace"
    copies: list[Copied] = field(default_factory=list)
    env: dict[str, str] = field(default_factory=dict)
    needs_image: str = ""
    """The first thing that only building the image can do, with its line; empty when there is none."""


class _Instruction(NamedTuple):
    line: int
    name: str
    rest: str


def parse_dockerfile(text: str) -> Dockerfile:
    """Read a Dockerfile. Whatever it holds, this returns."""
    instructions = _instructions(text)
    made = Dockerfile()
    for instruction in instructions:
        if instruction.name == "WORKDIR" and not _UNCLEAR.search(instruction.rest):
            made.workdir = posixpath.normpath(
                posixpath.join("/", made.workdir, instruction.rest.strip("\"'"))
            )
    here, stages = "/", 0
    for instruction in instructions:
        why = ""
        match instruction.name:
            case "FROM":
                stages += 1
                why = _why_base(instruction.rest) if stages == 1 else "a build in several stages"
            case "WORKDIR":
                here = posixpath.normpath(posixpath.join(here, instruction.rest.strip("\"'")))
                if _UNCLEAR.search(instruction.rest):
                    why = f"WORKDIR {instruction.rest}"
            case "ENV":
                why = _take_env(instruction.rest, made)
            case "COPY" | "ADD":
                why = _take_copy(instruction, here, made)
            case "RUN":
                if not all(_MAKES_FOLDERS.match(part.strip()) for part in instruction.rest.split("&&")):
                    why = f"RUN {_short(instruction.rest)}"
            case name if name not in _WITHOUT_EFFECT:
                why = f"{name} {_short(instruction.rest)}"
        if why and not made.needs_image:
            made.needs_image = f"line {instruction.line}: {why}"
    if not stages and not made.needs_image:
        made.needs_image = "it has no FROM"
    return made


def _instructions(text: str) -> list[_Instruction]:
    """Each with the line it starts on, continuation lines joined, comments left out."""
    found: list[_Instruction] = []
    pending, started = "", 0
    for number, line in enumerate(text.splitlines(), start=1):
        bare = line.strip()
        if not bare or bare.startswith("#"):
            continue
        if not pending:
            started = number
        pending += bare.removesuffix("\\").strip() + " "
        if bare.endswith("\\"):
            continue
        name, _, rest = pending.strip().partition(" ")
        found.append(_Instruction(started, name.upper(), rest.strip()))
        pending = ""
    if pending:
        name, _, rest = pending.strip().partition(" ")
        found.append(_Instruction(started, name.upper(), rest.strip()))
    return found


def _why_base(rest: str) -> str:
    words = [word for word in rest.split() if not word.startswith("--")]
    image = words[0] if words else ""
    path = image.partition("@")[0]
    name = path.rpartition("/")[2].partition(":")[0]
    parts = path.split("/")
    official = len(parts) == 1 or parts[-2] == "library"
    return "" if official and name in _PLAIN_IMAGES else f"FROM {_short(image)}"


def _take_env(rest: str, made: Dockerfile) -> str:
    try:
        words = shlex.split(rest)
    except ValueError:
        return f"ENV {_short(rest)}"
    if words and "=" not in words[0]:
        words = [f"{words[0]}={' '.join(words[1:])}"]
    for word in words:
        name, _, value = word.partition("=")
        if "$" in value or name in ("PATH", "HOME"):
            return f"ENV {_short(rest)}"
        made.env[name] = value
    return ""


def _take_copy(instruction: _Instruction, here: str, made: Dockerfile) -> str:
    told = f"{instruction.name} {_short(instruction.rest)}"
    if instruction.rest.lstrip().startswith("["):
        try:
            words = json.loads(instruction.rest)
        except ValueError:
            return told
        if not (isinstance(words, list) and all(isinstance(word, str) for word in words)):
            return told
    else:
        words = instruction.rest.split()
    flags = [word for word in words if word.startswith("--")]
    words = [word for word in words if not word.startswith("--")]
    remote = instruction.name == "ADD" and any("://" in word or ".t" in word for word in words[:-1])
    if (
        len(words) < 2
        or remote
        or any(not flag.startswith(_HARMLESS_FLAGS) for flag in flags)
        or any(_UNCLEAR.search(word) or "<<" in word for word in words)
    ):
        return told
    *sources, dest = words
    place = posixpath.normpath(posixpath.join(here, dest))
    into = dest.endswith(("/", "/.")) or dest in (".", "..") or len(sources) > 1
    if place != made.workdir and not place.startswith(f"{made.workdir}/"):
        return f"{told}: outside {made.workdir}"
    relative = posixpath.relpath(place, made.workdir)
    for source in sources:
        inside = posixpath.normpath(source.lstrip("/") or ".")
        if inside.startswith(".."):
            return told
        made.copies.append(Copied(inside, relative, into or relative == "."))
    return ""


def _short(text: str) -> str:
    return text if len(text) <= 60 else f"{text[:59]}…"
