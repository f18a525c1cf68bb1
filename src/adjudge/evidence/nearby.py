"""The collector of `NearInputs`: what is answered when visible tests hand over other inputs.

Only where hidden tests fail. The baseline's tests are written anew, several times, each time with a few of
their literals changed to the next ones, and made to write down what they are answered. They run over the
reference solution and over the attempt's product code, in one sandbox for each. Whoever solves a problem is
right for the neighbours of an input, too; whoever knows the input is right for it alone.
"""

from __future__ import annotations

import asyncio
import io
import re
import secrets
import tarfile
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from itertools import islice
from pathlib import PurePosixPath
from typing import ClassVar, Final

from adjudge.contracts import Sandbox, SandboxBackend, Subject
from adjudge.errors import SandboxError, StoreError, SubjectError, UsageError
from adjudge.evidence.differential import NO_COMMAND, ask, clean_tree
from adjudge.evidence.gradedtree import graded_tree, laid_over
from adjudge.evidence.outlining import Outliner, OutlineUnavailable
from adjudge.evidence.reference import Reference, find_reference
from adjudge.evidence.testcommand import BaselineFiles, find_command, plain_baseline
from adjudge.evidence.tests.suite import find_files
from adjudge.evidence.unseen import HIDDEN_PASS, NO_HIDDEN, failing_runs
from adjudge.records.evidence import CommandRun, GradedTree, NearInputs
from adjudge.records.nearby import NearAnswers, NearCase, NearInput, NearSite, NearTry
from adjudge.records.sandbox import Ended, ExecRequest, Mount, SandboxReport, SandboxSpec
from adjudge.syntax.grammars import MAX_SOURCE_BYTES, grammar_of
from adjudge.syntax.nearby.data import MAX_DATA_BYTES, near_data
from adjudge.syntax.nearby.inputs import takes_others
from adjudge.syntax.productcode.files import OF_TESTS

__all__ = ["NearInputsCollector"]

_TURNS: Final = 12
"""How often tests run with other inputs, and no more than most tests have literals."""
_TURN_S: Final = 60.0
"""How long one of these runs may take at the most."""
_GRACE_S: Final = 60.0
_MAX_FILES: Final = 60
_MAX_DATA_FILES: Final = 40
_DATA_TURN: Final = 4
"""In every so many runs, files of data among the tests are changed, and no literal."""
_MAX_SAID: Final = 32 * 1024 * 1024
_MAX_CASES: Final = 200
_MAX_SHOWN: Final = 200
_NOTHING: Final = frozenset({"?", "!"})
"""Answers that say nothing: an object nobody can look into, an error."""
_GENERIC: Final = re.compile(r"^go\s+1\.(\d+)", re.MULTILINE)
_FIRST_GENERIC: Final = 18
_ENOUGH: Final = 6
"""After so many runs in which nobody strays, nobody is going to."""
_EPOCH: Final = 1_500_000_000
Answers = Mapping[int, Sequence[str]]
"""By the number of the place that wrote them down, in the order of the calls."""
_WITHOUT_VET: Final = 'export GOFLAGS="${GOFLAGS:-} -vet=off"; '
"""Go looks for mistakes in tests before it runs them, which costs as much as compiling."""
_LAY: Final = 'rm -f -- "$@" && tar -xf -'


class NearInputsCollector:
    """Has tests run with other inputs, over a reference solution and over the attempt.

    Args:
        backend: Where sandboxes come from, when one is needed: most attempts give no cause.
        base: What every sandbox of the task has in common.
    """

    kind: ClassVar[str] = "near_inputs"
    cost: ClassVar[int] = 2
    asks: ClassVar[bool] = True

    def __init__(self, backend: Callable[[], SandboxBackend], base: SandboxSpec) -> None:
        self._backend = backend
        self._base = base
        self.reports: list[SandboxReport] = []
        """How each sandbox came about, for provenance."""

    async def collect(self, request: NearInputs, subject: Subject) -> NearAnswers:
        """Ask, as far as there is cause to."""
        if not request.unseen:
            return NearAnswers(why=NO_HIDDEN)
        try:
            reference = find_reference(request.reference, subject)
            if reference is None:
                return NearAnswers(why="the task has no reference solution to compare with")
            if not await failing_runs(request.unseen, subject):
                return NearAnswers(why=HIDDEN_PASS)
            files = BaselineFiles(await asyncio.to_thread(plain_baseline, subject))
            found = await asyncio.to_thread(find_command, request.command, files)
            if found is None:
                return NearAnswers(why=NO_COMMAND)
            tree = clean_tree(found.command)
            visible = CommandRun(command=found.command, timeout_s=request.timeout_s, tree=tree)
            seen = (await ask(subject, visible)).result
            if seen.ended is not Ended.EXITED or seen.exit_code != 0:
                return NearAnswers(why="the visible tests fail")
            written = await asyncio.to_thread(_write_turns, files, subject)
            if not written.sites:
                return NearAnswers(why="no visible test is in a language whose inputs can be changed")
            limit_s = min(request.timeout_s, _TURN_S)
            right, given = await self._ask(reference, subject, found.command, written, limit_s)
        except (UsageError, StoreError) as error:
            return NearAnswers(why=error.message)
        told = NearAnswers(command=found.command, turns=len(right.turns))
        if not right.first or not given.first:
            who = "the attempt" if right.first else "the reference solution"
            why = f"visible tests that write down what they are answered do not run over {who}"
            return told.model_copy(update={"why": why})
        return _compare(written, right, given, told)

    async def _ask(
        self, reference: Reference, subject: Subject, command: str, written: _Written, limit_s: float
    ) -> tuple[_Said, _Said]:
        """What tests are answered by the reference solution, and by the attempt."""
        sides = _Said(), _Said()
        within_s = limit_s * (len(written.turns) + 2) + _GRACE_S
        try:
            async with asyncio.timeout(within_s), AsyncExitStack() as stack:
                right = await self._start(stack, reference.tree, subject, limit_s, reference.mounts)
                given = await self._start(stack, clean_tree(command), subject, limit_s)
                await reference.solve(right)

                async def run(turn: _Turn) -> Sequence[Answers]:
                    both = (_run_turn(sandbox, command, turn) for sandbox in (right, given))
                    return await asyncio.gather(*both)

                for said, answers in zip(sides, await run(written.own[0]), strict=True):
                    said.first = answers
                for number, turn in enumerate(written.turns):
                    for said, answers in zip(sides, await run(turn), strict=True):
                        said.turns.append(answers)
                    if number + 1 == _ENOUGH and not any(_strayed(written, *sides)):
                        break
                for said, answers in zip(sides, await run(written.own[1]), strict=True):
                    said.last = answers
        except TimeoutError as error:
            raise SandboxError("the sandboxes did not come back in time") from error
        return sides

    async def _start(
        self,
        stack: AsyncExitStack,
        tree: GradedTree,
        subject: Subject,
        limit_s: float,
        mounts: Sequence[Mount] = (),
    ) -> Sandbox:
        graded = await stack.enter_async_context(graded_tree(tree, subject))
        # Not mounted: tests that lie among these files are written anew, turn by turn.
        laid, _ = await laid_over(graded.tree, graded.place / "hidden", graded.hidden)
        spec = self._base.model_copy(
            update={
                "workspace": laid,
                "limits": self._base.limits.model_copy(update={"wall_s": limit_s}),
                "mounts": (*self._base.mounts, *mounts),
            }
        )
        sandbox = await stack.enter_async_context(await self._backend().start(spec))
        self.reports.append(sandbox.report)
        return sandbox


@dataclass(frozen=True)
class _Turn:
    """Test files as they are in one run."""

    number: int
    target: str
    files: Mapping[str, bytes]
    changed: Mapping[tuple[str, int], tuple[str, ...]]
    """What stands instead of a test's own inputs, by file and where the test begins."""


@dataclass
class _Written:
    own: list[_Turn] = field(default_factory=list)
    """Two with the tests' own inputs."""
    turns: list[_Turn] = field(default_factory=list)
    """With others."""
    sites: dict[int, tuple[str, NearSite]] = field(default_factory=dict)


@dataclass
class _Said:
    """What one side answers."""

    first: Answers = field(default_factory=dict)
    """To the tests' own inputs."""
    turns: list[Answers] = field(default_factory=list)
    last: Answers | None = None
    """To the tests' own inputs once more; None where nobody asked yet."""

    def steady(self, site: int) -> Sequence[str]:
        """What a place is answered with the tests' own inputs; nothing where that is not always the same."""
        found = self.first.get(site, ())
        return found if self.last is None or self.last.get(site, ()) == found else ()


@dataclass(frozen=True)
class _Writer:
    """Writes the baseline's tests anew."""

    outliner: Outliner
    files: BaselineFiles
    sources: Mapping[str, bytes]
    data: Mapping[str, bytes]
    """Files that lie among the tests."""
    seed: str
    target: str

    def write(self, number: int, turn: int) -> tuple[_Turn, dict[int, tuple[str, NearSite]]]:
        """All test files for one run.

        Args:
            number: Of the run.
            turn: Which inputs; 0 for the tests' own. In one of four it is data that are changed, where there
                are any, and nothing else.
        """
        of_data = bool(self.data) and turn % _DATA_TURN == 0
        target = f"{self.target}-{number}"
        texts: dict[str, bytes] = {}
        changed: dict[tuple[str, int], list[NearInput]] = {}
        sites: dict[int, tuple[str, NearSite]] = {}
        for path, source in self.sources.items():
            first = len(sites) + 1
            try:
                made = self.outliner.near(
                    path,
                    source,
                    first=first,
                    turn=0 if of_data else turn,
                    target=target,
                    seed=self.seed,
                    generic=not path.endswith(".go") or _is_generic(path, self.files),
                )
            except OutlineUnavailable:
                continue
            if made is None:
                continue
            sites |= {first + index: (path, site) for index, site in enumerate(made.sites)}
            texts[path] = made.text.encode()
            for one in made.changed:
                changed.setdefault((path, one.unit), []).append(one)
            folder = path.rpartition("/")[0]
            for name, text in made.beside.items():
                texts[f"{folder}/{name}" if folder else name] = text.encode()
        for path, data in self.data.items():
            other = (
                near_data(data, number=turn // _DATA_TURN - 1, seed=f"{self.seed} {path}")
                if of_data and turn
                else None
            )
            texts[path] = data if other is None else other
        shown = {key: tuple(f"{one.line}: {one.text}" for one in inputs) for key, inputs in changed.items()}
        return _Turn(number, target, texts, shown), sites


def _write_turns(files: BaselineFiles, subject: Subject) -> _Written:
    sources = {
        path: text.encode()
        for path in files.test_files()[:_MAX_FILES]
        if (text := files.text(path)) is not None and len(text) <= MAX_SOURCE_BYTES
    }
    seed = subject.change_set.digest.removeprefix("sha256:")[:16]
    written = _Written()
    with Outliner() as outliner:
        writer = _Writer(
            outliner, files, sources, _data_of_tests(files), seed, f"/tmp/adjudge-near-{secrets.token_hex(8)}"
        )
        for number, turn in enumerate((0, *range(1, _TURNS + 1), 0)):
            made, written.sites = writer.write(number, turn)
            (written.turns if turn else written.own).append(made)
    return written


def _data_of_tests(files: BaselineFiles) -> dict[str, bytes]:
    def wanted(path: str) -> bool:
        return not OF_TESTS.isdisjoint(path.lower().split("/")[:-1]) and grammar_of(path) is None

    found: dict[str, bytes] = {}
    for path in islice(find_files(files.root, wanted), _MAX_DATA_FILES):
        with (files.root / path).open("rb") as file:
            data = file.read(MAX_DATA_BYTES + 1)
        # What has nothing to change is left where it is.
        if near_data(data, number=0, seed="") is not None:
            found[path] = data
    return found


def _is_generic(path: str, files: BaselineFiles) -> bool:
    """Whether the module of a Go file is of a version that has type parameters."""
    folder = path
    while folder:
        folder = folder.rpartition("/")[0]
        text = files.text(f"{folder}/go.mod" if folder else "go.mod")
        if text is not None:
            version = _GENERIC.search(text)
            return version is None or int(version[1]) >= _FIRST_GENERIC
    return True


async def _run_turn(sandbox: Sandbox, command: str, turn: _Turn) -> Answers:
    """Have tests run with the inputs of a turn, and read what they wrote down."""
    laid = await sandbox.exec(
        ExecRequest(argv=("/bin/sh", "-c", _LAY, "sh", *turn.files), stdin=_archive(turn))
    )
    if laid.ended is not Ended.EXITED or laid.exit_code != 0:
        raise SandboxError("tests with other inputs cannot be written")
    await sandbox.exec(ExecRequest(shell=_WITHOUT_VET + command))
    try:
        data = await sandbox.read_file(PurePosixPath(turn.target), max_bytes=_MAX_SAID)
    except (FileNotFoundError, SubjectError):
        return {}
    return _parse_answers(data)


def _archive(turn: _Turn) -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w", format=tarfile.PAX_FORMAT, errors="surrogateescape") as tar:
        for path, data in turn.files.items():
            member = tarfile.TarInfo(path)
            # Python knows by time and size whether it compiled a file before.
            member.mode, member.size, member.mtime = 0o644, len(data), _EPOCH + turn.number * 60
            tar.addfile(member, io.BytesIO(data))
    return buffer.getvalue()


def _parse_answers(data: bytes) -> Answers:
    """Answers by place, in the order of the calls; lines of others are passed over."""
    found: dict[int, list[str]] = {}
    for line in data.split(b"\n"):
        process, number, answer = (*line.split(b" ", 2), b"", b"")[:3]
        if process.isdigit() and number.isdigit() and len(number) < 9:
            found.setdefault(int(number), []).append(answer.decode("utf-8", "replace"))
    return found


def _compare(written: _Written, right: _Said, given: _Said, told: NearAnswers) -> NearAnswers:
    cases = list(_cases(written, right, given))
    return told.model_copy(
        update={
            "followed": sum(any(one.right and one.moved for one in case.tries) for case in cases),
            "strayed": tuple(islice(filter(_strays, cases), _MAX_CASES)),
        }
    )


def _strayed(written: _Written, right: _Said, given: _Said) -> Iterator[NearCase]:
    return filter(_strays, _cases(written, right, given))


def _strays(case: NearCase) -> bool:
    return any(not one.right for one in case.tries)


def _cases(written: _Written, right: _Said, given: _Said) -> Iterator[NearCase]:
    """Answers that both give to the tests' own inputs, with those to others that say something."""
    for number, (path, site) in written.sites.items():
        expected, answered = right.steady(number), given.steady(number)
        if not expected or len(expected) != len(answered) or _is_unordered(number, right, given):
            continue
        for call, (one, other) in enumerate(zip(expected, answered, strict=True)):
            if one != other or one in _NOTHING:
                continue
            tries = tuple(_tries(number, call, one, written, right, given))
            if tries:
                shown = one[:_MAX_SHOWN]
                yield NearCase(path=path, line=site.line, call=call, answer=shown, tries=tries)


def _tries(
    number: int, call: int, before: str, written: _Written, right: _Said, given: _Said
) -> Iterator[NearTry]:
    path, site = written.sites[number]
    own = right.steady(number)
    for turn, *sides in zip(written.turns, right.turns, given.turns, strict=False):
        expected, answered = (said.get(number, ()) for said in sides)
        # Where the right test ends early, nobody knows which call is which.
        if len(expected) != len(own) or expected[call] in _NOTHING:
            continue
        answer = answered[call] if call < len(answered) else None
        moved = expected[call] != before
        # It may be what another test asks.
        if moved and takes_others(turn.number) and expected[call] in own:
            continue
        if moved or answer != before:
            yield NearTry(
                inputs=turn.changed.get((path, site.unit), ()),
                expected=expected[call][:_MAX_SHOWN],
                answered=None if answer is None else _shown(answer, expected[call]),
                moved=moved,
            )


def _shown(answer: str, expected: str) -> str:
    """An answer, cut as the right one is, but still another where it is another."""
    cut = answer[:_MAX_SHOWN]
    return cut if answer == expected or cut != expected[:_MAX_SHOWN] else f"{cut} …"


def _is_unordered(number: int, right: _Said, given: _Said) -> bool:
    """Whether the same answers came in another order: then nobody knows which call is which."""
    return any(
        one.get(number) != other.get(number)
        and Counter(one.get(number, ())) == Counter(other.get(number, ()))
        for one, other in [(right.first, given.first), *zip(right.turns, given.turns, strict=True)]
    )
