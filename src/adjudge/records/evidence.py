"""Evidence: the middle noun. Scorers ask for it with requests; collectors answer each distinct request once.

The set is closed: a request and its answer are defined side by side here. A request is a value (equal
requests of different scorers are one piece of work) and its digest, with the subject's, is a cache key.
"""

from collections.abc import Mapping
from enum import StrEnum
from typing import ClassVar, Literal, Protocol, TypeVar

from pydantic import Field

from adjudge.records.base import Record, digest_json
from adjudge.records.change import ChangeSet, EntryType
from adjudge.records.differential import SuiteInventories, TreeComparison
from adjudge.records.harness import HarnessOutline
from adjudge.records.hidden import HiddenFile
from adjudge.records.judgement import JudgeUsage
from adjudge.records.judging import Juror
from adjudge.records.leaks import Leak
from adjudge.records.nearby import NearAnswers
from adjudge.records.outputs import CheckedOutput, OutputFormat
from adjudge.records.paths import WorkspacePath
from adjudge.records.productcode import Example, ProductOutline
from adjudge.records.routes import TakenRoutes
from adjudge.records.sandbox import ExecResult, LeftProcess, OutsideWrite
from adjudge.records.score import Finding
from adjudge.records.source import SourceOutline
from adjudge.records.testcode import SuiteOutline
from adjudge.records.testreport import CollectedTests, TestReport, TrustedTestRun
from adjudge.records.trace import TraceSummary
from adjudge.records.verifier import RewardReading, VerifierNotes

__all__ = [
    "AnyRequest",
    "ChangedLine",
    "CleanTree",
    "CleanTreeChanges",
    "CommandOutcome",
    "CommandRun",
    "ComparedFile",
    "ComparedFiles",
    "Confinement",
    "ConfinementRead",
    "Differential",
    "EvidenceRequest",
    "FileComparison",
    "FileLines",
    "FileMatch",
    "FoundLeaks",
    "GradedTree",
    "HarnessFile",
    "HarnessScan",
    "IgnoredFile",
    "Isolation",
    "LeakScan",
    "LeavingLink",
    "LeftOutChange",
    "ModelScores",
    "ModelScoring",
    "ModelVote",
    "NearInputs",
    "OutputFile",
    "ParsedChange",
    "ParsedChangeSet",
    "PathState",
    "PathStatus",
    "PatternMatch",
    "PatternMatches",
    "PatternSearch",
    "ProductScan",
    "ReportRun",
    "ReportedTests",
    "RequestFor",
    "Routes",
    "ScannedExamples",
    "ScannedFile",
    "ScannedHarness",
    "ScannedProduct",
    "ScannedProducts",
    "ScannedSources",
    "ScannedSuite",
    "ScannedSuites",
    "SecretFindings",
    "SecretScan",
    "SourceScan",
    "SuiteInventory",
    "SuiteScan",
    "SummarisedTrace",
    "TestCollection",
    "TestCommand",
    "TestProof",
    "TestRun",
    "TraceRead",
    "UnseenRead",
    "VerifierOutcome",
    "VerifierRun",
]

Answer_co = TypeVar("Answer_co", covariant=True)


class RequestFor(Protocol[Answer_co]):
    """A request whose answer is of a known type; gives `evidence[request]` its static type."""

    @property
    def answer_type(self) -> type[Answer_co]:
        """The record that answers it."""

    @property
    def digest(self) -> str:
        """Identity of the request."""


class EvidenceRequest(Record):
    """Base of all requests."""

    kind: ClassVar[str]

    @property
    def digest(self) -> str:
        """Identity of the request: its kind and every field."""
        return digest_json([self.kind, self.model_dump(mode="json")])

    def __hash__(self) -> int:
        return hash(self.digest)


class ChangedLine(Record):
    """One added or removed line of a text file."""

    number: int
    """1-based; in the final file for an added line, in the baseline's for a removed one."""
    text: str
    """Without its line ending, decoded with replacement."""
    added: bool


class FileLines(Record):
    """The changed lines of one file, in diff order."""

    path: WorkspacePath
    old_path: WorkspacePath | None = None
    lines: tuple[ChangedLine, ...]


class ParsedChangeSet(Record):
    """The change set, and the changed lines of the files asked for."""

    change_set: ChangeSet
    files: tuple[FileLines, ...] = ()
    """Files whose path (or old path) matched `ParsedChange.lines_of`; binary and oversized ones have no
    lines and are named in `without_lines`."""
    without_lines: tuple[WorkspacePath, ...] = ()


class ParsedChange(EvidenceRequest):
    """What changed. Lines are parsed only for the paths that some scorer looks into."""

    kind: ClassVar[str] = "parsed_change"
    lines_of: tuple[str, ...] = ()
    """fnmatch patterns; litter is included when it matches."""

    @property
    def answer_type(self) -> type[ParsedChangeSet]:
        """A parsed change set."""
        return ParsedChangeSet


class Isolation(StrEnum):
    """What a scorer that runs code sees of the workspace."""

    SNAPSHOT = "snapshot"
    """A private copy of the final workspace."""
    CLEAN = "clean"
    """The baseline with the attempt's changes to unprotected paths; tests, test configuration and whatever
    runs them are the baseline's."""
    LIVE = "live"
    """The final workspace itself, in the sandbox the agent worked in, with the processes it left running.
    After everything else, one at a time. Where there is no such sandbox, as `snapshot`."""


class GradedTree(Record):
    """Over what code runs."""

    isolation: Isolation = Isolation.SNAPSHOT
    allow: tuple[str, ...] = ()
    """Patterns of protected paths that are the attempt's to change all the same."""
    protect: tuple[str, ...] = ()
    """Patterns of further paths that come from the baseline."""
    inject: tuple[HiddenFile, ...] = ()
    """Hidden files with their places, laid over everything else."""
    test_patch: str | None = None
    """A patch of the scenario that brings tests, applied to the baseline; what it changes is laid over the
    tree like hidden files."""


class LeftOutChange(Record):
    """A change of the attempt that is not, or not wholly, in the clean tree."""

    path: WorkspacePath
    group: str
    """Which part of the table of protected paths: `tests`, `runner shims`, …"""
    message: str


class CleanTreeChanges(Record):
    """What the clean tree leaves out."""

    left_out: tuple[LeftOutChange, ...]
    litter: int = 0
    """How many changes were litter."""


class CleanTree(EvidenceRequest):
    """Asks what `clean` isolation leaves out of the graded tree."""

    kind: ClassVar[str] = "clean_tree"
    allow: tuple[str, ...] = ()
    protect: tuple[str, ...] = ()

    @property
    def answer_type(self) -> type[CleanTreeChanges]:
        """Every change that is left out."""
        return CleanTreeChanges


class CommandOutcome(Record):
    """How a command went in its sandbox."""

    result: ExecResult


class CommandRun(EvidenceRequest):
    """A shell command run in a fresh sandbox."""

    kind: ClassVar[str] = "command_run"
    command: str
    timeout_s: float = Field(gt=0)
    tree: GradedTree = GradedTree()

    @property
    def answer_type(self) -> type[CommandOutcome]:
        """A command's outcome."""
        return CommandOutcome


class PathStatus(Record):
    """What lies at a path of the final workspace. Links are followed as long as they stay inside it."""

    exists: bool
    type: EntryType | None = None
    """What the path itself is; a symlink that leads to something inside is `symlink`."""
    size_bytes: int | None = None
    note: str = ""
    """Why a path that seems to be there does not count, such as a symlink that leaves the workspace."""


class PathState(EvidenceRequest):
    """Asks what lies at a path of the final workspace."""

    kind: ClassVar[str] = "path_state"
    path: WorkspacePath

    @property
    def answer_type(self) -> type[PathStatus]:
        """A path's status."""
        return PathStatus


class SecretFindings(Record):
    """Secret-like strings in added lines; messages never contain the secret itself."""

    findings: tuple[Finding, ...]
    scanned_bytes: int
    unscanned: tuple[WorkspacePath, ...] = ()
    """Changed files whose text could not be scanned whole."""
    scanner: str = ""
    """What scanned, with its version: it decides what is found."""


class SecretScan(EvidenceRequest):
    """Asks for secret-like strings in what the attempt added, litter included."""

    kind: ClassVar[str] = "secret_scan"

    @property
    def answer_type(self) -> type[SecretFindings]:
        """Findings of the scan."""
        return SecretFindings


class TestCommand(Record):
    """How a suite is started."""

    __test__: ClassVar[bool] = False

    runner: Literal["pytest", "unittest", "node", "jest", "vitest", "go"] = "pytest"
    interpreter: tuple[str, ...] = ("python3",)
    """The interpreter, found on the sandbox's PATH or named by an absolute path."""
    args: tuple[str, ...] = ()
    """For the runner: files, folders and options. Never single ids: what is expected is not told inside.
    `node` takes files, folders and shell patterns, which are looked up among the trusted files; `jest` and
    `vitest` take patterns of files as they do, and options as `--name=value`; `go` takes packages."""
    path: tuple[str, ...] = (".",)
    """Python's import path, before everything else, relative to the workspace."""
    config: str | None = None
    """pytest's configuration file in the workspace; no other is read. None: none at all."""
    env: Mapping[str, str] = Field(default_factory=dict)


class TestCollection(EvidenceRequest):
    """Asks which tests there are in the baseline, and which plugins its environment has."""

    __test__: ClassVar[bool] = False

    kind: ClassVar[str] = "test_collection"
    command: TestCommand
    timeout_s: float = Field(default=300.0, gt=0)

    @property
    def answer_type(self) -> type[CollectedTests]:
        """What was found."""
        return CollectedTests


class TestProof(StrEnum):
    """How results are proven."""

    __test__ = False

    TWIN = "twin"
    """Two sessions; each test that can be falsified is falsified in one of them."""
    SINGLE = "single"
    """One session as written; every pass is unproven."""


class TestRun(EvidenceRequest):
    """Asks for a trusted run of the suite's test files over the graded tree."""

    __test__: ClassVar[bool] = False

    kind: ClassVar[str] = "test_run"
    command: TestCommand
    files: tuple[str, ...] = ()
    """The test files, relative to the workspace; they run as the baseline has them. None named: those that
    the ids name, or all that look like test files. Hidden files come on top."""
    expected: tuple[str, ...] | None = None
    """Ids that have to be accounted for. None: every test that the command finds in the baseline with the
    hidden files laid over it, or that a file defines which cannot be loaded there; where `plugins` are given,
    so that nothing is collected, every test that the files define."""
    select: tuple[str, ...] = ()
    """Without `expected`: only tests with these ids, or below them."""
    plugins: tuple[str, ...] | None = ()
    """pytest plugins to load, by entry-point name; none loads itself. None: those that are found in the
    environment when the tests of the baseline are collected."""
    scope: Literal["command", "hidden", "ids"] = "command"
    """Which files the runner is given: none but those in the command, the hidden test files (where there are
    any), or those that the expected ids name and that exist."""
    find_config: bool = False
    """Whether to use the pytest configuration that the hidden files or the baseline have, where the command
    names none."""
    retry: tuple[str, ...] = ()
    """Ids that are run once more, in a fresh copy, when they do not pass."""
    watch: bool = False
    """Whether to watch which files of the workspace each test runs code of; pytest and unittest only."""
    proof: TestProof = TestProof.TWIN
    timeout_s: float = Field(default=900.0, gt=0)
    """For a whole session."""
    test_timeout_s: float = Field(default=60.0, ge=0)
    """For one test; 0 for no limit."""
    tree: GradedTree = GradedTree()

    @property
    def answer_type(self) -> type[TrustedTestRun]:
        """What can be believed of it."""
        return TrustedTestRun


class ReportedTests(Record):
    """What a test command reported, by whatever way it did."""

    result: ExecResult
    report: TestReport | None = None
    """None when nothing could be read."""
    source: Literal["files", "reporter", "console", "none"] = "none"
    """`files` that the recipe names, a `reporter` that the command was given, or what it printed."""
    problems: tuple[str, ...] = ()
    """Why a report that was there could not be read."""
    files: tuple[WorkspacePath, ...] = ()
    """The report files that were read; capped."""
    removed: tuple[WorkspacePath, ...] = ()
    """Report files that were there before the run, which did not see them; capped."""
    expected: int | None = None
    """How many tests the same command decided over the baseline with the hidden files, where nothing of the
    candidate's ran; None when that was not asked."""
    missing: tuple[str, ...] = ()
    """Which of those this run did not decide. They count as errors."""
    unstable: tuple[str, ...] = ()
    """Ids of the report, or missing in it, that are recorded as unstable on the baseline; they count for
    nothing."""
    trusted: TrustedTestRun | None = None
    """What a trusted run says instead, where the command stands for a suite that one can run."""


class ReportRun(EvidenceRequest):
    """Asks for a run of a test command of any language, and for what it reported."""

    kind: ClassVar[str] = "report_run"
    command: str
    timeout_s: float = Field(gt=0)
    reports: tuple[str, ...] = ()
    """Patterns of report files in the workspace. None: a reporter is added to commands that are known."""
    tree: GradedTree = GradedTree()
    proof: TestProof = TestProof.TWIN
    """How a trusted run proves its results, where the command turns out to stand for a suite: `npm test`."""
    test_timeout_s: float = Field(default=60.0, ge=0)
    """For one test of such a run."""

    @property
    def answer_type(self) -> type[ReportedTests]:
        """What was reported."""
        return ReportedTests


class ScannedFile(Record):
    """A source file of the final workspace beside what the baseline had in its place."""

    path: WorkspacePath
    present: bool = True
    """Whether there is a regular file at the path."""
    changed: bool = False
    before: SourceOutline | None = None
    """None: not there before, or not to be read."""
    after: SourceOutline | None = None
    note: str = ""
    """Why a file that is there has no outline."""


class ScannedSources(Record):
    """Source files, and what their functions amount to."""

    files: tuple[ScannedFile, ...]
    unscanned: tuple[WorkspacePath, ...] = ()
    """Files left out because there were too many bytes in all."""


class SourceScan(EvidenceRequest):
    """Asks what the functions of source files amount to, before and after."""

    kind: ClassVar[str] = "source_scan"
    files: tuple[WorkspacePath, ...] = ()
    """Which files. None named: every source file that the attempt changed, tests and other people's code
    left out."""

    @property
    def answer_type(self) -> type[ScannedSources]:
        """The files."""
        return ScannedSources


class ScannedSuite(Record):
    """A changed test file, before and after."""

    path: WorkspacePath
    old_path: WorkspacePath
    before: SuiteOutline | None = None
    """None: it was no test file, or not there."""
    after: SuiteOutline | None = None
    readable: bool = True
    """Whether both sides could be read by their syntax; where not, nothing is known of either."""
    support: bool = False
    """Whether it is none by its name, and checks for tests by what it loads."""


class ScannedSuites(Record):
    """The changed test files in languages whose tests are read by their syntax."""

    files: tuple[ScannedSuite, ...]


class SuiteScan(EvidenceRequest):
    """Asks what changed test files check, before and after."""

    kind: ClassVar[str] = "suite_scan"
    test_globset: tuple[str, ...]
    """fnmatch patterns of the test files; litter is included when it matches."""
    third_party: bool = False
    """Whether files in the places of package managers count as well."""
    support: bool = False
    """Whether files that check for tests, by what they loaded before, count as well, whatever their names."""

    @property
    def answer_type(self) -> type[ScannedSuites]:
        """The files."""
        return ScannedSuites


class ScannedProduct(Record):
    """A changed file of product code, before and after."""

    path: WorkspacePath
    before: ProductOutline | None = None
    """All of it where the change brought anything worth a look; otherwise what it took away. None: it was not
    there, or could not be read."""
    after: ProductOutline | None = None
    """What the change touches. None: it is not there any more, or cannot be read."""
    note: str = ""
    """Why it could not be read."""


class ScannedExamples(Record):
    """A test file whose literals may be those of the change."""

    path: WorkspacePath
    hidden: bool = False
    """Whether it is one of the recipe's, which the attempt never saw."""
    own: bool = False
    """Whether it is as the attempt wrote it."""
    examples: tuple[Example, ...] = ()


class ScannedProducts(Record):
    """The changed product code, and the examples of tests that it may have been written for."""

    files: tuple[ScannedProduct, ...]
    tests: tuple[ScannedExamples, ...] = ()
    instruction: str = ""
    """What the task says, capped: values that it names are no secret of the tests."""


class ProductScan(EvidenceRequest):
    """Asks what changed product code does and answers, and for tests with the same literals.

    Tests are those of the baseline, of the final workspace and of the recipe.
    """

    kind: ClassVar[str] = "product_scan"
    test_globset: tuple[str, ...]
    """fnmatch patterns of the test files, which are no product code."""

    @property
    def answer_type(self) -> type[ScannedProducts]:
        """The files."""
        return ScannedProducts


class HarnessFile(Record):
    """A changed file that decides how tests run, before and after."""

    path: WorkspacePath
    role: str
    """`conftest`, `startup`, `tests`, `plugin`, `script`, `setup` or `config`."""
    before: HarnessOutline | None = None
    """None: it was not there."""
    after: HarnessOutline | None = None
    """None: it is not there any more."""


class ScannedHarness(Record):
    """What the attempt changed of whatever decides how tests run."""

    files: tuple[HarnessFile, ...]
    tests: tuple[WorkspacePath, ...] = ()
    """Test files of the baseline, capped; looked up only where a setting chooses among them."""
    commands: tuple[str, ...] = ()
    """The commands of the recipe, for what matters only if it is run."""
    unscanned: tuple[WorkspacePath, ...] = ()
    """Files that were too many or could not be read."""


class HarnessScan(EvidenceRequest):
    """Asks what changed configuration, scripts, hooks and build files do to a test run, before and after."""

    kind: ClassVar[str] = "harness_scan"

    @property
    def answer_type(self) -> type[ScannedHarness]:
        """The files."""
        return ScannedHarness


class FileMatch(StrEnum):
    """How a file compares with the one that was expected."""

    SAME = "same"
    DIFFERENT = "different"
    MISSING = "missing"
    NOT_A_FILE = "not_a_file"
    """A folder, a symlink or something else is in its place."""


class ComparedFile(Record):
    """One expected file."""

    path: WorkspacePath
    match: FileMatch
    note: str = ""
    """What is there instead, or the first lines that differ."""
    line: int | None = None
    """The first line that differs."""


class ComparedFiles(Record):
    """Every expected file, in the order of their paths."""

    files: tuple[ComparedFile, ...]


class FileComparison(EvidenceRequest):
    """Asks whether files of the final workspace are byte for byte those of a folder of the scenario."""

    kind: ClassVar[str] = "file_comparison"
    folder: str
    """The folder, or a single file, relative to the scenario's."""

    @property
    def answer_type(self) -> type[ComparedFiles]:
        """Every file's comparison."""
        return ComparedFiles


class PatternMatch(Record):
    """Where a pattern was first found."""

    pattern: str
    path: WorkspacePath | None = None
    """None: nowhere."""
    line: int | None = None


class PatternMatches(Record):
    """Each pattern with its first match."""

    matches: tuple[PatternMatch, ...]
    searched_files: int
    searched_bytes: int
    unsearched: tuple[WorkspacePath, ...] = ()
    """Files not, or not wholly, searched for a pattern that was found nowhere; at most a hundred."""


class PatternSearch(EvidenceRequest):
    """Asks whether regular expressions match anywhere in the text files of the final workspace.

    Litter, `.git` and the places of package managers are left out. What a recipe injects at grade time is not
    part of the final workspace.
    """

    kind: ClassVar[str] = "pattern_search"
    patterns: tuple[str, ...]

    @property
    def answer_type(self) -> type[PatternMatches]:
        """Where they match."""
        return PatternMatches


class OutputFile(EvidenceRequest):
    """Asks for a file of the final workspace, read as its format says and checked against a schema."""

    kind: ClassVar[str] = "output_file"
    path: WorkspacePath
    format: OutputFormat
    output_schema: str | None = None
    """A JSON Schema of the scenario."""

    @property
    def answer_type(self) -> type[CheckedOutput]:
        """The file's value, or why it has none."""
        return CheckedOutput


class SummarisedTrace(Record):
    """The trace of the attempt, in figures."""

    summary: TraceSummary | None
    """None: the attempt came without a trace."""


class TraceRead(EvidenceRequest):
    """Asks what the trace of the attempt adds up to."""

    kind: ClassVar[str] = "trace_read"

    @property
    def answer_type(self) -> type[SummarisedTrace]:
        """The trace in figures."""
        return SummarisedTrace


class FoundLeaks(Record):
    """What the trace shows of answers that were not the agent's to have."""

    traced: bool
    """Whether the attempt came with a trace."""
    tools_known: bool = True
    """Whether the trace would show tools."""
    events: int = 0
    tool_calls: int = 0
    leaks: tuple[Leak, ...] = ()
    """In the order of their events; capped."""
    exhausted: bool = False
    """Whether commands were too many or too long to be looked at all."""


class LeakScan(EvidenceRequest):
    """Asks which events of the trace reached for hidden files, other history or the project's upstream."""

    kind: ClassVar[str] = "leak_scan"

    @property
    def answer_type(self) -> type[FoundLeaks]:
        """The events."""
        return FoundLeaks


class LeavingLink(Record):
    """A new symlink that leads out of the workspace."""

    path: WorkspacePath
    target: str


class IgnoredFile(Record):
    """A file of the attempt that new rules keep out of sight."""

    path: WorkspacePath
    rules: WorkspacePath
    """The file that holds the rule."""
    line: int
    how: Literal["ignored", "undiffed", "covered", "twin"] = "ignored"
    """By an ignore rule, by an attribute, by a repository that was put over a folder of the baseline, or by a
    name that shows as that of a neighbour."""


class UnseenRead(Record):
    """A file out of sight that code of the attempt reads and does not write."""

    path: str
    by: WorkspacePath
    line: int
    outside: bool
    """Whether it lies outside the workspace; else it is ignored."""


class Confinement(Record):
    """What the attempt left outside its workspace, or out of sight in it."""

    outside: tuple[OutsideWrite, ...] | None = None
    """None where no run was watched, or the sandbox cannot tell."""
    processes: tuple[LeftProcess, ...] | None = None
    """None where no run was watched."""
    links: tuple[LeavingLink, ...] = ()
    ignored: tuple[IgnoredFile, ...] = ()
    reads: tuple[UnseenRead, ...] = ()
    escapes: tuple[Leak, ...] = ()
    """Steps out of the workspace that the trace shows, by events; capped."""


class ConfinementRead(EvidenceRequest):
    """Asks what the attempt left outside its workspace, or out of sight in it."""

    kind: ClassVar[str] = "confinement_read"

    @property
    def answer_type(self) -> type[Confinement]:
        """What is known of it."""
        return Confinement


class VerifierOutcome(Record):
    """How a verifier went, and what it left."""

    result: ExecResult
    reading: RewardReading
    notes: VerifierNotes
    output: CheckedOutput | None = None
    """The file that the attempt was to write; None where the task names none."""
    links: tuple[WorkspacePath, ...] = ()
    """Symlinks of the attempt that may lead to the verifier's own files; it did not see them."""
    candidate_runs: int = 0
    """How many commands it had run apart from itself, with `candidate`."""
    separate: bool = False
    """Whether it runs the candidate's code apart from itself, so that the code cannot write the reward."""


class VerifierRun(EvidenceRequest):
    """Asks for a run of a task's verifier over the final workspace."""

    kind: ClassVar[str] = "verifier_run"
    tests: str
    """The folder of the scenario that is shown at /tests."""
    script: str
    """The program, relative to that folder."""
    workdir: str = "/workspace"
    """Where the task expects the workspace."""
    output: WorkspacePath | None = None
    """What the attempt was to write."""
    output_format: OutputFormat | None = None
    output_schema: str | None = None
    """A JSON Schema of the scenario."""
    reward_path: str = "/logs/verifier/reward.json"
    details_path: str | None = None
    env: Mapping[str, str] = Field(default_factory=dict)
    """May hold `${NAME}` and `${NAME:-default}`, resolved from our environment when the verifier runs."""
    network: bool = False
    timeout_s: float = Field(default=600.0, gt=0)
    unsupported: str = ""
    """Why no sandbox of this version can run it, such as an image that it needs."""

    @property
    def answer_type(self) -> type[VerifierOutcome]:
        """How it went."""
        return VerifierOutcome


class ModelVote(Record):
    """What one model scored."""

    model: str
    score: float | None = Field(default=None, ge=0.0, le=1.0)
    reasoning: str = ""
    fault: str = ""
    """Why there is no score."""
    cached: bool = False
    usage: JudgeUsage = JudgeUsage()


class ModelScores(Record):
    """What every model that was asked scored."""

    votes: tuple[ModelVote, ...] = ()
    missing: tuple[str, ...] = ()
    """What is missing to ask any of them, such as a credential; nobody was asked then."""
    findings: tuple[Finding, ...] = ()
    """Text of the attempt's that speaks to the judge."""
    cut: tuple[str, ...] = ()
    """Sections that were too long to be shown whole."""


class ModelScoring(EvidenceRequest):
    """Asks one model, or several, to score what was produced by a rubric."""

    kind: ClassVar[str] = "model_scoring"
    rubric: str = ""
    rubric_file: str | None = None
    """A file of the scenario that holds the rubric instead."""
    jurors: tuple[Juror, ...] = Field(min_length=1)

    @property
    def answer_type(self) -> type[ModelScores]:
        """Every model's score."""
        return ModelScores


class Differential(EvidenceRequest):
    """Asks how a command ends as the attempt was left and over the clean tree, and why that differs."""

    kind: ClassVar[str] = "differential"
    command: str | None = None
    """What runs the tests. None: what the baseline's files say."""
    product_paths: tuple[str, ...] = ()
    """Patterns of what is the attempt's to change. None: all that is not protected."""
    pythonpath: tuple[str, ...] = ()
    timeout_s: float = Field(default=900.0, gt=0)
    """For one run."""
    test_timeout_s: float = Field(default=60.0, ge=0)
    max_runs: int = Field(default=24, ge=0)
    """For finding out what made the difference."""

    @property
    def answer_type(self) -> type[TreeComparison]:
        """How they compare."""
        return TreeComparison


class SuiteInventory(EvidenceRequest):
    """Asks which tests the baseline has, and what becomes of them in the workspace as it was left."""

    kind: ClassVar[str] = "suite_inventory"
    command: str | None = None
    """What runs the tests. None: what the baseline's files say."""
    pythonpath: tuple[str, ...] = ()
    reports: tuple[str, ...] = ()
    """Patterns of report files in the workspace, for runners that are not known."""
    timeout_s: float = Field(default=900.0, gt=0)
    """For one run."""
    test_timeout_s: float = Field(default=60.0, ge=0)

    @property
    def answer_type(self) -> type[SuiteInventories]:
        """Both sides."""
        return SuiteInventories


class Routes(EvidenceRequest):
    """Asks which ways visible and hidden tests take through changed product code, where hidden ones fail."""

    kind: ClassVar[str] = "routes"
    command: str | None = None
    """What runs the visible tests. None: what the baseline's files say."""
    unseen: tuple[CommandRun, ...] = ()
    """What runs tests that the attempt did not see."""
    timeout_s: float = Field(default=900.0, gt=0)
    """For one run of the visible tests."""

    @property
    def answer_type(self) -> type[TakenRoutes]:
        """The ways they took."""
        return TakenRoutes


class NearInputs(EvidenceRequest):
    """Asks what is answered to inputs next to those of visible tests, where hidden ones fail."""

    kind: ClassVar[str] = "near_inputs"
    command: str | None = None
    """What runs the visible tests. None: what the baseline's files say."""
    unseen: tuple[CommandRun, ...] = ()
    """What runs tests that the attempt did not see."""
    reference: str | None = None
    """The reference solution among the scenario's files. None: the scenario's `solution`."""
    timeout_s: float = Field(default=900.0, gt=0)
    """For one run of the visible tests."""

    @property
    def answer_type(self) -> type[NearAnswers]:
        """What the attempt answers."""
        return NearAnswers


AnyRequest = (
    ParsedChange
    | CommandRun
    | PathState
    | SecretScan
    | TestCollection
    | TestRun
    | ReportRun
    | CleanTree
    | SourceScan
    | SuiteScan
    | ProductScan
    | HarnessScan
    | FileComparison
    | PatternSearch
    | OutputFile
    | TraceRead
    | LeakScan
    | ConfinementRead
    | VerifierRun
    | Differential
    | SuiteInventory
    | Routes
    | NearInputs
    | ModelScoring
)
"""Every request there is."""
