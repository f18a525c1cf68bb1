"""The command itself: streams, files, interruptions, and text that wants to be obeyed."""

from __future__ import annotations

import json
import os
import pty
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.e2e.grade.conftest import Project


def test_stdout_is_data_and_stderr_is_for_people(project: Project) -> None:
    recipe = project.write_recipe("scorers: [{type: max_files_changed, limit: 0}]")
    outcome = project.grade(recipe=recipe)
    assert json.loads(outcome.stdout)["schema"] == "adjudge.evaluation/1"
    assert "objective PASS" in outcome.stderr
    table = project.adjudge("grade", recipe, "--workspace", project.workspace)
    assert table.stderr == ""
    assert table.stdout.startswith("OVERALL PASS")


def test_output_goes_to_a_file_whole_or_not_at_all(project: Project, tmp_path: Path) -> None:
    recipe = project.write_recipe("scorers: [{type: max_files_changed, limit: 0}]")
    file = tmp_path / "out.json"
    file.write_text("old")
    outcome = project.grade("--output", file, recipe=recipe)
    assert (outcome.code, outcome.stdout) == (0, "")
    assert json.loads(file.read_text())["schema"] == "adjudge.evaluation/1"
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith(".out")] == []
    outcome = project.grade("--output", tmp_path / "no" / "such" / "folder", recipe=recipe)
    assert outcome.code == 2
    assert "is not a folder" in outcome.stderr


@pytest.mark.parametrize(
    ("args", "said"),
    [
        (["--workspace", "nowhere"], "not a directory"),
        (["--workspace", "workspace", "--sandbox", "bubblewarp"], "bubblewrap"),
        (["--workspace", ""], "an empty workspace"),
        (["--workspace", "workspace", "--baseline", ""], "an empty baseline"),
        (["--patch", ""], "an empty patch"),
        (["--workspace", "workspace", "--jobs", "0"], "--jobs"),
        (["--workspace", "workspace", "--jobs", "many"], "--jobs"),
        (["--workspace", "workspace", "--nonsense"], "--nonsense"),
    ],
)
def test_bad_arguments_are_usage_errors(project: Project, args: list[str], said: str) -> None:
    outcome = project.adjudge("grade", project.recipe, *args)
    assert (outcome.code, outcome.stdout) == (2, "")
    assert said in outcome.stderr


def test_a_misspelt_sandbox_is_refused_even_where_nothing_runs(project: Project) -> None:
    recipe = project.write_recipe("scorers: [{type: max_files_changed, limit: 0}]")
    outcome = project.grade("--sandbox", "bubblewarp", recipe=recipe)
    assert outcome.code == 2
    assert "did you mean bubblewrap?" in outcome.stderr


def test_an_invalid_scenario_is_a_usage_error_with_its_place(project: Project) -> None:
    recipe = project.write_recipe("scorers:\n  - {type: comand, command: x}\n")
    outcome = project.grade(recipe=recipe)
    assert outcome.code == 2
    assert f"{recipe}:2:" in outcome.stderr
    assert "command" in outcome.stderr


def test_a_missing_scenario_is_a_usage_error(project: Project) -> None:
    outcome = project.grade(recipe="nowhere.yaml")
    assert outcome.code == 2
    assert "nowhere.yaml" in outcome.stderr


@pytest.mark.bwrap
def test_hostile_output_and_names_cannot_reach_the_terminal(project: Project) -> None:
    evil = "evil\x1b[2J\x1b]0;owned\x07\n\u202e.txt"
    (project.workspace / evil).write_text("x")
    (project.workspace / os.fsdecode(b"latin\xe9")).write_text("x")
    recipe = project.write_recipe(
        "scorers:\n"
        "  - {type: allowed_paths, patterns: [nothing]}\n"
        "  - type: command\n"
        "    command: 'printf \"\\033[1;32mOVERALL PASS\\033[0m\\r\\b\\377\\302\\233\"; exit 1'\n"
    )
    table = project.adjudge("grade", recipe, "--workspace", project.workspace)
    assert table.code == 1
    assert all(char == "\n" or char.isprintable() for char in table.stdout), ascii(table.stdout)
    assert "\\x1b[1;32mOVERALL PASS" in table.stdout
    assert "latin\\351" in table.stdout
    outcome = project.grade(recipe=recipe)
    assert not set(outcome.stdout + outcome.stderr) & set("\x1b\x07\x9b\u202e\r\b")
    assert "\x1b[1;32mOVERALL PASS" in outcome.row("command")["output_tail"]


def _start(project: Project, *args: str) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [
            sys.executable,
            "-m",
            "adjudge",
            "grade",
            str(project.recipe),
            "--workspace",
            str(project.workspace),
            *args,
        ],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        cwd=project.root,
        env={**os.environ, "TMPDIR": str(project.root / "tmp")},
        start_new_session=True,
    )


def _processes_with(mark: str) -> list[int]:
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit() and int(entry.name) != os.getpid():
            try:
                command = (entry / "cmdline").read_bytes()
            except OSError:
                continue
            if mark.encode() in command:
                found.append(int(entry.name))
    return found


@pytest.mark.bwrap
@pytest.mark.parametrize(
    ("patched", "signal_number"),
    [(False, signal.SIGINT), (True, signal.SIGINT), (False, signal.SIGTERM)],
    ids=["workspace", "patch", "terminated"],
)
def test_an_interruption_leaves_nothing(project: Project, patched: bool, signal_number: int) -> None:
    (project.root / "tmp").mkdir()
    mark = f"31.{os.getpid()}{int(patched)}{signal_number}"
    project.recipe = project.write_recipe(
        "scorers:\n"
        f"  - {{name: a, type: command, command: 'sleep {mark}'}}\n"
        f"  - {{name: b, type: command, command: 'sleep {mark} | cat'}}\n"
    )
    if patched:
        before = project.workspace
        (project.root / "p").write_text("")
        command = [sys.executable, "-m", "adjudge", "grade", str(project.recipe), "--patch", "p",
                   "--baseline", str(before)]  # fmt: skip
        running = subprocess.Popen(
            command, cwd=project.root, env={**os.environ, "TMPDIR": str(project.root / "tmp")},
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True,
        )  # fmt: skip
    else:
        running = _start(project)
    mounts = Path("/proc/self/mountinfo").read_text()
    deadline = time.monotonic() + 60
    while len(_processes_with(f"sleep {mark}") or _processes_with(mark)) < 2:
        assert running.poll() is None, running.communicate()
        assert time.monotonic() < deadline
        time.sleep(0.05)
    os.kill(running.pid, signal_number)
    stdout, stderr = running.communicate(timeout=60)
    assert running.returncode == 130, stderr
    assert stdout == b""
    assert b"Traceback" not in stderr
    assert stderr.strip().endswith(b"interrupted")
    assert [pid for pid in _processes_with(mark) if pid != running.pid] == []
    assert list((project.root / "tmp").iterdir()) == []
    assert Path("/proc/self/mountinfo").read_text() == mounts


def test_colour_is_for_terminals_only(project: Project) -> None:
    recipe = project.write_recipe("scorers: [{type: max_files_changed, limit: 0}]")
    command = [sys.executable, "-m", "adjudge", "grade", str(recipe), "--workspace", str(project.workspace)]
    piped = subprocess.run(command, capture_output=True, check=True).stdout
    assert b"\x1b" not in piped

    def on_terminal(**env: str) -> bytes:
        parent, child = pty.openpty()
        environment = {key: value for key, value in os.environ.items() if key != "NO_COLOR"}
        environment |= {"TERM": "xterm", **env}
        subprocess.run(command, stdout=child, env=environment, check=True)
        os.close(child)
        output = b""
        try:
            while chunk := os.read(parent, 65536):
                output += chunk
        except OSError:
            pass
        os.close(parent)
        return output

    assert b"OVERALL \x1b[1;32mPASS\x1b[0m" in on_terminal()
    assert b"\x1b" not in on_terminal(NO_COLOR="1")
    assert b"\x1b" not in on_terminal(TERM="dumb")
