"""Every store keeps the promises of the contract."""

from __future__ import annotations

from pathlib import Path

import pytest

from adjudge.settings import Settings
from adjudge.store.opening import store_for
from adjudge.testing.stores import CHECKS, StoreCheck


@pytest.fixture(params=["sqlite", "postgresql"])
def settings(request: pytest.FixtureRequest, tmp_path: Path) -> Settings:
    url = request.getfixturevalue("postgres_url") if request.param == "postgresql" else None
    return Settings(
        state_dir=tmp_path / "state",
        sandbox="auto",
        jobs=1,
        store=url or str(tmp_path / "store"),
        blobs=str(tmp_path / "blobs"),
        folder=tmp_path,
    )


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.name)
def test_store(settings: Settings, check: StoreCheck) -> None:
    with store_for(settings) as store:
        check.run(store)
