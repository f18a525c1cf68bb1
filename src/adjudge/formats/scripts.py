"""How a script is started by the program that its first line names."""

from __future__ import annotations

__all__ = ["script_argv"]


def script_argv(first_line: bytes, place: str) -> tuple[str, ...]:
    """The arguments that run a script, which so needs no permission to be executed.

    Args:
        first_line: Its first line; without `#!` it is one of the shell's.
        place: Where it lies.
    """
    interpreter = first_line[2:].decode("utf-8", "replace").split(None, 1) if first_line[:2] == b"#!" else []
    return (*(part.strip() for part in interpreter or ["/bin/sh"]), place)
