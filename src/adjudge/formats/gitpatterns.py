"""git's path patterns: `.gitignore` and the pattern half of `.gitattributes`, as git reads them.

Owns parsing and matching only; which files' patterns count is decided in `litter` and `checkout`. Matching
cannot be made slow by a name: within one path component only the last star backtracks.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass

__all__ = ["IgnoreFile", "Pattern", "component_expression", "parse_ignore_file", "parse_pattern"]

_GLOB = re.compile(rb"[*?\[\\]")
_POSIX_CLASSES = {
    b"alnum": rb"0-9A-Za-z", b"alpha": rb"A-Za-z", b"blank": rb" \t", b"cntrl": rb"\x00-\x1f\x7f",
    b"digit": rb"0-9", b"graph": rb"!-~", b"lower": rb"a-z", b"print": rb" -~",
    b"punct": rb"!-/:-@\[-`{-~", b"space": rb" \t\n\r\f\v", b"upper": rb"A-Z", b"xdigit": rb"0-9A-Fa-f",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Pattern:
    """One pattern, relative to the directory whose file it stands in."""

    negated: bool
    directories_only: bool
    matches: Callable[[bytes, bytes], bool]
    """Whether it matches an entry, given its path relative to the pattern's directory and its base name."""


@dataclass(frozen=True, slots=True)
class IgnoreFile:
    """The patterns of one `.gitignore`, in order."""

    patterns: tuple[Pattern, ...]

    def decide(self, path: bytes, *, is_directory: bool) -> bool | None:
        """Whether the file ignores (True) or re-includes (False) a path; None when it says nothing."""
        name = path.rpartition(b"/")[2]
        for pattern in reversed(self.patterns):
            if (is_directory or not pattern.directories_only) and pattern.matches(path, name):
                return not pattern.negated
        return None


def parse_ignore_file(data: bytes) -> IgnoreFile:
    """Read a `.gitignore`."""
    return IgnoreFile(tuple(_parse_lines(data.removeprefix(b"\xef\xbb\xbf").split(b"\n"))))


def _parse_lines(lines: Iterable[bytes]) -> Iterable[Pattern]:
    for line in lines:
        text = _strip_trailing_spaces(line.removesuffix(b"\r"))
        if text.startswith(b"#"):
            continue
        negated = text.startswith(b"!")
        pattern = parse_pattern(text[1:] if negated else text, negated=negated)
        if pattern is not None:
            yield pattern


def parse_pattern(text: bytes, *, negated: bool = False) -> Pattern | None:
    """Read one pattern; None when it can match nothing."""
    directories_only = text.endswith(b"/")
    if directories_only:
        text = text[:-1]
    anchored = b"/" in text
    text = text.removeprefix(b"/")
    if not text:
        return None
    if not _GLOB.search(text):
        literal = text
        matches = (lambda path, _: path == literal) if anchored else (lambda _, name: name == literal)
    elif not anchored and text[:1] == b"*" and not _GLOB.search(text[1:]):
        suffix = text[1:]
        matches = lambda _, name: name.endswith(suffix)  # noqa: E731 - the two shapes read side by side
    else:
        matcher = _Glob(text)
        matches = (lambda path, _: matcher(path)) if anchored else (lambda _, name: matcher(name))
    return Pattern(negated, directories_only, matches)


class _Glob:
    """A pattern with wildcards, compiled when it is first needed: most are never asked."""

    __slots__ = ("_compiled", "_text")

    def __init__(self, text: bytes) -> None:
        self._text = text
        self._compiled: re.Pattern[bytes] | None = None

    def __call__(self, subject: bytes) -> bool:
        if self._compiled is None:
            translated = _translate(self._text)
            self._compiled = re.compile(rb"(?!)" if translated is None else translated, re.DOTALL)
        return self._compiled.fullmatch(subject) is not None


def _translate(text: bytes) -> bytes | None:
    """The pattern as a regular expression; None when it is malformed and matches nothing."""
    parts = text.split(b"/")
    out: list[bytes] = []
    last = len(parts) - 1
    for number, part in enumerate(parts):
        if part == b"**" and last > 0:
            out.append(rb".*" if number == last else rb"(?:.*/)?")
            continue
        translated = component_expression(part)
        if translated is None:
            return None
        out.append(translated)
        if number != last:
            out.append(b"/")
    return b"".join(out)


def component_expression(part: bytes) -> bytes | None:
    """The regular expression of a pattern for one path component; None when it is malformed.

    The fixed pieces between stars are found leftmost and then kept (atomically).
    """
    pieces: list[bytes] = [b""]
    at = 0
    while at < len(part):
        char = part[at : at + 1]
        at += 1
        if char == b"*":
            pieces.append(b"")
        elif char == b"?":
            pieces[-1] += rb"[^/]"
        elif char == b"\\":
            if at == len(part):
                return None
            pieces[-1] += re.escape(part[at : at + 1])
            at += 1
        elif char == b"[":
            parsed = _translate_class(part, at)
            if parsed is None:
                return None
            expression, at = parsed
            pieces[-1] += expression
        else:
            pieces[-1] += re.escape(char)
    if len(pieces) == 1:
        return pieces[0]
    middle = b"".join(rb"(?>[^/]*?%b)" % piece for piece in pieces[1:-1] if piece)
    return pieces[0] + middle + rb"[^/]*" + pieces[-1]


def _translate_class(part: bytes, at: int) -> tuple[bytes, int] | None:
    """A bracket expression starting after its `[`: its regular expression and where it ends."""
    negated = part[at : at + 1] in (b"!", b"^")
    at += negated
    body: list[bytes] = []
    first = True
    while True:
        char = part[at : at + 1]
        if not char:
            return None
        if char == b"]" and not first:
            at += 1
            break
        first = False
        if part[at : at + 2] == b"[:":
            end = part.find(b":]", at + 2)
            if end < 0:
                return None
            members = _POSIX_CLASSES.get(part[at + 2 : end])
            if members is None:
                return None
            body.append(members)
            at = end + 2
            continue
        low, at = _class_member(part, at)
        if low is None:
            return None
        if part[at : at + 1] == b"-" and part[at + 1 : at + 2] not in (b"", b"]"):
            high, at = _class_member(part, at + 1)
            if high is None:
                return None
            if low <= high:
                body.append(b"%b-%b" % (re.escape(low), re.escape(high)))
            continue
        body.append(re.escape(low))
    inside = b"".join(body)
    if negated:
        return (rb"[^/%b]" % inside), at
    return (rb"(?!/)[%b]" % inside if inside else rb"(?!)"), at


def _class_member(part: bytes, at: int) -> tuple[bytes | None, int]:
    if part[at : at + 1] == b"\\":
        at += 1
    char = part[at : at + 1]
    return (char or None), at + 1


def _strip_trailing_spaces(line: bytes) -> bytes:
    """Drop trailing spaces, but not one that a backslash protects."""
    end = len(line)
    while end and line[end - 1 : end] == b" ":
        backslashes = len(line[: end - 1]) - len(line[: end - 1].rstrip(b"\\"))
        if backslashes % 2:
            break
        end -= 1
    return line[:end]
