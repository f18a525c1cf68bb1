from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from adjudge.errors import ScenarioInvalid, UsageError
from adjudge.tasks.folder import Folder
from adjudge.tasks.load import load_scenario

RECIPE = "scorers: [{type: forbid_secrets}]\n"


def test_a_folder_means_its_adjudge_yaml(scenario: Path) -> None:
    by_folder, by_file = load_scenario(scenario), load_scenario(scenario / "adjudge.yaml")
    assert by_folder.scenario == by_file.scenario
    assert by_folder.file == scenario / "adjudge.yaml"


def test_the_name_is_the_folders_or_the_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "fix login"
    folder.mkdir()
    (folder / "adjudge.yaml").write_text(RECIPE)
    (folder / "strict.yaml").write_text(RECIPE)
    assert load_scenario(folder).scenario.name == "fix login"
    assert load_scenario(folder / "strict.yaml").scenario.name == "strict"
    monkeypatch.chdir(folder)
    assert load_scenario(Path()).scenario.name == "fix login"


def test_a_folders_name_that_is_no_name_is_made_one(tmp_path: Path) -> None:
    folder = tmp_path / os.fsdecode(b"caf\xe9\n")
    folder.mkdir()
    (folder / "adjudge.yaml").write_text(RECIPE)
    assert load_scenario(folder).scenario.name == "caf??"


@pytest.mark.parametrize(("there", "hint"), [(None, "adjudge init"), ("adjudge.yml", "rename")])
def test_a_folder_without_a_scenario_gets_a_hint(tmp_path: Path, there: str | None, hint: str) -> None:
    if there:
        (tmp_path / there).write_text(RECIPE)
    with pytest.raises(UsageError, match=r"holds no adjudge\.yaml") as caught:
        load_scenario(tmp_path)
    assert hint in str(caught.value.hint)


def test_a_folder_of_recipes_gets_told_to_name_one(tmp_path: Path) -> None:
    (tmp_path / "docker-compose.yml").write_text("services: {}\n")
    (tmp_path / "folder.yaml").mkdir()
    os.mkfifo(tmp_path / "fifo.yaml")
    (tmp_path / "bare.yaml").write_text(RECIPE)
    with pytest.raises(UsageError) as one:
        load_scenario(tmp_path)
    assert one.value.hint == f"name its file: {tmp_path}/bare.yaml"
    (tmp_path / "guarded.yml").write_text(f"name: guarded\n{RECIPE}")
    with pytest.raises(UsageError) as two:
        load_scenario(tmp_path)
    assert two.value.hint == f"name a file of it: {tmp_path}/bare.yaml, {tmp_path}/guarded.yml"
    for number in range(5):
        (tmp_path / f"more{number}.yaml").write_text(RECIPE)
    with pytest.raises(UsageError) as many:
        load_scenario(tmp_path)
    assert str(many.value.hint).endswith("more2.yaml and 2 more")


def test_what_is_not_there_or_no_file_is_said(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="does not exist"):
        load_scenario(tmp_path / "gone.yaml")
    os.mkfifo(tmp_path / "fifo")
    with pytest.raises(UsageError, match="is not a file"):
        load_scenario(tmp_path / "fifo")
    with pytest.raises(UsageError, match="is not a file"):
        load_scenario(Path("/dev/zero"))


def test_a_file_of_50_megabytes_is_refused_unread(tmp_path: Path) -> None:
    file = tmp_path / "adjudge.yaml"
    with file.open("wb") as stream:
        stream.truncate(50 << 20)
    started = time.process_time()
    with pytest.raises(ScenarioInvalid, match="the file has 50 MiB, and a scenario at most 1024 KiB"):
        load_scenario(file)
    assert time.process_time() - started < 0.5


def test_an_instruction_can_be_a_file_of_the_scenario(tmp_path: Path) -> None:
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "task.md").write_text("Fix it.\n")
    (tmp_path / "link.md").symlink_to("docs/task.md")
    for path in ("docs/task.md", "./docs//task.md", "link.md"):
        (tmp_path / "adjudge.yaml").write_text(f"{RECIPE}instruction: {{file: {path}}}\n")
        assert load_scenario(tmp_path).scenario.instruction == "Fix it.\n"


class TestFolder:
    def test_links_inside_are_followed_and_links_outside_refused(self, tmp_path: Path) -> None:
        root = tmp_path / "scenario"
        (root / "sub").mkdir(parents=True)
        (root / "sub" / "a").write_text("x")
        (tmp_path / "outside").write_text("secret")
        (root / "in").symlink_to("sub/a")
        (root / "out").symlink_to("../outside")
        (root / "absolute").symlink_to("/etc/passwd")
        (root / "loop").symlink_to("loop")
        (root / "far").symlink_to("sub/../../outside")
        folder = Folder(root)
        assert folder.resolve("in").read_text() == "x"
        for name in ("out", "absolute", "far"):
            with pytest.raises(ValueError, match="leads out of the scenario's folder"):
                folder.resolve(name)
        with pytest.raises(ValueError, match="cannot be followed"):
            folder.resolve("loop")
        for name in ("gone", "sub/a/b"):
            with pytest.raises(ValueError, match="does not exist"):
                folder.resolve(name)

    def test_a_scenario_reached_through_a_link_is_at_home_where_it_lies(self, tmp_path: Path) -> None:
        (tmp_path / "real").mkdir()
        (tmp_path / "real" / "a").write_text("x")
        (tmp_path / "alias").symlink_to("real")
        assert Folder(tmp_path / "alias").text("a") == "x"

    @pytest.mark.parametrize(
        ("data", "said"),
        [
            (b"caf\xe9", "is not UTF-8"),
            (b"", "is empty"),
            (b" \n", "is empty"),
            (b"x" * 1_048_577, "more than 1024"),
        ],
    )
    def test_text_that_cannot_be_used_is_refused(self, tmp_path: Path, data: bytes, said: str) -> None:
        (tmp_path / "a").write_bytes(data)
        with pytest.raises(ValueError, match=said):
            Folder(tmp_path).text("a")

    def test_a_folder_is_no_text(self, tmp_path: Path) -> None:
        with pytest.raises(ValueError, match="is not a file"):
            Folder(tmp_path).text(".")

    def test_what_a_recipe_refers_to_is_noted_once(self, tmp_path: Path) -> None:
        (tmp_path / "a").write_text("x")
        os.mkfifo(tmp_path / "fifo")
        folder = Folder(tmp_path)
        folder("a")
        folder("a")
        assert folder.files == ["a"]
        with pytest.raises(ValueError, match="neither a file nor a folder"):
            folder("fifo")
        with pytest.raises(ValueError, match="is the whole scenario"):
            folder(".")
