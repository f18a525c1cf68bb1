import pytest

from adjudge.formats.gitdelta import apply_delta

BASE = b"the quick brown fox"


def test_copies_and_inserts() -> None:
    # Copy 4 bytes from 0, insert "slow", copy 4 bytes from 15.
    delta = bytes([19, 12, 0x90, 4, 4]) + b"slow" + bytes([0x91, 15, 4])
    assert apply_delta(BASE, delta, max_bytes=100) == b"the slow fox"


@pytest.mark.parametrize(
    ("delta", "why"),
    [
        (bytes([18, 4, 0x90, 4]), "another base"),
        (bytes([19, 200, 1, 0x90, 4]), "more than 100"),
        (bytes([19, 4, 0]), "malformed"),
        (bytes([19, 4, 0x90, 5]), "malformed"),
        (bytes([19, 30, 0x91, 15, 10]), "malformed"),
        (bytes([19, 4, 0x91]), "too early"),
        (bytes([19, 4, 0x90, 3]), "too early"),
        (bytes([19, 4, 9]) + b"short", "malformed"),
        (b"\xff" * 20, "impossible size"),
        (b"", "too early"),
    ],
)
def test_a_bad_delta_is_refused(delta: bytes, why: str) -> None:
    with pytest.raises(ValueError, match=why):
        apply_delta(BASE, delta, max_bytes=100)
