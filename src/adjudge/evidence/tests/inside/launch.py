"""Starts a test runner before anything of the candidate's is loaded, and gives its reports a way out.

Run as `python -I -c <this text>` with a JSON order on stdin, which also brings the text of the reporter for
the runner in question and of the limit on a test: nothing of it lies in a file that the candidate could
change. The sandbox's second stream is kept for reports: it is moved to a descriptor of its own at once, and
whatever else writes to stderr from then on writes to stdout. Reports are lines of JSON. The process they come
from is trusted with nothing: it is not told which tests are expected, nor which ones are falsified, and a
forged report is assumed possible.
"""

from __future__ import annotations

import fcntl
import json
import os
import sys
import threading
import types
from typing import Any

__all__ = ["Channel", "main"]

_TEXT = 2000
"""Characters of a failure message that are worth sending."""
_IDS_AT_ONCE = 200
_PARTS_ALIKE = 10
"""Subtests that end alike and are told of one by one; a test may have ten thousand of them."""


class Channel:
    """Where reports go. Writes whole lines, from one process."""

    def __init__(self) -> None:
        # Far from the numbers that programs expect to find free or to close in a loop.
        self._descriptor = fcntl.fcntl(2, fcntl.F_DUPFD_CLOEXEC, 200)
        os.dup2(1, 2)
        self._owner = os.getpid()
        self._lock = threading.Lock()
        self._phases: dict[str, list[Any]] = {}

    def send(self, report: dict[str, Any]) -> None:
        """Send one report."""
        if os.getpid() != self._owner:
            # A fork of the runner made by a test: its results are not the suite's.
            return
        line = json.dumps(report).encode("ascii") + b"\n"
        with self._lock:
            while line:
                line = line[os.write(self._descriptor, line) :]

    def phase(
        self,
        id_: str,
        when: str,
        outcome: str,
        duration_s: float = 0.0,
        message: str = "",
        expected_failure: bool = False,
        sub: bool = False,
    ) -> None:
        """Note one phase of a test, or of a part of it; they are sent with the last one."""
        phases = self._phases.setdefault(id_, [])
        if sub and self._is_one_of_many(phases, outcome, expected_failure, duration_s):
            return
        phases.append([when, outcome, expected_failure, sub, duration_s, message])
        if when == "teardown":
            self.send({"k": "test", "id": id_, "phases": self._phases.pop(id_)})

    @staticmethod
    def _is_one_of_many(phases: list[Any], outcome: str, expected_failure: bool, duration_s: float) -> bool:
        """Whether enough parts of a test have ended that way since it was last begun; their time is added."""
        alike = []
        for phase in reversed(phases):
            if phase[1] == "rerun":
                break
            if phase[3] and phase[1:3] == [outcome, expected_failure]:
                alike.append(phase)
        if len(alike) < _PARTS_ALIKE:
            return False
        alike[0][4] += duration_s
        return True

    def ran(self, id_: str, files: list[str] | None) -> None:
        """Say in which files of the project a test ran functions, where that is known."""
        if files is not None:
            self.send({"k": "ran", "id": id_, "files": files})

    def send_modules(self, modules: dict[str, str]) -> None:
        """Say where modules came from."""
        names = list(modules)
        for at in range(0, len(names), _IDS_AT_ONCE):
            part = {name: modules[name] for name in names[at : at + _IDS_AT_ONCE]}
            self.send({"k": "modules", "modules": part})

    def send_ids(self, ids: list[str]) -> None:
        """Say which tests were found."""
        for at in range(0, len(ids), _IDS_AT_ONCE):
            self.send({"k": "collected", "ids": ids[at : at + _IDS_AT_ONCE]})


def text(value: object) -> str:
    """A message, capped."""
    try:
        said = str(value)
    except Exception as error:
        said = "message of type " + type(value).__name__ + " cannot be shown: " + type(error).__name__
    return said if len(said) <= _TEXT else said[: _TEXT // 2] + "\n[…]\n" + said[-_TEXT // 2 :]


def _clean_environment(keep: list[str]) -> None:
    """Nothing in the environment steers the interpreter or the runner but what the order says."""
    for name in list(os.environ):
        if name.startswith(("PYTEST_", "PYTHON")) and name not in keep:
            del os.environ[name]


def main() -> None:
    """Read the order and run it."""
    channel = Channel()
    order = json.loads(sys.stdin.buffer.read().decode("utf-8"))
    null = os.open(os.devnull, os.O_RDONLY)
    os.dup2(null, 0)
    os.close(null)
    _clean_environment(order["keep_env"])
    limits = types.ModuleType("adjudge_limits")
    exec(compile(order["limits"], "<adjudge>", "exec"), limits.__dict__)
    # Where the reporter finds it.
    sys.modules["adjudge_limits"] = limits
    if order.get("watch"):
        watch = types.ModuleType("adjudge_watch")
        exec(compile(order["watch"], "<adjudge>", "exec"), watch.__dict__)
        sys.modules["adjudge_watch"] = watch
    runner = types.ModuleType("adjudge_runner")
    try:
        exec(compile(order["reporter"], "<adjudge>", "exec"), runner.__dict__)
    except ImportError as error:
        channel.send({"k": "unavailable", "message": text(error)})
        sys.exit(3)
    order["path"] = [os.path.abspath(entry) for entry in order["path"]]
    sys.dont_write_bytecode = True
    channel.send({"k": "started", "python": sys.version.split()[0], "runner": runner.version()})
    sys.exit(runner.run(order, channel))


if __name__ == "__main__":
    # Where the reporter finds this module.
    sys.modules["adjudge_launch"] = sys.modules["__main__"]
    main()
