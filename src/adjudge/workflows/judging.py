"""Putting a graded run before the judge, and what comes of it into the evaluation.

The judge follows every scorer and reads what they found. Its verdict is a gate of its own: nothing here
changes a score, a row or the objective gate.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import yaml
from pydantic import ValidationError

from adjudge.contracts import BlobStore, GradedSubject, TraceSource
from adjudge.errors import ConfigInvalid, SubjectError
from adjudge.gates.judge import judge_gate
from adjudge.judge.cache import AnswerDirectory
from adjudge.judge.case import Case
from adjudge.judge.court import Court
from adjudge.judge.transcript import render_transcript
from adjudge.records.annotation import ConfidenceMetadata, ErrorSource, ErrorTag
from adjudge.records.change import ChangeSet
from adjudge.records.evaluation import Evaluation
from adjudge.records.judgement import Judgement
from adjudge.records.judging import JudgeConfig
from adjudge.records.run import AgentOutcome
from adjudge.records.score import ScorerSpec
from adjudge.records.task import Task

__all__ = ["Heard", "case_of", "judge_graded", "judged", "load_judge", "parse_judge"]

_NOTE = "llm_judge"
_COMMAND_FIELDS = ("command", "cmd")
_MAX_CONFIG_BYTES = 256 * 1024


def load_judge(given: str) -> JudgeConfig:
    """The judge that `--judge` means: a YAML file, or the name of a model (several, parted by commas).

    Raises:
        ConfigInvalid: It is not valid; the message says where.
    """
    if not given.strip():
        raise ConfigInvalid("an empty judge was given", hint="name a model, or a YAML file")
    if os.path.isfile(given):
        return _from_file(given)
    if given.endswith((".yaml", ".yml")):
        raise ConfigInvalid(f"{given}: there is no such file")
    models = [name.strip() for name in given.split(",") if name.strip()]
    value: dict[str, object] = {"model": models[0]} if len(models) == 1 else {"models": models}
    return parse_judge(value, where="--judge")


def parse_judge(value: object, *, where: str) -> JudgeConfig:
    """A judge's configuration, as a file, an experiment or an option has it."""
    if not isinstance(value, Mapping):
        raise ConfigInvalid(f"{where}: a mapping with 'model' or 'models' is expected")
    try:
        return JudgeConfig.model_validate(value)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        place = ".".join(str(part) for part in first["loc"])
        message = first["msg"].removeprefix("Value error, ")
        known = ", ".join(JudgeConfig.model_fields)
        hint = f"known: {known}" if first["type"] == "extra_forbidden" else None
        raise ConfigInvalid(
            f"{where}: {place}: {message}" if place else f"{where}: {message}", hint=hint
        ) from error


def _from_file(path: str) -> JudgeConfig:
    try:
        with open(path, "rb") as stream:
            data = stream.read(_MAX_CONFIG_BYTES + 1)
        if len(data) > _MAX_CONFIG_BYTES:
            raise ConfigInvalid(f"{path}: larger than {_MAX_CONFIG_BYTES // 1024} KiB")
        value = yaml.safe_load(data.decode("utf-8"))
    except OSError as error:
        raise ConfigInvalid(f"{path}: cannot be read: {error.strerror}") from error
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        mark = getattr(error, "problem_mark", None)
        place = f"{path}:{mark.line + 1}:{mark.column + 1}" if mark is not None else path
        raise ConfigInvalid(f"{place}: not valid YAML: {getattr(error, 'problem', None) or error}") from error
    if isinstance(value, Mapping) and set(value) == {"judge"}:
        value = value["judge"]
    return parse_judge(value, where=path)


class Heard(NamedTuple):
    """What is known of a run beside its evaluation."""

    task: Task
    change_set: ChangeSet | None = None
    """None for a run without a workspace."""
    trace: TraceSource | None = None
    session: tuple[tuple[str, str], ...] = ()
    """What was said over the turns of a session: role and text. Shown before the trace."""
    response: str | None = None
    outcome: AgentOutcome | None = None
    blobs: BlobStore | None = None
    """Where the diff is, when it is kept."""


def case_of(heard: Heard, evaluation: Evaluation, config: JudgeConfig) -> Case:
    """All that the judge is shown, before it is cut to its budget."""
    scenario = heard.task.scenario
    outcome = heard.outcome
    diff, diff_size = _diff(heard, config.budget_of("diff"))
    return Case(
        instruction=scenario.instruction,
        expected=scenario.expected_outcome,
        transcript=_transcript(heard, config.budget_of("transcript")),
        response=heard.response if heard.response is not None else outcome.response if outcome else "",
        diff=diff,
        diff_size=diff_size,
        results=tuple(row for row in evaluation.scorers if row.type != _NOTE),
        primary=_primary(scenario.recipe.scorers),
        commands=_commands(scenario.recipe.scorers),
        integrity=evaluation.integrity,
        notes=tuple(
            (spec.name, spec.required, str(spec.config.get("rubric", "")))
            for spec in scenario.recipe.scorers
            if spec.type == _NOTE
        ),
        stdout_tail=_tail(outcome.stdout.text) if outcome and outcome.stdout else "",
        stderr_tail=_tail(outcome.stderr.text) if outcome and outcome.stderr else "",
        exit_code=outcome.exit_code if outcome else None,
    )


async def judge_graded(
    graded: GradedSubject,
    heard: Heard,
    config: JudgeConfig,
    *,
    answers: Path | None = None,
    blobs: BlobStore | None = None,
) -> GradedSubject:
    """A grading with the judge's verdict in it.

    Args:
        graded: What the scorers concluded.
        heard: What else is known of the run.
        config: Who judges, and how.
        answers: Where answers are remembered; None: nowhere.
        blobs: Where raw answers are kept; None: only their ends, in the record.
    """
    cache = None if answers is None else AnswerDirectory(answers)
    async with Court(config, cache=cache, blobs=blobs) as court:
        judgement = await court.judge(case_of(heard, graded.evaluation, config))
    return graded._replace(evaluation=judged(graded.evaluation, judgement))


def judged(evaluation: Evaluation, judgement: Judgement) -> Evaluation:
    """The evaluation with what the judge said, as a further one: the given one stays what it is."""
    tags = [tag for tag in evaluation.error_taxonomy if tag.source is not ErrorSource.JUDGE]
    if judgement.failure_mode is not None:
        tags.append(
            ErrorTag(
                category=judgement.failure_mode.value,
                description=(judgement.reasoning[:500] or None),
                source=ErrorSource.JUDGE,
            )
        )
    confidence = evaluation.confidence
    if judgement.agreement is not None and (confidence is None or not confidence.annotator_count):
        confidence = ConfidenceMetadata(
            annotator_count=0,
            inter_rater_agreement=judgement.agreement,
            confidence_interval=judgement.interval,
            confidence_method=f"jury of {len(judgement.votes)} votes: share that agrees; Wilson's interval",
        )
    gates = evaluation.gates.model_copy(update={"judge": judge_gate(judgement)})
    return evaluation.model_copy(
        update={
            "id": os.urandom(16).hex(),
            "gates": gates,
            "judge": judgement.model_dump(mode="json"),
            "error_taxonomy": tuple(tags),
            "confidence": confidence,
        }
    )


def _transcript(heard: Heard, budget: int) -> str:
    """The turns of a session, whole as far as they fit, then how the agent worked."""
    said = "\n".join(f"{role}: {text}" for role, text in heard.session)
    if heard.trace is None:
        return said
    room = max(budget // 3, budget - len(said))
    try:
        trace = render_transcript(heard.trace.events(), room)
    except SubjectError as error:
        trace = f"(the trace cannot be read: {error.message})"
    return f"What was said:\n{said}\n\nHow the agent worked:\n{trace}" if said else trace


def _diff(heard: Heard, budget: int) -> tuple[str | None, int | None]:
    """The diff as text, with some room beyond the budget so that files with findings can come first."""
    if heard.change_set is None:
        return None, None
    ref = heard.change_set.diff
    if heard.blobs is None or not ref.stored:
        return ref.text, ref.size_bytes
    with heard.blobs.open(ref) as stream:
        data = stream.read(budget * 8)
    return data.decode("utf-8", "replace"), ref.size_bytes


def _primary(specs: Sequence[ScorerSpec]) -> str | None:
    return next((spec.name for spec in specs if spec.primary), None)


def _commands(specs: Sequence[ScorerSpec]) -> dict[str, str]:
    found = {}
    for spec in specs:
        for field in _COMMAND_FIELDS:
            if isinstance(command := spec.config.get(field), str):
                found[spec.name] = command
    return found


def _tail(text: str) -> str:
    return text[-4000:]
