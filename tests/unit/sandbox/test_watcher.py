import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from adjudge.records.sandbox import Ended, Limits
from adjudge.sandbox.disk import DiskMeter, disk_usage
from adjudge.sandbox.limits import Breach, render_bytes
from adjudge.sandbox.processes import descendants, proportional_memory, sample, unlinked_files
from adjudge.sandbox.watcher import Watcher

MIB = 1024 * 1024


@contextmanager
def child(code: str) -> Iterator[subprocess.Popen[bytes]]:
    """A Python child that says when it is ready and is ended afterwards with everything below it."""
    process = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE)
    try:
        assert process.stdout is not None
        assert process.stdout.readline() == b"ready\n"
        yield process
    finally:
        for pid in reversed(descendants(process.pid)):
            # Ending one can end others that wait for it.
            with suppress(ProcessLookupError):
                os.kill(pid, 9)
        process.wait()
        assert process.stdout is not None
        process.stdout.close()


READY = "import sys, time; print('ready', flush=True); time.sleep(60)"


def watch(watcher: Watcher, told: threading.Event, timeout_s: float = 5.0) -> float:
    started = time.monotonic()
    watcher.start()
    try:
        assert told.wait(timeout_s)
        return time.monotonic() - started
    finally:
        watcher.stop()


def test_a_tree_is_found_through_every_thread_and_level() -> None:
    code = (
        "import subprocess, sys, threading\n"
        'inner = \'import subprocess; subprocess.Popen(["sleep", "60"]).wait()\'\n'
        "def fork(): subprocess.Popen([sys.executable, '-c', inner]).wait()\n"
        "threading.Thread(target=fork, daemon=True).start()\n" + READY
    )
    with child(code) as process:
        deadline = time.monotonic() + 10
        while len(descendants(process.pid)) < 3:
            assert time.monotonic() < deadline
            time.sleep(0.01)
        assert len(descendants(process.pid)) == 3
        now = sample(descendants(process.pid))
        assert now.tasks >= 4
        assert now.memory_bytes > 5 * MIB


def test_memory_is_ended_within_200_ms() -> None:
    with child(f"data = bytearray(64 * {MIB})\n" + READY) as process:
        told = threading.Event()
        breaches: list[Breach] = []

        def end(breach: Breach) -> None:
            breaches.append(breach)
            told.set()

        watcher = Watcher(
            Limits(memory_bytes=32 * MIB), pids=lambda: descendants(process.pid), end=end, processes=False
        )
        assert watch(watcher, told) < 0.2
        assert breaches[0].ended is Ended.OUT_OF_MEMORY
        assert "limit 32.0 MiB (watcher)" in breaches[0].reason


def test_memory_shared_by_forks_is_charged_once() -> None:
    code = (
        f"import os; data = bytearray(64 * {MIB})\n"
        "for _ in range(4):\n"
        "    if os.fork() == 0:\n"
        "        import time; time.sleep(60)\n" + READY
    )
    with child(code) as process:
        pids = descendants(process.pid)
        assert sample(pids).memory_bytes > 300 * MIB
        exact = proportional_memory(pids)
        assert exact is not None
        assert exact.total_bytes < 150 * MIB
        watcher = Watcher(Limits(memory_bytes=200 * MIB), pids=lambda: pids, end=lambda breach: None)
        assert watcher.look() is None


def test_unmapped_memory_files_are_charged() -> None:
    code = f"import os; fd = os.memfd_create('x'); os.write(fd, bytes(64 * {MIB}))\n" + READY
    with child(code) as process:
        assert unlinked_files([process.pid]).memory_bytes >= 64 * MIB
        watcher = Watcher(Limits(memory_bytes=48 * MIB), pids=lambda: [process.pid], end=lambda breach: None)
        breach = watcher.look()
        assert breach is not None
        assert breach.ended is Ended.OUT_OF_MEMORY


def test_threads_count_as_processes() -> None:
    code = (
        "import threading, time\n"
        "for _ in range(20): threading.Thread(target=time.sleep, args=(60,), daemon=True).start()\n" + READY
    )
    with child(code) as process:
        watcher = Watcher(
            Limits(processes=10), pids=lambda: descendants(process.pid), end=lambda breach: None
        )
        breach = watcher.look()
        assert breach is not None
        assert breach.ended is Ended.PROCESS_LIMIT
        assert watcher.peaks.tasks == 21


def test_disk_is_measured_without_following_and_each_file_once(tmp_path: Path) -> None:
    inside, outside = tmp_path / "inside", tmp_path / "outside"
    inside.mkdir()
    outside.mkdir()
    (outside / "large").write_bytes(os.urandom(4 * MIB))
    (inside / "link").symlink_to(outside)
    (inside / "one").write_bytes(os.urandom(MIB))
    os.link(inside / "one", inside / "two")
    with (inside / "sparse").open("wb") as file:
        file.truncate(100 * MIB)
    assert MIB <= disk_usage([inside]) < 2 * MIB


def test_disk_that_was_there_before_is_not_charged(tmp_path: Path) -> None:
    (tmp_path / "before").write_bytes(os.urandom(2 * MIB))
    meter = DiskMeter([tmp_path], already_bytes=disk_usage([tmp_path]))
    assert meter.measure() == 0
    (tmp_path / "after").write_bytes(os.urandom(MIB))
    assert MIB <= meter.measure() < 2 * MIB


def test_disk_held_by_unlinked_files_is_charged(tmp_path: Path) -> None:
    code = (
        f"import os; f = open({str(tmp_path / 'gone')!r}, 'wb'); f.write(os.urandom(8 * {MIB})); f.flush()\n"
        f"os.unlink({str(tmp_path / 'gone')!r})\n" + READY
    )
    with child(code) as process:
        told = threading.Event()
        watcher = Watcher(
            Limits(disk_bytes=4 * MIB),
            pids=lambda: descendants(process.pid),
            end=lambda breach: told.set(),
            disk=DiskMeter([tmp_path]),
        )
        assert watch(watcher, told) < 0.3
        assert watcher.breach is not None
        assert watcher.breach.ended is Ended.DISK_LIMIT


def test_a_very_deep_tree_does_not_exhaust_descriptors(tmp_path: Path) -> None:
    here = os.getcwd()
    os.chdir(tmp_path)
    try:
        for _ in range(600):
            os.mkdir("d")
            os.chdir("d")
    finally:
        os.chdir(here)
    assert DiskMeter([tmp_path]).measure() >= 0
    subprocess.run(["rm", "-rf", str(tmp_path / "d")], check=True)


def test_sizes_read_well() -> None:
    assert [render_bytes(size) for size in (5, 2048, 4 * 1024**3 + 2**27)] == ["5 B", "2.0 KiB", "4.1 GiB"]
