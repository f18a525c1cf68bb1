"""The child's end of a scorer of another distribution; see `adjudge.engine.stranger`.

Two lines in, two lines out: the scorer's type and configuration for its version and needs, then the
evidence for its outcome. Standard output of the scorer itself goes to standard error, so that a stray
`print` cannot be taken for an answer.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable
from typing import Any, BinaryIO

from adjudge import catalog
from adjudge.engine.plan import Collected
from adjudge.records.evidence import AnyRequest
from adjudge.records.score import ScorerOutcome

__all__ = ["main"]


def main() -> None:
    """Answer the two questions of the parent, and end when it goes away."""
    replies = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    hello = json.loads(sys.stdin.buffer.readline() or "null")
    if hello is None:
        return
    made = _answer(replies, lambda: _make_ready(hello))
    if made is None:
        return
    scorer, config, needs = made
    question = sys.stdin.buffer.readline()
    if question:
        _answer(replies, lambda: _score(scorer, config, needs, json.loads(question)))


def _make_ready(hello: dict[str, Any]) -> tuple[dict[str, Any], tuple[Any, Any, list[AnyRequest]]]:
    scorer_class = catalog.load("scorers", hello["type"])
    config = scorer_class.Config.model_validate_json(json.dumps(hello["config"]))
    scorer = scorer_class()
    needs = list(scorer.needs(config))
    for need in needs:
        if not isinstance(need, AnyRequest):
            raise TypeError(f"needs() asked for {need!r}, which is not a request for evidence")
    asked = [{"kind": need.kind, "request": need.model_dump(mode="json")} for need in needs]
    return {"version": str(scorer_class.version), "needs": asked}, (scorer, config, needs)


def _score(
    scorer: Any, config: Any, needs: list[AnyRequest], question: dict[str, Any]
) -> tuple[dict[str, Any], None]:
    sent = {item["digest"]: item["answer"] for item in question["evidence"]}
    answers = {need.digest: (need, need.answer_type.model_validate_json(sent[need.digest])) for need in needs}
    outcome = scorer.score(config, Collected(answers))
    if not isinstance(outcome, ScorerOutcome):
        raise TypeError(f"score() returned {type(outcome).__name__}, expected ScorerOutcome")
    return {"outcome": outcome.model_dump(mode="json")}, None


def _answer(replies: BinaryIO, work: Callable[[], tuple[dict[str, Any], Any]]) -> Any:
    """Send what `work` gives, or why it did not."""
    kept = None
    try:
        reply, kept = work()
    except BaseException as error:
        reply = {"error": f"{type(error).__name__}: {error}"}
    replies.write(json.dumps(reply).encode() + b"\n")
    replies.flush()
    return kept


if __name__ == "__main__":
    main()
