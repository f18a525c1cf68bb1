"""The line to one juror's provider: one call at a time within its limits, tried again where that may help."""

from __future__ import annotations

import asyncio
import random
import threading
from collections.abc import Callable

from adjudge import catalog
from adjudge.contracts import Provider
from adjudge.errors import PluginError, ProviderError
from adjudge.judge.keys import find_key, missing_key
from adjudge.records.judging import JudgeConfig, Juror, ProviderReply, ProviderRequest

__all__ = ["Line", "Purse"]

_FIRST_WAIT_S = 1.0
_LONGEST_WAIT_S = 60.0


class Purse:
    """What may be spent on judging, and what was."""

    def __init__(self, limit_usd: float | None = None, spent_usd: float = 0.0) -> None:
        self._limit = limit_usd
        self._lock = threading.Lock()
        self.spent_usd = spent_usd

    def spend(self, cost_usd: float | None) -> None:
        """Note what a call cost; an unknown cost cannot be held against the limit."""
        with self._lock:
            self.spent_usd += cost_usd or 0.0

    def refuse_when_empty(self) -> None:
        """Raises `ProviderError` once the limit is reached."""
        if self._limit is not None and self.spent_usd >= self._limit:
            raise ProviderError(
                f"the cap of ${self._limit:g} for judging is reached (${self.spent_usd:.4f} spent)",
                hint="raise max_cost_usd and run adjudge judge --retry-failed",
            )


class Line:
    """One juror's provider. Made inside the event loop that uses it.

    Args:
        juror: Who is asked.
        config: How often and how long.
        gate: Shared by all lines to one provider: limits the calls at once.
        purse: What may be spent.
        wait: For tests; how to sleep between tries.
    """

    def __init__(
        self,
        juror: Juror,
        config: JudgeConfig,
        gate: asyncio.Semaphore,
        purse: Purse,
        wait: Callable[[float], object] | None = None,
    ) -> None:
        self.juror = juror
        self._config = config
        self._gate = gate
        self._purse = purse
        self._wait = wait
        self._provider: Provider | None = None

    async def ask(self, request: ProviderRequest) -> ProviderReply:
        """Ask, with as many further tries as the configuration allows.

        Raises:
            ProviderError: There was no answer in the end.
        """
        last: ProviderError | None = None
        for attempt in range(self._config.retries + 1):
            if last is not None:
                await self._pause(attempt, last.retry_after_s)
            try:
                return await self._ask_once(request)
            except ProviderError as error:
                if not error.retryable:
                    raise
                last = error
        assert last is not None
        tries = self._config.retries + 1
        raise ProviderError(f"{last.message} ({tries} tries)" if tries > 1 else last.message, hint=last.hint)

    async def close(self) -> None:
        """Let go of connections."""
        if self._provider is not None:
            await self._provider.close()

    async def _ask_once(self, request: ProviderRequest) -> ProviderReply:
        async with self._gate:
            self._purse.refuse_when_empty()
            provider = self._connect()
            try:
                async with asyncio.timeout(self._config.timeout_s):
                    reply = await provider.ask(request)
            except TimeoutError as error:
                raise ProviderError(
                    f"no answer within {self._config.timeout_s:g} s", retryable=True
                ) from error
            self._purse.spend(reply.usage.cost_usd)
            return reply

    def _connect(self) -> Provider:
        if self._provider is None:
            reason = missing_key(self.juror)
            if reason is not None:
                raise ProviderError(reason)
            try:
                make = catalog.load("providers", self.juror.provider_name)
            except PluginError as error:
                raise ProviderError(error.message, hint=error.hint) from error
            self._provider = make(self.juror, find_key(self.juror))
        assert self._provider is not None
        return self._provider

    async def _pause(self, attempt: int, asked_for_s: float | None) -> None:
        """Exponential, with full jitter, and never less than the provider asked for."""
        ceiling = min(_LONGEST_WAIT_S, _FIRST_WAIT_S * 2 ** (attempt - 1))
        seconds = max(asked_for_s or 0.0, random.uniform(0.0, ceiling))
        if self._wait is not None:
            self._wait(seconds)
        else:
            await asyncio.sleep(seconds)
