"""What a checkout makes of a committed file, so that a faithful checkout is not taken for a change.

Owns the attributes that change bytes on the way out of a repository: `eol=crlf` and Git LFS pointers. Only
the baseline's `.gitattributes` files are read. No filter is ever run; a file under any other filter is
compared as it is stored, and shows as changed when the checkout differs.
"""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass

from adjudge.capture.entries import Content, Folder, KnownContent, digest_chunks, folder_in, read_rules
from adjudge.formats.gitpatterns import Pattern, parse_pattern

__all__ = ["Attributes", "CheckoutRules", "looks_binary"]

_MAX_CONVERTED_BYTES = 64 << 20
_POINTER_BYTES = 1024
_POINTER = re.compile(
    rb"version https://git-lfs\.github\.com/spec/v1\n(?:ext-[^\n]*\n)*"
    rb"oid sha256:([0-9a-f]{64})\nsize (\d{1,18})\n"
)
_BUILTIN_MACROS = {b"binary": {b"diff": b"", b"merge": b"", b"text": b""}}
_UNSET, _SET = b"", b"set"

State = dict[bytes, bytes | None]
"""Attribute → value: `_SET`, `_UNSET`, text, or None for explicitly unspecified."""


@dataclass(frozen=True, slots=True)
class _Line:
    pattern: Pattern
    states: State


class Attributes:
    """The baseline's attributes.

    Args:
        top: The top directory of the baseline's repository.
        prefix: Where the workspace is in it; empty when it is the top.
    """

    def __init__(self, top: Folder, prefix: bytes = b"") -> None:
        self._top = top
        self._prefix = prefix
        self._files: dict[bytes, list[_Line]] = {}
        self._macros: dict[bytes, State] = {name: dict(states) for name, states in _BUILTIN_MACROS.items()}

    def of(self, path: bytes) -> State:
        """The attributes of a path of the workspace."""
        full = b"%b/%b" % (self._prefix, path) if self._prefix else path
        name = full.rpartition(b"/")[2]
        found: State = {}
        self._lines(b"")  # The top file alone may define macros, so it is read before any other.
        folder = full
        while folder:
            folder = folder.rpartition(b"/")[0]
            relative = full[len(folder) + 1 :] if folder else full
            for line in reversed(self._lines(folder)):
                if not line.pattern.directories_only and line.pattern.matches(relative, name):
                    for attribute, value in line.states.items():
                        found.setdefault(attribute, value)
        return found

    def _lines(self, folder: bytes) -> list[_Line]:
        if folder not in self._files:
            place: Folder | None = self._top
            for name in folder.split(b"/") if folder else ():
                place = folder_in(place, name)
            data = read_rules(place, b".gitattributes")
            self._files[folder] = self._parse(data or b"", top=not folder)
        return self._files[folder]

    def _parse(self, data: bytes, *, top: bool) -> list[_Line]:
        lines: list[_Line] = []
        for raw in data.removeprefix(b"\xef\xbb\xbf").split(b"\n"):
            text = raw.strip(b" \t\r\n")
            if not text or text.startswith(b"#"):
                continue
            head, rest = _split_pattern(text)
            if head.startswith(b"[attr]"):
                if top:
                    self._macros[head[6:]] = self._states(rest)
                continue
            pattern = None if head.startswith(b"!") else parse_pattern(head)
            if pattern is not None:
                lines.append(_Line(pattern, self._states(rest)))
        return lines

    def _states(self, text: bytes) -> State:
        states: State = {}
        for word in text.split():
            name, equals, value = word.partition(b"=")
            if name.startswith(b"-"):
                states[name[1:]] = _UNSET
            elif name.startswith(b"!"):
                states[name[1:]] = None
            elif equals:
                states[name] = value
            else:
                states |= self._macros.get(name, {})
                states[name] = _SET
        return states


class CheckoutRules:
    """Decides whether a file that differs from its blob is only what a checkout made of it."""

    def __init__(self, attributes: Attributes) -> None:
        self._attributes = attributes
        self.filters: dict[bytes, bytes] = {}
        """Path → filter, for changed files under a filter that cannot be undone here."""

    def settle(self, path: bytes, old: Content, new: Content) -> Content | None:
        """Compare a blob with a file whose bytes differ.

        Returns:
            None when the file is a faithful checkout of the blob, else what the blob looks like checked out.
        """
        states = self._attributes.of(path)
        name = states.get(b"filter")
        if name == b"lfs":
            return _settle_pointer(old, new)
        if name not in (None, _SET, _UNSET):
            self.filters[path] = name
        if _converts_to_crlf(states) and old.size <= _MAX_CONVERTED_BYTES:
            return _settle_crlf(old, new, auto=states.get(b"text") == b"auto")
        return old


def looks_binary(head: bytes) -> bool:
    """As git tests: a NUL among the first 8,000 bytes."""
    return b"\0" in head[:8000]


def _converts_to_crlf(states: State) -> bool:
    return states.get(b"eol") == b"crlf" and states.get(b"text") != _UNSET


def _settle_pointer(old: Content, new: Content) -> Content | None:
    if old.size > _POINTER_BYTES:
        return old
    pointer = _POINTER.fullmatch(b"".join(old.chunks()))
    if pointer is None:
        return old
    digest, size = f"sha256:{pointer[1].decode()}", int(pointer[2])
    if new.size == size and digest_chunks(new.chunks()) == digest:
        return None
    return KnownContent(old.mode, None, digest=digest, size=size)


def _settle_crlf(old: Content, new: Content, *, auto: bool) -> Content | None:
    stored = b"".join(old.chunks())
    if auto and (looks_binary(stored) or b"\r\n" in stored):
        return old
    converted = re.sub(rb"(?<!\r)\n", b"\r\n", stored)
    if new.size == len(converted):
        state = hashlib.sha256(converted).hexdigest()
        if digest_chunks(new.chunks()) == f"sha256:{state}":
            return None
    # The diff is drawn between like and like, or every line would show as changed.
    written_as_crlf = b"\r\n" in next(new.chunks(), b"")[:65536]
    return KnownContent(old.mode, converted) if written_as_crlf else old


def _split_pattern(text: bytes) -> tuple[bytes, bytes]:
    """The pattern, which may be quoted, and the rest of a line."""
    if not text.startswith(b'"'):
        head, _, rest = text.replace(b"\t", b" ").partition(b" ")
        return head, rest
    match = re.match(rb'"((?:[^"\\]|\\.)*)"', text)
    if match is None:
        return text, b""
    unquoted = re.sub(rb"\\([0-7]{3}|.)", _unescape, match[1])
    return unquoted, text[match.end() :]


def _unescape(match: re.Match[bytes]) -> bytes:
    escape = match[1]
    if len(escape) == 3:
        return bytes([int(escape, 8) & 0xFF])
    return {b"n": b"\n", b"t": b"\t", b"r": b"\r", b"a": b"\a", b"b": b"\b", b"f": b"\f", b"v": b"\v"}.get(
        escape, escape
    )
