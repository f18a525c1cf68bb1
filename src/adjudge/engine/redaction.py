"""Keeps what the secret scan found out of every row.

A test that prints its environment, or a file named after a token, would otherwise show in another scorer's
row what `forbid_secrets` takes care to hide.
"""

from __future__ import annotations

from collections.abc import Iterable

from adjudge.formats.redaction import Redactor
from adjudge.records.score import ScorerResult

__all__ = ["without_secrets"]


def without_secrets(results: Iterable[ScorerResult], secrets: Iterable[str]) -> tuple[ScorerResult, ...]:
    """The rows, with every known secret replaced."""
    hide = Redactor(secrets)
    if not hide:
        return tuple(results)
    return tuple(
        result.model_copy(
            update={
                "reason": hide.text(result.reason),
                "output_tail": hide.text(result.output_tail),
                "details": hide.value(dict(result.details)),
                "findings": tuple(
                    finding.model_copy(
                        update={
                            "message": hide.text(finding.message),
                            "path": None if finding.path is None else hide.text(finding.path),
                        }
                    )
                    for finding in result.findings
                ),
            }
        )
        for result in results
    )
