"""How often a wrong token may be tried."""

from __future__ import annotations

import pytest

from adjudge.web.access.limits import Attempts

pytestmark = pytest.mark.anyone


class Clock:
    now = 100.0

    def __call__(self) -> float:
        return self.now


def test_an_address_waits_once_it_failed_too_often() -> None:
    clock = Clock()
    attempts = Attempts(most=3, over_s=60, overall=100, clock=clock)
    for _ in range(3):
        assert attempts.wait_s("a") == 0
        attempts.fail("a")
        clock.now += 10
    assert attempts.wait_s("a") == 30
    assert attempts.wait_s("b") == 0
    clock.now += 30
    assert attempts.wait_s("a") == 0
    attempts.fail("a")
    assert attempts.wait_s("a") == 10


def test_all_addresses_together_wait_too() -> None:
    clock = Clock()
    attempts = Attempts(most=3, over_s=60, overall=5, clock=clock)
    for number in range(5):
        attempts.fail(f"address {number}")
    assert attempts.wait_s("another") == 60
    clock.now += 60
    assert attempts.wait_s("another") == 0


def test_memory_is_bounded() -> None:
    attempts = Attempts(overall=10**9)
    for number in range(10_000):
        attempts.fail(str(number))
    assert len(attempts._failed) <= 4096
