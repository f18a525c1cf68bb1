"""Reads whole attempts: small projects with a task, and what was done to them. `README.md` has the format."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

CORPUS = Path(__file__).parent
SPLITS = ("develop", "measure")
LABELS = ("attack", "honest")
_OLD, _NEW, _END = "<<<<", "====", ">>>>"


@dataclass
class Steps:
    """What is done to a workspace, in order: files, then commands."""

    parts: list[tuple[str, str, str]] = field(default_factory=list)
    """(`edit`, `write`, `delete`, `move` or `solution`; path; text)."""
    commands: str = ""

    def applied(self, tree: Mapping[str, str], solution: Steps | None = None) -> dict[str, str]:
        """The files afterwards."""
        files = dict(tree)
        for what, path, text in self.parts:
            if what == "solution":
                assert solution is not None, "no solution to apply"
                files = solution.applied(files)
            elif what == "write":
                files[path] = text
            elif what == "delete":
                del files[path]
            elif what == "move":
                source, _, target = path.partition(" -> ")
                files[target] = files.pop(source)
            else:
                files[path] = _edited(path, files[path], text)
        return files


@dataclass
class Project:
    """A baseline with a task."""

    name: str
    language: str
    command: str
    hidden_command: str
    instruction: str = ""
    files: dict[str, str] = field(default_factory=dict)
    hidden: dict[str, str] = field(default_factory=dict)
    solution: Steps = field(default_factory=Steps)


@dataclass
class Whole:
    """An attempt at a project's task, or at one of its own."""

    project: Project
    split: str
    name: str
    label: str
    family: str
    """Of an attack: families it may be called, with `/` between. Of an honest change: what kind it is."""
    instruction: str | None = None
    before: dict[str, str] = field(default_factory=dict)
    """What differs from the project's files in this attempt's baseline."""
    steps: Steps = field(default_factory=Steps)

    @property
    def id(self) -> str:
        """For people, and unique."""
        return f"{self.split}/{self.project.name}: {self.name}"

    @property
    def baseline(self) -> dict[str, str]:
        """The files it starts from: a task of its own starts from the project's solution."""
        solved = self.instruction is not None and not self.before
        if solved and all(what != "solution" for what, _, _ in self.steps.parts):
            return self.project.solution.applied(self.project.files)
        return {**self.project.files, **self.before}

    @property
    def final(self) -> dict[str, str]:
        """The files it ends with, but for what its commands do."""
        return self.steps.applied(self.baseline, self.project.solution)


@cache
def project(name: str) -> Project:
    """A project by its name."""
    ((head, parts),) = _sections(CORPUS / "projects" / f"{name}.txt")
    _, language, command, hidden_command = head
    found = Project(name, language, command, hidden_command)
    into: Steps | None = None
    for what, path, text in parts:
        if what == "solution":
            into = found.solution
        elif into is not None:
            into.parts.append((what, path, text))
        elif what == "instruction":
            found.instruction = text
        else:
            {"file": found.files, "hidden": found.hidden}[what][path] = text
    return found


def read_attempts(split: str) -> Iterator[Whole]:
    """Every whole attempt of a part of the corpus."""
    for file in sorted((CORPUS / "attempts" / split).glob("*.txt")):
        for head, parts in _sections(file):
            name, label, family = head
            assert label in LABELS, f"{file.name}: {name}: {label}"
            attempt = Whole(project(file.stem), split, name, label, family)
            for what, path, text in parts:
                if what == "instruction":
                    attempt.instruction = text
                elif what == "before":
                    attempt.before[path] = text
                elif what == "run":
                    attempt.steps.commands += text
                else:
                    attempt.steps.parts.append((what, path, text))
            yield attempt


def _edited(path: str, text: str, edits: str) -> str:
    for old, new in _pairs(edits.splitlines()):
        assert text.count(old) == 1, f"{path}: {text.count(old)} places for\n{old}"
        text = text.replace(old, new)
    return text


def _pairs(lines: Sequence[str]) -> Iterator[tuple[str, str]]:
    old: list[str] = []
    new: list[str] = []
    into: list[str] | None = None
    for line in lines:
        if line == _OLD:
            old, new = [], []
            into = old
        elif line == _NEW:
            into = new
        elif line == _END:
            yield _text(old), _text(new)
            into = None
        else:
            assert into is not None, f"outside of an edit: {line}"
            into.append(line)


def _text(lines: Sequence[str]) -> str:
    return "".join(f"{line}\n" for line in lines)


def _sections(file: Path) -> Iterator[tuple[tuple[str, ...], list[tuple[str, str, str]]]]:
    head: tuple[str, ...] | None = None
    parts: list[tuple[str, str, str]] = []
    lines: list[str] = []
    for line in [*file.read_text(encoding="utf-8").splitlines(), "=== "]:
        if line.startswith(("=== ", "--- ")) and parts:
            what, path, _ = parts[-1]
            parts[-1] = (what, path, _text(lines))
        if line.startswith("=== "):
            if head is not None:
                yield head, parts
            head, parts = tuple(part.strip() for part in line[4:].split("|")), []
        elif line.startswith("--- "):
            what, _, path = line[4:].partition(" ")
            parts.append((what, path, ""))
            lines = []
        else:
            lines.append(line)
