"""A PostgreSQL server for tests: in a scratch folder, on a socket there, gone afterwards.

As root it runs as `postgres` or `nobody`, since PostgreSQL refuses root.
"""

from __future__ import annotations

import ctypes
import itertools
import os
import pwd
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import quote

__all__ = ["PostgresServer", "postgres_programs", "running_server"]

_READY_S = 120.0
_USER = "adjudge"
_PR_SET_PDEATHSIG = 1


def postgres_programs() -> Path | None:
    """The folder with `initdb` and `postgres`; None when no server is installed."""
    candidates = sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)
    if (found := shutil.which("initdb")) is not None:
        candidates.insert(0, Path(os.path.realpath(found)).parent)
    for folder in candidates:
        if (folder / "initdb").exists() and (folder / "postgres").exists():
            return folder
    return None


class PostgresServer:
    """A running server."""

    def __init__(self, sockets: Path) -> None:
        self._sockets = sockets
        self._numbers = itertools.count()

    def url(self, database: str) -> str:
        """The address of one of its databases."""
        return f"postgresql://{_USER}@/{database}?host={quote(str(self._sockets))}"

    @contextmanager
    def database(self) -> Iterator[str]:
        """The address of an empty database, dropped afterwards whoever is connected."""
        name = f"test_{next(self._numbers)}"
        self._run(f"CREATE DATABASE {name}")
        try:
            yield self.url(name)
        finally:
            self._run(f"DROP DATABASE {name} WITH (FORCE)")

    def _run(self, statement: str) -> None:
        with connect(self.url("postgres")) as connection:
            connection.autocommit = True
            connection.execute(statement)


def connect(url: str) -> Any:
    """A plain connection."""
    # Loaded here, through the function that loads by name: psycopg comes with an extra.
    return __import__("psycopg").connect(url)


@contextmanager
def running_server(programs: Path) -> Iterator[PostgresServer]:
    """Start a server, wait until it answers, and end it afterwards."""
    # Sockets have short paths.
    root = Path(tempfile.mkdtemp(prefix="adjudge-pg-", dir="/tmp"))
    rights: dict[str, Any] = {}
    try:
        if os.geteuid() == 0:
            account = _account()
            os.chown(root, account.pw_uid, account.pw_gid)
            rights = {"user": account.pw_uid, "group": account.pw_gid, "extra_groups": []}
        data = root / "data"
        initdb = [
            str(programs / "initdb"), "-D", str(data), "-U", _USER, "-A", "trust", "-E", "UTF8",
            "--locale=C", "--no-sync", "--no-instructions",
        ]  # fmt: skip
        made = subprocess.run(initdb, cwd=root, capture_output=True, text=True, check=False, **rights)
        if made.returncode != 0:
            raise RuntimeError(f"initdb failed: {made.stderr.strip()}")
        argv = [
            str(programs / "postgres"), "-D", str(data), "-k", str(root), "-c", "listen_addresses=",
            "-c", "shared_buffers=16MB", "-c", "max_connections=60",
        ]  # fmt: skip
        with (root / "log").open("wb") as log:
            server = subprocess.Popen(
                argv, cwd=root, stdout=log, stderr=log, preexec_fn=_end_with_us, **rights
            )
        try:
            _wait_until_ready(server, PostgresServer(root).url("postgres"), root / "log")
            yield PostgresServer(root)
        finally:
            # Fast shutdown: whoever is still connected is sent away.
            server.send_signal(signal.SIGINT)
            server.wait()
    finally:
        shutil.rmtree(root, ignore_errors=True)


def _account() -> pwd.struct_passwd:
    try:
        return pwd.getpwnam("postgres")
    except KeyError:
        return pwd.getpwnam("nobody")


def _end_with_us() -> None:
    """Runs in the new process: a test run that is killed leaves no server behind."""
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGINT)


def _wait_until_ready(server: subprocess.Popen[bytes], url: str, log: Path) -> None:
    deadline = time.monotonic() + _READY_S
    while True:
        if server.poll() is not None:
            raise RuntimeError(f"the server ended: {log.read_text(errors='replace')[-2000:]}")
        try:
            connect(url).close()
        except Exception as error:
            if time.monotonic() > deadline:
                raise RuntimeError(f"the server does not answer: {error}") from error
            time.sleep(0.05)
        else:
            return
