"""JSON from an untrusted program, read strictly: UTF-8, one value, unique keys, finite numbers, not too deep.

The standard library takes NaN, repeated keys and lone surrogates; what is accepted here can always be written
into a document again.
"""

from __future__ import annotations

import json
import math
from typing import Any

__all__ = ["MAX_DEPTH", "StrictJsonError", "decode_strictly", "parse_strict_json"]

MAX_DEPTH = 64


class StrictJsonError(ValueError):
    """Bytes that are not acceptable JSON.

    Args:
        kind: `empty`, `byte_order_mark`, `not_utf8`, `malformed`, `too_deep`, `duplicate_key` or
            `not_finite`: the values of `records.verifier.RewardProblem` that can be told from bytes alone.
        message: What was wrong, and where.
    """

    def __init__(self, kind: str, message: str) -> None:
        super().__init__(message)
        self.kind = kind
        self.message = message


def parse_strict_json(data: bytes) -> Any:
    """The value that `data` is.

    Raises:
        StrictJsonError: It is none.
    """
    text = decode_strictly(data)
    try:
        value = json.loads(text, object_pairs_hook=_unique, parse_constant=_constant, parse_float=_finite)
    except StrictJsonError:
        raise
    except RecursionError:
        raise StrictJsonError("too_deep", f"nested more than {MAX_DEPTH} deep") from None
    except json.JSONDecodeError as error:
        message = f"not JSON: {error.msg} at line {error.lineno}, column {error.colno}"
        raise StrictJsonError("malformed", message) from None
    except ValueError:
        # The interpreter's limit on the digits of an integer.
        raise StrictJsonError("malformed", "not JSON: a number has too many digits") from None
    _check(value)
    return value


def decode_strictly(data: bytes) -> str:
    """The text, when it is UTF-8 and says anything.

    Raises:
        StrictJsonError: It is not.
    """
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise StrictJsonError("not_utf8", "written in UTF-16, expected UTF-8")
    if data.startswith(b"\xef\xbb\xbf"):
        raise StrictJsonError("byte_order_mark", "starts with a byte order mark, which JSON does not have")
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise StrictJsonError("not_utf8", f"not UTF-8 at byte {error.start}") from None
    if not text.strip():
        raise StrictJsonError("empty", "empty" if not text else "nothing but white space")
    return text


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        keys = [key for key, _ in pairs]
        twice = next(key for key in found if keys.count(key) > 1)
        raise StrictJsonError("duplicate_key", f"the key {twice[:100]!r} occurs more than once")
    return found


def _constant(name: str) -> Any:
    raise StrictJsonError("not_finite", f"{name} is not a finite number")


def _finite(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise StrictJsonError("not_finite", f"{text[:40]} is not a finite number")
    return number


def _check(value: Any) -> None:
    """Refuse depth and characters that could not be written again, without recursion of our own."""
    level = [value]
    for _ in range(MAX_DEPTH + 1):
        inner: list[Any] = []
        for item in level:
            if isinstance(item, dict):
                for key in item:
                    _check_text(key)
                inner += item.values()
            elif isinstance(item, list):
                inner += item
            elif isinstance(item, str):
                _check_text(item)
        if not inner:
            return
        level = inner
    raise StrictJsonError("too_deep", f"nested more than {MAX_DEPTH} deep")


def _check_text(text: str) -> None:
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        raise StrictJsonError("malformed", "not JSON: a text holds half of a surrogate pair") from None
