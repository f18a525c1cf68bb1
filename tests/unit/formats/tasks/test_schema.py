"""The JSON Schema and the loader agree, as far as a schema can say what the loader checks."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import jsonschema
import pytest

from adjudge import catalog
from adjudge.formats.tasks.document import parse_document
from adjudge.formats.tasks.schema import scenario_schema
from adjudge.formats.tasks.scorerdocs import describe_scorer

pytestmark = pytest.mark.anyone

SCHEMA = scenario_schema()
VALIDATOR = jsonschema.Draft202012Validator(SCHEMA)
BAD = Path(__file__).parents[3] / "snapshot" / "scenarios"

BEYOND_A_SCHEMA = {
    "duplicate-keys", "long-number", "memory", "threshold-nothing-counts", "threshold-only-gates",
    "workspace-address", "workspace-local-address", "workspace-missing",
    "workspace-protocol",
}  # fmt: skip
"""Bad files that a schema lets pass: what they hold is well formed, and wrong only for what it means."""


def accepts(value: Any) -> bool:
    return bool(VALIDATOR.is_valid(value))


def test_it_is_a_valid_schema() -> None:
    jsonschema.Draft202012Validator.check_schema(SCHEMA)
    assert SCHEMA["$schema"] == "https://json-schema.org/draft/2020-12/schema"


def test_it_has_every_scorer_type_with_its_fields_and_what_they_mean() -> None:
    for name in catalog.names("scorers"):
        definition = SCHEMA["$defs"][f"scorer.{name}"]
        docs = describe_scorer(name)
        assert definition["description"] == docs.summary
        for field in docs.fields:
            assert definition["properties"][field.name]["description"] == field.description != ""
        for flag in ("name", "required"):
            assert definition["properties"][flag]["description"]


def test_every_field_outside_scorers_has_a_description() -> None:
    def missing(schema: Any, path: str) -> list[str]:
        found = []
        for name, field in schema.get("properties", {}).items():
            if field is not False and "description" not in field and "const" not in field:
                found.append(f"{path}.{name}")
            if isinstance(field, dict):
                found += missing(field, f"{path}.{name}")
        return found

    assert missing(SCHEMA, "") == []


ROOTS = {file.stem: parse_document(file.read_bytes(), file=file.name).root for file in BAD.glob("*.yaml")}


@pytest.mark.parametrize("name", sorted(name for name, root in ROOTS.items() if root is not None))
def test_bad_files_are_refused_where_a_schema_can(name: str) -> None:
    root = ROOTS[name]
    assert root is not None
    assert accepts(root.plain()) is (name in BEYOND_A_SCHEMA)


@pytest.mark.parametrize(
    "good",
    [
        {"scorers": [{"type": "command", "command": "make", "timeout_s": 10, "name": "x", "weight": 0}]},
        {"graders": [{"type": "forbid_secrets", "gate": True}], "expect": {"pass_threshold": 0.5}},
        {"scorers": [{"type": "llm_judge", "rubric": "tidy?", "required": True}], "pass_threshold": 1},
        {
            "scorers": [{"type": "forbid_secrets"}],
            "workspace": {"source": "git", "path": "."},
            "setup": "make",
        },
        {"scorers": [{"type": "forbid_secrets"}], "instruction": {"file": "task.md"}},
        {"scorers": [{"type": "forbid_secrets"}], "sandbox": {"expose": ["/opt/x", {"source": "/opt/y"}]}},
    ],
)
def test_good_files_are_accepted(good: Any) -> None:
    assert [error.message for error in VALIDATOR.iter_errors(good)] == []


@pytest.mark.parametrize("name", catalog.BUILTINS["scorers"])
def test_the_example_of_every_scorer_is_valid(name: str) -> None:
    example = describe_scorer(name).sections["Example"]
    root = parse_document(example.encode(), file=name).root
    assert root is not None
    assert [error.message for error in VALIDATOR.iter_errors(root.plain())] == []


def test_messages_of_the_schema_point_at_the_field() -> None:
    errors = list(VALIDATOR.iter_errors({"scorers": [{"type": "command", "comand": "make"}]}))
    assert sorted(error.message for error in errors) == [
        "'command' is a required property",
        "Additional properties are not allowed ('comand' was unexpected)",
    ]
