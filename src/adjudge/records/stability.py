"""Which tests of a task do not end the same way each time, as repeated runs on its baseline showed."""

from collections.abc import Mapping

from pydantic import Field

from adjudge.records.base import Digest, Record

__all__ = ["StabilityMeasurement", "StabilityRecord", "SuiteStability", "UnstableTest"]


class UnstableTest(Record):
    """A test whose runs disagree on whether it passes."""

    id: str
    outcomes: Mapping[str, int]
    """How many runs ended in which way; `missing` where a whole run said nothing of it."""


class SuiteStability(Record):
    """The suite of one scorer, run several times."""

    scorer: str
    """Its name in the recipe."""
    tests: int = Field(ge=0)
    """How many tests were seen."""
    unstable: tuple[UnstableTest, ...] = ()
    """In the order of their ids."""
    broken_off: int = Field(default=0, ge=0)
    """How many runs did not reach their end; a test that such a run says nothing of was not seen in it."""
    problem: str = ""
    """Why the first of these broke off."""


class StabilityMeasurement(Record):
    """One repeated run of every suite of a task, all in one environment."""

    measured_at: str
    baseline_digest: Digest
    """What it ran on."""
    repeats: int = Field(ge=2)
    suites: tuple[SuiteStability, ...]


class StabilityRecord(Record):
    """Everything that was measured for a task. It lies beside the task and is no part of its digest."""

    task_digest: Digest
    measurements: tuple[StabilityMeasurement, ...]

    def unstable(self) -> dict[str, frozenset[str]]:
        """Ids that were unstable in any measurement, by the name of the scorer."""
        found: dict[str, frozenset[str]] = {}
        for measurement in self.measurements:
            for suite in measurement.suites:
                ids = frozenset(test.id for test in suite.unstable)
                found[suite.scorer] = found.get(suite.scorer, frozenset()) | ids
        return {scorer: ids for scorer, ids in found.items() if ids}
