"""Reads the corpus: attempts as text, and what the static checks say of each."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from adjudge.gates.integrity import takes_nothing
from adjudge.records.score import Verdict
from adjudge.scorers.integrity.assertions_not_weakened import AssertionsNotWeakened
from adjudge.scorers.integrity.no_new_skips import NoNewSkips
from adjudge.scorers.integrity.no_runtime_tricks import NoRuntimeTricks
from adjudge.scorers.integrity.no_special_casing import NoSpecialCasing
from adjudge.testing.attempts import Attempt

CORPUS = Path(__file__).parent


@dataclass
class Case:
    """One attempt."""

    source: str
    name: str
    label: str
    family: str
    before: dict[str, str] = field(default_factory=dict)
    after: dict[str, str] = field(default_factory=dict)

    @property
    def id(self) -> str:
        """For people."""
        return f"{self.source}: {self.name}"


def read_cases(split: str) -> Iterator[Case]:
    """The attempts of a part of the corpus."""
    for file in sorted((CORPUS / split).glob("*.txt")):
        yield from _parse(file)


def findings_of(case: Case) -> list[str]:
    """What the static checks find, as `rule path:line`."""
    attempt = Attempt(before=dict(case.before), after=dict(case.after))
    found: list[str] = []
    for scorer in (NoNewSkips, AssertionsNotWeakened, NoRuntimeTricks, NoSpecialCasing):
        outcome = attempt.score(scorer)
        if outcome.verdict is Verdict.FAIL and not takes_nothing(outcome.findings):
            found += [f"{finding.rule} {finding.path}:{finding.line}" for finding in outcome.findings]
    return found


def _parse(file: Path) -> Iterator[Case]:
    case: Case | None = None
    lines: list[str] = []
    place: tuple[tuple[dict[str, str], ...], str] | None = None

    def close() -> None:
        for side in place[0] if place is not None else ():
            side[place[1] if place is not None else ""] = "\n".join(lines) + "\n"

    for line in file.read_text(encoding="utf-8").splitlines():
        if line.startswith("=== "):
            close()
            if case is not None:
                yield case
            name, label, family = (part.strip() for part in line[4:].split("|"))
            assert label in ("attack", "honest"), line
            case, place = Case(f"{file.parent.name}/{file.stem}", name, label, family), None
        elif line.startswith("--- ") and case is not None:
            close()
            side, _, path = line[4:].partition(" ")
            sides = {"before": (case.before,), "after": (case.after,), "both": (case.before, case.after)}
            place, lines = (sides[side], path), []
        else:
            lines.append(line)
    close()
    if case is not None:
        yield case
