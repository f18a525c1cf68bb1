"""An experiment file to an `ExperimentPlan`: everything that is wrong with it at once, in its order.

    name: nightly
    matrix:                       # tasks x agents x models x trials
      tasks: [tasks/*]
      agents: [mine, codex:gpt-5]
      models: [small, large]
      trials: 3
    agents:
      mine: {type: command, argv: [my-agent, "{instruction}"]}

`matrix` is also a list of single entries, each with `task`, `agent`, `model` and `trials`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, TypeVar

from pydantic import AfterValidator, Field, JsonValue, StringConstraints

from adjudge import catalog
from adjudge.contracts import AgentConfig
from adjudge.errors import PluginError, PluginNotFound, Problem, ScenarioInvalid, boundary
from adjudge.formats.tasks.checking import Findings, check, entries, known_keys
from adjudge.formats.tasks.document import Node, parse_document
from adjudge.formats.tasks.messages import describe, did_you_mean, unknown_key
from adjudge.formats.tasks.sections import Label
from adjudge.records.base import Record
from adjudge.records.experiment import AGENT_NAME, ExperimentPlan, MatrixBlock, PlannedAgent, RunOptions
from adjudge.records.run import AgentRef
from adjudge.records.task import RunLimits

__all__ = [
    "EXPERIMENT_FILES",
    "KEYS",
    "AgentFlags",
    "CrossProduct",
    "ExperimentHeader",
    "ParsedExperiment",
    "SingleEntry",
    "load_agent",
    "parse_experiment",
]

EXPERIMENT_FILES = ("experiment.yaml", "experiment.yml")
MAX_ENTRIES = 10_000

Section = TypeVar("Section")
Text = Annotated[str, StringConstraints(pattern=r"\S", max_length=1000)]


class ExperimentHeader(Record):
    """The single values at the top of an experiment."""

    name: Label | None = None
    """What reports call it. When left out: the file's name, or its folder's if that is `experiment.yaml`."""
    jobs: int | None = Field(default=None, ge=1, le=1024)
    """How many runs may be under way at once; by the number of processors when left out."""
    limit: int | None = Field(default=None, ge=1)
    """Only the first tasks, this many."""
    max_cost_usd: float | None = Field(default=None, ge=0)
    """No further run is started once those that ended have cost this much, in US dollars."""
    fail_under: float | None = Field(default=None, ge=0, le=1)
    """The share of graded runs that must pass; below it the command exits with 1."""
    sandbox: Text | None = None
    """Which sandbox, whatever the scenarios say."""


class CrossProduct(Record):
    """Every task with every agent, model and trial."""

    tasks: tuple[Text, ...] = Field(min_length=1)
    """Scenario files, folders with scenarios in them, or shell patterns, relative to this file; or digests of
    frozen tasks."""
    agents: tuple[Text, ...] = Field(min_length=1)
    """Agents by the name they have under `agents` or in `adjudge agents`; `name:model` for one model only."""
    models: tuple[Text, ...] = ()
    """Models for every agent that names none itself."""
    trials: int = Field(default=1, ge=1, le=10_000)
    """How often each is run."""


class SingleEntry(Record):
    """One task with one agent."""

    task: Text
    """A scenario, a folder, a shell pattern, or the digest of a frozen task."""
    agent: Text
    """The agent, or `name:model`."""
    model: Text | None = None
    """The model; the agent's own when left out."""
    trials: int = Field(default=1, ge=1, le=10_000)
    """How often it is run."""


def _known_agent(name: str) -> str:
    if name not in catalog.BUILTINS.get("agents", {}) and name not in catalog.names("agents"):
        near = did_you_mean(name, catalog.names("agents"))
        raise ValueError(f"no agent is called {name[:60]!r}; {near}")
    return name


class AgentFlags(Record):
    """What every agent of an experiment may say, whatever its type."""

    type: Annotated[str, AfterValidator(_known_agent)] | None = None
    """Which agent: a name from `adjudge agents`. When left out: the name it is given here."""
    model: Text | None = None
    """The model it is run with, instead of those of the matrix."""


KEYS = ("matrix", "agents", "where", "limits", "judge", *ExperimentHeader.model_fields)
"""Every key at the top of an experiment."""


@dataclass(frozen=True, slots=True)
class ParsedExperiment:
    """An experiment as far as it could be read. Without problems, `plan` is there; with any, it is None."""

    plan: ExperimentPlan | None
    problems: tuple[Problem, ...]

    def or_raise(self) -> ExperimentPlan:
        """The plan.

        Raises:
            ScenarioInvalid: There are problems; it carries all of them.
        """
        if self.plan is None:
            raise ScenarioInvalid(self.problems)
        return self.plan


def parse_experiment(data: bytes, *, file: str, default_name: str, folder: Path) -> ParsedExperiment:
    """Read an experiment.

    Args:
        data: The file's bytes.
        file: What to call it in messages.
        default_name: Its name when it does not say one.
        folder: What its paths are relative to.
    """
    document = parse_document(
        data, file=file, holding="experiment", needs="an experiment needs at least 'matrix'"
    )
    findings = Findings(file, problems=document.problems)
    plan = None
    if document.root is not None:
        plan = _plan(document.root, findings, default_name, folder)
    if findings.problems:
        plan = None
    problems = sorted(dict.fromkeys(findings.problems), key=lambda p: (p.line, p.column, p.where, p.message))
    return ParsedExperiment(plan, tuple(problems))


def load_agent(name: str) -> Any:
    """The agent class behind a type, known to have what an experiment needs of it.

    Raises:
        PluginNotFound: Nobody provides the type.
        PluginError: The extension that provides it is broken; the message names its distribution.
    """
    agent = catalog.load("agents", name)
    config = getattr(agent, "Config", None)
    wrong = None
    if not (isinstance(config, type) and issubclass(config, AgentConfig)):
        wrong = "its Config is not an AgentConfig"
    elif taken := sorted(set(known_keys(config)) & set(AgentFlags.model_fields)):
        wrong = f"its Config has fields that every agent has already: {', '.join(taken)}"
    if wrong is not None:
        distribution = catalog.distribution_of("agents", name)
        raise PluginError(
            f"agent {name!r} of distribution {distribution!r} cannot be used: {wrong}",
            hint=f"update or remove {distribution}",
        )
    return agent


def _plan(root: Node, findings: Findings, default_name: str, folder: Path) -> ExperimentPlan | None:
    top = entries(root, "", findings)
    if top is None:
        return None
    for key in top:
        if key not in KEYS:
            findings.problem(top[key], "", unknown_key(key, KEYS))
        elif top[key].value is None:
            findings.problem(top[key], key, "has no value; give it one or remove the key")
    top = {key: node for key, node in top.items() if key in KEYS and node.value is not None}

    def section(key: str, parse: Callable[[Node], Section], default: Section) -> Section:
        return parse(top[key]) if key in top else default

    fields = {key: node for key, node in top.items() if key in ExperimentHeader.model_fields}
    header = check(ExperimentHeader, root, "", findings, fields=fields)
    no_agents: dict[str, PlannedAgent] = {}
    agents = section("agents", lambda node: _agents(node, findings), no_agents)
    no_limits: RunLimits | None = RunLimits()
    limits = section("limits", lambda node: check(RunLimits, node, "limits", findings), no_limits)
    nothing: Mapping[str, str] = {}
    where = section("where", lambda node: _where(node, findings), nothing)
    judge = section("judge", lambda node: _judge(node, findings), None)
    blocks: tuple[MatrixBlock, ...] = ()
    if "matrix" in top:
        reader = _MatrixReader(findings, agents, _named(top))
        blocks = reader.read(top["matrix"])
    elif "matrix" not in (root.value if isinstance(root.value, dict) else {}):
        findings.problem(root, "matrix", "missing; an experiment needs tasks and agents")
    if findings.problems or header is None or limits is None:
        return None
    return ExperimentPlan(
        name=header.name or default_name,
        folder=str(folder),
        blocks=blocks,
        where=where,
        limit=header.limit,
        options=RunOptions(
            jobs=header.jobs,
            limits=limits,
            max_cost_usd=header.max_cost_usd,
            fail_under=header.fail_under,
            sandbox=header.sandbox,
        ),
        judge=judge,
    )


def _named(top: Mapping[str, Node]) -> list[str]:
    """Names under `agents`, those with problems of their own included."""
    node = top.get("agents")
    return list(node.value) if node is not None and isinstance(node.value, dict) else []


def _agents(node: Node, findings: Findings) -> dict[str, PlannedAgent]:
    fields = entries(node, "agents", findings)
    found: dict[str, PlannedAgent] = {}
    for name, agent in (fields or {}).items():
        where = f"agents.{name}"
        if not AGENT_NAME.match(name):
            findings.problem(agent, where, "an agent's name is 1 to 100 characters without a colon")
            continue
        planned = _agent(name, agent, where, findings)
        if planned is not None:
            found[name] = planned
    return found


def _agent(name: str, node: Node, where: str, findings: Findings) -> PlannedAgent | None:
    fields = entries(node, where, findings)
    if fields is None:
        return None
    flag_names = known_keys(AgentFlags)
    flags = check(
        AgentFlags, node, where, findings, fields={k: v for k, v in fields.items() if k in flag_names}
    )
    if flags is None:
        return None
    kind = flags.type or name
    try:
        agent = load_agent(kind)
    except PluginNotFound:
        near = did_you_mean(kind, catalog.names("agents"))
        findings.problem(node, f"{where}.type", f"missing, and no agent is called {kind[:60]!r}; {near}")
        return None
    except PluginError as error:
        findings.problem(node, where, error.message)
        return None
    own = {key: value for key, value in fields.items() if key not in flag_names}
    try:
        with boundary(PluginError, f"agent {kind!r} failed on its fields"):
            config = check(
                agent.Config,
                node,
                where,
                findings,
                fields=own,
                also_known=flag_names,
                needed_by=f"agent {kind}",
            )
    except PluginError as error:
        findings.problem(node, where, error.message)
        return None
    if config is None:
        return None
    written: dict[str, JsonValue] = config.model_dump(mode="json")
    return PlannedAgent(ref=AgentRef(name=name, type=kind, config=written), model=flags.model)


def _where(node: Node, findings: Findings) -> Mapping[str, str]:
    fields = entries(node, "where", findings) or {}
    found = {}
    for key, value in fields.items():
        if not isinstance(value.value, str | int) or isinstance(value.value, bool):
            findings.problem(value, f"where.{key}", f"text expected, found {describe(value.plain())}")
        found[key] = str(value.value)
    return found


def _judge(node: Node, findings: Findings) -> JsonValue:
    """Kept as written: what a judge takes is checked by whoever makes one of it."""
    entries(node, "judge", findings)
    written: JsonValue = node.plain()
    return written


class _MatrixReader:
    def __init__(self, findings: Findings, agents: Mapping[str, PlannedAgent], named: list[str]) -> None:
        self._findings = findings
        self._agents = agents
        self._named = named

    def read(self, node: Node) -> tuple[MatrixBlock, ...]:
        if isinstance(node.value, dict):
            block = self._product(node, node.value)
            return () if block is None else (block,)
        if not isinstance(node.value, list):
            found = describe(node.plain())
            self._findings.problem(node, "matrix", f"a mapping or a list of entries expected, found {found}")
            return ()
        if not node.value:
            self._findings.problem(node, "matrix", "must not be empty")
        if len(node.value) > MAX_ENTRIES:
            self._findings.problem(
                node, "matrix", f"has {len(node.value)} items; at most {MAX_ENTRIES} are read"
            )
            return ()
        read = [self._entry(item, f"matrix[{index}]") for index, item in enumerate(node.value)]
        return tuple(block for block in read if block is not None)

    def _product(self, node: Node, fields: Mapping[str, Node]) -> MatrixBlock | None:
        written = check(CrossProduct, node, "matrix", self._findings, needed_by="a matrix")
        if written is None:
            return None
        agents = [
            self._agent(name, _item(fields["agents"], index), f"matrix.agents[{index}]")
            for index, name in enumerate(written.agents)
        ]
        return self._block(written.tasks, agents, written.models, written.trials)

    def _entry(self, node: Node, where: str) -> MatrixBlock | None:
        written = check(SingleEntry, node, where, self._findings, needed_by="an entry")
        if written is None:
            return None
        assert isinstance(node.value, dict)
        agent = self._agent(written.agent, node.value["agent"], f"{where}.agent")
        if agent is not None and written.model is not None:
            if ":" in written.agent:
                self._findings.problem(
                    node.value["model"],
                    f"{where}.model",
                    "the agent names a model already; write one of them",
                )
            agent = agent.model_copy(update={"model": written.model})
        return self._block((written.task,), [agent], (), written.trials)

    def _block(
        self, tasks: tuple[str, ...], agents: list[PlannedAgent | None], models: tuple[str, ...], trials: int
    ) -> MatrixBlock | None:
        found = tuple(agent for agent in agents if agent is not None)
        if len(found) < len(agents):
            return None
        return MatrixBlock(tasks=tasks, agents=found, models=models, trials=trials)

    def _agent(self, text: str, node: Node, where: str) -> PlannedAgent | None:
        """The agent that a text means: one of the file's own, or one of the catalogue as it is."""
        name, colon, model = text.partition(":")
        if colon and not model.strip():
            self._findings.problem(node, where, f"{text[:60]!r} has no model after the colon")
            return None
        planned = self._agents.get(name)
        if planned is None:
            if name in self._named:
                # It has problems of its own, which are said where it stands.
                return None
            bare = Node({}, node.line, node.column)
            known = [*self._named, *catalog.names("agents")]
            if name not in known:
                self._findings.problem(
                    node, where, f"no agent is called {name[:60]!r}; {did_you_mean(name, known)}"
                )
                return None
            planned = _agent(name, bare, where, self._findings)
        if planned is not None and model:
            planned = planned.model_copy(update={"model": model})
        return planned


def _item(node: Node, index: int) -> Node:
    assert isinstance(node.value, list)
    return node.value[index]
