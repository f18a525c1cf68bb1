"""The environment of a verifier: what keeps an attempt from steering it, and the task's own variables.

Those may be templates, `${NAME}` and `${NAME:-default}`, which are resolved by name and nothing else.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from adjudge.errors import UsageError

__all__ = ["STEADY", "resolve_environment"]

_GIT = {"core.fsmonitor": "false", "core.hooksPath": "/dev/null", "core.pager": "cat", "safe.directory": "*"}
"""Programs that git would start because the attempt's `.git/config` names them."""
STEADY = {
    "PYTHONSAFEPATH": "1",
    "PYTHONNOUSERSITE": "1",
    "PYTHONDONTWRITEBYTECODE": "1",
    "PYTHONHASHSEED": "0",
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_CONFIG_GLOBAL": "/dev/null",
    "GIT_CONFIG_COUNT": str(len(_GIT)),
    **{f"GIT_CONFIG_KEY_{at}": key for at, key in enumerate(_GIT)},
    **{f"GIT_CONFIG_VALUE_{at}": value for at, value in enumerate(_GIT.values())},
}
"""The first: a `json.py` in the folder that Python is started in is not the standard library's."""

_TEMPLATE = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)(?::-([^}]*))?\}")
_SECRET_LENGTH = 6
"""Shorter values are no secrets, and taking them out of a document would garble it."""


def resolve_environment(
    env: Mapping[str, str], ours: Mapping[str, str]
) -> tuple[dict[str, str], tuple[str, ...]]:
    """The environment with its templates filled in, and the values of ours that went into it.

    Args:
        env: As the task writes it.
        ours: Where names are looked up.

    Raises:
        UsageError: A name is not set and has no default.
    """
    secrets: list[str] = []

    def fill(match: re.Match[str]) -> str:
        name, default = match[1], match[2]
        if name in ours:
            if len(ours[name]) >= _SECRET_LENGTH:
                secrets.append(ours[name])
            return ours[name]
        if default is None:
            raise UsageError(
                f"the verifier's environment needs {name}, which is not set",
                hint=f"set {name}, or write ${{{name}:-default}} in the task",
            )
        return default

    return {name: _TEMPLATE.sub(fill, value) for name, value in env.items()}, tuple(dict.fromkeys(secrets))
