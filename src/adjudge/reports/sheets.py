"""A table of values, and its forms to take away: CSV, JSON and Parquet.

Every plot and every table of the view has one, so that what is downloaded is exactly what is shown.
"""

from __future__ import annotations

import csv
import importlib
import io
import json
import re
from collections.abc import Callable, Iterator
from datetime import datetime
from typing import Any, NamedTuple

from adjudge.errors import UsageError
from adjudge.reports.json import escape_json
from adjudge.reports.plain import plain

__all__ = ["SHEET_FORMATS", "Sheet", "SheetFormat", "Value", "csv_cell"]

Value = str | int | float | bool | datetime | None

_RUNS_AT_SPREADSHEETS = re.compile(r"^[=+\-@\t\r]")
"""Beginnings by which spreadsheets take a cell for a formula."""


class Sheet(NamedTuple):
    """Rows of values under named columns."""

    title: str
    columns: tuple[str, ...]
    """Names as programs like them: lower case, no spaces, each once."""
    rows: tuple[tuple[Value, ...], ...]

    def records(self) -> Iterator[dict[str, Value]]:
        """Every row with its names."""
        for row in self.rows:
            yield dict(zip(self.columns, row, strict=True))


class SheetFormat(NamedTuple):
    """A form to take a sheet away in."""

    suffix: str
    media_type: str
    render: Callable[[Sheet], bytes]


def csv_cell(value: object) -> object:
    """A value as a cell of CSV: text that a spreadsheet would run stands behind an apostrophe."""
    if value is None:
        return ""
    if isinstance(value, datetime):
        return value.isoformat()
    if not isinstance(value, str):
        return value
    shown = plain(value)
    return f"'{shown}" if _RUNS_AT_SPREADSHEETS.match(shown) else shown


def _as_csv(sheet: Sheet) -> bytes:
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow([csv_cell(name) for name in sheet.columns])
    writer.writerows([csv_cell(value) for value in row] for row in sheet.rows)
    return out.getvalue().encode("utf-8", "backslashreplace")


def _as_json(sheet: Sheet) -> bytes:
    document = {
        "schema": "adjudge.sheet/1",
        "title": sheet.title,
        "columns": list(sheet.columns),
        "rows": list(sheet.records()),
    }
    text = json.dumps(document, indent=2, ensure_ascii=False, default=_spelled)
    return (escape_json(text) + "\n").encode("utf-8", "backslashreplace")


def _spelled(value: Any) -> str:
    assert isinstance(value, datetime)
    return value.isoformat()


def _as_parquet(sheet: Sheet) -> bytes:
    try:
        # Loaded here: it is large, and comes with an extra.
        arrow = importlib.import_module("pyarrow")
        parquet = importlib.import_module("pyarrow.parquet")
    except ImportError as error:
        raise UsageError(
            "Parquet is written with pyarrow, which is not installed",
            hint="pip install 'adjudge[parquet]'",
        ) from error
    columns = {
        name: arrow.array([_whole(row[at]) for row in sheet.rows], type=_arrow_type(arrow, sheet, at))
        for at, name in enumerate(sheet.columns)
    }
    out = io.BytesIO()
    parquet.write_table(arrow.table(columns), out)
    return out.getvalue()


def _whole(value: Value) -> Value:
    """The value, text without lone surrogates, which Parquet does not take."""
    return value.encode("utf-8", "backslashreplace").decode("utf-8") if isinstance(value, str) else value


def _arrow_type(arrow: Any, sheet: Sheet, at: int) -> Any:
    """The type of a column: of its values, text where there is none."""
    kinds = {type(row[at]) for row in sheet.rows if row[at] is not None}
    for kind, found in (
        ({bool}, arrow.bool_()),
        ({int}, arrow.int64()),
        ({int, float}, arrow.float64()),
        ({datetime}, arrow.timestamp("us", tz="UTC")),
    ):
        if kinds and kinds <= kind:
            return found
    return arrow.string()


SHEET_FORMATS = {
    "csv": SheetFormat("csv", "text/csv; charset=utf-8", _as_csv),
    "json": SheetFormat("json", "application/json", _as_json),
    "parquet": SheetFormat("parquet", "application/vnd.apache.parquet", _as_parquet),
}
"""Name → form."""
