"""The recipe of a scenario: scorer lines in either dialect to one `Recipe`.

Under `scorers` a type says whether it is required, and there is no threshold unless one is written. Under
`graders` nothing is required unless said, and the threshold is 1.0 unless another is written. What follows
from the dialect, above all which scorers count, is settled here; nothing later asks how a recipe was written.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from pydantic import Field

from adjudge import catalog
from adjudge.errors import PluginError, PluginNotFound, boundary
from adjudge.formats.tasks.checking import Findings, check, entries, known_keys
from adjudge.formats.tasks.document import Node
from adjudge.formats.tasks.messages import describe, did_you_mean, nearest, unknown_key
from adjudge.formats.tasks.presets import expand_presets
from adjudge.formats.tasks.sections import Expect, Header, Label, ScenarioFolder
from adjudge.formats.testcommands.spelling import unseen_runs
from adjudge.formats.testcommands.suites import runs_tests
from adjudge.records.base import Record
from adjudge.records.score import Recipe, ScorerConfig, ScorerSpec

__all__ = ["MAX_SCORERS", "Flags", "load_scorer", "parse_recipe"]

MAX_SCORERS = 200

_BEST_AS_GATES = frozenset({"implemented"})
"""Types that say something only as a gate: a non-attempt must not earn part of the credit."""
_RUN_TESTS = ("tests", "pytest", "command")
"""Types whose command other lines may take over, where it runs tests."""
_AT_MOST_ONCE = frozenset({"verifier"})
"""Types whose result is the reward of the run, of which there is one."""


class Flags(Record):
    """What every scorer line may say, whatever its type."""

    name: Label | None = None
    """A label, unique in the recipe. When left out: the type, then `type-2`, `type-3`, … as they are free."""
    type: str = Field(min_length=1)
    """Which check: a name from `adjudge scorers`."""
    required: bool | None = None
    """Whether failing it fails the attempt. When left out: by type under `scorers`, no under `graders`."""
    weight: float | None = Field(default=None, ge=0.0)
    """Its share in the combined score; 1.0 when left out. Under `scorers`, writing it on an advisory scorer
    makes that scorer count."""
    gate: bool = False
    """A cap: it never adds credit, and anything but a full score makes the combined score 0."""
    primary: bool = False
    """Whether its result is the objective test result that the judge is shown; one line at most. When no line
    says so: the first required `command`, `tests`, `pytest`, `swebench` or `verifier`."""


@dataclass(frozen=True, slots=True)
class _Line:
    """A scorer line that could be read."""

    node: Node
    where: str
    flags: Flags
    written: frozenset[str]
    scorer: Any
    config: ScorerConfig


def load_scorer(name: str) -> Any:
    """The scorer class behind a type, known to have what a recipe needs of it.

    Raises:
        PluginNotFound: Nobody provides the type.
        PluginError: The extension that provides it is broken; the message names its distribution.
    """
    scorer = catalog.load("scorers", name)
    config = getattr(scorer, "Config", None)
    wrong = None
    if not (isinstance(config, type) and issubclass(config, ScorerConfig)):
        wrong = "its Config is not a ScorerConfig"
    elif config.model_config.get("extra") != "forbid":
        wrong = "its Config accepts unknown keys"
    elif taken := sorted(set(known_keys(config)) & set(Flags.model_fields)):
        wrong = f"its Config has fields that every scorer has already: {', '.join(taken)}"
    else:
        for flag in ("required_by_default", "advisory_only"):
            if not isinstance(getattr(scorer, flag, None), bool):
                wrong = f"it has no {flag}"
    if wrong is not None:
        distribution = catalog.distribution_of("scorers", name)
        raise PluginError(
            f"scorer {name!r} of distribution {distribution!r} cannot be used: {wrong}",
            hint=f"update or remove {distribution}",
        )
    return scorer


def parse_recipe(
    top: Mapping[str, Node], header: Header | None, root: Node, findings: Findings, folder: ScenarioFolder
) -> Recipe | None:
    """The recipe, or None with everything wrong with it noted."""
    before = len(findings.problems)
    dialect = _dialect(top, root, findings)
    if dialect is None:
        return None
    strict = dialect == "scorers"
    threshold = header.pass_threshold if header is not None else None
    if strict:
        if "expect" in top:
            findings.problem(top["expect"], "expect", "goes with graders; under scorers write pass_threshold")
    else:
        if "pass_threshold" in top:
            findings.problem(
                top["pass_threshold"],
                "pass_threshold",
                "goes with scorers; under graders write expect: {pass_threshold: …}",
            )
        expect = check(Expect, top["expect"], "expect", findings) if "expect" in top else Expect()
        threshold = expect.pass_threshold if expect is not None else None
    written = _lines(top[dialect], top.get("integrity"), dialect, findings, folder)
    lines = _with_unseen(_with_commands(written))
    _refuse_same_names(top[dialect], dialect, findings)
    names = _names(lines)
    specs = [_spec(line, name, strict, findings) for line, name in zip(lines, names, strict=True)]
    _refuse_repeats(lines, findings)
    _refuse_several_primaries(lines, findings)
    complete = len(findings.problems) == before
    if complete and threshold is not None and not any(s.counted and s.weight > 0 for s in specs):
        at = "pass_threshold" if strict else ("expect" if "expect" in top else dialect)
        findings.problem(
            top[at],
            at,
            f"a threshold of {threshold:g} needs a scorer that counts: no gate, with a positive weight"
            + (", and required or with its weight written" if strict else ""),
        )
    if len(findings.problems) > before or header is None:
        return None
    return Recipe(scorers=tuple(specs), rollup=header.rollup, pass_threshold=threshold)


def _dialect(top: Mapping[str, Node], root: Node, findings: Findings) -> str | None:
    written = [key for key in ("scorers", "graders") if key in top]
    if len(written) == 2:
        findings.problem(top["graders"], "graders", "use scorers or graders, not both in one file")
        return None
    if not written:
        findings.problem(root, "scorers", "missing; a recipe needs at least one scorer")
        return None
    return written[0]


def _lines(
    node: Node, integrity: Node | None, dialect: str, findings: Findings, folder: ScenarioFolder
) -> list[_Line]:
    if not isinstance(node.value, list):
        findings.problem(node, dialect, f"a list expected, found {describe(node.plain())}")
        return []
    if not node.value:
        findings.problem(node, dialect, "must not be empty; a recipe needs at least one scorer")
    if len(node.value) > MAX_SCORERS:
        findings.problem(node, dialect, f"has {len(node.value)} items; at most {MAX_SCORERS} are read")
        return []
    written = expand_presets(node.value, integrity, dialect, findings)
    read = (_line(item, where, findings, folder) for where, item in written)
    return [line for line in read if line is not None]


def _with_commands(lines: list[_Line]) -> list[_Line]:
    """Lines that run the tests of the recipe and do not say how, with the command of one that does."""
    known = next((fields for line in lines if (fields := _test_command(line)) is not None), None)
    if known is None:
        return lines
    filled: list[_Line] = []
    for line in lines:
        if getattr(line.config, "takes_command", False) and getattr(line.config, "command", None) is None:
            taken = {
                key: value for key, value in known.items() if key == "command" or key not in line.written
            }
            filled.append(replace(line, config=line.config.model_copy(update=taken)))
        else:
            filled.append(line)
    return filled


def _with_unseen(lines: list[_Line]) -> list[_Line]:
    """Lines that watch tests which an attempt does not see, with the runs of those that have some."""

    def takes(line: _Line) -> bool:
        return getattr(line.config, "takes_unseen", False) and not getattr(line.config, "unseen", ())

    if not any(map(takes, lines)):
        return lines
    testing = [line for line in lines if line.flags.type in _RUN_TESTS]
    asked = [
        need for line in testing for need in catalog.load("scorers", line.flags.type)().needs(line.config)
    ]
    found = tuple(unseen_runs(asked))
    return [
        replace(line, config=line.config.model_copy(update={"unseen": found})) if takes(line) else line
        for line in lines
    ]


def _test_command(line: _Line) -> dict[str, Any] | None:
    """How a line runs the project's own tests; None when it does not, or only with hidden ones."""
    config = line.config
    kind = line.flags.type
    if kind not in _RUN_TESTS or getattr(config, "isolation", None) == "live":
        return None
    command = getattr(config, "cmd", None) or getattr(config, "command", None)
    if kind == "pytest" and command is None:
        command = "python3 -m pytest"
    elif getattr(config, "inject", ()) or command is None or not runs_tests(command):
        return None
    taken = ("timeout_s", "test_timeout_s", "pythonpath")
    return {"command": command, **{key: getattr(config, key) for key in taken if hasattr(config, key)}}


def _line(node: Node, where: str, findings: Findings, folder: ScenarioFolder) -> _Line | None:
    fields = entries(node, where, findings)
    if fields is None:
        return None
    flag_names = known_keys(Flags)
    flag_fields = {key: value for key, value in fields.items() if key in flag_names}
    flags = None
    meant = [key for key in fields if key not in flag_names and nearest(key, flag_names) == "type"]
    if "type" not in fields and meant:
        findings.problem(fields[meant[0]], where, unknown_key(meant[0], flag_names))
    else:
        flags = check(Flags, node, where, findings, fields=flag_fields, needed_by="every scorer")
    kind = fields["type"].value if "type" in fields else None
    if not isinstance(kind, str) or not kind:
        return None
    scorer = _scorer(kind, fields["type"], where, findings)
    if scorer is None:
        return None
    own = {key: value for key, value in fields.items() if key not in flag_names}
    try:
        with boundary(PluginError, _broken(kind)):
            config = check(
                scorer.Config,
                node,
                where,
                findings,
                fields=own,
                also_known=flag_names,
                needed_by=f"type {kind}",
                context={"scenario_file": folder},
            )
    except PluginError as error:
        findings.problem(fields["type"], f"{where}.type", error.message)
        return None
    if scorer.advisory_only:
        for flag in ("weight", "gate", "primary"):
            if flag in fields:
                findings.problem(fields[flag], f"{where}.{flag}", f"{kind} takes no {flag}; it only advises")
    if flags is None or config is None:
        return None
    return _Line(node, where, flags, frozenset(fields), scorer, config)


def _scorer(kind: str, node: Node, where: str, findings: Findings) -> Any:
    try:
        return load_scorer(kind)
    except PluginNotFound:
        near = did_you_mean(kind, catalog.names("scorers"))
        findings.problem(node, f"{where}.type", f"no scorer is called {kind[:60]!r}; {near}")
    except PluginError as error:
        findings.problem(node, f"{where}.type", error.message)
    return None


def _broken(kind: str) -> str:
    return (
        f"scorer {kind!r} of distribution {catalog.distribution_of('scorers', kind)!r} failed on its fields"
    )


def _refuse_same_names(node: Node, dialect: str, findings: Findings) -> None:
    first: dict[str, str] = {}
    for index, item in enumerate(node.value if isinstance(node.value, list) else ()):
        name = item.value.get("name") if isinstance(item.value, dict) else None
        if name is None or not isinstance(name.value, str):
            continue
        where = f"{dialect}[{index}]"
        if name.value in first:
            message = f"{name.value[:60]!r} is already the name of {first[name.value]}"
            findings.problem(name, f"{where}.name", message)
        first.setdefault(name.value, where)


def _names(lines: Sequence[_Line]) -> list[str]:
    """Every line's name: written ones first, then the type with the first free number for the rest."""
    taken = {line.flags.name for line in lines}
    names: list[str] = []
    for line in lines:
        name = line.flags.name
        number = 1
        while name is None:
            candidate = line.flags.type if number == 1 else f"{line.flags.type}-{number}"
            if candidate not in taken:
                name = candidate
                taken.add(name)
            number += 1
        names.append(name)
    return names


def _spec(line: _Line, name: str, strict: bool, findings: Findings) -> ScorerSpec:
    flags, scorer = line.flags, line.scorer
    required = flags.required if flags.required is not None else (strict and scorer.required_by_default)
    weighted = flags.weight is not None
    counts = required or weighted if strict else True
    counted = counts and not (scorer.advisory_only or flags.gate)
    weight = 1.0 if flags.weight is None else flags.weight
    if flags.gate and weighted:
        findings.warn(
            _field(line, "weight"), f"{line.where}.weight", "has no effect: a gate never adds credit"
        )
    if flags.type in _BEST_AS_GATES and not flags.gate:
        findings.warn(line.node, line.where, f"{flags.type} is meant as a gate; write gate: true")
    return ScorerSpec(
        name=name,
        type=flags.type,
        required=required,
        weight=0.0 if scorer.advisory_only else weight,
        gate=flags.gate,
        counted=counted,
        primary=flags.primary,
        config=line.config.model_dump(mode="json"),
    )


def _refuse_repeats(lines: Sequence[_Line], findings: Findings) -> None:
    seen: dict[str, str] = {}
    for line in lines:
        kind = line.flags.type
        if kind in _AT_MOST_ONCE and kind in seen:
            findings.problem(
                _field(line, "type"), f"{line.where}.type", f"{seen[kind]} is a {kind} already; one at most"
            )
        seen.setdefault(kind, line.where)


def _refuse_several_primaries(lines: Sequence[_Line], findings: Findings) -> None:
    marked = [line for line in lines if line.flags.primary]
    for line in marked[1:]:
        message = f"{marked[0].where} is marked already; one at most"
        findings.problem(_field(line, "primary"), f"{line.where}.primary", message)


def _field(line: _Line, key: str) -> Node:
    assert isinstance(line.node.value, dict)
    return line.node.value.get(key, line.node)
