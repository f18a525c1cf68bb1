"""What models cost, from a table that users can replace (`ADJUDGE_PRICES`). An unknown model has no price."""

from __future__ import annotations

import json
import math
import os
import re
from collections.abc import Mapping
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any

from adjudge.errors import ConfigInvalid
from adjudge.records.judgement import JudgeUsage

__all__ = ["PRICES_VARIABLE", "cost_usd", "load_prices"]

PRICES_VARIABLE = "ADJUDGE_PRICES"
_KINDS = ("input", "output", "cache_read", "cache_write")
_DATED = re.compile(r"(?:-\d{8}|-\d{4}-\d{2}-\d{2}|-latest)$")

Prices = Mapping[str, Mapping[str, float]]


def cost_usd(model: str, usage: JudgeUsage) -> float | None:
    """What a call cost; None when the model's price is not known."""
    prices = load_prices(os.environ.get(PRICES_VARIABLE))
    price = prices.get(model) or prices.get(_DATED.sub("", model))
    if price is None:
        return None
    cost = 0.0
    for kind in _KINDS:
        tokens = getattr(usage, f"{kind}_tokens")
        if not tokens:
            continue
        if kind not in price:
            return None
        cost += tokens * price[kind] / 1e6
    return cost


@cache
def load_prices(file: str | None) -> Prices:
    """The table: ours, with a file's entries over it.

    Raises:
        ConfigInvalid: The file cannot be read as a table of prices.
    """
    ours = json.loads((resources.files("adjudge.judge") / "prices.json").read_text(encoding="utf-8"))
    prices: Prices = ours["usd_per_million_tokens"]
    if not file:
        return prices
    try:
        given = json.loads(Path(file).read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise ConfigInvalid(f"{PRICES_VARIABLE}: {file} cannot be read: {error}") from error
    return {**prices, **_checked(given, file)}


def _checked(given: Any, file: str) -> Prices:
    table = given.get("usd_per_million_tokens") if isinstance(given, dict) else None
    if not isinstance(table, dict):
        raise ConfigInvalid(
            f"{PRICES_VARIABLE}: {file}: a mapping 'usd_per_million_tokens' is expected",
            hint='for example {"usd_per_million_tokens": {"my-model": {"input": 1.0, "output": 2.0}}}',
        )
    for model, price in table.items():
        if not isinstance(price, dict):
            raise ConfigInvalid(f"{PRICES_VARIABLE}: {file}: {model}: a mapping is expected")
        for kind, value in price.items():
            if kind not in _KINDS:
                raise ConfigInvalid(
                    f"{PRICES_VARIABLE}: {file}: {model}: unknown key {kind!r}",
                    hint=f"known: {', '.join(_KINDS)}",
                )
            number = isinstance(value, (int, float)) and not isinstance(value, bool)
            if not number or not math.isfinite(value) or value < 0:
                raise ConfigInvalid(f"{PRICES_VARIABLE}: {file}: {model}.{kind}: {value!r} is no price")
    return table
