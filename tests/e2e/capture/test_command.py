"""`adjudge changes`, as a user runs it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from adjudge.cli.main import main
from adjudge.records.change import ChangeSet

if TYPE_CHECKING:
    from tests.e2e.capture.conftest import Workspace


@pytest.fixture
def changed(workspace: Workspace, monkeypatch: pytest.MonkeyPatch) -> tuple[Workspace, str]:
    monkeypatch.setenv("ADJUDGE_HOME", str(workspace.scratch / "state"))
    monkeypatch.chdir(workspace.scratch)
    workspace.write(".gitignore", "*.log\n")
    workspace.write("a.py", "1\n2\n3\n")
    workspace.write("old name.py", "text\n" * 20)
    workspace.write("run.sh", "x\n")
    workspace.write("gone.py")
    before = workspace.commit()
    workspace.write("a.py", "1\n2\nthree\nfour\n")
    (workspace.root / "old name.py").rename(workspace.root / "new\nname.py")
    (workspace.root / "run.sh").chmod(0o755)
    (workspace.root / "gone.py").unlink()
    workspace.write("picture.png", b"\0\1")
    (workspace.root / "link").symlink_to("a.py")
    workspace.write("x.log")
    workspace.write("pkg/__pycache__/m.pyc")
    workspace.write(".git/hooks/pre-commit", "x")
    return workspace, before


def test_a_change_set_for_people(changed: tuple[Workspace, str], capsys: pytest.CaptureFixture[str]) -> None:
    workspace, before = changed
    assert main(["changes", "--workspace", str(workspace.root), "--baseline", before]) == 0
    told = capsys.readouterr()
    assert told.out == (
        f"baseline: commit {before[:12]} [trusted]\n"
        "M a.py  (+2 -1)\n"
        "D gone.py  (+0 -1)\n"
        "A link  (+1 -0, symlink)\n"
        'R old name.py → "new\\nname.py"\n'
        "A picture.png  (binary, nothing → 2 bytes)\n"
        "M run.sh  (mode 100644 → 100755)\n"
        "6 changes, +3 -2\n"
        "litter, kept apart: 1 bytecode, 1 ignored by the baseline\n"
    )
    assert told.err == "warning: .git/hooks/pre-commit is a hook that the baseline does not have\n"


def test_an_unverified_baseline_says_so(
    changed: tuple[Workspace, str], capsys: pytest.CaptureFixture[str]
) -> None:
    workspace, before = changed
    assert main(["changes", "--workspace", str(workspace.root)]) == 0
    first = capsys.readouterr().out.splitlines()[0]
    assert first == (
        f"baseline: HEAD of the default branch main ({before[:12]}), from the workspace's own git, "
        "which the agent could change [unverified]"
    )


def test_the_document_reads_back(changed: tuple[Workspace, str], capsys: pytest.CaptureFixture[str]) -> None:
    workspace, before = changed
    assert main(["changes", "--workspace", str(workspace.root), "--baseline", before, "--json"]) == 0
    told = capsys.readouterr()
    found = ChangeSet.model_validate_json(told.out)
    assert "new\nname.py" in {change.path for change in found.changes}
    assert json.loads(told.out)["baseline"]["origin"] == "commit"
    assert told.err == ""


def test_the_diff_goes_to_stdout_whole(
    changed: tuple[Workspace, str], capfdbinary: pytest.CaptureFixture[bytes], tmp_path: Path
) -> None:
    workspace, before = changed
    assert main(["changes", "--workspace", str(workspace.root), "--baseline", before, "--diff"]) == 0
    told = capfdbinary.readouterr()
    patch = tmp_path / "x.patch"
    patch.write_bytes(told.out)
    clone = workspace.scratch / "clone"
    workspace.git("clone", "-q", str(workspace.root), str(clone), cwd=workspace.scratch)
    workspace.git("apply", "--binary", "--index", str(patch), cwd=clone)
    assert (clone / "a.py").read_text() == "1\n2\nthree\nfour\n"
    assert (clone / "new\nname.py").exists()
    assert not (clone / "x.log").exists()
    assert b"pre-commit" in told.err


def test_nothing_changed(workspace: Workspace, capsys: pytest.CaptureFixture[str]) -> None:
    before = workspace.commit()
    assert main(["changes", "--workspace", str(workspace.root), "--baseline", before]) == 0
    assert capsys.readouterr().out.splitlines()[1:] == ["nothing changed"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--workspace", "missing"], "workspace missing is not a directory"),
        (
            ["--workspace", "workspace", "--baseline", "nonsense"],
            "'nonsense' is neither a directory nor a revision",
        ),
        (["--workspace", "workspace", "--baseline", "workspace"], "the same directory"),
        (
            ["--workspace", "workspace", "--baseline", "f" * 40],
            "is not in the repository's own object database",
        ),
        (["--workspace", "workspace", "--json", "--diff"], "exclude each other"),
        ([], "Missing option '--workspace'"),
    ],
)
def test_bad_input_is_told_and_exits_2(
    changed: tuple[Workspace, str], arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["changes", *arguments]) == 2
    told = capsys.readouterr()
    assert message in told.err
    assert told.out == ""
