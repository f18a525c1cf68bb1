"""A scenario file to a `Scenario`: everything that is wrong with it at once, in the order of the file."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TypeVar

from adjudge.errors import Problem, ScenarioInvalid
from adjudge.formats.tasks.checking import Findings, check, entries
from adjudge.formats.tasks.document import Node, parse_document
from adjudge.formats.tasks.messages import did_you_mean, unknown_key
from adjudge.formats.tasks.recipe import parse_recipe
from adjudge.formats.tasks.sections import (
    Header,
    ScenarioFolder,
    parse_instruction,
    parse_sandbox,
    parse_setup,
    parse_solution,
    parse_workspace,
)
from adjudge.formats.tasks.turns import parse_turns
from adjudge.records.score import Recipe
from adjudge.records.task import RunLimits, SandboxSettings, Scenario, Turn

__all__ = ["JUDGE_PARTS", "KEYS", "ParsedScenario", "parse_scenario"]

Section = TypeVar("Section")

KEYS = (
    "name", "tags", "instruction", "turns", "workspace", "setup", "solution", "scorers", "graders",
    "integrity", "expect", "rollup", "pass_threshold", "expected_outcome", "error_categories", "limits",
    "sandbox",
)  # fmt: skip
"""Every key at the top of a scenario."""

JUDGE_PARTS = ("llm_judge",)
"""Scorer types that a run without a workspace may have: they are for the judge, who reads the transcript. No
scorer runs there, so that anything else would be passed over in silence."""

_MAX_UNKNOWN = 20


@dataclass(frozen=True, slots=True)
class ParsedScenario:
    """A scenario as far as it could be read. Without problems, `scenario` is there; with any, it is None."""

    scenario: Scenario | None
    problems: tuple[Problem, ...]
    warnings: tuple[Problem, ...]

    def or_raise(self) -> Scenario:
        """The scenario.

        Raises:
            ScenarioInvalid: There are problems; it carries all of them.
        """
        if self.scenario is None:
            raise ScenarioInvalid(self.problems)
        return self.scenario


def parse_scenario(
    data: bytes, *, file: str, default_name: str, folder: ScenarioFolder, to_run: bool = False
) -> ParsedScenario:
    """Read a scenario.

    Args:
        data: The file's bytes.
        file: What to call it in messages.
        default_name: Its name when it does not say one.
        folder: Answers for the files it refers to.
        to_run: Whether an agent is to be run on it. Then it needs an instruction and, without a workspace,
            holds nothing but parts for the judge.
    """
    document = parse_document(data, file=file)
    findings = Findings(file, problems=document.problems)
    scenario = None
    if document.root is not None:
        scenario = _scenario(document.root, findings, default_name, folder)
        if to_run:
            _refuse_unrunnable(document.root, findings)
    if findings.problems:
        scenario = None
    return ParsedScenario(scenario, _in_order(findings.problems), _in_order(findings.warnings))


def _in_order(problems: list[Problem]) -> tuple[Problem, ...]:
    unique = dict.fromkeys(problems)
    return tuple(sorted(unique, key=lambda p: (p.line, p.column, p.where, p.message)))


def _scenario(root: Node, findings: Findings, default_name: str, folder: ScenarioFolder) -> Scenario | None:
    top = entries(root, "", findings)
    if top is None:
        return None
    top = _known(top, findings)

    def section(key: str, parse: Callable[[Node], Section], default: Section) -> Section:
        return parse(top[key]) if key in top else default

    header_fields = {key: node for key, node in top.items() if key in Header.model_fields}
    header = check(Header, root, "", findings, fields=header_fields)
    recipe = parse_recipe(top, header, root, findings, folder)
    instruction = section("instruction", lambda node: parse_instruction(node, findings, folder), "")
    workspace = section("workspace", lambda node: parse_workspace(node, findings, folder), None)
    setup = section("setup", lambda node: parse_setup(node, findings), None)
    solution = section("solution", lambda node: parse_solution(node, findings, folder), None)
    no_turns: tuple[Turn, ...] = ()
    turns = section("turns", lambda node: parse_turns(node, findings), no_turns)
    no_limits: RunLimits | None = RunLimits()
    limits = section("limits", lambda node: check(RunLimits, node, "limits", findings), no_limits)
    sandbox = section("sandbox", lambda node: parse_sandbox(node, findings), SandboxSettings())
    if "setup" in top and "workspace" not in top:
        findings.problem(top["setup"], "setup", "needs a workspace to run in; add one or remove setup")
    if "solution" in top and "workspace" not in top:
        findings.problem(
            top["solution"], "solution", "needs a workspace to solve; add one or remove solution"
        )
    if "turns" in top and "instruction" not in top:
        findings.problem(top["turns"], "turns", "follow the instruction, and there is none; add one")
    if "workspace" in top and "instruction" not in top:
        findings.warn(top["workspace"], "workspace", "there is no instruction for an agent")
    if recipe is not None and header is not None:
        _check_categories(recipe, header.error_categories, top, findings)
    if findings.problems or recipe is None or header is None or limits is None:
        return None
    return Scenario(
        name=header.name or default_name,
        instruction=instruction,
        workspace=workspace,
        setup=setup,
        solution=solution,
        turns=turns,
        tags=dict(header.tags),
        recipe=recipe,
        expected_outcome=header.expected_outcome,
        error_categories=header.error_categories,
        limits=limits,
        sandbox=sandbox,
    )


def _refuse_unrunnable(root: Node, findings: Findings) -> None:
    """What a scenario lacks, or has too much, for an agent to be run on it."""
    top = root.value
    if not isinstance(top, dict):
        return
    if "instruction" not in top:
        findings.problem(root, "instruction", "missing; an agent needs to be told what to do")
    if "workspace" in top:
        return
    if "integrity" in top and top["integrity"].value != "off":
        findings.problem(top["integrity"], "integrity", "needs a workspace, and there is none")
    for dialect in ("scorers", "graders"):
        lines = top[dialect].value if dialect in top else None
        for index, line in enumerate(lines if isinstance(lines, list) else ()):
            preset = line.value.get("preset") if isinstance(line.value, dict) else None
            if preset is not None:
                message = "a preset needs a workspace, and there is none"
                findings.problem(preset, f"{dialect}[{index}].preset", message)
            kind = line.value.get("type") if isinstance(line.value, dict) else None
            if kind is not None and isinstance(kind.value, str) and kind.value not in JUDGE_PARTS:
                findings.problem(
                    kind,
                    f"{dialect}[{index}].type",
                    f"{kind.value[:60]} needs a workspace, and there is none; a run without one takes only "
                    f"{' and '.join(JUDGE_PARTS)}",
                )


def _check_categories(
    recipe: Recipe, known: tuple[str, ...], top: Mapping[str, Node], findings: Findings
) -> None:
    """Categories that a recipe tags with are the scenario's, where it has any."""
    if not known:
        return
    for spec in recipe.scorers:
        fields = spec.config.get("fields")
        for field in fields if isinstance(fields, list | tuple) else ():
            category = field.get("category") if isinstance(field, Mapping) else None
            if isinstance(category, str) and category not in known:
                message = f"{spec.name}: {category!r} is not one of them; {did_you_mean(category, known)}"
                findings.problem(top["error_categories"], "error_categories", message)


def _known(top: Mapping[str, Node], findings: Findings) -> dict[str, Node]:
    """The keys that mean something and have a value; the others are noted."""
    unknown = [key for key in top if key not in KEYS]
    for key in unknown[:_MAX_UNKNOWN]:
        findings.problem(top[key], "", unknown_key(key, KEYS))
    if len(unknown) > _MAX_UNKNOWN:
        rest = len(unknown) - _MAX_UNKNOWN
        findings.problem(top[unknown[_MAX_UNKNOWN]], "", f"and {rest} more unknown keys")
    known = {}
    for key, node in top.items():
        if key not in KEYS:
            continue
        if node.value is None and key not in ("scorers", "graders"):
            findings.problem(node, key, "has no value; give it one or remove the key")
            continue
        known[key] = node
    return known
