"""How scripts are started."""

from __future__ import annotations

import pytest

from adjudge.formats.scripts import script_argv

pytestmark = pytest.mark.anyone


@pytest.mark.parametrize(
    ("first", "argv"),
    [
        (b"#!/usr/bin/env python3\n", ("/usr/bin/env", "python3", "/a")),
        (b"#!/bin/bash -e -u\n", ("/bin/bash", "-e -u", "/a")),
        (b"set -e\n", ("/bin/sh", "/a")),
        (b"", ("/bin/sh", "/a")),
        (b"#!\n", ("/bin/sh", "/a")),
    ],
)
def test_the_first_line_names_the_program(first: bytes, argv: tuple[str, ...]) -> None:
    assert script_argv(first, "/a") == argv
