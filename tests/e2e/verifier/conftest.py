"""Tasks in a few lines, graded for real."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

import adjudge
from adjudge.records.evaluation import Evaluation

Verify = Callable[..., Evaluation]


@pytest.fixture
def verify(tmp_path: Path) -> Verify:
    """Grades an attempt by a verifier script; both are given as text."""

    def grade(script: str, *, fields: str = "", attempt: dict[str, str] | None = None) -> Evaluation:
        tests, before, after = (tmp_path / name for name in ("tests", "before", "after"))
        for folder in (tests, before, after):
            folder.mkdir(exist_ok=True)
        (tests / "test.sh").write_text(f"#!/bin/sh\n{script}\n")
        for name, text in (attempt or {}).items():
            (after / name).write_text(text)
        recipe = f"name: t\nscorers:\n  - type: verifier\n    script: tests/test.sh\n{fields}"
        (tmp_path / "adjudge.yaml").write_text(recipe)
        return adjudge.grade(tmp_path / "adjudge.yaml", workspace=after, baseline=before)

    return grade
