"""One vote: ask, read strictly, ask once more for a better form, else say what was wrong."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Generic, NamedTuple, TypeVar

from adjudge.contracts import BlobStore
from adjudge.errors import ProviderError
from adjudge.formats.blobs import UnstoredBlob
from adjudge.judge.cache import AnswerCache
from adjudge.judge.line import Line
from adjudge.judge.parsing import AnswerInvalid, parse_answer
from adjudge.records.base import BlobRef, Record, digest_json
from adjudge.records.judgement import JudgeFault, JudgeUsage
from adjudge.records.judging import ProviderReply, ProviderRequest, ReplyEnd

__all__ = ["Answered", "Question", "ask_juror"]

Answer = TypeVar("Answer", bound=Record)


class Question(NamedTuple, Generic[Answer]):
    """What one juror is asked."""

    request: ProviderRequest
    kind: type[Answer]
    repair: Callable[[ProviderRequest, str, str], ProviderRequest]
    """The further request after an answer that is not valid: request, answer, problem."""
    identity: tuple[str, ...]
    """All that may change the answer, the boundary of the fences left out; the key of the cache."""


class Answered(NamedTuple, Generic[Answer]):
    """What came of it: an answer or a fault."""

    answer: Answer | None
    fault: JudgeFault | None
    reason: str
    raw: BlobRef | None
    repaired: bool
    cached: bool
    usage: JudgeUsage
    duration_s: float


async def ask_juror(
    question: Question[Answer], line: Line, cache: AnswerCache, blobs: BlobStore | None
) -> Answered[Answer]:
    """Get an answer from one juror. Never raises for anything that a provider or a model does."""
    began = time.perf_counter()
    key = digest_json([*question.identity, line.juror.model_dump(mode="json")])
    kept = cache.get(key)
    usage = JudgeUsage()
    reply = kept
    repaired = False

    def answered(
        answer: Answer | None = None, fault: JudgeFault | None = None, reason: str = ""
    ) -> Answered[Answer]:
        raw = None if reply is None else _keep(reply.text, blobs)
        seconds = time.perf_counter() - began
        return Answered(answer, fault, reason, raw, repaired, kept is not None, usage, seconds)

    try:
        if reply is None:
            reply = await line.ask(question.request)
            usage = usage.plus(reply.usage)
        try:
            answer = _read(reply, question.kind)
        except AnswerInvalid as error:
            if kept is not None:
                raise
            repaired = True
            reply = await line.ask(question.repair(question.request, reply.text, error.message))
            usage = usage.plus(reply.usage)
            answer = _read(reply, question.kind)
    except AnswerInvalid as error:
        again = " (also when asked again)" if repaired else ""
        return answered(fault=JudgeFault.UNPARSEABLE, reason=error.message + again)
    except ProviderError as error:
        return answered(fault=JudgeFault.UNAVAILABLE, reason=error.message)
    if kept is None:
        # What may be remembered is what was understood: a fault is asked about again next time.
        cache.put(key, reply)
    return answered(answer)


def _read(reply: ProviderReply, kind: type[Answer]) -> Answer:
    if reply.end is ReplyEnd.REFUSED:
        raise AnswerInvalid("the model declined to judge")
    try:
        return parse_answer(reply.text, kind)
    except AnswerInvalid as error:
        if reply.end is ReplyEnd.LENGTH:
            raise AnswerInvalid(f"the answer was cut off at its limit: {error.message}") from error
        raise


def _keep(text: str, blobs: BlobStore | None) -> BlobRef:
    writer = UnstoredBlob() if blobs is None else blobs.writer()
    writer.write(text.encode("utf-8", "replace"))
    return writer.commit()
