"""Serving the view at an address of this machine."""

from __future__ import annotations

import socket
from collections.abc import Callable
from contextlib import suppress

import uvicorn
from fastapi import FastAPI

from adjudge.errors import UsageError

__all__ = ["address_of", "listen", "make_server", "serve"]


def listen(host: str, port: int) -> socket.socket:
    """A socket that listens there; port 0 is any that is free.

    Raises:
        UsageError: Somebody else does, or it is no address of this machine.
    """
    try:
        family, _, _, _, place = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        listener = socket.create_server(place[:2], family=family, backlog=128)
    except OSError as error:
        raise UsageError(
            f"cannot listen at {host} port {port}: {error.strerror or error}", hint="another one: --port"
        ) from None
    return listener


def address_of(listener: socket.socket, *, https: bool = False) -> str:
    """What people open in a browser."""
    host, port = listener.getsockname()[:2]
    shown = f"[{host}]" if ":" in host else host
    return f"{'https' if https else 'http'}://{shown}:{port}/"


def make_server(app: FastAPI) -> uvicorn.Server:
    """What answers requests, once it is run with a socket."""
    return uvicorn.Server(
        uvicorn.Config(
            app,
            log_level="warning",
            access_log=False,
            server_header=False,
            # Who sets these headers is not known here, and nothing depends on them.
            proxy_headers=False,
            lifespan="on",
            ws="none",
            timeout_graceful_shutdown=2,
        )
    )


def serve(app: FastAPI, listener: socket.socket, ready: Callable[[], None] = lambda: None) -> None:
    """Serve until interrupted: this is how one ends it."""
    server = make_server(app)
    with suppress(KeyboardInterrupt):
        ready()
        server.run(sockets=[listener])
