"""Where control groups are looked for, on directory trees shaped like the kernel's."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from adjudge.records.sandbox import Ended, Limits
from adjudge.sandbox.cgroups import (
    CgroupPlaces,
    breach_of,
    find_places,
    group_prefix,
    peak_processes,
    remove_cgroups_of,
)
from adjudge.sandbox.group import make_group, read_counters, remove_group


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A machine whose cgroup file system makes a group's files with its directory, as the kernel does."""
    real = Path.mkdir
    files = ("cgroup.procs", "memory.max", "memory.limit_in_bytes", "pids.max")

    def mkdir(self: Path, mode: int = 0o777, parents: bool = False, exist_ok: bool = False) -> None:
        real(self, mode, parents, exist_ok)
        if self.name.startswith("adjudge-"):
            for name in files:
                (self / name).touch()

    def rmdir(self: Path) -> None:
        for name in files:
            (self / name).unlink(missing_ok=True)
        real_rmdir(self)

    real_rmdir = Path.rmdir
    monkeypatch.setattr(Path, "mkdir", mkdir)
    monkeypatch.setattr(Path, "rmdir", rmdir)
    (tmp_path / "proc/self").mkdir(parents=True)
    (tmp_path / "cg").mkdir()
    return tmp_path


def places(machine: Path) -> CgroupPlaces | None:
    return find_places(machine / "proc", machine / "cg")


def test_version_2_takes_the_nearest_ancestor_that_hands_both_controllers_down(machine: Path) -> None:
    (machine / "proc/self/cgroup").write_text("0::/user.slice/session.scope\n")
    scope = machine / "cg/user.slice/session.scope"
    scope.mkdir(parents=True)
    (machine / "cg/cgroup.controllers").write_text("memory pids\n")
    (machine / "cg/cgroup.subtree_control").write_text("memory pids\n")
    (machine / "cg/user.slice/cgroup.subtree_control").write_text("cpu memory pids\n")
    (scope / "cgroup.subtree_control").write_text("\n")
    found = places(machine)
    assert found is not None
    assert (found.name, found.parents) == ("cgroup v2", [machine / "cg/user.slice"])
    assert [path.name for path in found.parents[0].iterdir() if path.name.startswith("adjudge")] == []


def test_version_2_without_the_controllers_is_nothing(machine: Path) -> None:
    (machine / "proc/self/cgroup").write_text("0::/\n")
    (machine / "cg/cgroup.controllers").write_text("memory pids\n")
    (machine / "cg/cgroup.subtree_control").write_text("cpu\n")
    assert places(machine) is None


def test_version_1_looks_below_our_own_group_and_else_at_the_mount(machine: Path) -> None:
    (machine / "proc/self/cgroup").write_text("4:memory:/app\n8:pids:/elsewhere/of/the/host\n0::/\n")
    (machine / "cg/memory/app").mkdir(parents=True)
    (machine / "cg/pids").mkdir()
    found = places(machine)
    assert found is not None
    assert (found.version, found.memory, found.pids) == (1, machine / "cg/memory/app", machine / "cg/pids")


def test_nothing_writable_is_nothing(machine: Path) -> None:
    (machine / "proc/self/cgroup").write_text("4:memory:/\n")
    assert places(machine) is None


@pytest.mark.parametrize("version", [1, 2])
def test_a_group_is_made_with_its_limits_and_removed(version: int, tmp_path: Path) -> None:
    places = CgroupPlaces(version, tmp_path / "m", tmp_path / "p" if version == 1 else tmp_path / "m")
    for parent in places.parents:
        parent.mkdir()
    group = places.group("one", Limits(memory_bytes=2**20, processes=10))
    assert (group["memory"] == group["pids"]) == (version == 2)
    # Directories of a plain file system hold no files of the kernel's to set limits with.
    with pytest.raises(FileNotFoundError, match=r"limit_in_bytes|memory\.max"):
        make_group(group)
    remove_group(group)
    assert [list(parent.iterdir()) for parent in places.parents] == [[] for _ in places.parents]


def test_what_the_kernel_did_is_read_from_its_counters(tmp_path: Path) -> None:
    limits = Limits(memory_bytes=2**20, processes=10)
    group = CgroupPlaces(2, tmp_path, tmp_path).group("one", limits)
    place = tmp_path / "one"
    place.mkdir()
    (place / "memory.events").write_text("low 0\noom 0\noom_kill 0\n")
    (place / "pids.events").write_text("max 0\n")
    (place / "memory.peak").write_text("4096\n")
    counters = read_counters(group)
    assert breach_of(counters, limits, "cgroup v2") is None
    assert (counters["peak_memory_bytes"], peak_processes(counters)) == (4096, None)
    (place / "pids.peak").write_text("7\n")
    (place / "pids.events").write_text("max 3\n")
    counters = read_counters(group)
    assert peak_processes(counters) == 5
    breach = breach_of(counters, limits, "cgroup v2")
    assert breach is not None
    assert breach.ended is Ended.PROCESS_LIMIT
    (place / "memory.events").write_text("oom_kill 1\n")
    breach = breach_of(read_counters(group), limits, "cgroup v2")
    assert breach is not None
    assert breach.ended is Ended.OUT_OF_MEMORY
    assert breach.reason == "used 4.0 KiB of memory, limit 1.0 MiB (cgroup v2)"


@pytest.mark.root
def test_a_child_can_be_born_in_a_group_of_version_2() -> None:
    mounts = [line.split() for line in Path("/proc/self/mounts").read_text().splitlines()]
    mounted = [Path(fields[1]) for fields in mounts if fields[2] == "cgroup2"]
    if not mounted or not os.access(mounted[0], os.W_OK):
        pytest.skip("no writable control groups of version 2")
    place = mounted[0] / f"adjudge-test-{os.getpid()}"
    place.mkdir()
    code = (
        "import os, sys; from adjudge.sandbox.kernel import fork_into_cgroup\n"
        "child = fork_into_cgroup(os.open(sys.argv[1], os.O_RDONLY))\n"
        "if child == 0: print(open('/proc/self/cgroup').read(), flush=True); os._exit(0)\n"
        "os.waitpid(child, 0)"
    )
    try:
        done = subprocess.run(
            [sys.executable, "-c", code, str(place)], capture_output=True, text=True, check=True
        )
        assert f"0::/{place.name}\n" in done.stdout
    finally:
        place.rmdir()


def test_groups_of_the_dead_are_removed_and_others_left(tmp_path: Path) -> None:
    for name in (f"{group_prefix('dead')}1", f"{group_prefix('alive')}1", "other"):
        (tmp_path / name).mkdir()
    remove_cgroups_of(["dead"], CgroupPlaces(2, tmp_path, tmp_path))
    assert sorted(path.name for path in tmp_path.iterdir()) == [f"{group_prefix('alive')}1", "other"]
