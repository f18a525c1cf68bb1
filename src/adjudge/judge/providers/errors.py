"""What a failed call means: the same for every provider."""

from __future__ import annotations

import math
from collections.abc import Mapping

from adjudge.errors import ProviderError

__all__ = ["no_answer", "refused_by_status"]

_RETRYABLE = frozenset({408, 409, 425, 429, 500, 502, 503, 504, 529})
_MAX_MESSAGE = 500
_MAX_WAIT_S = 120.0
_HINTS = {
    401: "the key is not valid for this provider",
    403: "the key may not use this model",
    404: "no such model or address: check `model` and `base_url`",
}


def refused_by_status(status: int, message: str, headers: Mapping[str, str]) -> ProviderError:
    """A call that was answered with an error status."""
    return ProviderError(
        f"status {status}: {message[:_MAX_MESSAGE]}",
        hint=_HINTS.get(status),
        retryable=status in _RETRYABLE,
        retry_after_s=_retry_after(headers),
    )


def no_answer(error: BaseException) -> ProviderError:
    """A call that was not answered at all, or with something that is no answer."""
    said = str(error) or type(error).__name__
    cause = error.__cause__
    if cause is not None and str(cause) and str(cause) not in said:
        said = f"{said} ({cause})"
    return ProviderError(said[:_MAX_MESSAGE], retryable=True)


def _retry_after(headers: Mapping[str, str]) -> float | None:
    try:
        seconds = float(headers.get("retry-after", ""))
    except ValueError:
        return None
    return min(max(seconds, 0.0), _MAX_WAIT_S) if math.isfinite(seconds) else None
