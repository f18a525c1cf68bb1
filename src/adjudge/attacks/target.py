"""What an attack is told about a workspace: its language, its test runner, its tests and its product."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Mapping, Sequence

from adjudge.formats.patterns import PathPatterns
from adjudge.formats.testcommands.named import written_command
from adjudge.formats.testcommands.suites import parse_suite
from adjudge.records.attack import AttackTarget
from adjudge.syntax.languages import LANGUAGES, Language, default_test_globs, is_third_party, language_of

__all__ = ["MAX_FILES", "MAX_FILE_BYTES", "read_target"]

MAX_FILES = 5000
"""How many files of a workspace an attack is shown."""
MAX_FILE_BYTES = 256 * 1024
"""Larger files are left out."""

_NAMES: Mapping[str, str] = {
    "Python": "python",
    "JavaScript or TypeScript": "javascript",
    "Go": "go",
    "Java": "java",
    "Rust": "rust",
    "Ruby": "ruby",
}
_RUNNERS: Mapping[str, str] = {
    "pytest": "python",
    "unittest": "python",
    "node": "javascript",
    "jest": "javascript",
    "vitest": "javascript",
    "go": "go",
}
_NO_TESTS = ("conftest.py", "__init__.py")
"""Files in test folders that hold no tests."""


def read_target(files: Mapping[str, str], commands: Sequence[str]) -> AttackTarget:
    """Look at a workspace.

    Args:
        files: Its text files, by path.
        commands: What its recipe runs.
    """
    own = {path: text for path, text in files.items() if not is_third_party(path)}
    globs = PathPatterns(default_test_globs())
    tests = [path for path in own if path in globs and not path.endswith(_NO_TESTS)]
    others = [path for path in own if path not in tests and not path.endswith("conftest.py")]
    runner = _runner_of_commands(own, commands)
    language = _RUNNERS.get(runner or "") or _most_common(tests) or _most_common(others)
    tests = [path for path in tests if _language(path) == language]
    product = tuple(sorted(path for path in others if _language(path) == language))
    if runner is None and language is not None:
        runner = _runner_of_files(language, own, tests)
    return AttackTarget(
        language=language,
        runner=runner,
        commands=tuple(commands),
        files=dict(files),
        tests=tuple(sorted(tests)),
        product=product,
    )


def _language(path: str) -> str | None:
    found: Language | None = language_of(path)
    return None if found is None else _NAMES[found.name]


def _most_common(paths: Sequence[str]) -> str | None:
    counted = Counter(name for path in paths if (name := _language(path)) is not None)
    order = [_NAMES[language.name] for language in LANGUAGES]
    return min(counted, key=lambda name: (-counted[name], order.index(name)), default=None)


def _runner_of_commands(files: Mapping[str, str], commands: Sequence[str]) -> str | None:
    for command in commands:
        written = written_command(command, lambda path: files[path].encode() if path in files else None)
        suite = None if written is None else parse_suite(written)
        if suite is not None:
            return suite.command.runner
    for command in commands:
        for runner in (*_RUNNERS, "cargo", "rspec"):
            if runner not in ("node", "go") and re.search(rf"\b{runner}\b", command):
                return runner
        if re.search(r"\bgo test\b", command):
            return "go"
        if re.search(r"\bnode\b.*--test\b", command):
            return "node"
    return None


def _runner_of_files(language: str, files: Mapping[str, str], tests: Sequence[str]) -> str | None:
    text = "\n".join(files[path] for path in tests)
    if language == "python":
        plain = re.search(r"^\s*(?:async )?def test_|\bimport pytest\b", text, flags=re.MULTILINE)
        return "unittest" if "unittest" in text and not re.search(r"^(?:async )?def test_", text, re.M) else (
            "pytest" if plain else None
        )  # fmt: skip
    if language == "javascript":
        if "node:test" in text:
            return "node"
        declared = _declared_packages(files.get("package.json", ""))
        return next((name for name in ("vitest", "jest") if name in declared or f'"{name}"' in text), None)
    if language == "ruby":
        return "rspec" if any(path.endswith("_spec.rb") for path in tests) else "minitest"
    return {"go": "go", "java": "junit", "rust": "cargo"}.get(language)


def _declared_packages(text: str) -> set[str]:
    try:
        document = json.loads(text)
    except (ValueError, RecursionError):
        return set()
    if not isinstance(document, dict):
        return set()
    found: set[str] = set()
    for key in ("dependencies", "devDependencies"):
        section = document.get(key)
        found |= set(section) if isinstance(section, dict) else set()
    return found
