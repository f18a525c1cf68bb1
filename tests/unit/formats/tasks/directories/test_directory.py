"""Task directories, as values: files in, a scenario or problems with their places out."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from adjudge.formats.tasks.directories.directory import parse_task_directory
from adjudge.formats.tasks.directories.expected import paths_in
from adjudge.formats.tasks.directories.tomlplaces import find_line
from adjudge.formats.tasks.scenario import ParsedScenario
from adjudge.records.task import SourceKind

pytestmark = pytest.mark.anyone

TOML = """schema_version = "1.4"

[task]
name = "org/sum"

[verifier]
timeout_sec = 30.0
"""
FILES = {
    "instruction.md": "Add the numbers in `/workspace/in.txt`, and write `/workspace/out.json`.",
    "tests/test.sh": "#!/bin/sh\n",
    "environment/workspace/in.txt": "1 2",
}


class Folder:
    """A `TaskFolder` in memory."""

    def __init__(self, files: dict[str, str]) -> None:
        self.contents = files
        self.files: list[str] = []

    def __call__(self, path: str) -> None:
        if not (self.is_file(path) or self.is_folder(path)):
            raise ValueError(f"{path!r} does not exist in the scenario's folder")
        self.files.append(path)

    def text(self, path: str) -> str:
        if path not in self.contents:
            raise ValueError(f"{path!r} does not exist in the scenario's folder")
        return self.contents[path]

    def is_file(self, path: str) -> bool:
        return path in self.contents

    def is_folder(self, path: str) -> bool:
        return any(name.startswith(f"{path}/") for name in self.contents)

    def names(self, path: str) -> Sequence[str]:
        return sorted(
            {name[len(path) + 1 :].split("/")[0] for name in self.contents if name.startswith(f"{path}/")}
        )


def parse(
    toml: str = TOML, more: dict[str, str] | None = None, *, files: dict[str, str] = FILES
) -> ParsedScenario:
    folder = Folder({**files, **(more or {})})
    return parse_task_directory(toml.encode(), file="t/task.toml", default_name="t", folder=folder)


def config(parsed: ParsedScenario) -> dict[str, Any]:
    assert parsed.scenario is not None, parsed.problems
    (spec,) = parsed.scenario.recipe.scorers
    return dict(spec.config)


def test_a_task_becomes_a_scenario_with_one_verifier() -> None:
    parsed = parse()
    assert parsed.warnings == ()
    assert config(parsed) == {
        **config(parsed),
        "script": "tests/test.sh",
        "tests": "tests",
        "output": "/workspace/out.json",
        "workdir": "/workspace",
        "timeout_s": 30.0,
        "network": False,
        "unsupported": "",
    }
    scenario = parsed.scenario
    assert scenario is not None
    assert (scenario.name, scenario.recipe.pass_threshold) == ("org/sum", None)
    assert scenario.workspace is not None
    assert (scenario.workspace.source, scenario.workspace.path) == (
        SourceKind.DIRECTORY,
        "environment/workspace",
    )


def test_what_the_task_says_goes_before_what_is_inferred() -> None:
    toml = TOML + '[metadata]\nexpected_output_path = "/workspace/other.csv"\n'
    assert config(parse(toml))["output"] == "/workspace/other.csv"
    own = toml + '[metadata.adjudge]\nexpected_output_path = "/workspace/own.json"\nmax_reward = 0.9\n'
    assert config(parse(own))["output"] == "/workspace/own.json"
    assert config(parse(own))["max_reward"] == 0.9


def test_nothing_is_inferred_from_several_candidates() -> None:
    parsed = parse(more={"instruction.md": "Write /workspace/a.json and /workspace/b.json."})
    assert config(parsed)["output"] is None
    assert "expected_output_path" in parsed.warnings[0].message


def test_paths_in_an_instruction() -> None:
    text = (
        "See (/workspace/a/b.json), `/app/c.txt`. Not /workspace/folder/ nor x/workspace/d.json: /workspace/e"
    )
    assert paths_in(text, ("/workspace", "/app")) == ["/workspace/a/b.json", "/app/c.txt"]


def test_a_dockerfile_says_what_the_workspace_is() -> None:
    docker = "FROM ubuntu\nWORKDIR /app\nCOPY data /app/data\nCOPY run.sh /app/\n"
    files = {"environment/Dockerfile": docker, "environment/data/x": "", "environment/run.sh": ""}
    parsed = parse(more={**files, "instruction.md": "Write /app/out.json from /app/data/x"})
    assert config(parsed)["workdir"] == "/app"
    assert config(parsed)["output"] == "/app/out.json"
    assert parsed.scenario is not None
    assert parsed.scenario.workspace is not None
    assert [(file.src, file.dest) for file in parsed.scenario.workspace.files] == [
        ("environment/data", "data"),
        ("environment/run.sh", "run.sh"),
    ]


@pytest.mark.parametrize(
    ("toml", "files", "why"),
    [
        ("", {"environment/Dockerfile": "FROM ubuntu\nRUN pip install x"}, "line 2: RUN pip install x"),
        (
            "",
            {"tests/test.sh": "#!/bin/sh\napt-get -y install jq\n"},
            "tests/test.sh, line 2: apt-get -y install",
        ),
        ('[environment]\ndocker_image = "a/b:1"\n', {}, "the image a/b:1"),
        ("", {"environment/docker-compose.yaml": ""}, "several containers"),
        ("", {"tests/Dockerfile": ""}, "an image of its own"),
        ("[verifier.environment]\ncpus = 1\n", {}, "an image of its own"),
        ('[[verifier.collect]]\ncommand = "x"\n', {}, "collects from running containers"),
    ],
)
def test_what_needs_containers_says_so(toml: str, files: dict[str, str], why: str) -> None:
    parsed = parse(toml, files)
    assert why in config(parsed)["unsupported"]
    assert config(parsed)["unsupported"].endswith("so it needs the container backend")
    assert config(parse(toml + "[metadata.adjudge]\non_host = true\n", files))["unsupported"] == ""


def test_tasks_of_several_steps_load_and_say_that_they_are_not_graded() -> None:
    toml = '[[steps]]\nname = "one"\n[[steps]]\nname = "two"\n'
    files = {
        f"steps/{name}/{file}": text
        for name in ("one", "two")
        for file, text in (("instruction.md", f"Do {name}."), ("tests/test.sh", ""))
    }
    parsed = parse(toml, files=files)
    assert config(parsed)["unsupported"] == "tasks of several steps are not graded, and it has 2"
    assert parsed.scenario is not None
    assert parsed.scenario.instruction == "Do one.\n\nDo two."


def test_a_script_that_downloads_without_asking_is_warned_about() -> None:
    script = {"tests/test.sh": "#!/bin/sh\nuvx pytest /tests\n"}
    (warning,) = parse(more=script).warnings
    assert "tests/test.sh seems to need (line 2: uvx)" in warning.message
    assert parse('[verifier]\nnetwork_mode = "public"\n', script).warnings == ()


@pytest.mark.parametrize(
    ("toml", "network"),
    [
        ("", False),
        ('[verifier]\nnetwork_mode = "public"\n', True),
        ('[environment]\nnetwork_mode = "public"\n', True),
        ("[environment]\nallow_internet = true\n", True),
        ('[environment]\nnetwork_mode = "public"\n[verifier]\nnetwork_mode = "no-network"\n', False),
        ('[verifier]\nnetwork_mode = "allowlist"\n', False),
    ],
)
def test_network_only_when_it_is_asked_for(toml: str, network: bool) -> None:
    assert config(parse(toml))["network"] is network


@pytest.mark.parametrize(
    ("toml", "line", "where", "message"),
    [
        ("[verifier\n", 1, "", "not TOML"),
        ("x = 1\n[verifier]\ntimeout_sec = 'long'\n", 3, "verifier.timeout_sec", "a number"),
        ("[verifier]\ntimeout_sec = -1\n", 2, "verifier.timeout_sec", "above 0"),
        ("[verifier]\ntimeout_sec = 1e9\n", 2, "verifier.timeout_sec", "86400"),
        ("[verifier]\nenv = {A = 1}\n", 2, "verifier.env.A", "text"),
        ("[verifier.env]\n'A=B' = 'x'\n", 1, "verifier.env", "'A=B'"),
        (
            "[metadata.adjudge]\nmax_rewards = 1\n",
            2,
            "metadata.adjudge.max_rewards",
            "did you mean 'max_reward'?",
        ),
        ("[metadata]\nexpected_output_path = '/etc/x'\n", 2, "", "not below /workspace"),
        ("[metadata]\nadjudge = 3\n", 2, "metadata.adjudge", "a table"),
        ("[environment]\nworkdir = 'app'\n", 2, "environment.workdir", "absolute"),
        (
            "[metadata.adjudge]\noutput_schema = 'no.json'\n",
            2,
            "metadata.adjudge.output_schema",
            "does not exist",
        ),
    ],
)
def test_problems_have_their_place(toml: str, line: int, where: str, message: str) -> None:
    parsed = parse(toml)
    assert parsed.scenario is None
    problem = parsed.problems[0]
    assert (problem.file, problem.line) == ("t/task.toml", line), problem
    assert message in problem.message
    assert problem.where == where or not where


def test_missing_files_are_named() -> None:
    parsed = parse(files={})
    assert [(p.file, p.message.split(";")[0]) for p in parsed.problems] == [
        ("t/instruction.md", "'instruction.md' does not exist in the scenario's folder"),
        ("t/tests/test.sh", "does not exist"),
    ]


def test_unknown_keys_are_warned_about() -> None:
    parsed = parse("[verifier]\ntimeout_secs = 3\n")
    assert parsed.scenario is not None
    (warning,) = parsed.warnings
    assert (warning.line, warning.message) == (2, "unknown key 'timeout_secs'; did you mean 'timeout_sec'?")


def test_bytes_that_are_no_text() -> None:
    folder = Folder(FILES)
    parsed = parse_task_directory(b"\xff\xfe", file="task.toml", default_name="t", folder=folder)
    assert "not UTF-8" in parsed.problems[0].message


def test_lines_of_keys() -> None:
    text = 'a = 1\n[b]\nc.d = 2\n\n[[e]]\nf = 3\n["g h"]\ni = 1\n'
    places = [("a",), ("b",), ("b", "c", "d"), ("e", "0", "f"), ("g h", "i"), ("x",), ("b", "z")]
    assert [find_line(text, path) for path in places] == [1, 2, 3, 6, 8, 1, 2]
