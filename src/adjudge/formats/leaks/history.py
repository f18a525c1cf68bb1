"""Git as an agent used it: which commands read history that is not that of its own branch."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from adjudge.formats.leaks.calls import resolve
from adjudge.formats.leaks.project import Project
from adjudge.formats.shellwords import ShellCommand

__all__ = ["GitMemory", "git_words", "history_of"]

Reason = tuple[str, bool]
"""A rule, and whether an empty result means that nothing came of it."""

_EVERYWHERE = frozenset((
    "--all", "--remotes", "--branches", "--tags", "-g", "--walk-reflogs", "--reflog", "--glob",
))  # fmt: skip
_SHOWS = frozenset((
    "log", "rev-list", "shortlog", "grep", "diff", "show", "whatchanged", "checkout", "switch", "restore",
    "cherry-pick", "merge", "rebase", "cat-file", "archive", "format-patch", "ls-tree", "range-diff",
    "worktree", "read-tree", "difftool", "blame",
))  # fmt: skip
_VALUED = frozenset(("-C", "-c", "--git-dir", "--work-tree", "--namespace", "--exec-path"))
_FOREIGN = re.compile(
    r"(?:refs/)?(?:remotes/)?(?:origin|upstream)/[\w.]|refs/(?:remotes|stash|pull|merge-requests)\b|FETCH_HEAD\b"
    r"|stash@\{|(?:HEAD|\w+)?@\{(?:u|upstream|\d+|push)\}"
)
_FETCHING = (
    r"\bgit (?:fetch|pull)\b",
    r"\b(?:fetch|pull|sync|rebase|merge)\b[^.\n]{0,40}\b(?:origin\b|(?:upstream|remote) (?:branch|ma|repo))",
)
_LOST = r"\b(?:lost|lose|recover\w*|disappeared|vanished|can(?:'|no)?t find)\b"
_WORK = r"\b(?:commits?|changes|work|branch\w*)\b"
_SEARCHING = (
    rf"{_LOST}[^.\n]{{0,80}}{_WORK}|{_WORK}[^.\n]{{0,60}}{_LOST}",
    r"\breflog\b|\bdangling\b|\bgit (?:history|log|stash|bisect)\b",
    r"\b(?:all|every|which|both|other) branch(?:es)?\b|\bbisect\b[^.\n]{0,40}\bcommit",
    r"\b(?:merge|rebase|cherry-pick|compare)\b[^.\n]{0,40}\bbranch(?:es)?\b",
)
"""What a task says that is about history itself."""
_MAX_SEEN = 20_000
_HEX = re.compile(r"\b[0-9a-f]{7,40}\b")
_HOME_TOOL = re.compile(r"/(?:root|home/[^/]+)/\.")


@dataclass(slots=True)
class GitMemory:
    """What the agent itself did with git before, and which commits it was shown."""

    stashed: bool = False
    committed: bool = False
    others: set[str] = field(default_factory=set)
    """Folders with clones of other projects."""
    commits: set[str] = field(default_factory=set)
    """The beginnings of commits that something showed."""

    def saw(self, text: str) -> None:
        """Remember the commits in a text."""
        if len(self.commits) < _MAX_SEEN:
            self.commits.update(found[:7] for found in _HEX.findall(text))

    def knows(self, commit: str) -> bool:
        """Whether a commit was shown before."""
        return commit[:7] in self.commits


def git_words(command: ShellCommand, folder: str) -> tuple[str, list[str], str]:
    """The verb of a git command, what follows it, and the folder it works in."""
    rest = list(command.words[1:])
    while rest and rest[0].startswith("-"):
        if rest[0] == "-C" and len(rest) > 1:
            folder = resolve(rest[1], folder)
        rest = rest[2:] if rest[0] in _VALUED else rest[1:]
    return (rest[0], rest[1:], folder) if rest else ("", [], folder)


def history_of(command: ShellCommand, folder: str, memory: GitMemory, project: Project) -> Iterator[Reason]:
    """The rules that a git command breaks; what it does is remembered."""
    verb, options, where = git_words(command, folder)
    if not verb or verb == "help" or {"--help", "-h"} & set(options[:3]):
        return
    if any(where == other or where.startswith(f"{other}/") for other in memory.others) or _HOME_TOOL.match(
        where
    ):
        return
    if verb in ("fetch", "pull", "ls-remote") or (verb == "remote" and options[:1] == ["update"]):
        if not project.orders(*_FETCHING):
            yield "history-fetched", True
    elif project.orders(*_SEARCHING, *_FETCHING):
        # The task is about history.
        pass
    elif (verb in _SHOWS and any(_reads_elsewhere(verb, options, memory, project))) or (
        (verb == "reflog" and _reads_reflog(options, memory))
        or (verb == "fsck" and {"--lost-found", "--unreachable", "--dangling", "--no-reflogs"} & set(options))
        or (verb == "cat-file" and "--batch-all-objects" in options)
        or verb in ("verify-pack", "unpack-objects", "show-index")
        or (verb == "bundle" and options[:1] == ["unbundle"])
    ):
        yield "foreign-history-read", False
    elif verb == "stash" and _reads_stash(options, memory):
        yield "foreign-history-read", True
    if verb == "stash" and (
        not options or options[0] in ("push", "save", "-u", "--keep-index", "-q", "-k", "-m")
    ):
        memory.stashed = True
    if verb in ("commit", "reset", "rebase", "merge", "am", "cherry-pick", "revert"):
        memory.committed = True


def _reads_stash(options: list[str], memory: GitMemory) -> bool:
    asked = bool(options) and options[0] in ("list", "show", "pop", "apply", "branch")
    return asked and not memory.stashed


def _reads_reflog(options: list[str], memory: GitMemory) -> bool:
    if memory.committed and "--all" not in options:
        return False
    return not options or options[0] in ("show", "list") or options[0][:1] == "-"


def _reads_elsewhere(verb: str, options: list[str], memory: GitMemory, project: Project) -> Iterator[bool]:
    if verb in ("log", "rev-list", "shortlog", "grep", "diff", "show", "whatchanged"):
        yield any(option.partition("=")[0] in _EVERYWHERE for option in options)
    if verb == "worktree" and options[:1] != ["add"]:
        return
    operands: list[str] = []
    for index, option in enumerate(options):
        if option == "--":
            break
        if not option.startswith("-") and options[index - 1 : index] not in (
            ["--grep"],
            ["-S"],
            ["-G"],
            ["--author"],
            ["-b"],
        ):
            operands.append(option)
    for index, operand in enumerate(operands):
        _, dots, right = operand.partition("...") if "..." in operand else operand.partition("..")
        wanted = [right] if dots else [operand]
        if not dots and verb in ("diff", "difftool", "range-diff") and index == 0:
            # From there to here: what it shows is the agent's own side.
            continue
        for one in wanted:
            own_entry = memory.committed and re.match(r"(?:HEAD|\w+)?@\{\d+\}", one)
            own_stash = memory.stashed and one.startswith("stash@{")
            if (
                (_FOREIGN.match(one) and not own_entry and not own_stash)
                or (re.match(r"v?\d+\.\d", one) and project.later_version(one.partition(":")[0]))
                or (
                    verb in ("show", "diff", "log", "cherry-pick", "checkout", "cat-file", "archive")
                    and (
                        (sha := re.match(r"([0-9a-f]{7,40})(?=$|[:^~])", one)) is not None
                        and re.search(r"\d", sha[1])
                        and not memory.knows(sha[1])
                    )
                )
            ):
                yield True
