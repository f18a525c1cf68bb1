from __future__ import annotations

from pathlib import Path

import pytest


@pytest.fixture
def workspace(hostile_tmp: Path) -> Path:
    """A small workspace of the caller's own."""
    place = hostile_tmp / "workspace"
    (place / "src").mkdir(parents=True)
    (place / "src/module.py").write_text("value = 1\n")
    (place / "README").write_text("read me\n")
    return place
