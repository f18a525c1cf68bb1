"""The process that parses source files: for each one it is sent, the outline back. `outlining` is its parent.

It loads the readers and is then forked by `parsers`, once for each grading; only the forks parse. A fork has:
Input: a line with what is wanted (`functions`, `tests`, `harness`, `examples`, `product`, `probes` or
`near`), the suffix of the file and its size, for `product` its path and the lines in question too, for
`probes` the first number and where probes speak to, for `near` these and what is chosen, then its bytes.
Output: a line of JSON, the outline or null.
For `change` there are suffix, size and bytes of both sides, and a list of two outlines of tests.
"""

from __future__ import annotations

import contextlib
import os
import resource
import signal
import socket
import sys
from collections.abc import Callable, Mapping
from functools import cache
from typing import BinaryIO
from urllib.parse import unquote

from adjudge.evidence.parsers import MESSAGE, NO_FORK
from adjudge.records.base import Record
from adjudge.syntax.harness.outline import outline_harness
from adjudge.syntax.nearby.writing import near_source
from adjudge.syntax.probes.writing import probe_source
from adjudge.syntax.productcode.outline import outline_examples, outline_product
from adjudge.syntax.productcode.reading import LineRanges
from adjudge.syntax.stubs import outline_source
from adjudge.syntax.testcode.outline import outline_change, outline_tests

__all__ = ["answer", "main"]

_READERS: Mapping[str, Callable[[str, bytes], Record | None]] = {
    "functions": outline_source,
    "tests": outline_tests,
    "harness": outline_harness,
    "examples": outline_examples,
}
_MEMORY_BYTES = 2 * 1024 * 1024 * 1024


def main() -> None:
    """Be forked for whoever asks at the other end of the standard input, until that is closed."""
    control = socket.socket(fileno=sys.stdin.fileno())
    forks: dict[int, int] = {}
    while True:
        message, descriptors, _, _ = socket.recv_fds(control, MESSAGE.size, 2)
        if len(message) < MESSAGE.size:
            break
        what, number = MESSAGE.unpack(message)
        if what == b"s":
            if forks or number > 1:
                _prepare()
            questions, answers = descriptors
            pid = _fork(control, questions, answers)
            if pid is not None:
                forks[number] = pid
            os.close(questions)
            os.close(answers)
        elif number in forks:
            _end(forks.pop(number))
    for pid in forks.values():
        _end(pid)


def _fork(control: socket.socket, questions: int, answers: int) -> int | None:
    try:
        pid = os.fork()
    except OSError as error:
        os.write(
            answers, NO_FORK + (error.strerror or "it cannot be forked").encode("ascii", "replace") + b"\n"
        )
        return None
    if pid == 0:
        # Whatever happens here must not come back into the loop of the stem.
        try:
            control.detach()
            os.close(sys.stdin.fileno())
            with open(questions, "rb") as source, open(answers, "wb") as sink:
                answer(source, sink)
        finally:
            os._exit(0)
    return pid


def _end(pid: int) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)


@cache
def _prepare() -> None:
    """Do what the first file would have to wait for. Worth it where there is more than one grading."""
    pending = [Record]
    while pending:
        kinds = pending.pop().__subclasses__()
        pending += kinds
        for kind in kinds:
            kind.model_rebuild()


def answer(source: BinaryIO, answers: BinaryIO) -> None:
    """Answer until the input ends."""
    with contextlib.suppress(ValueError, OSError):
        resource.setrlimit(resource.RLIMIT_AS, (_MEMORY_BYTES, _MEMORY_BYTES))
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
        elif what == "near":
            first, turn, target, seed, generic = more
            outline = near_source(
                f"source{suffix}",
                data,
                first=int(first),
                turn=int(turn),
                target=target,
                seed=seed,
                generic=generic == "1",
            )
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
