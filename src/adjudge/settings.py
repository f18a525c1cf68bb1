"""Settings of this machine and of the project one works in, read once per command.

Two places, the environment before the project file:

    ADJUDGE_HOME      where tasks, baselines and results are kept; else $XDG_STATE_HOME/adjudge,
                      else ~/.local/state/adjudge
    ADJUDGE_SANDBOX   the sandbox backend when neither the command line nor the scenario names one
    ADJUDGE_JUDGE     the judge when the command line names none: a YAML file or a model's name
    ADJUDGE_JOBS      how many things may run at once; else the number of usable processors
    ADJUDGE_STORE     where runs and evaluations are kept: a folder, or the URL of a PostgreSQL database;
                      else `.adjudge` of the project one works in
    ADJUDGE_BLOBS     where their large parts are kept: a folder, or an address such as s3://bucket/prefix;
                      else the folder `blobs` of the store, or of `.adjudge` beside a database

`adjudge.toml` in the current folder may set `sandbox` and `jobs`. It may lie in a folder that an agent wrote
to, so it can neither move the state (and with it the trusted baselines) nor switch isolation off.

For the same reason a `.adjudge` is not believed for being there. The project is the nearest folder, from the
current one upwards, whose `.adjudge` was made or adopted by this user, which the state directory remembers;
where there is none, it is the current folder, and a `.adjudge` of somebody else's in it is refused.
"""

from __future__ import annotations

import importlib
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from adjudge.errors import ConfigInvalid

__all__ = ["ANSWERS", "PROJECT_FILE", "Settings", "load_settings"]

PROJECT_FILE = "adjudge.toml"
ANSWERS = "answers"
"""The folder of answers of models, in the state directory."""
_MAX_PROJECT_BYTES = 64 * 1024
_MAX_JOBS = 1024
_UNISOLATED = "process"


@dataclass(frozen=True, slots=True)
class Settings:
    """What holds for a whole command."""

    state_dir: Path
    sandbox: str
    jobs: int
    store: str | None = None
    """What ADJUDGE_STORE says: a folder or a URL. None: `.adjudge` of the project."""
    blobs: str | None = None
    """What ADJUDGE_BLOBS says: a folder or an address. None: beside the store."""
    judge: str | None = None
    """What ADJUDGE_JUDGE says: a YAML file or a model's name. None: no judge unless one is asked for."""
    folder: Path = Path()
    """The current folder."""

    @property
    def stores_dir(self) -> Path:
        """Where it is remembered which `.adjudge` folders are this user's."""
        return self.state_dir / "stores"

    @property
    def answers_dir(self) -> Path:
        """Where answers of models are remembered."""
        return self.state_dir / ANSWERS

    def sandbox_for(self, asked: str | None, scenario: str) -> str:
        """Which sandbox holds: what the command line asks for, else what the scenario names, else ours."""
        if asked:
            return asked
        return scenario if scenario != "auto" else self.sandbox


def load_settings(environment: Mapping[str, str] | None = None, folder: Path | None = None) -> Settings:
    """Read the settings from the environment and the project file of a folder (the current one).

    Raises:
        ConfigInvalid: A setting has a value that cannot be used; the message says where it stands.
    """
    env = os.environ if environment is None else environment
    project = _read_project((folder or Path()) / PROJECT_FILE)
    sandbox = env.get("ADJUDGE_SANDBOX") or project.get("sandbox", "auto")
    if env.get("ADJUDGE_JOBS"):
        jobs = _jobs(env["ADJUDGE_JOBS"], "ADJUDGE_JOBS")
    elif "jobs" in project:
        jobs = _jobs(project["jobs"], f"{PROJECT_FILE}: jobs")
    else:
        jobs = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return Settings(
        state_dir=_state_dir(env),
        sandbox=sandbox,
        jobs=jobs,
        store=env.get("ADJUDGE_STORE") or None,
        blobs=env.get("ADJUDGE_BLOBS") or None,
        judge=env.get("ADJUDGE_JUDGE") or None,
        folder=Path(os.path.abspath(folder or Path())),
    )


def _state_dir(env: Mapping[str, str]) -> Path:
    if home := env.get("ADJUDGE_HOME"):
        return Path(os.path.abspath(home))
    # The XDG specification has relative paths ignored.
    state = env.get("XDG_STATE_HOME", "")
    if os.path.isabs(state):
        return Path(state) / "adjudge"
    home = env.get("HOME", "")
    if not os.path.isabs(home):
        raise ConfigInvalid("there is no place to keep state: HOME is not set", hint="set ADJUDGE_HOME")
    return Path(home) / ".local" / "state" / "adjudge"


def _jobs(value: Any, where: str) -> int:
    if isinstance(value, str) and value.isascii() and value.isdigit():
        value = int(value[:9])
    if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= _MAX_JOBS:
        raise ConfigInvalid(f"{where}: {value!r} is not a whole number from 1 to {_MAX_JOBS}")
    return value


def _read_project(file: Path) -> dict[str, Any]:
    try:
        with file.open("rb") as stream:
            data = stream.read(_MAX_PROJECT_BYTES + 1)
    except FileNotFoundError:
        return {}
    except OSError as error:
        raise ConfigInvalid(f"{file}: cannot be read: {error.strerror}") from error
    if len(data) > _MAX_PROJECT_BYTES:
        raise ConfigInvalid(f"{file}: larger than {_MAX_PROJECT_BYTES // 1024} KiB")
    try:
        # Loaded here: few folders have such a file.
        project: dict[str, Any] = importlib.import_module("tomllib").loads(data.decode("utf-8"))
    except ValueError as error:
        raise ConfigInvalid(f"{file}: not valid TOML: {error}") from error
    for key in project:
        if key not in ("sandbox", "jobs"):
            raise ConfigInvalid(f"{file}: unknown key {key!r}", hint="known: sandbox, jobs")
    sandbox = project.get("sandbox", "auto")
    if not isinstance(sandbox, str) or not sandbox:
        raise ConfigInvalid(f"{file}: sandbox: the name of a sandbox expected")
    if sandbox == _UNISOLATED:
        raise ConfigInvalid(
            f"{file}: a file in a working folder cannot switch isolation off",
            hint="use --sandbox process or ADJUDGE_SANDBOX=process",
        )
    return project
