"""Evidence as JSON and back: what was asked, and what was answered."""

from __future__ import annotations

import json
from collections.abc import Iterable

from pydantic import ValidationError

from adjudge.records.base import Record
from adjudge.records.evidence import EvidenceRequest

__all__ = ["dump_evidence", "parse_evidence"]


def dump_evidence(evidence: Iterable[tuple[EvidenceRequest, Record]]) -> bytes:
    """Requests with their answers, in their order."""
    listed = [
        {
            "kind": request.kind,
            "request": request.model_dump(mode="json"),
            "answer": answer.model_dump(mode="json"),
        }
        for request, answer in evidence
    ]
    return json.dumps(listed, separators=(",", ":")).encode()


def parse_evidence(data: bytes) -> tuple[tuple[EvidenceRequest, Record], ...]:
    """Requests with their answers. Kinds and shapes this version does not know are left out.

    What is left out is collected again by whoever needs it, as if it had never been there.
    """
    kinds = {kind.kind: kind for kind in _requests(EvidenceRequest)}
    found: list[tuple[EvidenceRequest, Record]] = []
    for item in json.loads(data):
        kind = kinds.get(item["kind"])
        if kind is None:
            continue
        try:
            # As text: the written form of a path is read only there.
            request = kind.model_validate_json(json.dumps(item["request"]))
            answers: type[Record] = request.answer_type  # type: ignore[attr-defined]  # every kind has it
            answer = answers.model_validate_json(json.dumps(item["answer"]))
        except ValidationError:
            continue
        found.append((request, answer))
    return tuple(found)


def _requests(base: type[EvidenceRequest]) -> Iterable[type[EvidenceRequest]]:
    for kind in base.__subclasses__():
        if "kind" in vars(kind):
            yield kind
        yield from _requests(kind)
