"""The process that parses source files: for each one it is sent, the outline back. `outlining` is its parent.

Input: a line with what is wanted (`functions`, `tests` or `harness`), the file's suffix and its size, then
its bytes. Output: a line of JSON, the outline or null. For `change` there are suffix, size and bytes of both
sides, and a list of two outlines of tests.
"""

from __future__ import annotations

import contextlib
import resource
import sys
from collections.abc import Callable, Mapping

from adjudge.records.base import Record
from adjudge.syntax.harness.outline import outline_harness
from adjudge.syntax.stubs import outline_source
from adjudge.syntax.testcode.outline import outline_change, outline_tests

__all__ = ["main"]

_READERS: Mapping[str, Callable[[str, bytes], Record | None]] = {
    "functions": outline_source,
    "tests": outline_tests,
    "harness": outline_harness,
}
_MEMORY_BYTES = 2 * 1024 * 1024 * 1024


def main() -> None:
    """Answer until the input ends."""
    with contextlib.suppress(ValueError, OSError):
        resource.setrlimit(resource.RLIMIT_AS, (_MEMORY_BYTES, _MEMORY_BYTES))
    source, answers = sys.stdin.buffer, sys.stdout.buffer
    while header := source.readline():
        what, suffix, size, *more = header.decode("ascii").rstrip("\n").split(" ")
        if what == "change":
            before, after = source.read(int(size)), source.read(int(more[1]))
            both = outline_change(f"source{suffix}", before, f"source{more[0]}", after)
            texts = ["null" if one is None else one.model_dump_json() for one in both]
            answers.write(f"[{','.join(texts)}]\n".encode())
            answers.flush()
            continue
        outline = _READERS[what](f"source{suffix}", source.read(int(size)))
        answers.write((b"null" if outline is None else outline.model_dump_json().encode()) + b"\n")
        answers.flush()


if __name__ == "__main__":
    main()
