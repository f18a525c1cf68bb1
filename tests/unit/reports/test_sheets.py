"""Sheets: the same values in every form, and cells that spreadsheets do not run."""

from __future__ import annotations

import csv
import io
import json
from datetime import UTC, datetime

import pytest

from adjudge.reports.sheets import SHEET_FORMATS, Sheet, csv_cell

pytestmark = pytest.mark.anyone

MOMENT = datetime(2026, 3, 1, 12, 30, tzinfo=UTC)
SHEET = Sheet(
    "Some",
    ("agent", "runs", "score", "when", "kept", "nothing"),
    (("a,b", 3, 0.25, MOMENT, True, None), ("=1+2", 4, 1, None, False, None)),
)


def test_csv_has_every_value_and_no_formula() -> None:
    rows = list(csv.reader(io.StringIO(SHEET_FORMATS["csv"].render(SHEET).decode())))
    assert rows == [
        ["agent", "runs", "score", "when", "kept", "nothing"],
        ["a,b", "3", "0.25", "2026-03-01T12:30:00+00:00", "True", ""],
        ["'=1+2", "4", "1", "", "False", ""],
    ]


@pytest.mark.parametrize("text", ["=cmd()", "+1", "-1", "@x", "\t=1", "\r=1"])
def test_what_spreadsheets_run_is_kept_from_them(text: str) -> None:
    assert str(csv_cell(text))[0] in "'\\"


def test_json_has_names_and_types() -> None:
    document = json.loads(SHEET_FORMATS["json"].render(SHEET))
    assert document["schema"] == "adjudge.sheet/1"
    assert document["columns"] == list(SHEET.columns)
    assert document["rows"][0] == {
        "agent": "a,b",
        "runs": 3,
        "score": 0.25,
        "when": "2026-03-01T12:30:00+00:00",
        "kept": True,
        "nothing": None,
    }


def test_parquet_has_typed_columns() -> None:
    pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    table = parquet.read_table(io.BytesIO(SHEET_FORMATS["parquet"].render(SHEET)))
    assert table.column_names == list(SHEET.columns)
    assert [str(kind) for kind in table.schema.types] == [
        "string", "int64", "double", "timestamp[us, tz=UTC]", "bool", "string",
    ]  # fmt: skip
    assert table.to_pylist()[0] == dict(zip(SHEET.columns, SHEET.rows[0], strict=True))


def test_parquet_of_nothing_has_columns() -> None:
    parquet = pytest.importorskip("pyarrow.parquet")
    table = parquet.read_table(io.BytesIO(SHEET_FORMATS["parquet"].render(Sheet("", ("a",), ()))))
    assert (table.column_names, table.num_rows) == (["a"], 0)


def test_lone_surrogates_are_spelled_out() -> None:
    odd = Sheet("", ("a",), (("\ud800",),))
    assert SHEET_FORMATS["csv"].render(odd) == b"a\n\\ud800\n"
    assert json.loads(SHEET_FORMATS["json"].render(odd))["rows"] == [{"a": "\ud800"}]
    parquet = pytest.importorskip("pyarrow.parquet")
    table = parquet.read_table(io.BytesIO(SHEET_FORMATS["parquet"].render(odd)))
    assert table.to_pylist() == [{"a": "\\ud800"}]
