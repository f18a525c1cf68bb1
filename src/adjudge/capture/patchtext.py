"""The text of a change in git's patch format, applicable with `git apply` where nothing was left out.

Owns headers, quoting, hunks and binary patches. Which lines differ is found in `linediff`; which files are
drawn and what is left out for size is decided in `diff`.
"""

from __future__ import annotations

import base64
import hashlib
import re
import zlib
from collections.abc import Sequence
from dataclasses import dataclass

from adjudge.capture.checkout import looks_binary
from adjudge.capture.linediff import Budget, Region, diff_lines
from adjudge.records.change import Hunk

__all__ = ["Drawn", "Half", "draw", "draw_header", "quote"]

_CONTEXT_LINES = 3
_HEADING = re.compile(rb"[A-Za-z_$][^\n]*")
_HEADING_BYTES = 80
_BINARY_LINE_BYTES = 52
_PLAIN_NAME = re.compile(rb'[^\x00-\x1f\x7f"\\]+')
_DIVIDES_ELSEWHERE = re.compile(rb"(?:^|/) | (?:/|$)| [ab]/")
_ESCAPES = {
    0x07: b"\\a", 0x08: b"\\b", 0x09: b"\\t", 0x0A: b"\\n", 0x0B: b"\\v", 0x0C: b"\\f", 0x0D: b"\\r",
    0x22: b'\\"', 0x5C: b"\\\\",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Half:
    """One side of a change: where it is, its mode, and its content if there is room for it."""

    path: bytes
    mode: int
    data: bytes | None


@dataclass(frozen=True, slots=True)
class Drawn:
    """A change as text."""

    text: bytes
    added_lines: int | None = None
    removed_lines: int | None = None
    hunks: tuple[Hunk, ...] = ()
    binary: bool = False


def draw(old: Half | None, new: Half | None, budget: Budget, *, similarity: int | None = None) -> Drawn:
    """Draw one change whose content is in memory.

    Args:
        old: The baseline's side; None for an addition.
        new: The final side; None for a deletion.
        budget: Steps that may be spent on a tight diff.
        similarity: For a rename, how alike the two are, in percent.
    """
    before = b"" if old is None or old.data is None else old.data
    after = b"" if new is None or new.data is None else new.data
    header = draw_header(old, new, similarity=similarity)
    if before == after:
        # No hunks; and git wants no index line for a pure rename or mode change.
        if old is not None and new is not None:
            return Drawn(header, 0, 0)
        return Drawn(header + _index_line(old, new, before, after), 0, 0)
    header += _index_line(old, new, before, after)
    if looks_binary(before) or looks_binary(after):
        body = b"GIT binary patch\n" + _binary_literal(after) + b"\n" + _binary_literal(before) + b"\n"
        return Drawn(header + body, binary=True)
    header += b"--- %b\n+++ %b\n" % (_side_name(b"a/", old), _side_name(b"b/", new))
    old_lines, new_lines = _split_lines(before), _split_lines(after)
    regions = diff_lines(old_lines, new_lines, budget)
    return Drawn(
        header + b"".join(_draw_hunks(old_lines, new_lines, regions)),
        sum(region[3] - region[2] for region in regions),
        sum(region[1] - region[0] for region in regions),
        tuple(_hunk_record(region) for region in regions),
    )


def draw_header(old: Half | None, new: Half | None, *, similarity: int | None = None) -> bytes:
    """The lines before the content: paths, modes, rename."""
    present = new or old
    assert present is not None
    old_path = (old or present).path
    new_path = (new or present).path
    lines = [b"diff --git %b %b" % (quote(b"a/" + old_path), quote(b"b/" + new_path))]
    if old is None:
        lines.append(b"new file mode %06o" % present.mode)
    elif new is None:
        lines.append(b"deleted file mode %06o" % present.mode)
    elif old.mode != new.mode:
        lines += [b"old mode %06o" % old.mode, b"new mode %06o" % new.mode]
    if similarity is not None:
        lines.append(b"similarity index %d%%" % similarity)
        lines += [b"rename from " + quote(old_path), b"rename to " + quote(new_path)]
    return b"\n".join(lines) + b"\n"


def quote(path: bytes) -> bytes:
    """A path as git writes it in a patch: in quotes with C escapes when it would be misread otherwise."""
    try:
        path.decode("utf-8")
        plain = _PLAIN_NAME.fullmatch(path) is not None
    except UnicodeDecodeError:
        plain = False
    # A header line holds two names with a space between; quote what could be divided elsewhere.
    if plain and not _DIVIDES_ELSEWHERE.search(path):
        return path
    written = [_ESCAPES.get(byte) or (b"\\%03o" % byte if _is_odd(byte) else bytes([byte])) for byte in path]
    return b'"%b"' % b"".join(written)


def _is_odd(byte: int) -> bool:
    return byte < 0x20 or byte >= 0x7F


def _side_name(prefix: bytes, half: Half | None) -> bytes:
    if half is None:
        return b"/dev/null"
    name = quote(prefix + half.path)
    # A tab ends the name, or what follows a space would be taken for a time stamp.
    return name + b"\t" if b" " in name and not name.startswith(b'"') else name


def _index_line(old: Half | None, new: Half | None, before: bytes, after: bytes) -> bytes:
    """The ids are in full because git applies a binary patch only then."""
    mode = b" %06o" % new.mode if old is not None and new is not None and old.mode == new.mode else b""
    old_id = b"0" * 40 if old is None else _blob_id(before)
    new_id = b"0" * 40 if new is None else _blob_id(after)
    return b"index %b..%b%b\n" % (old_id, new_id, mode)


def _blob_id(data: bytes) -> bytes:
    return hashlib.sha1(b"blob %d\0" % len(data) + data, usedforsecurity=False).hexdigest().encode()


def _split_lines(data: bytes) -> list[bytes]:
    """Lines with their newline; the last may have none. `splitlines` would split at a lone CR too."""
    parts = data.split(b"\n")
    last = parts.pop()
    lines = [part + b"\n" for part in parts]
    if last:
        lines.append(last)
    return lines


def _draw_hunks(old: Sequence[bytes], new: Sequence[bytes], regions: Sequence[Region]) -> list[bytes]:
    out: list[bytes] = []
    first = 0
    heading_from = 0
    heading = b""
    while first < len(regions):
        last = first
        while last + 1 < len(regions) and regions[last + 1][0] - regions[last][1] <= 2 * _CONTEXT_LINES:
            last += 1
        lead = min(_CONTEXT_LINES, regions[first][0])
        tail = min(_CONTEXT_LINES, len(old) - regions[last][1])
        old_start, old_end = regions[first][0] - lead, regions[last][1] + tail
        new_start, new_end = regions[first][2] - lead, regions[last][3] + tail
        for number in range(old_start - 1, heading_from - 1, -1):
            match = _HEADING.match(old[number])
            if match is not None:
                heading = match[0][:_HEADING_BYTES].rstrip()
                break
        heading_from = max(heading_from, old_start)
        spans = _span(old_start, old_end), _span(new_start, new_end)
        out.append(b"@@ -%b +%b @@%b\n" % (*spans, b" " + heading if heading else b""))
        at = old_start
        for a_low, a_high, b_low, b_high in regions[first : last + 1]:
            out += [_line(b" ", old[number]) for number in range(at, a_low)]
            out += [_line(b"-", old[number]) for number in range(a_low, a_high)]
            out += [_line(b"+", new[number]) for number in range(b_low, b_high)]
            at = a_high
        out += [_line(b" ", old[number]) for number in range(at, old_end)]
        first = last + 1
    return out


def _line(mark: bytes, line: bytes) -> bytes:
    return mark + line if line.endswith(b"\n") else mark + line + b"\n\\ No newline at end of file\n"


def _span(start: int, end: int) -> bytes:
    """Lines `start` to `end` in the numbering of unified diffs: an empty span is named by the line before."""
    count = end - start
    if count == 1:
        return b"%d" % (start + 1)
    return b"%d,%d" % (start + 1 if count else start, count)


def _hunk_record(region: Region) -> Hunk:
    a_low, a_high, b_low, b_high = region
    return Hunk(
        old_start=a_low + (a_high > a_low),
        old_lines=a_high - a_low,
        new_start=b_low + (b_high > b_low),
        new_lines=b_high - b_low,
    )


def _binary_literal(data: bytes) -> bytes:
    packed = zlib.compress(data)
    lines = [b"literal %d\n" % len(data)]
    for at in range(0, len(packed), _BINARY_LINE_BYTES):
        piece = packed[at : at + _BINARY_LINE_BYTES]
        length = len(piece)
        mark = ord("A") + length - 1 if length <= 26 else ord("a") + length - 27
        lines.append(bytes([mark]) + base64.b85encode(piece, pad=True) + b"\n")
    return b"".join(lines)
