"""Lines for a recipe that attacks got through: which could help, and which of those that did are enough.

What is proposed here is only a candidate. Whether a line works is found out by grading with it.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from adjudge import catalog
from adjudge.formats.tasks.presets import PRESETS
from adjudge.formats.tasks.scenario import parse_scenario
from adjudge.formats.testcommands.javascript import parse_script_name
from adjudge.formats.testcommands.suites import runs_tests
from adjudge.gates.integrity import FAMILIES
from adjudge.records.attack import AttackResult, AttackTarget, SuggestedLine
from adjudge.records.score import Recipe, ScorerSpec
from adjudge.records.task import SourceKind, Task

__all__ = ["Candidate", "apply_line", "candidate_lines", "choose_lines", "with_lines"]

_MAX_PATHS = 20
_RUNS_TESTS = ("command", "tests", "pytest")


class Candidate(NamedTuple):
    """A line that could be added, or a field that could be set on a line that is there."""

    line: str
    """What a person would write."""
    specs: tuple[ScorerSpec, ...]
    """What it stands for, under names that no other line and no other candidate has."""
    replaces: str | None = None
    """The row whose place it takes; None for a line that is added."""

    @property
    def renamed(self) -> Mapping[str, str]:
        """For a line that takes another's place: the other's name → the name it was graded under."""
        return {} if self.replaces is None else {self.replaces: self.specs[0].name}


def candidate_lines(task: Task, target: AttackTarget, solved: Sequence[str]) -> tuple[Candidate, ...]:
    """Lines that could stop an attack, the most useful first.

    Args:
        task: What is attacked.
        target: Its workspace.
        solved: Paths that the reference solution changes; empty when there is none.
    """
    recipe = task.scenario.recipe
    there = {spec.type for spec in recipe.scorers}
    written: list[str] = []
    for spec in recipe.scorers:
        command = spec.config.get("command")
        if spec.type == "command" and isinstance(command, str) and _runs_tests(command):
            written.append(_flow({"type": "tests", "command": command, "gate": True}))
    if not set(PRESETS["integrity"]) <= {spec.type for spec in recipe.scorers if spec.required}:
        written.append("{preset: integrity, required: true}")
    written += [
        _flow({"type": kind, "gate": True})
        for kind in FAMILIES
        if kind in catalog.BUILTINS["scorers"]
        and kind not in PRESETS["integrity"]
        and kind not in ("tests_unmodified", "baseline_unmodified")
        and kind not in there
    ]
    tests = _shortened(target.tests)
    if tests and "tests_unmodified" not in there:
        written.append(_flow({"type": "tests_unmodified", "paths": tests, "gate": True}))
    allowed = sorted(solved) or _shortened(target.product)
    if allowed and len(allowed) <= _MAX_PATHS and "allowed_paths" not in there:
        written.append(_flow({"type": "allowed_paths", "patterns": list(allowed), "gate": True}))
    found: list[Candidate] = []
    for line in written:
        specs = _parsed(line)
        if specs:
            found.append(Candidate(line, _renamed(specs, len(found))))
    for line, spec in _changed_lines(recipe):
        found.append(Candidate(f"{line}  # on {spec.name!r}", _renamed((spec,), len(found)), spec.name))
    return tuple(found)


def _changed_lines(recipe: Recipe) -> Iterator[tuple[str, ScorerSpec]]:
    """Fields that lines of the recipe could have, with what the lines are then."""
    counted = [spec for spec in recipe.scorers if spec.counted and spec.weight > 0]
    for spec in recipe.scorers:
        if spec.type == "command" and spec.config.get("isolation") == "snapshot":
            config = {**spec.config, "isolation": "clean"}
            yield "isolation: clean", spec.model_copy(update={"config": config})
        if (
            spec in counted
            and len(counted) > 1
            and spec.type in _RUNS_TESTS
            and not spec.config.get("inject")
        ):
            # Tests that the agent sees have to pass, but passing them alone should earn nothing.
            yield "weight: 0", spec.model_copy(update={"weight": 0.0})


def with_lines(task: Task, candidates: Sequence[Candidate]) -> Task:
    """The task with the lines of every candidate in its recipe, to grade them all at once."""
    added = tuple(spec for candidate in candidates for spec in candidate.specs)
    return _with_specs(task, (*task.scenario.recipe.scorers, *added))


def apply_line(task: Task, candidate: Candidate) -> Task:
    """The task with one candidate in its recipe, as a person would write it."""
    specs = task.scenario.recipe.scorers
    if candidate.replaces is not None:
        changed = candidate.specs[0].model_copy(update={"name": candidate.replaces})
        return _with_specs(
            task, tuple(changed if spec.name == candidate.replaces else spec for spec in specs)
        )
    kept = tuple(spec for spec in specs if spec.type not in {added.type for added in _overriding(candidate)})
    return _with_specs(task, (*kept, *candidate.specs))


def _overriding(candidate: Candidate) -> tuple[ScorerSpec, ...]:
    """Of a preset: what it brings is what counts, whatever weaker line of the type was there."""
    return candidate.specs if candidate.line.startswith("{preset") else ()


def choose_lines(results: Sequence[AttackResult], order: Sequence[str]) -> tuple[SuggestedLine, ...]:
    """Few lines that together stop whatever a line can stop, each the one that stops most of the rest."""
    left = {result.name for result in results if result.lines}
    stops = {line: {result.name for result in results if line in result.lines} for line in order}
    chosen: list[SuggestedLine] = []
    while left:
        line = max(order, key=lambda one: (len(stops[one] & left), -order.index(one)))
        gained = stops[line] & left
        if not gained:
            break
        chosen.append(SuggestedLine(line=line, stops=tuple(sorted(stops[line]))))
        left -= gained
    return tuple(chosen)


def _with_specs(task: Task, specs: tuple[ScorerSpec, ...]) -> Task:
    scenario = task.scenario
    recipe: Recipe = scenario.recipe.model_copy(update={"scorers": specs})
    return task.model_copy(update={"scenario": scenario.model_copy(update={"recipe": recipe})})


def _renamed(specs: Sequence[ScorerSpec], number: int) -> tuple[ScorerSpec, ...]:
    """Names that cannot clash: no recipe writes a control character."""
    return tuple(spec.model_copy(update={"name": f"\x01{number}:{spec.name}"}) for spec in specs)


def _runs_tests(command: str) -> bool:
    return runs_tests(command) or parse_script_name(command) is not None


def _shortened(paths: Sequence[str]) -> list[str]:
    """Paths, or the folders they are in where there are many."""
    if len(paths) <= _MAX_PATHS:
        return list(paths)
    folders = sorted({path.partition("/")[0] for path in paths})
    return folders if len(folders) <= _MAX_PATHS else []


def _flow(fields: Mapping[str, object]) -> str:
    """A line of a recipe in YAML's flow style."""
    return "{" + ", ".join(f"{key}: {_scalar(value)}" for key, value in fields.items()) + "}"


def _scalar(value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, list):
        return f"[{', '.join(json.dumps(item, ensure_ascii=False) for item in value)}]"
    text = str(value)
    return text if text.replace("_", "").isalnum() else json.dumps(text, ensure_ascii=False)


def _parsed(line: str) -> tuple[ScorerSpec, ...]:
    """What a line stands for; nothing where it cannot be written like this."""
    text = f"scorers:\n  - {line}\n"
    parsed = parse_scenario(text.encode(), file="a line", default_name="line", folder=_NoFolder())
    return () if parsed.scenario is None else parsed.scenario.recipe.scorers


class _NoFolder:
    """A `ScenarioFolder` without files: lines of ours refer to none."""

    def __call__(self, path: str) -> None:
        raise ValueError(f"{path!r} is not there")

    def source(self, path: str, kind: SourceKind) -> None:
        raise ValueError(f"{path!r} is not there")

    def text(self, path: str) -> str:
        raise ValueError(f"{path!r} is not there")
