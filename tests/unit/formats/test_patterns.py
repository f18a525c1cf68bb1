"""Path patterns as authors mean them, and what is refused."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adjudge.formats.patterns import PathPatterns, check_exact_path, check_pattern
from adjudge.records.paths import render_path

pytestmark = pytest.mark.anyone


@pytest.mark.parametrize(
    ("pattern", "path"),
    [
        ("src/*", "src/deep/file.py"),
        ("src/**", "src/deep/er/file.py"),
        ("src/**", "src/file.py"),
        ("*.py", "deep/er/file.py"),
        ("**/conftest.py", "conftest.py"),
        ("**/conftest.py", "a/b/conftest.py"),
        ("a/**/b", "a/b"),
        ("a/**/b", "a/x/y/b"),
        ("./src/*", "src/file.py"),
        ("file?.py", "file1.py"),
        ("file[0-9].py", "file1.py"),
        ("file[!0-9].py", "filex.py"),
        ("app/[id]/page.tsx", "app/[id]/page.tsx"),
        ("{{name}}/*", "{{name}}/setup.py"),
        ("*", "new\nline"),
        ("*", "not utf-8 \udcff"),
        ("*.secret", "not utf-8 \udcff.secret"),
        ("ü/*", "ü/file"),
    ],
)
def test_matches(pattern: str, path: str) -> None:
    assert PathPatterns([check_pattern(pattern)]).matching(path) == check_pattern(pattern)


@pytest.mark.parametrize(
    ("pattern", "path"),
    [
        ("src/*", "src"),
        ("src/**", "src"),
        ("src/**", "source/file.py"),
        ("*.py", "file.PY"),
        ("**/conftest.py", "xconftest.py"),
        ("a/**/b", "ab"),
        ("file?.py", "file.py"),
        ("src/*", "lib/src/file.py"),
        ("é", "e\u0301"),
    ],
)
def test_does_not_match(pattern: str, path: str) -> None:
    assert path not in PathPatterns([check_pattern(pattern)])


@pytest.mark.parametrize(
    ("pattern", "says"),
    [
        ("", "empty"),
        (".", "empty"),
        ("./", "empty"),
        ("/etc/*", "absolute"),
        (".//etc/../x", "leaves the workspace"),
        ("..", "leaves the workspace"),
        ("src/../../x", "leaves the workspace"),
        ("src/", "src/** for everything beneath"),
        ("src//x", "empty or `.` part"),
        ("src/./x", "empty or `.` part"),
        ("!src/*", "not gitignore rules"),
        ("src\\*", "write / between folders"),
        ("*.{ts,tsx}", "braces are not expanded"),
        ("a\0b", "NUL"),
        ("**/a/**/b/**/c/**/d/**/e", "more than 4"),
    ],
)
def test_refuses_what_can_only_be_a_mistake(pattern: str, says: str) -> None:
    with pytest.raises(ValueError, match=says.replace("*", r"\*").replace("[", r"\[")):
        check_pattern(pattern)


def test_a_backslash_can_still_be_written() -> None:
    assert "a\\b" in PathPatterns([check_pattern("a[\\]b")])


def test_a_hostile_name_costs_no_time() -> None:
    began = time.process_time()
    assert "a" * 4000 not in PathPatterns([check_pattern("*a*a*a*a*a*a*a*b")])
    assert "a/" * 2000 not in PathPatterns([check_pattern("**/*a*/**/*a*/**/*a*/b")])
    assert time.process_time() - began < 2


@pytest.mark.parametrize(
    ("pattern", "path", "reaches"),
    [
        (".github/**", ".github", True),
        (".github/workflows/*.yml", ".github", True),
        (".github/workflows/*.yml", ".github/workflows", True),
        ("secrets/key", "secrets", True),
        (".github/**", ".git", False),
        ("*.pem", "certificates", False),
        ("secrets", "secrets", False),
    ],
)
def test_what_a_symlink_would_stand_in_for(pattern: str, path: str, reaches: bool) -> None:
    assert (PathPatterns([pattern]).reaching_below(path) is not None) is reaches


@pytest.mark.parametrize(
    ("written", "normal"),
    [
        ("tests/a.py", "tests/a.py"),
        ("./tests/a.py", "tests/a.py"),
        ("tests/", "tests"),
        ("a b/[c]", "a b/[c]"),
    ],
)
def test_exact_paths(written: str, normal: str) -> None:
    assert check_exact_path(written) == normal


@pytest.mark.parametrize(
    "written", ["", ".", "./", "/", "/etc", "..", "a/../b", "a//b", "a/./b", "a\0", '"a', '"./a"']
)
def test_exact_paths_that_are_refused(written: str) -> None:
    with pytest.raises(ValueError, match=r".+"):
        check_exact_path(written)


def test_an_exact_path_of_odd_bytes_is_written_quoted() -> None:
    assert check_exact_path(render_path("a\udcff")) == '"a\\377"'


@given(st.text(min_size=1), st.text(min_size=1))
def test_no_pattern_breaks_matching(pattern: str, path: str) -> None:
    try:
        checked = check_pattern(pattern)
    except ValueError:
        return
    assert checked in PathPatterns([checked])
    assert isinstance(path in PathPatterns([checked]), bool)
    assert check_pattern(checked) == checked
