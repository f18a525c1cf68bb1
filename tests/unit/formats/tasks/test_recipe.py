"""The two dialects, the flags, and what they settle."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from adjudge import catalog
from adjudge.formats.tasks.scenario import ParsedScenario, parse_scenario
from adjudge.records.score import Recipe, Rollup, ScorerSpec
from adjudge.records.task import SourceKind

pytestmark = pytest.mark.anyone


class NoFolder:
    """A scenario's folder with two files in it."""

    def __call__(self, path: str) -> None:
        if path not in ("there.txt", "there", "there/test.sh"):
            raise ValueError(f"{path!r} does not exist in the scenario's folder")

    def source(self, path: str, kind: SourceKind) -> None:
        """Everything may be a source."""

    def text(self, path: str) -> str:
        return "from a file\n"


def parse(text: str) -> ParsedScenario:
    return parse_scenario(text.encode(), file="f", default_name="default", folder=NoFolder())


def recipe(text: str) -> Recipe:
    return parse(text).or_raise().recipe


def only(text: str) -> ScorerSpec:
    (spec,) = recipe(text).scorers
    return spec


def problems(text: str) -> list[str]:
    return [str(problem) for problem in parse(text).problems]


@pytest.mark.parametrize(
    ("kind", "fields", "required"),
    [
        ("command", "command: make", True),
        ("allowed_paths", 'patterns: ["src/**"]', True),
        ("forbid_paths", 'patterns: [".github/*"]', True),
        ("max_files_changed", "limit: 0", True),
        ("forbid_secrets", "", True),
        ("file_exists", "path: a/b", True),
        ("tests_unmodified", "paths: [a]", True),
        ("baseline_unmodified", "paths: [a]", True),
        ("no_new_skips", "", False),
        ("assertions_not_weakened", "", False),
        ("llm_judge", "rubric: tidy?", False),
    ],
)
def test_required_follows_the_type_under_scorers_and_nothing_under_graders(
    kind: str, fields: str, required: bool
) -> None:
    line = f"{{type: {kind}, {fields}}}"
    assert only(f"scorers: [{line}]").required is required
    counted = "{type: forbid_secrets, name: other}"
    assert recipe(f"graders: [{line}, {counted}]").scorers[0].required is False
    assert only(f"scorers: [{{type: {kind}, required: {str(not required).lower()}, {fields}}}]").required is (
        not required
    )


def test_under_scorers_there_is_no_threshold_unless_written() -> None:
    assert recipe("scorers: [{type: forbid_secrets}]").pass_threshold is None
    assert recipe("pass_threshold: 0.5\nscorers: [{type: forbid_secrets}]").pass_threshold == 0.5


def test_under_graders_the_threshold_is_one_unless_written() -> None:
    assert recipe("graders: [{type: forbid_secrets}]").pass_threshold == 1.0
    assert recipe("expect: {pass_threshold: 0.7}\ngraders: [{type: forbid_secrets}]").pass_threshold == 0.7
    assert recipe("expect: {}\ngraders: [{type: forbid_secrets}]").pass_threshold == 1.0


def test_both_dialects_take_a_rollup() -> None:
    for dialect in ("scorers", "graders"):
        assert recipe(f"{dialect}: [{{type: forbid_secrets}}]").rollup is Rollup.WEIGHTED_MEAN
        assert recipe(f"rollup: min\n{dialect}: [{{type: forbid_secrets}}]").rollup is Rollup.MIN


@pytest.mark.parametrize(
    ("dialect", "line", "counted", "weight"),
    [
        ("scorers", "type: forbid_secrets", True, 1.0),
        ("scorers", "type: forbid_secrets, weight: 4", True, 4.0),
        ("scorers", "type: forbid_secrets, required: false", False, 1.0),
        ("scorers", "type: forbid_secrets, required: false, weight: 1", True, 1.0),
        ("scorers", "type: no_new_skips", False, 1.0),
        ("scorers", "type: no_new_skips, weight: 0.5", True, 0.5),
        ("scorers", "type: no_new_skips, required: true", True, 1.0),
        ("scorers", "type: forbid_secrets, gate: true", False, 1.0),
        ("scorers", "type: llm_judge, rubric: x, required: true", False, 0.0),
        ("graders", "type: no_new_skips", True, 1.0),
        ("graders", "type: forbid_secrets, gate: true", False, 1.0),
        ("graders", "type: llm_judge, rubric: x", False, 0.0),
    ],
)
def test_what_counts_is_settled_by_the_dialect(dialect: str, line: str, counted: bool, weight: float) -> None:
    spec = recipe(f"{dialect}: [{{{line}}}, {{type: forbid_secrets, name: other}}]").scorers[0]
    assert (spec.counted, spec.weight) == (counted, weight)


def test_names_left_out_are_the_type_with_the_first_free_number() -> None:
    written = """
        scorers:
          - {type: forbid_secrets}
          - {type: forbid_secrets}
          - {type: no_new_skips, name: forbid_secrets-2}
          - {type: forbid_secrets}
          - {type: no_new_skips}
    """
    assert [spec.name for spec in recipe(written).scorers] == [
        "forbid_secrets", "forbid_secrets-3", "forbid_secrets-2", "forbid_secrets-4", "no_new_skips",
    ]  # fmt: skip


def test_a_written_name_is_never_given_to_another() -> None:
    written = "scorers: [{type: forbid_secrets}, {type: no_new_skips, name: forbid_secrets}]"
    assert [spec.name for spec in recipe(written).scorers] == ["forbid_secrets-2", "forbid_secrets"]


def test_config_has_every_default_filled_in() -> None:
    spec = only("scorers: [{type: command, command: make}]")
    assert spec.config == {
        "isolation": "snapshot",
        "inject": [],
        "allow": [],
        "protect": [],
        "command": "make",
        "expect_exit": 0,
        "timeout_s": 900.0,
    }


def test_a_field_may_have_another_name() -> None:
    spec = only("scorers: [{type: command, cmd: make}]")
    assert spec == only("scorers: [{type: command, command: make}]")
    found = parse("scorers: [{type: command, cmd: make, command: make}]")
    assert [str(problem) for problem in found.problems] == [
        "f:1:27: scorers[0]: 'cmd' is another name of 'command'; write one of them"
    ]


@pytest.mark.parametrize(
    ("lines", "command"),
    [
        ("- {type: command, command: make test, timeout_s: 60}", ("make test", 60.0)),
        ("- {type: command, command: ruff check}\n  - {type: tests, cmd: npm test}", ("npm test", 900.0)),
        ("- {type: pytest}", ("python3 -m pytest", 900.0)),
        ("- {type: pytest, cmd: pytest -q src}", ("pytest -q src", 900.0)),
        ("- {type: command, command: ruff check}", (None, 900.0)),
    ],
)
def test_a_line_that_runs_the_tests_takes_over_how(lines: str, command: tuple[str | None, float]) -> None:
    for text in (
        f"scorers:\n  {lines}\n  - type: baseline_tests\n",
        f"scorers:\n  - preset: integrity\n  {lines}\n",
    ):
        spec = next(spec for spec in recipe(text).scorers if spec.type == "baseline_tests")
        assert (spec.config["command"], spec.config["timeout_s"]) == command


def test_a_line_that_says_its_own_command_keeps_it() -> None:
    own = "{type: baseline_tests, cmd: tox, timeout_s: 5}"
    text = f"scorers:\n  - {{type: command, command: make test}}\n  - {own}\n"
    config = recipe(text).scorers[1].config
    assert (config["command"], config["timeout_s"]) == ("tox", 5.0)


def test_a_weight_on_a_gate_gets_a_warning() -> None:
    found = parse("scorers: [{type: forbid_secrets, gate: true, weight: 2}]")
    assert [str(warning) for warning in found.warnings] == [
        "f:1:46: scorers[0].weight: has no effect: a gate never adds credit"
    ]
    assert found.scenario is not None


def test_too_many_scorers_are_refused() -> None:
    lines = "\n".join("  - {type: forbid_secrets}" for _ in range(201))
    assert problems(f"scorers:\n{lines}\n") == ["f:1:1: scorers: has 201 items; at most 200 are read"]


@pytest.fixture
def strangers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A distribution with scorers: good ones, and every way of being broken."""
    info = tmp_path / "stranger-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: stranger\nVersion: 1.0\n")
    names = ("colour", "implemented", "verifier", "raises", "lax", "taken", "bare", "flagless")
    points = "".join(f"{name} = strange_scorers:{name.title()}\n" for name in names)
    (info / "entry_points.txt").write_text(f"[adjudge.scorers]\n{points}gone = strange_missing:Gone\n")
    (tmp_path / "strange_scorers.py").write_text(
        """
from enum import StrEnum
from typing import ClassVar, Literal
from pydantic import ConfigDict, field_validator
from adjudge.records.paths import ScenarioFile
from adjudge.records.score import ScorerConfig

class Base:
    version = "1"
    required_by_default = True
    advisory_only = False
    class Config(ScorerConfig):
        pass

class Colour(Base):
    \"\"\"Whether the colour is right.\"\"\"
    class Config(ScorerConfig):
        colour: Literal["red", "green"]
        reference: ScenarioFile | None = None
        shades: tuple[int, ...] = ()

class Implemented(Base):
    pass

class Verifier(Base):
    pass

class Raises(Base):
    class Config(ScorerConfig):
        x: int = 0
        @field_validator("x")
        @classmethod
        def check(cls, value):
            raise RuntimeError("a bug of mine")

class Lax(Base):
    class Config(ScorerConfig):
        model_config = ConfigDict(extra="allow")

class Taken(Base):
    class Config(ScorerConfig):
        weight: str = "heavy"

class Bare:
    pass

class Flagless:
    class Config(ScorerConfig):
        pass
"""
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    catalog._strangers.cache_clear()
    yield
    catalog._strangers.cache_clear()
    sys.modules.pop("strange_scorers", None)


@pytest.mark.usefixtures("strangers")
class TestStrangers:
    def test_their_fields_are_checked_like_ours(self) -> None:
        assert only("scorers: [{type: colour, colour: red, shades: [1]}]").config == {
            "colour": "red", "reference": None, "shades": [1],
        }  # fmt: skip
        assert problems("scorers: [{type: colour, colour: gren, shade: 1, shades: [a], weight: -1}]") == [
            "f:1:26: scorers[0].colour: 'gren' is not one of red, green; did you mean 'green'?",
            "f:1:40: scorers[0]: unknown key 'shade'; did you mean 'shades'?",
            "f:1:59: scorers[0].shades[0]: a whole number expected, found the text 'a'",
            "f:1:63: scorers[0].weight: -1 is below 0",
        ]

    def test_files_they_refer_to_must_be_there(self) -> None:
        assert only("scorers: [{type: colour, colour: red, reference: ./there.txt}]").config["reference"] == (
            "there.txt"
        )
        assert problems("scorers: [{type: colour, colour: red, reference: gone.txt}]") == [
            "f:1:39: scorers[0].reference: 'gone.txt' does not exist in the scenario's folder"
        ]
        assert problems("scorers: [{type: colour, colour: red, reference: ../up.txt}]") == [
            "f:1:39: scorers[0].reference: '../up.txt' goes up with '..'; write a path that stays inside"
        ]

    def test_their_types_are_offered_for_misspelt_ones(self) -> None:
        assert "did you mean 'colour'?" in problems("scorers: [{type: color}]")[0]

    def test_implemented_without_gate_gets_a_warning(self) -> None:
        found = parse("scorers: [{type: implemented}]")
        assert [str(warning) for warning in found.warnings] == [
            "f:1:11: scorers[0]: implemented is meant as a gate; write gate: true"
        ]
        assert parse("scorers: [{type: implemented, gate: true}]").warnings == ()

    def test_there_is_one_verifier_at_most(self) -> None:
        one = "{type: verifier, script: there/test.sh}"
        assert problems(f"scorers: [{one}, {one}]") == [
            "f:1:53: scorers[1].type: scorers[0] is a verifier already; one at most"
        ]

    @pytest.mark.parametrize(
        ("kind", "why"),
        [
            ("gone", "cannot be loaded: ModuleNotFoundError: No module named 'strange_missing'"),
            ("bare", "cannot be used: its Config is not a ScorerConfig"),
            ("lax", "cannot be used: its Config accepts unknown keys"),
            ("taken", "cannot be used: its Config has fields that every scorer has already: weight"),
            ("flagless", "cannot be used: it has no advisory_only"),
        ],
    )
    def test_a_broken_one_is_named_with_its_distribution(self, kind: str, why: str) -> None:
        (problem,) = problems(f"scorers: [{{type: {kind}}}]")
        assert problem == f"f:1:12: scorers[0].type: scorer '{kind}' of distribution 'stranger' {why}"

    def test_one_whose_validator_raises_is_named_with_its_distribution(self) -> None:
        (problem,) = problems("scorers: [{type: raises, x: 1}]")
        assert problem == (
            "f:1:12: scorers[0].type: scorer 'raises' of distribution 'stranger' failed on its fields: "
            "a bug of mine"
        )

    def test_its_problems_come_together_with_all_others(self) -> None:
        assert len(problems("nam: x\nscorers: [{type: gone}, {type: comand}, {type: raises, x: 1}]")) == 4
