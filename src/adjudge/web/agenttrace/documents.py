"""What is kept of a run, as documents to take away.

Which there are follows from the run's own records; a request only ever chooses among these names.
"""

from __future__ import annotations

from typing import NamedTuple

from adjudge.records.base import BlobRef
from adjudge.reports.json import escape_json
from adjudge.workflows.inspecting import SeenRun

__all__ = ["JSON", "Document", "documents_of", "text_of"]

JSON = "application/json"
_LINES = "application/x-ndjson"
_BYTES = "application/octet-stream"


class Document(NamedTuple):
    """Something that can be downloaded."""

    name: str
    """In its address."""
    title: str
    said: str
    filename: str
    """What it is called on the reader's disk; ours, never the attempt's."""
    kind: str
    """A content type that no browser runs."""
    ref: BlobRef | None = None
    """Where its bytes are; None: it is made of records."""


def documents_of(seen: SeenRun) -> tuple[Document, ...]:
    """Every document there is."""
    short = seen.run.id[:12]
    found = [Document("run", "run.json", "the run's record", f"run-{short}.json", JSON)]
    if seen.evaluation is not None:
        named = f"evaluation-{seen.evaluation.id[:12]}.json"
        found.insert(0, Document("evaluation", "evaluation.json", "the evaluation document", named, JSON))
    if seen.task is not None:
        said = "the task as it was frozen: instruction, recipe, files by digest"
        found.append(Document("task", "task.json", said, f"task-{short}.json", JSON))
    attempt = seen.run.attempt
    outcome = None if attempt is None else attempt.outcome
    kept: list[tuple[str, str, str, str, str, BlobRef | None]] = []
    if attempt is not None:
        changes = attempt.change_set
        kept += [
            ("diff", "changes.diff", "what it changed, in git's format", "diff", _BYTES,
             None if changes is None else changes.diff),
            ("trace", "trace.jsonl", "how the agent worked, in adjudge's form", "trace.jsonl", _LINES,
             attempt.trace),
            ("transcript", "transcript.jsonl", "what user and agent said, turn by turn", "transcript.jsonl",
             _LINES, attempt.transcript),
            ("archive", "changes.tar", "every new or changed file", "changes.tar", _BYTES,
             None if attempt.changes is None else attempt.changes.archive),
        ]  # fmt: skip
    if outcome is not None:
        kept += [
            (
                "raw-trace",
                "raw trace",
                "the trace as the agent wrote it",
                "raw-trace",
                _BYTES,
                outcome.raw_trace,
            ),
            ("stdout", "stdout", "what the agent printed", "stdout", _BYTES, outcome.stdout),
            ("stderr", "stderr", "what it printed as errors", "stderr", _BYTES, outcome.stderr),
        ]  # fmt: skip
    for name, title, said, ending, kind, ref in kept:
        if ref is not None and ref.stored:
            separator = "-" if "." not in ending and ending != "diff" else "."
            filename = f"{short}{separator}{ending}"
            found.append(Document(name, title, said, filename, kind, ref))
    return tuple(found)


def text_of(document: Document, seen: SeenRun) -> str:
    """A document that is made of records."""
    if document.name == "evaluation":
        assert seen.evaluation is not None
        return escape_json(seen.evaluation.to_json()) + "\n"
    if document.name == "task":
        assert seen.task is not None
        return escape_json(seen.task.model_dump_json(indent=2)) + "\n"
    return escape_json(seen.run.model_dump_json(indent=2)) + "\n"
