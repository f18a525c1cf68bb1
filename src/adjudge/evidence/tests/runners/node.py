"""Starts `node --test`."""

from __future__ import annotations

import json

from adjudge.evidence.tests.order import Order, inside_text
from adjudge.records.sandbox import ExecRequest, Limits

__all__ = ["node_request"]

_FILE_SHARE = 0.8
"""Of a session's time, what one file may take; results of the others still arrive then."""


def node_request(order: Order, limits: Limits) -> ExecRequest:
    """Finding the tests means running them: node has no other way."""
    command = order.command
    stdin = {
        "files": list(command.args),
        "file_timeout_s": order.timeout_s * _FILE_SHARE,
        "test_timeout_s": order.test_timeout_s,
        "keep_env": list(command.env),
    }
    return ExecRequest(
        argv=(*command.interpreter, "-e", inside_text("reports.js") + inside_text("adjudge_node.js")),
        stdin=json.dumps(stdin).encode("ascii"),
        env=dict(command.env),
        limits=limits,
    )
