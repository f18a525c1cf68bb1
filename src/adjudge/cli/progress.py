"""What `adjudge run` shows while it works: a live block on a terminal, plain lines elsewhere, or events.

All of it goes to stderr but the JSON events, which are data and go to stdout.
"""

from __future__ import annotations

import json
import sys
import threading
import time
from datetime import UTC, datetime
from types import TracebackType
from typing import Any, Protocol, Self, TextIO

from adjudge.cli.console import erase_lines, is_live, paint_for, width_of
from adjudge.records.evaluation import Evaluation
from adjudge.records.run import Run
from adjudge.records.score import Verdict
from adjudge.reports.plain import plain
from adjudge.workflows.runevents import EventKind, RunEvent, Tally, agent_label, counting_gate

__all__ = ["Progress", "progress_for", "render_cost", "render_duration"]

_TICK_S = 1.0


class Progress(Protocol):
    """Shows what happens. A context manager, so that nothing is left half drawn."""

    def __call__(self, event: RunEvent) -> None:
        """Take an event in."""

    def __enter__(self) -> Self: ...

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None: ...


def progress_for(*, quiet: bool, as_json: bool) -> Progress:
    """What fits the options and where the output goes."""
    if as_json:
        return _Events()
    if quiet:
        return _Quiet()
    return _LiveBlock(sys.stderr) if is_live(sys.stderr) else _Lines(sys.stderr)


def render_cost(tally: Tally) -> str:
    """What was spent, as far as it is known; empty when nothing is."""
    known = tally.graded - tally.unknown_cost
    if not known:
        return ""
    unknown = f" + {tally.unknown_cost} unknown" if tally.unknown_cost else ""
    return f"${tally.cost_usd:.2f}{unknown}"


def render_duration(seconds: float) -> str:
    """A time for people."""
    if seconds < 60:
        return f"{seconds:.0f} s"
    if seconds < 3600:
        return f"{seconds / 60:.0f} min"
    return f"{seconds / 3600:.1f} h"


class _Quiet:
    """Shows what must not be missed."""

    def __init__(self, stream: TextIO | None = None) -> None:
        self._stream = stream or sys.stderr
        self._tally = Tally(total=0)
        self._lock = threading.Lock()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        pass

    def __call__(self, event: RunEvent) -> None:
        """Take an event in."""
        with self._lock:
            self._count(event)
            line = self._line(event)
            if line:
                self._write(line)

    def _count(self, event: RunEvent) -> None:
        if event.experiment is not None:
            self._tally.total = len(event.experiment.matrix)
        if event.kind is EventKind.GRADED and event.run is not None and event.evaluation is not None:
            self._tally.add(event.run, event.evaluation, kept=event.kept)
        elif event.kind is EventKind.FAULT and event.run is not None:
            self._tally.add_fault(event.run)

    def _write(self, line: str) -> None:
        self._stream.write(line + "\n")
        self._stream.flush()

    def _line(self, event: RunEvent) -> str:
        match event.kind:
            case EventKind.CAPPED:
                return f"cost cap reached: {event.message}; no further run is started"
            case EventKind.DRAINING:
                return "finishing the runs that are under way; Ctrl-C once more stops them"
            case EventKind.FAULT:
                return f"{self._where()} fault   {_named(event.run)}: {plain(event.message)}"
        return ""

    def _where(self) -> str:
        width = len(str(self._tally.total))
        return f"[{self._tally.done:>{width}}/{self._tally.total}]"


class _Lines(_Quiet):
    """A line for each run that ends, and for what happens beside."""

    def _line(self, event: RunEvent) -> str:
        match event.kind:
            case EventKind.BEGUN | EventKind.NOTE:
                return plain(event.message)
            case EventKind.RETRY:
                return f"again: {_named(event.run)}: {plain(event.message)}"
            case EventKind.GRADED if (
                not event.kept and event.run is not None and event.evaluation is not None
            ):
                return self._graded(event.run, event.evaluation)
        return super()._line(event)

    def _graded(self, run: Run, evaluation: Evaluation) -> str:
        verdict = counting_gate(run, evaluation).verdict
        word = paint_for(self._stream)(f"{verdict:<7}", verdict)
        return f"{self._where()} {word} {_named(run)}  {_facts(run, evaluation)}"


class _LiveBlock(_Lines):
    """The lines of those that ended, and below them a block that shows the rest and is drawn over."""

    def __init__(self, stream: TextIO) -> None:
        super().__init__(stream)
        self._drawn = 0
        self._began = time.monotonic()
        self._active: dict[str, tuple[Run, str, float]] = {}
        self._over = threading.Event()
        self._ticking = threading.Thread(target=self._tick, daemon=True)

    def __enter__(self) -> Self:
        self._ticking.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._over.set()
        self._ticking.join()
        with self._lock:
            self._stream.write(erase_lines(self._drawn))
            self._stream.flush()
            self._drawn = 0

    def _tick(self) -> None:
        while not self._over.wait(_TICK_S):
            with self._lock:
                self._redraw("")

    def __call__(self, event: RunEvent) -> None:
        """Take an event in."""
        with self._lock:
            self._count(event)
            run = event.run
            if run is not None:
                if event.kind is EventKind.PHASE:
                    self._active[run.id] = (run, event.phase, time.monotonic())
                elif event.kind in (EventKind.GRADED, EventKind.FAULT):
                    self._active.pop(run.id, None)
            self._redraw(self._line(event))

    def _redraw(self, line: str) -> None:
        block = self._block()
        said = f"{line}\n" if line else ""
        self._stream.write(erase_lines(self._drawn) + said + "".join(f"{row}\n" for row in block))
        self._stream.flush()
        self._drawn = len(block)

    def _block(self) -> list[str]:
        if not self._tally.total:
            return []
        width = width_of(self._stream)
        rows = [self._header()]
        now = time.monotonic()
        for run, phase, since in self._active.values():
            rows.append(f"  {phase:<10} {_named(run)}  {render_duration(now - since)}")
        return [row[: width - 1] for row in rows]

    def _header(self) -> str:
        tally = self._tally
        counts = [f"{verdict} {tally.counting[verdict]}" for verdict in Verdict if tally.counting[verdict]]
        if tally.faults:
            counts.append(f"faults {tally.faults}")
        parts = [f"{tally.done}/{tally.total} runs", *counts, render_cost(tally), self._eta()]
        return "  ".join(part for part in parts if part)

    def _eta(self) -> str:
        made = self._tally.done - self._tally.kept
        if not made or not self._tally.left:
            return ""
        left_s = (time.monotonic() - self._began) / made * self._tally.left
        return f"about {render_duration(left_s)} left"


class _Events(_Quiet):
    """One JSON object on a line for everything that happens, to stdout."""

    def _line(self, event: RunEvent) -> str:
        document: dict[str, Any] = {"event": event.kind.value, "at": datetime.now(UTC).isoformat()}
        if event.experiment is not None:
            document["experiment"] = {
                "id": event.experiment.id,
                "name": event.experiment.name,
                "runs": len(event.experiment.matrix),
            }
        if event.run is not None:
            document["run"] = _run_document(event.run)
        for name in ("phase", "message"):
            if getattr(event, name):
                document[name] = getattr(event, name)
        if event.evaluation is not None:
            document["evaluation"] = {
                "id": event.evaluation.id,
                "gates": event.evaluation.gates.model_dump(mode="json"),
                "score": event.evaluation.score,
            }
            document["kept"] = event.kept
        return json.dumps(document, ensure_ascii=True)

    def _write(self, line: str) -> None:
        sys.stdout.write(line + "\n")
        sys.stdout.flush()


def _run_document(run: Run) -> dict[str, Any]:
    outcome = run.attempt.outcome if run.attempt is not None else None
    return {
        "id": run.id,
        "task": run.task.model_dump(mode="json"),
        "agent": run.agent.name,
        "model": run.model,
        "trial": run.trial,
        "status": run.status.value,
        "outcome": None if outcome is None else outcome.status.value,
        "cost_usd": None if outcome is None else outcome.usage.cost_usd,
    }


def _named(run: Run | None) -> str:
    if run is None:
        return ""
    trial = f" #{run.trial}" if run.trial > 1 else ""
    return f"{run.id}  {plain(run.task.name)}  {plain(agent_label(run))}{trial}"


def _facts(run: Run, evaluation: Evaluation) -> str:
    gates = evaluation.gates
    facts: list[str] = []
    if evaluation.score is not None:
        facts.append(f"score {evaluation.score:.3g}")
    if gates.judge.verdict is not Verdict.NA:
        facts.append(f"judge {gates.judge.verdict}")
    if gates.run.verdict is not Verdict.PASS:
        facts.append(f"run {gates.run.verdict}: {plain(gates.run.reason)}")
    outcome = run.attempt.outcome if run.attempt is not None else None
    if outcome is not None:
        facts.append(render_duration(outcome.wall_s))
        if outcome.usage.cost_usd is not None:
            facts.append(f"${outcome.usage.cost_usd:.2f}")
    return "  ".join(facts)
