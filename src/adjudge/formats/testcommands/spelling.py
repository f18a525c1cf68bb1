"""Suites as lines for a shell, for runs that are watched from inside the code and not by a session."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final

from adjudge.records.evidence import (
    AnyRequest,
    CommandRun,
    Isolation,
    ReportRun,
    TestCommand,
    TestRun,
)

__all__ = ["spell_command", "unseen_runs"]

_WORDS: Final[Mapping[str, tuple[str, ...]]] = {
    "pytest": ("-m", "pytest"),
    "unittest": ("-m", "unittest"),
    "node": ("--test",),
    "go": ("test",),
}
"""What stands between the interpreter and the arguments."""
_PACKAGES: Final[Mapping[str, tuple[str, ...]]] = {
    "jest": ("npx", "jest"),
    "vitest": ("npx", "vitest", "run"),
}
"""Runners that come with the project, which knows where they are."""


def spell_command(command: TestCommand, tests: Sequence[str] = ()) -> str:
    """What somebody would type to run it.

    Args:
        command: How the suite is started.
        tests: Files and single tests that it is given, beside what the command has.
    """
    env = dict(command.env)
    if command.path not in ((), (".",)):
        env.setdefault("PYTHONPATH", ":".join(command.path))
    started = _PACKAGES.get(command.runner)
    if started is not None and len(command.interpreter) > 1:
        env.setdefault("NODE_OPTIONS", " ".join(command.interpreter[1:]))
    words = [*(started or (*command.interpreter, *_WORDS[command.runner])), *command.args, *tests]
    return " ".join([*(f"{name}={shlex.quote(value)}" for name, value in env.items()), shlex.join(words)])


def unseen_runs(requests: Iterable[AnyRequest]) -> Iterator[CommandRun]:
    """Those of some requests that run tests which an attempt did not see, as commands."""
    for request in requests:
        if not isinstance(request, CommandRun | TestRun | ReportRun):
            continue
        tree = request.tree
        if not (tree.inject or tree.test_patch) or tree.isolation is Isolation.LIVE:
            continue
        command = _spelled(request) if isinstance(request, TestRun) else request.command
        yield CommandRun(command=command, timeout_s=request.timeout_s, tree=tree)


def _spelled(request: TestRun) -> str:
    runner = request.command.runner
    tests: list[str] = list(request.select)
    if request.scope == "hidden":
        tests += [placed.dest or placed.src.rpartition("/")[2] for placed in request.tree.inject]
    elif request.scope == "ids" and runner not in ("go", "unittest"):
        tests += dict.fromkeys(id_.partition("[")[0].partition("::")[0] for id_ in request.expected or ())
    return spell_command(request.command, tests)
