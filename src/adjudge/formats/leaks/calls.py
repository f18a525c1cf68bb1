"""The arguments of a tool call as texts: what it runs, which paths and addresses it names."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from adjudge.formats.shellwords import ShellCommand, shell_commands
from adjudge.records.trace import ToolCall, ToolKind

__all__ = ["arguments_of", "code_commands", "path_arguments", "resolve", "run_texts"]

_RUN_KEYS = frozenset((
    "command", "cmd", "script", "commands", "code", "input", "keystrokes", "args", "argv", "source",
    "bash_command", "chars",
))  # fmt: skip
_TEXT_KEYS = frozenset((
    "old_string", "new_string", "content", "old_str", "new_str", "file_text", "pattern", "query", "regex",
    "prompt", "description", "text", "insert_text",
))  # fmt: skip
_FILES = (ToolKind.READ, ToolKind.SEARCH, ToolKind.EDIT, ToolKind.DELETE, ToolKind.MOVE)
_LISTED = re.compile(r"[\[(]\s*((?:[\"'][^\"'\n]*[\"']\s*,?\s*){2,60})[\])]")
_QUOTED = re.compile(r"[\"']([^\"'\n]*)[\"']")
_STARTED = re.compile(
    r"(?:system|popen|run|call|check_output|check_call|getoutput|exec|execSync|spawnSync|Popen)\(\s*[fr]?"
    r"(\"(?:[^\"\n\\]|\\.){1,2000}\"|'(?:[^'\n\\]|\\.){1,2000}')"
)


def arguments_of(text: str) -> list[tuple[str, str]]:
    """The texts among the arguments of a call, with the key of each."""
    try:
        found = json.loads(text) if text[:1] in "{[" else text
    except (ValueError, RecursionError):
        found = text
    given: list[tuple[str, str]] = []
    pending: list[tuple[str, Any, int]] = [("", found, 0)]
    while pending and len(given) < 200:
        key, value, depth = pending.pop()
        if isinstance(value, str):
            given.append((key, value))
        elif isinstance(value, Mapping) and depth < 6:
            pending += [(str(name), inner, depth + 1) for name, inner in reversed(list(value.items()))]
        elif isinstance(value, list) and depth < 6:
            if key in _RUN_KEYS and value and all(isinstance(one, str) for one in value):
                given.append((key, _argv(value)))
            else:
                pending += [(key, inner, depth + 1) for inner in reversed(value)]
    return given


def run_texts(call: ToolCall, given: list[tuple[str, str]]) -> list[str]:
    """What a call has run, where it has something run."""
    runs = any(key in _RUN_KEYS for key, _ in given if key != "input")
    if call.kind is not ToolKind.EXECUTE and not (call.kind is ToolKind.OTHER and runs):
        return []
    texts = [value for key, value in given if key in _RUN_KEYS]
    return texts or [value for key, value in given if not key]


def path_arguments(call: ToolCall, given: list[tuple[str, str]]) -> list[str]:
    """The paths that a tool for files is given."""
    if call.kind not in _FILES:
        return []
    keyed = [
        value for key, value in given if key not in _TEXT_KEYS and "\n" not in value and len(value) < 1024
    ]
    return [value for value in keyed if value not in ("view", "create", "str_replace", "insert")]


def code_commands(code: str) -> list[ShellCommand]:
    """Commands that a program's text starts, as far as they are written out in it."""
    found: list[ShellCommand] = []
    for listed in _LISTED.findall(code[:65536])[:50]:
        words = _QUOTED.findall(listed)
        if words and re.fullmatch(r"(?:/\S+/)?[a-z][\w.-]*", words[0]):
            found.append(ShellCommand(tuple(words)))
    for quoted in _STARTED.findall(code[:65536])[:50]:
        found += shell_commands(quoted[1:-1].replace('\\"', '"').replace("\\'", "'"))
    return found


def resolve(path: str, folder: str) -> str:
    """A path as an absolute one, seen from a folder. Variables for the home become a home."""
    plain = re.sub(r"^(?:~|\$HOME|\$\{HOME\})(?=/|$)", "/root", path.strip())
    joined = plain if plain.startswith("/") else f"{folder}/{plain}"
    parts: list[str] = []
    for part in joined.split("/"):
        if part == "..":
            if parts:
                parts.pop()
        elif part not in ("", "."):
            parts.append(part)
    return "/" + "/".join(parts)


def _argv(words: list[str]) -> str:
    """Arguments of a program as a line; of a shell, the script that it is given."""
    if (
        len(words) >= 3
        and re.fullmatch(r"(?:.*/)?(?:ba|z|da)?sh", words[0])
        and re.fullmatch(r"-\w*c", words[1])
    ):
        return words[2]
    return " ".join(
        f"'{word}'" if re.search(r"[\s;&|()<>]", word) and "'" not in word else word for word in words
    )
