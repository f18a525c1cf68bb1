"""Runs a suite of the standard library's unittest and reports what it does, in the words used for pytest."""

from __future__ import annotations

import os
import sys
import time
import unittest
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from adjudge.evidence.tests.inside import adjudge_limits, adjudge_watch, launch
    from adjudge.evidence.tests.inside.launch import Channel
else:
    launch = sys.modules.get("adjudge_launch")
    adjudge_limits = sys.modules.get("adjudge_limits")
    adjudge_watch = sys.modules.get("adjudge_watch")

__all__ = ["Result", "run", "version"]


def version() -> str:
    """The runner and its version."""
    return "unittest"


class Result(unittest.TestResult):
    """Reports each event as it happens."""

    def __init__(self, channel: Channel, limit_s: float, *, watch: bool = False) -> None:
        super().__init__()
        self._channel = channel
        self._watch = adjudge_watch.Watch(os.getcwd()) if watch else None
        self._limit_s = limit_s
        self._limit: Any | None = None
        self._since = 0.0
        self._told = False

    def _call(self, test: Any, outcome: str, message: object = "", *, expected_failure: bool = False) -> None:
        if not hasattr(test, "_testMethodName"):
            # A module or class that could not be set up; unittest makes up a test for it.
            self._channel.send(
                {"k": "uncollected", "id": test.id(), "outcome": outcome, "message": launch.text(message)}
            )
            return
        self._told = True
        seconds = time.perf_counter() - self._since
        said = launch.text(message)
        self._channel.phase(test.id(), "call", outcome, seconds, said, expected_failure=expected_failure)

    def startTest(self, test: Any) -> None:
        """A test begins."""
        super().startTest(test)
        self._told = False
        self._since = time.perf_counter()
        self._channel.phase(test.id(), "setup", "passed")
        self._limit = adjudge_limits.limited(self._limit_s)
        self._limit.__enter__()
        if self._watch is not None:
            self._watch.start()

    def stopTest(self, test: Any) -> None:
        """A test is over."""
        if self._watch is not None:
            self._channel.ran(test.id(), self._watch.stop())
        if self._limit is not None:
            self._limit.__exit__()
        super().stopTest(test)
        if not self._told:
            # Only its subtests failed; unittest then says nothing of the test itself.
            self._call(test, "failed", "a subtest failed")
        self._channel.phase(test.id(), "teardown", "passed")

    def addSuccess(self, test: Any) -> None:
        """It passed."""
        super().addSuccess(test)
        self._call(test, "passed")

    def addFailure(self, test: Any, err: Any) -> None:
        """An assertion did not hold."""
        super().addFailure(test, err)
        self._call(test, "failed", _message(err))

    def addError(self, test: Any, err: Any) -> None:
        """Something else was raised."""
        super().addError(test, err)
        self._call(test, "failed", _message(err))

    def addSkip(self, test: Any, reason: str) -> None:
        """It was skipped."""
        super().addSkip(test, reason)
        self._call(test, "skipped", reason)

    def addExpectedFailure(self, test: Any, err: Any) -> None:
        """It failed, as it says it does."""
        super().addExpectedFailure(test, err)
        self._call(test, "skipped", _message(err), expected_failure=True)

    def addUnexpectedSuccess(self, test: Any) -> None:
        """It passed, though it says it does not."""
        super().addUnexpectedSuccess(test)
        self._call(test, "passed", expected_failure=True)

    def addSubTest(self, test: Any, subtest: Any, err: Any) -> None:
        """A part of a test ended; only failures matter."""
        super().addSubTest(test, subtest, err)
        if err is not None:
            self._channel.phase(test.id(), "call", "failed", 0.0, launch.text(_message(err)), sub=True)


def _message(err: Any) -> str:
    kind, value, _ = err
    return f"{kind.__name__}: {value}"


def _ids(suite: Any) -> Iterator[str]:
    for test in suite:
        if isinstance(test, unittest.TestSuite):
            yield from _ids(test)
        elif hasattr(test, "_testMethodName"):
            yield test.id()


class _Runner:
    def __init__(self, channel: Channel, order: dict[str, Any]) -> None:
        self._channel = channel
        self._order = order

    def run(self, suite: Any) -> Result:
        """Run what was found."""
        ids: list[str] = list(_ids(suite))
        self._channel.send_ids(ids)
        watch = bool(self._order.get("watch"))
        result = Result(self._channel, float(self._order["test_timeout_s"]), watch=watch)
        if not self._order["collect_only"]:
            suite.run(result)
        if watch:
            self._channel.send_modules(adjudge_watch.loaded_modules(os.getcwd()))
        self._channel.send({"k": "end", "exit": 0 if result.wasSuccessful() else 1})
        return result


def run(order: dict[str, Any], channel: Channel) -> int:
    """Run unittest as ordered."""
    sys.path[:0] = order["path"]
    arguments = ["python -m unittest", *order["args"]]
    program = unittest.main(module=None, argv=arguments, testRunner=_Runner(channel, order), exit=False)
    return 0 if program.result.wasSuccessful() else 1
