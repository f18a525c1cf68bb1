"""Patches as people and tools write them, applied to small trees."""

from __future__ import annotations

import base64
import zlib

import pytest

from adjudge.errors import PatchUnreadable
from adjudge.formats.patch import parse_patch
from adjudge.formats.patching import FOLDER, TreeFile, apply_patch

TREE = {
    "a.txt": b"one\ntwo\nthree\n",
    "b.txt": b"other\n",
    "deep/c.txt": b"c\n",
    "bin": b"\0\1\2" * 50,
    "end": b"no newline",
    "x y.txt": b"space\n",
}


def applied(patch: bytes | str, tree: dict[str, bytes] | None = None) -> dict[str, TreeFile | None]:
    raw = patch.encode() if isinstance(patch, str) else patch
    files = TREE if tree is None else tree

    def look(path: str) -> TreeFile | None:
        if path in files:
            return TreeFile(0o100644, files[path])
        if path == "link":
            return TreeFile(0o120000, b"/etc")
        return TreeFile(FOLDER, b"") if any(name.startswith(f"{path}/") for name in files) else None

    return dict(apply_patch(parse_patch(raw), look))


def content(result: dict[str, TreeFile | None], path: str) -> bytes:
    file = result[path]
    assert file is not None
    return file.content


CHANGE = "@@ -1,3 +1,3 @@\n one\n-two\n+TWO\n three\n"


@pytest.mark.parametrize(
    "header",
    [
        "diff --git a/a.txt b/a.txt\nindex 111..222 100644\n--- a/a.txt\n+++ b/a.txt\n",
        "diff --git a.txt a.txt\n--- a.txt\n+++ a.txt\n",
        "diff --git c/a.txt w/a.txt\n--- c/a.txt\n+++ w/a.txt\n",
        "--- a/a.txt\n+++ b/a.txt\n",
        "--- a.txt\n+++ a.txt\n",
        "--- a.txt.orig\t2024-01-01 00:00:00\n+++ a.txt\t2024-01-02 00:00:00\n",
        "--- old/a.txt\t2024-01-01 00:00:00\n+++ new/a.txt\t2024-01-02 00:00:00\n",
        'diff --git "a/a.txt" "b/a.txt"\n--- "a/a.txt"\n+++ "b/a.txt"\n',
        "From 123 Mon Sep 17\nSubject: [PATCH] x\n\n---\n a.txt | 2 +-\n\n--- a/a.txt\n+++ b/a.txt\n",
    ],
)
def test_every_way_of_naming_a_file(header: str) -> None:
    assert content(applied(header + CHANGE), "a.txt") == b"one\nTWO\nthree\n"


def test_a_blank_patch_changes_nothing() -> None:
    assert applied(b" \n\n") == {}


def test_a_mail_signature_after_the_last_hunk_is_no_line_of_it() -> None:
    patch = f"--- a/a.txt\n+++ b/a.txt\n{CHANGE}-- \n2.39.2\n\n"
    assert content(applied(patch), "a.txt") == b"one\nTWO\nthree\n"


def test_moved_hunks_are_found() -> None:
    tree = {"a.txt": b"new first\n" * 7 + TREE["a.txt"] + b"last\n"}
    patch = f"--- a/a.txt\n+++ b/a.txt\n{CHANGE.replace('-1,3 +1,3', '-2,3 +2,3')}"
    assert content(applied(patch, tree), "a.txt") == b"new first\n" * 7 + b"one\nTWO\nthree\nlast\n"


def test_added_deleted_and_renamed_files() -> None:
    patch = (
        "diff --git a/new.sh b/new.sh\nnew file mode 100755\nindex 0..1\n--- /dev/null\n+++ b/new.sh\n"
        "@@ -0,0 +1 @@\n+echo\n"
        "diff --git a/empty b/empty\nnew file mode 100644\nindex 0..0\n"
        "diff --git a/b.txt b/b.txt\ndeleted file mode 100644\n--- a/b.txt\n+++ /dev/null\n"
        "@@ -1 +0,0 @@\n-other\n"
        "diff --git a/deep/c.txt b/d.txt\nsimilarity index 100%\nrename from deep/c.txt\nrename to d.txt\n"
        "diff --git a/x y.txt b/x y.txt\nold mode 100644\nnew mode 100755\n"
        "diff --git a/ln b/ln\nnew file mode 120000\n--- /dev/null\n+++ b/ln\n@@ -0,0 +1 @@\n+a.txt\n"
        "\\ No newline at end of file\n"
    )
    assert applied(patch) == {
        "new.sh": TreeFile(0o100755, b"echo\n"),
        "empty": TreeFile(0o100644, b""),
        "b.txt": None,
        "deep/c.txt": None,
        "d.txt": TreeFile(0o100644, b"c\n"),
        "x y.txt": TreeFile(0o100755, b"space\n"),
        "ln": TreeFile(0o120000, b"a.txt"),
    }


def test_two_files_may_trade_names() -> None:
    patch = (
        "diff --git a/a.txt b/b.txt\nrename from a.txt\nrename to b.txt\n"
        "diff --git a/b.txt b/a.txt\nrename from b.txt\nrename to a.txt\n"
    )
    result = applied(patch)
    assert content(result, "a.txt") == TREE["b.txt"]
    assert content(result, "b.txt") == TREE["a.txt"]


def test_a_series_of_commits_builds_on_itself() -> None:
    first = f"diff --git a/a.txt b/a.txt\n--- a/a.txt\n+++ b/a.txt\n{CHANGE}"
    second = "diff --git a/a.txt b/z.txt\nrename from a.txt\nrename to z.txt\n"
    third = "diff --git a/z.txt b/z.txt\n--- a/z.txt\n+++ b/z.txt\n@@ -1,2 +1,2 @@\n-one\n+ONE\n TWO\n"
    boundary = f"From {'a' * 40} Mon Sep 17 00:00:00 2001\nSubject: next\n\n"
    assert applied(boundary.join(["", first, second, third])) == {
        "a.txt": None,
        "z.txt": TreeFile(0o100644, b"ONE\nTWO\nthree\n"),
    }


def test_missing_newlines_at_the_end_are_kept_and_added() -> None:
    patch = "--- a/end\n+++ b/end\n@@ -1 +1 @@\n-no newline\n\\ No newline at end of file\n+now with\n"
    assert content(applied(patch), "end") == b"now with\n"


def test_gnu_diff_new_and_deleted_files() -> None:
    patch = (
        "--- old/n.txt\t1970-01-01 00:00:00.000000000 +0000\n+++ new/n.txt\t2024-01-02 00:00:00\n"
        "@@ -0,0 +1 @@\n+new\n"
        "--- old/b.txt\t2024-01-02 00:00:00\n+++ new/b.txt\t1970-01-01 00:00:00.000000000 +0000\n"
        "@@ -1 +0,0 @@\n-other\n"
    )
    assert applied(patch) == {"n.txt": TreeFile(0o100644, b"new\n"), "b.txt": None}


def binary(kind: str, data: bytes, size: int | None = None) -> str:
    packed = zlib.compress(data)
    lines = []
    for start in range(0, len(packed), 52):
        piece = packed[start : start + 52]
        length = chr(ord("A") + len(piece) - 1) if len(piece) <= 26 else chr(ord("a") + len(piece) - 27)
        lines.append(length + base64.b85encode(piece, pad=True).decode())
    return f"GIT binary patch\n{kind} {len(data) if size is None else size}\n" + "\n".join(lines) + "\n\n"


BINARY_HEADER = "diff --git a/bin b/bin\nindex {old}..{new} 100644\n".format(old="1" * 7, new="2" * 7)


def test_binary_literals_and_deltas() -> None:
    assert content(applied(BINARY_HEADER + binary("literal", b"\0new")), "bin") == b"\0new"
    old = TREE["bin"]
    delta = bytes([len(old) & 0x7F | 0x80, len(old) >> 7, 8, 0x90, 6, 2, 0x58, 0x59])
    assert content(applied(BINARY_HEADER + binary("delta", delta)), "bin") == old[:6] + b"XY"


@pytest.mark.parametrize(
    ("patch", "said"),
    [
        ("hello\nworld\n", "holds no diff"),
        (f"--- a/../x\n+++ b/../x\n{CHANGE}", "not a path in the workspace"),
        ("diff --git a//etc/passwd b//etc/passwd\nnew file mode 100644\n", "not a path in the workspace"),
        ("diff --git a/.git/config b/.git/config\nnew file mode 100644\n", "inside a .git folder"),
        ("diff --git a/s/.GIT/hooks/x b/s/.GIT/hooks/x\nnew file mode 100755\n", "inside a .git folder"),
        (f"--- a/gone.txt\n+++ b/gone.txt\n{CHANGE}", "no such file"),
        (f"--- a/b.txt\n+++ b/b.txt\n{CHANGE}", "hunk 1 (line 1) does not match"),
        (f"--- a/deep\n+++ b/deep\n{CHANGE}", "a directory in the baseline"),
        ("diff --git a/a.txt b/a.txt\nnew file mode 100644\n", "already exists"),
        ("diff --git a/a.txt/x b/a.txt/x\nnew file mode 100644\n", "a.txt on its way is a file"),
        ("diff --git a/link/x b/link/x\nnew file mode 100644\n", "link on its way is a symlink"),
        ("diff --git a/m b/m\nnew file mode 160000\n", "a submodule"),
        ("diff --git a/m b/m\nnew file mode 040000\n", "mode 040000"),
        ("diff --git a/bin b/bin\nBinary files a/bin and b/bin differ\n", "--binary"),
        (BINARY_HEADER + "GIT binary patch\nliteral 4\nzBAD!!\n\n", "binary data"),
        (BINARY_HEADER + binary("literal", b"abc", size=2), "not the 2 bytes"),
        (BINARY_HEADER + binary("literal", b"0" * 1_000_000, size=10), "not the 10 bytes"),
        (BINARY_HEADER + "GIT binary patch\nliteral 9999999999\nzBAD\n\n", "above"),
        (BINARY_HEADER + binary("delta", b"\x05\x05\x05abcde"), "for another base"),
        (BINARY_HEADER + binary("delta", b"\x96\x01\x05\x05ab"), "the delta is malformed"),
        (
            f"diff --git a/bin b/bin\nindex {'1' * 40}..{'2' * 40}\n" + binary("literal", b"x"),
            "for another content",
        ),
        ("--- a/a.txt\n+++ b/a.txt\n@@ -1,3 +1,3 @@\n one\n-two\n", "ends early"),
        ("--- a/a.txt\n+++ b/a.txt\n@@ -1,3 +1,3 @@\n one\nxxx\n", "neither a space"),
        ("@@ -1,3 +1,3 @@\n one\n", "without a file header"),
        ("diff --git a/b.txt b/b.txt\ndeleted file mode 100644\n--- a/b.txt\n+++ /dev/null\n", None),
        ('--- "a/x\n+++ "b/x\n' + CHANGE, "unterminated"),
        ("diff --git a/x b/y\nold mode 100644\nnew mode 100755\n", "not one file"),
        ("--- a/a.txt\n+++ b/b.txt\n" + CHANGE, "two different files"),
        ("--- /dev/null\n+++ /dev/null\n@@ -0,0 +1 @@\n+x\n", "neither before nor after"),
        ("diff --git a/a.txt b/a.txt\ndeleted file mode 100644\n--- a/a.txt\n+++ /dev/null\n"
         "@@ -1 +0,0 @@\n-one\n", "leaves lines of it"),
    ],
)  # fmt: skip
def test_what_is_refused_and_how_it_is_said(patch: str, said: str | None) -> None:
    if said is None:
        assert applied(patch) == {"b.txt": None}
        return
    with pytest.raises(PatchUnreadable, match=said.replace("(", r"\(").replace(")", r"\)")):
        applied(patch)


def test_a_patch_made_to_keep_us_busy_is_refused() -> None:
    tree = {"a.txt": b"x\n" * 200_000}
    hunk = "@@ -1,2000 +1,2001 @@\n" + " x\n" * 1999 + "-y\n" + "+z\n" * 2
    with pytest.raises(PatchUnreadable, match=r"does not match|too long"):
        applied("--- a/a.txt\n+++ b/a.txt\n" + hunk.replace("-1,2000", "-90000,2000"), tree)
