"""Where the store is, and whose folders are believed."""

from __future__ import annotations

from pathlib import Path

import pytest

from adjudge.errors import ConfigInvalid, UsageError
from adjudge.settings import Settings, load_settings
from adjudge.store.opening import store_for
from adjudge.store.places import adopt, find_place, refuse_inside


def settings(tmp_path: Path, folder: Path, **environment: str) -> Settings:
    return load_settings({"ADJUDGE_HOME": str(tmp_path / "state"), **environment}, folder)


def test_a_project_needs_no_set_up_and_is_found_from_below(tmp_path: Path) -> None:
    below = tmp_path / "project" / "a" / "b"
    below.mkdir(parents=True)
    project = tmp_path / "project"
    assert not find_place(settings(tmp_path, project)).exists
    store_for(settings(tmp_path, project)).database.close()
    assert find_place(settings(tmp_path, below)).folder == project / ".adjudge"
    assert find_place(settings(tmp_path, project)).exists


def test_reading_makes_nothing(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="nothing is stored yet"):
        store_for(settings(tmp_path, tmp_path), create=False)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("planted", ["directory", "link", "file"])
def test_a_planted_store_is_not_believed(tmp_path: Path, planted: str) -> None:
    project, workspace = tmp_path / "project", tmp_path / "project" / "workspace"
    workspace.mkdir(parents=True)
    place = workspace / ".adjudge"
    if planted == "directory":
        place.mkdir()
    elif planted == "link":
        place.symlink_to(tmp_path)
    else:
        place.write_text("")
    with pytest.raises(UsageError, match="is not believed") as caught:
        find_place(settings(tmp_path, workspace))
    assert caught.value.hint is not None
    # Within a project, what lies in one of its workspaces decides nothing.
    store_for(settings(tmp_path, project)).database.close()
    assert find_place(settings(tmp_path, workspace)).folder == project / ".adjudge"


def test_a_moved_project_can_be_adopted(tmp_path: Path) -> None:
    store_for(settings(tmp_path, tmp_path)).database.close()
    moved = tmp_path / "moved"
    moved.mkdir()
    (tmp_path / ".adjudge").rename(moved / ".adjudge")
    with pytest.raises(UsageError, match="is not believed"):
        find_place(settings(tmp_path, moved))
    adopt(moved / ".adjudge", settings(tmp_path, moved).stores_dir)
    assert find_place(settings(tmp_path, moved)).folder == moved / ".adjudge"


def test_the_environment_names_it_outright(tmp_path: Path) -> None:
    place = find_place(settings(tmp_path, tmp_path, ADJUDGE_STORE=str(tmp_path / "x")))
    assert (place.folder, place.url, place.blobs) == (tmp_path / "x", None, str(tmp_path / "x" / "blobs"))
    url = "postgresql://ada:secret@db.example.org/runs"
    place = find_place(settings(tmp_path, tmp_path, ADJUDGE_STORE=url))
    assert (place.folder, place.url) == (tmp_path / ".adjudge", url)
    assert str(place) == "postgresql://ada@db.example.org/runs"
    place = find_place(settings(tmp_path, tmp_path, ADJUDGE_STORE=url, ADJUDGE_BLOBS="s3://bucket/runs"))
    assert (place.folder, place.blobs) == (None, "s3://bucket/runs")


def test_other_databases_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigInvalid, match="mysql"):
        find_place(settings(tmp_path, tmp_path, ADJUDGE_STORE="mysql://x/y"))


def test_a_store_inside_the_workspace_is_refused(tmp_path: Path) -> None:
    inside = find_place(settings(tmp_path, tmp_path, ADJUDGE_STORE=str(tmp_path / "w" / "x")))
    with pytest.raises(UsageError, match="inside the workspace"):
        refuse_inside(inside, tmp_path / "w")
    refuse_inside(inside, tmp_path / "other")
    (tmp_path / "link").symlink_to(tmp_path / "w")
    with pytest.raises(UsageError, match="inside the workspace"):
        refuse_inside(inside, tmp_path / "link")
