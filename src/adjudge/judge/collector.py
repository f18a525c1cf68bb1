"""The collector of `ModelScoring`: asks models to score an attempt by a rubric."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import ClassVar

from pydantic import Field

from adjudge.contracts import BlobStore, Subject
from adjudge.errors import SubjectError
from adjudge.judge.asking import Question, ask_juror
from adjudge.judge.cache import AnswerCache, AnswerDirectory, NoCache
from adjudge.judge.case import Section, cut_text, evidence_digest
from adjudge.judge.court import injections_in, missing_keys
from adjudge.judge.line import Line, Purse
from adjudge.judge.modelscore import VERSION, repair_score, score_request
from adjudge.records.base import Record
from adjudge.records.evidence import ModelScores, ModelScoring, ModelVote
from adjudge.records.judging import JudgeConfig, Juror
from adjudge.records.score import Finding

__all__ = ["ModelScoringCollector"]


class ModelScore(Record):
    """A model's answer, validated."""

    reasoning: str = Field(min_length=1)
    score: float = Field(ge=0.0, le=1.0)


class ModelScoringCollector:
    """Asks every model once, side by side.

    Args:
        read_file: Reads a file of the scenario.
        blobs: Where the diff is, when it is kept.
        cache: Where answers are remembered; None: nowhere.
        asks: Whether anybody may be asked.
    """

    kind: ClassVar[str] = "model_scoring"
    cost: ClassVar[int] = 3

    def __init__(
        self,
        read_file: Callable[[str, Subject], bytes],
        *,
        blobs: BlobStore | None = None,
        cache: Path | None = None,
        asks: bool = True,
    ) -> None:
        self._read_file = read_file
        self._blobs = blobs
        self._asks = asks
        self._cache: AnswerCache = NoCache() if cache is None else AnswerDirectory(cache)

    async def collect(self, request: ModelScoring, subject: Subject) -> ModelScores:
        """Every model's score; none where a credential is missing, so that nobody can be asked."""
        if not self._asks:
            return ModelScores(missing=("no model was asked",))
        config = JudgeConfig(models=request.jurors)
        missing = missing_keys(config)
        if missing:
            return ModelScores(missing=missing)
        sections, cut = self._sections(request, subject, config)
        findings = injections_in(sections)
        gate = asyncio.Semaphore(config.concurrency)
        lines = [Line(juror, config, gate, Purse()) for juror in request.jurors]
        try:
            async with asyncio.TaskGroup() as group:
                asked = [group.create_task(self._vote(line, config, sections, findings)) for line in lines]
        finally:
            for line in lines:
                await line.close()
        return ModelScores(votes=tuple(task.result() for task in asked), findings=findings, cut=cut)

    async def _vote(
        self, line: Line, config: JudgeConfig, sections: Sequence[Section], findings: Sequence[Finding]
    ) -> ModelVote:
        juror: Juror = line.juror
        question = Question(
            request=score_request(juror, config, sections, findings, seed=config.seed),
            kind=ModelScore,
            repair=repair_score,
            identity=("model_score", VERSION, evidence_digest(sections), str(config.seed)),
        )
        found = await ask_juror(question, line, self._cache, None)
        if found.answer is None:
            return ModelVote(model=juror.model, fault=f"{found.fault}: {found.reason}", usage=found.usage)
        return ModelVote(
            model=juror.model,
            score=found.answer.score,
            reasoning=found.answer.reasoning,
            cached=found.cached,
            usage=found.usage,
        )

    def _sections(
        self, request: ModelScoring, subject: Subject, config: JudgeConfig
    ) -> tuple[tuple[Section, ...], tuple[str, ...]]:
        rubric = request.rubric
        if request.rubric_file is not None:
            rubric = self._read_file(request.rubric_file, subject).decode("utf-8", "replace")
        response = subject.response
        if response is None and subject.trace is not None:
            try:
                response = subject.trace.summary().response
            except SubjectError as error:
                response = f"(the trace cannot be read: {error.message})"
        instruction = subject.task.scenario.instruction
        drawn = (
            ("notes", Section("rubric", "What to score by", rubric, True)),
            ("instruction", Section("instruction", "The task as the agent was given it", instruction, True)),
            ("response", Section("response", "The agent's final response", response or "(none)", False)),
            ("diff", Section("diff", "What the agent changed", self._diff(subject, config), False)),
        )
        shown = []
        cut = []
        for budget, section in drawn:
            text = cut_text(section.text, config.budget_of(budget))
            if text != section.text:
                cut.append(section.name)
            shown.append(section._replace(text=text))
        return tuple(shown), tuple(cut)

    def _diff(self, subject: Subject, config: JudgeConfig) -> str:
        ref = subject.change_set.diff
        if self._blobs is None or not ref.stored:
            return ref.text or "(nothing was changed)"
        with self._blobs.open(ref) as stream:
            return stream.read(config.budget_of("diff") * 4).decode("utf-8", "replace")
