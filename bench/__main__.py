"""Finds the measurements and runs those named, or all: each module has `run() -> None`, which prints."""

from __future__ import annotations

import importlib
import pkgutil
import sys
from collections.abc import Sequence

import bench


def main(argv: Sequence[str]) -> int:
    known = sorted(
        module.name for module in pkgutil.iter_modules(bench.__path__) if module.name != "__main__"
    )
    unknown = [name for name in argv if name not in known]
    if unknown:
        print(f"no measurement is called {', '.join(unknown)}; known: {', '.join(known)}", file=sys.stderr)
        return 2
    for name in argv or known:
        module = importlib.import_module(f"bench.{name}")
        print(f"== {name}: {(module.__doc__ or '').splitlines()[0]}", flush=True)
        module.run()
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
