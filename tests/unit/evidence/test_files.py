"""Expected files beside what the workspace holds."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from adjudge.errors import StoreError
from adjudge.evidence.files import FileComparisonCollector
from adjudge.records.base import digest_bytes
from adjudge.records.evidence import ComparedFile, FileComparison, FileMatch
from adjudge.records.tree import TreeEntry
from adjudge.testing.attempts import Attempt, Folder, Symlink, Thing, Unreadable


def compare(
    place: Path, expected: dict[str, bytes], after: dict[str, Thing], folder: str = "exp"
) -> list[ComparedFile]:
    for path, data in expected.items():
        file = place / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(data)
    entries = tuple(
        TreeEntry(path=path, mode=0o100644, digest=digest_bytes(data)) for path, data in expected.items()
    )
    subject = Attempt({}, after).subject()
    task = subject.task.model_copy(update={"files": entries})
    subject = subject._replace(task=task, scenario_files=place)
    return list(asyncio.run(FileComparisonCollector().collect(FileComparison(folder=folder), subject)).files)


def test_bytes_are_compared_not_lines(tmp_path: Path) -> None:
    expected = {"exp/a": b"one\n", "exp/b": b"one\r\n", "exp/c": b"", "exp/d/e": b"\0\xff"}
    after: dict[str, Thing] = {"a": "one\n", "b": "one\n", "c": "", "d/e": b"\0\xff"}
    assert [(file.path, file.match) for file in compare(tmp_path, expected, after)] == [
        ("a", FileMatch.SAME), ("b", FileMatch.DIFFERENT), ("c", FileMatch.SAME), ("d/e", FileMatch.SAME)
    ]  # fmt: skip


def test_a_difference_is_shown_with_its_line(tmp_path: Path) -> None:
    (file,) = compare(tmp_path, {"exp/a": b"one\ntwo\nthree\n"}, {"a": "one\n2\nthree\n"})
    assert file.line == 2
    assert file.note == "12 bytes, expected 14\n one\n-two\n+2\n three"


def test_a_difference_at_the_end_is_shown(tmp_path: Path) -> None:
    (file,) = compare(tmp_path, {"exp/a": b"one\n"}, {"a": "one\nmore\n"})
    assert (file.match, file.line) == (FileMatch.DIFFERENT, 2)


def test_a_long_difference_is_cut(tmp_path: Path) -> None:
    (file,) = compare(tmp_path, {"exp/a": b"x\n" * 5_000}, {"a": "y" * 9_000 + "\n" + "z\n" * 5_000})
    assert len(file.note) < 3_000
    assert file.note.endswith("…")


def test_binary_differences_give_sizes_only(tmp_path: Path) -> None:
    (file,) = compare(tmp_path, {"exp/a": b"\0one"}, {"a": b"\0two!"})
    assert (file.line, file.note) == (None, "5 bytes, expected 4")


@pytest.mark.parametrize(
    ("thing", "match", "note"),
    [
        (None, FileMatch.MISSING, "nothing is there"),
        (Folder(), FileMatch.NOT_A_FILE, "a directory is there"),
        (Symlink("b"), FileMatch.NOT_A_FILE, "a symlink is there"),
        (Unreadable(), FileMatch.DIFFERENT, "it cannot be read"),
    ],
)
def test_what_is_no_file_is_not_the_expected_one(
    tmp_path: Path, thing: Thing | None, match: FileMatch, note: str
) -> None:
    after: dict[str, Thing] = {"b": "one\n"} | ({} if thing is None else {"a": thing})
    (file,) = compare(tmp_path, {"exp/a": b"one\n"}, after)
    assert (file.match, file.note) == (match, note)


def test_only_the_folder_asked_for_is_compared(tmp_path: Path) -> None:
    expected = {"exp/a": b"", "exp2/b": b"", "other/c": b""}
    assert [file.path for file in compare(tmp_path, expected, {})] == ["a"]


def test_a_single_file_can_be_expected(tmp_path: Path) -> None:
    (file,) = compare(tmp_path, {"exp/VERSION": b"1\n"}, {"VERSION": "1\n"}, folder="exp/VERSION")
    assert (file.path, file.match) == ("VERSION", FileMatch.SAME)


def test_a_scenario_file_that_changed_is_our_fault_not_the_attempts(tmp_path: Path) -> None:
    entry = TreeEntry(path="exp/a", mode=0o100644, digest=digest_bytes(b"one\n"))
    subject = Attempt({}, {"a": "one\n"}).subject()
    subject = subject._replace(
        task=subject.task.model_copy(update={"files": (entry,)}), scenario_files=tmp_path
    )
    request = FileComparison(folder="exp")
    with pytest.raises(StoreError, match="exp/a of the scenario cannot be read"):
        asyncio.run(FileComparisonCollector().collect(request, subject))
    (tmp_path / "exp").mkdir()
    (tmp_path / "exp" / "a").write_bytes(b"two\n")
    with pytest.raises(StoreError, match="changed while it was being graded"):
        asyncio.run(FileComparisonCollector().collect(request, subject))
    with pytest.raises(StoreError, match="not at hand"):
        asyncio.run(FileComparisonCollector().collect(request, subject._replace(scenario_files=None)))
