"""git's patterns, where a name could make matching slow or a rule could be misread."""

from __future__ import annotations

import time

import pytest

from adjudge.capture.litter import GROUPS, own_group
from adjudge.formats.gitpatterns import parse_ignore_file

pytestmark = pytest.mark.anyone


def test_no_name_makes_matching_slow() -> None:
    rules = parse_ignore_file(b"*a*a*a*a*a*a*a*a*b\n")
    started = time.process_time()
    assert rules.decide(b"a" * 255, is_directory=False) is None
    assert time.process_time() - started < 0.2


@pytest.mark.parametrize(
    ("rule", "path", "ignored"),
    [
        (b"*.log", b"a/b.log", True),
        (b"/*.log", b"a/b.log", None),
        (b"a/**/z", b"a/z", True),
        (b"a/**", b"a", None),
        (b"\\#x", b"#x", True),
        (b"#x", b"#x", None),
        (b"x\\ ", b"x ", True),
        (b"x  ", b"x", True),
        (b"[!a]", b"b", True),
        (b"[", b"[", None),
        (b"\xff*", b"\xff\n", True),
        (b"\xef\xbb\xbfx\r", b"x", True),
    ],
)
def test_corners_of_the_syntax(rule: bytes, path: bytes, ignored: bool | None) -> None:
    assert parse_ignore_file(rule + b"\n").decide(path, is_directory=False) is ignored


@pytest.mark.parametrize(
    ("path", "group"),
    [
        (b"pkg/__pycache__/x.pyc", "bytecode"),
        (b"node_modules/a/b.js", "installed packages"),
        (b"sub/.git/HEAD", "nested git"),
        (b".file.py.swp", "editor and desktop files"),
        (b"x.egg-info/PKG-INFO", "installed packages"),
        (b"node_modules", None),
        (b"src/node_modules.py", None),
        (b"build/x", None),
        (b"dist/x", None),
        (b"target/x", None),
        (b"vendor/x", None),
        (b".gitignore", None),
    ],
)
def test_our_own_list(path: bytes, group: str | None) -> None:
    found = own_group(path)
    assert (None if found is None else found.name) == group


def test_every_group_gives_its_reason() -> None:
    assert all(group.reason for group in GROUPS)
