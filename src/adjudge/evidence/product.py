"""The collector of `ProductScan`: what changed product code does and answers, and tests with its literals.

A file is looked at where it changed; its other side, and tests, only when there is something to compare.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from typing import ClassVar, Final

from adjudge.contracts import Subject
from adjudge.errors import StoreError, WorkspaceUnreadable
from adjudge.evidence.hiddenfiles import read_scenario_file
from adjudge.evidence.outlining import Outliner, OutlineUnavailable, outlining
from adjudge.formats.patterns import PathPatterns
from adjudge.records.change import EntryType, FileChange
from adjudge.records.evidence import ProductScan, ScannedExamples, ScannedProduct, ScannedProducts
from adjudge.records.productcode import Act, Answer, Example, ProductOutline
from adjudge.records.tree import DIRECTORY
from adjudge.syntax.grammars import MAX_SOURCE_BYTES, grammar_of
from adjudge.syntax.languages import is_third_party
from adjudge.syntax.productcode.compare import (
    ProductChange,
    added_answers,
    added_choices,
    added_keys,
    fits,
    needle_of,
)
from adjudge.syntax.productcode.data import (
    MAX_DATA_BYTES,
    examples_of_data,
    is_data_of_tests,
    is_named,
    may_hold_answers,
    outline_data,
)
from adjudge.syntax.productcode.files import may_be_product
from adjudge.syntax.productcode.imported import loads, loads_package, package_of
from adjudge.syntax.productcode.reading import LineRanges

__all__ = ["ProductScanCollector", "changed_lines", "is_product"]

_MAX_TOTAL_BYTES: Final = 16 * 1024 * 1024
"""Of all product files, both sides."""
_MAX_TEST_BYTES: Final = 64 * 1024 * 1024
"""Of test files that are searched for literals."""
_MAX_TESTS: Final = 40
"""Test files that are parsed."""
_MAX_ANSWERS: Final = 200
_MAX_LOADED: Final = 100
_MAX_PLANTED: Final = 12
"""Files of a package that somebody may have written by hand."""
_INSTALLED: Final = ("package-lock.json", "node_modules/.package-lock.json", "npm-shrinkwrap.json")
"""Where npm writes down what it has installed."""
_LOCKED: Final = ("yarn.lock", "pnpm-lock.yaml", "bun.lock")
"""Where others do, by name."""
_MAX_LOCK_BYTES: Final = 4 * 1024 * 1024
_MAX_DATA: Final = 40
"""Files of data that are read."""
_MAX_IMPORTERS: Final = 2_000
_MAX_IMPORTER_BYTES: Final = 200_000
"""Of files that are looked at for what they load."""
_MAX_INSTRUCTION: Final = 40_000
_WITHIN_S: Final = 60.0
"""For everything. Fifty files of the usual size take less than half a second."""


class ProductScanCollector:
    """Reads both sides of changed product files, has them parsed, and looks for tests with their literals."""

    kind: ClassVar[str] = "product_scan"
    cost: ClassVar[int] = 1

    def __init__(self, outliner: Outliner | None = None) -> None:
        self._outliner = outliner

    async def collect(self, request: ProductScan, subject: Subject) -> ScannedProducts:
        """Scan every changed file of product code that has a grammar."""
        patterns = PathPatterns(request.test_globset)
        changes = [change for change in subject.change_set.changes if is_product(change, patterns)]
        with outlining(self._outliner) as outliner:
            scan = _Scan(subject, outliner)
            changes += scan.loaded(patterns)
            changes += scan.planted(changes)
            files = scan.without_helpers_of_tests(scan.product(changes), patterns)
            files += scan.data(changes, patterns)
            sides = [ProductChange(file.path, file.before, file.after) for file in files]
            answers = [answer for side in sides for answer in added_answers(side)][:_MAX_ANSWERS]
            answers += [choice for side in sides for choice in added_choices(side)][:_MAX_ANSWERS]
            answers += [key for side in sides for key in added_keys(side)][:_MAX_ANSWERS]
            tests = tuple(scan.tests(patterns, answers)) if answers else ()
        instruction = subject.task.scenario.instruction[:_MAX_INSTRUCTION] if answers else ""
        return ScannedProducts(files=tuple(files), tests=tests, instruction=instruction)


def is_product(change: FileChange, patterns: PathPatterns) -> bool:
    """Whether a change is one of product code; `patterns` are those of test files."""
    return not change.litter and any(
        _is_code(path, patterns) and may_be_product(path) for path in change.paths
    )


def _is_code(path: str, patterns: PathPatterns) -> bool:
    return grammar_of(path) is not None and path not in patterns and not is_third_party(path)


class _Scan:
    """One scan, with what it may still cost."""

    def __init__(self, subject: Subject, outliner: Outliner) -> None:
        self._subject = subject
        self._outliner = outliner
        self._budget = _MAX_TOTAL_BYTES
        self._until = time.monotonic() + _WITHIN_S

    def loaded(self, patterns: PathPatterns) -> list[FileChange]:
        """Changed files that product code loads though they are ignored, or named as tools or for tests."""
        named = [
            change
            for change in self._subject.change_set.changes
            if change.new_type is EntryType.FILE
            and _is_code(change.path, patterns)
            and (change.litter or not may_be_product(change.path))
        ][:_MAX_LOADED]
        found: dict[str, FileChange] = {}
        left = _MAX_IMPORTERS
        for path, entry in self._subject.contents.walk() if named else ():
            if left <= 0 or len(found) == len(named) or time.monotonic() > self._until:
                break
            small = (entry.size_bytes or 0) < _MAX_IMPORTER_BYTES
            if not small or entry.type is not EntryType.FILE:
                continue
            if not _is_code(path, patterns) or not may_be_product(path):
                continue
            left -= 1
            text = (self._subject.contents.read(path, max_bytes=_MAX_IMPORTER_BYTES) or b"").decode(
                "utf-8", "replace"
            )
            for change in named:
                if change.path not in found and loads(path, text, change.path):
                    found[change.path] = change
        return list(found.values())

    def planted(self, changes: Sequence[FileChange]) -> list[FileChange]:
        """Files of packages that came with the change, that its code loads and that nobody installed."""
        packages: dict[str, list[FileChange]] = {}
        for change in self._subject.change_set.changes:
            if change.old_type is None and change.new_type is EntryType.FILE:
                name = package_of(change.path)
                if name is not None:
                    packages.setdefault(name, []).append(change)
        small = {name: files for name, files in packages.items() if len(files) <= _MAX_PLANTED}
        if not small or not changes:
            return []
        code = b"\n".join(map(self._code, changes[:_MAX_LOADED])).decode("utf-8", "replace")
        known = self._read_all(_INSTALLED)
        others = self._read_all(_LOCKED)
        return [
            change
            for name, files in small.items()
            if loads_package(code, name) and f'node_modules/{name}"' not in known and name not in others
            for change in files
            if grammar_of(change.path) is not None
        ]

    def _read_all(self, paths: Sequence[str]) -> str:
        found = (self._subject.contents.read(path, max_bytes=_MAX_LOCK_BYTES) for path in paths)
        return b"\n".join(data for data in found if data is not None).decode("utf-8", "replace")

    def product(self, changes: Sequence[FileChange]) -> list[ScannedProduct]:
        """Every file, as changed; with what it was, where anything that came is worth a look."""
        after = [self._side(change, new=True, ranges=changed_lines(change, new=True)) for change in changes]
        worth = [_says(outline) for outline, _ in after]
        files: list[ScannedProduct] = []
        for change, (outline, note), asked in zip(changes, after, worth, strict=True):
            before: ProductOutline | None = None
            if any(worth):
                ranges = None if asked else changed_lines(change, new=False)
                before, _ = self._side(change, new=False, ranges=ranges)
            files.append(ScannedProduct(path=change.path, before=before, after=outline, note=note))
        return files

    def without_helpers_of_tests(
        self, files: Sequence[ScannedProduct], patterns: PathPatterns
    ) -> list[ScannedProduct]:
        """The same; new files that only the attempt's own tests load may read what belongs to tests.

        What tests of the baseline or hidden ones load is the product, new or not.
        """
        new = {change.path for change in self._subject.change_set.changes if change.old_type is None}
        asked = {file.path for file in files if file.path in new and _reads_tests(file)}
        helpers = self._helpers_among(asked, patterns) if asked else set()
        return [_without_reads(file) if file.path in helpers else file for file in files]

    def _helpers_among(self, asked: set[str], patterns: PathPatterns) -> set[str]:
        by_own: set[str] = set()
        # In Go every file of a folder is loaded with the others.
        by_others = {path for path in asked if path.endswith(".go")}
        for number, (path, data, of_attempt) in enumerate(self._loading(patterns)):
            if number >= _MAX_IMPORTERS or time.monotonic() > self._until:
                return set()
            text = data.decode("utf-8", "replace")
            found = {one for one in asked if one != path and loads(path, text, one)}
            (by_own if of_attempt else by_others).update(found)
        return by_own - by_others

    def _loading(self, patterns: PathPatterns) -> Iterator[tuple[str, bytes, bool]]:
        """Files that may load others, and whether they are tests that the attempt wrote or changed."""
        contents = self._subject.contents
        own = {change.path: change for change in self._subject.change_set.changes if change.path in patterns}
        for path, data in self._hidden_files():
            yield path, data, False
        for path, change in own.items():
            if change.old_type is EntryType.FILE:
                yield change.old_path or path, contents.old(change, max_bytes=_MAX_IMPORTER_BYTES), False
        for path, entry in contents.walk():
            if entry.type is EntryType.FILE and grammar_of(path) is not None and not is_third_party(path):
                yield path, contents.read(path, max_bytes=_MAX_IMPORTER_BYTES) or b"", path in own

    def data(self, changes: Sequence[FileChange], patterns: PathPatterns) -> Iterator[ScannedProduct]:
        """Files of data that came with changed product code; what is ignored only where code names it."""
        if not changes:
            return
        added = [
            change
            for change in self._subject.change_set.changes
            if change.old_type is None
            and change.new_type is EntryType.FILE
            and 0 < (change.new_size_bytes or 0) <= MAX_DATA_BYTES
            and change.path not in patterns
            and grammar_of(change.path) is None
        ]
        code = b"".join(self._code(change) for change in changes[:_MAX_LOADED]) if added else b""
        added = [
            change
            for change in added
            if may_hold_answers(change.path, code=code) and (not change.litter or is_named(change.path, code))
        ]
        for change in added[:_MAX_DATA]:
            if time.monotonic() > self._until:
                return
            try:
                data = self._subject.contents.new(change, max_bytes=MAX_DATA_BYTES + 1)
            except WorkspaceUnreadable:
                continue
            outline = outline_data(change.path, data)
            if outline is not None:
                yield ScannedProduct(path=change.path, after=outline)

    def _code(self, change: FileChange) -> bytes:
        try:
            return self._subject.contents.new(change, max_bytes=_MAX_IMPORTER_BYTES)
        except WorkspaceUnreadable:
            return b""

    def _side(
        self, change: FileChange, *, new: bool, ranges: LineRanges | None
    ) -> tuple[ProductOutline | None, str]:
        path = change.path if new else change.old_path or change.path
        kind = change.new_type if new else change.old_type
        if kind is not EntryType.FILE or (ranges is not None and not ranges):
            return None, ""
        if self._budget <= 0 or time.monotonic() > self._until:
            return None, "too much to read in all"
        contents = self._subject.contents
        try:
            source = (contents.new if new else contents.old)(change, max_bytes=MAX_SOURCE_BYTES + 1)
            self._budget -= len(source)
            return self._outliner.outline_product(path, source, ranges), ""
        except (OutlineUnavailable, WorkspaceUnreadable) as error:
            return None, str(error)

    def tests(self, patterns: PathPatterns, answers: Sequence[Answer]) -> Iterator[ScannedExamples]:
        """The tests and data of tests that have the literals of an answer together, as those examples."""
        needles = [needle for answer in answers if (needle := needle_of(answer))]
        parsed = 0
        for path, hidden, own, source in self._test_files(patterns):
            if parsed >= _MAX_TESTS or time.monotonic() > self._until:
                return
            if len(source) > MAX_SOURCE_BYTES or not any(
                all(part in source for part in one) for one in needles
            ):
                continue
            parsed += 1
            found = tuple(
                example
                for example in self._examples(path, source)
                if any(fits(answer, example) for answer in answers)
            )
            if found:
                yield ScannedExamples(path=path, hidden=hidden, own=own, examples=found)

    def _examples(self, path: str, source: bytes) -> Sequence[Example]:
        if grammar_of(path) is None:
            return examples_of_data(path, source)
        try:
            outline = self._outliner.outline_examples(path, source)
        except OutlineUnavailable:
            return ()
        return outline.examples if outline is not None else ()

    def _test_files(self, patterns: PathPatterns) -> Iterator[tuple[str, bool, bool, bytes]]:
        subject, left = self._subject, _MAX_TEST_BYTES
        limit = MAX_SOURCE_BYTES + 1

        def is_test(path: str) -> bool:
            named = is_data_of_tests(path) if grammar_of(path) is None else path in patterns
            return named and not is_third_party(path)

        for path, data in self._hidden_files():
            left -= len(data)
            yield path, True, False, data
        for change in subject.change_set.changes:
            path = change.old_path or change.path
            if change.old_type is EntryType.FILE and is_test(path):
                data = subject.contents.old(change, max_bytes=limit)
                left -= len(data)
                yield path, False, False, data
        changed = {change.path for change in subject.change_set.changes}
        for path, entry in subject.contents.walk():
            if left <= 0:
                return
            if path in changed and grammar_of(path) is None:
                continue  # Data that came with the product are no tests of it.
            if entry.type is EntryType.FILE and is_test(path) and (entry.size_bytes or 0) < limit:
                found = subject.contents.read(path, max_bytes=limit)
                left -= len(found or b"")
                yield path, False, path in changed, found or b""

    def _hidden_files(self) -> Iterator[tuple[str, bytes]]:
        """Files of the scenario that its recipe lays over the workspace or shows to a verifier."""
        recipe = self._subject.task.scenario.recipe
        places = [place for spec in recipe.scorers for place in _sources(spec.config)]
        for entry in self._subject.task.files:
            inside = any(entry.path == place or entry.path.startswith(f"{place}/") for place in places)
            if entry.mode == DIRECTORY or not inside or grammar_of(entry.path) is None:
                continue
            try:
                yield entry.path, read_scenario_file(entry, self._subject.scenario_files)
            except StoreError:
                continue


def _reads(clue: Act) -> bool:
    return clue.rule == "reads-tests"


def _reads_tests(file: ScannedProduct) -> bool:
    return file.after is not None and any(map(_reads, file.after.clues))


def _without_reads(file: ScannedProduct) -> ScannedProduct:
    assert file.after is not None
    kept = tuple(clue for clue in file.after.clues if not _reads(clue))
    return file.model_copy(update={"after": file.after.model_copy(update={"clues": kept})})


def _says(outline: ProductOutline | None) -> bool:
    found = outline is not None and bool(
        outline.acts or outline.clues or outline.means or outline.looks or outline.answers
    )
    return found or bool(added_choices(ProductChange("", None, outline)))


def changed_lines(change: FileChange, *, new: bool) -> LineRanges | None:
    """First and last lines of what changed on one side; None where all of it counts."""
    if not change.hunks:
        return None
    spans = [
        (hunk.new_start, hunk.new_lines) if new else (hunk.old_start, hunk.old_lines) for hunk in change.hunks
    ]
    return [(start, start + count - 1) for start, count in spans if count]


def _sources(config: object) -> Iterator[str]:
    """The files and folders of the scenario that a scorer's fields bring to the tests."""
    if not isinstance(config, dict):
        return
    for hidden in config.get("inject") or ():
        source = (
            hidden if isinstance(hidden, str) else hidden.get("src") if isinstance(hidden, dict) else None
        )
        if isinstance(source, str):
            yield source.rstrip("/")
    folder = config.get("tests")
    if isinstance(folder, str):
        yield folder.rstrip("/")
