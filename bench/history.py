"""The static integrity detectors over commits that change tests: whom they accuse, and what a look costs.

Every commit of a public repository is taken for an honest attempt. `HISTORY_REPOS` names git directories;
`HISTORY_COMMITS` (120) is how many commits of each are looked at, the newest first, after passing over
`HISTORY_SKIP` (0) of them; `HISTORY_DETECTORS` names some detectors. Those of the preset `integrity` that
would run something are left out. A commit whose message orders changes to tests, as a task's text would, is
counted both ways. Commits are looked at in `HISTORY_JOBS` processes (as many as there are processors).
Nothing is checked out and nothing is kept.
"""

from __future__ import annotations

import os
import resource
import statistics
import subprocess
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any

from adjudge.catalog import load
from adjudge.formats.patterns import PathPatterns
from adjudge.formats.tasks.presets import PRESETS
from adjudge.gates.integrity import is_ordered, takes_nothing
from adjudge.records.base import Record
from adjudge.records.evidence import (
    AnyRequest,
    CommandRun,
    ModelScoring,
    ReportRun,
    TestCollection,
    TestRun,
    TraceRead,
    VerifierRun,
)
from adjudge.records.score import Finding, Verdict
from adjudge.stats.intervals import wilson_interval
from adjudge.syntax.languages import default_test_globs, is_third_party
from adjudge.testing.attempts import Attempt

_RUNS = (CommandRun, ModelScoring, ReportRun, TestCollection, TestRun, TraceRead, VerifierRun)
_NEED_MORE = frozenset({"baseline_tests", "test_inventory", "same_routes", "no_leaks", "workspace_confined"})
"""Detectors that take a run, a trace or a workspace on disk."""
_MAX_FILE_BYTES = 1024 * 1024
_MAX_FILES = 400
"""A commit that touches more is an import or a sweep of formatting, and says nothing of attempts."""
_PIECE = 20
"""Commits that a process takes at a time: neighbours share most of their files."""
_SHOWN = 6
_GIT = {"GIT_CONFIG_GLOBAL": "/dev/null", "GIT_CONFIG_SYSTEM": "/dev/null", "GIT_NO_REPLACE_OBJECTS": "1"}


@dataclass
class _Repository:
    """A git directory that is read object by object."""

    root: Path
    held: dict[str, bytes] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.reader = subprocess.Popen(
            ["git", "--git-dir", str(self.root), "cat-file", "--batch"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env={**os.environ, **_GIT},
        )

    @property
    def name(self) -> str:
        """For people."""
        return self.root.parent.name if self.root.name in ("repo", ".git") else self.root.name

    def git(self, *arguments: str) -> str:
        done = subprocess.run(
            ["git", "--git-dir", str(self.root), *arguments],
            capture_output=True,
            env={**os.environ, **_GIT},
            check=True,
        )
        return done.stdout.decode("utf-8", "surrogateescape")

    def blob(self, identity: str) -> bytes:
        """A file's bytes; one that is too large, or that the snapshot lacks, stands as binary."""
        if identity not in self.held:
            assert self.reader.stdin is not None
            assert self.reader.stdout is not None
            self.reader.stdin.write(f"{identity}\n".encode())
            self.reader.stdin.flush()
            header = self.reader.stdout.readline().split()
            data = b""
            if len(header) == 3:
                data = self.reader.stdout.read(int(header[2]) + 1)[:-1]
            if len(header) != 3 or len(data) > _MAX_FILE_BYTES:
                data = b"\0" + identity.encode()
            if len(self.held) > 20_000:
                self.held.clear()
            self.held[identity] = data
        return self.held[identity]

    def tree(self, commit: str) -> dict[str, bytes]:
        """Every file of a commit."""
        entries = (
            line.split("\t", 1) for line in self.git("ls-tree", "-r", "-z", commit).split("\0") if line
        )
        return {
            path: self.blob(about.split()[2]) for about, path in entries if about.split()[0].startswith("100")
        }

    def message(self, commit: str) -> str:
        """What a commit says of itself."""
        return self.git("log", "-1", "--format=%B", commit)

    def close(self) -> None:
        """End the reader."""
        self.reader.kill()
        self.reader.wait()

    def commits(self, tests: PathPatterns) -> Iterator[tuple[str, dict[str, str]]]:
        """Commits without merges that change test files and have one before them, with what they moved."""
        text = self.git(
            "log", "--no-merges", "--format=%x01%H %P", "--raw", "-z", "-M", "--no-abbrev", "HEAD"
        )
        for block in text.split("\x01")[1:]:
            head, *words = block.replace("\n", "\0").split("\0")
            commit, *parents = head.split()
            moved: dict[str, str] = {}
            touched: list[str] = []
            words = [word for word in words if word]
            index = 0
            while index < len(words):
                status = words[index].split(" ")[-1]
                if status.startswith(("R", "C")) and index + 2 < len(words):
                    touched += words[index + 1 : index + 3]
                    if status.startswith("R"):
                        moved[words[index + 1]] = words[index + 2]
                    index += 3
                else:
                    touched += words[index + 1 : index + 2]
                    index += 2
            known = any(path in tests and not is_third_party(path) for path in touched)
            if known and parents and len(touched) <= _MAX_FILES:
                yield commit, moved


@dataclass(frozen=True)
class _Looked:
    """What was found in a commit."""

    commit: str
    title: str
    """The first line of its message."""
    ordered: frozenset[str]
    """Detectors whose findings its message, read as the task's text, orders."""
    found: tuple[tuple[str, Finding], ...]
    seconds: float

    @property
    def tampered(self) -> bool:
        return any(finding.proof for _, finding in self.found)

    @property
    def unordered(self) -> bool:
        """Whether something was found that its message does not order."""
        return any(name not in self.ordered for name, _ in self.found)


def _detectors() -> dict[str, Any]:
    """The detectors of the preset that only look."""
    found: dict[str, Any] = {}
    only = os.environ.get("HISTORY_DETECTORS", "").split()
    for name in only or PRESETS["integrity"]:
        scorer = load("scorers", name)
        if name in _NEED_MORE:
            continue
        if not any(isinstance(ask, _RUNS) for ask in scorer().needs(scorer.Config())):
            found[name] = scorer
    return found


def _look(attempt: Attempt, detectors: dict[str, Any]) -> list[tuple[str, Finding]]:
    """What each detector finds; evidence is gathered once for all of them, as in a grading."""
    found: list[tuple[str, Finding]] = []
    answers: dict[AnyRequest, Record] = {}
    for name, scorer in detectors.items():
        for ask in scorer().needs(scorer.Config()):
            if ask not in answers:
                answers[ask] = attempt.answer(ask)
        outcome = attempt.score(scorer, answers=answers)
        if outcome.verdict is Verdict.FAIL:
            found += [(name, finding) for finding in outcome.findings]
    return found


def _look_at(root: str, commits: Sequence[tuple[str, dict[str, str]]]) -> list[_Looked]:
    """A piece of a repository's history; those whose parent the snapshot lacks are passed over."""
    repository = _Repository(Path(root))
    detectors = _detectors()
    looked: list[_Looked] = []
    try:
        for commit, moved in commits:
            try:
                before = repository.tree(f"{commit}^")
            except subprocess.CalledProcessError:
                continue
            after = repository.tree(commit)
            renamed = {old: new for old, new in moved.items() if old in before and new in after}
            attempt = Attempt(before=before, after=after, renamed=renamed)
            began = time.perf_counter()
            found = _look(attempt, detectors)
            innocent = {
                name
                for name in dict(found)
                if takes_nothing([finding for by, finding in found if by == name])
            }
            found = [(by, finding) for by, finding in found if by not in innocent]
            seconds = time.perf_counter() - began
            message = repository.message(commit) if found else ""
            title = message.strip().partition("\n")[0][:100]
            ordered = {
                name
                for name in dict(found)
                if is_ordered(name, [finding for by, finding in found if by == name], message)
            }
            looked.append(_Looked(commit, title, frozenset(ordered), tuple(found), seconds))
    finally:
        repository.close()
    return looked


def _measure(root: str, pool: ProcessPoolExecutor, limit: int, skip: int) -> list[_Looked]:
    """What is found in a repository, the newest commit first."""
    repository = _Repository(Path(root))
    try:
        commits = list(islice(repository.commits(PathPatterns(default_test_globs())), skip, skip + limit))
    finally:
        repository.close()
    pieces = [commits[start : start + _PIECE] for start in range(0, len(commits), _PIECE)]
    looked: list[_Looked] = []
    for piece in pool.map(_look_at, [root] * len(pieces), pieces):
        for one in piece:
            _print(repository.name, one)
        looked += piece
    _summary(repository.name, looked)
    return looked


def _print(name: str, looked: _Looked) -> None:
    """A commit that is accused, with each rule, place and reason."""
    if not looked.found:
        return
    word = "tampered" if looked.tampered else "suspect" if looked.unordered else "ordered"
    print(f"  {word} {name} {looked.commit[:12]} {looked.title!r}")
    for detector, finding in looked.found[:_SHOWN]:
        print(f"    {detector} {finding.rule}: {' '.join(finding.message.split())[:220]}")
    if len(looked.found) > _SHOWN:
        print(f"    and {len(looked.found) - _SHOWN} more of it", flush=True)


def _summary(name: str, looked: Sequence[_Looked]) -> None:
    total = len(looked)
    print(f"{name}: suspect {_share(sum(one.unordered for one in looked), total)}, "
          f"{sum(bool(one.found) for one in looked)} where messages are no orders; "
          f"tampered {_share(sum(one.tampered for one in looked), total)}", flush=True)  # fmt: skip


def _share(hits: int, total: int) -> str:
    low, high = wilson_interval(hits, total) if total else (0.0, 1.0)
    rate = f"{hits / total:.1%}" if total else "unknown"
    return f"{hits} of {total} = {rate} [{low:.1%}, {high:.1%}]"


def run() -> None:
    """Print every accusation, then the figures."""
    named = os.environ.get("HISTORY_REPOS", "").split()
    if not named:
        print("no repositories: make bench-history REPOS='a/.git b/.git'")
        return
    limit, skip = int(os.environ.get("HISTORY_COMMITS", "120")), int(os.environ.get("HISTORY_SKIP", "0"))
    print(f"detectors: {', '.join(_detectors())}; a commit is suspect when its message, read as the task's "
          "text, does not order what was found")  # fmt: skip
    looked: list[_Looked] = []
    began = time.perf_counter()
    jobs = int(os.environ.get("HISTORY_JOBS", "0")) or os.cpu_count() or 1
    with ProcessPoolExecutor(jobs) as pool:
        for root in named:
            looked += _measure(root, pool, limit, skip)
    _summary("in all", looked)
    rules = Counter(
        pair
        for one in looked
        if one.unordered
        for pair in {(name, finding.rule) for name, finding in one.found}
    )
    for (name, rule), count in rules.most_common():
        print(f"  {name} {rule}: in {count} suspect commits")
    if looked:
        seconds = sorted(one.seconds for one in looked)
        peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
        print(f"time per change: median {statistics.median(seconds) * 1000:.0f} ms, "
              f"95 % within {seconds[int(len(seconds) * 0.95) - 1] * 1000:.0f} ms, "
              f"longest {seconds[-1] * 1000:.0f} ms; peak memory {peak:.0f} MiB, trees included; "
              f"{time.perf_counter() - began:.0f} s in all")  # fmt: skip
