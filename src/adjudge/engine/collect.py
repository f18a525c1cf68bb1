"""Collecting evidence: each request once, cheap before costly, every failure kept beside its request.

Only requests that run code or ask a model wait for anything; they are collected in
`adjudge.engine.concurrent`, so that a grading without them never imports an event loop.
"""

from __future__ import annotations

import time
from collections.abc import Coroutine, Iterable, Mapping
from typing import Any, NamedTuple, TypeVar

from adjudge.contracts import Collector, Subject
from adjudge.errors import AdjudgeError, InfraError, SandboxUnavailable, SubjectError
from adjudge.records.base import Record
from adjudge.records.evidence import AnyRequest

__all__ = ["RUNS_CODE", "Gathered", "Piece", "collect_at_once", "collect_one"]

RUNS_CODE = 2
"""The `Collector.cost` from which collecting waits for something."""

T = TypeVar("T")


class Piece(NamedTuple):
    """What became of one request: the answer, or why there is none."""

    answer: Record | None
    error: AdjudgeError | None
    duration_s: float
    warning: str = ""
    """What a reader should know although there is an answer, such as a first try that failed."""


Gathered = Mapping[str, Piece]
"""Request digest → what became of it."""


async def collect_one(collector: Collector, request: AnyRequest, subject: Subject) -> Piece:
    """Collect one piece; our own failure is tried once more, and no failure leaves this function."""
    began = time.perf_counter()
    first: AdjudgeError | None = None
    while True:
        try:
            answer = await collector.collect(request, subject)
        except SubjectError as error:
            return Piece(None, error, time.perf_counter() - began)
        except Exception as error:
            ours = _classified(collector, error)
            if first is None and not isinstance(ours, SandboxUnavailable):
                first = ours
                continue
            return Piece(None, ours, time.perf_counter() - began)
        warning = f"{request.kind}: succeeded only when tried again: {first.message}" if first else ""
        return Piece(answer, None, time.perf_counter() - began, warning)


def collect_at_once(
    wanted: Iterable[tuple[str, AnyRequest]], collectors: Mapping[str, Collector], subject: Subject
) -> dict[str, Piece]:
    """Collect what does not wait for anything, one after another."""
    return {
        digest: _finished(collect_one(collectors[request.kind], request, subject))
        for digest, request in wanted
    }


def _finished(work: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine that never suspends to its end."""
    try:
        work.send(None)
    except StopIteration as stop:
        result: T = stop.value
        return result
    finally:
        work.close()
    raise RuntimeError("a collector of cost 0 or 1 waited for something")


def _classified(collector: Collector, error: Exception) -> AdjudgeError:
    if isinstance(error, AdjudgeError):
        return error
    ours = InfraError(f"collecting {collector.kind} failed: {type(error).__name__}: {error}")
    ours.__cause__ = error
    return ours
