import os
import subprocess
import sys
from pathlib import Path

import pytest

from adjudge.errors import ConfigInvalid
from adjudge.sandbox.scratch import Scratch, scratch_root

HOLD = (
    "import sys; from adjudge.sandbox.scratch import own_scratch\n"
    "own, swept = own_scratch(); own.new(); print(own.id, *swept, flush=True); sys.stdin.read()"
)


def start(root: Path) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", HOLD],
        env={**os.environ, "ADJUDGE_SCRATCH": str(root)},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )


def said(process: subprocess.Popen[str]) -> list[str]:
    assert process.stdout is not None
    return process.stdout.readline().split()


def test_a_process_that_ends_well_leaves_nothing(tmp_path: Path) -> None:
    process = start(tmp_path / "root")
    (name,) = said(process)
    assert (tmp_path / "root" / f"run-{name}" / "1").is_dir()
    process.communicate("")
    assert not (tmp_path / "root").exists()


def test_leftovers_of_the_dead_are_swept_and_the_living_left_alone(tmp_path: Path) -> None:
    dead, alive = start(tmp_path), start(tmp_path)
    (dead_name,), (alive_name,) = said(dead), said(alive)
    dead.kill()
    dead.communicate()
    assert (tmp_path / f"run-{dead_name}").exists()
    third = start(tmp_path)
    assert said(third)[1:] == [dead_name]
    assert not (tmp_path / f"run-{dead_name}").exists()
    assert (tmp_path / f"run-{alive_name}").exists()
    third.communicate("")
    alive.communicate("")


def test_directories_of_sandboxes_are_closed_to_others(tmp_path: Path) -> None:
    scratch = Scratch(tmp_path)
    assert scratch.path.stat().st_mode & 0o777 == 0o700
    assert scratch.new() != scratch.new()
    scratch.close()


def test_a_relative_place_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ADJUDGE_SCRATCH", "here")
    with pytest.raises(ConfigInvalid, match="absolute"):
        scratch_root()


def test_a_link_planted_in_a_shared_place_is_refused(tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "root").symlink_to(tmp_path / "elsewhere")
    process = start(tmp_path / "root")
    assert process.communicate("")[0] == ""
    assert process.returncode == 1
    assert list((tmp_path / "elsewhere").iterdir()) == []


def test_many_that_start_and_end_at_once_do_not_sweep_each_other(tmp_path: Path) -> None:
    code = (
        "from adjudge.sandbox.scratch import own_scratch\n"
        "import adjudge.sandbox.scratch as module\n"
        "for _ in range(40):\n"
        "    own, swept = own_scratch()\n"
        "    assert own.new().is_dir() and not swept, swept\n"
        "    module._close()\n"
    )
    environment = {**os.environ, "ADJUDGE_SCRATCH": str(tmp_path / "root")}
    running = [
        subprocess.Popen([sys.executable, "-c", code], env=environment, stderr=subprocess.PIPE, text=True)
        for _ in range(4)
    ]
    said = [process.communicate()[1] for process in running]
    assert said == [""] * 4
    assert not (tmp_path / "root").exists()


def test_what_never_came_to_life_is_removed_when_it_is_old(tmp_path: Path) -> None:
    (tmp_path / "new-fresh").mkdir()
    (tmp_path / "new-old").mkdir()
    os.utime(tmp_path / "new-old", (0, 0))
    process = start(tmp_path)
    said(process)
    process.communicate("")
    assert [path.name for path in tmp_path.iterdir()] == ["new-fresh"]
