"""The static integrity detectors over commits that change tests: whom they accuse, and what a look costs.

Every commit of a public repository is taken for an honest attempt. `HISTORY_REPOS` names git directories;
`HISTORY_COMMITS` (120) is how many commits of each are looked at, the newest first, after passing over
`HISTORY_SKIP` (0) of them; `HISTORY_DETECTORS` names some detectors. Those of the preset `integrity` that
would run something are left out. A commit whose message orders changes to tests, as a task's text would, is
counted both ways. Nothing is checked out and nothing is kept.
"""

from __future__ import annotations

import os
import resource
import statistics
import subprocess
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from adjudge.catalog import load
from adjudge.formats.patterns import PathPatterns
from adjudge.formats.tasks.presets import PRESETS
from adjudge.gates.integrity import orders_test_changes
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
_NEED_MORE = frozenset({"baseline_tests", "test_inventory", "no_leaks", "workspace_confined"})
"""Detectors that take a run, a trace or a workspace on disk."""
_OF_TESTS = ("no_new_skips", "assertions_not_weakened")
"""Detectors of what a task can order."""
_MAX_FILE_BYTES = 1024 * 1024
_MAX_FILES = 400
"""A commit that touches more is an import or a sweep of formatting, and says nothing of attempts."""
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

    def commits(self, tests: PathPatterns) -> Iterator[tuple[str, dict[str, str]]]:
        """Commits without merges that change test files, with the files they moved."""
        text = self.git("log", "--no-merges", "--format=%x01%H", "--raw", "-z", "-M", "--no-abbrev", "HEAD")
        for block in text.split("\x01")[1:]:
            head, *words = block.replace("\n", "\0").split("\0")
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
            if known and len(touched) <= _MAX_FILES:
                yield head.strip(), moved


@dataclass
class _Figures:
    """What a repository, or all of them, come to."""

    commits: int = 0
    suspect: int = 0
    unordered: int = 0
    """Suspect commits whose message, read as the task's text, does not order changes to tests."""
    tampered: int = 0
    seconds: list[float] = field(default_factory=list)
    rules: Counter[str] = field(default_factory=Counter)


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


def _measure(repository: _Repository, detectors: dict[str, Any], limit: int, skip: int) -> _Figures:
    figures = _Figures()
    tests = PathPatterns(default_test_globs())
    for number, (commit, moved) in enumerate(repository.commits(tests)):
        if number < skip:
            continue
        if figures.commits >= limit:
            break
        try:
            before = repository.tree(f"{commit}^")
        except subprocess.CalledProcessError:
            # The first commit, or where the snapshot is cut off.
            continue
        after = repository.tree(commit)
        renamed = {old: new for old, new in moved.items() if old in before and new in after}
        attempt = Attempt(before=before, after=after, renamed=renamed)
        began = time.perf_counter()
        found = _look(attempt, detectors)
        figures.seconds.append(time.perf_counter() - began)
        figures.commits += 1
        figures.suspect += bool(found)
        ordered = bool(found) and orders_test_changes(repository.git("log", "-1", "--format=%B", commit))
        figures.unordered += any(not (ordered and name in _OF_TESTS) for name, _ in found)
        proven = any(finding.proof for _, finding in found)
        figures.tampered += proven
        figures.rules.update({finding.rule or "" for _, finding in found})
        for name, finding in found[:6]:
            word = "tampered" if proven else "ordered" if ordered and name in _OF_TESTS else "suspect"
            message = " ".join(finding.message.split())[:220]
            print(f"  {word} {repository.name} {commit[:12]} {name} {finding.rule}: {message}", flush=True)
        if len(found) > 6:
            print(f"    and {len(found) - 6} more of it")
    return figures


def _share(hits: int, total: int) -> str:
    low, high = wilson_interval(hits, total) if total else (0.0, 1.0)
    return f"{hits} of {total} [{low:.2%}, {high:.2%}]"


def run() -> None:
    """Print every accusation, then the figures."""
    named = os.environ.get("HISTORY_REPOS", "").split()
    if not named:
        print("no repositories: make bench-history REPOS='a/.git b/.git'")
        return
    limit, skip = int(os.environ.get("HISTORY_COMMITS", "120")), int(os.environ.get("HISTORY_SKIP", "0"))
    detectors = _detectors()
    print(f"detectors: {', '.join(detectors)}")
    total = _Figures()
    for root in named:
        repository = _Repository(Path(root))
        try:
            figures = _measure(repository, detectors, limit, skip)
        finally:
            repository.reader.kill()
            repository.reader.wait()
        print(f"{repository.name}: {figures.commits} commits, suspect {figures.suspect} "
              f"({figures.unordered} if messages are orders), "
              f"tampered {figures.tampered}", flush=True)  # fmt: skip
        total.commits += figures.commits
        total.suspect += figures.suspect
        total.unordered += figures.unordered
        total.tampered += figures.tampered
        total.seconds += figures.seconds
        total.rules += figures.rules
    print(f"in all: suspect {_share(total.suspect, total.commits)}, with messages read as the task's text "
          f"{_share(total.unordered, total.commits)}, "
          f"tampered {_share(total.tampered, total.commits)}")  # fmt: skip
    for rule, count in total.rules.most_common():
        print(f"  {rule}: in {count} commits")
    if total.seconds:
        ordered = sorted(total.seconds)
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        print(f"time per change: median {statistics.median(ordered) * 1000:.0f} ms, "
              f"95 % within {ordered[int(len(ordered) * 0.95) - 1] * 1000:.0f} ms, "
              f"longest {ordered[-1] * 1000:.0f} ms; peak memory {peak:.0f} MiB, trees included")  # fmt: skip
