"""What a trusted run of Jest or Vitest is made of.

Files and ids are found by letting the runner load the suite, without running a test, over the baseline with
the hidden files, where nothing of the candidate's can run. Modules that only the work to be graded will bring
are empty there. Whatever still cannot be loaded is read from the source.
"""

from __future__ import annotations

import asyncio
import posixpath
from collections.abc import Mapping
from pathlib import Path

from adjudge.errors import UsageError
from adjudge.evidence.gradedtree import Graded, laid_over
from adjudge.evidence.protected import Protection
from adjudge.evidence.tests.order import Order
from adjudge.evidence.tests.session import Session, Suites
from adjudge.evidence.tests.suite import Suite, content, find_files, is_file
from adjudge.evidence.tests.twins import TestFiles
from adjudge.formats.testcommands.javascript import suite_options
from adjudge.records.evidence import Isolation, TestCommand, TestRun
from adjudge.records.sandbox import WorkspaceTree
from adjudge.syntax.javascript.definitions import WHOLE_FILE
from adjudge.syntax.javascript.falsify import SUFFIXES
from adjudge.syntax.javascript.imports import local_imports

__all__ = ["find_javascript_suite"]

_CONFIGS = ("jest.config.", "vitest.config.", "vitest.workspace.", "vite.config.", "babel.config.")
_ENDINGS = ("", *SUFFIXES, ".json", *(f"/index{suffix}" for suffix in SUFFIXES))
"""What a runner tries behind the path of an import."""
_EMPTY = {
    "jest": """\
const any = new Proxy(function () {}, {
  get: (_, name) => (name === '__esModule' || name === 'then' ? undefined : any),
  apply: () => any,
  construct: () => any,
});
module.exports = any;
""",
    "vitest": "export default undefined;\n",
}
"""A module that can be loaded and holds nothing."""
_NAMES = {"jest": "Jest", "vitest": "Vitest"}


async def find_javascript_suite(
    request: TestRun, graded: Graded, baseline: WorkspaceTree, suites: Suites
) -> Suite:
    """Find out what a request leaves open.

    Raises:
        UsageError: The sandbox has no such runner.
        InfraError: A sandbox could not do its part.
    """
    command = _scoped(request)
    stand_ins = await asyncio.to_thread(_stand_ins, command.runner, graded, baseline.base)
    tree, _ = await laid_over(baseline, graded.place / "collected", graded.hidden)
    if stand_ins:
        layer = graded.place / "stand-ins"
        await asyncio.to_thread(_write, layer, stand_ins)
        tree = tree.model_copy(update={"layers": (*tree.layers, layer)})
    order = Order(command, plugins=(), collect_only=True, timeout_s=request.timeout_s)
    session = await suites.run(order, tree)
    channel = session.channel
    if channel.unavailable or not channel.runner:
        said = channel.unavailable or session.result.reason or session.result.stdout.text[-300:]
        raise UsageError(
            f"the tests cannot be run: {said or session.result.ended.value}",
            hint=f"{_NAMES[command.runner]} has to be in the baseline's node_modules, or in one that is "
            "exposed to the sandbox",
        )
    collected = tuple(dict.fromkeys(channel.collected))
    files = await asyncio.to_thread(_files, request, graded, baseline.base, session)
    expected = request.expected
    if expected is None:
        absent = [f"{arg}::{WHOLE_FILE}" for arg in _paths(command) if arg not in files]
        expected = tuple(dict.fromkeys((*collected, *_unloaded(files, session), *absent)))
    # From here on the files are named, so that no file of the candidate's is taken for a test.
    options = [arg for arg in command.args if arg.startswith("--") and arg != "--runTestsByPath"]
    by_path = ["--runTestsByPath"] if command.runner == "jest" else []
    named = command.model_copy(update={"args": (*options, *by_path, *sorted(files))})
    if request.tree.isolation is Isolation.SNAPSHOT:
        files |= await asyncio.to_thread(_configs, graded, baseline.base)
    return Suite(named, files, expected, (), len(collected), order=collected)


def _scoped(request: TestRun) -> TestCommand:
    """The command, given the files of the expected ids where those say what is to run."""
    command = request.command
    if request.scope != "ids":
        return command
    named = dict.fromkeys(id_.partition("::")[0] for id_ in request.expected or ())
    by_path = ("--runTestsByPath",) if command.runner == "jest" else ()
    return command.model_copy(update={"args": (*command.args, *by_path, *named)})


def _paths(command: TestCommand) -> list[str]:
    """Patterns that can only mean one file."""
    return [arg for arg in suite_options(command.args)[1] if arg.endswith(SUFFIXES) and "*" not in arg]


def _files(request: TestRun, graded: Graded, root: Path, session: Session) -> dict[str, bytes]:
    """The test files that the runner found, as they are trusted."""
    channel = session.channel
    said = [
        id_.partition("::")[0] for id_ in (*channel.collected, *(id_ for id_, _, _ in channel.uncollected))
    ]
    hidden, allowed = graded.hidden, Protection(request.tree.allow)
    found: dict[str, bytes] = {}
    for path in dict.fromkeys(said):
        if path in hidden.files:
            found[path] = hidden.files[path]
        elif path in hidden.removed or allowed.allows(path):
            # What the attempt may change runs as it left it, and what passes there is unproven.
            continue
        elif path.endswith(SUFFIXES) and is_file(root, path):
            found[path] = content(root, path)
    return found


def _configs(graded: Graded, root: Path) -> dict[str, bytes]:
    def wanted(path: str) -> bool:
        return path.rpartition("/")[2].startswith(_CONFIGS)

    hidden = graded.hidden
    found = {path: content(root, path) for path in find_files(root, wanted) if path not in hidden.removed}
    return found | {path: data for path, data in hidden.files.items() if wanted(path)}


def _unloaded(files: Mapping[str, bytes], session: Session) -> list[str]:
    """Tests of files that could not be loaded, as they are written."""
    broken = {id_ for id_, _, _ in session.channel.uncollected if id_ in files}
    known = TestFiles({path: files[path] for path in broken}, "")
    return [f"{path}::{name}" for path in sorted(broken) for name in known.file(path).tests]


def _stand_ins(runner: str, graded: Graded, root: Path) -> dict[str, str]:
    """Empty modules for what hidden files import and neither they nor the baseline have."""
    found: dict[str, str] = {}
    hidden = graded.hidden
    for path, data in hidden.files.items():
        if not path.endswith(SUFFIXES):
            continue
        for wanted in local_imports(path, data):
            place = posixpath.normpath(posixpath.join(posixpath.dirname(path), wanted))
            if place.startswith("..") or place == ".":
                continue
            there = [place + ending for ending in _ENDINGS]
            # TypeScript writes `./x.js` for a file `x.ts`.
            there += [place.removesuffix(".js") + ending for ending in (".ts", ".tsx")]
            if any(one in hidden.files or is_file(root, one) for one in there):
                continue
            file = place if place.endswith(SUFFIXES) else f"{place}.js"
            found[file] = _EMPTY[runner]
    return found


def _write(layer: Path, files: Mapping[str, str]) -> None:
    for path, text in files.items():
        target = layer / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text)
    for folder in [layer, *(path for path in layer.rglob("*") if path.is_dir())]:
        folder.chmod(0o755)
