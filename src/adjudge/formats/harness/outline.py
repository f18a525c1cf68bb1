"""From the bytes of a configuration, script or build file to what it does to a test run."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final

from adjudge.formats.harness.builds import (
    read_go_mod,
    read_gradle,
    read_maven,
    read_maven_options,
    read_requirements,
    read_ruby,
)
from adjudge.formats.harness.locks import (
    read_npm_lock,
    read_pipfile_lock,
    read_pnpm_lock,
    read_python_lock,
    read_yarn_lock,
)
from adjudge.formats.harness.scripts import read_ci, read_environment_file, read_makefile, read_script
from adjudge.formats.harness.settings import read_ini, read_json, read_toml, read_yaml
from adjudge.records.harness import HarnessOutline

__all__ = ["MAX_CONFIG_BYTES", "outline_config", "reads_config"]

MAX_CONFIG_BYTES: Final = 512 * 1024
"""What people write for a build is far smaller."""
Reader = Callable[[str, bytes], HarnessOutline]


def _text(read: Callable[[str], HarnessOutline]) -> Reader:
    return lambda _, data: read(data.decode("utf-8-sig", "replace"))


def _named(read: Callable[[str, str], HarnessOutline]) -> Reader:
    return lambda name, data: read(name, data.decode("utf-8-sig", "replace"))


_READERS: Final[tuple[tuple[re.Pattern[str], Reader], ...]] = tuple(
    (re.compile(pattern), reader)
    for pattern, reader in (
        (r"(?:.*/)?(?:pyproject|\.?pytest|tox|Cargo|nextest|\.?ruff)\.toml", _named(read_toml)),
        (r"(?:.*/)?\.cargo/config(?:\.toml)?", _named(read_toml)),
        (r"(?:.*/)?(?:\.?pytest\.ini|tox\.ini|setup\.cfg|\.coveragerc|\.?mypy\.ini|\.?pylintrc|\.flake8)",
         _named(read_ini)),
        (r"(?:.*/)?\.mocharc\.ya?ml", _text(read_yaml)),
        (r"(?:.*/)?(?:package\.json|jest\.config\.json|jest-preset\.json|\.mocharc(?:\.json)?|\.nycrc(?:\.json)?|\.c8rc(?:\.json)?"
         r"|\.eslintrc(?:\.json)?|tsconfig[\w.-]*\.json)", _named(read_json)),
        (r"(?:.*/)?(?:package-lock|npm-shrinkwrap)\.json", _text(read_npm_lock)),
        (r"(?:.*/)?yarn\.lock", _text(read_yarn_lock)),
        (r"(?:.*/)?pnpm-lock\.yaml", _text(read_pnpm_lock)),
        (r"(?:.*/)?(?:poetry|uv|pdm)\.lock", _text(read_python_lock)),
        (r"(?:.*/)?Pipfile\.lock", _text(read_pipfile_lock)),
        (r"(?:.*/)?(?:GNUmakefile|[Mm]akefile|[\w.-]+\.mk|[Jj]ustfile)", _text(read_makefile)),
        (r"\.github/workflows/[^/]+\.ya?ml|\.gitlab-ci\.ya?ml|\.circleci/config\.ya?ml|azure-pipelines\.ya?ml"
         r"|\.travis\.ya?ml|\.drone\.ya?ml|\.woodpecker/[^/]+\.ya?ml|[Tt]askfile\.ya?ml|appveyor\.ya?ml"
         r"|\.buildkite/[^/]+\.ya?ml|\.github/actions/.+\.ya?ml", _text(read_ci)),
        (r"(?:.*/)?(?:\.envrc|\.env|\.npmrc|\.yarnrc|\.pythonrc|\.bashrc|\.profile|\.bash_profile|\.zshenv|go\.env)",
         _text(read_environment_file)),
        (r"(?:.*/)?[\w.-]+\.(?:sh|bash)|(?:scripts?|bin|ci|tools)/[\w-]+", _text(read_script)),
        (r"(?:.*/)?pom\.xml", lambda _, data: read_maven(data)),
        (r"(?:.*/)?(?:build|settings|init)\.gradle(?:\.kts)?", _text(read_gradle)),
        (r"(?:.*/)?(?:\.mvn/(?:maven|jvm)\.config|gradle\.properties|junit-platform\.properties)",
         _text(read_maven_options)),
        (r"(?:.*/)?(?:\.rspec(?:-local)?|Rakefile|spec_helper\.rb|rails_helper\.rb|test_helper\.rb)",
         _text(read_ruby)),
        (r"(?:.*/)?(?:[\w.-]*requirements[\w.-]*|constraints)\.(?:txt|in)", _text(read_requirements)),
        (r"(?:.*/)?go\.(?:mod|work)", _text(read_go_mod)),
    )
)  # fmt: skip


def reads_config(path: str) -> bool:
    """Whether a file of this name is read here."""
    return _reader_of(path) is not None


def outline_config(path: str, data: bytes, *, script: bool = False) -> HarnessOutline | None:
    """What a file does to a test run; None when it is none of those that are read here.

    Args:
        path: Relative to the workspace.
        data: Its content.
        script: Whether a command of the recipe runs it, so that it is read as a script whatever its name.
    """
    reader = _reader_of(path)
    if reader is None:
        if not script or b"\0" in data[:8192]:
            return None
        reader = _text(read_script)
    if len(data) > MAX_CONFIG_BYTES:
        return HarnessOutline(problem=f"larger than {MAX_CONFIG_BYTES // 1024:,} KiB")
    return reader(path.rpartition("/")[2], data)


def _reader_of(path: str) -> Reader | None:
    return next((reader for pattern, reader in _READERS if pattern.fullmatch(path)), None)
