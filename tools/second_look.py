"""Run pytest, and look once more at a few tests that failed: `second_look.py MOST PYTEST…`.

The suite starts hundreds of sandboxes on however few processors there are. A test that fails there gets a
second look: by itself, after everything else has ended. What fails again fails the run. What passes alone is
named on the last lines, because a test that needs a quiet machine is a defect of its own.

More than MOST failures are no accident of timing and get no second look; 0 switches it off.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

_SOME_FAILED = 1


def main(argv: Sequence[str]) -> int:
    """Run, look again, and return pytest's exit code."""
    most, pytest = int(argv[0]), list(argv[1:])
    with tempfile.TemporaryDirectory(prefix="second-look-") as name:
        cache = ["-o", f"cache_dir={name}"]
        code = subprocess.run([*pytest, *cache]).returncode
        failed = _failed(Path(name))
        if code != _SOME_FAILED or not 0 < len(failed) <= most:
            return code
        print(f"A second look at {len(failed)} failed, each by itself:", flush=True)
        # Without a cache: whoever runs this may not be allowed to write into the clone.
        alone = [pytest[0], "-n0", "-p", "no:cacheprovider"]
        again = {test: subprocess.run([*alone, test]).returncode for test in failed}
    for test, outcome in again.items():
        print(f"{'passed' if outcome == 0 else 'failed'} at the second look: {test}", flush=True)
    return _SOME_FAILED if any(again.values()) else 0


def _failed(cache: Path) -> list[str]:
    """What pytest remembers of the run."""
    try:
        remembered = json.loads((cache / "v" / "cache" / "lastfailed").read_text(encoding="utf-8"))
    except FileNotFoundError:
        return []
    return sorted(remembered)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
