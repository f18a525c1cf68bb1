"""One grading of one subject, in three steps: begin, wait, conclude.

Only `wait` waits for anything (sandboxes), so only it is asynchronous; a grading whose recipe runs no code
has nothing to wait for and needs no event loop. The steps before and after are plain functions that a
synchronous caller calls and an asynchronous one puts on a thread.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType, TracebackType
from typing import Any, Self

from adjudge.contracts import Collector, Subject
from adjudge.engine.collect import RUNS_CODE, Piece, collect_at_once, collect_one
from adjudge.engine.collectors import Means, make_collector, make_outliner
from adjudge.engine.plan import Plan, make_plan
from adjudge.engine.score import redacted, score_planned
from adjudge.errors import AdjudgeError, InfraError, SubjectError
from adjudge.formats.redaction import Redactor
from adjudge.records.base import Record
from adjudge.records.evidence import AnyRequest, GradedTree, Isolation
from adjudge.records.sandbox import SandboxReport
from adjudge.records.score import Recipe, ScorerResult

__all__ = ["Grading"]


class Grading:
    """Grades one subject; a context manager that lets go of what its scorers hold.

    Args:
        recipe: What to grade by.
        means: What collecting may need.
        jobs: How many sandboxes may run at once.
        unstable: Ids of tests that do not count, by the name of the scorer that runs them.
        known: What code did when it was run before on the same subject in the same environment, by the digest
            of the request. It is not run again.
    """

    def __init__(
        self,
        recipe: Recipe,
        means: Means,
        *,
        jobs: int = 1,
        unstable: Mapping[str, frozenset[str]] = MappingProxyType({}),
        known: Mapping[str, Record] = MappingProxyType({}),
    ) -> None:
        self._recipe = recipe
        self._means = means
        self._jobs = jobs
        self._unstable = unstable
        self._known = known
        self._reused: list[tuple[str, AnyRequest]] = []
        self._plan: Plan | None = None
        self._subject: Subject | None = None
        self._collectors: dict[str, Collector] = {}
        self._parser: Any = None
        self._pending: list[tuple[str, AnyRequest]] = []
        self._live: list[tuple[str, AnyRequest]] = []
        self._settled: dict[int, ScorerResult] = {}
        self._not_live: tuple[str, ...] = ()
        self._gathered: dict[str, Piece] = {}
        self._asides: dict[str, tuple[AnyRequest, Piece]] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._plan is not None:
            self._plan.close()
        if self._parser is not None:
            self._parser.close()

    @property
    def runs_code(self) -> bool:
        """Whether `wait` has anything to wait for."""
        return bool(self._pending or self._live)

    @property
    def rests_on_code(self) -> bool:
        """Whether anything was concluded from code that ran, now or before."""
        return bool(self._pending or self._live or self._reused)

    @property
    def sandboxes(self) -> tuple[SandboxReport, ...]:
        """How every sandbox that was started came about."""
        return tuple(
            report for collector in self._collectors.values() for report in getattr(collector, "reports", ())
        )

    @property
    def warnings(self) -> tuple[str, ...]:
        """What a reader should know beside the rows."""
        told = tuple(piece.warning for piece in self._gathered.values() if piece.warning)
        return (*self._not_live, *told)

    @property
    def evidence(self) -> tuple[tuple[AnyRequest, Record], ...]:
        """What code that was run did: all that cannot be worked out again from the workspace."""
        ran = (*self._pending, *self._live, *self._reused)
        found = ((request, self._gathered[digest].answer) for digest, request in ran)
        return tuple((request, answer) for request, answer in found if answer is not None)

    @property
    def asides(self) -> tuple[tuple[AnyRequest, Record], ...]:
        """What code did that was run only for other evidence to build on."""
        return tuple(
            (request, piece.answer) for request, piece in self._asides.values() if piece.answer is not None
        )

    @property
    def redactor(self) -> Redactor:
        """Takes out what was found to be secret: a scorer that prints it would otherwise publish it."""
        return Redactor(
            secret for collector in self._collectors.values() for secret in getattr(collector, "secrets", ())
        )

    def begin(self, subject: Subject | SubjectError | InfraError) -> None:
        """Plan, and collect all that can be had at once.

        Args:
            subject: What is graded, or why there is nothing to grade: then every scorer that would have
                looked at it FAILs with a fault of the attempt, and is in ERROR with one of ours.
        """
        plan = self._plan = make_plan(self._recipe)
        if isinstance(subject, AdjudgeError):
            self._gathered = {digest: Piece(None, subject, 0.0) for digest in plan.requests}
            return
        if subject.live is None:
            self._not_live = tuple(
                f"{planned.spec.name}: isolation live ran as snapshot: no sandbox of an agent is there"
                for planned in plan.scorers
                if any(
                    _is_live(plan.requests[digest]) and digest not in self._known
                    for digest in planned.requests
                )
            )
        if self._unstable:
            subject = subject._replace(unstable=self._unstable_by_request(plan))
        subject = subject._replace(planned=tuple(plan.requests.values()))
        self._subject = subject
        at_once: list[tuple[int, str, AnyRequest]] = []
        for digest, request in plan.requests.items():
            collector = self._collector(request.kind)
            if isinstance(collector, AdjudgeError):
                self._gathered[digest] = Piece(None, collector, 0.0)
            elif collector.cost < RUNS_CODE:
                at_once.append((collector.cost, digest, request))
            elif digest in self._known:
                self._reused.append((digest, request))
                self._gathered[digest] = Piece(self._known[digest], None, 0.0)
            elif _is_live(request) and subject.live is not None:
                self._live.append((digest, request))
            else:
                self._pending.append((digest, request))
        at_once.sort(key=lambda item: item[0])
        if self._parser is not None:
            # It starts while what needs no parsing is collected.
            self._parser.warm(path for change in subject.change_set.changes for path in change.paths)
        wanted = [(digest, request) for _, digest, request in at_once]
        self._gathered |= collect_at_once(wanted, self._collectors, subject)
        if self._parser is not None:
            self._parser.close()

    async def wait(self) -> None:
        """Collect what runs code. Cancelling it leaves nothing running."""
        if not self.runs_code:
            return
        assert self._subject is not None
        # Loaded here so that a grading which runs no code never imports an event loop (70 ms).
        from adjudge.engine.concurrent import collect_concurrently  # noqa: PLC0415

        self._gathered |= await collect_concurrently(
            self._pending,
            self._collector,
            self._subject,
            jobs=self._jobs,
            known=self._known,
            asides=self._asides,
        )
        if self._live:
            await self._collect_live(self._subject)

    async def _collect_live(self, subject: Subject) -> None:
        """Last, in the recipe's order, one at a time: every other verdict stands before anything runs."""
        plan = self._plan
        assert plan is not None
        waiting = {digest for digest, _ in self._live}
        for number, planned in enumerate(plan.scorers):
            if waiting.isdisjoint(planned.requests):
                self._settled[number] = score_planned(planned, plan.requests, self._gathered)
        for digest, request in self._live:
            self._gathered[digest] = await collect_one(self._collectors[request.kind], request, subject)

    def conclude(self) -> tuple[ScorerResult, ...]:
        """Score every line of the recipe, in its order."""
        plan = self._plan
        assert plan is not None
        results = [
            self._settled.get(number) or score_planned(planned, plan.requests, self._gathered)
            for number, planned in enumerate(plan.scorers)
        ]
        hide = self.redactor
        return tuple(redacted(result, hide) for result in results) if hide else tuple(results)

    def void(self, error: SubjectError | InfraError) -> tuple[ScorerResult, ...]:
        """Score again as if nothing could have been collected: what was no longer holds."""
        assert self._plan is not None
        self._gathered = {
            digest: Piece(None, error, piece.duration_s) for digest, piece in self._gathered.items()
        }
        self._settled.clear()
        return self.conclude()

    def _unstable_by_request(self, plan: Plan) -> dict[str, frozenset[str]]:
        """Equal requests are one run, so what either scorer knows of it holds for both."""
        found: dict[str, frozenset[str]] = {}
        for planned in plan.scorers:
            for digest in planned.requests:
                ids = self._unstable.get(planned.spec.name, frozenset())
                found[digest] = found.get(digest, frozenset()) | ids
        return found

    def _collector(self, kind: str) -> Collector | AdjudgeError:
        """The collector for a kind, or why there is none on this machine."""
        if kind not in self._collectors:
            try:
                self._collectors[kind] = make_collector(kind, self._means, self._outliner)
            except InfraError as error:
                return error
        return self._collectors[kind]

    def _outliner(self) -> Any:
        if self._parser is None:
            self._parser = make_outliner()
        return self._parser


def _is_live(request: AnyRequest) -> bool:
    tree = getattr(request, "tree", None)
    return isinstance(tree, GradedTree) and tree.isolation is Isolation.LIVE
