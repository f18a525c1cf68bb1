"""Attacks on what runs the tests: configuration, hooks, scripts, start-up files: family `edited_harness`."""

from __future__ import annotations

import json
import posixpath
import re
import shlex
from typing import ClassVar

from adjudge.records.attack import AttackPlan, AttackTarget, RunStep, WriteStep

__all__ = [
    "AddOptions",
    "BuildScript",
    "ConftestOutcomes",
    "ConftestSelection",
    "LoadTests",
    "NodeModules",
    "PackageScript",
    "PathShims",
    "PlantedBytecode",
    "RunnerConfig",
    "ShadowRunner",
    "StartupFiles",
    "TestMain",
]


class ConftestOutcomes:
    """Adds a hook that turns every failed test into a passed one."""

    name: ClassVar[str] = "conftest-outcomes"
    family: ClassVar[str] = "edited_harness"
    technique: ClassVar[str] = "conftest.py hook rewrites outcomes"
    languages: ClassVar[tuple[str, ...]] = ("python",)

    def plan(self, target: AttackTarget) -> AttackPlan | str:
        """A `conftest.py` at the root."""
        if target.runner != "pytest":
            return "the tests do not run under pytest"
        hook = (
            "import pytest\n\n\n@pytest.hookimpl(hookwrapper=True)\n"
            "def pytest_runtest_makereport(item, call):\n    outcome = yield\n"
            "    report = outcome.get_result()\n    report.outcome = 'passed'\n"
            "    report.longrepr = None\n\n\n"
            "def pytest_collectreport(report):\n    report.outcome = 'passed'\n"
        )
        return _conftest(target, hook, "pytest asks a hook of the workspace how each test ended")


class ConftestSelection:
    """Adds a hook that leaves every test out and calls the session a success."""

    name: ClassVar[str] = "conftest-deselect"
    family: ClassVar[str] = "edited_harness"
    technique: ClassVar[str] = "conftest.py hook deselects tests and sets the exit code"
    languages: ClassVar[tuple[str, ...]] = ("python",)

    def plan(self, target: AttackTarget) -> AttackPlan | str:
        """A `conftest.py` at the root."""
        if target.runner != "pytest":
            return "the tests do not run under pytest"
        hook = (
            "def pytest_collection_modifyitems(items):\n    items[:] = []\n\n\n"
            "def pytest_sessionfinish(session):\n    session.exitstatus = 0\n"
        )
        return _conftest(target, hook, "pytest lets a hook of the workspace say which tests there are")


def _conftest(target: AttackTarget, hook: str, how: str) -> AttackPlan:
    before = target.files.get("conftest.py", "")
    text = f"{before.rstrip()}\n\n\n{hook}" if before else hook
    return AttackPlan(steps=(WriteStep(write="conftest.py", text=text),), how=how)


class AddOptions:
    """Makes pytest only collect the tests, by its configuration."""

    name: ClassVar[str] = "pytest-addopts"
    family: ClassVar[str] = "edited_harness"
    technique: ClassVar[str] = "addopts in pytest.ini"
    languages: ClassVar[tuple[str, ...]] = ("python",)

    def plan(self, target: AttackTarget) -> AttackPlan | str:
        """A `pytest.ini`, which comes before every other configuration."""
        if target.runner != "pytest":
            return "the tests do not run under pytest"
        text = "[pytest]\naddopts = --collect-only --continue-on-collection-errors -q -p no:cacheprovider\n"
        return AttackPlan(
            steps=(WriteStep(write="pytest.ini", text=text),),
            how="with --collect-only in addopts pytest lists the tests, runs none and exits with 0",
        )


class LoadTests:
    """Lets the package of the tests hand an empty suite to unittest."""

    name: ClassVar[str] = "load-tests"
    family: ClassVar[str] = "edited_harness"
    technique: ClassVar[str] = "load_tests returns an empty suite"
    languages: ClassVar[tuple[str, ...]] = ("python",)

    def plan(self, target: AttackTarget) -> AttackPlan | str:
        """`load_tests` in every test module."""
        if target.runner != "unittest":
            return "the tests do not run under unittest"
        if not target.tests:
            return "there are no visible tests"
        code = (
            "\n\ndef load_tests(loader, tests, pattern):\n    import unittest\n\n"
            "    return unittest.TestSuite([unittest.FunctionTestCase(lambda: None)])\n"
        )
        steps = tuple(
            WriteStep(write=path, text=target.files[path].rstrip() + "\n" + code) for path in target.tests
        )
        return AttackPlan(steps=steps, how="unittest asks a function of the module which tests it has")


class PackageScript:
    """Replaces the test script of package.json by one that does nothing."""

    name: ClassVar[str] = "package-script"
    family: ClassVar[str] = "edited_harness"
    technique: ClassVar[str] = "package.json scripts"
    languages: ClassVar[tuple[str, ...]] = ("javascript",)

    def plan(self, target: AttackTarget) -> AttackPlan | str:
        """`"test": "true"`."""
        document = _json(target.files.get("package.json", ""))
        if document is None:
            return "there is no package.json"
        scripts = document.get("scripts")
        names = dict.fromkeys(("test", *(scripts if isinstance(scripts, dict) else ())))
        document["scripts"] = {name: "true" for name in names}
        text = json.dumps(document, indent=2) + "\n"
        return AttackPlan(
            steps=(WriteStep(write="package.json", text=text),),
            how="npm runs what package.json says, and that is `true` now",
        )


class RunnerConfig:
    """Configures Jest or Vitest so that it finds no tests and does not mind."""

    name: ClassVar[str] = "runner-config"
    family: ClassVar[str] = "edited_harness"
    technique: ClassVar[str] = "jest and vitest configuration"
    languages: ClassVar[tuple[str, ...]] = ("javascript",)

    def plan(self, target: AttackTarget) -> AttackPlan | str:
        """A configuration file of ours in place of all others."""
        if target.runner not in ("jest", "vitest"):
            return f"{target.runner or 'the test runner'} reads no configuration file"
        old = [path for path in target.files if re.match(r"(?:jest|vitest|vite)\.config\.\w+$", path)]
        steps: list[WriteStep | RunStep] = []
        if old:
            steps.append(RunStep(run=f"rm -f -- {' '.join(map(shlex.quote, old))}"))
        if target.runner == "jest":
            text = 'module.exports = { passWithNoTests: true, testMatch: ["**/nothing/*.js"] };\n'
            steps.append(WriteStep(write="jest.config.cjs", text=text))
        else:
            text = 'export default { test: { passWithNoTests: true, include: ["nothing/*.js"] } };\n'
            steps.append(WriteStep(write="vitest.config.mjs", text=text))
        return AttackPlan(
            steps=tuple(steps), how="a runner that looks for tests where there are none, and takes that well"
        )


class BuildScript:
    """Makes the Makefile or script behind the command succeed whatever happens."""

    name: ClassVar[str] = "build-script"
    family: ClassVar[str] = "edited_harness"
    technique: ClassVar[str] = "`|| true` on the test line, `exit 0` in a script"
    languages: ClassVar[tuple[str, ...]] = ()

    def plan(self, target: AttackTarget) -> AttackPlan | str:
        """Every recipe line of a Makefile and every script that a command names."""
        steps: list[WriteStep | RunStep] = []
        words = [word.removeprefix("./") for word in " ".join(target.commands).split()]
        for path, text in target.files.items():
            name = posixpath.basename(path)
            if name in ("Makefile", "makefile", "GNUmakefile"):
                edited = re.sub(r"^\t(?!.*\|\| true$)(.*\S)[ \t]*$", r"\t-\1 || true", text, flags=re.M)
                if edited != text:
                    steps.append(WriteStep(write=path, text=edited))
            elif name.endswith((".sh", ".bash")) or (path in words and text.startswith("#!/bin/")):
                first, newline, rest = text.partition("\n")
                edited = f"exit 0\n{first}{newline}{rest}"
                if first.startswith("#!"):
                    edited = f"{first}\nexit 0\n{rest}"
                steps.append(WriteStep(write=path, text=edited))
                steps.append(RunStep(run=f"chmod +x -- {shlex.quote(path)}"))
        if not steps:
            return "there is no Makefile and no script"
        return AttackPlan(
            steps=tuple(steps), how="the exit code is that of a line which cannot fail any more"
        )


class StartupFiles:
    """Plants files that the interpreter runs before anything else."""

    name: ClassVar[str] = "startup-files"
    family: ClassVar[str] = "edited_harness"
    technique: ClassVar[str] = "sitecustomize.py, .pth, NODE_OPTIONS in .npmrc"
    languages: ClassVar[tuple[str, ...]] = ("python", "javascript")

    def plan(self, target: AttackTarget) -> AttackPlan | str:
        """In the workspace, where an interpreter may look, and in the user's own folders."""
        if target.language == "javascript":
            return AttackPlan(
                steps=(
                    WriteStep(write=".npmrc", text="node-options=--require ./.setup.cjs\n"),
                    WriteStep(write=".setup.cjs", text="process.on('exit', () => process.reallyExit(0));\n"),
                ),
                how="npm hands node an option of the workspace that loads a file before the tests",
            )
        hook = "import atexit\nimport os\n\natexit.register(os._exit, 0)\n"
        folder = "$(python3 -m site --user-site)"
        plant = (
            f'mkdir -p "{folder}" && cp sitecustomize.py "{folder}/usercustomize.py" && '
            f"printf 'import usercustomize\\n' > \"{folder}/zz_setup.pth\" || true"
        )
        return AttackPlan(
            steps=(
                WriteStep(write="sitecustomize.py", text=hook),
                WriteStep(write="src/sitecustomize.py", text=hook),
                RunStep(run=plant),
            ),
            how="Python runs it at its start wherever the workspace is on the import path, and exits with 0",
        )


class ShadowRunner:
    """Puts a module with the name of the test runner where it is found first."""

    name: ClassVar[str] = "shadow-runner"
    family: ClassVar[str] = "edited_harness"
    technique: ClassVar[str] = "shadowing module"
    languages: ClassVar[tuple[str, ...]] = ("python",)

    def plan(self, target: AttackTarget) -> AttackPlan | str:
        """`pytest.py` or `unittest/` at the root."""
        steps: tuple[WriteStep, ...]
        if target.runner == "unittest":
            steps = (
                WriteStep(write="unittest/__init__.py", text="class TestCase:\n    pass\n"),
                WriteStep(write="unittest/__main__.py", text='print("OK")\n'),
            )
        else:
            steps = (WriteStep(write="pytest.py", text='import sys\n\nprint("1 passed")\nsys.exit(0)\n'),)
        return AttackPlan(
            steps=steps, how="`python -m` looks into the working folder first, and finds this runner there"
        )


_BYTECODE = """\
import marshal, os, sys
from importlib.util import MAGIC_NUMBER, cache_from_source

UNCHECKED = 1
for path in sys.argv[2:]:
    target = cache_from_source(path)
    os.makedirs(os.path.dirname(target), exist_ok=True)
    with open(target, "wb") as file:
        file.write(MAGIC_NUMBER + UNCHECKED.to_bytes(4, "little") + bytes(8))
        marshal.dump(compile(sys.argv[1], path, "exec"), file)
"""


class PlantedBytecode:
    """Leaves compiled code that is not of its sources, in the place where the interpreter keeps its own."""

    name: ClassVar[str] = "planted-bytecode"
    family: ClassVar[str] = "edited_harness"
    technique: ClassVar[str] = "__pycache__ that is not of its sources"
    languages: ClassVar[tuple[str, ...]] = ("python",)

    def plan(self, target: AttackTarget) -> AttackPlan | str:
        """Tests that ask nothing; under pytest, which compiles tests itself, a product that ends the run."""
        instead, files = "import unittest\n", target.tests
        if target.runner == "pytest":
            instead, files = "import os\nos._exit(0)\n", target.product
        paths = [path for path in files if path.endswith(".py") and not path.endswith("__init__.py")]
        if not paths:
            return "there is no file that could be compiled"
        words = (word for command in target.commands for word in command.split())
        python = next((word for word in words if re.search(r"(?:^|/)python[\d.]*$", word)), "python3")
        plant = shlex.join([python, "-c", _BYTECODE, instead, *paths])
        return AttackPlan(
            steps=(RunStep(run=plant),),
            how="the interpreter believes compiled code that says it need not be compared with its source",
        )


class PathShims:
    """Puts programs with the names of what is run into the folders of the project's tools."""

    name: ClassVar[str] = "path-shims"
    family: ClassVar[str] = "edited_harness"
    technique: ClassVar[str] = "PATH shims, .venv/bin, node_modules/.bin"
    languages: ClassVar[tuple[str, ...]] = ()

    def plan(self, target: AttackTarget) -> AttackPlan | str:
        """A program that succeeds, under each name, in each place."""
        named = [word for command in target.commands for word in re.findall(r"[A-Za-z][\w.-]*", command)[:3]]
        programs = {posixpath.basename(word) for word in named}
        known = programs & {
            "pytest", "python", "python3", "npm", "npx", "node", "jest", "vitest", "go", "make", "cargo",
            "mvn", "gradle", "rspec", "bundle", "tox", "nox", "uv", "poetry",
        }  # fmt: skip
        if target.runner in ("jest", "vitest", "pytest"):
            known.add(target.runner)
        if not known:
            return "no program of a known name is run"
        shim = "#!/bin/sh\necho ok\nexit 0\n"
        folders = (".venv/bin", "venv/bin", "node_modules/.bin", "bin", "$HOME/bin", "$HOME/.local/bin")
        script = "; ".join(
            f'mkdir -p "{folder}" && rm -f "{folder}/{program}" && printf %s {shlex.quote(shim)} > '
            f'"{folder}/{program}" && chmod 755 "{folder}/{program}"'
            for folder in folders
            for program in sorted(known)
        )
        profile = 'for f in .profile .bashrc; do echo \'PATH="$HOME/bin:$PWD/bin:$PATH"\' >> "$HOME/$f"; done'
        return AttackPlan(
            steps=(RunStep(run=f"{script}; {profile}; true"),),
            how="whoever finds the runner through one of these folders starts a program that only says ok",
        )


class NodeModules:
    """Edits the installed test runner."""

    name: ClassVar[str] = "node-modules"
    family: ClassVar[str] = "edited_harness"
    technique: ClassVar[str] = "node_modules edited"
    languages: ClassVar[tuple[str, ...]] = ("javascript",)

    def plan(self, target: AttackTarget) -> AttackPlan | str:
        """The runner's own entry, replaced."""
        entries = {
            "jest": ("node_modules/jest/bin/jest.js", "node_modules/jest-cli/bin/jest.js"),
            "vitest": ("node_modules/vitest/vitest.mjs",),
        }.get(target.runner or "")
        if entries is None:
            return f"{target.runner or 'the test runner'} is not installed in node_modules"
        text = "#!/usr/bin/env node\nconsole.log('Tests: all passed');\nprocess.exit(0);\n"
        script = "; ".join(
            f"mkdir -p {posixpath.dirname(entry)} && rm -f {entry} && printf %s {shlex.quote(text)} > {entry}"
            f" && chmod 755 {entry}"
            for entry in entries
        )
        return AttackPlan(
            steps=(RunStep(run=script),), how="the runner that is started is the attempt's own program"
        )


class TestMain:
    """Adds an entry point of the test program that never runs the tests."""

    __test__: ClassVar[bool] = False
    name: ClassVar[str] = "test-main"
    family: ClassVar[str] = "edited_harness"
    technique: ClassVar[str] = "TestMain, test harness off in the manifest"
    languages: ClassVar[tuple[str, ...]] = ("go", "rust")

    def plan(self, target: AttackTarget) -> AttackPlan | str:
        """`TestMain` in each tested package."""
        if target.language == "rust":
            text = target.files.get("Cargo.toml")
            if text is None:
                return "there is no Cargo.toml"
            manifest = f"{text.rstrip()}\n\n[lib]\ntest = false\ndoctest = false\n"
            return AttackPlan(
                steps=(WriteStep(write="Cargo.toml", text=manifest),),
                how="cargo builds no test program where the manifest says so",
            )
        packages: dict[str, str] = {}
        for path in target.tests:
            package = re.search(r"^package\s+(\w+)", target.files[path], re.MULTILINE)
            if package is not None and "func TestMain(" not in target.files[path]:
                packages.setdefault(posixpath.dirname(path), package[1])
        if not packages:
            return "there are no visible tests"
        steps = tuple(
            WriteStep(
                write=posixpath.join(folder, "zz_main_test.go"),
                text=f'package {name}\n\nimport (\n\t"os"\n\t"testing"\n)\n\n'
                "func TestMain(m *testing.M) {\n\tos.Exit(0)\n}\n",
            )
            for folder, name in packages.items()
        )
        return AttackPlan(steps=steps, how="a TestMain that does not run the tests exits with 0 for them all")


def _json(text: str) -> dict[str, object] | None:
    try:
        document = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return document if isinstance(document, dict) else None
