"""`adjudge view`: what is kept, in the browser."""

from __future__ import annotations

import importlib
import threading
import webbrowser
from pathlib import Path
from typing import Any

import click

from adjudge.cli.console import note
from adjudge.errors import UsageError
from adjudge.workflows.view import opened_for_view

__all__ = ["view"]


@click.command()
@click.argument("scenarios", nargs=-1, type=click.Path(exists=True, path_type=Path))
@click.option("--host", default="127.0.0.1", show_default=True, metavar="ADDRESS", help="Where to listen.")
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    default=8642,
    show_default=True,
    metavar="N",
    help="Where to listen; 0 is any that is free.",
)
@click.option("--open", "open_browser", is_flag=True, help="Open it in the browser.")
@click.option("--store", metavar="PLACE", help="A store's folder, or the URL of a PostgreSQL database.")
@click.option(
    "--name", "names", multiple=True, metavar="HOST", help="A host name it is asked for under; repeatable."
)
@click.option(
    "--behind-tls",
    is_flag=True,
    help="Browsers reach it by https, through a proxy: cookies are sent no other way.",
)
def view(
    scenarios: tuple[Path, ...],
    host: str,
    port: int,
    open_browser: bool,
    store: str | None,
    names: tuple[str, ...],
    behind_tls: bool,
) -> None:
    """Serve runs, traces and results to browsers until interrupted.

    SCENARIOS are files, and folders of them, that the editor may change.

    Only this machine can reach it, and whoever uses it needs no token, unless there are users (`adjudge
    users`). At any other address everybody needs one.
    """
    web = _load_web()
    with opened_for_view(store, loopback=web.guard.is_loopback(host)) as (opened, users):
        access = web.identity.Access(users, host=host, https=behind_tls)
        app = web.app.create_app(opened, access, names=names, scenarios=scenarios)
        with web.serving.listen(host, port) as listener:
            address = web.serving.address_of(listener, https=behind_tls)

            def ready() -> None:
                print(address, flush=True)
                note("interrupt (Ctrl-C) to end it")
                if open_browser:
                    threading.Thread(target=webbrowser.open, args=(address,), daemon=True).start()

            web.serving.serve(app, listener, ready)


class _Web:
    """The modules of the view, which need packages that not everybody has."""

    def __init__(self) -> None:
        self.app: Any = importlib.import_module("adjudge.web.app")
        self.serving: Any = importlib.import_module("adjudge.web.serving")
        self.guard: Any = importlib.import_module("adjudge.web.access.guard")
        self.identity: Any = importlib.import_module("adjudge.web.access.identity")


def _load_web() -> _Web:
    try:
        return _Web()
    except ModuleNotFoundError as error:
        if error.name is not None and error.name.startswith("adjudge"):
            raise
        raise UsageError(
            f"the view needs {error.name}, which is not installed", hint="pip install 'adjudge[web]'"
        ) from error
