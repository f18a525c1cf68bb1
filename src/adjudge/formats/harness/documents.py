"""YAML that a stranger wrote, loaded so that its size bounds what it costs."""

from __future__ import annotations

from typing import Any, Final

import yaml

__all__ = ["load_yaml"]

_MAX_PAIRS: Final = 20_000
"""Of one mapping with what is merged into it. Merges of merges double it with every line."""
_FASTEST: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


class _Loader(_FASTEST):  # type: ignore[misc]
    def flatten_mapping(self, node: yaml.MappingNode) -> None:
        super().flatten_mapping(node)
        if len(node.value) > _MAX_PAIRS:
            raise yaml.YAMLError(f"more than {_MAX_PAIRS:,} keys in one mapping")


def load_yaml(text: str) -> Any:
    """What a document holds.

    Raises:
        ValueError: It is no YAML, or nested or merged beyond any use.
    """
    try:
        return yaml.load(text, Loader=_Loader)
    except (yaml.YAMLError, RecursionError) as error:
        raise ValueError(str(error) or type(error).__name__) from error
