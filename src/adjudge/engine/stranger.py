"""Scorers of other distributions, each in a process of its own.

Their code is trusted not to be hostile, only not to be flawless. In our process a runaway regular
expression would hold the interpreter lock for ever, `os.chdir` or a patched module would reach every later
scorer, and a crash in an extension module would end the grading. In a child process each of these is one
ERROR in one row. `adjudge.engine.stranger_main` is the other end of the pipe.
"""

from __future__ import annotations

import json
import os
import selectors
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from typing import Any, get_args

from pydantic import TypeAdapter

from adjudge.errors import PluginError
from adjudge.records.base import Record
from adjudge.records.evidence import AnyRequest
from adjudge.records.score import ScorerOutcome, ScorerSpec

__all__ = ["StrangerScorer"]

_ANSWER_WITHIN_S = 30.0
"""Scoring is arithmetic on evidence already collected; half a minute is far beyond any honest need."""
_MAX_REPLY_BYTES = 16 * 1024 * 1024
_REQUESTS: Mapping[str, type[AnyRequest]] = {kind.kind: kind for kind in get_args(AnyRequest)}


class StrangerScorer:
    """A `ReadyScorer` whose code runs in a child process that ends with the grading."""

    def __init__(self, spec: ScorerSpec, *, answer_within_s: float = _ANSWER_WITHIN_S) -> None:
        self._answer_within_s = answer_within_s
        self._child = subprocess.Popen(
            [sys.executable, "-P", "-m", "adjudge.engine.stranger_main"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(entry for entry in sys.path if entry)},
            # A group of its own: Ctrl-C is ours to handle, and a kill reaches what the scorer started.
            start_new_session=True,
        )
        try:
            hello = self._ask({"type": spec.type, "config": dict(spec.config)})
            self.version: str = str(hello["version"])
            self._needs = tuple(
                _REQUESTS[need["kind"]].model_validate_json(json.dumps(need["request"]))
                for need in hello["needs"]
            )
        except BaseException:
            self.close()
            raise

    def needs(self) -> Sequence[AnyRequest]:
        """What it declared when it was made ready."""
        return self._needs

    def score(self, evidence: Mapping[str, tuple[AnyRequest, Record]]) -> ScorerOutcome:
        """Its outcome, parsed into the closed record: nothing else of the child is believed."""
        reply = self._ask(
            {
                "evidence": [
                    {"digest": digest, "answer": answer.model_dump_json()}
                    for digest, (_, answer) in evidence.items()
                ]
            }
        )
        return TypeAdapter(ScorerOutcome).validate_json(json.dumps(reply["outcome"]))

    def close(self) -> None:
        """End the child and whatever it started."""
        child = self._child
        if child.poll() is None:
            try:
                os.killpg(child.pid, 9)
            except ProcessLookupError:
                child.kill()
        child.wait()
        for stream in (child.stdin, child.stdout):
            if stream is not None:
                stream.close()

    def _ask(self, question: Mapping[str, Any]) -> dict[str, Any]:
        """One line there, one line back, within the time allowed; else the child is ended at once."""
        deadline = time.monotonic() + self._answer_within_s
        try:
            reply = json.loads(self._exchange(json.dumps(question).encode() + b"\n", deadline))
        except BaseException:
            self.close()
            raise
        if not isinstance(reply, dict):
            raise PluginError("the scorer's process answered with something that is not an object")
        if "error" in reply:
            raise PluginError(str(reply["error"]))
        return reply

    def _exchange(self, question: bytes, deadline: float) -> bytes:
        assert self._child.stdin is not None
        assert self._child.stdout is not None
        answer = bytearray()
        pending = memoryview(question)
        with selectors.DefaultSelector() as selector:
            for stream, event in (
                (self._child.stdin, selectors.EVENT_WRITE),
                (self._child.stdout, selectors.EVENT_READ),
            ):
                os.set_blocking(stream.fileno(), False)
                selector.register(stream, event)
            while not answer.endswith(b"\n"):
                ready = selector.select(max(0.0, deadline - time.monotonic()))
                if not ready:
                    raise PluginError(f"no answer within {self._answer_within_s:g} s; its process was ended")
                for key, _ in ready:
                    if key.fileobj is self._child.stdin:
                        try:
                            pending = pending[os.write(key.fd, pending[:65536]) :]
                        except BrokenPipeError:
                            pending = pending[:0]
                        if not pending:
                            selector.unregister(self._child.stdin)
                    else:
                        answer += self._received(key.fd)
                        if len(answer) > _MAX_REPLY_BYTES:
                            raise PluginError(f"its answer is larger than {_MAX_REPLY_BYTES} bytes")
        return bytes(answer)

    def _received(self, descriptor: int) -> bytes:
        data = os.read(descriptor, 65536)
        if not data:
            code = self._child.wait()
            how = f"signal {-code}" if code < 0 else f"exit code {code}"
            raise PluginError(f"its process ended without an answer ({how})")
        return data
