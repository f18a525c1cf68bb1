"""Answers that leaked: what in an agent's tool calls reached for hidden files, other history or the upstream.

A `LeakWatch` is fed the events of a trace in order and tells what it saw. What a call asks for is suspicion;
only a result that holds lines of a hidden file shows that its content was had. A trace is what the agent
says about itself: every text is hostile, bounded by the trace's own limits, and none is run.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final

from adjudge.formats.leaks.calls import arguments_of, code_commands, path_arguments, resolve, run_texts
from adjudge.formats.leaks.history import GitMemory, git_words, history_of
from adjudge.formats.leaks.places import file_words, place_of, searched_for
from adjudge.formats.leaks.project import Project
from adjudge.formats.leaks.upstream import URLS, of_address, of_benchmark, of_command, of_query
from adjudge.formats.shellwords import ShellCommand, shell_commands
from adjudge.records.leaks import Leak
from adjudge.records.trace import Message, ToolCall, ToolKind, ToolResult, TraceItem

__all__ = ["MIN_LINE", "LeakWatch", "shown", "telling_lines"]

MIN_LINE: Final = 24
"""Characters of a line that tells one file from another."""
_MIN_LINES = 4
_MIN_SHARE = 0.5
_MAX_LEAKS = 200
_MAX_PENDING = 64
_MAX_SHOWN = 200
_MAX_INPUT = 16 * 1024 * 1024
"""Characters of commands that are taken apart; no honest agent comes near."""
_MAX_PARSED = 64 * 1024
_FAILED = re.compile(
    r"no such file|not found|could not resolve|temporary failure in name|unable to access|permission denied"
    r"|not a git repository|could not find a version|connection (?:refused|timed out)|network is unreachable"
    r"|unknown revision|bad revision|does not appear to be a git|failed to connect|\b40[34]\b|cannot access"
    r"|operation not permitted|does not exist|couldn't connect|ENOTFOUND|EAI_AGAIN|no stash entries"
    r"|did not match any|bad object|ambiguous argument|no matching distribution|already satisfied",
    re.IGNORECASE,
)
_ISSUE = re.compile(r"/issues?(?:/\d+[^/]*|/?|\?[^/]*)$|\bissue (?:view|list)\b|/issues/\d+/comments")
_SHOWS_FIX = re.compile(
    r"^diff --git |^@@ -\d|^\+\+\+ |```(?:diff|patch)"
    r"|\b(?:fix|patch|solution|change)\w*\b[^`\n]{0,200}\n{0,2}\s*```",
    re.MULTILINE | re.IGNORECASE,
)
_COMMIT = re.compile(r"^[*|\\/ _]*(?:commit )?([0-9a-f]{7,40})\b", re.MULTILINE)
_NARROWED = re.compile(
    r"--grep|(?:^|\s)-[SG]|--author|\s--\s|--since|--after|\bfsck\b|\bshow\b|-batch-all|verify-pack"
)
_PLACE = re.compile(r"^\d+\s*[\t|:→]?\s*|^[^\s:]{1,300}:\d+:\s*")
_CODE_TOOLS = frozenset(("python", "ipython", "execute_python", "run_python", "execute_code"))
_LOGS = re.compile(r"(?:^|/)\.git/(?:logs/|ORIG_HEAD$|FETCH_HEAD$)")
_OBJECTS = re.compile(r"(?:^|/)\.git/objects/(?:pack/|[0-9a-f]{2}/)")
_SILENT = frozenset(
    ("cp", "mv", "ln", "rsync", "dd", "tar", "tee", "touch", "mkdir", "install", "source", ".", "sh", "bash")
)
"""Programs that print nothing where they succeed."""
_SIFTS = frozenset(("grep", "egrep", "rg", "awk", "sed", "while", "read", "cut", "sort", "python", "python3"))
_LOOKS_ONLY = frozenset(("ls", "du", "find", "wc", "rm", "chmod", "stat", "tree", "mkdir"))
Reason = tuple[str, str, bool]
"""A rule, what broke it, and whether an empty result means that nothing came of it."""


def telling_lines(text: str) -> Iterator[str]:
    """The lines of a file that tell it from others, without white space around them."""
    for line in text.splitlines():
        bare = line.strip().lstrip("+-").strip()
        if (
            len(bare) >= MIN_LINE
            and re.search(r"[A-Za-z]{3}", bare)
            and not bare.startswith(("#!", "---", "+++", "@@"))
        ):
            yield bare


@dataclass(slots=True)
class LeakWatch:
    """Follows a trace.

    Args:
        project: What is known of the task's own project.
        hidden: Lines of hidden files that tell them from others, with the file each is of.
    """

    project: Project
    hidden: Mapping[str, str] = field(default_factory=dict)
    leaks: list[Leak] = field(default_factory=list)
    partial: bool = False
    """Whether part of what the agent wrote is not in the trace."""
    exhausted: bool = False
    """Whether commands were too many or too long to be looked at all."""
    room: int = _MAX_INPUT
    """How many characters of commands are still taken apart."""
    _number: int = 0
    _pending: dict[str, list[int]] = field(default_factory=dict)
    _last: list[int] = field(default_factory=list)
    _written: set[str] = field(default_factory=set)
    _calls: deque[tuple[int, str, str]] = field(default_factory=lambda: deque(maxlen=_MAX_PENDING))
    _git: GitMemory = field(default_factory=GitMemory)
    _told: str = ""
    _installed_itself: bool = False
    _folder: str = ""
    _sizes: dict[str, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._git.saw(self.project.instruction)

    def see(self, item: TraceItem) -> None:
        """Take the next event."""
        self._number += 1
        if isinstance(item, ToolCall):
            self._called(item)
        elif isinstance(item, ToolResult):
            plain = item.model_copy(update={"text": _unwrapped(item.text)})
            self._answered(plain)
            self._git.saw(plain.text)
        elif text := getattr(item, "text", ""):
            self._git.saw(text)
            if isinstance(item, Message) and item.role == "user":
                self._told = f"{self._told}\n{text}"[-_MAX_PARSED:]
            else:
                self._wrote(text)

    def _called(self, call: ToolCall) -> None:
        for _, value in arguments_of(call.input):
            self._wrote(value)
        self.partial = self.partial or call.dropped > 0
        self._calls.append((self._number, call.raw_name, call.id))
        found = [leak for leak in self._asked(call) if len(self.leaks) < _MAX_LEAKS]
        at = [len(self.leaks) + index for index in range(len(found))]
        self.leaks += found
        self._last = at
        if call.id and at:
            if len(self._pending) >= _MAX_PENDING:
                self._pending.pop(next(iter(self._pending)))
            self._pending[call.id] = at

    def _answered(self, result: ToolResult) -> None:
        at = self._pending.pop(result.call_id, None) if result.call_id else None
        if at is None:
            at = self._last if not result.call_id else []
        for index in at:
            leak = self.leaks[index]
            self.leaks[index] = leak.model_copy(update={"in_vain": self._in_vain(leak, result)})
        self._shows_hidden(result, at)
        self._last = []

    def _in_vain(self, leak: Leak, result: ToolResult) -> bool:
        """Whether nothing came of it, as far as the result tells."""
        text = result.text
        if not text.strip():
            return leak.quiet or result.is_error is True
        failing = [line for line in text[:4000].splitlines() if _FAILED.search(line)]
        if leak.rule in ("grader-path-probed", "hidden-file-read"):
            if any(leak.text.rstrip("/*") in line for line in failing):
                return True
            lines = [line for line in text.splitlines() if line.strip()]
            return bool(failing) and len(lines) <= len(failing) + 1 and len(text) < 4000
        if result.is_error is True or (len(text) < 4000 and failing):
            return True
        if leak.rule == "answer-from-web" and _ISSUE.search(leak.text):
            # What a task is made from; only one that shows a fix gives the answer away.
            return _SHOWS_FIX.search(text) is None
        if leak.rule == "foreign-history-read":
            shown_commits = {commit[:7] for commit in _COMMIT.findall(text)}
            if _NARROWED.search(leak.text) is None and "| …" not in leak.text and ".git/" not in leak.text:
                return len(shown_commits) <= 1 and bool(shown_commits)
            return bool(shown_commits) and all(self._git.knows(commit) for commit in shown_commits)
        return False

    def _shows_hidden(self, result: ToolResult, at: list[int]) -> None:
        """Whether a result holds lines of a hidden file that the agent had not written itself."""
        if not self.hidden or len(self.leaks) >= _MAX_LEAKS:
            return
        found: dict[str, list[str]] = {}
        for line in dict.fromkeys(telling_lines(result.text)):
            # Readers of files put numbers before lines, and searches also the file's name.
            bare = line if line in self.hidden else _PLACE.sub("", line)
            if bare in self.hidden and bare not in self._written:
                found.setdefault(self.hidden[bare], []).append(bare)
        for path, lines in found.items():
            if len(lines) >= _MIN_LINES or (at and len(lines) >= 2) or self._most_of(path, lines):
                number, tool, _ = next(
                    (one for one in reversed(self._calls) if one[2] and one[2] == result.call_id),
                    self._calls[-1] if self._calls else (self._number, "", ""),
                )
                self.leaks.append(
                    Leak(
                        rule="hidden-content-shown",
                        event=number,
                        tool=tool[:100],
                        text=f"{len(lines)} lines of {path}",
                        lines=tuple(lines[:20]),
                        most=self._most_of(path, lines),
                    )
                )

    def _most_of(self, path: str, lines: list[str]) -> bool:
        """Whether these are most of the telling lines that a short file has."""
        if not self._sizes:
            for one in self.hidden.values():
                self._sizes[one] = self._sizes.get(one, 0) + 1
        return len(lines) >= 2 and len(lines) >= self._sizes.get(path, 0) * _MIN_SHARE

    def _wrote(self, text: str) -> None:
        """Remember hidden lines that the agent came up with by itself."""
        if self.hidden:
            for line in telling_lines(text):
                if line in self.hidden:
                    self._written.add(line)

    # What a call asks for

    def _asked(self, call: ToolCall) -> Iterator[Leak]:
        seen: set[tuple[str, str]] = set()
        for rule, text, quiet in self._reasons(call):
            if (rule, text) not in seen and not self._was_told(text):
                seen.add((rule, text))
                yield Leak(
                    rule=rule,
                    event=self._number,
                    tool=call.raw_name[:100],
                    text=shown(text),
                    quiet=quiet,
                    in_vain=rule == "answer-from-web" and _ISSUE.search(text) is not None,
                )

    def _was_told(self, text: str) -> bool:
        """Whether a user's message names just this address."""
        return text.startswith("http") and text.rstrip("/") in self._told

    def _reasons(self, call: ToolCall) -> Iterator[Reason]:
        given = arguments_of(call.input)
        folder = next((value for key, value in given if key in ("workdir", "cwd")), "") or self._home
        for text in run_texts(call, given):
            self.room -= min(len(text), _MAX_PARSED)
            if self.room < 0:
                self.exhausted = True
                return
            yield from self._commands(shell_commands(text), folder)
            if call.name in _CODE_TOOLS:
                yield from self._code(text, folder)
        for value in path_arguments(call, given):
            yield from self._path(value, self._home)
        if call.kind is ToolKind.FETCH:
            for _, value in given:
                for url in URLS.findall(value):
                    yield from ((rule, text, False) for rule, text in of_address(url, self.project))
            if "search" in call.name:
                for value in (value for key, value in given if key in ("query", "q", "queries", "")):
                    yield from ((rule, text, False) for rule, text in of_query(value, self.project))

    @property
    def _home(self) -> str:
        return self.project.shown_at[0] if self.project.shown_at else "/workspace"

    def _commands(self, commands: tuple[ShellCommand, ...], folder: str) -> Iterator[Reason]:
        """Follows `cd` within one call. Where an earlier one may have led elsewhere, doubt is innocence."""
        kept = self._folder
        before: ShellCommand | None = None
        for index, command in enumerate(commands):
            if command.program in ("cd", "pushd") and len(command.words) > 1:
                target = command.words[1]
                yield from ((rule, text, False) for rule, text, _ in self._path(target, folder, kept))
                folder = resolve(target, folder)
                kept = resolve(target, kept) if kept or target.startswith("/") else ""
                kept = kept or folder
            else:
                sifted = any(one.piped and one.program in _SIFTS for one in commands[index + 1 : index + 3])
                yield from self._command(command, before, folder, kept, sifted=sifted)
            before = command
        self._folder = kept

    def _command(
        self,
        command: ShellCommand,
        before: ShellCommand | None,
        folder: str,
        kept: str,
        *,
        sifted: bool = False,
    ) -> Iterator[Reason]:
        said = " ".join(command.words)
        if command.program == "git":
            for rule, quiet in history_of(command, folder, self._git, self.project):
                yield rule, f"{said} | …" if sifted else said, quiet
            self._remember_clone(command, folder)
        for rule, text in of_command(command, self.project):
            yield rule, text, False
        for text in searched_for(command, before):
            yield "grader-path-probed", text, True
        prints = command.program not in _SILENT and not command.writes
        for word in file_words(command):
            for rule, text, quiet in self._path(word, folder, kept):
                yield rule, text, quiet and prints
            if _LOGS.search(word) or (_OBJECTS.search(word) and command.program not in _LOOKS_ONLY):
                yield "foreign-history-read", said, True
        self._remember_install(said)
        if command.runs_body:
            yield from self._code(command.body, folder)

    def _path(self, value: str, folder: str, kept: str = "") -> Iterator[Reason]:
        rule = place_of(value, self.project, folder)
        if rule is None or (kept and place_of(value, self.project, kept) is None):
            return
        if rule == "answer-from-package" and self._installed_itself:
            return
        yield rule, value, rule == "grader-path-probed" and "/proc/" not in value and "reward" not in value

    def _code(self, code: str, folder: str) -> Iterator[Reason]:
        head = code[:_MAX_PARSED]
        for literal in re.findall(r"[\"']((?:/|~|\.\./)[^\"'\n]{1,300})[\"']", head):
            if not re.search(r"\s", literal):
                yield from self._path(literal, folder)
        for url in URLS.findall(head):
            yield from ((rule, text, False) for rule, text in of_address(url, self.project))
        if re.search(r"load_dataset|hf_hub_download|snapshot_download", head) and of_benchmark(
            head, self.project
        ):
            yield "answer-from-web", shown(head), False
        for command in code_commands(head):
            yield from self._command(command, None, folder, "")

    def _remember_clone(self, command: ShellCommand, folder: str) -> None:
        verb, options, where = git_words(command, folder)
        if verb not in ("clone", "init") or any(of_command(command, self.project)):
            return
        operands = [word for word in options if not word.startswith("-") and not word.isdigit()]
        if verb == "clone" and operands:
            name = (
                operands[1]
                if len(operands) > 1
                else operands[0].rstrip("/").rpartition("/")[2].removesuffix(".git")
            )
            if re.match(r"https?://|git@|ssh://", operands[0]):
                self._git.others.add(resolve(name, where))

    def _remember_install(self, said: str) -> None:
        if re.search(
            r"(?:pip3?|uv) .*install.* (?:-e )?['\"]?\.|install .*dist/|setup\.py (?:inst|dev)|npm link",
            said,
        ):
            self._installed_itself = True


def _unwrapped(text: str) -> str:
    """What a tool printed, where the result is an object that holds it."""
    if not text.startswith("{") or '"output"' not in text[:200]:
        return text
    return (
        "\n".join(value for key, value in arguments_of(text) if key in ("output", "stdout", "stderr")) or text
    )


def shown(text: str) -> str:
    """A text on one line, capped."""
    line = " ".join(text.split())
    return line if len(line) <= _MAX_SHOWN else f"{line[:_MAX_SHOWN]}…"
