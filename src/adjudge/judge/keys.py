"""Where a provider's key comes from: the environment, or a keyring. It is never stored, logged or shown."""

from __future__ import annotations

import importlib
import os
from typing import Any

from adjudge import catalog
from adjudge.records.judging import Juror

__all__ = ["find_key", "missing_key"]

_SERVICE = "adjudge"


def find_key(juror: Juror) -> str | None:
    """The juror's key, or None when there is none.

    A variable of the environment first; then, where the `keyring` package is installed, the entry of that
    variable's name under the service `adjudge`.
    """
    variable = _variable(juror)
    if variable is None:
        return None
    if value := os.environ.get(variable):
        return value
    try:
        keyring: Any = importlib.import_module("keyring")
    except ImportError:
        return None
    try:
        found = keyring.get_password(_SERVICE, variable)
    except Exception:
        # A keyring that is locked or has no backend is as good as none.
        return None
    return found or None


def missing_key(juror: Juror) -> str | None:
    """What is missing to ask this juror; None when nothing is.

    A server of one's own (`base_url` without `api_key_env`) may do without a key.
    """
    variable = _variable(juror)
    if variable is None or find_key(juror) is not None:
        return None
    if juror.base_url is not None and juror.api_key_env is None:
        return None
    return f"no credential for {juror.model}: {variable} is not set"


def _variable(juror: Juror) -> str | None:
    if juror.api_key_env is not None:
        return juror.api_key_env
    provider: Any = catalog.load("providers", juror.provider_name)
    name: str | None = provider.default_key_env
    return name
