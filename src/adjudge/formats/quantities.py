"""Numbers with units, such as `3.2 V`, compared across units. The units themselves are `pint`'s.

What an attempt wrote never reaches pint's expression parser, which computes (`9**9**9` would take for ever):
a text is one decimal number and one product of unit names with small powers, or it is no quantity. pint is an
extra (`adjudge[units]`), loaded when a recipe first uses a unit (half a second).
"""

from __future__ import annotations

import importlib
import math
import re
from functools import cache
from typing import Any, NamedTuple

__all__ = ["Quantity", "QuantityRefused", "check_unit", "convert", "parse_quantity"]

_LETTER = "A-Za-z\u00b5\u00c5\u0370-\u03ff\u2126\u212b"
_NAME = rf"(?:[{_LETTER}][{_LETTER}_]{{0,39}}|%|°[CF]?)(?:(?:\^|\*\*)-?[1-9]|[²³])?"
_UNIT = re.compile(rf"{_NAME}(?: ?[*/·⋅] ?{_NAME}| {_NAME}){{0,7}}\Z")
_QUANTITY = re.compile(
    r"([-+]?[0-9]{1,30}(?:\.[0-9]{1,30})?(?:[eE][-+]?[0-9]{1,3})?)[ \u00a0\u202f]?(.{0,120})\Z"
)


class QuantityRefused(ValueError):
    """A text is not a quantity, or its unit is not one that can be compared."""


class Quantity(NamedTuple):
    """A number and its unit."""

    number: float
    unit: str


def parse_quantity(text: str, *, default_unit: str | None = None) -> Quantity:
    """A number with its unit.

    Raises:
        QuantityRefused: It is not that, the unit is missing, or it is unknown.
    """
    found = _QUANTITY.match(text.strip())
    if found is None:
        raise QuantityRefused(f"{text[:60]!r} is not a number with a unit, such as '3.2 V'")
    number = float(found[1])
    if not math.isfinite(number):
        raise QuantityRefused(f"{text[:60]!r} is beyond the range of numbers")
    unit = found[2].strip() or default_unit
    if unit is None:
        raise QuantityRefused(f"{text[:60]!r} has no unit")
    return Quantity(number, check_unit(unit))


def check_unit(unit: str) -> str:
    """The unit itself.

    Raises:
        QuantityRefused: It is not one, or pint is not installed.
    """
    if not _UNIT.match(unit):
        raise QuantityRefused(f"{unit[:60]!r} is not a unit, such as V, kW*h or m/s^2")
    _made(unit)
    return unit


def convert(quantity: Quantity, unit: str) -> float:
    """The number that a quantity has in another unit.

    Raises:
        QuantityRefused: They measure different things.
    """
    try:
        converted = float(
            _registry().Quantity(quantity.number, _made(quantity.unit)).to(_made(unit)).magnitude
        )
    except (_errors().PintError, ArithmeticError, ValueError, TypeError):
        raise QuantityRefused(f"{quantity.unit!r} cannot be compared with {unit!r}") from None
    if not math.isfinite(converted):
        raise QuantityRefused(f"{quantity.number:g} {quantity.unit} is beyond the range of numbers")
    return converted


@cache
def _registry() -> Any:
    try:
        pint = importlib.import_module("pint")
    except ImportError:
        raise QuantityRefused("units need pint; install it with: pip install 'adjudge[units]'") from None
    return pint.UnitRegistry(cache_folder=None)


def _errors() -> Any:
    return importlib.import_module("pint.errors")


def _made(unit: str) -> Any:
    written = re.sub(r"[·⋅]", "*", unit).replace("^", "**").replace("²", "**2").replace("³", "**3")
    written = (
        re.sub(r" ?([*/]) ?", r"\1", written).replace(" ", "*").replace("%", "percent").replace("°", "degree")
    )
    registry = _registry()
    try:
        return registry.parse_units(written)
    except (_errors().PintError, ValueError, TypeError, KeyError, AttributeError):
        raise QuantityRefused(f"unit {unit[:60]!r} is unknown") from None
