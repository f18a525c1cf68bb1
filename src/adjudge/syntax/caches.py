"""Names of caches: containers that begin empty and that one function alone fills as it goes.

Whether a call finds something there depends on what was asked before, not on what is asked.
"""

from __future__ import annotations

import re
from itertools import islice
from typing import Final

__all__ = ["cache_names"]

_EMPTY: Final = re.compile(
    r"(?:\b(?:self|this)\.)?#?\b(\w+)[ \t]*(?::[^=\n]{1,80})?:?=[ \t]*(?:\{\}|(?:dict|set|OrderedDict)\(\)"
    r"|new (?:Weak)?(?:Map|Set)(?:<[^\n()]{0,80}>)?\(\)|Object\.create\(null\)|make\(map\[[^\n]{1,80}\)"
    r"|map\[[^\]\n]{1,40}\][\w.*\[\]]{1,40}\{\})|\bvar[ \t]+(\w+)[ \t]+sync\.Map\b"
)
_STORES: Final = r"\.(?:set|add|put|setdefault|Store|LoadOrStore)\("
_KEPT: Final = rf"\b{{name}}(?:\[(?![\"'`\d])[^\]\n]{{{{1,80}}}}\][ \t]*=(?!=)|{_STORES})"
_STORED: Final = re.compile(rf"\b(\w+)(?:\[[^\]\n]{{1,80}}\][ \t]*=(?!=)|{_STORES})")
_MAX_TEXT: Final = 200_000
_MAX_NAMES: Final = 4
"""A file and names of a function that are looked at; whoever writes more may be told apart by chance."""
_FILLED: Final = r"\b{name}(?:\[[\"'`\d][^\]\n]{{0,80}}\][ \t]*=(?!=)|\.update\()|\bObject\.assign\({name}\b"
_READ: Final = r"\b(\w+)(?:, *\w+)?[ \t]*:?=[ \t]*(?:self\.|this\.)?#?{name}(?:\[|\.(?:get|Load)\()"


def cache_names(text: str, function: str) -> frozenset[str]:
    """The names of caches that a function keeps, and of what it takes from them.

    Args:
        text: The whole file.
        function: The function's own part of it.
    """
    found: set[str] = set()
    if len(text) > _MAX_TEXT:
        return frozenset()
    for name in islice(dict.fromkeys(_STORED.findall(function)), _MAX_NAMES):
        kept = re.compile(_KEPT.format(name=name))
        if (
            any(name in match.groups() for match in _EMPTY.finditer(text))
            and len(kept.findall(function)) == len(kept.findall(text)) > 0
            and not re.search(_FILLED.format(name=name), text)
        ):
            found.add(name)
            found.update(re.findall(_READ.format(name=name), function))
    return frozenset(found)
