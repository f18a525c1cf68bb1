"""What an attempt was asked to write, and whether it can be read."""

from enum import StrEnum

from pydantic import JsonValue

from adjudge.records.base import Record

__all__ = ["CheckedOutput", "OutputFormat"]


class OutputFormat(StrEnum):
    """How an output file is written."""

    JSON = "json"
    YAML = "yaml"
    TOML = "toml"
    CSV = "csv"
    """With a header; read as a list of rows, each a mapping from column to text."""
    MARKDOWN = "markdown"
    """Prose with one fenced block marked `json`, which is what is read."""
    TEXT = "text"


class CheckedOutput(Record):
    """An output file as its format and its schema see it."""

    present: bool = True
    """Whether there was a file to read."""
    output_parseable: bool
    """Whether it is what its format says."""
    schema_valid: bool
    """Whether it has the expected shape. Without a schema every parseable output has; no other does."""
    errors: tuple[str, ...] = ()
    """Why not, each with its place: a line and a column, or the path of a value."""
    value: JsonValue = None
    """What was read; None where nothing could be, or where it says null."""
