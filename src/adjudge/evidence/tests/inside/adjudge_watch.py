"""Notes in which files of the project a test runs functions, and where modules came from.

For people and for suspicion, never for credit: whatever runs here can switch it off, and then nothing is
known. Functions are seen as they are entered, lines are not counted, so it costs about a microsecond a call.
"""

from __future__ import annotations

import os
import sys
from typing import Any

__all__ = ["Watch", "loaded_modules"]

_MAX_FILES = 200
_MAX_MODULES = 4000
_TOOL = 4


class Watch:
    """Started before a test and stopped after it."""

    def __init__(self, root: str) -> None:
        self._root = root.rstrip("/") + "/"
        self._files: set[str] = set()
        self._places: dict[str, str | None] = {}
        self._own = False

    def start(self) -> None:
        """Begin to note, unless somebody else is tracing already."""
        self._files.clear()
        self._own = False
        monitoring: Any = getattr(sys, "monitoring", None)
        if monitoring is not None:
            if monitoring.get_tool(_TOOL) is None:
                monitoring.use_tool_id(_TOOL, "adjudge")
                monitoring.register_callback(_TOOL, monitoring.events.PY_START, self._started)
                monitoring.set_events(_TOOL, monitoring.events.PY_START)
                self._own = True
        elif sys.gettrace() is None:
            sys.settrace(self._trace)
            self._own = True

    def stop(self) -> list[str] | None:
        """The files, relative to the project; None when they are not known."""
        monitoring: Any = getattr(sys, "monitoring", None)
        if monitoring is not None:
            if self._own:
                monitoring.set_events(_TOOL, 0)
                monitoring.free_tool_id(_TOOL)
                monitoring.restart_events()
        elif self._own:
            if sys.gettrace() == self._trace:
                sys.settrace(None)
            else:
                self._own = False
        return sorted(self._files)[:_MAX_FILES] if self._own else None

    def _trace(self, frame: Any, event: str, arg: object) -> None:
        self._note(frame.f_code)

    def _started(self, code: Any, offset: int) -> Any:
        self._note(code)
        return sys.monitoring.DISABLE  # type: ignore[attr-defined]  # from 3.12 on

    def _note(self, code: Any) -> None:
        name = code.co_filename
        try:
            place = self._places[name]
        except KeyError:
            full = os.path.abspath(name)
            inside = full.startswith(self._root) and not name.startswith("<")
            place = full[len(self._root) :] if inside else None
            self._places[name] = place
        if place is not None and code.co_name != "<module>":
            self._files.add(place)


def loaded_modules(root: str) -> dict[str, str]:
    """Where each module came from that is not the standard library's."""
    root = root.rstrip("/") + "/"
    known = sys.stdlib_module_names
    found: dict[str, str] = {}
    for name, module in sorted(sys.modules.copy().items()):
        if name.partition(".")[0] in known or name.startswith(("_pytest", "pytest", "adjudge_", "pluggy")):
            continue
        place = getattr(module, "__file__", None)
        if isinstance(place, str):
            full = os.path.abspath(place)
            found[name] = full[len(root) :] if full.startswith(root) else full
        elif getattr(module, "__path__", None) is None:
            found[name] = ""
        if len(found) >= _MAX_MODULES:
            break
    return found
