"""Texts that code puts together from texts that are written down: joined, reversed, decoded.

Only what can be worked out from what stands there is; nothing is run.
"""

from __future__ import annotations

import base64
import binascii
import codecs
import re
from collections.abc import Callable
from typing import Final

__all__ = ["folded", "unfolded"]

_Q: Final = r"""b?(["'`])((?:(?!\{q}).)*?)\{q}"""
_NUMBERS: Final = r"[\[(]?((?:0x[0-9a-fA-F]+|\d+)(?:,(?:0x[0-9a-fA-F]+|\d+))*),?[\])]?"
_MAX_ROUNDS: Final = 4
_MAX_LENGTH: Final = 2_000


def _quoted(group: int) -> str:
    return _Q.replace("{q}", str(group))


def _base64(text: str) -> str:
    return base64.b64decode(text + "=" * (-len(text) % 4)).decode("utf-8")


def _hex(text: str) -> str:
    return bytes.fromhex(text).decode("utf-8")


def _rot13(text: str) -> str:
    return codecs.decode(text, "rot13")


def _points(text: str) -> str:
    return "".join(chr(int(number, 0)) for number in text.split(",") if number)


def _parts(text: str) -> str:
    return "".join(re.findall(r"""["'`]([^"'`]*)["'`]""", text))


_FOLDS: Final[tuple[tuple[re.Pattern[str], Callable[[re.Match[str]], str]], ...]] = (
    (re.compile(rf"(?:base64\.)?(?:standard_|urlsafe_)?b64decode\({_quoted(1)}\)(?:\.decode\([^()]*\))?"),
     lambda m: _base64(m[2])),
    (re.compile(rf"\batob\({_quoted(1)}\)"), lambda m: _base64(m[2])),
    (re.compile(rf"""Buffer\.from\({_quoted(1)},["'](base64|hex)["']\)\.toString\([^()]*\)"""),
     lambda m: (_hex if m[3] == "hex" else _base64)(m[2])),
    (re.compile(rf"base64\.StdEncoding\.DecodeString\({_quoted(1)}\)"), lambda m: _base64(m[2])),
    (re.compile(rf"Base64\.(?:strict_|urlsafe_)?decode64\({_quoted(1)}\)"), lambda m: _base64(m[2])),
    (re.compile(rf"bytes\.fromhex\({_quoted(1)}\)(?:\.decode\([^()]*\))?"), lambda m: _hex(m[2])),
    (re.compile(rf"(?:binascii\.)?unhexlify\({_quoted(1)}\)(?:\.decode\([^()]*\))?"), lambda m: _hex(m[2])),
    (re.compile(rf"""codecs\.(?:de|en)code\({_quoted(1)},["']rot_?13["']\)"""), lambda m: _rot13(m[2])),
    (re.compile(rf"""["']["']\.join\(map\(chr,{_NUMBERS}\)\)"""), lambda m: _points(m[1])),
    (re.compile(rf"""["']["']\.join\([\[(]?chr\((\w+)\)\s*for\s*\1\s*in\s*{_NUMBERS}\)"""),
     lambda m: _points(m[2])),
    (re.compile(rf"bytes\({_NUMBERS}\)\.decode\([^()]*\)"), lambda m: _points(m[1])),
    (re.compile(rf"String\.fromCharCode\((?:\.\.\.)?{_NUMBERS}\)"), lambda m: _points(m[1])),
    (re.compile(rf"""{_quoted(1)}\[::-1\]"""), lambda m: m[2][::-1]),
    (re.compile(rf"""["']["']\.join\(reversed\({_quoted(1)}\)\)"""), lambda m: m[2][::-1]),
    (re.compile(rf"""(?:\[\.\.\.{_quoted(1)}\]|{_quoted(3)}\.split\(["']["']\))\.reverse\(\)\.join\(["']["']\)"""),
     lambda m: (m[2] or m[4] or "")[::-1]),
    (re.compile(rf"{_quoted(1)}\.reverse\b(?!\()"), lambda m: m[2][::-1]),
    (re.compile(r"""["']["']\.join\([\[(]((?:["'][^"']*["'],?)+)[\])]\)"""), lambda m: _parts(m[1])),
    (re.compile(r"""["']["']\.join\(\(((?:["'][^"']*["'],?)+)\)\)"""), lambda m: _parts(m[1])),
    (re.compile(r"""\[((?:["'`][^"'`]*["'`],?)+)\]\.join\((?:["'`]["'`])\)"""), lambda m: _parts(m[1])),
    (re.compile(r"""((?:["'][^"']*["']\+)+["'][^"']*["'])"""), lambda m: _parts(m[1])),
)  # fmt: skip
_WORTH: Final = re.compile(
    r"ecode|atob|Buffer\.from|fromhex|unhexlify|chr|fromCharCode|\[::-1\]|revers|\.join\(|[\"']\+[\"']"
)


_STARTS: Final = re.compile(
    r"""b?["'`]|\[|(?:base64\.)?\w*b64decode\(|atob\(|Buffer\.from\(|base64\.Std|Base64\.|bytes[.(]|(?:binascii\.)?unhexlify\("""
    r"""|codecs\.|String\.fromCharCode\("""
)


def unfolded(text: str) -> str:
    """A text without white space, with what is put together in it written as one string."""
    if len(text) > _MAX_LENGTH or not _WORTH.search(text):
        return text
    for _ in range(_MAX_ROUNDS):
        before = text
        for pattern, work in _FOLDS:
            text = pattern.sub(lambda match, work=work: _put(match, work), text)  # type: ignore[misc]
        if text == before or len(text) > _MAX_LENGTH:
            break
    return text


def folded(text: str) -> str | None:
    """The string that an expression comes to; None where it is anything else."""
    if _STARTS.match(text) is None or not _WORTH.search(text):
        return None
    packed = re.sub(r"""("[^"]*"|'[^']*'|`[^`]*`)|\s+""", lambda match: match[1] or "", text)
    found = re.fullmatch(_quoted(1), unfolded(packed), re.DOTALL)
    return found[2] if found is not None else None


def _put(match: re.Match[str], work: Callable[[re.Match[str]], str]) -> str:
    try:
        found = work(match)
    except (ValueError, OverflowError, binascii.Error):
        return match[0]
    return match[0] if '"' in found or "\n" in found else f'"{found}"'
