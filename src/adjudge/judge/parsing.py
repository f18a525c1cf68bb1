"""Reading a judge's answer. Strict: what is not exactly a verdict is none."""

from __future__ import annotations

import json
import re
from typing import Any, TypeVar

from pydantic import ValidationError

from adjudge.errors import SubjectError
from adjudge.records.base import Record
from adjudge.records.judgement import JudgeOpinion

__all__ = ["AnswerInvalid", "parse_answer", "parse_opinion"]

_MAX_ANSWER = 400_000
_MAX_DEPTH = 40
_BLOCK = re.compile(r"^```(?:json|JSON)?[ \t]*\n(.*?)^```[ \t]*$", re.MULTILINE | re.DOTALL)

Answer = TypeVar("Answer", bound=Record)


class AnswerInvalid(SubjectError):
    """An answer that cannot be read; the message goes back to the model once."""


def parse_opinion(text: str) -> JudgeOpinion:
    """The opinion in an answer.

    Raises:
        AnswerInvalid: There is none, or it is not valid; the message says what is wrong with it.
    """
    return parse_answer(text, JudgeOpinion)


def parse_answer(text: str, kind: type[Answer]) -> Answer:
    """The record in an answer: the whole of it as JSON, or its one fenced block.

    Types are taken as they are: `"false"` is not false and `"4"` is not 4.

    Raises:
        AnswerInvalid: There is none, or it is not valid; the message says what is wrong with it.
    """
    value = _value(text)
    if not isinstance(value, dict):
        raise AnswerInvalid(f"a JSON object was expected, not {_kind(value)}")
    try:
        return kind.model_validate_json(json.dumps(value), strict=True)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        where = ".".join(str(part) for part in first["loc"])
        raise AnswerInvalid(f"{where}: {first['msg']}" if where else first["msg"]) from error


def _value(text: str) -> Any:
    stripped = text.strip()
    if not stripped:
        raise AnswerInvalid("the answer is empty")
    if len(stripped) > _MAX_ANSWER:
        raise AnswerInvalid(f"the answer has {len(stripped)} characters, at most {_MAX_ANSWER} are read")
    if not stripped.startswith("{"):
        blocks = _BLOCK.findall(stripped + "\n")
        if len(blocks) != 1:
            found = "several blocks of JSON" if blocks else "no JSON"
            raise AnswerInvalid(f"{found} in the answer")
        stripped = blocks[0].strip()
    if _depth(stripped) > _MAX_DEPTH:
        raise AnswerInvalid(f"the JSON is nested deeper than {_MAX_DEPTH} levels")
    try:
        return json.loads(stripped, object_pairs_hook=_unique, parse_constant=_refuse_constant)
    except AnswerInvalid:
        raise
    except (ValueError, RecursionError) as error:
        raise AnswerInvalid(f"not valid JSON: {error}") from error


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for key, value in pairs:
        if key in found:
            raise AnswerInvalid(f"the key {key[:80]!r} stands twice")
        found[key] = value
    return found


def _refuse_constant(name: str) -> Any:
    raise AnswerInvalid(f"{name} is not a number")


def _depth(text: str) -> int:
    depth = deepest = 0
    for character in text:
        if character in "[{":
            depth += 1
            deepest = max(deepest, depth)
        elif character in "]}":
            depth -= 1
    return deepest


def _kind(value: Any) -> str:
    names = {list: "a list", str: "a text", bool: "a truth value", type(None): "null"}
    return names.get(type(value), "a number")
