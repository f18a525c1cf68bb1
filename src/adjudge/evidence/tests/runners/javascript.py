"""Starts Jest and Vitest."""

from __future__ import annotations

import json

from adjudge.evidence.tests.order import Order, inside_text
from adjudge.formats.testcommands.javascript import suite_options
from adjudge.records.sandbox import ExecRequest, Limits

__all__ = ["javascript_request"]

_APART = 'exec "$@" 3>&2 2>&1'
"""Reports leave through a descriptor that node closes in every process it starts; stderr joins stdout."""


def javascript_request(order: Order, limits: Limits) -> ExecRequest:
    """A launcher of ours that loads the project's runner, with its order on stdin."""
    command = order.command
    program, *node_options = command.interpreter
    options, patterns = suite_options(command.args)
    stdin = {
        "patterns": patterns,
        "options": options,
        "node_options": node_options,
        "collect_only": order.collect_only,
        "test_timeout_s": order.test_timeout_s,
        "keep_env": list(command.env),
    }
    text = inside_text("reports.js") + inside_text(f"adjudge_{command.runner}.js")
    return ExecRequest(
        argv=("/bin/sh", "-c", _APART, "sh", program, *node_options, "-e", text),
        stdin=json.dumps(stdin).encode("ascii"),
        env=dict(command.env),
        limits=limits,
    )
