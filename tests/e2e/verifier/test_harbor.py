"""Harbor's own loader takes the example tasks, and its own model takes the rewards that are written here.

Harbor needs Python 3.12 and an environment of its own. All of its dependencies take minutes to install; the
few that its models of tasks import take seconds. Where that is not possible, the reason is printed.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from adjudge.formats.reward import Artifact, parse_reward, render_reward

pytestmark = pytest.mark.anyone

TASKS = sorted((Path(__file__).resolve().parents[3] / "examples" / "tasks").glob("*/task.toml"))
IMPORTED = ("pydantic", "toml", "pathspec", "shortuuid")
INSTALL_S = 90
SCRIPT = """
import json, pathlib, sys
from harbor.models.task.task import Task
from harbor.models.verifier.result import VerifierResult
order = json.load(sys.stdin)
tasks = [Task(pathlib.Path(path)) for path in order["tasks"]]
json.dump({
    "tasks": [[task.name, task.config.verifier.timeout_sec, task.config.environment.network_mode.value,
               bool(task.instruction), task.paths.test_path.exists(), task.paths.solve_path.exists()]
              for task in tasks],
    "rewards": [VerifierResult(rewards=json.loads(text)).rewards for text in order["rewards"]],
}, sys.stdout)
"""


def find_python() -> str | None:
    """A Python that Harbor can use: this one, one on the PATH, or one of pyenv's."""
    versions = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")) / "versions"
    known = sorted(versions.glob("3.1[2-9]*/bin/python3")) if os.access(versions, os.X_OK) else []
    on_path = [shutil.which(f"python3.{minor}") for minor in (12, 13, 14)]
    return next((python for python in (sys.executable, *on_path, *map(str, known)) if _is_new(python)), None)


def _is_new(python: str | None) -> bool:
    """Asked of the program itself: what is on a PATH may be a shim for nothing."""
    if python is None:
        return False
    ask = "import sys; sys.exit(sys.version_info < (3, 12))"
    try:
        return subprocess.run([python, "-c", ask], capture_output=True, check=False).returncode == 0
    except OSError:
        return False


@pytest.fixture
def harbor(tmp_path: Path) -> str:
    """The Python of an environment in which Harbor's models can be imported."""
    python = find_python()
    if python is None:
        pytest.skip("no Python 3.12 or later for harbor")
    uv = shutil.which("uv", path=os.pathsep.join((str(Path(sys.executable).parent), os.environ["PATH"])))
    if uv is None:
        pytest.skip("no uv to install harbor with")
    place = tmp_path / "environment"
    install = [uv, "pip", "install", "-q", "--python", str(place / "bin" / "python")]
    steps = (
        [uv, "venv", "-q", "--python", python, str(place)],
        [*install, *IMPORTED],
        [*install, "--no-deps", "harbor"],
    )
    try:
        for step in steps:
            subprocess.run(step, check=True, capture_output=True, timeout=INSTALL_S)
    except subprocess.TimeoutExpired:
        pytest.skip(f"harbor cannot be installed within {INSTALL_S} s")
    except subprocess.CalledProcessError as error:
        pytest.skip(f"harbor cannot be installed: {error.stderr.decode(errors='replace').strip()[-300:]}")
    return str(place / "bin" / "python")


def test_harbor_takes_our_tasks_and_rewards(harbor: str) -> None:
    written = [
        render_reward(1.0),
        render_reward(0.30000000000000004),
        render_reward(0.5, rewards={"style": 1.0, "steps": 12}),
    ]
    order = {"tasks": [str(task.parent) for task in TASKS], "rewards": written}
    done = subprocess.run(
        [harbor, "-c", SCRIPT], input=json.dumps(order), capture_output=True, text=True, check=False
    )
    if "ModuleNotFoundError" in done.stderr:
        pytest.skip(f"harbor's models import more than was installed: {done.stderr.strip().splitlines()[-1]}")
    assert done.returncode == 0, done.stderr
    read = json.loads(done.stdout)
    assert read["tasks"] == [
        ["adjudge-examples/clean-readings", 60.0, "no-network", True, True, True],
        ["adjudge-examples/rate-limiter", 120.0, "no-network", True, True, True],
        ["adjudge-examples/voltage-drop", 60.0, "no-network", True, True, True],
    ]
    ours = [dict(parse_reward(Artifact(text.encode())).rewards) for text in written]
    assert read["rewards"] == ours
