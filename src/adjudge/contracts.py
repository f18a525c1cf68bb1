"""Every seam in one file. Implementations are found through `adjudge.catalog`, never imported by name.

A protocol says what its two sides may rely on; the suites in `adjudge.testing` check the same sentences on
every implementation.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from pathlib import Path, PurePosixPath
from types import MappingProxyType
from typing import Any, BinaryIO, ClassVar, Literal, NamedTuple, Protocol, Self, TypeVar

from adjudge.records.annotation import Annotation
from adjudge.records.attack import AttackPlan, AttackTarget
from adjudge.records.base import BlobRef, Record
from adjudge.records.change import ChangeSet, EntryType, FileChange, Hunk
from adjudge.records.evaluation import Evaluation
from adjudge.records.evidence import AnyRequest, EvidenceRequest, RequestFor
from adjudge.records.judging import Juror, ProviderReply, ProviderRequest
from adjudge.records.listing import RunFilter, RunSummary, ScorerTally
from adjudge.records.run import AgentOutcome, Attempt, Experiment, Run
from adjudge.records.sandbox import (
    ExecRequest,
    ExecResult,
    LeftProcess,
    OutsideWrite,
    SandboxReport,
    SandboxSpec,
    SandboxSupport,
    WorkspaceTree,
)
from adjudge.records.score import ScorerConfig, ScorerOutcome
from adjudge.records.task import RunLimits, Task
from adjudge.records.testreport import TestReport
from adjudge.records.trace import TraceItem, TraceSummary

__all__ = [
    "Agent",
    "AgentConfig",
    "AgentNeeds",
    "AgentPlace",
    "AgentSession",
    "Attack",
    "BlobStore",
    "BlobWriter",
    "Collector",
    "Contents",
    "EvaluationStore",
    "Evidence",
    "GradedSubject",
    "KeptBlobs",
    "OutputObserver",
    "Provider",
    "RunStore",
    "Sandbox",
    "SandboxBackend",
    "Scorer",
    "Subject",
    "TestReportFormat",
    "TraceFormat",
    "TraceSource",
    "WorkspaceEntry",
]

Answer = TypeVar("Answer")
Config_contra = TypeVar("Config_contra", bound=ScorerConfig, contravariant=True)
AgentConfig_contra = TypeVar("AgentConfig_contra", bound="AgentConfig", contravariant=True)

OutputObserver = Callable[[Literal["stdout", "stderr"], bytes], None]
"""Called with each chunk of output as it arrives, in order per stream. It must not block."""


class BlobWriter(Protocol):
    """Bytes on their way into a blob store. Either `commit` or `abort` ends it."""

    def write(self, data: bytes) -> None:
        """Append `data`."""

    def commit(self, *, size_bytes: int | None = None) -> BlobRef:
        """Keep the bytes. `size_bytes` says how many there were in all when some were dropped on the way."""

    def abort(self) -> None:
        """Forget the bytes. Harmless after `commit`."""


class BlobStore(Protocol):
    """Content-addressed bytes."""

    def writer(self) -> BlobWriter:
        """Start a new blob, streamed."""

    def open(self, ref: BlobRef) -> BinaryIO:
        """Open a stored blob for reading. Raises `StoreError` when it is missing or damaged.

        Damage that shows only in the digest is raised where the end is read.
        """

    def has(self, digest: str) -> bool:
        """Whether a blob is kept here."""


class KeptBlobs(BlobStore, Protocol):
    """A blob store that lasts, with what it takes to look after it."""

    def age_s(self, digest: str) -> float | None:
        """For how long a blob has been here since it was last written; None when it is not."""

    def digests(self) -> Iterator[str]:
        """Every blob, in no order. What is added meanwhile may be left out."""

    def remove(self, digest: str) -> int:
        """Remove a blob, if it is there; returns how many bytes became free."""

    def sweep(self, older_than_s: float) -> int:
        """Remove what writers that are no more left unfinished; returns how many."""


class Sandbox(Protocol):
    """A started sandbox: a private copy of a workspace in which commands of an untrusted party run.

    Execs of one sandbox run one at a time (a second waits) and share the workspace, /tmp and HOME; every
    process an exec leaves behind is ended when it returns, unless the request says `keep`. An async context
    manager that discards on exit.
    """

    @property
    def report(self) -> SandboxReport:
        """How this sandbox came about."""

    async def exec(
        self,
        request: ExecRequest,
        *,
        on_output: OutputObserver | None = None,
        stdin: int | None = None,
    ) -> ExecResult:
        """Run a command to its end. Failure of the command is a result; only our own failure raises.

        Cancelling the awaiting task ends the whole process tree before the cancellation propagates.

        Args:
            request: The command.
            on_output: Sees its output as it arrives.
            stdin: A descriptor it reads from instead of `request.stdin`, such as a pipe that is written to
                while it runs. Duplicated; closing it stays with the caller.
        """

    async def enter(
        self,
        request: ExecRequest,
        *,
        on_output: OutputObserver | None = None,
        stdin: int | None = None,
    ) -> ExecResult:
        """Run a command beside the one that runs, or beside what is kept, without waiting for its turn.

        It sees the same processes, network and files, as the same user and without any capability; with
        nothing to join it is an `exec` like any other. What it leaves behind stays with the rest.
        """

    async def freeze(self) -> tuple[LeftProcess, ...]:
        """Keep every process from running, and say which there are; a command that runs is ended first.

        Nothing that was kept runs between the return of this and `thaw`, or the end.
        """

    async def thaw(self) -> None:
        """Let what was frozen run again."""

    def outside_writes(self) -> tuple[OutsideWrite, ...] | None:
        """What commands wrote outside the workspace so far; None when the sandbox cannot tell."""

    async def read_file(self, path: PurePosixPath, *, max_bytes: int) -> bytes:
        """Read a regular file as the sandbox sees it, at most `max_bytes` of it.

        Never follows a symlink in any part of the path, never opens anything but a regular file.

        Raises:
            FileNotFoundError: Nothing is there.
            SubjectError: Something is there, but not a regular file reachable without a symlink.
        """

    async def write_file(self, path: PurePosixPath, data: bytes, *, mode: int = 0o644) -> None:
        """Write a regular file in the workspace, owned by the sandbox's user, creating parents.

        Whatever lies at `path` is replaced, never followed; a symlink or non-directory among its parents
        is a `SubjectError`.
        """

    async def end_processes(self) -> None:
        """End every process; a running exec returns `cancelled`. None is alive when this returns."""

    def tree(self) -> WorkspaceTree:
        """The workspace on the host's disk, for capture and for snapshots. Valid until `discard`."""

    async def discard(self) -> None:
        """End every process and remove everything the sandbox left: files, mounts, cgroups, leases."""

    async def __aenter__(self) -> Self: ...

    async def __aexit__(self, *exc: object) -> None: ...


class SandboxBackend(Protocol):
    """A way of making sandboxes. Constructed without arguments; cheap until `start`."""

    name: ClassVar[str]

    def probe(self) -> SandboxSupport:
        """What this backend can do on this machine, found out by trying it. Never raises."""

    async def start(self, spec: SandboxSpec, *, blobs: BlobStore | None = None) -> Sandbox:
        """Start a sandbox. With `blobs`, command output is kept there whole (up to the output limit).

        Raises:
            SandboxUnavailable: This machine cannot run the backend, with what to install as the hint.
            SandboxError: It could, but not this time.
        """


class Evidence(Protocol):
    """What was collected for a scorer: exactly what it asked for, nothing more."""

    def __getitem__(self, request: RequestFor[Answer]) -> Answer:
        """The answer to a request the scorer declared in `needs`. Any other request is a `KeyError`."""


class Scorer(Protocol[Config_contra]):
    """One check. Constructed without arguments, stateless, pure: a value in, a value out.

    The docstring has the sections *Measures*, *Evidence*, *How it is fooled* and *Example*; the reference
    is generated from it and from `Config`.
    """

    name: ClassVar[str]
    """What a recipe writes after `type:`."""
    version: ClassVar[str]
    """Changes whenever equal evidence may give another outcome."""
    required_by_default: ClassVar[bool]
    """Under `scorers:`. Under `graders:` nothing is required unless said."""
    advisory_only: ClassVar[bool]
    """Never gates and takes no weight, whatever the recipe says (`llm_judge`)."""

    @property
    def Config(self) -> type[ScorerConfig]:
        """The type's own fields. A property here so that a nested class satisfies it."""

    def needs(self, config: Config_contra) -> Sequence[AnyRequest]:
        """What evidence this check reads."""

    def score(self, config: Config_contra, evidence: Evidence) -> ScorerOutcome:
        """Turn the evidence into a verdict. Raising makes the verdict ERROR, not the attempt's FAIL."""


class WorkspaceEntry(NamedTuple):
    """What lies at a path of the final workspace."""

    type: EntryType
    size_bytes: int | None = None
    """Of a regular file."""
    target: str | None = None
    """Of a symlink, decoded as paths are."""


class Contents(Protocol):
    """The bytes of both trees, wherever they are kept.

    A symlink's content is its target. Nothing but a regular file is ever opened, and no symlink followed.
    """

    def look(self, path: str) -> WorkspaceEntry | None:
        """What lies at a path of the final workspace, itself; None when nothing does.

        A path that leads through anything but directories leads nowhere.
        """

    def read(self, path: str, *, max_bytes: int) -> bytes | None:
        """A file of the final workspace, at most `max_bytes` of it; None when there is none to read."""

    def walk(self) -> Iterator[tuple[str, WorkspaceEntry]]:
        """Every file of the final workspace in the order of paths' bytes, `.git` left out.

        Folders are entered, never named; what may not be listed is passed over.
        """

    def hunks(self, change: FileChange) -> tuple[Hunk, ...] | None:
        """Which lines of a file changed, litter and files left out of the diff included.

        None when it has no lines to compare: binary, unreadable, or too large.
        """

    def old(self, change: FileChange, *, max_bytes: int) -> bytes:
        """What lay at the change's path in the baseline, at most `max_bytes` of it; empty for an addition.

        Raises:
            CaptureError: The baseline cannot be read.
        """

    def new(self, change: FileChange, *, max_bytes: int) -> bytes:
        """What lies at its path in the final workspace, at most `max_bytes` of it; empty for a deletion.

        Raises:
            WorkspaceUnreadable: It cannot be read.
        """


class TraceSource(Protocol):
    """The trace of an attempt, wherever it is kept. Everything in it is what the agent says about itself."""

    def events(self) -> Iterator[TraceItem]:
        """Every event in order, read as it is asked for. Raises `TraceUnreadable` where it is no trace."""

    def summary(self) -> TraceSummary:
        """All of it in figures; made once. Raises `TraceUnreadable` where it is no trace."""


class Subject(NamedTuple):
    """What is graded: a stopped attempt, and all that collectors may look at."""

    task: Task
    change_set: ChangeSet
    baseline: WorkspaceTree | None
    """The baseline as a directory, where there is one on disk; otherwise `make_baseline` makes one."""
    workspace: WorkspaceTree
    """The final workspace. Nobody writes to it; sandboxes start from snapshots of it."""
    contents: Contents
    """Both sides of every change."""
    scenario_files: Path | None = None
    """Where the files that the recipe refers to lie, each at its own path; None when there is no such place.
    They are what the task was made of as long as they have the digests in `task.files`."""
    make_baseline: Callable[[], WorkspaceTree] | None = None
    """Writes the baseline out as a directory that lasts as long as the grading, once however often it is
    called, and from any thread. Only needed where `baseline` is None."""
    live: Sandbox | None = None
    """The sandbox the attempt was made in, with everything in it frozen; None when there is none, or when no
    scorer asks for it."""
    unstable: Mapping[str, frozenset[str]] = MappingProxyType({})
    """Tests that are recorded as unstable on the task's baseline, by the digest of the request that runs
    them. Their results are shown and count for nothing."""
    trace: TraceSource | None = None
    """How the agent worked; None when the attempt came without a trace."""
    response: str | None = None
    """What the agent said last; None when nobody recorded it."""
    outside_writes: tuple[OutsideWrite, ...] | None = None
    """What was written outside the workspace; None where no run was watched or the sandbox cannot tell."""
    left_processes: tuple[LeftProcess, ...] | None = None
    """What was alive when the agent was stopped; None where no run was watched."""
    ask: Callable[[AnyRequest], Awaitable[Any]] | None = None
    """For collectors that build on other evidence: has a request answered, once for all who ask for it, and
    raises as its collector does. None where nothing is run."""
    planned: tuple[AnyRequest, ...] = ()
    """What the scorers of the recipe ask for, for collectors that build on what they find."""
    expects: Callable[[AnyRequest], bool] | None = None
    """Whether a request is answered already, or will be, whoever asked for it: then asking costs nothing."""


class Collector(Protocol):
    """Answers requests of one kind. Constructed by the engine with what it needs to do so."""

    kind: ClassVar[str]
    cost: ClassVar[int]
    """Cheap before costly: 0 reads what is in memory, 1 reads files, 2 runs code, 3 asks a model."""

    async def collect(self, request: Any, subject: Subject) -> Record:
        """Answer one request.

        At cost 0 and 1 it never suspends, so that a grading which runs no code needs no event loop.

        Raises:
            SubjectError: The attempt made it impossible; the scorers that need it FAIL with this reason.
            InfraError: We could not; retried once, then the scorers that need it are in ERROR.
        """


class GradedSubject(NamedTuple):
    """A grading with what it was concluded from: enough to look at it again without the workspace."""

    evaluation: Evaluation
    task: Task
    change_set: ChangeSet | None
    """None when there was nothing to compare, such as after a patch that does not apply."""
    evidence: tuple[tuple[EvidenceRequest, Record], ...] = ()
    """What code that was run did."""
    attempt: Attempt | None = None
    """The facts of the stop, where nobody recorded a run of its own; None: only the change set is known."""


class EvaluationStore(Protocol):
    """Keeps evaluations."""

    def save(self, graded: GradedSubject) -> object:
        """Keep an evaluation, whole or not at all. Raises `StoreError` when it cannot be."""

    def load(self, evaluation_id: str) -> Evaluation:
        """An evaluation by its id or a beginning that no other has, with its annotations and what follows.

        Raises `UsageError` when none or several match.
        """

    def annotate(self, evaluation_id: str, annotation: Annotation) -> None:
        """Add a person's verdict beside an evaluation, which it never changes. Kept once this returns."""

    def annotated(self) -> Iterator[Evaluation]:
        """Every evaluation that has annotations, oldest first, streamed."""


class AgentConfig(Record):
    """Base of every agent's own fields. Each field has a default or is required, and a docstring."""


class AgentNeeds(NamedTuple):
    """What an agent needs to start, known before anything is spent."""

    workspace: bool = True
    """Whether it needs a workspace, in a sandbox."""
    answers_only: bool = False
    """Whether it cannot change a workspace, so that it is refused where there is one (`http`)."""
    network: bool = False
    credentials: tuple[str, ...] = ()
    """Names of environment variables; the only ones of ours that reach it. A missing one is an
    infrastructure fault."""
    programs: tuple[str, ...] = ()
    """Programs that have to be found inside the sandbox."""
    expose: tuple[Path, ...] = ()
    """Host paths of its installation, shown read-only at the same place."""
    solution: bool = False
    """Whether it is shown the reference solution, at /solution: for `oracle` only."""
    continues: bool = False
    """Whether it can take a further turn; sessions refuse agents that cannot."""


class AgentPlace(NamedTuple):
    """Where and on what an agent works."""

    instruction: str
    model: str | None
    limits: RunLimits
    sandbox: Sandbox | None
    """Started with the workspace; None for agents without one."""
    workspace: PurePosixPath
    """The workspace inside the sandbox."""
    task: Task
    task_files: Path | None
    """The frozen files of the task on the host: for `oracle` only, never shown to an agent."""
    at_start: Callable[[str], tuple[int, bytes] | None]
    """What lies at a path of the workspace as it starts: git's mode and the content; None for nothing."""
    blobs: BlobStore
    credentials: Mapping[str, str]
    observe: Callable[[TraceItem], None]
    """Called with each event of the trace as it becomes known, from any thread. It does not block."""


class AgentSession(Protocol):
    """An attempt under way. An async context manager that leaves nothing running of its own."""

    async def turn(self, message: str) -> str:
        """Give the agent a message of the user (the instruction first) and wait for its reply.

        A turn that fails ends the session: `finish` tells how. Only our own failure raises `InfraError`.
        """

    @property
    def ended(self) -> bool:
        """Whether no further turn is possible."""

    async def finish(self) -> AgentOutcome:
        """What came of it, over all turns. The caller ends processes of the agent that are still alive."""

    async def __aenter__(self) -> Self: ...

    async def __aexit__(self, *exc: object) -> None: ...


class Agent(Protocol[AgentConfig_contra]):
    """What turns an instruction into changes. Constructed without arguments, stateless."""

    name: ClassVar[str]

    @property
    def Config(self) -> type[AgentConfig]:
        """The agent's own fields. A property here so that a nested class satisfies it."""

    def needs(self, config: AgentConfig_contra) -> AgentNeeds:
        """What it takes to start it. Raises `UsageError` for a set-up that cannot work."""

    def start(self, config: AgentConfig_contra, place: AgentPlace) -> AgentSession:
        """Begin an attempt. Cheap: nothing runs before the first turn."""


class Attack(Protocol):
    """A way of getting credit without doing the work. Constructed without arguments, stateless, pure.

    The docstring's first line says what it does. It never solves the task: whatever it gets, it gets by
    cheating.
    """

    name: ClassVar[str]
    """What `--show` and reports call it."""
    family: ClassVar[str]
    """The family of tampering that it belongs to: one of those in `error_taxonomy`."""
    technique: ClassVar[str]
    """The trick, in a few words."""
    languages: ClassVar[tuple[str, ...]]
    """Languages it knows, by the names of `AttackTarget.language`; empty: it needs none."""

    def plan(self, target: AttackTarget) -> AttackPlan | str:
        """What it does to a workspace; a text says why nothing can be done there, in a few words."""


class Provider(Protocol):
    """Asks language models. Constructed with the juror it serves and the key, if one is needed."""

    name: ClassVar[str]
    default_key_env: ClassVar[str | None]
    """The environment variable its key is usually in; None when it needs none."""

    def __init__(self, juror: Juror, key: str | None) -> None: ...

    async def ask(self, request: ProviderRequest) -> ProviderReply:
        """Make one call, without trying again.

        Raises:
            ProviderError: There was no answer.
        """

    async def close(self) -> None:
        """Let go of connections."""


class RunStore(Protocol):
    """Keeps experiments, runs and what was concluded of them. Synchronous, safe for many writers at once.

    Every method is one transaction. Facts are only ever added: an evaluation is never edited, a regrade adds
    one and says which is current.
    """

    def add_experiment(self, experiment: Experiment) -> None:
        """Record an experiment before its first run."""

    def experiment(self, id_or_prefix: str) -> Experiment:
        """An experiment by its id. Raises `UsageError` when none or several match."""

    def keep_task(self, task: Task) -> None:
        """Record a task, once however often it is called."""

    def task(self, digest: str) -> Task:
        """A task by its digest."""

    def save_run(self, run: Run) -> None:
        """Record where a run stands now. A finished run is never changed."""

    def run(self, id_or_prefix: str) -> Run:
        """A run by its id. Raises `UsageError` when none or several match."""

    def runs(self, *, experiment_id: str | None = None) -> Iterator[Run]:
        """Runs, newest first, streamed."""

    def save_evaluation(self, run_id: str, graded: GradedSubject, *, current: bool = True) -> None:
        """Add an evaluation of a run, whole or not at all."""

    def evaluations(self, run_id: str) -> tuple[Evaluation, ...]:
        """Every evaluation of a run, oldest first, annotations included."""

    def current_evaluation(self, run_id: str) -> Evaluation | None:
        """The one that counts now."""

    def evidence(self, evaluation_id: str) -> tuple[tuple[EvidenceRequest, Record], ...]:
        """What an evaluation was concluded from. Kinds this version does not know are left out."""

    def summaries(self, wanted: RunFilter | None = None, *, limit: int | None = None) -> Iterator[RunSummary]:
        """Runs with their current evaluations as flat rows, newest first, streamed."""

    def scorer_tallies(self, wanted: RunFilter | None = None) -> Iterator[ScorerTally]:
        """How often each scorer of current evaluations came to which verdict, by agent, model and task."""


class TestReportFormat(Protocol):
    """Reads the reports of one kind of test runner. Constructed without arguments, stateless, pure."""

    name: ClassVar[str]
    """What a recipe writes after `format:`, and `TestReport.format`."""

    def recognises(self, data: bytes, filename: str) -> bool:
        """Whether `data` looks like this format, by its content before its name."""

    def parse(self, data: bytes) -> TestReport:
        """Read a whole report. Whatever the bytes, this returns a report or raises the one error below.

        Raises:
            ReportUnreadable: The bytes are not such a report, with the place where that shows.
        """


class TraceFormat(Protocol):
    """Reads the traces of one kind of agent. Constructed without arguments, stateless, pure."""

    name: ClassVar[str]
    """What `--format` and an agent's configuration call it, and `TraceSummary.format`."""

    def recognises(self, head: bytes, filename: str) -> bool:
        """Whether a trace that begins with `head` looks like this format, by its content before its name."""

    def events(self, stream: BinaryIO) -> Iterator[TraceItem]:
        """Every event in order, as it is read: memory is bounded, whatever the size of the trace.

        What cannot be read as an event is a `BrokenLine`, and reading goes on after it.

        Raises:
            TraceUnreadable: The whole is not such a trace, with the place where that shows.
        """
