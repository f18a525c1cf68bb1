"""Runs pytest and reports what it does: ids found, every phase of every test, subtests, the end."""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Iterator
from importlib import metadata
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from adjudge.evidence.tests.inside import adjudge_limits, adjudge_watch, launch
    from adjudge.evidence.tests.inside.launch import Channel
else:
    launch = sys.modules.get("adjudge_launch")
    adjudge_limits = sys.modules.get("adjudge_limits")
    adjudge_watch = sys.modules.get("adjudge_watch")

__all__ = ["Reporter", "run", "version"]

_WORKER = """\
import pytest
from adjudge_limits import limited
@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_call():
    with limited({limit_s!r}):
        yield
"""
"""The plugin that limits a test in a worker of pytest-xdist, where the reporter does not reach."""


def version() -> str:
    """The runner and its version."""
    return "pytest " + pytest.__version__


class Reporter:
    """The plugin. It only watches, and puts the project on the import path once every plugin is loaded."""

    def __init__(self, channel: Channel, order: dict[str, Any]) -> None:
        self._channel = channel
        self._path: list[str] = order["path"]
        self._limit_s = float(order["test_timeout_s"])
        self._limits: str = order["limits"]
        self._seen: set[str] = set()
        self._watch = adjudge_watch.Watch(os.getcwd()) if order.get("watch") else None

    @pytest.hookimpl(hookwrapper=True)
    def pytest_load_initial_conftests(self) -> Iterator[None]:
        """The first moment after the plugins: from here on, imports may find the project."""
        sys.path[:0] = self._path
        yield

    def pytest_configure(self, config: pytest.Config) -> None:
        """Workers of pytest-xdist start as safely as we did, and then find the project as we do."""
        if getattr(config.option, "dist", "no") != "no":
            os.environ["PYTHONSAFEPATH"] = "1"
            os.environ["PYTHONPYCACHEPREFIX"] = tempfile.mkdtemp(prefix="bytecode-")
            path = [*self._path, self._limit_workers()]
            remembered = getattr(sys.modules.get("xdist.plugin"), "_sys_path", None)
            if isinstance(remembered, list):
                # The import path as it was before ours; workers are given it as soon as they run.
                remembered[:0] = path
            else:
                os.environ["PYTHONPATH"] = os.pathsep.join(path)

    def _limit_workers(self) -> str:
        """Give workers the limit on a test, as a plugin in a folder of its own.

        They can be talked out of it; a session that hangs then ends at its own limit.
        """
        folder = tempfile.mkdtemp(prefix="worker-")
        for name, content in (
            ("adjudge_limits.py", self._limits),
            ("adjudge_worker.py", _WORKER.format(limit_s=self._limit_s)),
        ):
            with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
                file.write(content)
        # Workers load what it names; this process has looked at it already.
        os.environ["PYTEST_PLUGINS"] = "adjudge_worker"
        return folder

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        """All ids, where this process collects."""
        self._collected([item.nodeid for item in session.items])

    @pytest.hookimpl(optionalhook=True)
    def pytest_xdist_node_collection_finished(self, node: object, ids: list[str]) -> None:
        """All ids, where workers collect; they agree or pytest-xdist refuses to go on."""
        self._collected([id_ for id_ in ids if id_ not in self._seen])
        self._seen.update(ids)

    def _collected(self, ids: list[str]) -> None:
        self._channel.send_ids(ids)

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        """Files that could not be collected, or that skip themselves."""
        if report.outcome != "passed":
            self._channel.send(
                {
                    "k": "uncollected",
                    "id": report.nodeid,
                    "outcome": report.outcome,
                    "message": launch.text(report.longrepr),
                }
            )

    @pytest.hookimpl(hookwrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[None]:
        """All that a test runs, its fixtures included."""
        if self._watch is None:
            yield
            return
        self._watch.start()
        yield
        self._channel.ran(item.nodeid, self._watch.stop())

    @pytest.hookimpl(hookwrapper=True)
    def pytest_runtest_call(self) -> Iterator[None]:
        """A limit on the test itself."""
        with adjudge_limits.limited(self._limit_s):
            yield

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """One phase of one test."""
        message = ""
        if report.outcome != "passed":
            crash = getattr(report.longrepr, "reprcrash", None)
            if crash is not None:
                message = f"{crash.path}:{crash.lineno}: {crash.message}"
            else:
                message = str(report.longrepr or "")
        self._channel.phase(
            report.nodeid,
            str(report.when),
            report.outcome,
            report.duration,
            launch.text(message) if message else "",
            expected_failure=hasattr(report, "wasxfail"),
            sub=getattr(report, "context", None) is not None,
        )

    def pytest_sessionfinish(self, exitstatus: int) -> None:
        """The runner got to its end."""
        if self._watch is not None:
            self._channel.send_modules(adjudge_watch.loaded_modules(os.getcwd()))
        self._channel.send({"k": "end", "exit": int(exitstatus)})


def _plugins() -> list[str]:
    found = set()
    for distribution in metadata.distributions():
        for point in distribution.entry_points:
            if point.group == "pytest11":
                found.add(point.name)
    return sorted(found)


def run(order: dict[str, Any], channel: Channel) -> int:
    """Run pytest as ordered."""
    names = order["plugins"]
    if names is None:
        names = _plugins()
        channel.send({"k": "plugins", "names": names})
    os.environ["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"
    arguments: list[str] = []
    for name in names:
        arguments += ["-p", name]
    arguments += order["args"]
    return int(pytest.main(arguments, plugins=[Reporter(channel, order)]))
