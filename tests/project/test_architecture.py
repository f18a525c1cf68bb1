"""The page that shows the rooms of the code shows them all."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def test_the_table_of_rooms_is_the_tree() -> None:
    rows = re.findall(r"^\| (`[^|]*`) \|", (ROOT / "ARCHITECTURE.md").read_text(), flags=re.MULTILINE)
    shown = sorted(name for row in rows for name in re.findall(r"`(\w+)`", row))
    package = ROOT / "src" / "adjudge"
    there = {path.parent.name for path in package.glob("*/__init__.py")}
    there |= {path.stem for path in package.glob("*.py") if not path.stem.startswith("__")}
    assert shown == sorted(there)
