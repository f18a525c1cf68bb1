"""Documents in HTML: the packages of the view are loaded only when one is asked for."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path
from typing import Any

from adjudge.cli.files import write_whole
from adjudge.errors import UsageError

__all__ = ["sharing", "write_out"]


def sharing() -> Any:
    """What makes documents.

    Raises:
        UsageError: The packages that takes are not installed.
    """
    try:
        return importlib.import_module("adjudge.web.sharing")
    except ImportError as error:
        if error.name is not None and error.name.startswith("adjudge"):
            raise
        raise UsageError(
            f"HTML documents need {error.name}, which is not installed", hint="pip install 'adjudge[web]'"
        ) from error


def write_out(text: str, output: str | None) -> None:
    """To a file, whole or not at all; without one to stdout."""
    if output is None:
        sys.stdout.write(text)
    else:
        write_whole(Path(output), text)
