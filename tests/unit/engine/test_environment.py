"""The environment fingerprint."""

from __future__ import annotations

from pathlib import Path

import pytest

from adjudge.engine import environment


@pytest.mark.anyone
def test_it_changes_when_a_tool_does_and_not_otherwise(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tool = tmp_path / "make"
    tool.write_bytes(b"one")
    monkeypatch.setattr(environment, "_SEARCH", (str(tmp_path),))
    first = environment.environment_fingerprint()
    assert first == environment.environment_fingerprint()
    assert first["make"].startswith(str(tool.resolve()))
    assert "gcc" not in first
    tool.write_bytes(b"another")
    assert environment.environment_fingerprint()["make"] != first["make"]
