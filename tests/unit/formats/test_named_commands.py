"""Commands that stand for one which a package or a makefile has."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from adjudge.formats.testcommands.makefiles import TargetName, parse_target_name, target_command
from adjudge.formats.testcommands.named import is_named, written_command


@pytest.mark.parametrize(
    ("command", "name", "variables"),
    [
        ("make test", "test", {}),
        ("gmake -s check", "check", {}),
        ("make --no-print-directory test P=python3 ARGS='-k a'", "test", {"P": "python3", "ARGS": "-k a"}),
    ],
)
def test_targets(command: str, name: str, variables: Mapping[str, str]) -> None:
    assert parse_target_name(command) == TargetName(name, variables)
    assert is_named(command)


@pytest.mark.parametrize(
    "command",
    [
        "make",
        "make -k test",
        "make -C sub test",
        "make a b",
        "CC=x make test",
        "make test && true",
        "cmake test",
    ],
)
def test_no_targets(command: str) -> None:
    assert parse_target_name(command) is None
    assert not is_named(command)


def _command(makefile: str, **variables: str) -> str | None:
    return target_command(makefile.encode(), TargetName("test", variables))


@pytest.mark.parametrize(
    ("makefile", "command"),
    [
        ("test:\n\tpytest -q\n", "pytest -q"),
        ("test:\n\t@pytest -q\n", "pytest -q"),
        ("test: ; pytest -q\n", "pytest -q"),
        (
            "PYTHON ?= python3\n.PHONY: test\ntest:\n\t$(PYTHON) -m pytest -q $(ARGS)\n",
            "python3 -m pytest -q",
        ),
        ("P = ${Q} -q\nQ := pytest\ntest:\n\t$(P)\n", "pytest -q"),
        ("P = pytest\nP += -q\ntest:\n\t$(P)\n", "pytest -q"),
        ("export PYTHONPATH := src\ntest:\n\tpytest\n", "PYTHONPATH=src pytest"),
        ("PYTHONPATH = src tests\nexport PYTHONPATH\ntest:\n\tpytest\n", "PYTHONPATH='src tests' pytest"),
        ("test:\n\tpytest \\\n\t  -q tests # all\n", "pytest -q tests # all"),
        (
            ".DEFAULT_GOAL := help\nhelp:\n\t@echo help\ntest: unit\nunit:\ntest:\n\tgo test ./...\n",
            "go test ./...",
        ),
    ],
)
def test_what_a_target_runs(makefile: str, command: str) -> None:
    assert _command(makefile) == command


@pytest.mark.parametrize(
    "makefile",
    [
        "lint:\n\truff check\n",
        "test: build\n\tpytest\nbuild:\n\tcc a.c\n",
        "test:\n\tpytest a\n\tpytest b\n",
        "test:\n\t-pytest\n",
        "test:\n\t@-pytest\n",
        "test:\n\t+pytest\n",
        "include more.mk\ntest:\n\tpytest\n",
        "ifdef CI\ntest:\n\ttrue\nelse\ntest:\n\tpytest\nendif\n",
        "SHELL := ./run\ntest:\n\tpytest\n",
        "test: ARGS = -k none\ntest:\n\tpytest $(ARGS)\n",
        "test:\n\t$(MAKE) unit\n",
        "test:\n\tpytest $(shell cat args)\n",
        "test:\n\tpytest $$ARGS\n",
        "A = $(B)\nB = $(A)\ntest:\n\tpytest $(A)\n",
        "A = $(B)$(B)\nB = $(C)$(C)\nC = $(D)$(D)\nD = " + "x" * 2000 + "\ntest:\n\tpytest $(A)\n",
        "test::\n\tpytest\n",
        ".ONESHELL:\ntest:\n\tpytest\n",
        "\x00\xff",
        "",
    ],
)
def test_what_only_make_can_work_out(makefile: str) -> None:
    assert _command(makefile) is None


def test_variables_of_the_command_come_first() -> None:
    makefile = "PYTHON := python3\ntest:\n\t$(PYTHON) -m pytest\n"
    assert _command(makefile, PYTHON="python3.12") == "python3.12 -m pytest"
    assert _command(makefile, SHELL="/bin/true") is None


def test_what_stands_behind_a_command() -> None:
    files = {
        "makefile": b"test:\n\tnpm run unit\nround:\n\tmake round\n",
        "Makefile": b"test:\n\ttrue\n",
        "package.json": b'{"scripts": {"unit": "node --test"}}',
    }
    assert written_command("make test", files.get) == "node --test"
    assert written_command("pytest -q", files.get) == "pytest -q"
    assert written_command("make round", files.get) is None
    assert written_command("npm test", files.get) is None
    assert written_command("make test", lambda _: None) is None
