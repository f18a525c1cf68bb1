"""Grade a workspace or a patch: from a scenario and a place to an evaluation.

`grade_now` is the door for callers without an event loop, `adjudge.workflows.grade_async` the other one.
Both walk the same job: prepare (find the recipe and the baseline, capture, collect what is cheap), wait (run
code), conclude (score, roll up, gates, document).
"""

from __future__ import annotations

import contextlib
import importlib
import os
import tempfile
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, NamedTuple, Self

from adjudge import catalog
from adjudge.capture.baseline import Baseline, directory_baseline, resolve_baseline, task_baseline
from adjudge.capture.changes import capture_changes
from adjudge.capture.fingerprint import fingerprint
from adjudge.capture.repository import find_git_directory
from adjudge.contracts import BlobStore, GradedSubject, SandboxBackend, Subject, TraceSource
from adjudge.engine.collectors import Means
from adjudge.errors import (
    BaselineNotFound,
    CaptureError,
    InfraError,
    SubjectChanged,
    SubjectError,
    UsageError,
)
from adjudge.records.change import ChangeSet
from adjudge.records.evaluation import Evaluation, GateResult
from adjudge.records.judging import JudgeConfig
from adjudge.records.run import Attempt
from adjudge.records.sandbox import WorkspaceTree
from adjudge.records.task import Scenario, Task
from adjudge.settings import Settings, load_settings
from adjudge.tasks.freeze import FrozenTask, freeze
from adjudge.tasks.load import is_task_directory
from adjudge.tasks.seeds import Seed, find_seed
from adjudge.tasks.stability import find_stability
from adjudge.tasks.trees import remove_tree
from adjudge.workflows.baseline_of import baseline_of
from adjudge.workflows.contents import TreeContents
from adjudge.workflows.grading import SubjectGrading
from adjudge.workflows.recipes import GradedBy, find_recipe

if TYPE_CHECKING:
    from adjudge.store.places import StorePlace
    from adjudge.store.runs import RunDatabase

__all__ = ["GradeJob", "GradeRequest", "grade_now"]


class GradeRequest(NamedTuple):
    """What to grade, and how. The arguments of `adjudge.grade`, which explains them."""

    scenario: str | Path | Scenario | None = None
    workspace: str | Path | None = None
    patch: str | Path | bytes | None = None
    baseline: str | Path | None = None
    jobs: int | None = None
    sandbox: str | None = None
    save: bool = False
    trace: str | Path | None = None
    trace_format: str | None = None
    response: str | Path | None = None
    judge: str | JudgeConfig | None = None
    remember: bool = True


def grade_now(request: GradeRequest) -> Evaluation:
    """Grade, and return when it is done.

    Raises:
        UsageError: Something was asked for that cannot be done: an invalid scenario, no baseline, …
        InfraError: We failed before there was anything to grade, or could not save what was.
    """
    with GradeJob(request) as job:
        job.prepare()
        if job.runs_code:
            # Loaded here: a grading that runs no code does without an event loop (70 ms).
            importlib.import_module("adjudge.workflows.grade_async").run_to_end(job.wait)
        job.conclude()
        if job.has_judge:
            importlib.import_module("adjudge.workflows.grade_async").run_to_end(job.judge)
        return job.finish()


class GradeJob:
    """One grading, as steps. A context manager that removes all it made."""

    def __init__(self, request: GradeRequest) -> None:
        self._request = request
        self._stack = contextlib.ExitStack()
        self._settings: Settings = load_settings()
        self._grading: SubjectGrading | None = None
        self._recipe: GradedBy | None = None
        self._tree: WorkspaceTree | None = None
        self._before: str | None = None
        self._change_set: ChangeSet | None = None
        self._patch_bytes: bytes | None = None
        self._baseline: Baseline | None = None
        self._fault: SubjectError | InfraError | None = None
        self._store: RunDatabase | None = None
        self._store_place: StorePlace | None = None
        self._trace: TraceSource | None = None
        self._response: str | None = None
        self._graded: GradedSubject | None = None
        self._subject: Subject | None = None
        self._judge: JudgeConfig | None = None
        self._scratch_blobs: BlobStore | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stack.close()

    @property
    def runs_code(self) -> bool:
        """Whether `wait` has anything to wait for."""
        return self._grading is not None and self._grading.runs_code

    def prepare(self) -> None:
        """Find recipe and baseline, capture the change set, collect what is cheap."""
        request = self._request
        if (request.workspace is None) == (request.patch is None):
            raise UsageError(
                "give either a workspace or a patch"
                if request.workspace is None
                else "a workspace and a patch cannot be graded together",
                hint="--workspace DIR grades a folder, --patch FILE a patch to the baseline",
            )
        for name in ("scenario", "workspace", "patch", "baseline", "trace", "response"):
            # An unset variable in a script; `Path("")` would be the current folder.
            given = getattr(request, name)
            if isinstance(given, str) and not given:
                raise UsageError(f"an empty {name} was given", hint=f"name one, or leave {name} out")
        if request.jobs is not None and request.jobs < 1:
            raise UsageError(f"jobs: {request.jobs} is below 1")
        self._refuse_unknown_sandbox()
        self._find_judge()
        self._open_beside()
        if request.save:
            self._find_store()
        subject: Subject | SubjectError | InfraError
        try:
            subject = self._workspace() if request.patch is None else self._patched()
        except (SubjectError, InfraError) as error:
            # Without a recipe there is no row to put it in.
            if self._recipe is None:
                raise
            subject = self._fault = error
        if isinstance(subject, Subject):
            self._subject = subject
        task = self._graded_by.task
        means = Means(
            backend=lambda: self._backend(task),
            settings=task.scenario.sandbox,
            blobs=self._blobs(),
            answers=self._answers(),
        )
        jobs = request.jobs or self._settings.jobs
        self._grading = self._stack.enter_context(
            SubjectGrading(self._graded_by, means, jobs=jobs, unstable=self._unstable(task))
        )
        self._grading.begin(subject)

    async def wait(self) -> None:
        """Run what has to be run."""
        assert self._grading is not None
        await self._grading.wait()

    def conclude(self) -> None:
        """Score, roll up and conclude."""
        assert self._grading is not None
        void = None
        if self._before is not None and self._tree is not None and self._fault is None:
            void = _changed_since(self._before, self._tree)
        self._graded = self._grading.conclude(
            baseline=None if self._baseline is None else self._baseline.ref,
            change_set=self._change_set,
            patch=self._patch_bytes,
            fault=self._fault,
            void=void,
            run_gate=self._run_gate(),
        )

    @property
    def has_judge(self) -> bool:
        """Whether `judge` has anybody to ask."""
        return self._judge is not None

    async def judge(self) -> None:
        """Put what was found before the judge."""
        assert self._graded is not None
        assert self._judge is not None
        judging = importlib.import_module("adjudge.workflows.judging")
        heard = judging.Heard(
            task=self._graded.task,
            change_set=self._change_set,
            trace=self._trace,
            response=self._response,
            blobs=self._blobs(),
        )
        self._graded = await judging.judge_graded(
            self._graded,
            heard,
            self._judge,
            answers=self._answers(),
            blobs=None if self._store is None else self._blobs(),
        )

    def finish(self) -> Evaluation:
        """The evaluation; with `save`, kept."""
        assert self._graded is not None
        if self._request.save:
            self._open_store()
            assert self._store is not None
            self._store.save(self._graded._replace(attempt=self._kept()))
        return self._graded.evaluation

    def _kept(self) -> Attempt | None:
        """All that grading it again takes; None when there was nothing to capture."""
        if self._subject is None or self._store is None:
            return None
        # Loaded here: only what is saved needs it.
        keep_attempt = importlib.import_module("adjudge.workflows.keeping").keep_attempt
        kept: Attempt = keep_attempt(self._subject, self._store.blobs)
        return kept

    def _find_judge(self) -> None:
        """The judge that was asked for, checked before anything is spent."""
        given = self._request.judge if self._request.judge is not None else self._settings.judge
        if isinstance(given, str):
            # Loaded here: few gradings have a judge.
            given = importlib.import_module("adjudge.workflows.judging").load_judge(given)
        self._judge = given

    def _answers(self) -> Path | None:
        """Where answers of models are remembered."""
        return self._settings.answers_dir if self._request.remember else None

    def _open_beside(self) -> None:
        """Open what came with the attempt beside its changes."""
        request = self._request
        if request.trace is None and request.trace_format is not None:
            raise UsageError("a format of a trace was given, but no trace", hint="name the file with --trace")
        if request.trace is not None or request.response is not None:
            # Loaded here: few attempts come with a trace.
            beside = importlib.import_module("adjudge.workflows.beside")
            self._trace = beside.open_trace(request.trace, request.trace_format)
            self._response = beside.read_response(request.response)

    def _run_gate(self) -> GateResult | None:
        """What the trace says about the limits; None without one."""
        if self._trace is None:
            return None
        gate: GateResult = importlib.import_module("adjudge.workflows.beside").gate_of_trace(
            self._trace,
            "workspace" if self._request.patch is None else "patch",
            self._graded_by.task.scenario.limits,
        )
        return gate

    @property
    def _graded_by(self) -> GradedBy:
        assert self._recipe is not None
        return self._recipe

    def _unstable(self, task: Task) -> Mapping[str, frozenset[str]]:
        """Tests that were found to be unstable on the task's baseline."""
        record = find_stability(task.digest, self._settings.state_dir)
        return {} if record is None else record.unstable()

    def _blobs(self) -> BlobStore | None:
        if self._store is not None:
            return self._store.blobs
        if self._scratch_blobs is None and self._shows_the_diff():
            scratch = Path(tempfile.mkdtemp(prefix="adjudge-"))
            self._stack.callback(remove_tree, scratch)
            # Loaded here: only what a model reads is needed whole.
            self._scratch_blobs = importlib.import_module("adjudge.store.blobs").BlobDirectory(scratch)
        return self._scratch_blobs

    def _shows_the_diff(self) -> bool:
        """Whether a model reads the diff, so that more than its ends has to be at hand."""
        recipe = self._recipe
        asked = recipe is not None and any(
            spec.type == "model_judge" for spec in recipe.task.scenario.recipe.scorers
        )
        return asked or self._judge is not None

    def _find_store(self) -> None:
        """Find the store before anything is spent. The workspace never decides where it is."""
        # Loaded here: only what is saved needs the store.
        places = importlib.import_module("adjudge.store.places")
        self._store_place = places.find_place(self._settings)
        if self._request.workspace is not None:
            places.refuse_inside(self._store_place, Path(self._request.workspace))

    def _open_store(self) -> None:
        """Open the store, once there is something to keep: a command that is refused makes none."""
        if self._store is None and self._store_place is not None:
            open_store = importlib.import_module("adjudge.store.opening").open_store
            self._store = self._stack.enter_context(open_store(self._store_place))

    def _workspace(self) -> Subject:
        """What is graded when a workspace is given."""
        assert self._request.workspace is not None
        workspace = Path(self._request.workspace)
        # Not `Path.is_dir`, which raises for a name that is too long.
        if not os.path.isdir(workspace):
            raise UsageError(f"workspace {workspace} is not a directory")
        seed = find_seed(workspace, self._settings.state_dir)
        if seed is None and self._request.baseline is None and is_task_directory(self._request.scenario):
            return self._from_the_source(workspace)
        try:
            baseline = self._baseline = self._baseline_of(workspace, seed)
        except BaselineNotFound:
            if not self._says_its_start(workspace):
                raise
            return self._from_the_source(workspace)
        tree = self._tree = WorkspaceTree(layers=(Path(os.path.realpath(workspace)),))
        contents = self._stack.enter_context(TreeContents(baseline, tree))
        self._recipe = find_recipe(
            self._request.scenario,
            state_dir=self._settings.state_dir,
            workspace=workspace,
            contents=contents,
            seed=seed,
        )
        self._before = fingerprint(tree)
        return self._captured(baseline, tree, contents)

    def _says_its_start(self, workspace: Path) -> bool:
        """Whether a workspace without any baseline can be compared with the source that its task names.

        Raises:
            UsageError: There is no such task, or it is not valid, which matters more than the baseline.
        """
        if self._request.baseline is not None or find_git_directory(workspace) is not None:
            return False
        recipe = find_recipe(self._request.scenario, state_dir=self._settings.state_dir, workspace=workspace)
        source = recipe.task.scenario.workspace
        if source is None or recipe.source is None or recipe.doubts:
            return False
        if isinstance(recipe.source, FrozenTask):
            return True
        # An attempt made in the source itself has changed what it would be compared with.
        place = Path(os.path.realpath(workspace))
        named = (source.path, *(file.src for file in source.files))
        read = [Path(os.path.realpath(recipe.source.folder / path)) for path in named if path is not None]
        return not any(place.is_relative_to(path) or path.is_relative_to(place) for path in read)

    def _from_the_source(self, workspace: Path) -> Subject:
        """What is graded by a task that says itself what every attempt starts from."""
        recipe = self._recipe = find_recipe(
            self._request.scenario, state_dir=self._settings.state_dir, workspace=workspace
        )
        scratch = Path(tempfile.mkdtemp(prefix="adjudge-"))
        self._stack.callback(remove_tree, scratch)
        baseline = self._baseline = self._seeded_baseline(recipe, scratch)
        tree = self._tree = WorkspaceTree(layers=(Path(os.path.realpath(workspace)),))
        contents = self._stack.enter_context(TreeContents(baseline, tree))
        self._before = fingerprint(tree)
        return self._captured(baseline, tree, contents)

    def _baseline_of(self, workspace: Path, seed: Seed | None) -> Baseline:
        given = self._request.baseline
        return baseline_of(workspace, None if given is None else os.fspath(given), seed)

    def _patched(self) -> Subject:
        """What is graded when a patch is given: the baseline in a scratch folder, the patch applied."""
        assert self._request.patch is not None
        # Loaded here: who grades a folder needs none of it.
        patched = importlib.import_module("adjudge.workflows.patched")
        patch = self._patch_bytes = patched.read_patch(self._request.patch)
        recipe = self._recipe = find_recipe(self._request.scenario, state_dir=self._settings.state_dir)
        scratch = Path(tempfile.mkdtemp(prefix="adjudge-"))
        self._stack.callback(remove_tree, scratch)
        baseline = self._baseline = self._baseline_of_patch(recipe, scratch)
        place = scratch / "workspace"
        patched.patched_workspace(baseline, patch, place)
        tree = self._tree = WorkspaceTree(layers=(place,), single_owner=True)
        contents = self._stack.enter_context(TreeContents(baseline, tree))
        return self._captured(baseline, tree, contents)

    def _baseline_of_patch(self, recipe: GradedBy, scratch: Path) -> Baseline:
        given = self._request.baseline
        if given is not None and os.path.isdir(given):
            return directory_baseline(Path(given))
        if given is None and recipe.task.scenario.workspace is not None and recipe.source is not None:
            return self._seeded_baseline(recipe, scratch)
        place = find_git_directory(Path.cwd())
        worktree = Path.cwd() if place is None else place.worktree
        return resolve_baseline(worktree, None if given is None else os.fspath(given))

    def _seeded_baseline(self, recipe: GradedBy, scratch: Path) -> Baseline:
        """The state a task starts in: its source, after setup. Nothing of it is kept."""
        source = recipe.source
        assert source is not None
        frozen = source if isinstance(source, FrozenTask) else freeze(source, scratch)
        self._recipe = GradedBy(frozen.task, frozen, recipe.warnings, recipe.doubts)
        tree = frozen.source
        described = f"source of task {_short(frozen.task.digest)}"
        if frozen.task.scenario.setup is not None:
            # Loaded here: it starts an event loop, which a task without setup does not need.
            run_setup = importlib.import_module("adjudge.workflows.setup").run_setup
            made, _ = run_setup(frozen.task.scenario, tree, self._backend(frozen.task), scratch)
            tree = made.tree
            described += ", after setup"
        return task_baseline(WorkspaceTree(layers=(tree,)), description=described)

    def _captured(self, baseline: Baseline, tree: WorkspaceTree, contents: TreeContents) -> Subject:
        self._open_store()
        try:
            change_set = capture_changes(baseline, tree, blobs=self._blobs())
        except CaptureError:
            # Ours, so it is tried once more.
            change_set = capture_changes(baseline, tree, blobs=self._blobs())
        self._change_set = change_set
        make_baseline = None
        if baseline.tree is None:
            # Loaded here: only scorers that start from the baseline need it written out.
            make_baseline = importlib.import_module("adjudge.workflows.baselines").BaselineOnDisk(baseline)
            self._stack.callback(make_baseline.remove)
        return Subject(
            task=self._graded_by.task,
            change_set=change_set,
            baseline=baseline.tree,
            workspace=tree,
            contents=contents,
            scenario_files=_files_of(self._graded_by),
            make_baseline=make_baseline,
            trace=self._trace,
            response=self._response,
        )

    def _refuse_unknown_sandbox(self) -> None:
        """A misspelt name is an error even where the recipe runs nothing."""
        asked = self._settings.sandbox_for(self._request.sandbox, "auto")
        if asked != "auto" and asked not in catalog.BUILTINS["sandboxes"]:
            catalog.load("sandboxes", asked)

    def _backend(self, task: Task) -> SandboxBackend:
        """The sandbox asked for: by the caller, else by the scenario, else by the settings."""
        return _backend(self._settings.sandbox_for(self._request.sandbox, task.scenario.sandbox.backend))


@cache
def _backend(name: str) -> SandboxBackend:
    """The backend of that name. Once per process: an automatic choice tries the machine, which takes 5 ms."""
    # Loaded here: sandboxes are for recipes that run something.
    choose_backend = importlib.import_module("adjudge.sandbox.choose").choose_backend
    backend: SandboxBackend = choose_backend(name).backend
    return backend


def _files_of(recipe: GradedBy) -> Path | None:
    """Where the files that a recipe refers to lie."""
    source = recipe.source
    if isinstance(source, FrozenTask):
        return source.files
    return source.folder if source is not None else None


def _changed_since(before: str, tree: WorkspaceTree) -> SubjectChanged | None:
    try:
        after = fingerprint(tree)
    except SubjectError as error:
        after = error.message
    if after == before:
        return None
    return SubjectChanged("the workspace changed while it was being graded, so no verdict on it would hold")


def _short(digest: str) -> str:
    return digest.removeprefix("sha256:")[:12]
