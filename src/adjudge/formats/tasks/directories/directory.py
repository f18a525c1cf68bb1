"""A task directory to a `Scenario`: its `task.toml`, its instruction, and what lies around them.

The recipe is one `verifier`. What a version without containers cannot run is loaded all the same, and says
why it cannot be graded: in `adjudge validate`, and in the row of every grading.
"""

from __future__ import annotations

import json
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Any, Protocol, TypeVar

from pydantic import BaseModel, ValidationError

from adjudge.errors import Problem
from adjudge.formats.tasks.directories.dockerfile import Dockerfile, parse_dockerfile
from adjudge.formats.tasks.directories.expected import wanted_output
from adjudge.formats.tasks.directories.sections import KNOWN, Extras, TaskFile
from adjudge.formats.tasks.directories.tomlplaces import find_line
from adjudge.formats.tasks.messages import explain, unknown_key
from adjudge.formats.tasks.recipe import load_scorer
from adjudge.formats.tasks.scenario import ParsedScenario
from adjudge.formats.verifierscripts import network_words, system_installs
from adjudge.records.score import Recipe, ScorerSpec
from adjudge.records.task import (
    PlacedFile,
    RunLimits,
    SandboxSettings,
    Scenario,
    SourceKind,
    WorkspaceSource,
)

__all__ = ["TASK_FILE", "TaskFolder", "parse_task_directory"]

TASK_FILE = "task.toml"
_SCRIPTS = ("tests/test.sh", "tests/verify.py")
_SOLUTION = "solution/solve.sh"
_COMPOSE = ("docker-compose.yaml", "docker-compose.yml", "singularity-compose.yaml")
_BUILD_FILES = frozenset({"Dockerfile", ".dockerignore", *_COMPOSE})
_CONTAINER = "needs the container backend"

Table = TypeVar("Table", bound=BaseModel)


class TaskFolder(Protocol):
    """The folder of a task, as far as reading it needs."""

    def __call__(self, path: str) -> None:
        """Note that grading needs a file or folder. `ValueError` when it cannot be used."""

    def text(self, path: str) -> str:
        """The content of a text file. `ValueError` when it cannot be read."""

    def is_file(self, path: str) -> bool:
        """Whether there is such a file."""

    def is_folder(self, path: str) -> bool:
        """Whether there is such a folder."""

    def names(self, path: str) -> Sequence[str]:
        """What lies in a folder, sorted; nothing when there is none."""


@dataclass
class _Reading:
    """One task on its way in."""

    file: str
    text: str
    folder: TaskFolder
    problems: list[Problem]
    warnings: list[Problem]

    def problem(self, path: Sequence[str], message: str) -> None:
        self.problems.append(self._at(path, message))

    def warn(self, path: Sequence[str], message: str) -> None:
        self.warnings.append(self._at(path, message))

    def elsewhere(self, name: str, message: str) -> None:
        """A problem with another file of the task."""
        self.problems.append(Problem(self._beside(name), 1, 1, "", message))

    def _beside(self, name: str) -> str:
        return f"{self.file.removesuffix(TASK_FILE)}{name}"

    def _at(self, path: Sequence[str], message: str) -> Problem:
        return Problem(self.file, find_line(self.text, path), 1, ".".join(path), message)


def parse_task_directory(data: bytes, *, file: str, default_name: str, folder: TaskFolder) -> ParsedScenario:
    """Read a task.

    Args:
        data: The bytes of its `task.toml`.
        file: What to call that in messages.
        default_name: The task's name when it does not say one.
        folder: Answers for everything else.
    """
    reading = _Reading(file, data.decode("utf-8", "replace"), folder, [], [])
    scenario = None
    document = _load(data, reading)
    if document is not None:
        scenario = _scenario(document, default_name, reading)
    if reading.problems:
        scenario = None
    return ParsedScenario(scenario, tuple(reading.problems), tuple(reading.warnings))


def _load(data: bytes, reading: _Reading) -> dict[str, Any] | None:
    try:
        return tomllib.loads(data.decode("utf-8"))
    except UnicodeDecodeError as error:
        reading.problem((), f"not UTF-8 at byte {error.start}")
    except tomllib.TOMLDecodeError as error:
        said, _, where = str(error).partition(" (at ")
        line = where.removeprefix("line ").partition(",")[0]
        at = int(line) if line.isdigit() else 1
        reading.problems.append(Problem(reading.file, at, 1, "", f"not TOML: {said}"))
    except (RecursionError, ValueError) as error:
        reading.problem((), f"not TOML: {error}")
    return None


def _scenario(document: dict[str, Any], default_name: str, reading: _Reading) -> Scenario | None:
    _warn_unknown(document, reading)
    written = _check(TaskFile, document, (), reading)
    extras = _extras(document.get("metadata"), reading)
    if written is None or extras is None:
        return None
    docker = _dockerfile(reading)
    workdir = extras.workdir or written.environment.workdir or (docker.workdir if docker else "/workspace")
    workspace = _workspace(docker, reading)
    instruction = _instruction(written, reading)
    spec = _verifier(written, extras, docker, workdir, workspace, instruction, reading)
    env = _plain("environment", {**(docker.env if docker else {}), **written.environment.env}, reading)
    solution_env = _plain("solution", written.solution.env, reading)
    if spec is None or reading.problems:
        return None
    memory = written.environment.memory_mb
    return Scenario(
        name=written.task.name if written.task is not None else default_name,
        instruction=instruction,
        workspace=workspace,
        solution=_solution(reading),
        solution_env=solution_env,
        recipe=Recipe(scorers=(spec,)),
        error_categories=extras.error_categories,
        limits=RunLimits(wall_s=written.agent.timeout_sec),
        sandbox=SandboxSettings(
            env=env,
            memory_bytes=None if memory is None else memory * 1024 * 1024,
            also_at=() if workdir == "/workspace" else (PurePosixPath(workdir),),
        ),
    )


def _plain(table: str, env: Mapping[str, str], reading: _Reading) -> dict[str, str]:
    """The variables that are no templates; the others get a warning."""
    for name, value in env.items():
        if "${" in value:
            reading.warn((table, "env", name), "is not set here: only the verifier's templates are filled in")
    return {name: value for name, value in env.items() if "${" not in value}


def _solution(reading: _Reading) -> str | None:
    """The reference solution, kept with all that lies beside it."""
    if not reading.folder.is_file(_SOLUTION):
        return None
    reading.folder(_SOLUTION.rpartition("/")[0])
    return _SOLUTION


def _warn_unknown(document: Mapping[str, Any], reading: _Reading) -> None:
    for table, known in KNOWN.items():
        written = document if not table else document.get(table)
        if not isinstance(written, dict):
            continue
        for key in [key for key in written if key not in known][:20]:
            reading.warn((*([table] if table else []), key), unknown_key(key, sorted(known)))


def _check(
    model: type[Table], value: Mapping[str, Any], where: tuple[str, ...], reading: _Reading
) -> Table | None:
    try:
        return model.model_validate_json(json.dumps(value, default=str), strict=True)
    except ValidationError as error:
        for found in error.errors(include_url=False)[:20]:
            reading.problem((*where, *map(str, found["loc"])), explain(found))
    except ValueError as error:
        reading.problem(where, str(error))
    return None


def _extras(metadata: Any, reading: _Reading) -> Extras | None:
    if metadata is None:
        return Extras()
    if not isinstance(metadata, dict):
        return None
    own = metadata.get("adjudge", {})
    if not isinstance(own, dict):
        reading.problem(("metadata", "adjudge"), "a table expected")
        return None
    for key in own:
        if key not in Extras.model_fields:
            reading.problem(("metadata", "adjudge", key), unknown_key(key, sorted(Extras.model_fields)))
    # Outside our own table these names may be anybody's, so only the one that everybody means is read.
    shared = {key: metadata[key] for key in ("expected_output_path",) if key in metadata}
    merged = {**shared, **{key: value for key, value in own.items() if key in Extras.model_fields}}
    return _check(Extras, merged, ("metadata", "adjudge"), reading)


def _dockerfile(reading: _Reading) -> Dockerfile | None:
    path = "environment/Dockerfile"
    if not reading.folder.is_file(path):
        return None
    try:
        return parse_dockerfile(reading.folder.text(path))
    except ValueError as error:
        reading.elsewhere(path, str(error))
        return None


def _workspace(docker: Dockerfile | None, reading: _Reading) -> WorkspaceSource:
    folder = reading.folder
    if docker is not None:
        return _copied(docker, reading)
    for path in ("environment/workspace", "environment"):
        if folder.is_folder(path) and set(folder.names(path)) - _BUILD_FILES:
            return WorkspaceSource(source=SourceKind.DIRECTORY, path=path)
    return WorkspaceSource(source=SourceKind.EMPTY)


def _copied(docker: Dockerfile, reading: _Reading) -> WorkspaceSource:
    """What the `COPY` lines of a Dockerfile put into the workspace."""
    placed: list[PlacedFile] = []
    for copied in docker.copies:
        src = "environment" if copied.source == "." else f"environment/{copied.source}"
        dest = copied.dest
        if reading.folder.is_file(src):
            if copied.into:
                dest = src.rpartition("/")[2] if dest == "." else f"{dest}/{src.rpartition('/')[2]}"
        elif not reading.folder.is_folder(src):
            reading.elsewhere("environment/Dockerfile", f"copies {copied.source!r}, which does not exist")
            continue
        placed.append(PlacedFile(src=src, dest=dest))
    if not placed:
        return WorkspaceSource(source=SourceKind.EMPTY)
    if len(placed) == 1 and placed[0].dest == ".":
        return WorkspaceSource(source=SourceKind.DIRECTORY, path=placed[0].src)
    return WorkspaceSource(source=SourceKind.FILES, files=tuple(placed))


def _instruction(written: TaskFile, reading: _Reading) -> str:
    names = ["instruction.md"]
    if written.steps and not reading.folder.is_file(names[0]):
        names = [f"steps/{step.get('name')}/instruction.md" for step in written.steps]
    texts = []
    for name in names:
        try:
            texts.append(reading.folder.text(name))
        except ValueError as error:
            reading.elsewhere(name, str(error))
    return "\n\n".join(texts)


def _verifier(
    written: TaskFile,
    extras: Extras,
    docker: Dockerfile | None,
    workdir: str,
    workspace: WorkspaceSource,
    instruction: str,
    reading: _Reading,
) -> ScorerSpec | None:
    script = next((path for path in _SCRIPTS if reading.folder.is_file(path)), None)
    if script is None:
        if not written.steps:
            reading.elsewhere(
                "tests/test.sh", "does not exist; a task needs tests/test.sh or tests/verify.py"
            )
            return None
        script = next(iter(_step_scripts(written, reading)), None)
        if script is None:
            reading.elsewhere("tests/test.sh", "does not exist, neither here nor in a step")
            return None
    verifier = written.verifier
    network = _asks_for_network(written, reading)
    unsupported = _unsupported(written, extras, docker, script, reading)
    downloads = network_words(_text_of(script, reading))
    if downloads and not network and unsupported is None:
        message = f"does not ask for the network, which {script} seems to need ({downloads[0]})"
        reading.warn(("verifier", "network_mode"), message)
    fields: dict[str, Any] = {
        "script": script,
        "tests": script.rpartition("/")[0],
        "output": extras.expected_output_path or _inferred(instruction, workdir, workspace, reading),
        "output_format": extras.output_format,
        "output_schema": extras.output_schema,
        "workdir": workdir,
        "env": dict(verifier.env),
        "network": network,
        "timeout_s": verifier.timeout_sec,
        "pass_threshold": extras.pass_threshold,
        "max_reward": extras.max_reward,
        "categories": list(extras.error_categories),
        "unsupported": unsupported,
    }
    if verifier.user not in (None, "agent", 1000):
        reading.warn(("verifier", "user"), "has no effect: the verifier never has rights of its own")
    given = {key: value for key, value in fields.items() if value is not None}
    return _spec(given, reading)


_WRITTEN_AS = {
    "output": ("metadata", "expected_output_path"),
    "output_schema": ("metadata", "adjudge", "output_schema"),
    "workdir": ("environment", "workdir"),
    "env": ("verifier", "env"),
    "timeout_s": ("verifier", "timeout_sec"),
}
"""Where a field of the scorer stands in a `task.toml`."""


def _spec(fields: Mapping[str, Any], reading: _Reading) -> ScorerSpec | None:
    scorer = load_scorer("verifier")
    try:
        config = scorer.Config.model_validate_json(
            json.dumps(fields), strict=True, context={"scenario_file": reading.folder}
        )
    except ValidationError as error:
        for found in error.errors(include_url=False):
            said = explain(found)
            # What concerns several fields starts with the name of the one to look at.
            name = str(found["loc"][0]) if found["loc"] else said.partition(":")[0]
            reading.problem(_WRITTEN_AS.get(name, ("metadata", "adjudge")), said)
        return None
    return ScorerSpec(
        name="verifier", type="verifier", required=True, counted=True, config=config.model_dump(mode="json")
    )


def _inferred(instruction: str, workdir: str, workspace: WorkspaceSource, reading: _Reading) -> str | None:
    """The one file below the workspace that the instruction names and the workspace does not have."""
    tops = (workdir, "/workspace")

    def is_seeded(path: str) -> bool:
        inside = next(path[len(top) + 1 :] for top in tops if path.startswith(f"{top}/"))
        places = [(workspace.path, ".")] if workspace.path else [(f.src, f.dest) for f in workspace.files]
        for src, dest in places:
            if dest == inside or dest == ".":
                found = src if dest == inside else f"{src}/{inside}"
            elif inside.startswith(f"{dest}/"):
                found = f"{src}/{inside[len(dest) + 1 :]}"
            else:
                continue
            if reading.folder.is_file(found) or reading.folder.is_folder(found):
                return True
        return False

    wanted = wanted_output(instruction, tops, is_seeded)
    if len(wanted) > 1:
        reading.warn(
            ("metadata",),
            f"the instruction names {', '.join(wanted[:4])}: say with expected_output_path which one is "
            "graded, or nothing is known about its validity",
        )
    return wanted[0] if len(wanted) == 1 else None


def _asks_for_network(written: TaskFile, reading: _Reading) -> bool:
    mode = written.verifier.network_mode or written.environment.network_mode
    if mode is None and written.environment.allow_internet is not None:
        mode = "public" if written.environment.allow_internet else "no-network"
    if mode == "allowlist":
        where = "verifier" if written.verifier.network_mode else "environment"
        reading.warn(
            (where, "network_mode"), "the verifier runs without network: no list of hosts is kept here"
        )
    return mode == "public"


def _step_scripts(written: TaskFile, reading: _Reading) -> list[str]:
    places = [f"steps/{step.get('name')}/{script}" for step in written.steps for script in _SCRIPTS]
    return [place for place in places if reading.folder.is_file(place)]


def _text_of(script: str, reading: _Reading) -> str:
    try:
        return reading.folder.text(script)
    except ValueError:
        return ""


def _unsupported(
    written: TaskFile, extras: Extras, docker: Dockerfile | None, script: str, reading: _Reading
) -> str | None:
    """Why no sandbox of this version can run the verifier."""
    folder = reading.folder
    if written.steps:
        return f"tasks of several steps are not graded, and it has {len(written.steps)}"
    if written.environment.os != "linux":
        return f"it is made for {written.environment.os}"
    if extras.on_host:
        return None
    image = ""
    if written.environment.docker_image:
        image = f"it needs the image {written.environment.docker_image}"
    elif any(folder.is_file(f"environment/{name}") for name in _COMPOSE):
        image = "its environment is made of several containers"
    elif folder.is_file("tests/Dockerfile") or written.verifier.environment is not None:
        image = "its verifier has an image of its own"
    elif written.verifier.collect:
        image = "its verifier collects from running containers"
    elif docker is not None and docker.needs_image:
        image = f"it needs the image of environment/Dockerfile ({docker.needs_image})"
    elif installs := system_installs(_text_of(script, reading)):
        image = f"its tests install packages of the system ({script}, {installs[0]})"
    return f"{image}, so it {_CONTAINER}" if image else None
