"""The court: one configuration, the lines to its jurors, and what they conclude on each case."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from typing import Self

from adjudge.contracts import BlobStore
from adjudge.judge.asking import Question, ask_juror
from adjudge.judge.cache import AnswerCache, NoCache
from adjudge.judge.case import Case, Section, evidence_digest, lay_out
from adjudge.judge.injection import find_injections
from adjudge.judge.jury import poll
from adjudge.judge.keys import missing_key
from adjudge.judge.line import Line, Purse
from adjudge.judge.prompt import VERSION, opinion_request, repair_request
from adjudge.records.annotation import ConfidenceInterval
from adjudge.records.judgement import Judgement, JudgeOpinion, JudgeUsage, JudgeVerdict, Vote
from adjudge.records.judging import JudgeConfig, Juror
from adjudge.records.score import Finding
from adjudge.stats.intervals import wilson_interval

__all__ = ["Court", "missing_keys"]


def missing_keys(config: JudgeConfig) -> tuple[str, ...]:
    """Why jurors could not be asked; empty when all can be."""
    reasons = (missing_key(juror) for juror in config.jurors)
    return tuple(dict.fromkeys(reason for reason in reasons if reason is not None))


Arrange = Callable[[tuple[Section, ...]], tuple[Section, ...]]


class Court:
    """An async context manager; made and used in one event loop, for as many cases as there are.

    Args:
        config: Who judges, and how.
        cache: Answers given before.
        blobs: Where raw answers are kept; None: only their ends, in the record.
        purse: What may be spent; None: what the configuration says.
    """

    def __init__(
        self,
        config: JudgeConfig,
        *,
        cache: AnswerCache | None = None,
        blobs: BlobStore | None = None,
        purse: Purse | None = None,
    ) -> None:
        self.config = config
        self.purse = purse or Purse(config.max_cost_usd)
        self._cache = cache or NoCache()
        self._blobs = blobs
        gates: dict[tuple[str, str | None], asyncio.Semaphore] = {}
        self._lines: list[Line] = []
        for juror in config.jurors:
            gate = gates.setdefault(_place(juror), asyncio.Semaphore(config.concurrency))
            self._lines.append(Line(juror, config, gate, self.purse))

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *exc: object) -> None:
        for line in self._lines:
            await line.close()

    async def judge(self, case: Case, *, arrange: Arrange | None = None) -> Judgement:
        """Put a case before every juror and conclude. Faults are part of the result; nothing is raised.

        Args:
            case: What is known of the run.
            arrange: Changes the sections before they are shown, to see whether that matters.
        """
        began = time.perf_counter()
        sections, cut = lay_out(case, self.config)
        if arrange is not None:
            sections = arrange(sections)
        findings = injections_in(sections)
        votes = await self._votes(case, sections, findings)
        outcome = poll(votes, self.config)
        opinions = [vote.opinion for vote in votes if vote.opinion is not None]
        usage = JudgeUsage()
        for vote in votes:
            usage = usage.plus(vote.usage)
        return Judgement(
            **outcome._asdict(),
            votes=votes,
            aggregate=self.config.aggregate,
            quorum=self.config.needed,
            interval=_interval(opinions),
            findings=findings,
            cut=cut,
            config_digest=self.config.digest,
            evidence_digest=evidence_digest(sections),
            usage=usage,
            judged_at=datetime.now(UTC),
            duration_s=round(time.perf_counter() - began, 6),
        )

    async def _votes(
        self, case: Case, sections: Sequence[Section], findings: Sequence[Finding]
    ) -> tuple[Vote, ...]:
        async with asyncio.TaskGroup() as group:
            tasks = [
                group.create_task(self._vote(line, number, case, sections, findings))
                for line in self._lines
                for number in range(self.config.votes)
            ]
        return tuple(task.result() for task in tasks)

    async def _vote(
        self,
        line: Line,
        number: int,
        case: Case,
        sections: Sequence[Section],
        findings: Sequence[Finding],
    ) -> Vote:
        config, juror = self.config, line.juror
        seed = config.seed + number
        request = opinion_request(juror, config, sections, case.expected, findings, seed=seed)
        question = Question(
            request=request,
            kind=JudgeOpinion,
            repair=repair_request,
            identity=(
                "opinion",
                VERSION,
                evidence_digest(sections),
                case.expected.value,
                str(config.temperature),
                str(seed),
                str(config.max_output_tokens),
            ),
        )
        found = await ask_juror(question, line, self._cache, self._blobs)
        return Vote(
            juror=juror.model if config.votes == 1 else f"{juror.model} #{number + 1}",
            model=juror.model,
            provider=juror.provider_name,
            opinion=found.answer,
            fault=found.fault,
            reason=found.reason,
            raw=found.raw,
            repaired=found.repaired,
            cached=found.cached,
            usage=found.usage,
            duration_s=round(found.duration_s, 6),
        )


def injections_in(sections: Sequence[Section]) -> tuple[Finding, ...]:
    """Text of the attempt's that speaks to the judge, over all sections it wrote."""
    return tuple(
        finding
        for section in sections
        if not section.trusted
        for finding in find_injections(section.text, section.name)
    )


def _interval(opinions: Sequence[JudgeOpinion]) -> ConfidenceInterval | None:
    if len(opinions) < 2:
        return None
    passes = sum(opinion.verdict is JudgeVerdict.PASS for opinion in opinions)
    low, high = wilson_interval(passes, len(opinions))
    return ConfidenceInterval(low=low, high=high)


def _place(juror: Juror) -> tuple[str, str | None]:
    return juror.provider_name, juror.base_url
