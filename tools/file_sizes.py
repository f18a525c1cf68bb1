"""Refuse files over 1 MB; a pre-commit hook."""

from __future__ import annotations

import sys
from pathlib import Path

LIMIT_BYTES = 1_000_000


def main(paths: list[str]) -> int:
    """Name each file that is too large; the exit code is 1 when there is one."""
    large = [path for path in paths if Path(path).stat().st_size > LIMIT_BYTES]
    for path in large:
        print(f"{path}: over {LIMIT_BYTES} bytes")
    return 1 if large else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
