"""Where control groups are looked for, on directory trees shaped like the kernel's."""

from pathlib import Path

import pytest

from adjudge.records.sandbox import Ended, Limits
from adjudge.sandbox.cgroups import Cgroup, CgroupPlaces, find_places, group_prefix, remove_cgroups_of


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
def test_settings_cover_memory_swap_and_processes(version: int, tmp_path: Path) -> None:
    memory, pids = (tmp_path / "m", tmp_path / "p") if version == 1 else (tmp_path, tmp_path)
    wanted = CgroupPlaces(version, memory, pids).settings(Limits(memory_bytes=2**20, processes=10))
    required = {name: value for _, name, value, must in wanted if must}
    assert required == {
        "memory.limit_in_bytes" if version == 1 else "memory.max": str(2**20),
        "pids.max": "13",
    }
    assert {number for number, _, _, _ in wanted} == ({0, 1} if version == 1 else {0})


def test_what_the_kernel_did_is_read_from_its_counters(tmp_path: Path) -> None:
    group = tmp_path / "one"
    group.mkdir()
    read = Cgroup(CgroupPlaces(2, tmp_path, tmp_path), "one", Limits(memory_bytes=2**20, processes=10))
    (group / "memory.events").write_text("low 0\noom 0\noom_kill 0\n")
    (group / "pids.events").write_text("max 0\n")
    (group / "memory.peak").write_text("4096\n")
    assert read.breach() is None
    assert read.peak_memory() == 4096
    assert read.peak_processes() is None
    (group / "pids.events").write_text("max 3\n")
    breach = read.breach()
    assert breach is not None
    assert breach.ended is Ended.PROCESS_LIMIT
    (group / "memory.events").write_text("oom_kill 1\n")
    breach = read.breach()
    assert breach is not None
    assert breach.ended is Ended.OUT_OF_MEMORY
    assert breach.reason == "used 4.0 KiB of memory, limit 1.0 MiB (cgroup v2)"


def test_groups_of_the_dead_are_removed_and_others_left(tmp_path: Path) -> None:
    for name in (f"{group_prefix('dead')}1", f"{group_prefix('alive')}1", "other"):
        (tmp_path / name).mkdir()
    remove_cgroups_of(["dead"], CgroupPlaces(2, tmp_path, tmp_path))
    assert sorted(path.name for path in tmp_path.iterdir()) == [f"{group_prefix('alive')}1", "other"]
