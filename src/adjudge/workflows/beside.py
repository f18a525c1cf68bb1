"""What comes with an attempt beside its changes: the trace and the last response, handed in as files."""

from __future__ import annotations

import os
from pathlib import Path

from adjudge import catalog
from adjudge.contracts import TraceSource
from adjudge.errors import ConfigInvalid, InfraError, SubjectError
from adjudge.formats.traces.recorded import trace_file
from adjudge.gates.run import no_agent_ran, trace_given
from adjudge.records.evaluation import GateResult
from adjudge.records.task import RunLimits
from adjudge.records.trace import MAX_TEXT, clip_text

__all__ = ["gate_of_trace", "open_trace", "read_response"]


def open_trace(path: str | Path | None, format: str | None) -> TraceSource | None:
    """The trace in a file; None when none is named.

    Raises:
        ConfigInvalid: There is no such file.
        PluginNotFound: `format` names no format.
    """
    if format is not None:
        catalog.load("traceformats", format)
    return None if path is None else trace_file(path, format=format)


def read_response(path: str | Path | None) -> str | None:
    """The response in a file, its middle left out when it is long; None when none is named.

    Raises:
        ConfigInvalid: It cannot be read.
    """
    if path is None:
        return None
    try:
        if not os.path.isfile(path):
            raise ConfigInvalid(f"response {path} is not a file")
        with open(path, "rb") as stream:
            data = stream.read(4 * MAX_TEXT)
            size = os.fstat(stream.fileno()).st_size
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else str(error)
        raise ConfigInvalid(f"response {path}: {reason}") from error
    text, dropped = clip_text(data.decode("utf-8", "replace"))
    left_out = dropped or size > len(data)
    return f"{text}\n[cut off]" if left_out and not dropped else text


def gate_of_trace(trace: TraceSource, given: str, limits: RunLimits) -> GateResult:
    """The run gate where no agent ran, but a trace tells what one did."""
    if limits == RunLimits():
        return no_agent_ran(given)
    try:
        summary = trace.summary()
    except (SubjectError, InfraError) as error:
        gate = no_agent_ran(given)
        return GateResult(verdict=gate.verdict, reason=f"{gate.reason}; {error.message}")
    return trace_given(given, summary, limits)
