from __future__ import annotations

from pathlib import Path

import jsonschema
import pytest

from adjudge.errors import ScenarioInvalid
from adjudge.formats.experiments.experiment import KEYS, ParsedExperiment, parse_experiment
from adjudge.formats.experiments.schema import experiment_schema
from adjudge.formats.tasks.document import parse_document
from adjudge.records.experiment import RunOptions
from adjudge.records.task import RunLimits

pytestmark = pytest.mark.anyone

SCHEMA = experiment_schema()
MATRIX = "matrix: {tasks: [a], agents: [noop]}\n"


def parse(text: str) -> ParsedExperiment:
    return parse_experiment(text.encode(), file="e.yaml", default_name="default", folder=Path("place"))


def problems(text: str) -> list[str]:
    return [str(problem) for problem in parse(text).problems]


def accepted_by_the_schema(text: str) -> bool:
    root = parse_document(text.encode(), file="e.yaml").root
    assert root is not None
    return bool(jsonschema.Draft202012Validator(SCHEMA).is_valid(root.plain()))


def test_a_cross_product() -> None:
    text = """
name: nightly
matrix:
  tasks: [tasks/*, other]
  agents: [mine, "noop:small", oracle]
  models: [one, two]
  trials: 3
agents:
  mine: {type: command, argv: [agent, "{instruction}"], model: own}
where: {difficulty: hard, trial: 1}
jobs: 4
limit: 10
limits: {wall_s: 60}
max_cost_usd: 2.5
fail_under: 0.8
sandbox: process
judge: {jurors: [{provider: x}]}
"""
    plan = parse(text).or_raise()
    assert accepted_by_the_schema(text)
    assert (plan.name, plan.folder, plan.limit) == ("nightly", "place", 10)
    assert plan.where == {"difficulty": "hard", "trial": "1"}
    assert plan.options == RunOptions(
        jobs=4, limits=RunLimits(wall_s=60), max_cost_usd=2.5, fail_under=0.8, sandbox="process"
    )
    assert plan.judge == {"jurors": [{"provider": "x"}]}
    (block,) = plan.blocks
    assert (block.tasks, block.models, block.trials) == (("tasks/*", "other"), ("one", "two"), 3)
    assert [(agent.ref.name, agent.ref.type, agent.model) for agent in block.agents] == [
        ("mine", "command", "own"), ("noop", "noop", "small"), ("oracle", "oracle", None),
    ]  # fmt: skip
    assert block.agents[0].ref.config["argv"] == ["agent", "{instruction}"]


def test_single_entries() -> None:
    text = """
matrix:
  - {task: a, agent: noop}
  - {task: b, agent: oracle, model: m, trials: 2}
  - {task: c, agent: "oracle:n"}
"""
    plan = parse(text).or_raise()
    assert accepted_by_the_schema(text)
    assert plan.name == "default"
    assert [
        (block.tasks, block.agents[0].ref.name, block.agents[0].model, block.trials) for block in plan.blocks
    ] == [(("a",), "noop", None, 1), (("b",), "oracle", "m", 2), (("c",), "oracle", "n", 1)]


def test_names_may_hold_what_a_file_name_may_not() -> None:
    plan = parse(
        'matrix: {tasks: [a], agents: ["a/b", "A b"]}\nagents: {"a/b": {type: noop}, "A b": {type: noop}}\n'
    )
    assert [agent.ref.name for agent in plan.or_raise().blocks[0].agents] == ["a/b", "A b"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", ["e.yaml:1:1: the file is empty; an experiment needs at least 'matrix'"]),
        ("name: x\n", ["e.yaml:1:1: matrix: missing; an experiment needs tasks and agents"]),
        (MATRIX + "job: 3\n", ["e.yaml:2:1: unknown key 'job'; did you mean 'jobs'?"]),
        (MATRIX + "max_cost: 3\n", ["e.yaml:2:1: unknown key 'max_cost'; did you mean 'max_cost_usd'?"]),
        (MATRIX + "jobs: 0\n", ["e.yaml:2:1: jobs: 0 is below 1"]),
        (MATRIX + "jobs:\n", ["e.yaml:2:1: jobs: has no value; give it one or remove the key"]),
        (MATRIX + "fail_under: 80\n", ["e.yaml:2:1: fail_under: 80 is above 1"]),
        (MATRIX + "judge: yes\n", ["e.yaml:2:1: judge: a mapping expected, found the text 'yes'"]),
        (MATRIX + "limits: {wall: 3}\n", ["e.yaml:2:10: limits: unknown key 'wall'; did you mean 'wall_s'?"]),
        (
            MATRIX + "where: {x: [1]}\n",
            ["e.yaml:2:9: where.x: text expected, found a list"],
        ),
        ("matrix: 3\n", ["e.yaml:1:1: matrix: a mapping or a list of entries expected, found the number 3"]),
        ("matrix: []\n", ["e.yaml:1:1: matrix: must not be empty"]),
        (
            "matrix: {tasks: [], agent: [noop]}\n",
            [
                "e.yaml:1:10: matrix.tasks: must not be empty",
                "e.yaml:1:21: matrix: unknown key 'agent'; did you mean 'agents'?",
            ],
        ),
        (
            "matrix: {tasks: [a], agents: [nop, 'noop:']}\n",
            [
                "e.yaml:1:31: matrix.agents[0]: no agent is called 'nop'; did you mean 'noop'?",
                "e.yaml:1:36: matrix.agents[1]: 'noop:' has no model after the colon",
            ],
        ),
        (
            "matrix:\n  - {task: a}\n  - {task: a, agent: 'noop:m', model: n}\n",
            [
                "e.yaml:2:5: matrix[0].agent: missing; an entry needs it",
                "e.yaml:3:32: matrix[1].model: the agent names a model already; write one of them",
            ],
        ),
        (
            "matrix: {tasks: [a], agents: [mine]}\nagents:\n  mine: {type: comand, argv: [x]}\n",
            ["e.yaml:3:10: agents.mine.type: no agent is called 'comand'; did you mean 'command'?"],
        ),
        (
            "matrix: {tasks: [a], agents: [mine]}\nagents:\n  mine: {argv: [x]}\n",
            ["e.yaml:3:3: agents.mine.type: missing, and no agent is called 'mine'; "],
        ),
        (
            "matrix: {tasks: [a], agents: [command]}\nagents:\n  command: {argvv: [x]}\n",
            ["e.yaml:3:13: agents.command: unknown key 'argvv'; did you mean 'argv'?"],
        ),
        (
            "matrix: {tasks: [a], agents: [noop]}\nagents:\n  'a:b': {type: noop}\n",
            ["e.yaml:3:3: agents.a:b: an agent's name is 1 to 100 characters without a colon"],
        ),
    ],
)
def test_what_is_wrong_is_said_where_it_stands(text: str, expected: list[str]) -> None:
    found = problems(text)
    assert len(found) == len(expected)
    for said, wanted in zip(found, expected, strict=True):
        assert said.startswith(wanted)
    with pytest.raises(ScenarioInvalid):
        parse(text).or_raise()


def test_the_schema_and_the_reader_know_the_same_keys() -> None:
    jsonschema.Draft202012Validator.check_schema(SCHEMA)
    assert sorted(SCHEMA["properties"]) == sorted(KEYS)
    for name, field in SCHEMA["properties"].items():
        assert field.get("description"), name
    assert not accepted_by_the_schema(MATRIX + "jobs: 0\n")
    assert not accepted_by_the_schema("matrix: {tasks: [a]}\n")
