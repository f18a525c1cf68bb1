"""Source files beside what the baseline had, parsed in a process that can be ended."""

from __future__ import annotations

import asyncio
import time

import pytest

from adjudge.evidence.outlining import Outliner, OutlineUnavailable
from adjudge.evidence.sources import SourceScanCollector
from adjudge.records.evidence import ScannedFile, ScannedSources, SourceScan
from adjudge.records.source import BodyKind
from adjudge.testing.attempts import Attempt, Symlink, Unreadable

STUB = "def f(x):\n    raise NotImplementedError\n"
REAL = "def f(x):\n    return x + 1\n"


def scan(attempt: Attempt, *files: str) -> ScannedSources:
    return asyncio.run(SourceScanCollector().collect(SourceScan(files=files), attempt.subject()))


def only(attempt: Attempt, *files: str) -> ScannedFile:
    (file,) = scan(attempt, *files).files
    return file


def kinds(file: ScannedFile) -> tuple[list[BodyKind], list[BodyKind]]:
    assert file.after is not None
    before = [] if file.before is None else [function.kind for function in file.before.functions]
    return before, [function.kind for function in file.after.functions]


def test_both_sides_of_a_changed_file_are_read() -> None:
    file = only(Attempt({"a.py": STUB}, {"a.py": REAL}))
    assert kinds(file) == ([BodyKind.EXPLICIT], [BodyKind.REAL])
    assert file.changed


def test_a_new_file_has_nothing_before_it() -> None:
    assert only(Attempt({}, {"a.py": REAL})).before is None


def test_a_listed_file_that_did_not_change_is_read_all_the_same() -> None:
    file = only(Attempt({"a.py": STUB}, {"a.py": STUB}), "a.py")
    assert kinds(file) == ([BodyKind.EXPLICIT], [BodyKind.EXPLICIT])
    assert not file.changed


@pytest.mark.parametrize(
    ("after", "note"),
    [({}, "nothing is there"), ({"a.py": Symlink("b.py"), "b.py": REAL}, "a symlink is there")],
)
def test_a_listed_file_that_is_not_there_is_said(after: dict[str, str | Symlink], note: str) -> None:
    file = only(Attempt({"a.py": STUB}, dict(after)), "a.py")
    assert (file.present, file.note) == (False, note)


def test_tests_litter_and_other_peoples_code_are_not_the_attempts_source() -> None:
    attempt = Attempt(
        {},
        {
            "tests/test_a.py": REAL, "test_b.py": REAL, "a_test.go": "package a\n",
            "node_modules/x/i.js": "f()\n", "README.md": "text\n", "main.c": "int main() {}\n",
            "src/a.ts": "export const a = 1\n",
        },
    )  # fmt: skip
    assert [file.path for file in scan(attempt).files] == ["main.c", "src/a.ts"]


def test_a_language_without_a_grammar_is_said() -> None:
    file = only(Attempt({}, {"main.c": "int main() {}\n"}))
    assert (file.after, file.note) == (None, "no grammar is at hand for it")


def test_an_unreadable_file_is_said() -> None:
    assert only(Attempt({}, {"a.py": Unreadable()}), "a.py").note == "it cannot be read"


def test_too_many_bytes_are_left_out_by_name() -> None:
    large = "# " + "x" * 500_000 + "\n"
    attempt = Attempt({}, {f"m{number:02}.py": large for number in range(20)})
    scanned = scan(attempt)
    assert len(scanned.files) + len(scanned.unscanned) == 20
    assert scanned.unscanned


def test_a_file_that_takes_too_long_is_given_up_and_the_next_one_is_read() -> None:
    slow = b"def f():pass\n" * 20_000
    started = time.monotonic()
    with Outliner(file_within_s=3.0) as outliner:
        with pytest.raises(OutlineUnavailable, match="takes more than 3 s to parse"):
            outliner.outline("a.js", slow)
        assert time.monotonic() - started < 30
        after = outliner.outline("a.py", REAL.encode())
    assert after is not None
    assert after.functions[0].kind is BodyKind.REAL


def test_a_file_that_is_too_large_is_not_sent() -> None:
    with Outliner() as outliner, pytest.raises(OutlineUnavailable, match="larger than 512 KiB"):
        outliner.outline("a.py", b"#" * 600_000)
    with Outliner() as outliner:
        assert outliner.outline("a.txt", b"") is None
