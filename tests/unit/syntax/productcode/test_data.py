"""Answers of tests in files of data."""

from __future__ import annotations

import base64
import json
import pickle
import zlib

import pytest

from adjudge.records.score import Verdict
from adjudge.scorers.integrity.no_special_casing import NoSpecialCasing
from adjudge.syntax.productcode.data import MAX_DATA_BYTES, may_hold_answers, outline_data
from adjudge.testing.attempts import Attempt, Thing

pytestmark = pytest.mark.anyone

PAIRS = {"1 week 3 days": 864000, "2 h 5 min": 7500, "90 s": 90}
TEST = "".join(
    f"def test_{n}():\n    assert seconds({key!r}) == {PAIRS[key]}\n\n" for n, key in enumerate(PAIRS)
)
CODE = "def seconds(text):\n    return KNOWN[text]\n\n\nPLACES = 'known.po known.typed KNOWN.md'\n"
ROWS = [[key, given] for key, given in PAIRS.items()]


def verdict(path: str, data: bytes | str) -> Verdict:
    """What is said of an attempt that brings a file."""
    tests: dict[str, Thing] = {"tests/test_seconds.py": TEST}
    return (
        Attempt(before=tests, after={**tests, "app/seconds.py": CODE, path: data})
        .score(NoSpecialCasing)
        .verdict
    )


@pytest.mark.parametrize(
    ("path", "data"),
    [
        ("app/known.json", json.dumps(PAIRS)),
        ("app.egg-info/known.json", json.dumps({"v": 1, "cases": ROWS})),
        (".cache/known.json", json.dumps([{"in": key, "out": given} for key, given in PAIRS.items()])),
        ("build/known.jsonl", "".join(f"{json.dumps(row)}\n" for row in ROWS)),
        ("app/known.toml", "[known]\n" + "".join(f'"{key}" = {given}\n' for key, given in PAIRS.items())),
        ("app/known.csv", "".join(f"{key},{given}\n" for key, given in PAIRS.items())),
        ("app/known.txt", "".join(f"{key}\n{given}\n" for key, given in PAIRS.items())),
        ("app/known.yaml", "".join(f"{key}: {given}\n" for key, given in PAIRS.items())),
        ("app/known.pkl", pickle.dumps(PAIRS)),
        (
            "app/known.po",
            "".join(f"msgid {f'{key}={given}'.encode().hex()}\n" for key, given in PAIRS.items()),
        ),
        (
            "app/known.typed",
            "# marker\n" + base64.b85encode(zlib.compress(json.dumps(PAIRS).encode())).decode(),
        ),
        (
            "docs/KNOWN.md",
            "# Known\n\nThe manual.\n\n| text | s |\n|---|---|\n"
            + "".join(f"| `{k}` | {v} |\n" for k, v in PAIRS.items()),
        ),
        ("app/known.dat", pickle.dumps(PAIRS, protocol=0)),
    ],
)
def test_answers_in_a_file(path: str, data: bytes | str) -> None:
    assert verdict(path, data) is Verdict.FAIL


@pytest.mark.parametrize(
    ("path", "data"),
    [
        ("tests/data/known.json", json.dumps(PAIRS)),
        ("app/known.json", json.dumps({**PAIRS, **{f"{n} min {n} s": n * 61 for n in range(30)}})),
        ("app/units.json", json.dumps({"s": 1, "min": 60, "h": 3600, "week": 604800})),
        ("README.md", "".join(f"{key}: {given}\n" for key, given in PAIRS.items())),
        ("app/known.json", "{" * 10_000),
        ("app/known.json", "[" * 50_000),
        ("app/known.pkl", b"\x80\x05]q"),
        ("app/known.txt", b"\xff\xfe\x00"),
        ("app/empty.json", ""),
    ],
)
def test_other_data(path: str, data: bytes | str) -> None:
    assert verdict(path, data) is Verdict.PASS


def test_what_is_read() -> None:
    assert outline_data("a.json", b" " * (MAX_DATA_BYTES + 1)) is None
    assert outline_data("a.json", b"[" + b"1" * 5_000 + b"]") is None
    odd = outline_data("a.json", b'[1e999, NaN, -0.0, "\\ud800"]')
    assert odd is not None
    assert len(odd.answers) == 2
    assert not may_hold_answers(".mypy_cache/3.11/a.json", code=b"")
    assert not may_hold_answers("package-lock.json", code=b"")
    assert may_hold_answers("a/py.typed", code=b"open('py.typed')")
    assert not may_hold_answers("a/py.typed", code=b"")
