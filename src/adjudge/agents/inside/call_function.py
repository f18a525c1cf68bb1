"""Calls the function of a `python` agent. Runs inside the sandbox; standard library only.

The reply goes where stdout was; what the function prints goes to stderr, so that it cannot be taken for one.
"""

from __future__ import annotations

import asyncio
import importlib
import inspect
import json
import os
import sys
import traceback

__all__ = ["main"]

_RAISED = 70


def main() -> None:
    """Read what to call, call it, write the reply."""
    reply = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    given = json.loads(sys.stdin.buffer.read())
    sys.path[:0] = given["path"]
    try:
        module, _, name = given["callable"].partition(":")
        function = importlib.import_module(module)
        for part in name.split("."):
            function = getattr(function, part)
        takes = inspect.signature(function).parameters  # type: ignore[arg-type]
        every = any(one.kind is inspect.Parameter.VAR_KEYWORD for one in takes.values())
        options = {key: value for key, value in given["options"].items() if every or key in takes}
        response = function(given["message"], **options)  # type: ignore[operator]
        if inspect.isawaitable(response):
            response = asyncio.run(_wait(response))
        if response is not None and not isinstance(response, str):
            raise TypeError(f"{given['callable']} returned {type(response).__name__}, expected a text")
    except Exception:
        traceback.print_exc()
        sys.exit(_RAISED)
    sys.stdout.flush()
    with reply:
        json.dump({"response": response or ""}, reply)


async def _wait(awaitable: object) -> object:
    return await awaitable  # type: ignore[misc]


if __name__ == "__main__":
    main()
