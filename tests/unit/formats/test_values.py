"""Paths, equality, tolerance and units, on values that an attempt chose."""

from __future__ import annotations

import re
from fractions import Fraction
from typing import Any

import pytest

from adjudge.formats.quantities import QuantityRefused, convert, parse_quantity
from adjudge.formats.values import ABSENT, equal, find_value, is_near, parse_value_path, read_number

pytestmark = pytest.mark.anyone

DOCUMENT: Any = {"a": {"b": [1, {"c": "x"}]}, "a.b": 2, "0": "zero", "": "empty", "x/y~": 3}


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("a.b[1].c", "x"),
        ("a.b.1.c", "x"),
        ("/a/b/1/c", "x"),
        ("/a.b", 2),
        ("/x~1y~0", 3),
        ("0", "zero"),
        ("/", "empty"),
        ("a.b[2]", ABSENT),
        ("a.b.01", ABSENT),
        ("a.b.-1", ABSENT),
        ("a.b.length", ABSENT),
        ("a.b[0].c", ABSENT),
        ("missing", ABSENT),
        ("$", DOCUMENT),
    ],
)
def test_paths(path: str, value: Any) -> None:
    assert find_value(DOCUMENT, parse_value_path(path)) == value


def test_a_path_into_a_list() -> None:
    assert find_value([{"x": 1}], parse_value_path("[0].x")) == 1


@pytest.mark.parametrize("path", ["", ".", "a..b", "a.", "a[x]", "a[1", "[", "[]", "/a~2", "a." * 65 + "a"])
def test_what_is_no_path(path: str) -> None:
    with pytest.raises(ValueError, match=r"path|pointer"):
        parse_value_path(path)


@pytest.mark.parametrize(
    ("found", "expected", "as_text", "same"),
    [
        (1, 1.0, False, True),
        (True, 1, False, False),
        (1, True, False, False),
        (0, False, False, False),
        ("1", 1, False, False),
        ("1", 1, True, True),
        (" 1.50 ", 1.5, True, True),
        ("TRUE", True, True, True),
        ("yes", True, True, False),
        ("nan", 1, True, False),
        ("inf", 1, True, False),
        ("1_000", 1000, True, False),
        ("\uff11", 1, True, False),
        (None, None, False, True),
        (0.1, 0.1, False, True),
        (10**30, 1e30, False, True),
        ([1, [2]], [1.0, [2]], False, True),
        ([1], [1, 1], False, False),
        ({"a": 1}, {"a": 1, "b": 2}, False, False),
        ({"a": [True]}, {"a": [1]}, False, False),
        ("x ", "x", False, False),
    ],
)  # fmt: skip
def test_equality_tells_types_apart(found: Any, expected: Any, as_text: bool, same: bool) -> None:
    assert equal(found, expected, as_text=as_text) is same


@pytest.mark.parametrize(
    ("found", "expected", "absolute", "relative", "near"),
    [
        (0.3, 0.2, 0.1, None, True),
        (0.30000001, 0.2, 0.1, None, False),
        (102, 100, None, 0.02, True),
        (98, -100, None, 0.02, False),
        (1, 0, None, 0.5, False),
        (0.5, 0, 0.5, 0.5, True),
        (10**299, 1, 1e9, None, False),
    ],
)
def test_tolerance_is_exact(
    found: float, expected: float, absolute: float | None, relative: float | None, near: bool
) -> None:
    number = read_number(found)
    assert number is not None
    assert is_near(number, expected, absolute=absolute, relative=relative) is near


@pytest.mark.parametrize("value", [True, None, "1", [1], {}])
def test_what_is_no_number(value: Any) -> None:
    assert read_number(value) is None
    assert read_number("1e999", as_text=True) == Fraction("1e999")


@pytest.mark.parametrize(
    ("text", "unit", "number"),
    [
        ("3200 mV", "V", 3.2),
        ("3.2V", "mV", 3200.0),
        ("20 °C", "K", 293.15),
        ("1 kW h", "J", 3.6e6),
        ("9.81 m/s²", "cm/s^2", 981.0),
        ("-5 N·m", "J", -5.0),
        ("10 µΩ", "ohm", 1e-5),
        ("50 %", "percent", 50.0),
    ],
)
def test_quantities_are_converted(text: str, unit: str, number: float) -> None:
    assert convert(parse_quantity(text), unit) == pytest.approx(number)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("3.2", "has no unit"),
        ("V", "is not a number with a unit"),
        ("nan V", "is not a number with a unit"),
        ("inf V", "is not a number with a unit"),
        ("1e999 V", "beyond the range"),
        ("3 foo", "unit 'foo' is unknown"),
        ("9**9**9 V", "is not a unit"),
        ("1 m**99", "is not a unit"),
        ("1 m⁹⁹⁹⁹⁹⁹⁹⁹", "is not a unit"),
        ("1 (V)", "is not a unit"),
        ("1 V; import os", "is not a unit"),
        ("1 __import__", "is not a unit"),
        ("1 " + "m*" * 50 + "m", "is not a unit"),
        ("1 " + "m" * 500, "is not a number with a unit"),
        ("1" * 500 + " V", "is not a number with a unit"),
        ("3 V or 4 V", "is not a unit"),
    ],
)
def test_what_is_no_quantity(text: str, message: str) -> None:
    with pytest.raises(QuantityRefused, match=re.escape(message)):
        parse_quantity(text)


@pytest.mark.parametrize(("text", "unit"), [("3 V", "A"), ("1 degC", "m"), ("1 gigaparsec**9", "m")])
def test_units_that_measure_something_else(text: str, unit: str) -> None:
    with pytest.raises(QuantityRefused, match="cannot be compared"):
        convert(parse_quantity(text), unit)
