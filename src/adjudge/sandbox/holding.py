"""A tree whose command has ended and that is kept: what its supervisor does until it is told to end it.

Standard library only. Four words come over the control socket: `freeze`, `thaw` and `end`, and before the
command has ended `stop`, which ends the command and nothing else. Whoever asked being gone means `end`.
"""

from __future__ import annotations

import json
import select
import socket
from collections.abc import Callable

from adjudge.sandbox.freezing import Freezer
from adjudge.sandbox.launchrequest import Report

__all__ = ["hold", "take_word"]

_WORD_BYTES = 16


def take_word(control: socket.socket) -> bytes:
    """The next word; `end` when whoever asked is gone."""
    try:
        return control.recv(_WORD_BYTES) or b"end"
    except OSError:
        return b"end"


def hold(
    control: socket.socket,
    paused: Report,
    freezer: Freezer,
    describe: Callable[[], list[tuple[str, bool]]],
    alive: Callable[[], bool],
    watched: list[int],
    period_s: float | None = None,
) -> None:
    """Stay until the tree is gone or is to end; frozen or not, it is the caller who ends it.

    Args:
        control: Where we are told what to do.
        paused: How the command ended, which is said first.
        freezer: Freezes the tree.
        describe: The processes of the tree, for people.
        alive: Whether anything is left of it.
        watched: Descriptors that become readable when `alive` may have changed.
        period_s: How often to ask `alive` without being woken.
    """
    _send(control, {**paused, "paused": True})
    poll = select.poll()
    for descriptor in (control.fileno(), *watched):
        poll.register(descriptor, select.POLLIN)
    frozen = False
    try:
        while alive():
            ready = {descriptor for descriptor, _ in poll.poll(None if period_s is None else period_s * 1000)}
            if control.fileno() not in ready:
                continue
            word = take_word(control)
            if word == b"freeze":
                frozen = True
                _send(control, _frozen(freezer, describe))
            elif word == b"thaw":
                freezer.thaw()
                frozen = False
                _send(control, {"answer": True})
            elif word == b"end":
                return
    finally:
        if frozen:
            freezer.end()


def _frozen(freezer: Freezer, describe: Callable[[], list[tuple[str, bool]]]) -> Report:
    try:
        freezer.freeze()
    except OSError as error:
        return {"answer": True, "failed_freeze": str(error)}
    return {"answer": True, "left": describe()}


def _send(control: socket.socket, report: Report) -> None:
    try:
        control.send(json.dumps(report).encode())
    except OSError:
        return
