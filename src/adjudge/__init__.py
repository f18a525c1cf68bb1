"""adjudge grades what coding agents did, from evidence the agent could not touch.

The library in one line:

    evaluation = adjudge.grade("adjudge.yaml", workspace="attempt", baseline="before")

`adjudge.grade`, `adjudge.agrade` and `adjudge.reward` are loaded when they are first used, so that importing
the package costs next to nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from adjudge.version import __version__

if TYPE_CHECKING:
    from adjudge.api import agrade, grade, reward

__all__ = ["__version__", "agrade", "grade", "reward"]


def __getattr__(name: str) -> Any:
    if name in ("agrade", "grade", "reward"):
        from adjudge import api  # noqa: PLC0415 - the whole point: `import adjudge` stays light

        return getattr(api, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return [*globals(), "agrade", "grade", "reward"]
