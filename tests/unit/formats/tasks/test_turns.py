from __future__ import annotations

import pytest

from adjudge.formats.tasks.scenario import ParsedScenario, parse_scenario
from adjudge.formats.tasks.turns import choose_message
from adjudge.records.task import SourceKind, Turn, TurnChoice

pytestmark = pytest.mark.anyone

HEAD = "instruction: Do it.\nworkspace: {source: empty}\nscorers: [{type: forbid_secrets}]\n"


class Folder:
    def __call__(self, path: str) -> None:
        raise ValueError("no files here")

    def source(self, path: str, kind: SourceKind) -> None:
        """Everything may be a source."""

    def text(self, path: str) -> str:
        return f"read from {path}\n"


def parse(text: str, *, to_run: bool = False) -> ParsedScenario:
    return parse_scenario(text.encode(), file="f.yaml", default_name="d", folder=Folder(), to_run=to_run)


def problems(text: str, *, to_run: bool = False) -> list[str]:
    return [str(problem) for problem in parse(text, to_run=to_run).problems]


def test_turns_are_messages_or_choices() -> None:
    scenario = parse(
        HEAD
        + """turns:
  - Now the tests.
  - when:
      - {contains: "?", say: Decide yourself.}
      - {matches: "(?i)all .* pass", say: Then the changelog.}
      - default: Go on.
"""
    ).or_raise()
    assert scenario.turns == (
        Turn(choices=(TurnChoice(say="Now the tests."),)),
        Turn(
            choices=(
                TurnChoice(contains="?", say="Decide yourself."),
                TurnChoice(matches="(?i)all .* pass", say="Then the changelog."),
                TurnChoice(say="Go on."),
            )
        ),
    )
    plain, choice = scenario.turns
    assert choose_message(plain, "whatever") == "Now the tests."
    assert choose_message(choice, "Which one? ALL TESTS PASS") == "Decide yourself."
    assert choose_message(choice, "ALL TESTS PASS") == "Then the changelog."
    assert choose_message(choice, "") == "Go on."


def test_a_turn_without_a_fitting_choice_says_nothing() -> None:
    turn = Turn(choices=(TurnChoice(contains="ready", say="Go."),))
    assert choose_message(turn, "Ready") is None
    assert choose_message(turn, "ready") == "Go."


@pytest.mark.parametrize(
    ("turns", "expected"),
    [
        ("turns: Go on.\n", ["f.yaml:4:1: turns: a list expected, found the text 'Go on.'"]),
        ("turns: []\n", ["f.yaml:4:1: turns: must not be empty; remove it for a run of one turn"]),
        ("turns: ['']\n", ["f.yaml:4:9: turns[0]: must not be empty"]),
        (
            "turns: [3]\n",
            ["f.yaml:4:9: turns[0]: text, or a mapping with 'when', expected; found the number 3"],
        ),
        (
            "turns: [{wen: []}]\n",
            ["f.yaml:4:10: turns[0]: unknown key 'wen'; did you mean 'when'?"],
        ),
        (
            "turns:\n  - when:\n      - {contian: x, say: y}\n",
            ["f.yaml:6:10: turns[0].when[0]: unknown key 'contian'; did you mean 'contains'?"],
        ),
        (
            "turns:\n  - when:\n      - {say: y}\n    wen: 3\n",
            [
                "f.yaml:6:9: turns[0].when[0]: needs contains or matches with say, or default",
                "f.yaml:7:5: turns[0]: unknown key 'wen'; did you mean 'when'?",
            ],
        ),
        (
            "turns:\n  - when:\n      - {matches: '(?=x)', say: y}\n",
            [
                "f.yaml:6:10: turns[0].when[0].matches: '(?=x)' is not a regular expression: invalid perl "
                "operator: (?=; look-around and back references are not offered"
            ],
        ),
        (
            "turns:\n  - when:\n      - default: x\n      - {contains: a, matches: b, say: y}\n",
            [
                "f.yaml:6:9: turns[0].when[0].default: nothing after default is ever said",
                "f.yaml:7:23: turns[0].when[1].matches: write contains or matches, not both",
            ],
        ),
        (
            "turns:\n  - when:\n      - {contains: a}\n",
            ["f.yaml:6:9: turns[0].when[0].say: missing; a choice needs the message"],
        ),
    ],
)
def test_wrong_turns_say_what_is_wrong_and_where(turns: str, expected: list[str]) -> None:
    assert problems(HEAD + turns) == expected


def test_turns_follow_an_instruction() -> None:
    assert problems("turns: [Go on.]\nscorers: [{type: forbid_secrets}]\n") == [
        "f.yaml:1:1: turns: follow the instruction, and there is none; add one"
    ]


def test_a_run_without_a_workspace_takes_only_parts_for_the_judge() -> None:
    text = (
        "instruction: Answer.\n"
        "scorers:\n"
        "  - {type: llm_judge, rubric: friendly?}\n"
        "  - {type: forbid_secrets}\n"
        "  - {type: command, command: make}\n"
    )
    assert problems(text) == []
    assert problems(text, to_run=True) == [
        "f.yaml:4:6: scorers[1].type: forbid_secrets needs a workspace, and there is none; a run without one "
        "takes only llm_judge",
        "f.yaml:5:6: scorers[2].type: command needs a workspace, and there is none; a run without one takes "
        "only llm_judge",
    ]
    assert problems("instruction: Answer.\nscorers: [{type: llm_judge, rubric: x}]\n", to_run=True) == []
    asks_itself = "instruction: Answer.\nscorers: [{type: model_judge, rubric: x, model: m}]\n"
    assert len(problems(asks_itself, to_run=True)) == 1, "no scorer runs, so it would never be asked"


def test_a_run_needs_an_instruction() -> None:
    assert problems("workspace: {source: empty}\nscorers: [{type: forbid_secrets}]\n", to_run=True) == [
        "f.yaml:1:1: instruction: missing; an agent needs to be told what to do"
    ]
