"""The static integrity checks over labelled changes: what they catch, and whom they accuse.

Over the corpus in `tests/corpus` (the part that is only measured on, and the part that is developed on) and,
with `CHECKWASH_SDIST` naming an unpacked source distribution of checkwash 0.9.0, over its tamper and refactor
cases. With `CHECKWASH_PYTHON` naming an interpreter that has checkwash, it is asked for its verdict on every
case, too: one that it would block counts as caught. Nothing of it is kept.
"""

from __future__ import annotations

import json
import os
import resource
import subprocess
import time
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from tests.corpus.cases import Case, findings_of, read_cases

from adjudge.scorers.integrity.assertions_not_weakened import AssertionsNotWeakened
from adjudge.stats.intervals import wilson_interval
from adjudge.testing.attempts import Attempt

_PEER_WITHIN_S = 300
_PEER = r"""
import datetime, json, sys
from checkwash.config import Config
from checkwash.contract import Contract
from checkwash.engine import FileChange, analyze
from checkwash.gitio.snapshot import search_source_mapping
from checkwash.pyenv import known_baseline

said = {}
for case in json.load(sys.stdin):
    before = {path: text.encode() for path, text in case["before"].items()}
    after = {path: text.encode() for path, text in case["after"].items()}
    changes = []
    for path in sorted(before.keys() | after.keys()):
        old, new = before.get(path), after.get(path)
        if old == new:
            continue
        status = "added" if old is None else "deleted" if new is None else "modified"
        changes.append(FileChange(path=path, status=status, before=old, after=new))
    product = {path: data for path, data in after.items() if path.startswith("src/")}
    try:
        verdict = analyze(
            changes, Config(), Contract(), [], datetime.date(2026, 1, 1),
            known_modules=known_baseline() | {"app"},
            head_reader=product.get,
            head_searcher=lambda words: [
                path for path, data in sorted(product.items()) if any(word.encode() in data for word in words)
            ],
            root_reader=after.get,
            root_searcher=lambda words: search_source_mapping(after, words),
        )[2]
    except Exception as error:
        verdict = f"error: {error}"
    said[case["id"]] = verdict
json.dump(said, sys.stdout)
"""
"""Asks checkwash the way its own benchmarks do; it decides by what it blocks."""


@dataclass(frozen=True)
class _Answer:
    """What was said of a case."""

    case: Case
    rules: tuple[str, ...]
    peer: str | None
    """The peer's verdict; None where it was not asked."""

    @property
    def caught(self) -> bool:
        return bool(self.rules)

    @property
    def blocked(self) -> bool:
        return self.peer == "block"


def interval(hits: int, total: int) -> str:
    """A share with Wilson's interval at 95 %."""
    if not total:
        return "none"
    low, high = wilson_interval(hits, total)
    return f"{hits}/{total} = {hits / total:.0%} [{low:.0%}, {high:.0%}]"


def measure(title: str, cases: Iterable[Case]) -> None:
    """Print recall, false alarms, a table of who found what in which family, and every miss."""
    known = list(cases)
    peer = _ask_peer(known)
    answers = [_Answer(case, tuple(findings_of(case)), peer.get(case.id)) for case in known]
    print(f"{title}: {len(answers)} cases")
    _summary("adjudge", {answer.case.id: answer.caught for answer in answers}, known)
    if peer:
        _summary("checkwash", {answer.case.id: answer.blocked for answer in answers}, known)
        odd = sum(1 for answer in answers if (answer.peer or "").startswith("error"))
        if odd:
            print(f"  checkwash could not look at {odd} of them")
    heads = f"{'cases':>5} {'both':>5} {'adjudge':>8} {'checkwash':>10} {'neither':>8}"
    print(f"  {'family':22} {'label':7} {heads}")
    for label, family in sorted({(answer.case.label, answer.case.family) for answer in answers}):
        these = [one for one in answers if (one.case.label, one.case.family) == (label, family)]
        pairs = [(one.caught, one.blocked) for one in these]
        print(f"  {family:22} {label:7} {len(these):5} {pairs.count((True, True)):5} "
              f"{pairs.count((True, False)):8} {pairs.count((False, True)):10} "
              f"{pairs.count((False, False)):8}")  # fmt: skip
    for answer in answers:
        if answer.case.label == "attack" and not answer.caught:
            print(f"  adjudge missed {answer.case.id}")
    for answer in answers:
        if answer.case.label == "honest" and answer.caught:
            print(f"  adjudge accused {answer.case.id}: {', '.join(answer.rules[:3])}")
    if peer:
        _list("checkwash missed", [one for one in answers if one.case.label == "attack" and not one.blocked])
        _list("checkwash accused", [one for one in answers if one.case.label == "honest" and one.blocked])


def _summary(who: str, caught: Mapping[str, bool], cases: list[Case]) -> None:
    attacks = [caught[case.id] for case in cases if case.label == "attack"]
    honest = [caught[case.id] for case in cases if case.label == "honest"]
    print(f"  {who:10} caught {interval(sum(attacks), len(attacks))}, "
          f"accused {interval(sum(honest), len(honest))}")  # fmt: skip


def _list(what: str, answers: list[_Answer]) -> None:
    if answers:
        print(f"  {what}: {'; '.join(answer.case.name for answer in answers)}")


def _ask_peer(cases: list[Case]) -> dict[str, str]:
    """The peer's verdict on each case; nothing where there is no peer."""
    python = os.environ.get("CHECKWASH_PYTHON")
    if not python:
        return {}
    question = [{"id": case.id, "before": case.before, "after": case.after} for case in cases]
    done = subprocess.run(
        [python, "-c", _PEER],
        input=json.dumps(question).encode(),
        capture_output=True,
        timeout=_PEER_WITHIN_S,
        check=False,
    )
    if done.returncode != 0:
        print(f"checkwash could not be asked: {done.stderr.decode('utf-8', 'replace')[-400:]}")
        return {}
    answer = json.loads(done.stdout)
    return {str(key): str(value) for key, value in answer.items()}


def peer_cases(root: Path) -> Iterator[Case]:
    """Cases of another project: folders with `before` and `after`, and the source that both have."""
    for kind, label in (("tamper", "attack"), ("refactor", "honest")):
        for folder in sorted((root / "benchmarks").glob(f"{kind}*/cases/*")):
            arm = "disguised" if folder.name.startswith("d") else "open"
            family = f"{kind} {arm if label == 'attack' else folder.name.partition('_')[0].lower()}"
            case = Case(kind, folder.name, label, family)
            for side in folder.iterdir() if folder.is_dir() else ():
                name = side.name.lower()
                into = [
                    tree for tree, kind in ((case.before, "before"), (case.after, "after")) if kind == name
                ]
                prefix = ""
                if name in ("src", "prod-good"):
                    into, prefix = [case.before, case.after], "src/"
                for file in sorted(side.rglob("*")) if into else ():
                    if file.is_file():
                        text = file.read_bytes().decode("utf-8", "replace")
                        path = prefix + file.relative_to(side).as_posix().removeprefix("src/")
                        for tree in into:
                            tree[path] = text
            if case.before and case.after:
                yield case


def large_change(files: int) -> Attempt:
    """A change to many test files, each of a usual size."""
    text = "import pytest\nfrom shop import price\n\n" + "".join(
        f"def test_{number}(tmp_path):\n    got = price({number}, 'a')\n    assert got == {number}\n"
        f"    with pytest.raises(ValueError):\n        price(-{number + 1}, 'b')\n\n"
        for number in range(30)
    )
    before = {f"tests/test_{number}.py": text for number in range(files)}
    after = {path: text.replace("price(7, 'a')", "price(7, 'c')") for path, text in before.items()}
    return Attempt(before=before, after=after)


def run() -> None:
    """Print the figures."""
    began, cpu = time.perf_counter(), time.process_time()
    for split in ("measure", "develop"):
        measure(split, read_cases(split))
    sdist = os.environ.get("CHECKWASH_SDIST")
    if sdist:
        measure("checkwash's cases", peer_cases(Path(sdist)))
    else:
        print("checkwash's cases: not fetched (it takes a package index), so nothing is said of them")
    print(f"{time.perf_counter() - began:.1f} s, {time.process_time() - cpu:.1f} s of processor time")
    attempt = large_change(50)
    began, cpu = time.perf_counter(), time.process_time()
    attempt.score(AssertionsNotWeakened)
    print(f"50 changed test files of 30 tests: {time.perf_counter() - began:.2f} s, "
          f"{time.process_time() - cpu:.2f} s of processor time; peak memory "
          f"{resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:.0f} MiB")  # fmt: skip
