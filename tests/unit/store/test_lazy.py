"""The store costs nothing where nothing is stored."""

from __future__ import annotations

import subprocess
import sys

import pytest

pytestmark = pytest.mark.anyone

_HEAVY = ("sqlalchemy", "alembic", "zstandard", "obstore", "psycopg", "scipy", "numpy")
_GRADE = """
import sys, tempfile, pathlib, os
root = pathlib.Path(tempfile.mkdtemp())
for name in ("before", "after"):
    (root / name).mkdir()
(root / "recipe.yaml").write_text("scorers:\\n  - {type: max_files_changed, limit: 3}\\n")
os.environ["ADJUDGE_HOME"] = str(root / "state")
from adjudge.cli.main import main
code = main(["grade", str(root / "recipe.yaml"), "--workspace", str(root / "after"), "--baseline",
             str(root / "before"), "--output", str(root / "out")])
import shutil
shutil.rmtree(root)
print(code, *[name for name in sys.argv[1:] if name in sys.modules])
"""


def test_grading_without_save_loads_no_database() -> None:
    argv = [sys.executable, "-c", _GRADE, *_HEAVY]
    done = subprocess.run(argv, capture_output=True, text=True, check=False)
    assert done.stdout == "0\n", done.stdout + done.stderr
