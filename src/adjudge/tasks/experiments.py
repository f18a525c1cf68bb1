"""From a path on the command line to an experiment: tell it from a scenario, read it, validate it."""

from __future__ import annotations

from pathlib import Path

from adjudge.errors import UsageError
from adjudge.formats.experiments.experiment import EXPERIMENT_FILES, parse_experiment
from adjudge.formats.tasks.document import MAX_BYTES
from adjudge.records.experiment import ExperimentPlan
from adjudge.tasks.load import label

__all__ = ["is_experiment", "load_experiment"]


def is_experiment(path: Path) -> bool:
    """Whether a file is an experiment rather than a scenario."""
    if path.name in EXPERIMENT_FILES:
        return path.is_file()
    if path.suffix not in (".yaml", ".yml") or not path.is_file():
        return False
    with path.open("rb") as stream:
        return any(line.startswith(b"matrix:") for line in stream.read(MAX_BYTES).splitlines())


def load_experiment(path: Path) -> ExperimentPlan:
    """Load an experiment file.

    Raises:
        UsageError: It cannot be read.
        ScenarioInvalid: It is not valid; every problem is in it.
    """
    try:
        with path.open("rb") as stream:
            data = stream.read(MAX_BYTES + 1)
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror}") from error
    own = path.name in EXPERIMENT_FILES
    default = label(path.resolve().parent.name if own else path.stem)
    return parse_experiment(data, file=str(path), default_name=default, folder=path.parent).or_raise()
