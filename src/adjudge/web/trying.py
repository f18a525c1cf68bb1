"""Trying a recipe on a stored run from the view: a few at once, in the sandbox that the settings say."""

from __future__ import annotations

import threading
from pathlib import Path

from adjudge.errors import UsageError
from adjudge.settings import load_settings
from adjudge.store.runs import RunDatabase
from adjudge.workflows.backends import choose_by_settings
from adjudge.workflows.editing import Tried, try_recipe

__all__ = ["try_on"]

_SLOTS = threading.BoundedSemaphore(2)
"""Each runs code of an attempt; more at once would slow all of them, and the view."""


def try_on(store: RunDatabase, run: str, file: Path, text: str) -> Tried:
    """What a recipe that is not saved would say of a run. Nothing is kept.

    Raises:
        UsageError: No run was chosen, it cannot be graded, the text is not valid, or others are being tried.
    """
    if not run:
        raise UsageError("choose a run to try it on")
    if not _SLOTS.acquire(blocking=False):
        raise UsageError("other recipes are being tried; try again in a moment")
    try:
        settings = load_settings()
        return try_recipe(store, settings, choose_by_settings(None, settings), run, file, text)
    finally:
        _SLOTS.release()
