"""What a trusted run of `go test` is made of.

Which packages there are, and which of their test files are built, `go list` says of the baseline with the
hidden files, where nothing runs. Which tests they hold is read from the files: every function, every subtest
with a written name, and those named by the rows of a table. Further subtests are known when they run; their
tests fail with them.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Mapping
from pathlib import Path, PurePosixPath

from adjudge.errors import UsageError
from adjudge.evidence.gradedtree import Graded, laid_over
from adjudge.evidence.protected import Protection
from adjudge.evidence.tests.order import Order
from adjudge.evidence.tests.runners.golang import LIBRARY
from adjudge.evidence.tests.session import Session, Suites
from adjudge.evidence.tests.suite import Suite, content, find_files, is_file
from adjudge.evidence.tests.twins import TestFiles
from adjudge.records.evidence import TestCommand, TestRun
from adjudge.records.sandbox import Mount, WorkspaceTree
from adjudge.syntax.golang.falsify import SUFFIX

__all__ = ["find_go_suite"]

_NOT_BUILT = ("vendor", "testdata")


async def find_go_suite(request: TestRun, graded: Graded, baseline: WorkspaceTree, suites: Suites) -> Suite:
    """Find out what a request leaves open.

    Raises:
        UsageError: The sandbox has no go, or the baseline's packages cannot be listed.
        InfraError: A sandbox could not do its part.
    """
    files = await asyncio.to_thread(_files, request, graded, baseline.base)
    command = request.command
    hidden = graded.hidden
    if not any(name.startswith("GOWORK") for name in command.env) and (
        "go.work" in hidden.files or is_file(baseline.base, "go.work")
    ):
        command = command.model_copy(update={"env": {**command.env, "GOWORK": ""}})
    if request.scope == "ids":
        command = command.model_copy(update={"args": tuple(_named(request, command, files))})
    tree, _ = await laid_over(baseline, graded.place / "collected", hidden)
    library = graded.place / "library"
    await asyncio.to_thread(library.mkdir)
    order = Order(
        command,
        plugins=(),
        collect_only=True,
        timeout_s=request.timeout_s,
        mounts=(Mount(source=library, target=LIBRARY, writable=True),),
    )
    session = await suites.run(order, tree)
    if session.channel.unavailable or not session.channel.runner:
        said = session.channel.unavailable or session.result.reason or session.result.stderr.text[-300:]
        raise UsageError(
            f"the tests cannot be run: {said or session.result.ended.value}",
            hint=f"does the sandbox have {' '.join(command.interpreter)}?",
        )
    expected = request.expected
    if expected is None:
        expected = tuple(_expected(files, session, command))
    shared = (Mount(source=library, target=LIBRARY),)
    return Suite(command, files, expected, (), len(session.channel.collected), shared)


def _files(request: TestRun, graded: Graded, root: Path) -> dict[str, bytes]:
    """Every test file, as it is trusted."""

    def wanted(path: str) -> bool:
        return path.endswith(SUFFIX) and not set(path.split("/")) & set(_NOT_BUILT)

    hidden = graded.hidden
    allowed = Protection(request.tree.allow)
    found = {
        path: content(root, path)
        for path in find_files(root, wanted)
        # What the attempt may change runs as it left it, and what passes there is unproven.
        if path not in hidden.removed and not allowed.allows(path)
    }
    found |= {path: data for path, data in hidden.files.items() if wanted(path)}
    return dict(sorted(found.items()))


def _named(request: TestRun, command: TestCommand, files: Mapping[str, bytes]) -> list[str]:
    """The command with the packages that the expected ids name, where they can be told."""
    known = TestFiles(files, "")
    folders: dict[str, None] = {}
    for id_ in request.expected or ():
        located = known.locate(id_)
        if located is not None:
            folders[f"./{PurePosixPath(located.path).parent}"] = None
    options = [arg for arg in command.args if arg.startswith("-")]
    return [*options, *(folders or ["./..."])]


def _expected(files: Mapping[str, bytes], session: Session, command: TestCommand) -> list[str]:
    """Tests of the files that are built, or of all when that could not be found out."""
    known = TestFiles(files, "")
    built = {id_.partition("::")[0] for id_ in session.channel.collected}
    paths = (
        [path for path in known.paths if path in built] if not session.channel.uncollected else known.paths
    )
    pattern = next((arg.partition("=")[2] for arg in command.args if arg.startswith("-run=")), "")
    parts = [re.compile(part) for part in pattern.split("/")] if pattern else []
    return [
        f"{path}::{name}"
        for path in paths
        for name in known.file(path).tests
        if all(part.search(own) for part, own in zip(parts, name.split("/"), strict=False))
    ]
