"""Answers that were given before, by the digest of everything that was asked."""

from __future__ import annotations

import contextlib
import json
import os
import tempfile
from pathlib import Path
from typing import Protocol

from pydantic import ValidationError

from adjudge.records.judging import ProviderReply

__all__ = ["AnswerCache", "AnswerDirectory", "NoCache"]


class AnswerCache(Protocol):
    """Keeps answers."""

    def get(self, digest: str) -> ProviderReply | None:
        """The answer to what has this digest, or None."""

    def put(self, digest: str, reply: ProviderReply) -> None:
        """Keep an answer. A cache that cannot be written costs money, not a verdict: it never raises."""


class NoCache:
    """Remembers nothing (`--no-cache`)."""

    def get(self, digest: str) -> ProviderReply | None:
        """Nothing."""
        return None

    def put(self, digest: str, reply: ProviderReply) -> None:
        """Forget it."""


class AnswerDirectory:
    """One file an answer, under its digest."""

    def __init__(self, root: Path) -> None:
        self._root = root

    def get(self, digest: str) -> ProviderReply | None:
        """A kept answer; one that cannot be read is none."""
        try:
            data = self._place(digest).read_bytes()
            return ProviderReply.model_validate_json(data)
        except (OSError, ValidationError):
            return None

    def put(self, digest: str, reply: ProviderReply) -> None:
        """Keep an answer, whole or not at all."""
        with contextlib.suppress(OSError):
            place = self._place(digest)
            place.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            descriptor, name = tempfile.mkstemp(prefix=".incoming-", dir=place.parent)
            try:
                with os.fdopen(descriptor, "w", encoding="utf-8") as file:
                    json.dump(reply.model_dump(mode="json"), file)
                os.replace(name, place)
            except BaseException:
                with contextlib.suppress(OSError):
                    os.unlink(name)
                raise

    def _place(self, digest: str) -> Path:
        hexadecimal = digest.removeprefix("sha256:")
        return self._root / hexadecimal[:2] / f"{hexadecimal[2:]}.json"
