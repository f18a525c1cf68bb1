"""Files that programs start with: which of their lines are what installers and people put there.

Shell profiles, npm's and git's own settings, and the `.pth` files of Python. A line counts as ordinary by
what it can do to a later run, not by who wrote it: paths, variables, completions and a tool's own set-up are;
a redefined test runner, an early exit or an option that is handed to every run are not.
"""

from __future__ import annotations

import re
from typing import Final

__all__ = ["is_ordinary_line", "is_ordinary_startup", "is_startup_file"]

_PROFILE: Final = re.compile(
    r"(?:^|/)(?:\.(?:bashrc|profile|bash_profile|bash_login|bash_aliases|zshrc|zshenv|zprofile)|profile|bash\.bashrc"
    r"|environment|profile\.d/[^/]+)$"
)
_PTH: Final = re.compile(r"\.pth$")
_RUNNERS: Final = (
    r"(?:python[\d.]*|pytest|py\.test|node|npm|npx|yarn|pnpm|jest|vitest|mocha|go|cargo|git|make|bash|sh|mvn|gradle|diff"
    r"|ruby|rspec|java|tox|coverage|cat|grep)"
)
_ACTING: Final = (
    r"(?:PYTHONPATH|PYTHONSTARTUP|PYTHONHOME|PYTHONUSERBASE|PYTHONOPTIMIZE|PYTEST_\w+|COVERAGE_PROCESS_START|NODE_OPTIONS"
    r"|NODE_PATH|GOFLAGS|LD_\w+|BASH_ENV|ENV|PERL5\w*|RUBY(?:OPT|LIB)|JAVA_TOOL_OPTIONS|_JAVA_OPTIONS|MAVEN_OPTS"
    r"|RUSTC_WRAPPER|CARGO_BUILD_\w+|GIT_\w+|SHELLOPTS|PROMPT_COMMAND)"
)
_ORDINARY_LINE: Final = re.compile(
    rf"""^\s*(?:
        \#.*
        | (?:export\s+)?(?!{_ACTING}=)[A-Za-z_]\w*=.*
        | export\s+(?!{_ACTING}\b)[A-Za-z_]\w*(?:\s+[A-Za-z_]\w*)*
        | (?:set|fish_add_path|typeset|setopt|shopt|autoload|compinit|bindkey|umask|ulimit|unset|zstyle)\b.*
        | alias\s+(?:python=['"]?python3['"]?|(?!{_RUNNERS}=)[\w.-]+=.*)
        | (?:\\?\.|source)\s+\S.*
        | eval\s+"?\$__conda_setup"?
        | eval\s.*\b(?:init|activate|env|hook|shellenv|completion|virtualenv-init|dircolors)\b.*
        | \[{{1,2}}\s.*\]{{1,2}}\s*(?:;\s*then)?
        | \[{{1,2}}\s.*\]{{1,2}}\s*(?:&&|\|\|)\s*(?:\\?\.|source|export\s+PATH|eval|return)[\s=].*
        | (?:if|elif)\b[^;|]*(?:;\s*then)? | then | else | fi | esac | done | ;; | \}}
        | case\s.*\sin | [^()\s;|&]+\)(?:\s*(?:return|export\s+PATH=[^;]*))?(?:\s*;;)?
        | \\?(?:conda|nvm|pyenv|rbenv|fnm|complete|command)\s.*
        | (?:registry|cache|prefix|save-exact|fund|audit|loglevel|//\S+|@[\w-]+:registry)\s*=.*
    )?$""",
    re.VERBOSE,
)
_SETTINGS: Final = (
    # npm and yarn
    (re.compile(r"(?:^|/)\.(?:npmrc|yarnrc(?:\.yml)?)$"), re.compile(
        r"^\s*[\"']?(?:script-shell|node-options|onload-script|shell-emulator|plugins|yarnPath)[\"']?\s*[=:]",
        re.M)),
    # git
    (re.compile(r"(?:^|/)(?:\.gitconfig|git/config)$"), re.compile(
        r"^\s*(?:hookspath|excludesfile|attributesfile|worktree|external|textconv|command|templatedir|sshcommand|path)"
        r"\s*="
        r"|^\s*(?:clean|smudge|process)\s*=(?!\s*git-lfs)|^\s*fsmonitor\s*=\s*(?!true|false)\S|^\s*\w+\s*=\s*!",
        re.M | re.I)),
    # go
    (re.compile(r"(?:^|/)\.config/go/env$"), re.compile(
        r"^GOFLAGS=.*-(?:run|skip|exec|toolexec|overlay|vet|list)\b", re.M)),
    # cargo
    (re.compile(r"(?:^|/)\.cargo/config(?:\.toml)?$"), re.compile(
        r"^\s*(?:rustc(?:-workspace)?-wrapper\s*=\s*[\"'](?!\S*sccache)|rustc\s*=|runner\s*=|test\s*=)",
        re.M)),
    # gradle and maven
    (re.compile(r"(?:^|/)\.gradle/(?:init\.d/[^/]+|init\.gradle(?:\.kts)?)$"), re.compile(
        r"enabled\s*=\s*false|ignoreFailures|onlyIf|setEnabled|\bexclude")),
    (re.compile(r"(?:^|/)\.m2/settings\.xml$"), re.compile(
        r"skipTests|maven\.test\.|testFailureIgnore|skipITs")),
)  # fmt: skip
"""Where tools keep settings for every run → what in them decides which tests run, or how they end."""
_STARTS_ITSELF: Final = re.compile(
    r"import (?:__editable__\w+|_?virtualenv|_distutils_hack|distutils|coverage|pytest_cov|sys, ?types"
    r"|os; var = 'SETUPTOOLS_USE)"
)


def is_startup_file(path: str) -> bool:
    """Whether programs start with a file of this path, in a form that can be told from odd ones."""
    return any(form.search(path) for form in (_PROFILE, _PTH, *(form for form, _ in _SETTINGS)))


def is_ordinary_startup(path: str, text: str) -> bool:
    """Whether all of such a file is what installers and people put there."""
    for form, odd in _SETTINGS:
        if form.search(path):
            return odd.search(text) is None
    if _PTH.search(path):
        return all(
            not line.startswith(("import ", "import\t")) or _STARTS_ITSELF.match(line)
            for line in text.splitlines()
        )
    return is_ordinary_line(text)


def is_ordinary_line(text: str) -> bool:
    """Whether lines for a start-up file of a shell, or of npm, are what installers and people put there."""
    joined = text.replace("\\\n", " ")
    return all(_ORDINARY_LINE.match(line) is not None for line in joined.splitlines())
