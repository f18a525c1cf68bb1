import os
import subprocess
import sys
from pathlib import Path

import pytest

from adjudge.errors import SandboxError
from adjudge.sandbox import uids
from adjudge.sandbox.uids import UidLease

FIRST_UID = uids.FIRST_UID + uids.LEASES
"""Beyond the real range: taking over a lease ends its user's processes, and other tests run beside these."""


def lease_uid(directory: Path) -> UidLease:
    return uids.lease_uid(directory, first_uid=FIRST_UID)


def test_each_lease_is_another_user_and_comes_back(tmp_path: Path) -> None:
    one, two = lease_uid(tmp_path), lease_uid(tmp_path)
    assert (one.uid, two.uid) == (FIRST_UID, FIRST_UID + 1)
    one.release()
    again = lease_uid(tmp_path)
    assert again.uid == FIRST_UID
    again.release()
    two.release()
    two.release()
    assert list(tmp_path.iterdir()) == []


def test_leases_hold_between_processes_and_end_with_their_holder(tmp_path: Path) -> None:
    code = (
        "import sys; from pathlib import Path; from adjudge.sandbox.uids import lease_uid\n"
        f"lease = lease_uid(Path(sys.argv[1]), first_uid={FIRST_UID})\n"
        "print(lease.uid, flush=True); sys.stdin.read()"
    )
    holder = subprocess.Popen(
        [sys.executable, "-c", code, str(tmp_path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    try:
        assert holder.stdout is not None
        assert int(holder.stdout.readline()) == FIRST_UID
        mine = lease_uid(tmp_path)
        assert mine.uid == FIRST_UID + 1
        mine.release()
    finally:
        holder.kill()
        holder.communicate()
    assert (tmp_path / str(FIRST_UID)).read_text() == "leased\n"
    taken_over = lease_uid(tmp_path)
    assert taken_over.uid == FIRST_UID
    taken_over.release()


def test_a_doubtful_return_keeps_the_mark(tmp_path: Path) -> None:
    lease_uid(tmp_path).release(clean=False)
    assert (tmp_path / str(FIRST_UID)).read_text() == "leased\n"
    again = lease_uid(tmp_path)
    assert again.uid == FIRST_UID
    again.release()
    assert list(tmp_path.iterdir()) == []


@pytest.mark.root
def test_processes_a_dead_holder_left_are_ended_first(tmp_path: Path) -> None:
    uid = FIRST_UID + uids.LEASES - 2
    left = subprocess.Popen(["sleep", "60"], user=uid, group=uid, extra_groups=[])
    try:
        (tmp_path / str(uid)).write_text("leased\n")
        lease = uids._try(tmp_path / str(uid), uid)
        assert lease is not None
        assert left.wait(timeout=5) == -9
        lease.release()
    finally:
        left.kill()
        left.wait()


def test_a_directory_of_somebody_else_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "getuid", lambda: 4711)
    with pytest.raises(SandboxError, match="does not belong"):
        lease_uid(tmp_path)


def test_when_all_are_taken_it_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(uids, "LEASES", 1)
    lease = lease_uid(tmp_path)
    with pytest.raises(SandboxError, match="all 1 sandbox users are in use"):
        lease_uid(tmp_path)
    lease.release()
