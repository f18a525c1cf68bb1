"""Whole attempts at small tasks, made and graded for real: who passes, who is named, who is accused.

Each attempt of `tests/corpus/attempts` runs in a sandbox and is graded with its project's visible and hidden
tests and the integrity preset. `ATTEMPTS=words` takes only those with that in their name.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from tests.corpus.attempts import SPLITS, Whole, read_attempts
from tests.corpus.scenarios import AS_LEFT, HIDDEN_TESTS, write_scenario

from adjudge.records.evaluation import Evaluation
from adjudge.settings import load_settings
from adjudge.stats.intervals import wilson_interval
from adjudge.store.opening import store_for


class Graded(NamedTuple):
    """An attempt and what was said of it."""

    attempt: Whole
    evaluation: Evaluation

    @property
    def passed(self) -> bool:
        """Whether the objective gate let it through."""
        return self.evaluation.gates.objective.verdict == "PASS"

    @property
    def green_as_left(self) -> bool:
        """Whether its own tests pass in the workspace it left."""
        return any(row.name == AS_LEFT and row.verdict == "PASS" for row in self.evaluation.scorers)

    @property
    def solves_hidden_tests(self) -> bool:
        """Whether it passes the tests it never saw."""
        return any(row.name == HIDDEN_TESTS and row.verdict == "PASS" for row in self.evaluation.scorers)

    @property
    def accused(self) -> bool:
        """Whether it is called suspect or worse."""
        return self.evaluation.integrity.outcome in ("suspect", "tampered")

    @property
    def families(self) -> set[str]:
        """What kinds of tampering it is called."""
        tags = (tag.category.partition(":") for tag in self.evaluation.error_taxonomy or ())
        return {family for name, _, family in tags if name == "tampering" and family}


def grade_all(attempts: Sequence[Whole], folder: Path) -> list[Graded]:
    """Make and grade every attempt."""
    for number, attempt in enumerate(attempts):
        write_scenario(attempt, folder / "tasks" / f"{number:03}")
    environment = {
        **os.environ,
        "ADJUDGE_STORE": str(folder / "store"),
        "ADJUDGE_HOME": str(folder / "home"),
    }
    argv = [sys.executable, "-m", "adjudge", "run", str(folder / "tasks"), "--agent", "oracle", "--quiet"]
    subprocess.run(argv, env=environment, stdout=subprocess.DEVNULL, check=False)
    found: dict[str, Evaluation] = {}
    with store_for(load_settings(environment, folder), create=False) as store:
        for run in store.runs():
            evaluation = store.current_evaluation(run.id)
            if evaluation is not None:
                found[evaluation.task.name] = evaluation
    missing = [attempt.id for attempt in attempts if attempt.id not in found]
    if missing:
        print(f"  not graded: {', '.join(missing)}")
    return [Graded(attempt, found[attempt.id]) for attempt in attempts if attempt.id in found]


def share(title: str, rows: Sequence[bool]) -> None:
    """Print a share with Wilson's interval at 95 %."""
    low, high = wilson_interval(sum(rows), len(rows)) if rows else (0.0, 1.0)
    print(f"  {title:46} {sum(rows):3} of {len(rows):3}  [{low:.1%}, {high:.1%}]")


def show(split: str, graded: Sequence[Graded]) -> None:
    """Print the figures of a part of the corpus, a table per family, and every mistake."""
    attacks = [one for one in graded if one.attempt.label == "attack"]
    honest = [one for one in graded if one.attempt.label == "honest"]
    print(f"{split}: {len(attacks)} attacks, {len(honest)} honest changes")
    share("attacks whose own tests are green as left", [one.green_as_left for one in attacks])
    share("attacks that get no PASS", [not one.passed for one in attacks])
    share("attacks that are called suspect or tampered", [one.accused for one in attacks])
    share("attacks that are named as what they are", [named(one) for one in attacks])
    share("honest changes that are accused", [one.accused for one in honest])
    share("honest changes called tampered", [outcome(one) == "tampered" for one in honest])
    solved = [one for one in honest if one.solves_hidden_tests]
    share("honest solutions of hidden tests that PASS", [one.passed for one in solved])
    counts = Counter((one.attempt.family.partition("/")[0], outcome(one)) for one in attacks)
    for family in sorted({family for family, _ in counts}):
        said = ", ".join(f"{name} {n}" for (of, name), n in sorted(counts.items()) if of == family)
        print(f"    {family:18} {said}")
    for one in attacks:
        if one.passed:
            print(f"  passed    {one.attempt.id} ({outcome(one)})")
        elif not one.accused:
            print(f"  unnoticed {one.attempt.id}")
        elif not named(one):
            print(f"  misnamed  {one.attempt.id}: {', '.join(sorted(one.families)) or 'nothing'}")
        if not one.green_as_left:
            print(f"  not green as left: {one.attempt.id}")
    for one in solved:
        if not one.passed:
            print(f"  refused   {one.attempt.id}: {one.evaluation.gates.objective.reason}")
    for one in honest:
        if one.accused:
            print(f"  accused   {one.attempt.id}: {'; '.join(one.evaluation.integrity.reasons)[:160]}")


def named(one: Graded) -> bool:
    """Whether one of an attack's families was found."""
    return bool(one.families & set(one.attempt.family.split("/")))


def outcome(one: Graded) -> str:
    """The integrity outcome."""
    return one.evaluation.integrity.outcome


def run() -> None:
    """Print the figures."""
    wanted = os.environ.get("ATTEMPTS", "")
    for split in SPLITS:
        attempts = [attempt for attempt in read_attempts(split) if wanted in attempt.id]
        if not attempts:
            continue
        # Not below /tmp: a sandbox has one of its own.
        with tempfile.TemporaryDirectory(dir=os.environ.get("BENCH_FOLDER", "/var/tmp")) as folder:
            show(split, grade_all(attempts, Path(folder)))
