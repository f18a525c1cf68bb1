"""Taking secrets out of text before anybody sees it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from pydantic import JsonValue

__all__ = ["REDACTED", "Redactor"]

REDACTED = "[redacted]"
_SHORTEST = 6
"""A shorter string is no secret, and stands in half the words there are."""


class Redactor:
    """Replaces known secrets, whole or line by line, wherever they stand."""

    def __init__(self, secrets: Iterable[str]) -> None:
        parts = {part.strip() for secret in secrets for part in (secret, *secret.splitlines())}
        self._parts = sorted((part for part in parts if len(part) >= _SHORTEST), key=len, reverse=True)

    def __bool__(self) -> bool:
        return bool(self._parts)

    def text(self, text: str) -> str:
        """A text without them."""
        for part in self._parts:
            if part in text:
                text = text.replace(part, REDACTED)
        return text

    def value(self, value: JsonValue) -> JsonValue:
        """A JSON value without them, in keys too."""
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, Mapping):
            return {self.text(key): self.value(item) for key, item in value.items()}
        if isinstance(value, Sequence):
            return [self.value(item) for item in value]
        return value
