"""Reading patches: git's format and plain unified diffs, as bytes, into records. Pure.

What a patch does to a tree is in `adjudge.formats.patching`. Everything read here was written by the
attempt: sizes are capped, paths are checked, and what is malformed is a `PatchUnreadable` that says where.
"""

from __future__ import annotations

import base64
import binascii
import re
import zlib
from dataclasses import dataclass, field

from adjudge.errors import PatchUnreadable
from adjudge.records.paths import parse_path, path_from_bytes, render_path

__all__ = ["BinaryPatch", "FilePatch", "LineChange", "PatchHunk", "parse_patch"]

MAX_PATCH_BYTES = 256 * 1024 * 1024
_MAX_BINARY_BYTES = 256 * 1024 * 1024
_HUNK = re.compile(rb"^@@ -(\d{1,9})(?:,(\d{1,9}))? \+(\d{1,9})(?:,(\d{1,9}))? @@")
_MODES = {b"100644": 0o100644, b"100755": 0o100755, b"100664": 0o100644, b"120000": 0o120000}
_NOWHERE = b"/dev/null"
_COMMIT = re.compile(rb"^(?:From|commit) [0-9a-f]{40,64}\b")
_EPOCH = re.compile(rb"\t(?:1970-01-01 00:00:00|1969-12-31 \d\d:\d\d:\d\d)")


@dataclass(frozen=True, slots=True)
class LineChange:
    """One line of a hunk, with its line ending."""

    op: str
    """` ` kept, `-` removed, `+` added."""
    text: bytes


@dataclass(frozen=True, slots=True)
class PatchHunk:
    """A run of changed lines with its context."""

    old_start: int
    lines: tuple[LineChange, ...]

    @property
    def old(self) -> list[bytes]:
        """The lines it expects to find."""
        return [line.text for line in self.lines if line.op != "+"]

    @property
    def new(self) -> list[bytes]:
        """The lines it leaves."""
        return [line.text for line in self.lines if line.op != "-"]


@dataclass(frozen=True, slots=True)
class BinaryPatch:
    """Content that is not text: whole (`literal`), or as git's delta against the old content."""

    literal: bool
    data: bytes


@dataclass(slots=True)
class FilePatch:
    """What a patch does to one path."""

    line: int
    """Where its section starts in the patch, for messages."""
    commit: int = 0
    """Which commit of a series it belongs to: within one, renames and copies read the files as they were."""
    old_path: str | None = None
    """None when it creates the file."""
    new_path: str | None = None
    """None when it deletes the file."""
    old_mode: int | None = None
    new_mode: int | None = None
    renames: bool = False
    copies: bool = False
    old_object: str | None = None
    """The full object id of the old content, where the patch gives one."""
    hunks: list[PatchHunk] = field(default_factory=list)
    binary: BinaryPatch | None = None
    maybe_new: bool = False
    """A plain diff that may create the file: its first hunk expects nothing."""
    maybe_deleted: bool = False
    """A plain diff that deletes the file if nothing is left: its new side is dated to the epoch."""

    @property
    def name(self) -> str:
        """The path as a message names it."""
        return render_path(self.new_path or self.old_path or "")


def parse_patch(data: bytes) -> tuple[FilePatch, ...]:
    """Read a patch. Blank input is a patch that changes nothing.

    Raises:
        PatchUnreadable: It is malformed, holds no diff at all, or touches what a patch may not touch.
    """
    if len(data) > MAX_PATCH_BYTES:
        raise PatchUnreadable(f"the patch is larger than {MAX_PATCH_BYTES} bytes")
    if not data.strip():
        return ()
    files = _Reader(data.split(b"\n")).read()
    if not files:
        raise PatchUnreadable("the patch holds no diff: no `diff --git` line and no `---`/`+++` pair")
    for patch in files:
        for path in (patch.old_path, patch.new_path):
            if path is not None:
                _check_path(path, patch.line)
    return tuple(files)


class _Reader:
    """One pass over the lines of a patch."""

    def __init__(self, lines: list[bytes]) -> None:
        self._lines = lines
        # What follows the last newline is no line when it is empty.
        self._end = len(lines) - 1 if lines and lines[-1] == b"" else len(lines)
        self._at = 0

    def read(self) -> list[FilePatch]:
        files: list[FilePatch] = []
        commit = 0
        while self._at < self._end:
            line = self._lines[self._at]
            if _COMMIT.match(line):
                commit += 1
                self._at += 1
            elif line.startswith(b"diff --git "):
                files.append(self._git_section())
                files[-1].commit = commit
            elif self._starts_plain_section():
                files.append(self._plain_section())
                files[-1].commit = commit
            elif _HUNK.match(line):
                raise self._wrong("a hunk without a file header before it")
            else:
                self._at += 1
        return files

    def _starts_plain_section(self) -> bool:
        return (
            self._lines[self._at].startswith(b"--- ")
            and self._at + 2 < self._end
            and self._lines[self._at + 1].startswith(b"+++ ")
            and _HUNK.match(self._lines[self._at + 2]) is not None
        )

    def _git_section(self) -> FilePatch:
        patch = FilePatch(line=self._at + 1)
        header = self._lines[self._at].removesuffix(b"\r").removeprefix(b"diff --git ")
        self._at += 1
        created = deleted = seen_names = False
        while self._at < self._end:
            line = self._lines[self._at]
            keyword, value = _extended(line.removesuffix(b"\r"))
            if keyword in (b"old mode ", b"deleted file mode "):
                patch.old_mode = self._mode(value)
                deleted |= keyword == b"deleted file mode "
            elif keyword in (b"new mode ", b"new file mode "):
                patch.new_mode = self._mode(value)
                created |= keyword == b"new file mode "
            elif keyword in (b"rename from ", b"copy from "):
                patch.old_path = self._name(value, strip=False)
            elif keyword in (b"rename to ", b"copy to "):
                patch.new_path = self._name(value, strip=False)
                patch.renames |= keyword == b"rename to "
                patch.copies |= keyword == b"copy to "
            elif keyword == b"index ":
                self._index(patch, value)
            elif line.startswith(b"--- ") and not seen_names:
                seen_names = True
                self._names(patch)
                continue
            elif _HUNK.match(line) and seen_names:
                patch.hunks.append(self._hunk())
                continue
            elif line.startswith(b"GIT binary patch"):
                self._binary(patch)
                continue
            elif line.startswith(b"Binary files "):
                raise self._wrong("a binary change without its content; make the patch with `--binary`")
            elif keyword is None:
                break
            self._at += 1
        if patch.old_path is None and patch.new_path is None:
            patch.old_path = patch.new_path = self._same_name(header, patch.line)
        if created:
            patch.old_path = None
            patch.new_mode = patch.new_mode or 0o100644
        if deleted:
            patch.new_path = None
        if patch.renames + patch.copies and (patch.old_path is None or patch.new_path is None):
            raise PatchUnreadable(f"patch line {patch.line}: a rename without both of its names")
        if patch.old_path is None and patch.new_path is None:
            raise PatchUnreadable(f"patch line {patch.line}: a file that is neither before nor after")
        return patch

    def _plain_section(self) -> FilePatch:
        patch = FilePatch(line=self._at + 1)
        old_line, new_line = self._lines[self._at], self._lines[self._at + 1]
        old, new = _plain_name(old_line[4:]), _plain_name(new_line[4:])
        self._at += 2
        while self._at < self._end and _HUNK.match(self._lines[self._at]):
            patch.hunks.append(self._hunk())
        patch.maybe_new = len(patch.hunks) == 1 and not patch.hunks[0].old
        patch.maybe_deleted = _EPOCH.search(new_line) is not None
        if old == _NOWHERE and new == _NOWHERE:
            raise PatchUnreadable(f"patch line {patch.line}: a file that is neither before nor after")
        patch.old_path, patch.new_path = self._plain_paths(old, new)
        if patch.old_path is None:
            patch.new_mode = 0o100644
        return patch

    def _plain_paths(self, old: bytes, new: bytes) -> tuple[str | None, str | None]:
        """Both sides of a plain diff: as written when equal, else with their first folder left out."""
        if old == new and not old.startswith((b"a/", b"b/")):
            path = self._name(old, strip=False)
            return path, path
        before = None if old == _NOWHERE else self._name(old, strip=True)
        after = None if new == _NOWHERE else self._name(new, strip=True)
        if before is not None and after is not None and before != after:
            # `diff -u file.orig file`: one name is a prefix of the other, and the shorter one is meant.
            first, second = self._name(old, strip=False), self._name(new, strip=False)
            if first.startswith(second):
                return second, second
            raise self._wrong(f"two different files, {render_path(before)} and {render_path(after)}")
        return before, after

    def _names(self, patch: FilePatch) -> None:
        """The `---` and `+++` lines of a git section."""
        if self._at + 1 >= self._end or not self._lines[self._at + 1].startswith(b"+++ "):
            raise self._wrong("a `---` line without its `+++` line")
        old, new = (_plain_name(self._lines[self._at + step][4:]) for step in (0, 1))
        if patch.renames or patch.copies:
            self._at += 2
            return
        # Without prefixes (`diff.noprefix`) both names are equal; with them they differ in the first folder.
        strip = old == _NOWHERE or new == _NOWHERE or old != new
        if strip and _NOWHERE in (old, new):
            named = new if old == _NOWHERE else old
            strip = named.startswith((b"a/", b"b/", b"i/", b"w/", b"c/", b"o/", b'"'))
        patch.old_path = None if old == _NOWHERE else self._name(old, strip=strip)
        patch.new_path = None if new == _NOWHERE else self._name(new, strip=strip)
        if patch.old_path is not None and patch.new_path is not None and patch.old_path != patch.new_path:
            raise self._wrong(
                f"two different files, {render_path(patch.old_path)} and {render_path(patch.new_path)}"
            )
        self._at += 2

    def _same_name(self, header: bytes, line: int) -> str:
        """The path from `diff --git a/X b/X`, for sections that name it nowhere else."""
        if header.startswith(b'"'):
            first = re.match(rb'"(?:[^"\\]|\\.)*"', header)
            if first is not None:
                return self._name(first.group(), strip=True)
        for space in (match.start() for match in re.finditer(b" ", header)):
            old, new = header[:space], header[space + 1 :]
            if old == new and not old.startswith(b"a/"):
                return self._name(old, strip=False)
            if b"/" in old and b"/" in new and old.split(b"/", 1)[1] == new.split(b"/", 1)[1]:
                return self._name(old, strip=True)
        raise PatchUnreadable(f"patch line {line}: the two names of `diff --git` are not one file")

    def _hunk(self) -> PatchHunk:
        start_line = self._at
        header = _HUNK.match(self._lines[self._at])
        assert header is not None
        old_start = int(header.group(1))
        old_left = int(header.group(2)) if header.group(2) is not None else 1
        new_left = int(header.group(4)) if header.group(4) is not None else 1
        self._at += 1
        lines: list[LineChange] = []
        while old_left > 0 or new_left > 0:
            if self._at >= self._end:
                raise PatchUnreadable(f"patch line {start_line + 1}: the hunk ends early")
            raw = self._lines[self._at]
            op = chr(raw[0]) if raw else " "
            if op not in " +-":
                raise self._wrong("a line of a hunk that starts with neither a space, + nor -")
            old_left -= op != "+"
            new_left -= op != "-"
            if old_left < 0 or new_left < 0:
                raise self._wrong("the hunk has more lines than its header says")
            self._at += 1
            ending = b"\n"
            if self._at < self._end and self._lines[self._at].startswith(b"\\ "):
                ending = b""
                self._at += 1
            lines.append(LineChange(op, raw[1:] + ending))
        return PatchHunk(old_start=old_start, lines=tuple(lines))

    def _binary(self, patch: FilePatch) -> None:
        """A `GIT binary patch`: the forward part is kept, the reverse one skipped."""
        self._at += 1
        patch.binary = self._binary_part()
        if self._at < self._end and re.match(rb"(?:literal|delta) \d", self._lines[self._at]):
            self._binary_part()

    def _binary_part(self) -> BinaryPatch:
        header = (
            re.match(rb"^(literal|delta) (\d{1,10})$", self._lines[self._at])
            if self._at < self._end
            else None
        )
        if header is None:
            raise self._wrong("a binary patch without `literal` or `delta`")
        size = int(header.group(2))
        if size > _MAX_BINARY_BYTES:
            raise self._wrong(f"a binary change of {size} bytes, above {_MAX_BINARY_BYTES}")
        self._at += 1
        packed = bytearray()
        while self._at < self._end and self._lines[self._at]:
            packed += self._base85(self._lines[self._at])
            self._at += 1
        self._at += 1
        try:
            inflater = zlib.decompressobj()
            data = inflater.decompress(bytes(packed), size + 1)
        except zlib.error as error:
            raise self._wrong(f"binary data that cannot be unpacked ({error})") from error
        if len(data) != size:
            raise self._wrong(f"binary data that is not the {size} bytes its header says")
        return BinaryPatch(literal=header.group(1) == b"literal", data=data)

    def _base85(self, line: bytes) -> bytes:
        first = line[:1]
        if b"A" <= first <= b"Z":
            length = first[0] - ord("A") + 1
        elif b"a" <= first <= b"z":
            length = first[0] - ord("a") + 27
        else:
            raise self._wrong("a line of binary data without its length")
        try:
            data = base64.b85decode(line[1:])
        except (ValueError, binascii.Error) as error:
            raise self._wrong(f"a line of binary data that is not base 85 ({error})") from error
        if not length <= len(data) < length + 4:
            raise self._wrong("a line of binary data that is shorter or longer than it says")
        return data[:length]

    def _index(self, patch: FilePatch, value: bytes) -> None:
        match = re.match(rb"^([0-9a-f]{40,64})\.\.[0-9a-f]{40,64}(?: (\d{6}))?$", value)
        if match is not None:
            patch.old_object = match.group(1).decode()
        mode = re.search(rb" (\d{6})$", value)
        if mode is not None:
            patch.old_mode = patch.old_mode or self._mode(mode.group(1))

    def _mode(self, value: bytes) -> int:
        mode = _MODES.get(value)
        if mode is None:
            what = "a submodule" if value == b"160000" else f"mode {value[:20].decode('ascii', 'replace')}"
            raise self._wrong(f"{what}, which cannot be applied")
        return mode

    def _name(self, written: bytes, *, strip: bool) -> str:
        try:
            path = parse_path(path_from_bytes(written))
        except ValueError as error:
            raise self._wrong(str(error)) from error
        if strip and "/" in path:
            path = path.split("/", 1)[1]
        return path

    def _wrong(self, what: str) -> PatchUnreadable:
        return PatchUnreadable(f"patch line {min(self._at, self._end - 1) + 1}: {what}")


_EXTENDED = (
    b"old mode ", b"new mode ", b"deleted file mode ", b"new file mode ", b"rename from ", b"rename to ",
    b"copy from ", b"copy to ", b"similarity index ", b"dissimilarity index ", b"index ",
)  # fmt: skip


def _extended(line: bytes) -> tuple[bytes | None, bytes]:
    for keyword in _EXTENDED:
        if line.startswith(keyword):
            return keyword, line[len(keyword) :]
    return None, b""


def _plain_name(rest: bytes) -> bytes:
    """A name from a `---` or `+++` line: up to the tab before a date, if there is one."""
    rest = rest.removesuffix(b"\r")
    return rest if rest.startswith(b'"') and rest.endswith(b'"') else rest.split(b"\t", 1)[0]


def _check_path(path: str, line: int) -> None:
    """Refuse what no attempt may touch: outside the workspace, and any repository's own folder."""
    shown = render_path(path)
    if not path or path.startswith("/") or "\0" in path:
        raise PatchUnreadable(f"patch line {line}: {shown or 'an empty path'} is not a path in the workspace")
    parts = path.split("/")
    if ".." in parts or "." in parts or "" in parts:
        raise PatchUnreadable(f"patch line {line}: {shown} is not a path in the workspace")
    if any(part.lower() == ".git" for part in parts):
        raise PatchUnreadable(f"patch line {line}: {shown} is inside a .git folder")
