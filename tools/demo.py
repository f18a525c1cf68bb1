"""`make demo`: four scripted attempts at a small bundled project, graded, with what was caught and why."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

DEMO = Path(__file__).resolve().parent.parent / "examples" / "demo"
STORE = Path(__file__).resolve().parent.parent / "build" / "demo"
"""Where the results are kept, for the view; made anew each time."""
ADJUDGE = [sys.executable, "-m", "adjudge"]


def main() -> int:
    """Seed a workspace per attempt, let the attempt at it, grade it."""
    shutil.rmtree(STORE, ignore_errors=True)
    with tempfile.TemporaryDirectory(prefix="adjudge-demo-") as scratch:
        kept = {"ADJUDGE_HOME": f"{scratch}/state", "ADJUDGE_STORE": str(STORE), "ADJUDGE_BLOBS": ""}
        environment = {**os.environ, **kept}
        for attempt in sorted((DEMO / "attempts").glob("*.py")):
            workspace = Path(scratch) / attempt.stem
            print(f"\n━━━ {attempt.stem.replace('-', ' ')} ━━━", flush=True)
            _run([*ADJUDGE, "seed", str(DEMO), str(workspace), "--json"], environment, quiet=True)
            subprocess.run([sys.executable, str(attempt)], cwd=workspace, check=True)
            grade = [*ADJUDGE, "grade", str(DEMO), "--workspace", str(workspace), "--save"]
            _run(grade, environment, may_fail=True)
    print(
        "\nSee all of it in the browser:\n"
        "  .venv/bin/adjudge view --store build/demo --open\n"
        "\nWhere to look next:\n"
        "  examples/demo/adjudge.yaml      the recipe that caught them\n"
        "  .venv/bin/adjudge scorers       every check there is\n"
        "  .venv/bin/adjudge doctor        what this machine can isolate, and what to install\n"
        "  README.md                       grade your own repository in a minute"
    )
    return 0


def _run(
    command: list[str], environment: dict[str, str], *, may_fail: bool = False, quiet: bool = False
) -> None:
    done = subprocess.run(command, env=environment, check=False, stdout=subprocess.DEVNULL if quiet else None)
    if done.returncode not in ((0, 1) if may_fail else (0,)):
        sys.exit(f"demo stopped: {' '.join(command[2:4])} ended with exit code {done.returncode}")


if __name__ == "__main__":
    sys.exit(main())
