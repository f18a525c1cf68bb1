"""The process that parses source files: for each one it is sent, the outline back. `outlining` is its parent.

Input: a line with the file's suffix and size, then its bytes. Output: a line of JSON, the outline or null.
"""

from __future__ import annotations

import contextlib
import resource
import sys

from adjudge.syntax.stubs import outline_source

__all__ = ["main"]

_MEMORY_BYTES = 2 * 1024 * 1024 * 1024


def main() -> None:
    """Answer until the input ends."""
    with contextlib.suppress(ValueError, OSError):
        resource.setrlimit(resource.RLIMIT_AS, (_MEMORY_BYTES, _MEMORY_BYTES))
    source, answers = sys.stdin.buffer, sys.stdout.buffer
    while header := source.readline():
        suffix, _, size = header.decode("ascii").rstrip("\n").partition(" ")
        outline = outline_source(f"source{suffix}", source.read(int(size)))
        answers.write((b"null" if outline is None else outline.model_dump_json().encode()) + b"\n")
        answers.flush()


if __name__ == "__main__":
    main()
