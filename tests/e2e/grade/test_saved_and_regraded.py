"""A workspace graded with `--save` can be graded again when it is gone, with what came beside it."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

import pytest

from adjudge.cli.main import main

pytestmark = pytest.mark.bwrap

RECIPE = """\
name: shop
instruction: Make it add.
scorers:
  - {name: adds, type: command, command: 'test "$(cat shop.txt)" = sum'}
  - {name: expected, type: files, expect_dir: expected}
  - {name: frugal, type: trace, max_tool_calls: 3}
"""
TRACE = [
    {"role": "user", "content": "Make it add."},
    {
        "role": "assistant",
        "content": None,
        "tool_calls": [
            {"id": "1", "type": "function", "function": {"name": "write_file", "arguments": "{}"}}
        ],
    },
    {"role": "tool", "tool_call_id": "1", "content": "ok"},
    {"role": "assistant", "content": "Done."},
]


def commit(place: Path) -> str:
    """Commit a folder; the commit's full id."""
    who = ["-c", "user.name=a", "-c", "user.email=a@b", "-c", "init.defaultBranch=main"]

    def git(*arguments: str) -> str:
        done = subprocess.run(
            ["git", *who, *arguments], cwd=place, check=True, capture_output=True, text=True
        )
        return done.stdout.strip()

    git("init", "-q")
    git("add", ".")
    git("commit", "-qm", "start")
    return git("rev-parse", "HEAD")


@pytest.mark.parametrize("baseline", ["directory", "commit"])
def test_saved_traced_and_regraded(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    baseline: str,
) -> None:
    monkeypatch.setenv("ADJUDGE_HOME", str(tmp_path / "state"))
    monkeypatch.delenv("ADJUDGE_STORE", raising=False)
    place = tmp_path / "project"
    (place / "expected").mkdir(parents=True)
    (place / "recipe.yaml").write_text(RECIPE)
    (place / "expected" / "shop.txt").write_text("sum")
    (place / "trace.json").write_text(json.dumps(TRACE))
    (place / "response.txt").write_text("All done.")
    before, after = tmp_path / "before", tmp_path / "after"
    before.mkdir()
    (before / "shop.txt").write_text("zero")
    (before / "old.txt").write_text("goes away")
    against = str(before)
    if baseline == "commit":
        against = commit(before)
    shutil.copytree(before, after, symlinks=True)
    (after / "shop.txt").write_text("sum")
    (after / "old.txt").unlink()
    monkeypatch.chdir(place)
    options = ["--trace", "trace.json", "--response", "response.txt", "--save", "--json"]
    command = ["grade", "recipe.yaml", "--workspace", str(after), "--baseline", against, *options]
    assert main(command) == 0
    saved = json.loads(capsys.readouterr().out)

    shutil.rmtree(after)
    shutil.rmtree(before)
    assert main(["trace", saved["run_id"], "--json"]) == 0
    assert "write_file" in capsys.readouterr().out
    assert main(["regrade", saved["run_id"], "--force", "--json"]) == 0
    (regraded,) = json.loads(capsys.readouterr().out)["runs"]
    assert not regraded.get("problem"), regraded
    assert main(["show", saved["run_id"], "--json"]) == 0
    shown = capsys.readouterr().out
    for row in saved["scorers"]:
        assert row["verdict"] == "PASS"
    assert shown.count('"name": "frugal"') >= 1
