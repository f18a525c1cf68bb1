"""What the text of a verifier tells about it. Guesses from words, never a proof."""

from __future__ import annotations

import re

__all__ = [
    "ignored_exit_codes",
    "mentions_candidate",
    "network_words",
    "stops_at_failure",
    "system_installs",
]

_CANDIDATE = re.compile(rb"(?<![\w.-])candidate(?![\w.-])")


def mentions_candidate(data: bytes) -> bool:
    """Whether a file of a verifier speaks of the launcher that runs candidate code apart from it."""
    return _CANDIDATE.search(data) is not None


def network_words(text: str) -> list[str]:
    """What in a script speaks of the network: downloads, installers, addresses. Each once, with its line."""
    return _lines_with(text, _NETWORK)


def system_installs(text: str) -> list[str]:
    """Where a script installs packages of the system, which takes a container and its root."""
    return _lines_with(text, _INSTALLS)


def ignored_exit_codes(text: str) -> list[str]:
    """Where a shell script goes on whatever a command's exit code is. Each once, with its line."""
    found = _lines_with(text, _IGNORED)
    if "pipefail" not in text:
        found += _lines_with(text, _PIPED)
    return found


def stops_at_failure(text: str) -> bool:
    """Whether a shell script ends with the first command that fails, before it may write a reward."""
    return _SET_E.search(text) is not None


_NETWORK = re.compile(
    r"\b(?:curl|wget|uvx|apt-get|apk add|git clone|npm (?:install|ci|i)\b"
    r"|(?:pip|uv|conda|gem|cargo|go) install|uv (?:run|pip|sync|add)"
    r"|https?://(?!(?:localhost|127\.))[\w.-]+)"
)
_INSTALLS = re.compile(r"\b(?:apt-get|apt|yum|dnf|apk|pacman)\s+(?:-\S+\s+)*(?:install|update|add|-S\w*)\b")
_IGNORED = re.compile(r"\|\|\s*(?:true|:)(?:\s|;|\)|$)|^\s*set \+e\b")
_PIPED = re.compile(r"\b(?:pytest|unittest|test|make|python3?)\b[^|#]*\|\s*(?:tee|tail|head|grep|cat)\b")
_SET_E = re.compile(r"^\s*(?:set\s+-[a-z]*e|set\s+-o\s+errexit)|^#!.*\s-[a-z]*e", re.MULTILINE)
_MAX_LINES = 3


def _lines_with(text: str, pattern: re.Pattern[str]) -> list[str]:
    found = []
    for number, line in enumerate(text.splitlines(), start=1):
        bare = line.strip()
        if bare.startswith("#") and number > 1:
            continue
        if match := pattern.search(line):
            found.append(f"line {number}: {match[0].strip()}")
    return found[:_MAX_LINES]
