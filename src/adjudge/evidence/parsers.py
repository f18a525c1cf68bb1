"""The processes in which source files are parsed, each forked off one that has everything loaded.

Loading the readers takes a fifth of a second, more than parsing a change does. So one process, the stem, does
it once for as long as ours lives, and every grading has a fork of it. A fork that read one stranger's bytes
never reads another's, and the stem reads none at all. `outline_worker` is its other end.
"""

from __future__ import annotations

import atexit
import os
import socket
import struct
import subprocess
import sys
import threading
from contextlib import suppress
from typing import Final

from adjudge.errors import InfraError

__all__ = ["MESSAGE", "NO_FORK", "Parser", "start_parser"]

MESSAGE: Final = struct.Struct("!cQ")
"""What is wanted of the stem, `s`tart or `e`nd, and of which fork."""
NO_FORK: Final = b"!"
"""Begins the line that stands for an answer where the stem could not be forked."""


class Parser:
    """A fork of the stem: questions go into one pipe, answers come out of the other."""

    def __init__(self, stem: _Stem, number: int, questions: int, answers: int) -> None:
        self._stem = stem
        self._number = number
        self.questions = questions
        self.answers = answers

    def end(self) -> None:
        """Have it killed, whatever it is at."""
        self._stem.say(b"e", self._number)
        os.close(self.questions)
        os.close(self.answers)


class _Stem:
    """Our end of the process that is forked."""

    def __init__(self) -> None:
        self._ours, theirs = socket.socketpair()
        self._lock = threading.Lock()
        self._started = 0
        try:
            self._process = subprocess.Popen(
                [sys.executable, "-P", "-m", "adjudge.evidence.outline_worker"],
                stdin=theirs.fileno(),
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                env={**os.environ, "PYTHONPATH": os.pathsep.join(entry for entry in sys.path if entry)},
                # Ctrl-C is ours to handle.
                start_new_session=True,
            )
        except OSError:
            self._ours.close()
            raise
        finally:
            theirs.close()

    def start(self) -> Parser:
        """A fork, which answers as soon as the stem has loaded everything."""
        their_questions, questions = os.pipe()
        answers, their_answers = os.pipe()
        try:
            for ours in (questions, answers):
                os.set_blocking(ours, False)
            with self._lock:
                number = self._started = self._started + 1
                message = MESSAGE.pack(b"s", number)
                socket.send_fds(self._ours, [message], [their_questions, their_answers])
        except OSError:
            os.close(questions)
            os.close(answers)
            raise
        finally:
            os.close(their_questions)
            os.close(their_answers)
        return Parser(self, number, questions, answers)

    def say(self, what: bytes, number: int) -> None:
        """Tell the stem; one that is gone has taken its forks along."""
        if self._ours.fileno() < 0:
            return
        with self._lock, suppress(OSError):
            self._ours.sendall(MESSAGE.pack(what, number))

    def close(self) -> None:
        """End the stem and all of its forks."""
        self._ours.close()
        self._process.wait()

    def disown(self) -> None:
        """Let go of it in a child of ours: it is our parent's to end and to wait for."""
        self._ours.close()
        self._process.returncode = 0


_lock = threading.Lock()
_stem: _Stem | None = None


def start_parser() -> Parser:
    """A process that parses and has parsed nothing yet.

    Raises:
        InfraError: There is none to be had.
    """
    global _stem
    with _lock:
        try:
            if _stem is not None:
                with suppress(BrokenPipeError, ConnectionResetError):
                    return _stem.start()
                _stem.close()
                _stem = None
            _stem = _Stem()
            return _stem.start()
        except OSError as error:
            raise InfraError(f"no process to parse source files in: {error.strerror}") from error


@atexit.register
def _close() -> None:
    global _stem
    stem, _stem = _stem, None
    if stem is not None:
        stem.close()


def _disown() -> None:
    global _lock, _stem
    # Whoever held it is in our parent only.
    _lock = threading.Lock()
    stem, _stem = _stem, None
    if stem is not None:
        stem.disown()


os.register_at_fork(after_in_child=_disown)
