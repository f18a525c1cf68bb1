"""Git's delta format: an object as copies from another one and inserted bytes. Used in packs and patches."""

from __future__ import annotations

__all__ = ["apply_delta"]


def apply_delta(base: bytes, delta: bytes, *, max_bytes: int) -> bytes:
    """The object that `delta` makes of `base`.

    Raises:
        ValueError: The delta is malformed, is for another base, or makes more than `max_bytes`.
    """
    try:
        base_size, at = _varint(delta, 0)
        size, at = _varint(delta, at)
        if base_size != len(base):
            raise ValueError("the delta is for another base")
        if size > max_bytes:
            raise ValueError(f"the delta makes {size} bytes, more than {max_bytes}")
        parts: list[bytes] = []
        made = 0
        while at < len(delta):
            code = delta[at]
            at += 1
            if code & 0x80:
                start = length = 0
                for bit in range(4):
                    if code & (1 << bit):
                        start |= delta[at] << (8 * bit)
                        at += 1
                for bit in range(3):
                    if code & (0x10 << bit):
                        length |= delta[at] << (8 * bit)
                        at += 1
                length = length or 0x10000
                part = base[start : start + length]
            else:
                # A length of 0 is reserved; it makes no progress and is refused below.
                length = code
                part = delta[at : at + length]
                at += length
            made += length
            if not length or len(part) != length or made > size:
                raise ValueError("the delta is malformed")
            parts.append(part)
    except IndexError as error:
        raise ValueError("the delta ends too early") from error
    if made != size:
        raise ValueError("the delta ends too early")
    return b"".join(parts)


def _varint(data: bytes, at: int) -> tuple[int, int]:
    """A number in 7-bit groups, the lowest first, and where it ends."""
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        shift += 7
        if not byte & 0x80:
            return value, at
        if shift > 63:
            raise ValueError("the delta states an impossible size")
