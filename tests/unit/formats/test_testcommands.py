"""Commands as recipes write them."""

from __future__ import annotations

from pathlib import PurePosixPath

import pytest

from adjudge.formats.testcommands.files import runner_files
from adjudge.formats.testcommands.python import parse_python_suite
from adjudge.formats.testcommands.reporters import add_reporter

pytestmark = pytest.mark.anyone


@pytest.mark.parametrize(
    ("command", "runner", "args", "select"),
    [
        ("pytest", "pytest", (), ()),
        ("pytest -q", "pytest", ("-q",), ()),
        ("python3 -m pytest -q -p no:cacheprovider", "pytest", ("-q",), ()),
        ("python -B -m pytest tests -x --maxfail=2 -k 'not slow'", "pytest", ("tests", "-k", "not slow"), ()),
        ("pytest -xvs", "pytest", ("-vs",), ()),
        ("pytest --maxfail 3 --junitxml=r.xml -n 4", "pytest", ("-n", "4"), ()),
        ("pytest ./a.py::test_b 'a.py::t[x y]'", "pytest", ("a.py",), ("a.py::test_b", "a.py::t[x y]")),
        ("python3.11 -m unittest discover -s tests -f", "unittest", ("discover", "-s", "tests"), ()),
    ],
)  # fmt: skip
def test_python_suites(command: str, runner: str, args: tuple[str, ...], select: tuple[str, ...]) -> None:
    suite = parse_python_suite(command)
    assert suite is not None
    assert (suite.command.runner, suite.command.args, suite.select) == (runner, args, select)


def test_environment_and_import_path_of_the_recipe() -> None:
    suite = parse_python_suite(
        "env PYTHONPATH=src:lib DEBUG=1 PYTEST_ADDOPTS=-x .venv/bin/python -m pytest -c a.ini"
    )
    assert suite is not None
    assert suite.command.path == ("src", "lib", ".")
    assert suite.command.env == {"DEBUG": "1"}
    assert suite.command.interpreter == ("/workspace/.venv/bin/python",)
    assert suite.command.config == "a.ini"


@pytest.mark.parametrize(
    "command",
    [
        "make test", "pytest && true", "pytest; true", "pytest | tee log", "pytest $ARGS", "pytest `ls`",
        "cd x && pytest", "tox", "python tests.py", "python -c 'import pytest'", "pytest tests/test_*.py",
        "pytest --collect-only", "FOO=1", "echo pytest", "pytest 'unclosed", "coverage run -m pytest",
    ],
)  # fmt: skip
def test_what_is_left_to_the_shell(command: str) -> None:
    assert parse_python_suite(command) is None


@pytest.mark.parametrize(
    ("command", "made", "format"),
    [
        (
            "node --test x.test.js",
            "node --test-reporter=junit --test-reporter-destination=/tmp/r --test x.test.js",
            "junit",
        ),
        (
            "node --test test/*.test.js",
            "node --test-reporter=junit --test-reporter-destination=/tmp/r --test test/*.test.js",
            "junit",
        ),
        (
            "node --test --test-reporter=spec 'test/**/*.js'",
            "node --test-reporter=junit --test-reporter-destination=/tmp/r --test 'test/**/*.js'",
            "junit",
        ),
        ("npx jest src", "npx jest src --json --outputFile=/tmp/r", "jest"),
        ("vitest run", "vitest run --reporter=json --outputFile=/tmp/r", "jest"),
        ("go test ./... -run 'A b'", "go test -json ./... -run 'A b'", "go-json"),
    ],
)
def test_reporters(command: str, made: str, format: str) -> None:
    reporting = add_reporter(command, PurePosixPath("/tmp/r"))
    assert reporting is not None
    assert (reporting.command, reporting.format) == (made, format)
    assert (reporting.report is None) == (format == "go-json")


@pytest.mark.parametrize("command", ["npm test --silent", "yarn test", "pnpm run check", "node run.js all"])
def test_nodes_own_runner_may_be_behind_a_script(command: str) -> None:
    reporting = add_reporter(command, PurePosixPath("/tmp/r"))
    assert reporting is not None
    assert not reporting.certain
    options = "--test-reporter=junit --test-reporter-destination=/tmp/r"
    assert reporting.command == f"env NODE_OPTIONS='{options}' {command}"


@pytest.mark.parametrize("command", ["make test", "go vet", "jest | tail", "go test *", "node x/*.js"])
def test_no_reporter_is_added_to_what_is_not_known(command: str) -> None:
    assert add_reporter(command, PurePosixPath("/tmp/r")) is None


@pytest.mark.parametrize(
    ("command", "files"),
    [
        ("make test", ("Makefile", "makefile", "GNUmakefile", "**/*.mk")),
        ("sh run-tests.sh", ("run-tests.sh",)),
        ("./scripts/check --all && bash ./more.sh", ("scripts/check", "more.sh")),
        ("PATH=bin:$PATH /workspace/tool x", ("bin", "tool")),
        ("python app.py", ()),
        ("sh ../out.sh; sh /etc/x.sh", ()),
        ("sh 'odd[1].sh'", ("odd[[]1].sh",)),
    ],
)
def test_files_that_a_command_runs(command: str, files: tuple[str, ...]) -> None:
    assert runner_files(command) == files
