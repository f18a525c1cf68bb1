"""Frozen nouns. No module here reads or writes anything, or imports from anywhere but `errors`.

Modules that define records do without `from __future__ import annotations`: pydantic would have to compile
each annotation from its text when the class is made, a fifth of what importing the records takes.

What a result is made of can be imported from here; each name is loaded when it is first used, because a
program that only wants a digest should not pay for all of them.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from adjudge.records.annotation import (
        Annotation,
        ConfidenceInterval,
        ConfidenceMetadata,
        ErrorSource,
        ErrorTag,
        Judgment,
    )
    from adjudge.records.evaluation import Evaluation, EvaluationResult, ValidityCheck
    from adjudge.records.verifier import VerifierSpec

__all__ = [
    "Annotation",
    "ConfidenceInterval",
    "ConfidenceMetadata",
    "ErrorSource",
    "ErrorTag",
    "Evaluation",
    "EvaluationResult",
    "Judgment",
    "ValidityCheck",
    "VerifierSpec",
]

_HOMES = {
    "Evaluation": "evaluation",
    "EvaluationResult": "evaluation",
    "ValidityCheck": "evaluation",
    "VerifierSpec": "verifier",
}
"""Where a name is defined, when not in `annotation`."""


def __getattr__(name: str) -> Any:
    if name in __all__:
        return getattr(import_module(f"{__name__}.{_HOMES.get(name, 'annotation')}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return [*globals(), *__all__]
