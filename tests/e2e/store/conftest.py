"""Stores of both kinds, in folders and databases of their own."""

from __future__ import annotations

from pathlib import Path

import pytest

from adjudge.settings import Settings


@pytest.fixture(params=["sqlite", "postgresql"])
def settings(request: pytest.FixtureRequest, tmp_path: Path) -> Settings:
    """Settings of a store that does not exist yet."""
    url = request.getfixturevalue("postgres_url") if request.param == "postgresql" else None
    return Settings(
        state_dir=tmp_path / "state",
        sandbox="auto",
        jobs=1,
        store=url or str(tmp_path / "store"),
        blobs=str(tmp_path / "blobs"),
        folder=tmp_path,
    )
