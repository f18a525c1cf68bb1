"""Starts pytest and unittest."""

from __future__ import annotations

import json

from adjudge.evidence.tests.order import Order, inside_text
from adjudge.records.sandbox import ExecRequest, Limits

__all__ = ["python_request"]

_HARMLESS_ENV = ("PYTHONHASHSEED",)


def python_request(order: Order, limits: Limits) -> ExecRequest:
    """The launcher in isolated mode, with its order on stdin."""
    command = order.command
    env = {"PYTHONHASHSEED": "0", **command.env}
    stdin = {
        "reporter": inside_text(f"adjudge_{command.runner}.py"),
        "limits": inside_text("adjudge_limits.py"),
        "watch": inside_text("adjudge_watch.py") if order.watch else "",
        "args": _args(order),
        "plugins": order.plugins,
        "path": list(command.path),
        "collect_only": order.collect_only,
        "test_timeout_s": order.test_timeout_s,
        "keep_env": [*_HARMLESS_ENV, *command.env],
    }
    return ExecRequest(
        # Byte code beside a source file may be anybody's: it is believed only if it fits its source, whose
        # time of change nobody could foresee. (Reading none at all costs a quarter more.)
        argv=(
            *command.interpreter,
            "-I",
            "--check-hash-based-pycs",
            "always",
            "-c",
            inside_text("launch.py"),
        ),
        stdin=json.dumps(stdin).encode("ascii"),
        env=env,
        limits=limits,
    )


def _args(order: Order) -> list[str]:
    """The runner's arguments; later ones win over those that a configuration file adds."""
    command = order.command
    if command.runner == "unittest":
        return list(command.args)
    args = ["-c", command.config or "/dev/null", "--rootdir=.", "--maxfail=0", "--color=no"]
    if order.collect_only:
        args += ["--collect-only", "-q"]
    if order.quick:
        args += ["--assert=plain", "--tb=no"]
    return [*args, *command.args]
