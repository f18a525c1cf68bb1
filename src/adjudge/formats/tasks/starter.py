"""The scenario that `adjudge init` writes: valid as it stands, with the next steps as comments."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass

__all__ = ["SCHEMA_FILE", "TestCommand", "render_starter"]

SCHEMA_FILE = "adjudge.schema.json"
"""Beside the scenario, named relatively: it works offline, in every clone, and can be committed."""

_PLAIN = re.compile(r"(?:\./)?[A-Za-z][A-Za-z0-9 ./_=-]*\Z")


@dataclass(frozen=True, slots=True)
class TestCommand:
    """How a project runs its tests, and what says so."""

    command: str
    because: str

    __test__ = False  # its name makes pytest look for tests in it


def render_starter(name: str, tests: TestCommand | None, protected: tuple[str, ...]) -> str:
    """The text of a starter scenario.

    Args:
        name: What to call it.
        tests: The project's own tests, where they were found.
        protected: Patterns of what an attempt has no business changing.
    """
    return "".join(
        (
            f"# yaml-language-server: $schema=./{SCHEMA_FILE}\n",
            _HEAD.format(name=_text(name)),
            _WITH_TESTS.format(because=tests.because, command=_text(tests.command)) if tests else _NO_TESTS,
            _CHECKS.format(patterns=", ".join(json.dumps(pattern) for pattern in protected)),
            _REST,
        )
    )


def _text(value: str) -> str:
    """A value as YAML text, in quotes where it could be read as something else."""
    plain = _PLAIN.match(value) and value.lower() not in ("true", "false", "null") and value == value.strip()
    return value if plain else json.dumps(value, ensure_ascii=False)


_HEAD = """\
# How attempts at this project are graded.
#   adjudge validate                              checks this file
#   adjudge grade adjudge.yaml --workspace .      grades what changed since the main branch
#   adjudge scorers                               lists every check there is

name: {name}

scorers:
"""

_WITH_TESTS = """\
  # The project's own tests ({because}).
  - name: tests
    type: command
    command: {command}
    timeout_s: 900

"""

_NO_TESTS = """\
  # No test command was found. This is how one is run:
  # - name: tests
  #   type: command
  #   command: make test

"""

_CHECKS = """\
  # What an attempt has no business changing.
  - type: forbid_paths
    patterns: [{patterns}]

  # Nothing that looks like a password, key or token may be added.
  - type: forbid_secrets

  # Tests that were switched off or made weaker are shown; write required: true to fail on them.
  - type: no_new_skips
  - type: assertions_not_weakened

  # Tests that decide about the task must stay as they are.
  # - type: tests_unmodified
  #   paths: [tests/test_login.py]

  # The change stays where it belongs, and stays small.
  # - type: allowed_paths
  #   patterns: ["src/**", "tests/**"]
  # - type: max_files_changed
  #   limit: 20

"""

_REST = """\
# To hand the task to an agent, say what to do and where to start; adjudge seed then makes a workspace and
# keeps a trusted copy of it, which grading compares with.
# instruction: |
#   Logging in with an empty password must be refused.
# workspace:
#   source: git
#   path: .
#   ref: main
# setup:
#   command: make build
#   network: true
#   timeout_s: 600
"""
