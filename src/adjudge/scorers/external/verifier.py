"""`verifier`: the task's own program says what the attempt is worth."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Annotated, ClassVar, Self

from pydantic import AfterValidator, Field, JsonValue, StringConstraints, ValidationInfo, model_validator

from adjudge.contracts import Evidence
from adjudge.formats.outputs import format_of
from adjudge.formats.schemas import SchemaFile
from adjudge.records.annotation import ErrorSource, ErrorTag, NonBlank
from adjudge.records.evaluation import ValidityCheck
from adjudge.records.evidence import AnyRequest, VerifierOutcome, VerifierRun
from adjudge.records.outputs import OutputFormat
from adjudge.records.paths import FileLookup, ScenarioFile, check_relative, render_path
from adjudge.records.sandbox import Ended
from adjudge.records.score import Finding, ScorerConfig, ScorerOutcome
from adjudge.records.verifier import MechanicalError, RewardProblem, VerifierSpec

__all__ = ["SEPARATE", "SHARED", "Verifier", "verifier_spec"]

SHARED = "shared with candidate code"
SEPARATE = "separate from candidate code"
_LOGS = "/logs/verifier/"
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\Z")
_MAX_TAIL = 4000


def _in_logs(path: str) -> str:
    if not path.startswith(_LOGS) or check_relative(path[len(_LOGS) :]) == ".":
        raise ValueError(f"{path!r} is not a file below {_LOGS}, the one place that is made for a verifier")
    return path


def _absolute(path: str) -> str:
    if not path.startswith("/") or path == "/" or check_relative(path[1:]) == ".":
        raise ValueError(f"{path!r} is not an absolute path such as /workspace or /app")
    return f"/{check_relative(path[1:])}"


def _variables(env: Mapping[str, str]) -> Mapping[str, str]:
    for name, value in env.items():
        if not _NAME.match(name) or "\0" in value:
            raise ValueError(f"{name!r} cannot be set as an environment variable")
    return env


def _with_its_folder(path: str, info: ValidationInfo) -> str:
    folder = path.rpartition("/")[0]
    if not folder:
        raise ValueError(f"{path!r}: put it in a folder of its own, such as tests/test.sh")
    lookup: FileLookup | None = (info.context or {}).get("scenario_file")
    if lookup is not None:
        lookup(folder)
    return path


Script = Annotated[ScenarioFile, AfterValidator(_with_its_folder)]
"""A program that is kept with all that lies beside it."""
ArtifactPath = Annotated[str, AfterValidator(_in_logs)]
AbsolutePath = Annotated[str, StringConstraints(max_length=500), AfterValidator(_absolute)]


class Verifier:
    """The task's own program, run over the final workspace, writes what the attempt is worth.

    Measures:
        Whatever the program measures. It runs in a sandbox of its own when the agent is gone, with its tests
        at /tests, fresh folders at /logs, a copy of the final workspace where the task expects it, no network
        unless the task asks, and a fresh HOME and environment. The `reward` in `/logs/verifier/reward.json`
        (or the number in `reward.txt`) is the run's reward: a number from 0 to 1, never recomputed and never
        rounded. A missing or bad reward file is a FAIL with 0 and a named reason. So is a verifier that was
        ended by a limit or a signal, whatever it had written. An exit code decides nothing. A reward for an
        output that cannot be parsed is refused.

    Evidence:
        One run of the verifier, its artifacts, and the file that the attempt was to write. The details have
        `reward`, `rewards`, `reward_channel`, `reward_problem`, `validity`, `error_taxonomy`, `breakdown`,
        `candidate_runs` and `exit_code`.

    How it is fooled:
        By code of the attempt that the verifier runs as its own child: it shares the verifier's user and can
        write the reward. A verifier that runs such code puts `candidate` before the command: the grader then
        runs it in another sandbox, without /tests and /logs. Verifiers that do not are marked
        `reward channel: shared with candidate code`. Files that an attempt plants (a `json.py`, a
        `sitecustomize.py`, a `reward.json`, links into /tests or /logs, programs named like the system's) are
        not seen by the verifier, or not looked at. A verifier that checks too little is fooled by whatever it
        does not check: `adjudge doctor` tries the obvious.

    Example:
        ```yaml
        scorers:
          - type: verifier
            script: tests/test.sh
            output: /workspace/result.json
        ```
    """

    name: ClassVar[str] = "verifier"
    version: ClassVar[str] = "1"
    required_by_default: ClassVar[bool] = True
    advisory_only: ClassVar[bool] = False

    class Config(ScorerConfig):
        """Fields of `verifier`."""

        script: Script
        """The program, relative to the scenario's folder. A `.py` file is run with `python3`, any other as it
        is."""
        tests: ScenarioFile | None = None
        """The folder that is shown at /tests; the script's own when left out."""
        output: AbsolutePath | None = None
        """The file that the attempt is to write, as the task names it: `/workspace/result.json`."""
        output_format: OutputFormat | None = None
        """What that file is; by its name when left out."""
        output_schema: SchemaFile | None = None
        """A JSON Schema that it should match."""
        workdir: AbsolutePath = "/workspace"
        """Where the task expects the workspace. It is at /workspace in any case."""
        env: Annotated[Mapping[str, str], AfterValidator(_variables)] = Field(
            default_factory=dict, max_length=100
        )
        """Set for the verifier. `${NAME}` and `${NAME:-default}` are taken from the grader's environment."""
        network: bool = Field(default=False, strict=True)
        """Whether it may reach the network (never the machine's own loopback)."""
        timeout_s: float = Field(default=600.0, ge=1, le=86400, strict=True)
        """Seconds until it and all it started are ended, from 1 to 86400."""
        reward_path: ArtifactPath = f"{_LOGS}reward.json"
        """The reward file; a `reward.txt` beside it is read when it is missing."""
        details_path: ArtifactPath | None = None
        """What becomes the breakdown; `details.json` or `reward-details.json` beside it when left out."""
        pass_threshold: float = Field(default=1.0, ge=0.0, le=1.0)
        """The reward from which it passes."""
        max_reward: float = Field(default=1.0, gt=0.0, le=1.0)
        """What the reference solution gets; `adjudge doctor` checks it."""
        categories: tuple[NonBlank, ...] = Field(default=(), max_length=200)
        """Categories of the task's own error taxonomy. When there are any, tags with others get a warning."""
        unsupported: str = ""
        """Why this version cannot run it; set for task directories that need more than a sandbox."""

        @model_validator(mode="after")
        def _places(self) -> Self:
            if self.tests is not None and not self.script.startswith(f"{self.tests}/"):
                raise ValueError(f"script: {self.script!r} is not in {self.tests!r}")
            if self.output is not None and _output_path(self) is None:
                places = dict.fromkeys((self.workdir, "/workspace"))
                raise ValueError(f"output: {self.output!r} is not below {' or '.join(places)}")
            return self

    def needs(self, config: Config) -> Sequence[AnyRequest]:
        """One run of the verifier."""
        return (_request(config),)

    def score(self, config: Config, evidence: Evidence) -> ScorerOutcome:
        """PASS when the reward reaches the threshold."""
        return _Conclusion(config, evidence[_request(config)]).outcome()


def _tests_folder(config: Verifier.Config) -> str:
    return config.tests or config.script.rpartition("/")[0]


def _output_path(config: Verifier.Config) -> str | None:
    """The output relative to the workspace."""
    for top in (config.workdir, "/workspace"):
        if config.output is not None and config.output.startswith(f"{top}/"):
            return config.output[len(top) + 1 :]
    return None


def verifier_spec(config: Verifier.Config) -> VerifierSpec | None:
    """The verifier as a `VerifierSpec`; None where the task names no output."""
    if config.output is None:
        return None
    return VerifierSpec(
        script=config.script,
        expected_output_path=config.output,
        reward_path=config.reward_path,
        details_path=config.details_path,
    )


def _request(config: Verifier.Config) -> VerifierRun:
    tests = _tests_folder(config)
    output = _output_path(config)
    return VerifierRun(
        tests=tests,
        script=config.script.removeprefix(f"{tests}/"),
        workdir=config.workdir,
        output=output,
        output_format=config.output_format or (format_of(output) if output is not None else None),
        output_schema=config.output_schema,
        reward_path=config.reward_path,
        details_path=config.details_path,
        env=config.env,
        network=config.network,
        timeout_s=config.timeout_s,
        unsupported=config.unsupported,
    )


_LIMITS = {
    Ended.OUT_OF_MEMORY: "ran out of memory",
    Ended.PROCESS_LIMIT: "reached the process limit",
    Ended.DISK_LIMIT: "reached the disk limit",
    Ended.OUTPUT_LIMIT: "reached the output limit",
}


class _Conclusion:
    """What follows from one run."""

    def __init__(self, config: Verifier.Config, run: VerifierOutcome) -> None:
        self._config = config
        self._run = run
        self._errors: list[str] = []
        self._tags: list[ErrorTag] = []
        self._findings: list[Finding] = []

    def outcome(self) -> ScorerOutcome:
        run, config = self._run, self._config
        output = run.output
        parseable = output is None or output.output_parseable
        completed = self._how_it_ended()
        said = run.reading.reward if completed else None
        reward = said or 0.0
        self._look_at_output()
        self._look_at_reading(completed)
        if said and not parseable:
            self._errors.insert(0, f"reward {said} refused: output unparseable")
            reward = 0.0
        self._look_at_notes()
        validity = ValidityCheck(
            output_parseable=parseable,
            schema_valid=output is None or output.schema_valid,
            verifier_completed=completed and run.reading.problem is not RewardProblem.MISSING,
            errors=list(dict.fromkeys(self._errors)),
        )
        tags = dict.fromkeys((*self._tags, *run.notes.tags))
        details: dict[str, JsonValue] = {
            "reward": reward,
            "rewards": dict(run.reading.rewards) if completed else {},
            "reward_channel": SEPARATE if run.separate else SHARED,
            "reward_problem": None if run.reading.problem is None else run.reading.problem.value,
            "validity": validity.model_dump(mode="json"),
            "error_taxonomy": [tag.model_dump(mode="json") for tag in tags],
            "breakdown": self._breakdown(completed),
            "output": config.output,
            "candidate_runs": run.candidate_runs,
            "exit_code": run.result.exit_code,
            "ended": run.result.ended.value,
        }
        reason = self._reason(reward, validity)
        return ScorerOutcome.fraction(
            reward,
            config.pass_threshold,
            reason,
            findings=tuple(self._findings),
            output_tail=_tail(run),
            details=details,
        )

    def _how_it_ended(self) -> bool:
        """Whether the verifier ended by itself, so that what it left is its last word."""
        result = self._run.result
        if result.ended is Ended.EXITED:
            return True
        if result.ended is Ended.TIMED_OUT:
            what, category = f"timed out after {self._config.timeout_s:g} s", MechanicalError.TIMEOUT
        elif result.ended is Ended.SIGNALLED:
            what, category = f"was ended by signal {result.signal}", MechanicalError.VERIFIER_CRASH
        else:
            what = _LIMITS.get(result.ended, result.ended.value)
            what += f": {result.reason}" if result.reason else ""
            category = MechanicalError.VERIFIER_CRASH
        written = self._run.reading.reward
        unheard = "" if written is None else f"; the reward {written} that it had written does not count"
        self._note(category, "verifier-not-finished", f"the verifier {what}{unheard}")
        return False

    def _look_at_output(self) -> None:
        output = self._run.output
        if output is None:
            return
        if not output.present:
            category, rule = MechanicalError.OUTPUT_MISSING, "output-missing"
        elif not output.output_parseable:
            category, rule = MechanicalError.PARSE_ERROR, "output-unparseable"
        elif not output.schema_valid:
            category, rule = MechanicalError.SCHEMA_MISMATCH, "output-schema-mismatch"
        else:
            return
        said = "; ".join(output.errors[:3]) or category.value
        self._note(category, rule, said, errors=output.errors)

    def _look_at_reading(self, completed: bool) -> None:
        reading, result = self._run.reading, self._run.result
        if completed and reading.problem is RewardProblem.MISSING:
            self._note(MechanicalError.REWARD_MISSING, "reward-missing", reading.reason)
            if result.exit_code:
                self._tag(MechanicalError.VERIFIER_CRASH, f"exit {result.exit_code} and no reward")
        elif completed and reading.problem is not None:
            self._note(MechanicalError.REWARD_INVALID, "reward-invalid", reading.reason)
        if reading.disagreement:
            self._note(MechanicalError.REWARDS_DISAGREE, "rewards-disagree", reading.disagreement)
        self._findings += [Finding(rule="reward-note", message=text) for text in reading.warnings]
        if self._run.links:
            listed = ", ".join(render_path(path) for path in self._run.links[:5])
            more = f" and {len(self._run.links) - 5} more" if len(self._run.links) > 5 else ""
            message = f"links that may lead to its own files were not shown to the verifier: {listed}{more}"
            self._tag(MechanicalError.TAMPERING, message)
            self._findings += [
                Finding(rule="link-to-verifier", path=path, message="may lead to the verifier's own files")
                for path in self._run.links[:20]
            ]

    def _look_at_notes(self) -> None:
        notes = self._run.notes
        self._errors += notes.problems
        self._findings += [Finding(rule="details-unusable", message=text) for text in notes.problems[:20]]
        known = {*self._config.categories, *MechanicalError}
        if self._config.categories:
            others = dict.fromkeys(tag.category for tag in notes.tags if tag.category not in known)
            self._findings += [
                Finding(rule="unknown-category", message=f"{category!r} is not a category of the task")
                for category in list(others)[:20]
            ]

    def _breakdown(self, completed: bool) -> JsonValue:
        """The details as they are, or the parts of a reward that has several."""
        if self._run.notes.breakdown is not None:
            return dict(self._run.notes.breakdown)
        rewards = self._run.reading.rewards
        return dict(rewards) if completed and len(rewards) > 1 else None

    def _reason(self, reward: float, validity: ValidityCheck) -> str:
        first = self._errors[0] if self._errors else ""
        run = self._run
        if run.output is not None and not validity.output_parseable:
            unusable = "wrote no output" if not run.output.present else "wrote nothing usable"
            refused = f" (reward {run.reading.reward:g} refused)" if run.reading.reward else ""
            return f"reward 0: the attempt {unusable}: {run.output.errors[0]}{refused}"
        if not validity.verifier_completed or run.reading.problem is not None:
            return f"reward 0: {first}"
        if reward != run.reading.reward:
            return f"reward {reward:g}: {first}"
        shown = f"reward {reward:g}"
        if not validity.schema_valid:
            return f"{shown}; the output has not the expected shape: {first}"
        if round(reward, 9) >= round(self._config.pass_threshold, 9):
            return shown
        return (
            f"{shown}, below {self._config.pass_threshold:g}" if reward else "reward 0: the attempt was wrong"
        )

    def _note(
        self, category: MechanicalError, rule: str, message: str, *, errors: Sequence[str] = ()
    ) -> None:
        self._tag(category, message)
        self._errors += errors or (message,)
        self._findings.append(Finding(rule=rule, message=message))

    def _tag(self, category: MechanicalError, message: str) -> None:
        tag = ErrorTag(category=category.value, description=message, source=ErrorSource.MECHANICAL)
        self._tags.append(tag)


def _tail(run: VerifierOutcome) -> str:
    """The end of what the verifier printed."""
    streams = (("stdout", run.result.stdout), ("stderr", run.result.stderr))
    parts = [
        f"[{name}]\n{(blob.tail or blob.head)[-_MAX_TAIL:]}" for name, blob in streams if blob.size_bytes
    ]
    return "\n".join(part.rstrip("\n") for part in parts)
