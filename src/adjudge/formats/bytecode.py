"""Compiled Python: whether a file of it may be of another source than the one beside it.

Nothing is loaded and nothing decoded: what a source names stands as it is in what was compiled from it.
"""

from __future__ import annotations

import re
from pathlib import PurePosixPath
from typing import Final

__all__ = ["differs_from_source", "is_bytecode", "source_of"]

_HEADER_BYTES: Final = 16
_UNCHECKED: Final = 0b01
"""By its hash, which nobody compares: what such a file says is believed for good."""
_COMMENT: Final = re.compile(rb"#[^\n]*")
_DEFINED: Final = re.compile(rb"\b(?:def|class)\s+([A-Za-z_]\w*)")
_CALLED: Final = re.compile(rb"\.([A-Za-z_]\w{2,})\s*\(")
_MISSING: Final = 0.2
"""Of the names that are called. Code that is never reached is not compiled."""


def is_bytecode(path: str) -> bool:
    """Whether a path is one of compiled Python."""
    return path.endswith((".pyc", ".pyo"))


def source_of(path: str) -> str:
    """Where the source of a compiled file lies: `test_a.py` for `__pycache__/test_a.cpython-311.pyc`."""
    place = PurePosixPath(path)
    folder = place.parent.parent if place.parent.name == "__pycache__" else place.parent
    return str(folder / f"{place.name.partition('.')[0]}.py")


def differs_from_source(source: bytes, compiled: bytes) -> bool:
    """Whether compiled code lacks names of its source, or is made never to be compared with it."""
    if len(compiled) < _HEADER_BYTES:
        return False  # No interpreter loads that.
    flags = int.from_bytes(compiled[4:8], "little")
    if flags & 0b11 == _UNCHECKED:
        return True
    code = _COMMENT.sub(b"", source)
    if any(name not in compiled for name in set(_DEFINED.findall(code))):
        return True
    called = set(_CALLED.findall(code))
    return sum(name not in compiled for name in called) > _MISSING * len(called)
