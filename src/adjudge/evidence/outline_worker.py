"""The process that parses source files: for each one it is sent, the outline back. `outlining` is its parent.

Input: a line with what is wanted (`functions`, `tests`, `harness`, `examples`, `product` or `probes`), the
suffix of the file and its size, for `product` its path and the lines in question too, for `probes` the first
number and where probes speak to, then its bytes.
Output: a line of JSON, the outline or null.
For `change` there are suffix, size and bytes of both sides, and a list of two outlines of tests.
"""

from __future__ import annotations

import contextlib
import resource
import sys
from collections.abc import Callable, Mapping
from urllib.parse import unquote

from adjudge.records.base import Record
from adjudge.syntax.harness.outline import outline_harness
from adjudge.syntax.probes.writing import probe_source
from adjudge.syntax.productcode.outline import outline_examples, outline_product
from adjudge.syntax.productcode.reading import LineRanges
from adjudge.syntax.stubs import outline_source
from adjudge.syntax.testcode.outline import outline_change, outline_tests

__all__ = ["main"]

_READERS: Mapping[str, Callable[[str, bytes], Record | None]] = {
    "functions": outline_source,
    "tests": outline_tests,
    "harness": outline_harness,
    "examples": outline_examples,
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
        data = source.read(int(size))
        outline: Record | None
        if what == "product":
            outline = outline_product(unquote(more[0]), data, ranges=_ranges(more[1]))
        elif what == "probes":
            outline = probe_source(f"source{suffix}", data, first=int(more[0]), target=more[1])
        else:
            outline = _READERS[what](f"source{suffix}", data)
        answers.write((b"null" if outline is None else outline.model_dump_json().encode()) + b"\n")
        answers.flush()


def _ranges(text: str) -> LineRanges | None:
    if text == "all":
        return None
    spans = [] if text == "none" else [span.partition("-") for span in text.split(",")]
    return [(int(first), int(last)) for first, _, last in spans]


if __name__ == "__main__":
    main()
