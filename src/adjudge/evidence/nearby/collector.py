"""The collector of `NearInputs`: what is answered when visible tests hand over other inputs.

Only where hidden tests fail. The baseline's tests are written anew, several times, each time with a few of
their literals changed to the next ones, and made to write down what they are answered. They run over the
reference solution and over the attempt's product code, in one sandbox for each. Whoever solves a problem is
right for the neighbours of an input, too; whoever knows the input is right for it alone.
"""

from __future__ import annotations

import asyncio
import io
import tarfile
from collections.abc import Callable, Sequence
from contextlib import AsyncExitStack
from pathlib import PurePosixPath
from typing import ClassVar, Final

from adjudge.contracts import Sandbox, SandboxBackend, Subject
from adjudge.errors import SandboxError, StoreError, SubjectError, UsageError
from adjudge.evidence.differential import BASELINE, NO_COMMAND, ask, clean_tree
from adjudge.evidence.gradedtree import graded_tree, laid_over
from adjudge.evidence.nearby.comparing import Answers, Said, any_strays, compare_answers, parse_answers
from adjudge.evidence.nearby.turns import Turn, Written, write_turns
from adjudge.evidence.reference import Reference, find_reference
from adjudge.evidence.testcommand import BaselineFiles, find_command, plain_baseline
from adjudge.evidence.unseen import HIDDEN_PASS, NO_HIDDEN, failing_runs
from adjudge.records.evidence import CommandRun, GradedTree, NearInputs
from adjudge.records.nearby import NearAnswers
from adjudge.records.sandbox import Ended, ExecRequest, Mount, SandboxReport, SandboxSpec

__all__ = ["NearInputsCollector"]

_TURN_S: Final = 60.0
"""How long one of these runs may take at the most."""
_GRACE_S: Final = 60.0
_MAX_SAID: Final = 32 * 1024 * 1024
_ENOUGH: Final = 8
"""After so many runs in which nobody strays, nobody is going to."""
_EPOCH: Final = 1_500_000_000
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
            written = await asyncio.to_thread(write_turns, files, subject)
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
        return compare_answers(written, right, given, told)

    async def _ask(
        self, reference: Reference, subject: Subject, command: str, written: Written, limit_s: float
    ) -> tuple[Said, Said]:
        """What tests are answered by the reference solution, and by the attempt."""
        sides = Said(), Said()
        within_s = limit_s * (len(written.turns) + 2) + _GRACE_S
        try:
            async with asyncio.timeout(within_s), AsyncExitStack() as stack:
                right = await self._start(stack, reference.tree, subject, limit_s, reference.mounts)
                given = await self._start(stack, clean_tree(command), subject, limit_s)
                await reference.solve(right)
                async with AsyncExitStack() as inner:
                    untouched = await self._start(inner, BASELINE, subject, limit_s)
                    written.before = await _run_turn(untouched, command, written.own[0])

                async def run(turn: Turn) -> Sequence[Answers]:
                    both = (_run_turn(sandbox, command, turn) for sandbox in (right, given))
                    return await asyncio.gather(*both)

                for said, answers in zip(sides, await run(written.own[0]), strict=True):
                    said.first = answers
                for number, turn in enumerate(written.turns):
                    for said, answers in zip(sides, await run(turn), strict=True):
                        said.turns.append(answers)
                    if number + 1 == _ENOUGH and not any_strays(written, *sides):
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


async def _run_turn(sandbox: Sandbox, command: str, turn: Turn) -> Answers:
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
    return parse_answers(data)


def _archive(turn: Turn) -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w", format=tarfile.PAX_FORMAT, errors="surrogateescape") as tar:
        for path, data in turn.files.items():
            member = tarfile.TarInfo(path)
            # Python knows by time and size whether it compiled a file before.
            member.mode, member.size, member.mtime = 0o644, len(data), _EPOCH + turn.number * 60
            tar.addfile(member, io.BytesIO(data))
    return buffer.getvalue()
