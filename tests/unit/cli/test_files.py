"""Files that commands write: whole, and only where there is a file to write."""

from __future__ import annotations

import os
import stat
import threading
from pathlib import Path

import pytest

from adjudge.cli.files import refuse_unless_writable, write_whole
from adjudge.errors import ConfigInvalid


def test_a_pipe_is_written_to_and_stays(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    read: list[str] = []
    reader = threading.Thread(target=lambda: read.append(pipe.read_text()), daemon=True)
    reader.start()
    write_whole(pipe, "report\n")
    assert stat.S_ISFIFO(pipe.lstat().st_mode)
    reader.join(10)
    assert read == ["report\n"]


def test_the_link_to_an_open_file_is_written_through(tmp_path: Path) -> None:
    with (tmp_path / "open").open("w+") as file:
        write_whole(Path(f"/proc/self/fd/{file.fileno()}"), "report\n")
        assert file.read() == "report\n"


def test_a_link_anywhere_else_is_replaced_and_not_followed(tmp_path: Path) -> None:
    target = tmp_path / "target"
    target.write_text("mine")
    link = tmp_path / "report"
    link.symlink_to(target)
    write_whole(link, "report\n")
    assert not link.is_symlink()
    assert link.read_text() == "report\n"
    assert target.read_text() == "mine"


def test_a_full_device_is_said() -> None:
    link = Path("/proc/self/fd")
    with open("/dev/full", "w") as full, pytest.raises(ConfigInvalid, match="No space left on device"):
        write_whole(link / str(full.fileno()), "report\n")


@pytest.mark.parametrize("place", [".", "missing/report"])
def test_a_place_for_no_file_is_refused_at_once(tmp_path: Path, place: str) -> None:
    with pytest.raises(ConfigInvalid, match="folder"):
        refuse_unless_writable(tmp_path / place)
