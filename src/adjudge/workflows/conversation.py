"""The user's side of a session: the instruction, then the scenario's turns; and what was said."""

from __future__ import annotations

import json
from collections.abc import Sequence

from adjudge.contracts import BlobStore
from adjudge.formats.tasks.turns import choose_message
from adjudge.records.base import BlobRef
from adjudge.records.task import Scenario

__all__ = ["Conversation"]


class Conversation:
    """Says what a scenario has to say, each turn once, and keeps the transcript. One per attempt.

    Args:
        scenario: What is said.
    """

    def __init__(self, scenario: Scenario) -> None:
        self._instruction = scenario.instruction
        self._turns = iter(scenario.turns)
        self._exchanges: list[tuple[str, str]] = []
        self._said: str | None = None

    def __call__(self, exchanges: Sequence[tuple[str, str]]) -> str | None:
        """The next message after these exchanges; None when there is no more to say."""
        self._exchanges = list(exchanges)
        self._said = self._next()
        return self._said

    def _next(self) -> str | None:
        if not self._exchanges:
            return self._instruction
        for turn in self._turns:
            message = choose_message(turn, self._exchanges[-1][1])
            if message is not None:
                return message
        return None

    def transcript(self) -> list[dict[str, str]]:
        """What was said, in order; a last message without a reply is one the agent never answered."""
        said = [
            {"role": role, "content": content}
            for exchange in self._exchanges
            for role, content in zip(("user", "assistant"), exchange, strict=True)
        ]
        if self._said is not None:
            said.append({"role": "user", "content": self._said})
        return said

    def keep(self, blobs: BlobStore) -> BlobRef:
        """Keep the transcript whole, a JSON object on each line."""
        writer = blobs.writer()
        try:
            for line in self.transcript():
                writer.write(json.dumps(line, ensure_ascii=False).encode("utf-8", "replace") + b"\n")
            return writer.commit()
        finally:
            writer.abort()
