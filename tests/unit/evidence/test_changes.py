"""Changed lines, cut out of the two contents where the hunks say."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace
from typing import Any

import pytest

from adjudge.evidence.changes import ParsedChangeCollector
from adjudge.records.base import BlobRef, digest_bytes
from adjudge.records.change import (
    BaselineOrigin,
    BaselineRef,
    ChangeKind,
    ChangeSet,
    EntryType,
    FileChange,
    Hunk,
)
from adjudge.records.evidence import ParsedChange, ParsedChangeSet


class Contents:
    def __init__(self, old: dict[str, bytes], new: dict[str, bytes]) -> None:
        self._sides = old, new
        self.reads = 0

    def hunks(self, change: FileChange) -> tuple[Hunk, ...] | None:
        return change.hunks if change.added_lines is not None else None

    def old(self, change: FileChange, *, max_bytes: int) -> bytes:
        self.reads += 1
        return self._sides[0].get(change.old_path or change.path, b"")

    def new(self, change: FileChange, *, max_bytes: int) -> bytes:
        return self._sides[1].get(change.path, b"")


def change(path: str, hunks: list[tuple[int, int, int, int]], **fields: Any) -> FileChange:
    given: dict[str, Any] = {
        "kind": ChangeKind.MODIFIED,
        "old_type": EntryType.FILE,
        "new_type": EntryType.FILE,
        "added_lines": sum(hunk[3] for hunk in hunks),
        "removed_lines": sum(hunk[1] for hunk in hunks),
        "hunks": tuple(Hunk(old_start=a, old_lines=b, new_start=c, new_lines=d) for a, b, c, d in hunks),
    }
    return FileChange(path=path, **{**given, **fields})


CHANGES = (
    change("a.py", [(2, 1, 2, 2), (4, 0, 6, 1)]),
    change("added.py", [(0, 0, 1, 2)], kind=ChangeKind.ADDED, old_type=None),
    change("moved.py", [(1, 1, 0, 0)], kind=ChangeKind.RENAMED, old_path="was.txt"),
    change("bin.py", [], binary=True, added_lines=None, removed_lines=None),
    change("huge.py", [], added_lines=None, removed_lines=None, diff_truncated=True),
    change("closed.py", [], unreadable="permission denied", added_lines=None),
    change("fifo.py", [], new_type=EntryType.SPECIAL, old_type=None, added_lines=None),
    change("mode.py", [], kind=ChangeKind.MODE_CHANGED, added_lines=0, removed_lines=0),
    change("cache.py", [(1, 0, 1, 1)], litter=True, diff_truncated=True),
)
OLD = {"a.py": b"one\ntwo\nthree\nfour", "was.txt": b"gone\nkept\n"}
NEW = {
    "a.py": b"one\nTWO\r\ntwo and \xff\nthree\nfour\nfive\n",
    "added.py": b"x\n\n",
    "moved.py": b"kept\n",
    "cache.py": b"litter",
}


@pytest.fixture
def contents() -> Contents:
    return Contents(OLD, NEW)


def parse(collector: ParsedChangeCollector, contents: Contents, *patterns: str) -> ParsedChangeSet:
    change_set = ChangeSet(
        baseline=BaselineRef(origin=BaselineOrigin.DIRECTORY, description="d"),
        changes=CHANGES,
        diff=BlobRef(digest=digest_bytes(b""), size_bytes=0, truncated=True),
        digest=digest_bytes(b""),
    )
    subject: Any = SimpleNamespace(change_set=change_set, contents=contents)
    return asyncio.run(collector.collect(ParsedChange(lines_of=patterns), subject))


def shown(parsed: ParsedChangeSet, path: str) -> list[str]:
    (file,) = (file for file in parsed.files if file.path == path)
    return [f"{'+' if line.added else '-'}{line.number} {line.text}" for line in file.lines]


def test_lines_are_numbered_in_their_own_file_and_decoded_with_replacement(contents: Contents) -> None:
    parsed = parse(ParsedChangeCollector(), contents, "*")
    assert shown(parsed, "a.py") == ["-2 two", "+2 TWO", "+3 two and \ufffd", "+6 five"]
    assert shown(parsed, "added.py") == ["+1 x", "+2 "]
    assert shown(parsed, "moved.py") == ["-1 gone"]
    assert shown(parsed, "mode.py") == []
    assert shown(parsed, "cache.py") == ["+1 litter"]


def test_files_without_lines_are_named(contents: Contents) -> None:
    parsed = parse(ParsedChangeCollector(), contents, "*")
    assert parsed.without_lines == ("bin.py", "huge.py", "closed.py")


def test_only_what_was_asked_for_is_parsed(contents: Contents) -> None:
    collector = ParsedChangeCollector()
    assert parse(collector, contents).files == ()
    assert contents.reads == 0
    assert [file.path for file in parse(collector, contents, "was*").files] == ["moved.py"]
    assert contents.reads == 1


def test_each_file_is_parsed_once_for_all_requests(contents: Contents) -> None:
    collector = ParsedChangeCollector()
    parse(collector, contents, "a.*")
    parse(collector, contents, "*.py")
    parse(collector, contents, "**")
    assert contents.reads == 4


def test_the_answer_survives_its_journey_as_json(contents: Contents) -> None:
    parsed = parse(ParsedChangeCollector(), contents, "*")
    assert ParsedChangeSet.model_validate_json(parsed.model_dump_json()) == parsed
