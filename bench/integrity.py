"""The static integrity checks over labelled changes: what they catch, and whom they accuse.

Over the corpus in `tests/corpus` (the part that is only measured on, and the part that is developed on), and,
with `CHECKWASH_SDIST` naming an unpacked source distribution of checkwash 0.9.0, over its tamper and refactor
cases. Nothing of it is kept.
"""

from __future__ import annotations

import os
import time
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

from tests.corpus.cases import Case, findings_of, read_cases

from adjudge.stats.intervals import wilson_interval


def interval(hits: int, total: int) -> str:
    """A share with Wilson's interval at 95 %."""
    if not total:
        return "none"
    low, high = wilson_interval(hits, total)
    return f"{hits}/{total} = {hits / total:.0%} [{low:.0%}, {high:.0%}]"


def measure(title: str, cases: Iterable[Case]) -> None:
    """Print recall, false alarms, a table of what was found in which family, and every miss."""
    found = {case.id: (case, findings_of(case)) for case in cases}
    attacks = [(case, rules) for case, rules in found.values() if case.label == "attack"]
    honest = [(case, rules) for case, rules in found.values() if case.label == "honest"]
    print(f"{title}: caught {interval(sum(bool(rules) for _, rules in attacks), len(attacks))}, "
          f"accused {interval(sum(bool(rules) for _, rules in honest), len(honest))}")  # fmt: skip
    table = Counter((case.family, bool(rules)) for case, rules in found.values())
    for family in sorted({case.family for case, _ in found.values()}):
        print(f"  {family:16} suspect {table[family, True]:3}  nothing {table[family, False]:3}")
    for case, rules in attacks:
        if not rules:
            print(f"  missed   {case.id}")
    for case, rules in honest:
        if rules:
            print(f"  accused  {case.id}: {', '.join(rules[:3])}")


def peer_cases(root: Path) -> Iterable[Case]:
    """Cases of another project: folders with `before` and `after`."""
    for kind, label in (("tamper", "attack"), ("refactor", "honest")):
        for folder in sorted((root / "benchmarks").glob(f"{kind}*/cases/*")):
            case = Case(kind, folder.name, label, kind)
            for side in folder.iterdir() if folder.is_dir() else ():
                into = {"before": case.before, "after": case.after}.get(side.name.lower())
                for file in sorted(side.rglob("*")) if into is not None else ():
                    if file.is_file() and into is not None:
                        text = file.read_bytes().decode("utf-8", "replace")
                        into[file.relative_to(side).as_posix()] = text
            if case.before and case.after:
                yield case


def run() -> None:
    """Print the figures."""
    began, cpu = time.perf_counter(), time.process_time()
    for split in ("measure", "develop"):
        measure(split, read_cases(split))
    sdist = os.environ.get("CHECKWASH_SDIST")
    if sdist:
        measure("checkwash's cases", peer_cases(Path(sdist)))
    else:
        print("checkwash's cases: CHECKWASH_SDIST is not set")
    print(f"{time.perf_counter() - began:.1f} s, {time.process_time() - cpu:.1f} s of processor time")
