"""What a trusted run of `node --test` is made of.

The files to run are named from outside, found in the baseline and the hidden files by the rules that node has
for them. Ids are found by running the suite where nothing of the candidate's can run; for files that cannot
be loaded there, and for tests that stop before their subtests begin, ids are read from the source.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Mapping
from fnmatch import fnmatchcase
from pathlib import Path

from adjudge.errors import UsageError
from adjudge.evidence.gradedtree import Graded, laid_over
from adjudge.evidence.tests.order import Order
from adjudge.evidence.tests.outcomes import ended
from adjudge.evidence.tests.session import Session, Suites
from adjudge.evidence.tests.suite import Suite, content, find_files
from adjudge.evidence.tests.twins import TestFiles
from adjudge.records.evidence import TestRun
from adjudge.records.sandbox import WorkspaceTree
from adjudge.records.testreport import TestOutcome
from adjudge.syntax.javascript.definitions import WHOLE_FILE

__all__ = ["find_node_suite"]

_TEST_NAME = re.compile(r"(?:test|test-.+|.+[.\-_]test)\.[cm]?js")
_TEST_FOLDER = "test"
_SUFFIXES = (".js", ".mjs", ".cjs")
"""What node runs as it is."""


async def find_node_suite(request: TestRun, graded: Graded, baseline: WorkspaceTree, suites: Suites) -> Suite:
    """Find out what a request leaves open.

    Raises:
        UsageError: The sandbox has no node that can run it.
        InfraError: A sandbox could not do its part.
    """
    files = await asyncio.to_thread(_files, request, graded, baseline.base)
    # What is asked for and not there is expected all the same, and never taken from the candidate.
    absent = [arg for arg in _args(request) if not any(_meant(path, arg) for path in files)]
    command = request.command.model_copy(update={"args": tuple(files)})
    tree, _ = await laid_over(baseline, graded.place / "collected", graded.hidden)
    order = Order(command, plugins=(), timeout_s=request.timeout_s, test_timeout_s=request.test_timeout_s)
    session = await suites.run(order, tree)
    if session.channel.unavailable or not session.channel.runner:
        said = session.channel.unavailable or session.result.reason or session.result.stdout.text[-300:]
        raise UsageError(
            f"the tests cannot be run: {said or session.result.ended.value}",
            hint=f"does the sandbox have {' '.join(command.interpreter)}, version 20 or newer?",
        )
    collected = tuple(dict.fromkeys(session.channel.collected))
    expected = request.expected
    if expected is None:
        missing = [f"{arg}::{WHOLE_FILE}" for arg in absent]
        expected = tuple(dict.fromkeys((*_expected(files, session), *missing)))
    return Suite(command, files, expected, (), len(collected))


def _files(request: TestRun, graded: Graded, root: Path) -> dict[str, bytes]:
    """The test files that the command means, as they are trusted."""
    args = _args(request)

    def wanted(path: str) -> bool:
        if not path.endswith(_SUFFIXES):
            return False
        if not args:
            return _looks_like_tests(path)
        return any(_meant(path, arg) for arg in args)

    hidden = graded.hidden
    found = {path: content(root, path) for path in find_files(root, wanted) if path not in hidden.removed}
    found |= {path: data for path, data in hidden.files.items() if wanted(path)}
    return dict(sorted(found.items()))


def _args(request: TestRun) -> tuple[str, ...]:
    """What the command names, and the files of the expected ids where those say what is to run."""
    if request.scope != "ids":
        return request.command.args
    named = (id_.partition("::")[0] for id_ in request.expected or ())
    return tuple(dict.fromkeys((*request.command.args, *named)))


def _meant(path: str, arg: str) -> bool:
    """Whether an argument means a file: by name, by pattern, or by a folder that it is a test in."""
    if path == arg:
        return True
    parts, wanted = path.split("/"), arg.split("/")
    if re.search(r"[*?\[]", arg):
        return len(parts) == len(wanted) and all(map(fnmatchcase, parts, wanted))
    return (arg == "." or path.startswith(f"{arg}/")) and _looks_like_tests(path)


def _looks_like_tests(path: str) -> bool:
    *folders, name = path.split("/")
    return _TEST_NAME.fullmatch(name) is not None or _TEST_FOLDER in folders


def _expected(files: Mapping[str, bytes], session: Session) -> list[str]:
    """Tests that ran, and those that are written where nothing could run."""
    known = TestFiles(files, "")
    broken = {id_ for id_, outcome, _ in session.channel.uncollected if outcome == "failed" and id_ in files}
    found: list[str] = []
    for path in files:
        defined = [f"{path}::{name}" for name in known.file(path).tests]
        reported = [id_ for id_ in session.channel.phases if id_.startswith(f"{path}::")]
        if path in broken or not session.complete:
            whole = f"{path}::{WHOLE_FILE}"
            found += [id_ for id_ in dict.fromkeys((*reported, *defined)) if id_ != whole or whole in defined]
            continue
        found += reported
        for id_ in reported:
            if ended(session.channel.phases[id_]).outcome is not TestOutcome.PASSED:
                found += [below for below in defined if below.startswith(f"{id_} > ")]
    elsewhere = [id_ for id_ in session.channel.phases if id_.partition("::")[0] not in files]
    return [*found, *elsewhere]
