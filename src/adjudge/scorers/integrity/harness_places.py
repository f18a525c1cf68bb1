"""Files that change a test run by where they lie: shims, shadows, start-up files, edited packages."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence

from adjudge.records.change import ChangeKind, EntryType, FileChange
from adjudge.records.paths import render_path
from adjudge.records.score import Finding

__all__ = ["place_findings"]

_CAME = (ChangeKind.ADDED, ChangeKind.RENAMED, ChangeKind.TYPE_CHANGED)
_PROGRAMS = frozenset((
    "pytest", "py.test", "python", "python3", "node", "npm", "npx", "yarn", "pnpm", "go", "cargo", "jest",
    "vitest", "mocha", "mvn", "gradle", "tox", "nox", "make", "git", "bash", "sh", "diff",
    "ruby", "java",
))  # fmt: skip
_RUNNER_MODULES = frozenset((
    "pytest", "_pytest", "pluggy", "iniconfig", "unittest", "xdist", "pytest_asyncio", "hypothesis",
    "nose", "nose2", "doctest", "coverage",
))  # fmt: skip
_LIBRARY_MODULES = frozenset((
    "random", "time", "datetime", "json", "traceback", "inspect", "importlib", "os", "operator", "math",
    "re", "subprocess", "warnings", "tempfile", "contextlib", "functools", "collections", "copy",
    "hashlib", "io", "decimal", "uuid", "abc", "ast", "builtins", "itertools", "pickle", "shutil",
    "socket", "asyncio", "threading", "pathlib", "typing", "dataclasses",
))  # fmt: skip
"""Modules that tests lean on and that nobody calls a file of their own after."""
_SHADOW = re.compile(
    r"(?P<root>(?:src/|lib/|python/)?|(?:.*/)?tests?/)(?P<name>\w+)(?P<package>/__init__)?\.(?:py|pyc|so)"
)
_STARTUP = re.compile(r"(?:.*/)?(?:sitecustomize|usercustomize)(?:/__init__)?\.py|(?:.*/)?[^/]+\.pth")
_TOOL = re.compile(r"(?:.*/)?(?:\.?venv/bin|env/bin|node_modules/\.bin)/(?P<name>[^/]+)")
_ENVIRONMENT = re.compile(
    r"(?:^|/)(?:\.?v?env|\.venv[^/]*|venv[^/]*|\.tox|\.nox|node_modules|site-packages)/"
)
_INSTALLED = re.compile(
    r"(?:^|.*/)(?P<kind>node_modules|site-packages|dist-packages)/(?P<package>@[^/]+/[^/]+|[^/]+)(?:/(?P<rest>.*))?"
)
_RUNNER_PACKAGE = re.compile(
    r"jest(?:-[\w-]+)?|@jest/.+|expect|vitest|@vitest/.+|mocha|chai|ava|tap|assert|power-assert|@playwright/test"
    r"|_pytest|pytest|pluggy|iniconfig|unittest|nose2?|hypothesis|coverage|pytest_\w+|xdist"
)
_VENDORED = re.compile(
    r"(?:.*/)?vendor/(?P<package>github\.com/(?:stretchr/testify|onsi/(?:gomega|ginkgo)|google/go-cmp)|gotest\.tools)/.*\.go"
)
_INSTALL_MARKS = ("/.package-lock.json", "/.yarn-integrity", "/.modules.yaml", "/.yarn-state.yml")
_BYTECODE = re.compile(r"(?:^|/)__pycache__/|\.py[co]$|(?:^|/)\.(?:cache|vite|vitest)/")


def place_findings(changes: Sequence[FileChange]) -> Iterator[Finding]:
    """Everything that is odd by its path alone."""
    yield from _tool_folders(changes)
    for change in changes:
        if change.kind not in _CAME or change.new_type not in (EntryType.FILE, EntryType.SYMLINK):
            continue
        path = change.path
        if _ENVIRONMENT.search(path):
            continue
        name = path.rpartition("/")[2]
        if name in _PROGRAMS and (change.new_mode == 0o100755 or change.new_type is EntryType.SYMLINK):
            yield _finding("runner-shim", path, f"is a program called {name}, which would run in its place")
        elif _STARTUP.fullmatch(path):
            yield _finding("startup-file", path, "is run whenever the interpreter starts")
        elif module := _shadowed(path):
            yield _finding("runner-shadowed", path, f"would be imported in place of {module}")
    yield from _installed(changes)


def _tool_folders(changes: Sequence[FileChange]) -> Iterator[Finding]:
    """Programs among those of an environment or of node_modules that no installer put there."""
    if any(change.path.endswith(("/pyvenv.cfg", "/RECORD", *_INSTALL_MARKS)) for change in changes):
        return
    for change in changes:
        found = _TOOL.fullmatch(change.path)
        if found is not None and found["name"] in _PROGRAMS and change.new_type is EntryType.FILE:
            message = f"is a program called {found['name']} that no installer put there"
            yield _finding("runner-shim", change.path, message)


def _shadowed(path: str) -> str | None:
    found = _SHADOW.fullmatch(path)
    if found is None or found["name"] not in _RUNNER_MODULES | _LIBRARY_MODULES:
        return None
    in_tests = found["root"].endswith(("tests/", "test/"))
    return None if in_tests and found["package"] else found["name"]


def _installed(changes: Sequence[FileChange]) -> Iterator[Finding]:
    """Installed runners that were edited in place, or put there by hand."""
    packages: dict[str, list[tuple[FileChange, str]]] = defaultdict(list)
    installs = False
    renewed: set[str] = set()
    for change in changes:
        found = _INSTALLED.fullmatch(change.path)
        if found is None:
            continue
        installs = installs or change.path.endswith(_INSTALL_MARKS)
        package, rest = found["package"], found["rest"] or ""
        if package.endswith((".dist-info", ".egg-info")):
            renewed.add(package.partition("-")[0].lower())
        elif _RUNNER_PACKAGE.fullmatch(package.removesuffix(".py")) and not _BYTECODE.search(change.path):
            packages[package.removesuffix(".py")].append((change, rest))
            if rest == "package.json":
                renewed.add(package)
    if not any(change.path.endswith(("vendor/modules.txt", "go.mod")) for change in changes):
        for change in changes:
            vendored = _VENDORED.fullmatch(change.path)
            if vendored is not None and change.kind is ChangeKind.MODIFIED:
                message = f"of the vendored {vendored['package']} was edited in place"
                yield _finding("runner-edited", change.path, message, proof=True)
    for package, many in packages.items():
        # _pytest is installed by the distribution pytest.
        if package in renewed or package.strip("_") in renewed or package.replace("_", "-") in renewed:
            continue
        edited = [change for change, _ in many if change.kind is not ChangeKind.ADDED]
        if edited:
            message = f"of the installed {package} was edited in place"
            yield _finding("runner-edited", edited[0].path, message, proof=True)
        elif not installs and not renewed:
            yield _finding("runner-planted", many[0][0].path, f"stands in for an installed {package}")


def _finding(rule: str, path: str, message: str, *, proof: bool = False) -> Finding:
    return Finding(rule=rule, path=path, message=f"{render_path(path)} {message}", proof=proof)
