"""Settings of test runners and of the tools that grade beside them, from TOML, INI and JSON files."""

from __future__ import annotations

import configparser
import json
import re
import shlex
import tomllib
from collections.abc import Iterator, Mapping
from typing import Any

from adjudge.formats.harness.commands import facts_of_script, one_line, option_facts, runs_tests
from adjudge.formats.harness.documents import load_yaml
from adjudge.records.harness import HarnessFact, HarnessOutline, HarnessSetting, SettingKind

__all__ = [
    "RUNNER_PACKAGES",
    "may_be_of_product",
    "read_ini",
    "read_json",
    "read_toml",
    "read_yaml",
    "replaces_product",
]

Mapped = Mapping[str, Any]

RUNNER_PACKAGES = frozenset((
    "pytest", "pluggy", "iniconfig", "hypothesis", "nose", "nose2", "unittest2", "coverage", "pytest-cov",
    "jest", "jest-cli", "jest-circus", "expect", "vitest", "@vitest/runner", "@vitest/expect", "mocha",
    "chai", "ava", "tap", "@jest/core", "@jest/globals", "@jest/expect", "assert", "playwright",
    "@playwright/test", "github.com/stretchr/testify", "github.com/onsi/gomega", "github.com/onsi/ginkgo",
    "rspec", "minitest", "pretty_assertions", "proptest", "rstest",
))  # fmt: skip
"""What runs tests or says what holds, as package managers call it."""
_OF_TESTS = re.compile(
    r"(?:^|/)(?:tests?|__tests__|__mocks__|spec|specs|mocks?|stubs?|fakes?|fixtures?)/|(?:^|/)(?:fake|stub|mock)[-_.]"
)
_ABOUT_TESTS = re.compile(r"test|spec|mock|stub|fake|fixture|helper", re.IGNORECASE)
_OF_PRODUCT = re.compile(r"^\(?\.{1,2}/|(?:^|[/)*])(?:src|lib|app|dist|source)(?:/|$)|^@/|^~/")
_COLLABORATOR = re.compile(
    r"css|less|sass|scss|styl|svg|png|jpe?g|gif|webp|ttf|woff|font|image|asset|media|\.md|\.html|\.txt|graphql"
    r"|wasm|worker|env|config|logg?er|analytics|telemetry|native|electron|i18n|locale",
    re.IGNORECASE,
)
"""What tests everywhere have stand-ins for."""
_LOCAL = re.compile(
    r"^\s*(?:file:|link:|portal:|workspace:|git\+|git:|github:|https?:|\.{0,2}/)|^npm:|^[\w-]+/[\w.-]+(?:#\S+)?$"
)
_BY_NAME = re.compile(r"--test-name-pattern|--testNamePattern|-t |-g |--grep")
_RUNS_SCRIPT = re.compile(
    r"(?:npm|pnpm|yarn|bun)(?:\s+-\S+)*\s+run(?:\s+-\S+)*\s+([\w:.-]+)(?:\s+-s|\s+--silent)?"
)
_MOST_HANDED_ON = 5
_MAX_PLACED = 500
"""Facts whose lines are looked for, which takes a look at all lines for each."""
_BESIDE = re.compile(r"<rootDir>|\.{0,2}/")
"""A file of the workspace rather than a package."""
_DEMANDING = frozenset((
    "strict", "disallow_untyped_defs", "disallow_incomplete_defs", "disallow_any_generics",
    "check_untyped_defs", "no_implicit_optional", "warn_return_any", "warn_unused_ignores",
    "strict_equality", "no_implicit_reexport", "disallow_untyped_calls", "disallow_subclassing_any",
    "noImplicitAny", "strictNullChecks", "noEmitOnError",
))  # fmt: skip
_TOLERANT = frozenset((
    "ignore", "extend-ignore", "exclude", "extend-exclude", "disable", "disable_error_code", "omit",
    "ignorePatterns", "per-file-ignores", "ignore_errors", "ignore_missing_imports", "follow_imports",
))  # fmt: skip
_TOOLS = (
    "mypy",
    "ruff",
    "pylint",
    "flake8",
    "coverage",
    "pyright",
    "basedpyright",
    "black",
    "isort",
    "bandit",
)


def read_toml(name: str, text: str) -> HarnessOutline:
    """pyproject.toml, pytest.toml, tox.toml, Cargo.toml, nextest.toml, .cargo/config.toml, ruff.toml."""
    try:
        found = tomllib.loads(text)
    except (ValueError, RecursionError) as error:
        return HarnessOutline(problem=_first(error))
    reading = _Reading(text)
    tool = _map(found.get("tool"))
    if name == "Cargo.toml":
        _cargo(found, reading)
    elif name in ("config.toml", "config"):
        _cargo_config(found, reading)
    elif name == "nextest.toml":
        for profile in _map(found.get("profile")).values():
            if isinstance(kept := _map(profile).get("default-filter"), str):
                reading.setting(SettingKind.LEAVES_OUT, "nextest.default-filter", [kept], "default-filter")
    else:
        pytest_table = _map(tool.get("pytest"))
        _pytest({**_map(pytest_table.get("ini_options")), **pytest_table}, reading)
        if name.endswith("pytest.toml"):
            _pytest(_map(found.get("pytest")), reading)
        for tasks, where in (
            (_map(tool.get("poe")).get("tasks"), "poe"), (_map(tool.get("pdm")).get("scripts"), "pdm"),
            (tool.get("taskipy", {}), "taskipy"), (_map(tool.get("hatch")).get("envs"), "hatch"),
            (found.get("env"), "tox"), (_map(tool.get("tox")).get("env"), "tox"),
        ):  # fmt: skip
            _commands(tasks, where, reading)
        for sources in (
            _map(_map(tool.get("uv")).get("sources")),
            _map(_map(tool.get("poetry")).get("dependencies")),
        ):
            for package, source in sources.items():
                if (
                    package.lower() in RUNNER_PACKAGES
                    and isinstance(source, Mapping)
                    and {"path", "git", "url"} & set(source)
                ):
                    reading.fact("runner-swapped", f"{package} {json.dumps(source, default=str)}", package)
        for line in [
            *_list(_map(found.get("project")).get("dependencies")),
            *_listed(found.get("dependency-groups")),
        ]:
            _requirement(line, reading)
        _hooks(_map(_map(found.get("project")).get("entry-points")).get("pytest11"), reading)
        tools = {**tool, "ruff": found} if name.endswith("ruff.toml") else tool
        for each in _TOOLS:
            _strictness(each, _map(tools.get(each)), reading)
    return reading.outline()


def read_ini(name: str, text: str) -> HarnessOutline:
    """pytest.ini, tox.ini, setup.cfg, .coveragerc, mypy.ini, .pylintrc, .flake8."""
    parser = configparser.RawConfigParser(strict=False, allow_no_value=True)
    parser.optionxform = lambda optionstr: optionstr  # type: ignore[method-assign]
    try:
        parser.read_string(text)
    except (configparser.Error, ValueError) as error:
        return HarnessOutline(problem=_first(error))
    reading = _Reading(text)
    for section in parser.sections():
        values = {key: value or "" for key, value in parser.items(section)}
        if section in ("pytest", "tool:pytest"):
            _pytest(values, reading)
        elif section.startswith("testenv") or section == "tox":
            commands = values.get("commands", "")
            if commands:
                _command(f"tox {section}", commands, reading, "commands")
            for line in commands.splitlines():
                if line.strip().startswith("-") and runs_tests(line.strip()[1:]):
                    reading.fact("exit-code-ignored", line.strip(), line.strip())
            # One environment among others may fail, such as that of coming versions.
            loose = "true" in (values.get(key, "").lower() for key in ("ignore_outcome", "ignore_errors"))
            if loose and section == "testenv":
                reading.fact("exit-code-ignored", f"{section} ignore_outcome", "ignore_")
            for line in values.get("setenv", values.get("set_env", "")).splitlines():
                if re.match(r"\s*(?:PYTHONOPTIMIZE|PYTEST_ADDOPTS|PYTEST_PLUGINS)\s*=", line):
                    reading.fact("startup-code", line.strip(), line.strip())
        elif section == "options.entry_points" and "pytest11" in values:
            _hooks({"pytest11": values["pytest11"]}, reading)
        else:
            tool = section.partition(":")[0].split("-")[0].lower()
            if name == ".coveragerc":
                tool = "coverage"
            elif name in (".pylintrc", "pylintrc"):
                tool = "pylint"
            if tool in _TOOLS and ("-" not in section or tool != "mypy"):
                _strictness(tool, values, reading)
    return reading.outline()


def read_yaml(text: str) -> HarnessOutline:
    """.mocharc.yml."""
    try:
        found = load_yaml(text)
    except ValueError as error:
        return HarnessOutline(problem=_first(error))
    reading = _Reading(text)
    _javascript(_map(found), reading)
    return reading.outline()


def read_json(name: str, text: str) -> HarnessOutline:
    """package.json, jest.config.json, .mocharc.json, .nycrc, .eslintrc.json, tsconfig.json, composer.json."""
    try:
        found = json.loads(text or "{}")
    except (ValueError, RecursionError) as error:
        return HarnessOutline(problem=_first(error))
    if not isinstance(found, dict):
        return HarnessOutline(problem="not an object")
    reading = _Reading(text)
    if name == "package.json":
        scripts = _map(found.get("scripts"))
        for script, command in scripts.items():
            if not isinstance(command, str):
                continue
            command = _handed_on(command, scripts)
            about = re.search(r"(?:^|[:_-])(?:test|tests|spec|check|ci|verify)", script) is not None
            if about or runs_tests(command):
                _command(
                    f"script {script}", command, reading, f'"{script}"', always=about, main=script == "test"
                )
        for table in ("dependencies", "devDependencies", "optionalDependencies", "resolutions", "overrides"):
            for package, version in _map(found.get(table)).items():
                plain = package.rpartition("**/")[2]
                if plain in RUNNER_PACKAGES and isinstance(version, str) and _LOCAL.match(version):
                    reading.fact("runner-swapped", f"{plain} {version}", package)
        _entries(found, reading)
        _javascript(_map(found.get("jest")), reading)
        _javascript(_map(found.get("mocha")), reading)
        _javascript(_map(found.get("ava")), reading)
        _coverage(_map(found.get("nyc")), reading)
        _coverage(_map(found.get("c8")), reading)
    elif "nyc" in name or "c8" in name:
        _coverage(found, reading)
    elif "eslint" in name:
        rules = [key for key, value in _map(found.get("rules")).items() if _is_off(value)]
        reading.setting(SettingKind.TOLERATES, "eslint.rules", rules, "rules", tool="eslint")
    elif name.startswith("tsconfig"):
        _strictness("tsc", _map(found.get("compilerOptions")), reading)
        for pattern, targets in _map(_map(found.get("compilerOptions")).get("paths")).items():
            if any(replaces_product(pattern, str(target)) for target in _list(targets)):
                reading.fact("product-replaced", f"{pattern} {targets}", f'"{pattern}"')
            elif _list(targets):
                reading.fact("product-replaced", f"map {pattern} => {targets[0]}", f'"{pattern}"')
    else:
        _javascript(found, reading)
    return reading.outline()


def _handed_on(command: str, scripts: Mapping[str, Any]) -> str:
    """What a script runs that does nothing but run another: `npm run --silent test:quick`."""
    for _ in range(_MOST_HANDED_ON):
        named = _RUNS_SCRIPT.fullmatch(command.strip())
        other = scripts.get(named[1]) if named is not None else None
        if not isinstance(other, str):
            break
        command = other
    return command


class _Reading:
    """Facts and settings as they are found, with the line each is first named in."""

    def __init__(self, text: str) -> None:
        self._lines = text.splitlines()
        self._facts: list[HarnessFact] = []
        self._settings: list[HarnessSetting] = []

    def outline(self) -> HarnessOutline:
        return HarnessOutline(facts=tuple(self._facts), settings=tuple(self._settings))

    def line_of(self, key: str) -> int | None:
        return next((number for number, line in enumerate(self._lines, 1) if key and key in line), None)

    def fact(self, rule: str, what: str, key: str) -> None:
        line = self.line_of(key) if len(self._facts) < _MAX_PLACED else None
        text = one_line(self._lines[line - 1]) if line else one_line(what)
        self._facts.append(HarnessFact(rule=rule, what=what[:300], text=text, line=line))

    def add(self, fact: HarnessFact) -> None:
        self._facts.append(fact)

    def setting(self, kind: SettingKind, name: str, values: list[str], key: str, *, tool: str = "") -> None:
        self._settings.append(
            HarnessSetting(
                kind=kind, name=name, values=tuple(values[:500]), line=self.line_of(key), tool=tool
            )
        )


def _pytest(values: Mapped, reading: _Reading) -> None:
    options = values.get("addopts", "")
    # What an option is given may have spaces in it, where a list says which words belong together.
    words = [one if one[:1] == "-" else shlex.quote(one) for one in map(str, options or ())]
    text = " ".join(words) if isinstance(options, list) else str(options or "")
    for fact in option_facts(f"pytest {' '.join(text.split())}", reading.line_of("addopts")):
        reading.add(fact)
    for option in ("--collect-only", "--co", "--setup-only", "--setup-plan"):
        if option in text.split():
            reading.fact("tests-not-run", f"addopts {option}", "addopts")
    if "--suppress-no-test-exit-code" in text or "--suppress-tests-failed-exit-code" in text:
        reading.fact("exit-code-ignored", "addopts --suppress", "addopts")
    if found := re.search(r"--cov-fail-under[= ](\d+(?:\.\d+)?)", text):
        reading.setting(
            SettingKind.AT_LEAST, "addopts --cov-fail-under", [found[1]], "cov-fail-under", tool="cov"
        )
    for key in ("testpaths", "python_files", "python_classes", "python_functions"):
        chosen = values.get(key)
        words = [str(one) for one in chosen] if isinstance(chosen, list) else str(chosen or "").split()
        if words:
            reading.setting(SettingKind.SELECTS, f"pytest.{key}", words, key)
    ignored = values.get("norecursedirs")
    words = [str(one) for one in ignored] if isinstance(ignored, list) else str(ignored or "").split()
    if words:
        reading.setting(SettingKind.LEAVES_OUT, "pytest.norecursedirs", words, "norecursedirs")
    places = values.get("pythonpath")
    for place in [str(one) for one in places] if isinstance(places, list) else str(places or "").split():
        reading.fact("product-replaced", f"path {place}", "pythonpath")
    if str(values.get("xfail_strict", "")).lower() == "true":
        reading.setting(SettingKind.DEMANDS, "pytest.xfail_strict", ["true"], "xfail_strict", tool="pytest")


def _javascript(values: Mapped, reading: _Reading) -> None:
    """Settings of jest, mocha and ava."""
    for key, kind in (
        ("modulePathIgnorePatterns", SettingKind.LEAVES_OUT),
        ("testPathIgnorePatterns", SettingKind.LEAVES_OUT), ("ignore", SettingKind.LEAVES_OUT),
        ("exclude", SettingKind.LEAVES_OUT), ("testMatch", SettingKind.SELECTS),
        ("spec", SettingKind.SELECTS),
        ("testRegex", SettingKind.SELECTS), ("files", SettingKind.SELECTS), ("roots", SettingKind.SELECTS),
    ):  # fmt: skip
        chosen = values.get(key)
        words = [one for one in (chosen if isinstance(chosen, list) else [chosen]) if isinstance(one, str)]
        if words:
            reading.setting(kind, key, words, f'"{key}"')
    for key in ("testNamePattern", "grep", "fgrep"):
        if isinstance(values.get(key), str):
            reading.fact("tests-left-out", f"{key} {values[key]}", f'"{key}"')
    if values.get("testFailureExitCode") in (0, "0"):
        reading.fact("exit-code-ignored", "testFailureExitCode 0", "testFailureExitCode")
    for key in ("testRunner", "runner"):
        if isinstance(values.get(key), str) and re.match(r"<rootDir>|\.{0,2}/", values[key]):
            reading.fact("runner-swapped", f"{key} {values[key]}", f'"{key}"')
    for pattern, target in _map(values.get("moduleNameMapper")).items():
        if re.sub(r"[\^$()\\]", "", pattern).strip("/") in RUNNER_PACKAGES:
            reading.fact("runner-swapped", f"{pattern} {target}", pattern)
        elif replaces_product(pattern, str(target)):
            reading.fact("product-replaced", f"{pattern} {target}", '"moduleNameMapper"')
        else:
            first = target[0] if isinstance(target, list) and target else target
            reading.fact("product-replaced", f"map {pattern} => {first}", json.dumps(pattern))
    if isinstance(values.get("resolver"), str) and _BESIDE.match(values["resolver"]):
        reading.fact("product-replaced", f"resolver {values['resolver']}", '"resolver"')
    for pattern, target in _map(values.get("transform")).items():
        first = target[0] if isinstance(target, list) and target else target
        if isinstance(first, str) and _BESIDE.match(first):
            reading.fact("product-replaced", f"transform {pattern} => {first}", json.dumps(pattern))
    if "expect" in _map(values.get("globals")):
        reading.fact("machinery-patched", "globals expect", "globals")
    _coverage(_map(_map(values.get("coverageThreshold")).get("global")), reading)


def _entries(found: Mapped, reading: _Reading) -> None:
    """What a package is known by, to others and to itself: odd where tests are led to something of theirs."""
    for table in ("main", "module", "browser", "imports", "exports"):
        for name, target in _targets(found.get(table)):
            if re.fullmatch(r"(?:node:)?(?:assert|test)(?:/strict)?", name):
                reading.fact("runner-swapped", f"{table} {name} {target}", f'"{name}"')
            elif _OF_TESTS.search(target) and not _ABOUT_TESTS.search(name):
                reading.fact("product-replaced", f"{table} {name} {target}", target)
            else:
                reading.fact("product-replaced", f"entry {table} {name} => {target}", target)


def _targets(found: Any, name: str = "", depth: int = 0) -> Iterator[tuple[str, str]]:
    if isinstance(found, str):
        yield name, found
    elif isinstance(found, Mapping) and depth < 6:
        for key, value in found.items():
            # Conditions have no dot, no hash: what they are conditions of is known by its own name.
            known = name if name and not str(key).startswith((".", "#")) else str(key)
            yield from _targets(value, known, depth + 1)
    elif isinstance(found, list) and depth < 6:
        for value in found[:20]:
            yield from _targets(value, name, depth + 1)


def replaces_product(pattern: str, target: str) -> bool:
    """Whether a mapping of modules leads from the product to something of the tests, as far as names tell."""
    return may_be_of_product(pattern, placed=True) and _OF_TESTS.search(target) is not None


def may_be_of_product(pattern: str, *, placed: bool = False) -> bool:
    """Whether a pattern of modules may mean the product: no helper of tests, nothing that has stand-ins.

    Args:
        pattern: Of a setting such as `moduleNameMapper`.
        placed: Whether it has to say where the product lies.
    """
    if _ABOUT_TESTS.search(pattern) is not None or _COLLABORATOR.search(pattern) is not None:
        return False
    return not placed or _OF_PRODUCT.search(re.sub(r"[\^$\\]", "", pattern)) is not None


def _coverage(values: Mapped, reading: _Reading) -> None:
    for key in ("lines", "branches", "functions", "statements"):
        if isinstance(values.get(key), (int, float)):
            reading.setting(
                SettingKind.AT_LEAST, f"coverage.{key}", [str(values[key])], f'"{key}"', tool="cov"
            )


def _command(
    name: str, text: str, reading: _Reading, key: str, *, always: bool = True, main: bool = False
) -> None:
    """Add what a command does; with `main`, whatever runs all tests beside it, choosing by name counts."""
    line = reading.line_of(key)
    for fact in facts_of_script(text):
        chooses = main and _BY_NAME.match(fact.what) is not None
        reading.add(fact.model_copy(update={"line": line, "command": fact.command and not chooses}))
    if always:
        lines = [part.strip() for part in text.splitlines() if part.strip()]
        reading.setting(SettingKind.COMMAND, name, lines, key)


def _commands(found: Any, where: str, reading: _Reading, depth: int = 0) -> None:
    """Commands anywhere below a table, by their key."""
    if depth > 6:
        return
    for key, value in _map(found).items():
        if isinstance(value, str):
            if re.search(r"test|check|spec", key) or runs_tests(value):
                _command(f"{where} {key}", value, reading, key)
        elif isinstance(value, list):
            text = "\n".join(" ".join(map(str, one)) if isinstance(one, list) else str(one) for one in value)
            if runs_tests(text):
                _command(f"{where} {key}", text, reading, key)
        else:
            _commands(value, where, reading, depth + 1)


def _strictness(tool: str, values: Mapped, reading: _Reading, depth: int = 0) -> None:
    for key, value in values.items():
        if isinstance(value, Mapping) and depth < 3 and key != "per-file-ignores":
            _strictness(tool, value, reading, depth + 1)
        elif key == "fail_under" and re.fullmatch(r"\d+(?:\.\d+)?", str(value).strip()):
            reading.setting(SettingKind.AT_LEAST, f"{tool}.{key}", [str(value).strip()], key, tool="cov")
        elif key in _DEMANDING and str(value).lower() == "true":
            reading.setting(SettingKind.DEMANDS, f"{tool}.{key}", ["true"], key, tool=tool)
        elif key in ("select", "extend-select") and isinstance(value, list):
            reading.setting(SettingKind.DEMANDS, f"{tool}.{key}", [str(one) for one in value], key, tool=tool)
        elif key in _TOLERANT:
            reading.setting(SettingKind.TOLERATES, f"{tool}.{key}", _tolerated(value), key, tool=tool)


def _tolerated(value: Any) -> list[str]:
    if isinstance(value, Mapping):
        return [f"{key}: {one}" for key, many in value.items() for one in _list(many)]
    return [str(one) for one in value] if isinstance(value, list) else re.split(r"[\s,]+", str(value).strip())


def _cargo(found: Mapped, reading: _Reading) -> None:
    for table in ("lib", "bin", "test"):
        for target in _list(found.get(table)) or [found.get(table)]:
            if _map(target).get("test") is False:
                reading.fact(
                    "tests-not-run", f"[{table}] {_map(target).get('name', '')} test = false", "test = false"
                )
    if _map(found.get("package")).get("autotests") is False:
        declared = [str(_map(one).get("name")) for one in _list(found.get("test"))]
        reading.setting(SettingKind.SELECTS, "cargo.test", declared, "autotests")
    for table in ("patch", "replace"):
        for registry in _map(found.get(table)).values():
            for package, source in _map(registry).items():
                if package in RUNNER_PACKAGES and isinstance(source, Mapping):
                    reading.fact("runner-swapped", f"{package} {json.dumps(source, default=str)}", package)


def _cargo_config(found: Mapped, reading: _Reading) -> None:
    for name, value in _map(found.get("alias")).items():
        if name in ("test", "t", "nextest"):
            reading.fact("runner-swapped", f"alias {name} = {value}", name)
    for target in _map(found.get("target")).values():
        if runner := _map(target).get("runner"):
            reading.fact("runner-swapped", f"runner = {runner}", "runner")
    if wrapper := _map(found.get("build")).get("rustc-wrapper"):
        reading.fact("startup-code", f"rustc-wrapper = {wrapper}", "rustc-wrapper")


def _hooks(points: Any, reading: _Reading) -> None:
    for name, target in _map(points).items():
        reading.setting(SettingKind.TOLERATES, f"pytest11.{name}", [str(target)], name, tool="(plugins)")


def _requirement(line: Any, reading: _Reading) -> None:
    if isinstance(line, str) and (
        found := re.match(r"\s*([A-Za-z0-9._-]+)\s*(?:\[[^\]]*\])?\s*@\s*(\S+)", line)
    ):
        package, source = found[1].lower().replace("_", "-"), found[2]
        if package in RUNNER_PACKAGES:
            reading.fact("runner-swapped", f"{package} @ {source}", found[1])


def _is_off(value: Any) -> bool:
    return value in ("off", 0) or (isinstance(value, list) and bool(value) and value[0] in ("off", 0))


def _map(found: Any) -> Mapped:
    return found if isinstance(found, Mapping) else {}


def _list(found: Any) -> list[Any]:
    return found if isinstance(found, list) else []


def _listed(groups: Any) -> Iterator[Any]:
    for group in _map(groups).values():
        yield from _list(group)


def _first(error: BaseException) -> str:
    return str(error).splitlines()[0][:200] if str(error) else type(error).__name__
