"""Lines that stand for several."""

from __future__ import annotations

import pytest

from adjudge.formats.tasks.presets import PRESETS
from adjudge.formats.tasks.scenario import ParsedScenario, parse_scenario
from adjudge.records.task import SourceKind

pytestmark = pytest.mark.anyone

COMMAND = "  - {type: command, command: 'true'}\n"
ALL = len(PRESETS["integrity"])


class Folder:
    """A folder that nobody asks anything of."""

    def __call__(self, path: str) -> None:
        raise ValueError(path)

    def source(self, path: str, kind: SourceKind) -> None:
        raise ValueError(path)

    def text(self, path: str) -> str:
        raise ValueError(path)


def parsed(text: str) -> ParsedScenario:
    return parse_scenario(text.encode(), file="task.yaml", default_name="task", folder=Folder())


def lines(text: str) -> list[tuple[str, bool]]:
    return [(spec.type, spec.required) for spec in parsed(text).or_raise().recipe.scorers]


def test_a_preset_stands_for_its_types_in_its_place() -> None:
    assert lines(f"scorers:\n  - preset: integrity\n{COMMAND}") == [
        *((kind, False) for kind in PRESETS["integrity"]),
        ("command", True),
    ]


def test_a_preset_can_be_required() -> None:
    text = f"scorers:\n{COMMAND}  - {{preset: integrity, required: true}}\n"
    assert lines(text)[1:] == [(kind, True) for kind in PRESETS["integrity"]]


def test_a_line_of_its_own_takes_the_place_of_the_presets() -> None:
    text = f"scorers:\n{COMMAND}  - preset: integrity\n  - {{type: no_new_skips, required: true}}\n"
    others = [(kind, False) for kind in PRESETS["integrity"] if kind != "no_new_skips"]
    assert lines(text) == [("command", True), *others, ("no_new_skips", True)]


@pytest.mark.parametrize(("level", "required"), [("strict", {True}), ("standard", {False}), ("off", set())])
def test_a_level_for_the_scenario(level: str, required: set[bool]) -> None:
    found = lines(f"scorers:\n{COMMAND}integrity: {level}\n")
    assert {one[1] for one in found[1:]} == required


def test_levels_do_not_add_up_with_presets() -> None:
    assert len(lines(f"scorers:\n{COMMAND}  - preset: integrity\nintegrity: strict\n")) == 1 + ALL


def test_graders_take_presets_too() -> None:
    assert len(lines(f"graders:\n{COMMAND}  - preset: integrity\n")) == 1 + ALL


@pytest.mark.parametrize("dialect", ["scorers", "graders"])
def test_presets_add_no_credit(dialect: str) -> None:
    recipe = parsed(f"{dialect}:\n{COMMAND}integrity: strict\n").or_raise().recipe
    assert [spec.weight for spec in recipe.scorers] == [1.0, *(0.0,) * ALL]


@pytest.mark.parametrize(
    ("text", "where", "message"),
    [
        ("  - preset: integrty\n", "scorers[1].preset", "did you mean 'integrity'?"),
        ("  - {preset: integrity, weight: 2}\n", "scorers[1]", "weight"),
        ("  - preset: 3\n", "scorers[1].preset", "no preset is called"),
        ("integrity: hard\n", "integrity", "strict, standard, off"),
        ("integrity: [strict]\n", "integrity", "strict, standard, off"),
    ],
)
def test_what_is_wrong_is_said_where_it_stands(text: str, where: str, message: str) -> None:
    problems = parsed(f"scorers:\n{COMMAND}{text}").problems
    assert [(problem.where, message in problem.message) for problem in problems] == [(where, True)], problems
