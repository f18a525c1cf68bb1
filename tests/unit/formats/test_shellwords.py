"""Shell text taken apart into commands."""

from __future__ import annotations

import shlex

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adjudge.formats.shellwords import shell_commands

pytestmark = pytest.mark.anyone


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("git log --all | head; cat x && ls /a", ["git log --all", "head", "cat x", "ls /a"]),
        ("bash -lc 'cd /a && git fetch origin'", ["cd /a", "git fetch origin"]),
        ("X=1 sudo -n timeout 5 curl -s https://x/y", ["curl -s https://x/y"]),
        ("for f in a b; do cat $f; done", ["for f in a b", "cat a b", "done"]),
        ("git log \\\n  --all", ["git log --all"]),
        ("cat 'unbalanced; ls", ["cat unbalanced", "ls"]),
        ("# git fetch\nls", ["ls"]),
        ("(cd a; make)", ["cd a", "make"]),
        ("xargs -n1 cat < list", ["cat"]),
        ("D=/a; E=b; cat $D$E/c", ["cat /ab/c"]),
        ("g=git; $g fetch", ["git fetch"]),
        ("ls 2>/dev/null >&2 &> x", ["ls"]),
        ("echo 'a > b' \"c;d\" e\\ f", ["echo a > b c;d e f"]),
        ("", []),
    ],
)
def test_commands(text: str, expected: list[str]) -> None:
    assert [" ".join(command.words) for command in shell_commands(text)] == expected


def test_substitutions_are_commands_too() -> None:
    commands = {" ".join(command.words) for command in shell_commands("echo $(git reflog) `git stash list`")}
    assert {"git reflog", "git stash list"} <= commands


def test_code_of_interpreters() -> None:
    here = "python3 - <<'EOF'\nprint(open('/x'))\nEOF\ncat <<A > b\ntext\nA\n"
    python, cat = shell_commands(here)
    assert (python.runs_body, python.body) == (True, "print(open('/x'))")
    assert (cat.runs_body, cat.body) == (False, "text")
    (inline,) = shell_commands('node -e "require(1)"')
    assert inline.runs_body
    assert inline.body == "require(1)"


def test_deep_nesting_ends() -> None:
    text = "ls"
    for _ in range(30):
        text = f"bash -c {shlex.quote(text)}"[:10_000]
    assert len(shell_commands(text)) <= 1
    assert len(shell_commands("ls;" * 100_000)) == 500


@given(st.text(alphabet="ab'\"$()`;|&<>\\\n#= -", max_size=200))
def test_any_text_is_taken_apart(text: str) -> None:
    assert all(command.words for command in shell_commands(text))


def test_redirections_pipes_and_what_is_not_waited_for() -> None:
    first, second, third = shell_commands("nohup make 2>&1 < in >out & cat a | tee b >> c")
    assert (first.reads, first.writes, first.background) == (("in",), ("out",), True)
    assert first.started_by == ("nohup",)
    assert (second.piped, third.piped, third.writes) == (False, True, ("c",))


def test_substitutions_within_substitutions() -> None:
    text = 'echo x > $(python -c "import site; print(site.getsitepackages()[0])")/a.pth'
    inner, outer = shell_commands(text)
    assert inner.body == "import site; print(site.getsitepackages()[0])"
    assert outer.writes[0].endswith("/a.pth")
