"""What is put in the place of the product around tests: told from what honest set-up code replaces.

A clock, a network, a setting or a library may be replaced before every test. What no set-up has a reason for
is to replace a function or a class of the product that tests call themselves, a whole module of it, or to
have tests find another package of the same name.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice

from adjudge.contracts import Subject
from adjudge.evidence.harness_planted import PLANTED_KINDS, Planted
from adjudge.formats.harness.outline import MAX_CONFIG_BYTES
from adjudge.formats.harness.settings import replaces_product
from adjudge.formats.patterns import PathPatterns
from adjudge.records.change import ChangeKind, EntryType
from adjudge.records.evidence import HarnessFile
from adjudge.records.harness import HarnessFact
from adjudge.syntax.languages import default_test_globs, is_third_party

__all__ = ["without_idle_patches"]

_RULE = "product-replaced"
_KINDS = ("patch ", "module ", "path ", "mock ", "fixture ", *PLANTED_KINDS)
_ROLES = frozenset(("conftest", "startup", "plugin"))
_TESTS = PathPatterns(default_test_globs())
_MAX_FILES = 20_000
_MAX_READ = 8 * 1024 * 1024


def without_idle_patches(file: HarnessFile, subject: Subject) -> HarnessFile:
    """A file without replacements that are not of the product, or of nothing that tests call."""
    after = file.after
    if after is None or not any(_is_patch(fact) for fact in after.facts):
        return file
    known = {fact.what for fact in file.before.facts} if file.before is not None else set()
    planted = Planted(file, subject)
    kept = tuple(
        fact
        for fact in after.facts
        if not _is_patch(fact)
        or (
            (file.role in _ROLES or fact.what.startswith(("mock ", "path ", *PLANTED_KINDS)))
            and fact.what not in known
            and (_matters(fact.what, subject) or planted.matters(fact.what))
        )
    )
    return file.model_copy(update={"after": after.model_copy(update={"facts": kept})})


def _is_patch(fact: HarnessFact) -> bool:
    return fact.rule == _RULE and fact.what.startswith(_KINDS)


def _matters(what: str, subject: Subject) -> bool:
    kind, _, target = what.partition(" ")
    if kind == "map":
        pattern, _, to = target.partition(" => ")
        return replaces_product(pattern, to)
    if what.startswith(PLANTED_KINDS):
        return False
    if kind == "mock":
        return replaces_product(target, "tests/") and _is_imported(target, subject)
    paths = list(islice(_python_files(subject), _MAX_FILES))
    if kind == "fixture":
        name, _, target = target.partition(" ")
        if not _is_asked_for(name, paths, subject):
            return False
    if kind == "path":
        return _leads_to_another(target, paths)
    product = [path for path in paths if path not in _TESTS and not _is_aside(path)]
    if kind == "module":
        return _module(target, product) is not None
    owner, _, name = target.rpartition(".")
    module = _module(owner, product)
    if module is not None:
        return _defines(module, name, subject) and _is_called(name, paths, subject)
    # A method: the class is of the product, and tests make one.
    above, _, made = owner.rpartition(".")
    module = _module(above, product)
    return module is not None and _defines(module, made, subject) and _is_called(made, paths, subject)


def _python_files(subject: Subject) -> Iterator[str]:
    """Every Python file, but for other people's."""
    for path, entry in subject.contents.walk():
        if entry.type is EntryType.FILE and path.endswith(".py") and not is_third_party(path):
            yield path


def _is_aside(path: str) -> bool:
    """Whether a file lies among tests without being one."""
    return any(part in ("test", "tests", "testing", "spec") for part in path.split("/")[:-1])


def _module(name: str, paths: list[str]) -> str | None:
    """The file of a module of the product, at the root or in a folder of sources."""
    place = name.replace(".", "/")
    wanted = (f"{place}.py", f"{place}/__init__.py")
    for path in paths:
        for each in wanted:
            if path == each or (path.endswith(f"/{each}") and path.count("/") - each.count("/") <= 2):
                return path
    return None


def _defines(path: str, name: str, subject: Subject) -> bool:
    text = subject.contents.read(path, max_bytes=MAX_CONFIG_BYTES) or b""
    return (
        re.search(rb"^(?:async\s+def|def|class)\s+%b\b" % re.escape(name.encode()), text, re.MULTILINE)
        is not None
    )


def _is_called(name: str, paths: list[str], subject: Subject) -> bool:
    """Whether tests of the baseline call it themselves."""
    added = {change.path for change in subject.change_set.changes if change.kind is ChangeKind.ADDED}
    call = re.compile(rb"(?<!def )\b%b\(" % re.escape(name.encode()))
    budget = _MAX_READ
    for path in paths:
        if path not in _TESTS or path in added or path.endswith("conftest.py"):
            continue
        data = subject.contents.read(path, max_bytes=MAX_CONFIG_BYTES) or b""
        budget -= len(data)
        if call.search(data):
            return True
        if budget <= 0:
            return False
    return False


def _is_asked_for(fixture: str, paths: list[str], subject: Subject) -> bool:
    """Whether tests of the baseline, or a setting, ask for a fixture by its name."""
    asked = re.compile(
        rb"def test\w*\([^)]*\b%b\b|usefixtures\([^)]*[\"']%b[\"']" % ((re.escape(fixture.encode()),) * 2)
    )
    settings = re.compile(rb"^\s*usefixtures\s*=.*\b%b\b" % re.escape(fixture.encode()), re.MULTILINE)
    added = {change.path for change in subject.change_set.changes if change.kind is ChangeKind.ADDED}
    for path in ("pytest.ini", "pyproject.toml", "setup.cfg", "tox.ini"):
        if settings.search(subject.contents.read(path, max_bytes=MAX_CONFIG_BYTES) or b""):
            return True
    return any(
        asked.search(subject.contents.read(path, max_bytes=MAX_CONFIG_BYTES) or b"")
        for path in paths
        if path in _TESTS and path not in added
    )


def _is_imported(module: str, subject: Subject) -> bool:
    """Whether tests of the baseline import a module themselves, by the end of its path."""
    stem = re.sub(r"\.[cm]?[jt]sx?$", "", module.lstrip("./@~"))
    if not stem:
        return False
    short = re.escape("/".join(stem.split("/")[-2:]).encode())
    named = re.compile(rb"""(?:from\s*|require\(\s*|import\(\s*)["'][^"'\n]*%b(?:\.\w+)?["']""" % short)
    index = stem.endswith("index")
    added = {change.path for change in subject.change_set.changes if change.kind is ChangeKind.ADDED}
    for path, entry in islice(subject.contents.walk(), _MAX_FILES):
        if entry.type is not EntryType.FILE or path in added or path not in _TESTS or is_third_party(path):
            continue
        data = subject.contents.read(path, max_bytes=MAX_CONFIG_BYTES) or b""
        if named.search(data) or (index and re.search(rb"""["'](?:\.\.|\.\./src)/?["']""", data)):
            return True
    return False


def _leads_to_another(place: str, paths: list[str]) -> bool:
    """Whether a folder holds a package or module that is called as one of the product is."""
    folder = place.strip("./").rpartition("/")[2]
    if not folder:
        return False
    inside: set[str] = set()
    outside: set[str] = set()
    for path in paths:
        parts = path.split("/")
        if folder in parts[:-1]:
            at = parts.index(folder)
            inside.add(parts[at + 1].removesuffix(".py") if len(parts) > at + 1 else "")
        elif not _is_aside(path) and path not in _TESTS:
            top = parts[1:] if parts[0] in ("src", "lib") else parts
            outside.add(top[0].removesuffix(".py"))
    return bool((inside & outside) - {"", "__init__", "setup", "conftest", "tests", "test", "utils", "conf"})
