"""Whatever a file holds, reading it ends in a scenario or in problems, never in a crash."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from adjudge import catalog
from adjudge.formats.tasks.document import parse_document
from adjudge.formats.tasks.scenario import KEYS, ParsedScenario, parse_scenario
from adjudge.records.task import Scenario, SourceKind


class Folder:
    def __call__(self, path: str) -> None:
        """Everything exists."""

    def source(self, path: str, kind: SourceKind) -> None:
        """Everything is a source."""

    def text(self, path: str) -> str:
        return "text"


def parse(data: bytes) -> ParsedScenario:
    return parse_scenario(data, file="f", default_name="d", folder=Folder())


SCALARS = st.one_of(
    st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=8),
    st.sampled_from(["main", "../x", "/abs", "2GiB", "git", "min", "auto", ".inf", "*", ""]),
)  # fmt: skip
KEY = st.one_of(
    st.sampled_from([
        *KEYS, "type", "name", "weight", "gate", "required", "command", "timeout_s", "patterns", "paths",
        "limit", "path", "rubric", "test_globset", "source", "url", "ref", "subdir", "network", "tokens",
        "backend", "expose", "env", "memory", "processes", "file", "target",
    ]),
    st.text(max_size=5),
)  # fmt: skip
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(KEY, inner, max_size=5),
    max_leaves=15,
)
FIELDS = (
    "name", "weight", "gate", "required", "command", "timeout_s", "patterns", "paths", "limit", "path",
    "rubric", "test_globset",
)  # fmt: skip
LINES = st.fixed_dictionaries(
    {"type": st.sampled_from([*catalog.BUILTINS["scorers"], "nonesuch"])},
    optional=dict.fromkeys(FIELDS, VALUES),
)
SCENARIOS = st.fixed_dictionaries(
    {"scorers": st.lists(LINES, max_size=4) | VALUES},
    optional={key: VALUES for key in KEYS if key != "scorers"},
)


def sound(parsed: ParsedScenario) -> None:
    assert (parsed.scenario is None) == bool(parsed.problems)
    for problem in parsed.problems:
        assert problem.line >= 1
        assert problem.column >= 1
        assert problem.message
        assert "Input should" not in problem.message
        assert "\n" not in str(problem)[:50]
    places = [(problem.line, problem.column) for problem in parsed.problems]
    assert places == sorted(places)


@given(st.binary(max_size=200))
@example(b"\xef\xbb\xbf")
@example(b"%YAML 9.9\n---\na: 1\n")
@example(b'a: "\\ud800"\n')
@example(b"? \n")
@example(b"a: !<> x")
@example(b"%TAG ! tag:x,2000:\n--- !a b\n")
def test_bytes(data: bytes) -> None:
    sound(parse(data))


@given(st.text(alphabet="abc:-[]{}&*!|>'\"%@`#,? \n\t0.~<", max_size=60))
def test_yaml_like_text(text: str) -> None:
    sound(parse(text.encode()))


@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(SCENARIOS)
def test_values_of_any_kind_and_a_scenario_survives_being_stored(value: Any) -> None:
    parsed = parse(json.dumps(value).encode())
    sound(parsed)
    if parsed.scenario is not None:
        assert Scenario.model_validate_json(parsed.scenario.model_dump_json()) == parsed.scenario


TEXT = st.text(st.characters(categories=["L", "N", "P", "S"], include_characters=" \n\t"), max_size=12)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | TEXT,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXT, inner, max_size=4),
    max_leaves=20,
)


@given(JSON)
def test_json_is_read_as_json(value: Any) -> None:
    document = parse_document(json.dumps({"key": value}, ensure_ascii=False).encode(), file="f")
    assert document.problems == []
    assert document.root is not None
    assert repr(document.root.plain()) == repr({"key": value})


# A recipe has one verifier at most.
@pytest.mark.parametrize("kind", [kind for kind in catalog.BUILTINS["scorers"] if kind != "verifier"])
def test_names_left_out_are_unique(kind: str) -> None:
    fields: dict[str, Any] = {
        "command": "x", "patterns": ["x"], "limit": 1, "path": "x", "paths": ["x"], "rubric": "x",
        "fail_to_pass": ["x"], "output": "x.json", "fields": [{"path": "a", "equals": 1}],
        "require_no_denied": True, "target_tokens": 1, "model": "m",
    }  # fmt: skip
    if kind == "tests":
        fields["cmd"] = "x"
    scorer = catalog.load("scorers", kind)
    own = scorer.Config.model_fields
    line = {"type": kind, **{name: value for name, value in fields.items() if name in own}}
    recipe = parse(json.dumps({"scorers": [line] * 30}).encode()).or_raise().recipe
    assert len({spec.name for spec in recipe.scorers}) == 30
