"""The plan of a grading: every scorer of the recipe made ready, and the union of what they ask for."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, Protocol

from adjudge import catalog
from adjudge.errors import AdjudgeError, PluginError, UsageError
from adjudge.records.base import Record
from adjudge.records.evidence import AnyRequest, EvidenceRequest
from adjudge.records.score import Recipe, ScorerOutcome, ScorerSpec

__all__ = ["Collected", "Plan", "PlannedScorer", "ReadyScorer", "blame", "make_plan"]


class ReadyScorer(Protocol):
    """A scorer bound to its line of the recipe, wherever its code runs."""

    version: str

    def needs(self) -> Sequence[AnyRequest]:
        """What it reads."""

    def score(self, evidence: Mapping[str, tuple[AnyRequest, Record]]) -> ScorerOutcome:
        """Its outcome; `evidence` is by request digest and holds exactly what it declared."""

    def close(self) -> None:
        """Let go of whatever it holds."""


class PlannedScorer(NamedTuple):
    """One line of the recipe, ready to be scored, or the reason why it never will be."""

    spec: ScorerSpec
    ready: ReadyScorer | None
    requests: tuple[str, ...] = ()
    """Digests of what it asked for, each once."""
    problem: AdjudgeError | None = None
    """Why the plug-in could not be made ready; its verdict is ERROR."""


class Plan(NamedTuple):
    """What a grading will do."""

    scorers: tuple[PlannedScorer, ...]
    requests: Mapping[str, AnyRequest]
    """Digest → request, in the order first asked for."""

    def close(self) -> None:
        """Let go of what the scorers hold."""
        for planned in self.scorers:
            if planned.ready is not None:
                planned.ready.close()


class OwnScorer:
    """A built-in, called directly: its code is ours, so it runs where we run."""

    def __init__(self, spec: ScorerSpec) -> None:
        scorer_class = catalog.load("scorers", spec.type)
        self.version: str = scorer_class.version
        self._scorer: Any = scorer_class()
        self._config = scorer_class.Config.model_validate_json(json.dumps(dict(spec.config)))

    def needs(self) -> Sequence[AnyRequest]:
        """What it reads."""
        requests: Sequence[AnyRequest] = self._scorer.needs(self._config)
        return requests

    def score(self, evidence: Mapping[str, tuple[AnyRequest, Record]]) -> ScorerOutcome:
        """Its outcome."""
        outcome = self._scorer.score(self._config, Collected(evidence))
        if not isinstance(outcome, ScorerOutcome):
            raise TypeError(f"score() returned {type(outcome).__name__}, expected ScorerOutcome")
        return outcome

    def close(self) -> None:
        """Nothing is held."""


class Collected:
    """`contracts.Evidence` over what one scorer declared."""

    def __init__(self, answers: Mapping[str, tuple[AnyRequest, Record]]) -> None:
        self._answers = answers

    def __getitem__(self, request: Any) -> Any:
        try:
            return self._answers[request.digest][1]
        except KeyError:
            raise KeyError(f"{request!r} was not declared in needs()") from None


def make_plan(recipe: Recipe) -> Plan:
    """Make every scorer ready and gather what they ask for, equal requests once.

    A scorer that cannot be made ready does not stop the others: its row will say so.

    Raises:
        PluginNotFound: A type that nobody on this machine provides.
    """
    planned: list[PlannedScorer] = []
    requests: dict[str, AnyRequest] = {}
    for spec in recipe.scorers:
        try:
            ready = _ready(spec)
        except UsageError:
            Plan(tuple(planned), {}).close()
            raise
        except Exception as error:
            problem = blame(spec.type, "unknown", "cannot be made ready", error)
            planned.append(PlannedScorer(spec=spec, ready=None, problem=problem))
            continue
        try:
            asked = {request.digest: request for request in map(_checked, ready.needs())}
        except Exception as error:
            ready.close()
            problem = blame(spec.type, ready.version, "raised in needs()", error)
            planned.append(PlannedScorer(spec=spec, ready=None, problem=problem))
            continue
        for digest, request in asked.items():
            requests.setdefault(digest, request)
        planned.append(PlannedScorer(spec=spec, ready=ready, requests=tuple(asked)))
    return Plan(scorers=tuple(planned), requests=requests)


def blame(type_: str, version: str, what: str, error: Exception) -> PluginError:
    """The error of a scorer type, naming its version and the distribution it came with."""
    if isinstance(error, AdjudgeError):
        detail = error.message
    else:
        detail = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
    distribution = catalog.distribution_of("scorers", type_)
    blamed = PluginError(
        f"scorer type {type_!r} version {version} of distribution {distribution!r} {what}: {detail}"
    )
    blamed.__cause__ = error
    return blamed


def _ready(spec: ScorerSpec) -> ReadyScorer:
    if spec.type in catalog.BUILTINS.get("scorers", {}):
        return OwnScorer(spec)
    # A module of its own, loaded only for extensions: it starts processes.
    from adjudge.engine.stranger import StrangerScorer  # noqa: PLC0415

    return StrangerScorer(spec)


def _checked(request: object) -> AnyRequest:
    if not isinstance(request, AnyRequest):
        expected = ", ".join(sorted(kind.__name__ for kind in EvidenceRequest.__subclasses__()))
        raise TypeError(f"asked for {request!r}, expected one of {expected}")
    return request
