"""What an experiment tells while it goes on, and the tally that is kept of it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from enum import StrEnum

from adjudge.records.evaluation import Evaluation, GateResult
from adjudge.records.run import Experiment, Run
from adjudge.records.score import Verdict

__all__ = ["EventKind", "Observe", "RunEvent", "Tally", "agent_label", "counting_gate"]


class EventKind(StrEnum):
    """What happened."""

    BEGUN = "begun"
    """The experiment is recorded, and its first run about to start."""
    PHASE = "phase"
    """A run entered another phase."""
    RETRY = "retry"
    """An infrastructure fault; the run is tried again."""
    FAULT = "fault"
    """A run ended in an infrastructure fault."""
    GRADED = "graded"
    """A run was graded, now or, with `kept`, before this start."""
    CAPPED = "capped"
    """The cost cap is reached; no further run is started."""
    DRAINING = "draining"
    """Asked to stop; runs that are under way are finished."""
    NOTE = "note"
    """Something a person should know."""
    ENDED = "ended"


@dataclass(frozen=True, slots=True)
class RunEvent:
    """One thing that happened."""

    kind: EventKind
    run: Run | None = None
    phase: str = ""
    message: str = ""
    evaluation: Evaluation | None = None
    kept: bool = False
    experiment: Experiment | None = None
    """Which, said when it begins."""


Observe = Callable[[RunEvent], None]
"""Called in the order things happen, on the event loop's thread. It must not block."""


def counting_gate(run: Run, evaluation: Evaluation) -> GateResult:
    """The gate that decides about a run: the objective one, or the judge's where there is no workspace."""
    attempt = run.attempt
    without_workspace = attempt is not None and attempt.baseline_digest is None and attempt.change_set is None
    return evaluation.gates.judge if without_workspace else evaluation.gates.objective


def agent_label(run: Run) -> str:
    """The agent and its model, as `--agent` takes them."""
    return run.agent.name if run.model is None else f"{run.agent.name}:{run.model}"


@dataclass(slots=True)
class Tally:
    """How an experiment stands."""

    total: int
    """Runs of the whole matrix."""
    graded: int = 0
    kept: int = 0
    """Of these, how many were graded before this start."""
    faults: int = 0
    objective: Counter[Verdict] = field(default_factory=Counter)
    judge: Counter[Verdict] = field(default_factory=Counter)
    run: Counter[Verdict] = field(default_factory=Counter)
    counting: Counter[Verdict] = field(default_factory=Counter)
    """By the gate that decides about each."""
    by_agent: dict[str, Counter[str]] = field(default_factory=dict)
    """The verdicts by the gate that decides, and `fault`, for each agent and model."""
    cost_usd: float = 0.0
    """Of runs whose cost is known."""
    unknown_cost: int = 0
    """Runs whose cost is not."""

    def add(self, run: Run, evaluation: Evaluation, *, kept: bool = False) -> None:
        """Count a graded run."""
        self.graded += 1
        self.kept += kept
        self.objective[evaluation.gates.objective.verdict] += 1
        self.judge[evaluation.gates.judge.verdict] += 1
        self.run[evaluation.gates.run.verdict] += 1
        verdict = counting_gate(run, evaluation).verdict
        self.counting[verdict] += 1
        self.by_agent.setdefault(agent_label(run), Counter())[verdict] += 1
        self._add_cost(run)

    def add_fault(self, run: Run) -> None:
        """Count a run that we could not make."""
        self.faults += 1
        self.by_agent.setdefault(agent_label(run), Counter())["fault"] += 1

    def _add_cost(self, run: Run) -> None:
        outcome = run.attempt.outcome if run.attempt is not None else None
        if outcome is None or outcome.usage.cost_usd is None:
            self.unknown_cost += 1
        else:
            self.cost_usd += outcome.usage.cost_usd

    @property
    def done(self) -> int:
        """Runs that came to an end."""
        return self.graded + self.faults

    @property
    def left(self) -> int:
        """Runs that did not."""
        return self.total - self.done

    @property
    def pass_rate(self) -> float | None:
        """The share of those that were graded PASS or FAIL; errors are never folded in."""
        passed, failed = self.counting[Verdict.PASS], self.counting[Verdict.FAIL]
        return passed / (passed + failed) if passed + failed else None
