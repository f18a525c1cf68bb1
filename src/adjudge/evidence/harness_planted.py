"""Whether settings lead tests away from the product, to something that the attempt planted beside it.

Aliases, entries of packages and lock files say where modules are found. A product that was moved has its old
files gone, and a new folder of it lies where its other files are. What has no honest reading is a name of the
product that leads to new files of the same names while the product's own files are still there.
"""

from __future__ import annotations

import json
import posixpath
import re
import tomllib
from contextlib import suppress
from functools import cached_property
from itertools import islice
from typing import Any, Final

from adjudge.contracts import Subject
from adjudge.formats.harness.outline import MAX_CONFIG_BYTES
from adjudge.formats.harness.settings import may_be_of_product
from adjudge.formats.patterns import PathPatterns
from adjudge.records.change import ChangeKind, EntryType
from adjudge.records.evidence import HarnessFile
from adjudge.syntax.grammars import grammar_of
from adjudge.syntax.languages import default_test_globs, is_third_party

__all__ = ["PLANTED_KINDS", "Planted"]

PLANTED_KINDS: Final = ("map ", "entry ", "resolver ", "transform ", "package ")
_TESTS: Final = PathPatterns(default_test_globs())
_MAX_FILES: Final = 20_000
_MAX_ASKED: Final = 200
"""Settings of a file that are looked into; of more, where they lead says enough."""
_MAX_READ: Final = 8 * 1024 * 1024
_ENDING: Final = re.compile(r"\.(?:d\.)?[cm]?[jt]sx?$|\.json$|/index$")
_FOLDERS: Final = frozenset(("test", "tests", "testing", "spec", "specs", "__tests__", "__mocks__"))
_WILD: Final = re.compile(r"\(\?[:=!][^()]*\)|\([^()]*\)|\.\*|\[[^\]]*\][*+]?|\*+")
_SCHEME: Final = re.compile(r"^(?:file|link|portal|workspace):")
_REMOTE: Final = re.compile(r"^(?:git\b|git[+:@]|https?:|ssh:|github:|[\w-]+/[\w.-]+$)")
_QUOTED: Final = re.compile(r"""["'`]((?:\.{1,2}/|/)?[\w@.-]+(?:/[\w@.-]+)*)/?["'`]""")


class Planted:
    """Answers for the settings of one file."""

    def __init__(self, file: HarnessFile, subject: Subject) -> None:
        self._file = file
        self._subject = subject
        self._base = posixpath.dirname(file.path)
        self._asked = 0

    def matters(self, what: str) -> bool:
        """Whether what a fact says moves a name of the product away from it."""
        kind, _, said = what.partition(" ")
        name, _, target = said.partition(" => ")
        self._asked += 1
        if self._asked > _MAX_ASKED:
            return bool(target) and bool(self._planted(target))
        if kind == "map":
            return self._is_moved(name, target)
        if kind == "entry":
            return self._is_another_entry(name, target)
        if kind == "package":
            return self._is_another_package(name, target)
        code = self._code_of(target if kind == "transform" else said)
        if code is None:
            return False
        return self._speaks_of_planted(code) or (
            kind == "transform" and code in self._added and may_be_of_product(name) and self._names(name)
        )

    def _is_moved(self, pattern: str, target: str) -> bool:
        planted = self._planted(target)
        if not planted or not (may_be_of_product(pattern) or self._is_own_name(pattern)):
            return False
        originals = [path for path in self._originals(pattern) if path not in planted]
        if _is_whole(pattern):
            return bool(originals) and self._is_asked_for(originals) and not self._wraps(planted, originals)
        tops = {path.partition("/")[0] for path in self._product if "/" in path}
        if all(path.partition("/")[0] in tops for path in planted):
            return False
        names = {_name(path) for path in originals} - {"index"}
        return any(_name(path) in names for path in planted)

    def _is_another_entry(self, entry: str, target: str) -> bool:
        planted = self._planted(target)
        before = self._file.before.facts if self._file.before is not None else ()
        known = [
            fact.what.partition(" => ")[2] for fact in before if fact.what.startswith(f"entry {entry} => ")
        ]
        originals = [
            path
            for one in known
            for path in self._at(self._place(one))
            if path not in planted and path not in self._added
        ]
        table, _, name = entry.partition(" ")
        if not planted or not originals or self._wraps(planted, originals):
            return False
        if name.startswith("#"):
            return self._tests_say([name.rstrip("*")])
        if table == "imports" or not self._own_names:
            return False
        below = name.removeprefix(".").rstrip("*") if name.startswith(".") else ""
        return self._tests_say([*(f"{own}{below}" for own in self._own_names), "..", "../", "."])

    def _is_another_package(self, name: str, source: str) -> bool:
        if name not in self._own_names:
            return False
        bare = _SCHEME.sub("", source)
        if bare == source and _REMOTE.match(source) and not self._at(self._place(source)):
            return True
        return bool(self._planted(bare))

    def _code_of(self, target: str) -> str | None:
        """The changed file that a setting has loaded."""
        changed = {change.path for change in self._subject.change_set.changes}
        return next((path for path in self._at(self._place(target)) if path in changed), None)

    def _speaks_of_planted(self, code: str) -> bool:
        """Whether code that finds or makes modules names new files that are called as the product's are."""
        names = {_name(path) for path in self._product if path != code} - {"index"}
        for found in _QUOTED.finditer(self._read(code)):
            for base in (posixpath.dirname(code), ""):
                place = posixpath.normpath(posixpath.join(base, found[1].lstrip("/")))
                files = [path for path in self._at(place) if path != code]
                if (
                    files
                    and all(path in self._added for path in files)
                    and any(_name(path) in names for path in files)
                ):
                    return True
        return False

    def _planted(self, target: str) -> list[str]:
        """The files that a target leads to, where the attempt brought all of them."""
        for said in (target.replace(" ", "/"), *target.split(" ")):
            files = self._at(self._place(said))
            if files and all(path in self._added for path in files):
                return files
        return []

    def _place(self, target: str) -> str:
        cut = re.split(r"[$*(]", _SCHEME.sub("", target).replace("<rootDir>", "."))[0]
        return posixpath.normpath(posixpath.join(self._base, cut.lstrip("/") or "."))

    def _at(self, place: str) -> list[str]:
        """Sources at a place: a file with or without its ending, or all in a folder."""
        if place in ("", ".") or place.startswith(".."):
            return []
        return self._by_place.get(place) or self._by_place.get(_stem(place)) or []

    def _names(self, pattern: str) -> bool:
        return bool(_tail(pattern, self._own_names)) and bool(self._originals(pattern))

    def _is_own_name(self, pattern: str) -> bool:
        plain = re.sub(r"[\^$\\]", "", pattern)
        return any(plain == own or plain.startswith((f"{own}/", f"{own}(")) for own in self._own_names)

    def _originals(self, pattern: str) -> list[str]:
        """The files of the product that a pattern speaks of."""
        tail = _tail(pattern, self._own_names)
        if not tail:
            return self._product
        if _is_whole(pattern):
            return [path for path in self._product if f"/{_stem(path)}".endswith(f"/{_stem(tail)}")]
        return [path for path in self._product if f"/{tail}/" in f"/{path}"]

    def _wraps(self, planted: list[str], originals: list[str]) -> bool:
        """Whether new files load those that they stand for."""
        names = {re.escape(name) for path in originals[:50] for name in (_name(path), _name(_stem(path)))}
        loads = re.compile(rf"""["'`][^"'`\n]*/(?:{"|".join(names)})(?:\.\w+)?["'`]""")
        return all(loads.search(self._read(path)) for path in planted[:50])

    def _is_asked_for(self, originals: list[str]) -> bool:
        """Whether tests of the baseline import what is replaced themselves."""
        said = {posixpath.basename(_stem(path)) for path in originals}
        return self._tests_say([f"/{name}" for name in said] + [*self._own_names], ends=True)

    def _tests_say(self, names: list[str], *, ends: bool = False) -> bool:
        """Whether tests of the baseline have one of some names in quotes, or a text that ends so."""
        any_of = "|".join(re.escape(name) for name in names)
        start = r"[^\"'`\n]*" if ends else ""
        more = r"(?:\.[cm]?[jt]sx?)?" if ends else r"[^\"'`\n]*" if "#" in any_of else ""
        asked = re.compile(rf"""(?:from|require\(|import\(?)\s*["'`]{start}(?:{any_of}){more}["'`]""")
        budget = _MAX_READ
        for path in self._every:
            if path in _TESTS and path not in self._added:
                text = self._read(path)
                budget -= len(text)
                if asked.search(text):
                    return True
                if budget <= 0:
                    break
        return False

    def _read(self, path: str) -> str:
        return (self._subject.contents.read(path, max_bytes=MAX_CONFIG_BYTES) or b"").decode(
            "utf-8", "replace"
        )

    @cached_property
    def _added(self) -> frozenset[str]:
        return frozenset(
            change.path for change in self._subject.change_set.changes if change.kind is ChangeKind.ADDED
        )

    @cached_property
    def _every(self) -> list[str]:
        return [
            path
            for path, entry in islice(self._subject.contents.walk(), _MAX_FILES)
            if entry.type is EntryType.FILE and not is_third_party(path)
        ]

    @cached_property
    def _by_place(self) -> dict[str, list[str]]:
        found: dict[str, list[str]] = {}
        for path in self._every:
            if grammar_of(path) is None and not path.endswith(".json"):
                continue
            for place in {path, _stem(path)}:
                found.setdefault(place, []).append(path)
            above = posixpath.dirname(path)
            while above:
                if path not in found.setdefault(above, [])[-1:]:
                    found[above].append(path)
                above = posixpath.dirname(above)
        return found

    @cached_property
    def _product(self) -> list[str]:
        """Code that the baseline had and that is no test."""
        return [
            path
            for path in self._every
            if grammar_of(path) is not None
            and path not in self._added
            and path not in _TESTS
            and _FOLDERS.isdisjoint(path.split("/")[:-1])
            and not re.search(r"(?:^|/)[\w.-]*\.config\.\w+$|(?:^|/)\.", path)
        ]

    @cached_property
    def _own_names(self) -> tuple[str, ...]:
        """What the product calls itself."""
        found: list[Any] = []
        with suppress(ValueError, RecursionError, AttributeError):
            found.append(json.loads(self._read("package.json") or "{}").get("name"))
        with suppress(ValueError, RecursionError, AttributeError):
            table = tomllib.loads(self._read("pyproject.toml"))
            for owner in (table.get("project"), table.get("tool", {}).get("poetry")):
                found.append(owner.get("name") if isinstance(owner, dict) else None)
        return tuple(one for one in found if isinstance(one, str) and one)


def _stem(path: str) -> str:
    return _ENDING.sub("", _ENDING.sub("", path))


def _name(path: str) -> str:
    return posixpath.basename(path).partition(".")[0]


def _is_whole(pattern: str) -> bool:
    """Whether a pattern ends with the name of a module rather than with anything at all."""
    plain = pattern.rstrip("$/").replace("\\.", ".")
    return not plain.endswith(("*", ")", "+"))


def _tail(pattern: str, own: tuple[str, ...]) -> str:
    """What a pattern says of the place of a module, without what may stand before and after it."""
    # Backslashes are written twice in JavaScript's strings.
    plain = re.sub(r"\\{1,2}(.)", r"\1", pattern.strip("^$"))
    for name in own:
        plain = plain.removeprefix(name)
    plain = _WILD.sub("\0", plain)
    parts = [part for part in plain.split("\0") if part.strip("./@~#")]
    return re.sub(r"^(?:\.{0,2}/|[@~#]/?)+|/+$", "", parts[-1].lstrip("/")).strip("/") if parts else ""
