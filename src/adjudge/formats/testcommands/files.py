"""What stands between a command and the product it runs: make, scripts, PATH."""

from __future__ import annotations

import re
import shlex

from adjudge.formats.testcommands.words import ASSIGNMENT

__all__ = ["runner_files"]

_SCRIPTS = (".sh", ".bash", ".zsh", ".mk")
_MAKEFILES = ("Makefile", "makefile", "GNUmakefile", "**/*.mk")
_CONFIGS = {
    "jest": ("**/babel.config.*", "**/.babelrc", "**/.babelrc.*"),
    "vitest": ("**/vite.config.*",),
}
"""What a runner reads beside the files that bear its name."""
_SCRIPT_RUNNERS = ("npm", "yarn", "pnpm")
_SEPARATORS = re.compile(r"[;&|()\n]+")


def runner_files(command: str) -> tuple[str, ...]:
    """Patterns of what a command runs or reads that stands between it and the product.

    Programs of the product itself (`python app.py`) are not among them.
    """
    found: dict[str, None] = {}
    for part in _SEPARATORS.split(command):
        try:
            words = shlex.split(part)
        except ValueError:
            words = part.split()
        first = True
        for word in words:
            if first and ASSIGNMENT.match(word):
                name, _, value = word.partition("=")
                entries = value.split(":") if name == "PATH" else ()
                for entry in filter(None, map(_inside, entries)):
                    found[entry] = None
                continue
            path = _inside(word)
            name = word.rpartition("/")[2]
            for runner, configs in _CONFIGS.items():
                if name == runner or (first and name in _SCRIPT_RUNNERS):
                    found |= dict.fromkeys(configs)
            if first and name in ("make", "gmake"):
                found |= dict.fromkeys(_MAKEFILES)
            elif path is not None and (word.endswith(_SCRIPTS) or (first and "/" in word)):
                found[path] = None
            first = first and word in ("env", "exec", "time", "nice", "command")
    return tuple(found)


def _inside(word: str) -> str | None:
    """A word as a path in the workspace, taken literally; None when it cannot be one."""
    path = word.removeprefix("/workspace/").removeprefix("$PWD/")
    parts = [part for part in path.split("/") if part not in ("", ".")]
    if not parts or path.startswith(("/", "~", "$", "-")) or ".." in parts or "\\" in path or "{" in path:
        return None
    return re.sub(r"([\[*?])", r"[\1]", "/".join(parts))
