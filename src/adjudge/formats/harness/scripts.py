"""Makefiles, shell scripts, CI files and other files that hold lines of shell text."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import yaml

from adjudge.formats.harness.commands import RUNS_TESTS, facts_of_script, one_line, runs_tests
from adjudge.records.harness import HarnessFact, HarnessOutline, HarnessSetting, SettingKind

__all__ = ["read_ci", "read_environment_file", "read_makefile", "read_script"]

_TARGET = re.compile(r"^([A-Za-z0-9_.%/ -]+?)\s*::?(?!=)\s*([^#=]*)(?:#.*)?$")
_TEST_TARGET = re.compile(r"(?:^|[-_:./])(?:tests?|check|spec|ci|verify)(?:$|[-_:./])", re.IGNORECASE)
_LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_MAX_NODES = 50_000
_MAX_DEPTH = 100
_SHELL_KEYS = frozenset(
    ("run", "script", "before_script", "after_script", "command", "commands", "bash", "sh", "cmds", "steps")
)
_STARTUP = re.compile(
    r"""^\s*(?:export\s+|set\s+|env\s*\.\s*)?
        (?P<name>NODE_OPTIONS|node-options|BASH_ENV|PYTHONSTARTUP|PYTHONPATH|PYTHONHOME|PYTHONOPTIMIZE|ENV
          |PYTEST_ADDOPTS|PYTEST_PLUGINS|RUBYOPT|JAVA_TOOL_OPTIONS|_JAVA_OPTIONS|MAVEN_OPTS|GOFLAGS|LD_PRELOAD
          |RUSTC_WRAPPER|RUSTFLAGS|CARGO_BUILD_RUSTC_WRAPPER|script-shell)
        \s*[=:]\s*(?P<value>.*)$""",
    re.VERBOSE,
)
_LOADS_CODE = re.compile(
    r"--require|-r\s*\S|--import|--loader|-javaagent|-p\s+(?!no:)\w|--deselect|--ignore|(?<!\S)-k\b|(?<!\S)-r\S"
    r"|\.(?:js|cjs|mjs|py|sh|so|rb|jar)\b|-run|-exec|-toolexec"
)


def read_makefile(text: str) -> HarnessOutline:
    """A Makefile or justfile: what its recipes do to tests, and what each target about tests runs."""
    facts = [*facts_of_script(text, make=True), *_startup_facts(text)]
    settings: list[HarnessSetting] = []
    name, start = "", 0
    body: list[str] = []
    for number, line in enumerate([*text.splitlines()[:20_000], ""], 1):
        target = _TARGET.match(line) if line[:1] not in ("\t", " ", "#", "") else None
        if (target or (line and not line[0].isspace())) and name:
            settings += _target(name, start, body)
            name, body = "", []
        if target is not None:
            name, start = target[1].strip(), number
            _, semicolon, inline = target[2].partition(";")
            body = [inline] if semicolon else []
            if name == ".IGNORE":
                facts.append(
                    HarnessFact(rule="exit-code-ignored", what=line.strip(), text=one_line(line), line=number)
                )
        elif name and line.strip():
            body.append(line.strip())
        if re.match(r"^MAKEFLAGS\s*[:+?]?=.*(?:^|\s)(?:-i\b|--ignore-errors|-\w*i\w*\b)", line):
            facts.append(
                HarnessFact(rule="exit-code-ignored", what="MAKEFLAGS", text=one_line(line), line=number)
            )
    settings += _target(name, start, body)
    return HarnessOutline(facts=tuple(facts), settings=tuple(settings))


def _target(name: str, line: int, body: list[str]) -> Iterator[HarnessSetting]:
    if name and _TEST_TARGET.search(name) and body:
        yield HarnessSetting(
            kind=SettingKind.COMMAND, name=f"target {name}"[:120], values=tuple(body[:100]), line=line
        )


def read_script(text: str) -> HarnessOutline:
    """A shell script."""
    facts = list(facts_of_script(text))
    facts += _startup_facts(text)
    lines = [line.strip() for line in text.splitlines() if line.strip() and not line.lstrip().startswith("#")]
    settings = (
        (HarnessSetting(kind=SettingKind.COMMAND, name="script", values=tuple(lines[:500]), line=1),)
        if runs_tests(text)
        else (HarnessSetting(kind=SettingKind.COMMAND, name="script", values=("no tests",), line=1),)
    )
    return HarnessOutline(facts=tuple(facts), settings=settings)


def read_environment_file(text: str) -> HarnessOutline:
    """A file that sets variables for whatever runs: .envrc, .npmrc, .pythonrc, shell profiles."""
    return HarnessOutline(facts=tuple(_startup_facts(text)))


def _startup_facts(text: str) -> Iterator[HarnessFact]:
    for number, line in enumerate(text.splitlines()[:20_000], 1):
        found = _STARTUP.match(line)
        if found is None:
            continue
        name, value = found["name"], found["value"].strip().strip("\"'")
        runs_code = name in (
            "BASH_ENV",
            "PYTHONSTARTUP",
            "LD_PRELOAD",
            "PYTEST_PLUGINS",
            "script-shell",
            "PYTHONOPTIMIZE",
        )
        if name == "PYTHONPATH":
            for place in re.split(r"[:;]", value):
                if place and "$" not in place:
                    yield HarnessFact(
                        rule="product-replaced", what=f"path {place}"[:160], text=one_line(line), line=number
                    )
        if runs_code or (name not in ("PYTHONPATH", "PYTHONHOME", "ENV") and _LOADS_CODE.search(value)):
            yield HarnessFact(
                rule="startup-code", what=f"{name}={value}"[:160], text=one_line(line), line=number
            )


def read_ci(text: str) -> HarnessOutline:
    """A CI file in YAML: steps and jobs that run tests and may fail, or never run."""
    try:
        if _is_too_deep(text):
            return HarnessOutline(problem=f"nested more than {_MAX_DEPTH} deep")
        root = yaml.compose(text, Loader=_LOADER)
    except (yaml.YAMLError, RecursionError, ValueError) as error:
        return HarnessOutline(problem=str(error).splitlines()[0] if str(error) else type(error).__name__)
    facts: list[HarnessFact] = []
    pipefail = re.search(r"\bshell:\s*bash\b|pipefail", text) is not None
    seen: set[int] = set()
    pending: list[tuple[Any, tuple[Any, ...]]] = [] if root is None else [(root, ())]
    while pending and len(seen) < _MAX_NODES:
        node, above = pending.pop()
        if id(node) in seen:
            continue
        seen.add(id(node))
        if isinstance(node, yaml.SequenceNode):
            pending += [(item, above) for item in reversed(node.value)]
        elif isinstance(node, yaml.MappingNode):
            for key, value in reversed(node.value):
                if key.value in _SHELL_KEYS and isinstance(value, (yaml.ScalarNode, yaml.SequenceNode)):
                    facts += _shell(value, (*above, node), pipefail=pipefail)
                elif key.value in ("NODE_OPTIONS", "PYTEST_PLUGINS", "BASH_ENV", "LD_PRELOAD", "RUBYOPT"):
                    facts += [
                        fact.model_copy(update={"line": key.start_mark.line + 1})
                        for fact in _startup_facts(f"{key.value}={value.value}")
                    ]
                pending.append((value, (*above, node)))
    return HarnessOutline(facts=tuple(facts))


def _is_too_deep(text: str) -> bool:
    """Whether making a tree of it would run out of stack: libyaml makes one by calling itself."""
    depth = 0
    for event in yaml.parse(text, Loader=_LOADER):
        if isinstance(event, yaml.CollectionStartEvent):
            depth += 1
            if depth > _MAX_DEPTH:
                return True
        elif isinstance(event, yaml.CollectionEndEvent):
            depth -= 1
    return False


def _shell(value: Any, above: tuple[Any, ...], *, pipefail: bool) -> Iterator[HarnessFact]:
    scalars = [value] if isinstance(value, yaml.ScalarNode) else value.value
    texts = [(item.start_mark.line + 1, item.value) for item in scalars if isinstance(item, yaml.ScalarNode)]
    facts: list[HarnessFact] = []
    for line, text in texts:
        start = line if "\n" in text else line - 1
        facts += [
            fact.model_copy(update={"line": start + (fact.line or 1)})
            for fact in facts_of_script(text, strict=True, pipefail=pipefail)
        ]
    plain = [fact for fact in facts if fact.rule == RUNS_TESTS]
    loose = list(_loose(plain[0].what, above)) if plain else []
    yield from (fact for fact in facts if not loose or fact.rule != RUNS_TESTS)
    yield from loose


def _loose(runs: str, above: tuple[Any, ...]) -> Iterator[HarnessFact]:
    """Why a command that runs tests may fail or never runs: the step itself and the job it is in say so.

    What stands further out concerns everything.
    """
    for holder in above[-2:]:
        for key, setting in holder.value:
            if not isinstance(setting, yaml.ScalarNode):
                continue
            said = setting.value.strip().lower()
            if key.value in ("continue-on-error", "allow_failure", "continueOnError") and said == "true":
                rule = "exit-code-ignored"
            elif key.value in ("if", "when", "condition") and said in ("false", "${{ false }}", "never"):
                rule = "tests-not-run"
            else:
                continue
            yield HarnessFact(
                rule=rule,
                what=f"{key.value}: {runs}",
                text=f"{key.value}: {setting.value}",
                line=key.start_mark.line + 1,
                command=True,
            )
