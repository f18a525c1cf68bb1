"""Every error that pydantic knows has a sentence of ours."""

from __future__ import annotations

from typing import Any, get_args

import pytest
from pydantic_core import core_schema
from pydantic_core._pydantic_core import list_all_errors

from adjudge.formats.tasks.messages import SENTENCES, describe, did_you_mean, explain

pytestmark = pytest.mark.anyone

KNOWN: dict[str, Any] = {error["type"]: error for error in list_all_errors()}
VALUES = [None, True, 3, 2.5, "text", [1], {"a": 1}, "x" * 500]


def test_none_is_forgotten() -> None:
    assert set(get_args(core_schema.ErrorType)) | set(KNOWN) <= set(SENTENCES)


@pytest.mark.parametrize("kind", sorted(KNOWN))
def test_each_is_a_plain_sentence(kind: str) -> None:
    context = KNOWN[kind].get("example_context") or {}
    for value in VALUES:
        said = explain({"type": kind, "input": value, "ctx": context, "msg": "pydantic's own"})
        assert said
        assert len(said) < 300
        assert not any(phrase in said for phrase in FOREIGN), said


FOREIGN = (
    "Input should",
    "should be",
    "pydantic",
    "https://errors",
    "Value error",
    "Extra inputs",
    "{",
)


def test_what_a_validator_says_is_said_as_it_is() -> None:
    error = {"type": "value_error", "input": 1, "ctx": {"error": ValueError("odd numbers only")}, "msg": "x"}
    assert explain(error) == "odd numbers only"


def test_an_error_type_of_an_extension_keeps_its_message() -> None:
    assert explain({"type": "my_own", "input": 1, "msg": "not today"}) == "not today"


@pytest.mark.parametrize(
    ("value", "said"),
    [
        (None, "nothing"), (False, "the boolean false"), (2.0, "the number 2"), (0.25, "the number 0.25"),
        (float("inf"), "the number .inf"), ("a", "the text 'a'"), ([], "a list"), ({}, "a mapping"),
    ],
)  # fmt: skip
def test_values_are_named_as_in_the_file(value: object, said: str) -> None:
    assert describe(value) == said


def test_near_names_are_found_whatever_their_case() -> None:
    assert did_you_mean("COMMAND", ["command", "clean"]) == "did you mean 'command'?"
    assert did_you_mean("zzz", ["command", "clean"]) == "known: command, clean"
    assert did_you_mean("c" * 10_000, ["command"]) == "known: command"
