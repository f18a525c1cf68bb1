"""Runs `go test` in a sandbox, in steps: build every test program, then run one after the other.

While programs are built nothing runs that is graded. Each program then runs alone, with no process left of
the one before it; what it prints is read outside. A test that takes too long, or takes its program down with
it, fails; the tests that had not run by then get a program of their own.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from typing import Literal

from adjudge.contracts import Sandbox
from adjudge.evidence.tests.channel import Channel
from adjudge.evidence.tests.gooutput import GoOutput, top_of
from adjudge.evidence.tests.order import Order, inside_text
from adjudge.records.evidence import TestCommand
from adjudge.records.sandbox import Ended, ExecRequest, ExecResult, Limits

__all__ = ["GO_ENV", "LIBRARY", "drive_go"]

GO_ENV: Mapping[str, str] = {
    "GOENV": "off",
    "GOFLAGS": "",
    "GOPROXY": "off",
    "GOSUMDB": "off",
    "GOTOOLCHAIN": "local",
    "GOWORK": "off",
    "GOCACHE": "/tmp/adjudge-go/cache",
    "GOTELEMETRY": "off",
}
"""Nothing is fetched, and only the recipe's command sets options. The cache is made for the session."""

LIBRARY = PurePosixPath("/tmp/adjudge-go-library")
"""The standard library, built once for all sessions of a run; each works on a copy."""
_ROOT = PurePosixPath("/workspace")
_PROGRAMS = PurePosixPath("/tmp/adjudge-go/bin")
_BUILD_OPTIONS = ("-tags=", "-mod=", "-race", "-trimpath")
_MOST_RUNS = 40
"""Of one program, when tests take it down."""
_MAX_FOUND = 32 * 1024 * 1024
_MAX_ARGUMENT = 100_000
_LEAST_S = 1.0
_POLL_S = 0.25
_BROKEN = re.compile(r"^FAIL\s+(\S+)\s+\[([^\]]+ failed)\]", re.MULTILINE)
_VERSION = re.compile(r"go1\.(\d+)")
_MARKS_SINCE = 20


@dataclass
class _Package:
    name: str
    folder: str
    """Relative to the workspace; empty for its root."""
    files: tuple[str, ...]
    functions: dict[str, str] = field(default_factory=dict)
    """Test functions in its files, and the file of each."""

    @property
    def paths(self) -> list[str]:
        """Its test files, relative to the workspace."""
        return [str(PurePosixPath(self.folder, file)) for file in self.files]


@dataclass
class _Built:
    version: str = ""
    packages: list[_Package] = field(default_factory=list)
    broken: dict[str, str] = field(default_factory=dict)
    """Packages that could not be built, and what was said of each."""
    embedded: set[str] = field(default_factory=set)
    """Files that are part of some package's program."""
    listed: bool = False
    built: bool = False


async def drive_go(sandbox: Sandbox, order: Order, limits: Limits, channel: Channel) -> ExecResult:
    """Run a session; the result of the step that says most about how it went."""
    deadline = asyncio.get_running_loop().time() + order.timeout_s
    result, built = await _build(sandbox, order, limits)
    if not built.version:
        channel.report({"k": "unavailable", "message": result.stderr.text[-500:] or "there is no go"})
        return result
    channel.report({"k": "started", "runner": built.version})
    if not built.listed or not (built.built or order.collect_only):
        return result
    ids = [f"{file}::{name}" for package in built.packages for name, file in package.functions.items()]
    channel.report({"k": "collected", "ids": ids})
    for name, said in built.broken.items():
        folder = next((package.folder for package in built.packages if package.name == name), name)
        channel.report(
            {"k": "uncollected", "id": folder or ".", "outcome": "failed", "message": said[-2000:]}
        )
    if not built.packages:
        channel.report(
            {"k": "uncollected", "id": ".", "outcome": "failed", "message": result.stderr.text[-500:]}
        )
    if order.collect_only:
        channel.report({"k": "end", "exit": result.exit_code or 0})
        return result
    worst = result
    seconds = result.usage.wall_s
    failed = bool(built.broken)
    if stolen := built.embedded & {file for package in built.packages for file in package.paths}:
        channel.note(f"tests are embedded in the code under test, so none ran: {', '.join(sorted(stolen))}")
        failed = True
    for package in built.packages if not stolen else ():
        if package.name in built.broken or not package.functions:
            continue
        run = _PackageRun(sandbox, order, limits, channel, package, marks=_marks(built.version))
        ended = await run.run(deadline)
        if ended is None:
            continue
        failed = failed or run.failed
        seconds += run.seconds
        if worst.ended is Ended.EXITED and (ended.ended is not Ended.EXITED or ended.exit_code != 0):
            worst = ended
    worst = worst.model_copy(update={"usage": worst.usage.model_copy(update={"wall_s": seconds})})
    if worst.ended is Ended.EXITED:
        channel.report({"k": "end", "exit": 1 if failed else 0})
        worst = worst.model_copy(update={"exit_code": 1 if failed else 0})
    return worst


def _marks(version: str) -> bool:
    found = _VERSION.match(version)
    return found is None or int(found[1]) >= _MARKS_SINCE


async def _build(sandbox: Sandbox, order: Order, limits: Limits) -> tuple[ExecResult, _Built]:
    command = order.command
    options = [arg for arg in command.args if arg.startswith(_BUILD_OPTIONS)]
    packages = [arg for arg in command.args if not arg.startswith("-")]
    mode = "list" if order.collect_only else "build"
    said = {"stdout": bytearray(), "stderr": bytearray()}

    def observe(stream: Literal["stdout", "stderr"], data: bytes) -> None:
        if len(said[stream]) < _MAX_FOUND:
            said[stream] += data

    result = await sandbox.exec(
        ExecRequest(
            argv=(
                *("/bin/sh", "-c", inside_text("adjudge_go.sh"), "adjudge"),
                *(command.interpreter[0], mode, *options, "--", *packages),
            ),
            env=_env(command),
            limits=limits,
        ),
        on_output=observe,
    )
    return result, _read(said["stdout"].decode("utf-8", "replace"), said["stderr"].decode("utf-8", "replace"))


def _env(command: TestCommand) -> dict[str, str]:
    return {**GO_ENV, **command.env}


def _read(stdout: str, stderr: str) -> _Built:
    built = _Built()
    functions: list[tuple[str, str]] = []
    for line in stdout.splitlines():
        match line.split("\t"):
            case ["@version", version] if version.startswith(("go", "devel")):
                built.version = version[:100]
            case ["@package", name, folder, internal, external]:
                here = PurePosixPath(folder)
                if here.is_relative_to(_ROOT):
                    path = "" if here == _ROOT else str(here.relative_to(_ROOT))
                    files = [file for file in f"{internal}|{external}".split("|") if file]
                    built.packages.append(_Package(name, path, tuple(files)))
            case ["@embedded", file]:
                built.embedded.add(file.removeprefix(f"{_ROOT}/"))
            case ["@function", found]:
                file, _, function = found.removeprefix("./").partition(":func ")
                functions.append((file, function.rstrip("(")))
            case ["@listed", _]:
                built.listed = True
            case ["@built", _]:
                built.built = True
            case _:
                if broken := _BROKEN.match(line):
                    built.broken[broken[1]] = f"{broken[2]}: {_about(broken[1], stderr)}"
    places = {file: package for package in built.packages for file in package.paths}
    for file, function in functions:
        if file in places and function.isidentifier():
            places[file].functions.setdefault(function, file)
    return built


def _about(package: str, stderr: str) -> str:
    """What the compiler said about a package."""
    parts = re.split(r"^# ", stderr, flags=re.MULTILINE)
    own = [part for part in parts[1:] if part.split(maxsplit=1)[0] == package]
    return "".join(own or parts).strip()[:4000]


def _fitting(names: Iterable[str]) -> list[str]:
    """As many names as one argument of a program can hold."""
    fitting, size = [], 0
    for name in names:
        size += len(name.encode()) + 1
        if size > _MAX_ARGUMENT:
            break
        fitting.append(name)
    return fitting


class _PackageRun:
    """Runs the program of one package until each of its tests had its chance."""

    def __init__(
        self,
        sandbox: Sandbox,
        order: Order,
        limits: Limits,
        channel: Channel,
        package: _Package,
        *,
        marks: bool,
    ) -> None:
        self._sandbox = sandbox
        self._order = order
        self._limits = limits
        self._channel = channel
        self._package = package
        self._marks = marks
        self._chosen = any(arg.startswith("-run=") for arg in order.command.args)
        self._where = package.folder or "."
        self.failed = False
        self.seconds = 0.0

    async def run(self, deadline: float) -> ExecResult | None:
        """Run; how the last program ended, None when there was no time left for any."""
        left = dict.fromkeys(self._package.functions)
        alone: list[str] = []
        names: list[str] | None = None
        result: ExecResult | None = None
        for _ in range(_MOST_RUNS):
            remaining = deadline - asyncio.get_running_loop().time()
            if remaining < _LEAST_S:
                self._channel.note(f"{self._where}: no time was left for its tests")
                break
            result, output, late = await self._once(names, remaining)
            self.seconds += result.usage.wall_s
            self.failed = self.failed or result.exit_code != 0
            broken = {top_of(test): None for test in output.running}
            done = {top_of(test) for test in output.ended} - broken.keys()
            if len(broken) == 1:
                # Nobody else can have done it.
                limit = f"it took longer than {self._order.test_timeout_s:g} s"
                for test in list(output.running):
                    output.give_up(test, limit if late else "its program ended before it did")
            else:
                alone += broken
            for name in (*done, *broken):
                left.pop(name, None)
            orderly = result.ended is Ended.EXITED and output.whole and not broken
            if self._chosen:
                break
            if alone:
                names = [alone.pop(0)]
            elif left and (done or broken) and (names is not None or not orderly):
                names = _fitting(left)
            else:
                break
        return result

    async def _once(self, names: Sequence[str] | None, remaining: float) -> tuple[ExecResult, GoOutput, bool]:
        package = self._package

        def id_of(test: str) -> str:
            file = package.functions.get(top_of(test))
            return f"{file or package.folder or '.'}::{test}"

        output = GoOutput(self._channel, id_of, self._marks)

        def observe(stream: Literal["stdout", "stderr"], data: bytes) -> None:
            if stream == "stdout":
                output.feed(data)

        folder = _ROOT / package.folder
        request = ExecRequest(
            argv=(
                "/bin/sh",
                "-c",
                'exec "$0"/*.test "$@" 2>&1',
                str(_PROGRAMS / str(folder)[1:]),
                *self._args(names),
            ),
            env=_env(self._order.command),
            cwd=folder,
            limits=self._limits.model_copy(update={"wall_s": remaining}),
        )
        late = False
        running = asyncio.ensure_future(self._sandbox.exec(request, on_output=observe))
        limit = self._order.test_timeout_s or remaining
        loop = asyncio.get_running_loop()
        seen, since = -1, loop.time()
        try:
            while not (await asyncio.wait((running,), timeout=_POLL_S))[0]:
                if output.progress != seen or not output.running:
                    seen, since = output.progress, loop.time()
                elif loop.time() - since > limit:
                    late = True
                    await self._sandbox.end_processes()
                    break
            result = await running
        except BaseException:
            running.cancel()
            raise
        output.close()
        if output.strange:
            self._channel.note(f"{self._where}: {output.strange} results of tests that did not run")
        if (
            result.ended is Ended.EXITED
            and output.whole
            and (result.exit_code == 0) != (output.failures == 0)
        ):
            self._channel.note(
                f"{self._where}: exit code {result.exit_code}, though {output.failures} tests failed"
            )
        if late:
            # We ended it because of one test; that is no end of the session.
            result = result.model_copy(update={"ended": Ended.EXITED, "exit_code": 1})
        return result, output, late

    def _args(self, names: Sequence[str] | None) -> list[str]:
        args = ["-test.v=test2json" if self._marks else "-test.v=true", "-test.paniconexit0"]
        for arg in self._order.command.args:
            if arg.startswith(("-short", "-run=", "-parallel=", "-cpu=")):
                args.append(f"-test.{arg[1:]}")
        if names is not None:
            args.append(f"-test.run=^({'|'.join(names)})$")
        return args
