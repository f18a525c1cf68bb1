"""Diffs as rows, and their colours."""

from pathlib import Path
from typing import Any

import pytest
from tests.web.stored import HOSTILE, change_set

from adjudge.store.blobs import BlobDirectory
from adjudge.web.agenttrace.diffs import FileText, StoredDiff, coloured, describe_change, pairs_of
from adjudge.web.agenttrace.highlighting import MAX_LINE, Piece, highlight, language_of, markup


def diff(folder: Path, before: dict[Any, Any], after: dict[Any, Any]) -> StoredDiff:
    for side in ("before", "after"):
        (folder / side).mkdir(parents=True)
    blobs = BlobDirectory(folder / "blobs")
    changes = change_set(folder, before, after, blobs)
    with blobs.open(changes.diff) as stream:
        return StoredDiff(changes, stream)


def ops(text: FileText) -> list[tuple[str, int | None, int | None, str]]:
    return [(row.op, row.old, row.new, row.text) for row in text.rows]


class TestStoredDiff:
    def test_numbers_lines_of_every_hunk(self, tmp_path: Path) -> None:
        old = "".join(f"{n}\n" for n in range(1, 31))
        new = old.replace("2\n", "two\nzwei\n", 1).replace("\n28\n", "\n")
        found = diff(tmp_path, {"a.txt": old, "gone": "x\n"}, {"a.txt": new, "new": "y"})
        assert [(file.change.path, describe_change(file.change)) for file in found.files] == [
            ("a.txt", "modified"),
            ("gone", "deleted"),
            ("new", "added"),
        ]
        rows = ops(found.text(found.files[0]))
        assert rows[:5] == [
            ("@", None, None, "@@ -1,5 +1,6 @@"),
            (" ", 1, 1, "1"),
            ("-", 2, None, "2"),
            ("+", None, 2, "two"),
            ("+", None, 3, "zwei"),
        ]
        assert ("-", 28, None, "28") in rows
        assert rows[-1] == (" ", 30, 30, "30")
        assert ops(found.text(found.files[1])) == [("@", None, None, "@@ -1,1 +0,0 @@"), ("-", 1, None, "x")]
        assert found.text(found.files[2]).rows[-1].unended
        found.close()

    def test_says_why_there_is_no_text(self, tmp_path: Path) -> None:
        found = diff(
            tmp_path, {"s": "#!/bin/sh\n"}, {"s": "#!/bin/sh\n", "b": b"\0", "huge": "x" * (3 << 20)}
        )
        assert {file.change.path: found.text(file).notes for file in found.files} == {
            "b": ("binary content",),
            "huge": (f"{3 << 20} bytes",),
        }
        found.close()

    def test_files_cannot_begin_sections_of_others(self, tmp_path: Path) -> None:
        forged = "diff --git a/b.py b/b.py\n--- a/b.py\n+++ b/b.py\n@@ -1 +1 @@\n-x\n+y\n"
        forged += "[adjudge: content left out: x]\n"
        found = diff(tmp_path, {"a.py": "", "b.py": "1\n"}, {"a.py": forged, "b.py": f"{forged}2\n"})
        assert [len(file.sections) for file in found.files] == [1, 1]
        assert [
            text for op, _, _, text in ops(found.text(found.files[0])) if op == "+"
        ] == forged.splitlines()
        assert found.text(found.files[0]).notes == ()
        found.close()

    def test_odd_names_find_their_text(self, tmp_path: Path) -> None:
        names = [
            "a b/c d",
            'q"uote',
            "new\nline",
            "tab\t",
            " b/ x",
            b"latin\xe9",
            "\u202ertl",
            "diff --git a/x b/x",
        ]
        found = diff(tmp_path, {}, {name: "text\n" for name in names})
        assert [[row[3] for row in ops(found.text(file))][1:] for file in found.files] == [["text"]] * len(
            names
        )
        found.close()

    def test_renames_and_links(self, tmp_path: Path) -> None:
        for side in ("before", "after"):
            (tmp_path / side).mkdir()
        text = "".join(f"line {n}\n" for n in range(40))
        (tmp_path / "after" / "link").symlink_to("/etc/passwd")
        blobs = BlobDirectory(tmp_path / "blobs")
        changes = change_set(tmp_path, {"old.py": text}, {"new.py": f"{text}more\n"}, blobs)
        with blobs.open(changes.diff) as stream:
            found = StoredDiff(changes, stream)
        link, renamed = found.files
        assert describe_change(link.change) == "added, symlink"
        assert describe_change(renamed.change) == "renamed from old.py"
        assert found.at_path("old.py") is found.at_path("new.py") is renamed
        assert ops(found.text(renamed))[-1] == ("+", None, 41, "more")
        found.close()

    def test_a_diff_that_was_not_kept(self, tmp_path: Path) -> None:
        found = diff(tmp_path, {}, {"a": "x\n"})
        found.close()
        bare = StoredDiff(change_set(tmp_path, {}, {}, BlobDirectory(tmp_path / "b")), None)
        assert bare.incomplete
        assert "not kept" in bare.text(bare.files[0]).notes[0]

    def test_pairs_put_what_came_beside_what_went(self, tmp_path: Path) -> None:
        found = diff(tmp_path, {"a": "1\n2\n3\n"}, {"a": "1\nx\ny\n3\n"})
        pairs = pairs_of(found.text(found.files[0]).rows)
        shown = [
            tuple("" if row is None else "".join(piece.text for piece in row.line) for row in pair)
            for pair in pairs
        ]
        assert shown[1:] == [("1", "1"), ("2", "x"), ("", "y"), ("3", "3")]
        found.close()


class TestHighlighting:
    def test_each_side_of_a_hunk_is_one_text(self, tmp_path: Path) -> None:
        found = diff(
            tmp_path, {"a.py": 'x = 1\n"""old\ndoc"""\n'}, {"a.py": 'x = 1\n"""new\ndoc"""\ny = 2\n'}
        )
        rows = coloured(found.text(found.files[0]).rows, "a.py")
        assert [row.text for row in rows] == [row.text for row in found.text(found.files[0]).rows]
        assert {piece.style for row in rows if "doc" in row.text for piece in row.line} == {"sd"}
        assert coloured(rows, "a.unknown") == rows
        found.close()

    def test_colours_by_class_and_keeps_every_character(self) -> None:
        lines = ['"""A text', 'over lines."""', "", "def f(x):", "\treturn 1  # é"]
        coloured = highlight(lines, "python")
        assert ["".join(piece.text for piece in line) for line in coloured] == lines
        assert coloured[1][0].style == "sd"
        assert Piece("k", "def") in coloured[3]

    @pytest.mark.parametrize("language", [None, "python", "html", "json", "bash", "javascript"])
    def test_hostile_text_stays_text(self, language: str | None) -> None:
        lines = HOSTILE.split("\n")
        for line in highlight(lines, language):
            html = str(markup(line))
            inside = html.replace("</span>", "").replace("<span class=", "")
            assert "<" not in inside
            assert not any(char in html for char in "\x00\x1b\u202e\u200b")

    def test_long_lines_are_not_coloured(self) -> None:
        long = "x" * (MAX_LINE + 1)
        assert highlight([long, "def f(): pass"], "python") == [
            (Piece("", long),),
            (Piece("", "def f(): pass"),),
        ]

    def test_too_slow_is_not_coloured(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("adjudge.web.agenttrace.highlighting.MAX_SECONDS", -1)
        assert highlight(["def f(): pass"], "python") == [(Piece("", "def f(): pass"),)]

    def test_knows_languages_by_name(self) -> None:
        names = ("a/b.PY", "Dockerfile", "x.tsx", "py", "a.unknown", ".py")
        assert [language_of(name) for name in names] == [
            "python",
            "docker",
            "typescript",
            None,
            None,
            "python",
        ]
