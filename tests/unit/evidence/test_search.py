"""Where regular expressions match in a workspace."""

from __future__ import annotations

import asyncio
import time

import pytest

from adjudge.evidence.search import PatternSearchCollector
from adjudge.formats.regex import check_regex, find_regex
from adjudge.records.evidence import PatternMatches, PatternSearch
from adjudge.testing.attempts import Attempt, Symlink, Thing, Unreadable


def search(after: dict[str, Thing], *patterns: str) -> PatternMatches:
    request = PatternSearch(patterns=patterns)
    return asyncio.run(PatternSearchCollector().collect(request, Attempt({}, after).subject()))


def test_the_first_match_is_told_with_its_line() -> None:
    found = search({"b.py": "retry\n", "a.py": "one\ntwo retry\n"}, "re.ry", "nowhere")
    assert [(match.path, match.line) for match in found.matches] == [("a.py", 2), (None, None)]
    assert (found.searched_files, found.searched_bytes) == (2, 20)


def test_what_is_no_text_of_the_attempts_is_not_searched() -> None:
    after: dict[str, Thing] = {
        "a.bin": b"\0retry", "link": Symlink("retry"), "node_modules/a.js": "retry", ".git/config": "retry",
        "closed": Unreadable(5),
    }  # fmt: skip
    found = search(after, "retry")
    assert found.matches[0].path is None
    assert found.unsearched == ("closed",)


def test_bytes_that_are_no_text_do_not_stop_a_search() -> None:
    assert search({"a": b"\xff\xfe retry"}, "retry").matches[0].path == "a"


@pytest.mark.parametrize(
    "pattern", ["(", "[a", "(?=a)b", r"(a)\1", "a{1,2}{3,4}{5,6}{1000}(((", "", "x" * 1001, "(?<!a)b"]
)
def test_a_bad_pattern_is_refused(pattern: str) -> None:
    with pytest.raises(ValueError, match=r"regular expression|empty pattern|characters"):
        check_regex(pattern)


def test_what_is_not_offered_is_said() -> None:
    with pytest.raises(ValueError, match="look-around and back references are not offered"):
        check_regex("(?=a)b")


@pytest.mark.parametrize(
    ("pattern", "text"),
    [("^(a+)+$", "a" * 100_000 + "b"), ("(x+x+)+y", "x" * 100_000), ("(.*a){12}$", "a" * 50_000 + "b")],
)
def test_no_pattern_hangs(pattern: str, text: str) -> None:
    started = time.monotonic()
    assert find_regex(check_regex(pattern), text) is None
    # Milliseconds for these; Python's own engine would take longer than anybody waits.
    assert time.monotonic() - started < 20


def test_patterns_mean_what_they_mean_in_python() -> None:
    assert find_regex("(?i)RETRY", "x retry") == 2
    assert find_regex("(?m)^b", "a\nb") == 2
    assert find_regex("ü+", "grüün") == 2
