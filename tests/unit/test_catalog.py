import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from adjudge import catalog
from adjudge.errors import PluginError, PluginNotFound


@pytest.fixture
def stranger(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A third-party distribution on the path, with one entry point that works and one that does not."""
    info = tmp_path / "stranger-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: stranger\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(
        "[adjudge.sandboxes]\n"
        "good = stranger_plugin:Good\n"
        "bad = stranger_missing:Bad\n"
        "process = stranger_plugin:Good\n"
    )
    (tmp_path / "stranger_plugin.py").write_text("class Good:\n    pass\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    catalog._strangers.cache_clear()
    yield tmp_path
    catalog._strangers.cache_clear()
    sys.modules.pop("stranger_plugin", None)


def test_a_misspelt_name_gets_the_nearest_one() -> None:
    with pytest.raises(PluginNotFound, match="no sandbox is called 'bublewrap'") as caught:
        catalog.load("sandboxes", "bublewrap")
    assert caught.value.hint == "did you mean bubblewrap?"


def test_a_name_like_no_other_gets_the_list() -> None:
    with pytest.raises(PluginNotFound) as caught:
        catalog.load("sandboxes", "zzz")
    assert caught.value.hint is not None
    assert caught.value.hint.startswith("known: bubblewrap, process")


def test_a_stranger_is_found_through_its_entry_point(stranger: Path) -> None:
    assert catalog.load("sandboxes", "good").__name__ == "Good"
    assert catalog.distribution_of("sandboxes", "good") == "stranger"
    assert "good" in catalog.names("sandboxes")


def test_a_broken_plugin_is_an_error_that_names_its_distribution(stranger: Path) -> None:
    with pytest.raises(PluginError, match="sandbox 'bad' of distribution 'stranger' cannot be loaded"):
        catalog.load("sandboxes", "bad")


def test_a_stranger_cannot_take_over_a_built_in(stranger: Path) -> None:
    assert catalog.distribution_of("sandboxes", "process") == "adjudge"
    assert catalog.names("sandboxes").count("process") == 1
