"""The collector of `OutputFile`: what the attempt was asked to write, as its format reads it."""

from __future__ import annotations

from typing import ClassVar

from adjudge.contracts import Subject
from adjudge.errors import StoreError
from adjudge.evidence.hiddenfiles import read_scenario_file
from adjudge.formats.outputs import MAX_OUTPUT_BYTES, check_output, missing_output
from adjudge.formats.schemas import OutputSchema, parse_schema
from adjudge.records.change import EntryType
from adjudge.records.evidence import OutputFile
from adjudge.records.outputs import CheckedOutput
from adjudge.records.paths import render_path

__all__ = ["OutputFileCollector", "scenario_schema"]


class OutputFileCollector:
    """Reads a regular file that lies in the workspace itself; no symlink is followed."""

    kind: ClassVar[str] = "output_file"
    cost: ClassVar[int] = 1

    async def collect(self, request: OutputFile, subject: Subject) -> CheckedOutput:
        """Read and check the file."""
        schema = scenario_schema(request.output_schema, subject)
        shown = render_path(request.path)
        found = subject.contents.look(request.path)
        if found is None:
            return missing_output(f"{shown} is not there")
        if found.type is not EntryType.FILE:
            return missing_output(f"{shown} is a {found.type}, not a file")
        data = subject.contents.read(request.path, max_bytes=MAX_OUTPUT_BYTES + 1)
        if data is None:
            return missing_output(f"{shown} cannot be read")
        checked = check_output(data, request.format, schema)
        errors = tuple(f"{shown}: {error}" for error in checked.errors)
        return checked.model_copy(update={"errors": errors})


def scenario_schema(path: str | None, subject: Subject) -> OutputSchema | None:
    """A JSON Schema that is kept with the task; None where the recipe names none.

    Raises:
        StoreError: It is not there, or cannot be used.
    """
    if path is None:
        return None
    entry = next((entry for entry in subject.task.files if entry.path == path), None)
    if entry is None:
        raise StoreError(f"{render_path(path)} is not kept with the task")
    try:
        return parse_schema(read_scenario_file(entry, subject.scenario_files))
    except ValueError as error:
        raise StoreError(f"{render_path(path)} is not a schema: {error}") from error
