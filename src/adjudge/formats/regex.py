"""Regular expressions that recipes write, matched in time that grows with the text and nothing else.

They are RE2's: what Python's have, without look-around and back references, which are what makes matching
take for ever. A text that an attempt wrote meets them, so no pattern may be able to hang a grading.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Annotated, Any

import re2  # type: ignore[import-untyped]  # it has no type information
from pydantic import AfterValidator

__all__ = ["Regex", "check_regex", "find_regex"]

_MAX_LENGTH = 1_000


def check_regex(pattern: str) -> str:
    """The pattern itself.

    Raises:
        ValueError: It is not one, or needs what is not offered.
    """
    if not pattern:
        raise ValueError("an empty pattern matches everything")
    if len(pattern) > _MAX_LENGTH:
        raise ValueError(f"the pattern has {len(pattern):,} characters, at most {_MAX_LENGTH:,} are read")
    try:
        _compile(pattern)
    except (re2.error, UnicodeError) as error:
        detail = error.args[0] if error.args else "not a regular expression"
        said = detail.decode("utf-8", "replace") if isinstance(detail, bytes) else str(detail)
        hint = "; look-around and back references are not offered" if "(?" in said or "\\\\" in said else ""
        raise ValueError(f"{pattern[:100]!r} is not a regular expression: {said}{hint}") from None
    return pattern


def find_regex(pattern: str, text: str) -> int | None:
    """Where the first match starts in `text`, or None. Accepts what `check_regex` returned."""
    found = _compile(pattern).search(text)
    return None if found is None else int(found.start())


@lru_cache(maxsize=256)
def _compile(pattern: str) -> Any:
    options = re2.Options()
    options.log_errors = False
    return re2.compile(pattern, options)


Regex = Annotated[str, AfterValidator(check_regex)]
"""A regular expression in a scorer's `Config`."""
