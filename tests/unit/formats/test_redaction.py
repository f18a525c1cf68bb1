"""Secrets are taken out of text, wherever they stand."""

from __future__ import annotations

import pytest
from pydantic import JsonValue

from adjudge.formats.redaction import REDACTED, Redactor

pytestmark = pytest.mark.anyone


def test_every_occurrence_goes() -> None:
    hide = Redactor(["opensesame"])
    assert hide.text("opensesame, opensesame!") == f"{REDACTED}, {REDACTED}!"


def test_the_longer_one_goes_first() -> None:
    assert Redactor(["sesame", "opensesame"]).text("opensesame") == REDACTED


def test_lines_of_a_block_go_one_by_one() -> None:
    hide = Redactor(["-----BEGIN\nfirst line\nsecond line"])
    assert "first" not in hide.text("  | first line\n  | second line")


def test_values_are_looked_through() -> None:
    hide = Redactor(["opensesame"])
    value: JsonValue = {"opensesame": ["opensesame", 1, None, {"a": "opensesame"}], "b": True}
    assert hide.value(value) == {REDACTED: [REDACTED, 1, None, {"a": REDACTED}], "b": True}


def test_nothing_to_hide() -> None:
    assert not Redactor([])
    assert not Redactor(["abc", ""])
    assert Redactor(["abc"]).text("abcdef") == "abcdef"
