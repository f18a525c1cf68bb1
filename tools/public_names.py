"""The public surface: `adjudge`, `.contracts`, `.errors`, and every module of `.records` and `.testing`.

Prints one `module name` per line; `--write` puts the same into tests/project/public-names.txt, where a
test compares it. A change of that file in a review is a change users notice.
"""

from __future__ import annotations

import importlib
import pkgutil
import sys
from pathlib import Path

PINNED = Path(__file__).resolve().parent.parent / "tests" / "project" / "public-names.txt"

_MODULES = ("adjudge", "adjudge.contracts", "adjudge.errors")
_PACKAGES = ("adjudge.records", "adjudge.testing")


def public_modules() -> list[str]:
    """Every module whose names are public, sorted."""
    found = [*_MODULES, *_PACKAGES]
    for package in _PACKAGES:
        paths = importlib.import_module(package).__path__
        found += [module.name for module in pkgutil.walk_packages(paths, f"{package}.")]
    return sorted(found)


def render_public_names() -> str:
    """One `module name` per line, sorted."""
    lines = (
        f"{module} {name}\n"
        for module in public_modules()
        for name in sorted(getattr(importlib.import_module(module), "__all__", ()))
    )
    return "".join(lines)


if __name__ == "__main__":
    if sys.argv[1:] == ["--write"]:
        PINNED.write_text(render_public_names())
    else:
        sys.stdout.write(render_public_names())
