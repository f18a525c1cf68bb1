"""The processes that parse: a fork for every grading, and none that outlives what it is for."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from adjudge.errors import InfraError
from adjudge.evidence import parsers
from adjudge.evidence.outlining import Outliner, OutlineUnavailable
from adjudge.evidence.parsers import NO_FORK, Parser, start_parser
from adjudge.syntax.productcode.outline import outline_product

pytestmark = pytest.mark.anyone

SOURCE = b"import os\n\n\ndef f(n):\n    os._exit(0)\n"


@pytest.fixture(autouse=True)
def own_stem(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A stem for the test alone."""
    monkeypatch.setattr(parsers, "_stem", None)
    yield
    if parsers._stem is not None:
        parsers._stem.close()


def forks(stem: int) -> list[int]:
    """The processes that a stem has."""
    return [int(pid) for pid in Path(f"/proc/{stem}/task/{stem}/children").read_text().split()]


def stem_pid() -> int:
    """The stem's process."""
    assert parsers._stem is not None
    return parsers._stem._process.pid


def eventually(holds: object) -> bool:
    """Whether something comes to hold within some seconds."""
    assert callable(holds)
    deadline = time.monotonic() + 20
    while not holds():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.01)
    return True


def test_every_outliner_has_a_process_of_its_own_off_one_stem() -> None:
    with Outliner() as one, Outliner() as other:
        found = [each.outline_product("a.py", SOURCE) for each in (one, other, one)]
        assert found == [outline_product("a.py", SOURCE)] * 3
        stem = stem_pid()
        assert len(forks(stem)) == 2
    with Outliner() as third:
        assert third.outline_product("a.py", SOURCE) == found[0]
        assert stem_pid() == stem
        assert eventually(lambda: len(forks(stem)) == 1)


def test_a_process_is_gone_when_its_outliner_is_closed() -> None:
    outliner = Outliner()
    outliner.outline("a.py", SOURCE)
    stem = stem_pid()
    assert forks(stem)
    outliner.close()
    assert eventually(lambda: not forks(stem))
    assert outliner.outline("a.py", SOURCE) is not None
    outliner.close()


def test_a_parser_that_dies_takes_no_other_along() -> None:
    with Outliner() as one, Outliner() as other:
        one.outline("a.py", SOURCE)
        [victim] = forks(stem_pid())
        assert other.outline("a.py", SOURCE) is not None
        os.kill(victim, signal.SIGKILL)
        with pytest.raises(OutlineUnavailable, match="ended the parser"):
            one.outline("a.py", SOURCE)
        assert one.outline("a.py", SOURCE) is not None
        assert other.outline("a.py", SOURCE) is not None


def test_a_stem_that_died_is_started_again() -> None:
    with Outliner() as outliner:
        outliner.outline("a.py", SOURCE)
    first = stem_pid()
    os.kill(first, signal.SIGKILL)
    os.waitid(os.P_PID, first, os.WEXITED | os.WNOWAIT)
    with Outliner() as outliner:
        assert outliner.outline("a.py", SOURCE) is not None
    assert stem_pid() != first


def test_whoever_was_forked_off_us_starts_a_stem_of_its_own() -> None:
    script = (
        "import os, sys\n"
        "from adjudge.evidence import parsers\n"
        "from adjudge.evidence.outlining import Outliner\n"
        "outliner = Outliner()\n"
        "def look():\n"
        "    with Outliner() as own:\n"
        "        found = own.outline('a.py', b'x = 1')\n"
        "    print(found is not None, parsers._stem._process.pid, flush=True)\n"
        "outliner.outline('a.py', b'x = 1')\n"
        "look()\n"
        "child = os.fork()\n"
        "look()\n"
        "outliner.close()\n"
        "if child:\n"
        "    assert os.waitpid(child, 0)[1] == 0\n"
        "    look()\n"
    )
    out = subprocess.run(
        [sys.executable, "-W", "error", "-c", script],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert (out.returncode, out.stderr) == (0, "")
    lines = [line.split() for line in out.stdout.splitlines()]
    assert [found for found, _ in lines] == ["True"] * 4
    stems = [pid for _, pid in lines]
    assert len(set(stems)) == 2
    assert stems[0] == stems[3]


def test_nothing_is_left_of_a_program_that_is_killed() -> None:
    script = (
        "import sys, time\n"
        "from adjudge.evidence import parsers\n"
        "from adjudge.evidence.outlining import Outliner\n"
        "outliner = Outliner()\n"
        "outliner.outline('a.py', b'x = 1')\n"
        "print(parsers._stem._process.pid, flush=True)\n"
        "time.sleep(60)\n"
    )
    program = subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE)
    assert program.stdout is not None
    stem = int(program.stdout.readline())
    left = [stem, *forks(stem)]
    program.kill()
    program.wait()
    program.stdout.close()
    assert len(left) == 2
    assert eventually(lambda: not any(is_running(pid) for pid in left))


def is_running(pid: int) -> bool:
    """Whether there is such a process, and it is no zombie that nobody waits for."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


def test_a_stem_that_cannot_be_forked_is_our_fault(monkeypatch: pytest.MonkeyPatch) -> None:
    class Refused(Parser):
        def __init__(self) -> None:
            questions, self.questions = os.pipe()
            self.answers, answers = os.pipe()
            os.write(answers, NO_FORK + b"Resource temporarily unavailable\n")
            self._theirs = (questions, answers)

        def end(self) -> None:
            for end in (self.questions, self.answers, *self._theirs):
                os.close(end)

    monkeypatch.setattr("adjudge.evidence.outlining.start_parser", Refused)
    with Outliner() as outliner, pytest.raises(InfraError, match="Resource temporarily unavailable"):
        outliner.outline("a.py", SOURCE)


def test_no_process_at_all_is_our_fault(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "executable", "/nowhere/python")
    with pytest.raises(InfraError, match="no process to parse source files in: No such file"):
        start_parser()
    assert parsers._stem is None
