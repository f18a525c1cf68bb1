"""Outlines of source files, parsed in a child process with a time limit for each file.

Recovering from syntax errors can take a parser for ever, and it is C code reading what a stranger wrote. A
file whose parsing takes too long or ends the child has no outline; the next file gets a new child.
"""

from __future__ import annotations

import os
import selectors
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from types import TracebackType
from typing import Self
from urllib.parse import quote_from_bytes

from pydantic import TypeAdapter

from adjudge.errors import InfraError
from adjudge.evidence.parsers import NO_FORK, Parser, start_parser
from adjudge.records.harness import HarnessOutline
from adjudge.records.nearby import NearSource
from adjudge.records.paths import path_bytes
from adjudge.records.productcode import ExampleOutline, ProductOutline
from adjudge.records.routes import ProbedSource
from adjudge.records.source import SourceOutline
from adjudge.records.testcode import SuiteOutline
from adjudge.syntax.grammars import MAX_SOURCE_BYTES, grammar_of
from adjudge.syntax.productcode.reading import LineRanges

__all__ = ["OutlineUnavailable", "Outliner", "outlining"]

_FILE_WITHIN_S = 20.0
"""An honest file of the largest size takes about a second on a busy machine."""
_BOTH: TypeAdapter[tuple[SuiteOutline | None, SuiteOutline | None]] = TypeAdapter(
    tuple[SuiteOutline | None, SuiteOutline | None]
)
_MAX_LATE = 3
"""Files that may take too long. Nobody has so many by accident, and each costs its time."""
_MAX_REPLY_BYTES = 64 * 1024 * 1024


class OutlineUnavailable(Exception):
    """A file has no outline; the message says why."""


class Outliner:
    """A context manager that keeps one child for many files, and for all who look at them in turn."""

    def __init__(self, *, file_within_s: float = _FILE_WITHIN_S) -> None:
        self._file_within_s = file_within_s
        self._child: Parser | None = None
        self._late = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._end()

    def close(self) -> None:
        """End the child; another is started when a file is asked for again."""
        self._end()

    def warm(self, paths: Iterable[str]) -> None:
        """Start the child, which takes a moment, if any of the files may be asked for."""
        if self._child is None and any(grammar_of(path) is not None for path in paths):
            # Where there is no process to be had, whoever asks is told so.
            with suppress(InfraError):
                self._child = start_parser()

    def renew(self) -> None:
        """Forget files that took too long: whoever comes next is not to be blinded by them."""
        self._late = 0

    def outline(self, path: str, source: bytes) -> SourceOutline | None:
        """The outline of a file; None when it is of no language that is looked into.

        Raises:
            OutlineUnavailable: It is too large, or takes too long to parse.
            InfraError: There is no process to parse it in.
        """
        reply = self._asked("functions", path, source)
        return None if reply is None else SourceOutline.model_validate_json(reply)

    def outline_tests(self, path: str, source: bytes) -> SuiteOutline | None:
        """What a test file checks; None when tests of its language are not read by their syntax.

        Raises:
            OutlineUnavailable: It is too large, or takes too long to parse.
            InfraError: There is no process to parse it in.
        """
        reply = self._asked("tests", path, source)
        return None if reply is None else SuiteOutline.model_validate_json(reply)

    def outline_change(
        self, old_path: str, before: bytes, path: str, after: bytes
    ) -> tuple[SuiteOutline | None, SuiteOutline | None]:
        """What a test file checks before and after, without tests that are the same on both sides.

        Raises:
            OutlineUnavailable: A side is too large, or they take too long to parse.
            InfraError: There is no process to parse them in.
        """
        if max(len(before), len(after)) > MAX_SOURCE_BYTES:
            raise OutlineUnavailable(f"larger than {MAX_SOURCE_BYTES // 1024:,} KiB")
        old, new = (one[one.rindex(".") :] for one in (old_path, path))
        header = f"change {old} {len(before)} {new} {len(after)}\n".encode("ascii")
        reply = _BOTH.validate_json(self._exchange(header + before + after))
        return reply[0], reply[1]

    def outline_harness(self, path: str, source: bytes) -> HarnessOutline | None:
        """What code around tests does to a run; None when its language is not read by its syntax.

        Raises:
            OutlineUnavailable: It is too large, or takes too long to parse.
            InfraError: There is no process to parse it in.
        """
        reply = self._asked("harness", path, source)
        return None if reply is None else HarnessOutline.model_validate_json(reply)

    def outline_product(
        self, path: str, source: bytes, ranges: LineRanges | None = None
    ) -> ProductOutline | None:
        """What a file of product code does and answers; with ranges of lines, what touches one of them.

        Raises:
            OutlineUnavailable: It is too large, or takes too long to parse.
            InfraError: There is no process to parse it in.
        """
        spans = "all" if ranges is None else ",".join(f"{first}-{last}" for first, last in ranges) or "none"
        named = quote_from_bytes(path_bytes(path))
        reply = self._asked("product", path, source, f" {named} {spans}")
        return None if reply is None else ProductOutline.model_validate_json(reply)

    def outline_examples(self, path: str, source: bytes) -> ExampleOutline | None:
        """The examples that a test file writes down.

        Raises:
            OutlineUnavailable: It is too large, or takes too long to parse.
            InfraError: There is no process to parse it in.
        """
        reply = self._asked("examples", path, source)
        return None if reply is None else ExampleOutline.model_validate_json(reply)

    def probe(self, path: str, source: bytes, *, first: int, target: str) -> ProbedSource | None:
        """Where probes go in a file; None where they cannot be put in.

        Args:
            path: Its path.
            source: What it holds.
            first: The number of its first probe.
            target: The file that probes speak to, without blanks.

        Raises:
            OutlineUnavailable: It is too large, or takes too long to parse.
            InfraError: There is no process to parse it in.
        """
        reply = self._asked("probes", path, source, f" {first} {target}")
        return None if reply is None else ProbedSource.model_validate_json(reply)

    def near(
        self, path: str, source: bytes, *, first: int, turn: int, target: str, seed: str, generic: bool
    ) -> NearSource | None:
        """A test file with other inputs that writes answers down; None where that cannot be made of it.

        Args:
            path: Its path.
            source: What it holds.
            first: The number of its first place that writes something down.
            turn: Which inputs; 0 for its own.
            target: The file that answers go to, without blanks.
            seed: Fixes what is chosen, without blanks.
            generic: Whether its version of Go has type parameters.

        Raises:
            OutlineUnavailable: It is too large, or takes too long to parse.
            InfraError: There is no process to parse it in.
        """
        more = f" {first} {turn} {target} {seed} {int(generic)}"
        reply = self._asked("near", path, source, more)
        return None if reply is None else NearSource.model_validate_json(reply)

    def _asked(self, what: str, path: str, source: bytes, more: str = "") -> bytes | None:
        if grammar_of(path) is None:
            return None
        if len(source) > MAX_SOURCE_BYTES:
            raise OutlineUnavailable(f"larger than {MAX_SOURCE_BYTES // 1024:,} KiB")
        if self._late >= _MAX_LATE:
            raise OutlineUnavailable(f"{self._late} files before it could not be parsed")
        suffix = path[path.rindex(".") :]
        reply = self._exchange(f"{what} {suffix} {len(source)}{more}\n".encode("ascii") + source)
        return None if reply == b"null\n" else reply

    def _exchange(self, question: bytes) -> bytes:
        child = self._child = self._child or start_parser()
        deadline = time.monotonic() + self._file_within_s
        pending = memoryview(question)
        answer = bytearray()
        with selectors.DefaultSelector() as selector:
            selector.register(child.questions, selectors.EVENT_WRITE)
            selector.register(child.answers, selectors.EVENT_READ)
            while not answer.endswith(b"\n"):
                ready = selector.select(max(0.0, deadline - time.monotonic()))
                if not ready or len(answer) > _MAX_REPLY_BYTES:
                    self._end()
                    self._late += 1
                    raise OutlineUnavailable(f"takes more than {self._file_within_s:g} s to parse")
                for key, _ in ready:
                    if key.fd == child.answers:
                        data = os.read(key.fd, 65536)
                        if not data:
                            self._end()
                            self._late += 1
                            raise OutlineUnavailable("ended the parser")
                        answer += data
                        continue
                    try:
                        pending = pending[os.write(key.fd, pending[:65536]) :]
                    except BrokenPipeError:
                        pending = pending[:0]
                    if not pending:
                        selector.unregister(child.questions)
        if answer.startswith(NO_FORK):
            self._end()
            raise InfraError(f"no process to parse source files in: {answer[len(NO_FORK) : -1].decode()}")
        return bytes(answer)

    def _end(self) -> None:
        child, self._child = self._child, None
        if child is not None:
            child.end()


@contextmanager
def outlining(shared: Outliner | None) -> Iterator[Outliner]:
    """An outliner for one collector: the grading's, or one of its own that ends with the block."""
    if shared is not None:
        shared.renew()
        yield shared
        return
    with Outliner() as own:
        yield own
