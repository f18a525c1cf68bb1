from __future__ import annotations

import pytest

from adjudge.errors import ScenarioInvalid
from adjudge.formats.tasks.scenario import KEYS, ParsedScenario, parse_scenario
from adjudge.formats.tasks.schema import scenario_schema
from adjudge.records.task import ExpectedOutcome, ExposedPath, RunLimits, SandboxSettings, Setup, SourceKind

pytestmark = pytest.mark.anyone


class Folder:
    def __call__(self, path: str) -> None:
        raise ValueError("no files here")

    def source(self, path: str, kind: SourceKind) -> None:
        """Everything may be a source."""

    def text(self, path: str) -> str:
        return f"read from {path}\n"


def parse(text: str) -> ParsedScenario:
    return parse_scenario(text.encode(), file="f.yaml", default_name="default", folder=Folder())


RECIPE = "scorers: [{type: forbid_secrets}]\n"


def test_a_recipe_needs_only_scorers() -> None:
    scenario = parse(RECIPE).or_raise()
    assert scenario.name == "default"
    assert scenario.workspace is None
    assert scenario.setup is None
    assert scenario.instruction == ""
    assert scenario.expected_outcome is ExpectedOutcome.COMPLETION
    assert scenario.limits == RunLimits()
    assert scenario.sandbox == SandboxSettings()


def test_every_section() -> None:
    found = parse(
        """
        name: login
        instruction: |
          Refuse empty passwords.
        workspace: {source: git, url: https://example.org/x.git, ref: v1.2, subdir: ./app/}
        setup: {command: make deps, network: true, timeout_s: 60}
        rollup: min
        pass_threshold: 0.75
        expected_outcome: refusal
        limits: {wall_s: 600, tokens: 100000, cost_usd: 1.5, tool_calls: 50}
        sandbox:
          backend: bubblewrap
          expose: [/opt/java/, {source: /opt/node, target: /usr/local/node}]
          env: {CI: "1"}
          memory: 2GiB
          processes: 64
        scorers: [{type: forbid_secrets}]
        """
    )
    assert found.problems == found.warnings == ()
    scenario = found.or_raise()
    assert scenario.instruction == "Refuse empty passwords.\n"
    assert scenario.workspace is not None
    assert (scenario.workspace.ref, scenario.workspace.subdir) == ("v1.2", "app")
    assert scenario.setup == Setup(command="make deps", network=True, timeout_s=60)
    assert scenario.expected_outcome is ExpectedOutcome.REFUSAL
    assert scenario.limits == RunLimits(wall_s=600, tokens=100000, cost_usd=1.5, tool_calls=50)
    assert scenario.sandbox.memory_bytes == 2 * 1024**3
    assert scenario.sandbox.processes == 64
    assert scenario.sandbox.env == {"CI": "1"}
    assert scenario.sandbox.expose == (
        ExposedPath.model_validate({"source": "/opt/java", "target": "/opt/java"}),
        ExposedPath.model_validate({"source": "/opt/node", "target": "/usr/local/node"}),
    )


def test_setup_and_instruction_have_a_short_and_a_long_form() -> None:
    head = f"{RECIPE}workspace: {{source: empty}}\n"
    short = parse(f"{head}instruction: go\nsetup: make\n").or_raise()
    assert short.setup == Setup(command="make", network=False, timeout_s=900)
    assert short.instruction == "go"
    long = parse(f"{head}instruction: {{file: ./docs/task.md}}\nsetup: {{command: make}}\n").or_raise()
    assert long.setup == short.setup
    assert long.instruction == "read from docs/task.md\n"


@pytest.mark.parametrize(
    ("written", "size"),
    [("512MiB", 512 << 20), ("1.5 GiB", 3 << 29), ("1GB", 10**9), ("20000kB", 20_000_000)],
)
def test_memory(written: str, size: int) -> None:
    scenario = parse(f"{RECIPE}sandbox: {{memory: {written}}}\n").or_raise()
    assert scenario.sandbox.memory_bytes == size


@pytest.mark.parametrize(
    "url",
    [
        "https://example.org/x.git", "http://127.0.0.1:8000/x", "ssh://git@example.org/x.git",
        "git@example.org:team/x.git", "git://example.org/x",
    ],
)  # fmt: skip
def test_addresses(url: str) -> None:
    assert parse(f"{RECIPE}workspace: {{source: git, url: '{url}'}}\n").problems == ()


@pytest.mark.parametrize(
    "url", ["file:///x", "/x", "../x", "-oProxyCommand=x", "ext::sh", "https://", "fd::1", "https://a b/", ""]
)
def test_refused_addresses(url: str) -> None:
    assert parse(f"{RECIPE}workspace: {{source: git, url: '{url}'}}\n").problems != ()


def test_a_workspace_without_an_instruction_gets_a_warning() -> None:
    (warning,) = parse(f"{RECIPE}workspace: {{source: empty}}\n").warnings
    assert str(warning) == "f.yaml:2:1: workspace: there is no instruction for an agent"


def test_a_sandbox_that_isolates_nothing_gets_a_warning() -> None:
    (warning,) = parse(f"{RECIPE}sandbox: {{backend: process}}\n").warnings
    assert "isolates nothing" in str(warning)


def test_problems_are_sorted_by_place_and_raised_together() -> None:
    found = parse("zzz: 1\nscorers: [{type: x}]\nlimits: {tokens: -1}\nrollup: 3\n")
    places = [(problem.line, problem.column) for problem in found.problems]
    assert places == sorted(places)
    assert len(places) == 4
    with pytest.raises(ScenarioInvalid) as caught:
        found.or_raise()
    assert caught.value.problems == found.problems


def test_key_order_and_yaml_spelling_make_no_difference() -> None:
    one = parse("name: x\nlimits: {tokens: 5}\nscorers:\n- command: a b\n  type: command\n  timeout_s: 1e1\n")
    two = parse(
        'scorers: [{"type": "command", "timeout_s": 10, "command": \'a b\'}]\n'
        'limits:\n  tokens: 0x5\nname: "x"'
    )
    assert one.or_raise() == two.or_raise()


def test_the_schema_knows_the_same_keys() -> None:
    assert tuple(scenario_schema()["properties"]) == KEYS
