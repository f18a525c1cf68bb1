"""Hidden files and clean trees, as a command in a real sandbox finds them."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.e2e.grade.conftest import Project

pytestmark = pytest.mark.bwrap


def grade(project: Project, line: dict[str, Any], *args: str) -> dict[str, Any]:
    """The row of one `command` line. JSON is YAML."""
    recipe = project.write_recipe(json.dumps({"scorers": [{"type": "command", "name": "it", **line}]}))
    outcome = project.grade(*args, recipe=recipe)
    assert outcome.stdout, outcome.stderr
    return outcome.row("it")


@pytest.fixture
def hidden(project: Project) -> Path:
    (project.root / "hidden" / "deep").mkdir(parents=True)
    (project.root / "hidden" / "answer.txt").write_text("42\n")
    (project.root / "hidden" / "deep" / "more.txt").write_text("more\n")
    return project.root / "hidden"


PLANTED: dict[str, Callable[[Path], object]] = {
    "nothing": lambda place: None,
    "a file": lambda place: place.write_text("planted"),
    "a folder": lambda place: (place / "planted").mkdir(parents=True),
    "a link": lambda place: place.symlink_to("README.md"),
    "a dangling link": lambda place: place.symlink_to("nowhere/at/all"),
    "a link out": lambda place: place.symlink_to("/tmp/elsewhere"),
}


@pytest.mark.parametrize("what", PLANTED)
@pytest.mark.parametrize("isolation", ["snapshot", "clean"])
def test_a_hidden_file_replaces_whatever_lies_there(
    project: Project, hidden: Path, what: str, isolation: str
) -> None:
    PLANTED[what](project.workspace / "answer.txt")
    before = sorted(os.listdir(project.workspace))
    row = grade(
        project,
        {
            "cmd": "test -f answer.txt && ! test -L answer.txt && cat answer.txt && cat README.md",
            "inject": ["./hidden/answer.txt"],
            "isolation": isolation,
        },
    )
    assert row["verdict"] == "PASS", row
    assert row["details"]["stdout_tail"] == "42\n# calc\n"
    assert sorted(os.listdir(project.workspace)) == before
    assert not (project.workspace / "answer.txt").is_file() or what in ("a file", "a link")


@pytest.mark.parametrize(
    "attack",
    ["echo 0 > answer.txt", "rm -f answer.txt; test -e answer.txt && exit 1", "mv answer.txt x",
     "chmod +w answer.txt && echo 0 > answer.txt"],
)  # fmt: skip
def test_a_hidden_file_cannot_be_changed(project: Project, hidden: Path, attack: str) -> None:
    row = grade(project, {"cmd": f"({attack}) 2>/dev/null; cat answer.txt", "inject": ["hidden/answer.txt"]})
    assert row["details"]["stdout_tail"] == "42\n"


def test_places_of_hidden_files(project: Project, hidden: Path) -> None:
    (project.workspace / "into").symlink_to("src")
    inject = [
        {"src": "hidden/answer.txt", "dest": "tests/answer.txt"},
        {"src": "hidden/answer.txt", "dest": "into/"},
        {"src": "hidden", "dest": "all"},
        {"src": "hidden/deep", "dest": "."},
    ]
    listing = "find all into tests more.txt -type f | sort; test -e src/answer.txt || echo not in src"
    row = grade(project, {"cmd": listing, "inject": inject})
    assert row["details"]["stdout_tail"].splitlines() == [
        "all/answer.txt",
        "all/deep/more.txt",
        "into/answer.txt",
        "more.txt",
        "tests/answer.txt",
        "tests/test_calc.py",
        "not in src",
    ]


@pytest.mark.parametrize(
    ("inject", "problem"),
    [
        (["../outside.txt"], "goes up"),
        (["hidden/nothing.txt"], "does not exist"),
        ([{"src": "hidden/answer.txt", "dest": "../x"}], "goes up"),
        ([{"src": "hidden/answer.txt", "dest": "/etc/x"}], "absolute"),
        ([{"src": "hidden/answer.txt", "dest": ".git/hooks/x"}], ".git"),
        ([{"src": "hidden/answer.txt", "to": "x"}], "unknown key"),
        (["hidden/answer.txt", {"src": "hidden/deep", "dest": "answer.txt"}], "both injected"),
        ([7], "mapping"),
    ],
)
def test_what_cannot_be_injected_is_refused(
    project: Project, hidden: Path, inject: list[Any], problem: str
) -> None:
    line = {"type": "command", "cmd": "true", "inject": inject}
    recipe = project.write_recipe(json.dumps({"scorers": [line]}))
    outcome = project.adjudge("validate", recipe)
    assert outcome.code == 2
    assert problem in outcome.stderr + outcome.stdout


def test_a_hidden_link_out_of_the_scenario_is_refused(project: Project, hidden: Path) -> None:
    (hidden / "answer.txt").unlink()
    (hidden / "answer.txt").symlink_to("/etc/passwd")
    line = {"type": "command", "cmd": "true", "inject": ["hidden/answer.txt"]}
    outcome = project.adjudge("validate", project.write_recipe(json.dumps({"scorers": [line]})))
    assert outcome.code == 2


def test_a_seeded_workspace_does_not_hold_hidden_files(project: Project, hidden: Path) -> None:
    (project.root / "project").mkdir()
    (project.root / "project" / "a.txt").write_text("a")
    recipe = project.write_recipe(
        json.dumps(
            {
                "instruction": "Do.",
                "workspace": {"source": "directory", "path": "project"},
                "scorers": [{"type": "command", "cmd": "cat answer.txt", "inject": ["hidden/answer.txt"]}],
            }
        )
    )
    seeded = project.root / "seeded"
    assert project.adjudge("seed", recipe, seeded).code == 0
    (hidden / "answer.txt").write_text("changed since\n")
    assert not any("42" in path.read_text("latin-1") for path in seeded.rglob("*") if path.is_file())
    outcome = project.adjudge("grade", "--workspace", seeded, "--json")
    (row,) = outcome.document["scorers"]
    assert row["details"]["stdout_tail"] == "42\n"


def test_clean_takes_tests_and_runners_from_the_baseline(project: Project) -> None:
    project.write(
        {
            "run-tests.sh": "exit 0\n",
            "tests/test_calc.py": "def test_add():\n    pass\n",
            "tests/data.json": "{}",
            "conftest.py": "import os; os._exit(0)\n",
            "sitecustomize.py": "import os; os._exit(0)\n",
            "json.py": "raise SystemExit\n",
            "src/extra.py": "x = 1\n",
        }
    )
    line = {"cmd": "sh run-tests.sh && echo fooled; ls -R", "isolation": "clean"}
    row = grade(project, line)
    listed = row["details"]["stdout_tail"].split()
    assert "fooled" not in listed
    assert {"README.md", "extra.py", "test_calc.py", "run-tests.sh"} <= set(listed)
    assert not {"conftest.py", "sitecustomize.py", "json.py", "data.json"} & set(listed)
    assert {finding["path"] for finding in row["findings"] if finding["rule"] == "left-out-of-clean"} == {
        "run-tests.sh", "tests/test_calc.py", "tests/data.json", "conftest.py", "sitecustomize.py", "json.py",
    }  # fmt: skip
    assert grade(project, {**line, "isolation": "snapshot"})["details"]["stdout_tail"].startswith("fooled")
    allowed = grade(project, {**line, "allow": ["conftest.py", "tests/**"]})
    assert {"conftest.py", "data.json"} <= set(allowed["details"]["stdout_tail"].split())


def test_clean_carries_every_kind_of_change(project: Project) -> None:
    project.write({"src/gone/a.py": "a\n", "src/swap/b.py": "b\n", "src/file": "f\n", "old.txt": "o" * 99})
    base = project.commit("more")
    project.solve()
    (project.workspace / "src/gone/a.py").unlink()
    (project.workspace / "src/swap/b.py").unlink()
    (project.workspace / "src/swap").rmdir()
    (project.workspace / "src/swap").write_text("now a file\n")
    (project.workspace / "src/file").unlink()
    project.write({"src/file/inside.py": "inside\n"})
    (project.workspace / "old.txt").rename(project.workspace / "new.txt")
    (project.workspace / "link").symlink_to("src/calc.py")
    (project.workspace / "tool").write_text("#!/bin/sh\necho ran\n")
    (project.workspace / "tool").chmod(0o755)
    os.mkfifo(project.workspace / "pipe")
    check = (
        "sh run-tests.sh && test ! -e src/gone/a.py && cat src/swap src/file/inside.py && test ! -e old.txt"
        " && test -f new.txt && test -L link && grep -q + link && test -x tool && sh tool"
        " && test ! -e pipe && test ! -e .git"
    )
    row = grade(project, {"cmd": check, "isolation": "clean"}, "--baseline", base)
    assert row["verdict"] == "PASS", row
    assert row["details"]["stdout_tail"].splitlines() == ["ok", "now a file", "inside", "ran"]
    assert [finding["path"] for finding in row["findings"]] == ["pipe"]


def test_a_link_in_place_of_the_tests_changes_nothing(project: Project) -> None:
    (project.workspace / "tests/test_calc.py").unlink()
    (project.workspace / "tests").rmdir()
    project.write({"mine/test_calc.py": "def test_add():\n    pass\n"})
    (project.workspace / "tests").symlink_to("mine")
    row = grade(project, {"cmd": "cat tests/test_calc.py", "isolation": "clean"})
    assert "add(1, 2) == 3" in row["details"]["stdout_tail"]


def test_configuration_is_merged_by_section(project: Project) -> None:
    project.write(
        {
            "pyproject.toml": '[project]\nname = "calc"\n[tool.pytest.ini_options]\naddopts = "-ra"\n',
            "setup.cfg": "[metadata]\nname = calc\n[tool:pytest]\naddopts = -q\n",
            "package.json": '{"name": "calc", "scripts": {"test": "jest"}}',
            "tox.ini": "[flake8]\nselect = E\n",
        }
    )
    base = project.commit("configured")
    project.write(
        {
            "pyproject.toml": '[project]\nname = "calc2"\n[tool.pytest.ini_options]\naddopts = "-k no"\n',
            "setup.cfg": "[metadata]\nname = calc2\n  [tool:pytest]\n[tool:pytest]\naddopts = -k no\n",
            "package.json": '{"name": "calc2", "scripts": {"test": "true"}}',
            "tox.ini": "[flake8\n",
        }
    )
    row = grade(
        project,
        {"cmd": "cat pyproject.toml setup.cfg package.json tox.ini", "isolation": "clean"},
        "--baseline",
        base,
    )
    text = row["details"]["stdout_tail"]
    assert "-ra" in text
    assert text.count("calc2") == 3
    assert "-k no" not in text
    assert '"test": "jest"' in text
    assert "select = E" in text
    assert [finding["path"] for finding in row["findings"]] == [
        "package.json",
        "pyproject.toml",
        "setup.cfg",
        "tox.ini",
    ]
