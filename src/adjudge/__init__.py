"""adjudge grades what coding agents did, from evidence the agent could not touch."""

from adjudge.version import __version__

__all__ = ["__version__"]
