import os
import subprocess
import sys
from pathlib import Path

import pytest

from adjudge.errors import SandboxError
from adjudge.sandbox import uids
from adjudge.sandbox.uids import UidLease, lease_uid

FIRST = 1_960_000_000
"""Not the real range: leases of it are taken over here, and what runs as their users is ended."""


def lease(directory: Path) -> UidLease:
    return lease_uid(directory, first=FIRST)


def test_each_lease_is_another_user_and_comes_back(tmp_path: Path) -> None:
    one, two = lease(tmp_path), lease(tmp_path)
    assert (one.uid, two.uid) == (FIRST, FIRST + 1)
    one.release()
    again = lease(tmp_path)
    assert again.uid == FIRST
    again.release()
    two.release()
    two.release()
    assert list(tmp_path.iterdir()) == []


def test_leases_hold_between_processes_and_end_with_their_holder(tmp_path: Path) -> None:
    code = (
        "import sys; from pathlib import Path; from adjudge.sandbox.uids import lease_uid\n"
        "lease = lease_uid(Path(sys.argv[1]), first=int(sys.argv[2]))\n"
        "print(lease.uid, flush=True); sys.stdin.read()"
    )
    holder = subprocess.Popen(
        [sys.executable, "-c", code, str(tmp_path), str(FIRST)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    try:
        assert holder.stdout is not None
        assert int(holder.stdout.readline()) == FIRST
        mine = lease(tmp_path)
        assert mine.uid == FIRST + 1
        mine.release()
    finally:
        holder.kill()
        holder.communicate()
    assert (tmp_path / str(FIRST)).read_text() == "leased\n"
    taken_over = lease(tmp_path)
    assert taken_over.uid == FIRST
    taken_over.release()


@pytest.mark.root
def test_processes_a_dead_holder_left_are_ended_first(tmp_path: Path) -> None:
    uid = FIRST + 5000
    left = subprocess.Popen(["sleep", "60"], user=uid, group=uid, extra_groups=[])
    try:
        (tmp_path / str(uid)).write_text("leased\n")
        taken = lease_uid(tmp_path, first=uid)
        assert taken.uid == uid
        assert left.wait(timeout=5) == -9
        taken.release()
    finally:
        left.kill()
        left.wait()


def test_a_directory_of_somebody_else_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "getuid", lambda: 4711)
    with pytest.raises(SandboxError, match="does not belong"):
        lease(tmp_path)


def test_when_all_are_taken_it_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(uids, "LEASES", 1)
    taken = lease(tmp_path)
    with pytest.raises(SandboxError, match="all 1 sandbox users are in use"):
        lease(tmp_path)
    taken.release()
