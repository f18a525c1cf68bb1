"""The tool that runs the suite as an ordinary user."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

TOOL = Path(__file__).resolve().parents[2] / "tools" / "as_ordinary_user.py"

_TELL = """\
import json, os, pwd, sys
status = dict(line.split(":", 1) for line in open("/proc/self/status").read().splitlines())
print(json.dumps({
    "uids": os.getresuid(), "gids": os.getresgid(), "groups": os.getgroups(),
    "capabilities": [int(status[name], 16) for name in ("CapInh", "CapPrm", "CapEff", "CapAmb")],
    "name": pwd.getpwuid(os.getuid()).pw_name, "home": os.environ["HOME"], "tmp": os.environ["TMPDIR"],
    "cwd": os.getcwd(),
}))
open(os.path.join(os.environ["HOME"], "file"), "w").close()
os.makedirs(os.path.join(os.environ["TMPDIR"], "shut"), 0)
"""


def run(*command: str, tool: Path = TOOL, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    argv = [sys.executable, str(tool), *command]
    return subprocess.run(argv, capture_output=True, text=True, check=False, cwd=cwd)


@pytest.mark.root
def test_rights_are_dropped_and_nothing_is_left() -> None:
    before = Path("/etc/passwd").read_bytes()
    done = run(sys.executable, "-c", _TELL)
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert 0 not in {*told["uids"], *told["gids"], *told["groups"]}
    assert told["capabilities"] == [0, 0, 0, 0]
    assert told["name"] == "ordinary"
    assert not Path(told["home"]).parent.exists()
    assert Path("/etc/passwd").read_bytes() == before


@pytest.mark.root
def test_a_clone_that_only_root_may_enter_is_reachable(tmp_path: Path) -> None:
    clone = tmp_path / "closed" / "clone"
    (clone / "tools").mkdir(parents=True)
    shutil.copy(TOOL, clone / "tools")
    (clone / "file").write_text("seen")
    (clone / "link").symlink_to("file")
    for directory in (clone, clone.parent):
        directory.chmod(0o700)
    done = run("cat", "link", str(clone / "file"), tool=clone / "tools" / TOOL.name, cwd=clone)
    assert (done.returncode, done.stdout) == (0, "seenseen"), done.stderr


@pytest.mark.root
def test_what_is_closed_by_itself_is_named(tmp_path: Path) -> None:
    clone = tmp_path / "clone"
    (clone / "tools").mkdir(parents=True)
    shutil.copy(TOOL, clone / "tools")
    (clone / "inner").mkdir(mode=0o700)
    done = run("true", tool=clone / "tools" / TOOL.name, cwd=clone / "inner")
    assert done.returncode == 125
    assert f"{clone / 'inner'} is closed to others" in done.stderr


@pytest.mark.root
def test_processes_left_behind_are_ended_and_named() -> None:
    done = run("sh", "-c", "setsid sleep 70.5 >/dev/null 2>&1 & echo $!; sleep 0.2")
    assert "left running, ended now: sleep" in done.stderr
    pid = int(done.stdout)
    deadline = time.monotonic() + 5
    while Path(f"/proc/{pid}").exists() and time.monotonic() < deadline:
        time.sleep(0.01)
    assert not Path(f"/proc/{pid}").exists()


def test_exit_codes_pass_through() -> None:
    assert run("sh", "-c", "exit 7").returncode == 7


def test_a_missing_command_is_said() -> None:
    done = run("/nowhere/at/all")
    assert done.returncode == 125
    assert "/nowhere/at/all" in done.stderr


def test_no_command_is_said() -> None:
    done = run()
    assert (done.returncode, done.stdout) == (125, "")
    assert "usage" in done.stderr


@pytest.mark.skipif(os.geteuid() == 0, reason="for ordinary users")
def test_an_ordinary_user_just_runs_it() -> None:
    assert run("id", "-u").stdout.strip() == str(os.getuid())
