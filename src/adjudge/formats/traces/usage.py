"""Token counts of each family of formats as `TokenCounts`; snapshots and running totals as increments."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping
from typing import Any

from adjudge.formats.traces.recent import short_key
from adjudge.formats.traces.values import count_of, mapping_of
from adjudge.records.trace import TokenCounts

__all__ = [
    "RunningTotal",
    "Snapshots",
    "anthropic_tokens",
    "bad_counts",
    "first_count",
    "openai_tokens",
    "without",
]

_MOST_SNAPSHOTS = 4096


def first_count(usage: Mapping[str, Any], *names: str) -> int | None:
    """The first of several names under which a count is found."""
    return next((count for name in names if (count := count_of(usage.get(name))) is not None), None)


def bad_counts(usage: Mapping[str, Any]) -> str:
    """What is no count though it is called tokens, in words; empty when everything is in order."""
    bad = [
        f"{name[:60]} is {str(value)[:40]}"
        for name, value in usage.items()
        if "token" in name.lower() and isinstance(value, int | float) and count_of(value) is None
    ]
    return f"no counts of tokens: {', '.join(bad[:5])}" if bad else ""


def without(whole: int | None, *parts: int | None) -> int | None:
    """A whole less the parts of it that are counted elsewhere, never below 0."""
    return None if whole is None else max(0, whole - sum(part or 0 for part in parts))


def anthropic_tokens(usage: Mapping[str, Any]) -> TokenCounts:
    """Anthropic's counts, in which input leaves caches out."""
    return TokenCounts(
        input=count_of(usage.get("input_tokens")),
        output=count_of(usage.get("output_tokens")),
        cache_read=count_of(usage.get("cache_read_input_tokens")),
        cache_write=count_of(usage.get("cache_creation_input_tokens")),
    )


def openai_tokens(usage: Mapping[str, Any]) -> TokenCounts:
    """OpenAI's counts, of chat completions, of responses and of Codex, in which input includes caches."""
    prompt = first_count(usage, "prompt_tokens", "input_tokens")
    inside = mapping_of(usage.get("prompt_tokens_details") or usage.get("input_tokens_details"))
    written = mapping_of(usage.get("completion_tokens_details") or usage.get("output_tokens_details"))
    read = first_count(usage, "cached_input_tokens")
    read = read if read is not None else first_count(inside, "cached_tokens")
    cache_write = first_count(inside, "cache_write_tokens")
    output = first_count(usage, "completion_tokens", "output_tokens")
    reasoning = first_count(usage, "reasoning_output_tokens")
    return TokenCounts(
        input=without(prompt, read, cache_write),
        output=output,
        cache_read=read,
        cache_write=cache_write,
        reasoning=reasoning if reasoning is not None else first_count(written, "reasoning_tokens"),
        total=count_of(usage.get("total_tokens")) if prompt is None and output is None else None,
    )


def _more(now: TokenCounts, before: TokenCounts) -> TokenCounts | None:
    """How much larger each count is; None when none is."""
    grown = {}
    for name in TokenCounts.model_fields:
        count = getattr(now, name)
        if count is not None and (more := count - (getattr(before, name) or 0)) >= 0:
            grown[name] = more
    return TokenCounts(**grown) if any(grown.values()) or (grown and before == TokenCounts()) else None


def _larger(left: TokenCounts, right: TokenCounts) -> TokenCounts:
    return TokenCounts(
        **{
            name: max(known)
            for name in TokenCounts.model_fields
            if (known := [n for n in (getattr(left, name), getattr(right, name)) if n is not None])
        }
    )


class Snapshots:
    """Counts that are repeated, and may grow, on every line of one message: each message counts once."""

    def __init__(self) -> None:
        self._seen: OrderedDict[str, TokenCounts] = OrderedDict()

    def increment(self, id: str, tokens: TokenCounts) -> TokenCounts | None:
        """What a line adds to what its message had; None for nothing. Without an id every line counts."""
        if not id:
            return tokens
        key = short_key(id)
        before = self._seen.pop(key, TokenCounts())
        self._seen[key] = _larger(before, tokens)
        if len(self._seen) > _MOST_SNAPSHOTS:
            self._seen.popitem(last=False)
        return _more(tokens, before)


class RunningTotal:
    """Counts of everything so far. Where one falls back, counting has begun anew."""

    def __init__(self) -> None:
        self._before = TokenCounts()

    def increment(self, tokens: TokenCounts) -> TokenCounts | None:
        """What came since the last; None for nothing."""
        before = self._before
        anew = any(
            count < (getattr(before, name) or 0)
            for name in TokenCounts.model_fields
            if (count := getattr(tokens, name)) is not None
        )
        self._before = tokens
        return _more(tokens, TokenCounts() if anew else before)
