"""What is known about the stability of a task's tests, kept where no agent can reach.

    stability/<task digest>.json    a `StabilityRecord`

Measurements are added, never replaced: a test that failed one time in twenty stays unstable when the next
five runs happen to agree. Each stands for itself, so that a machine which lacks a package and one that has it
do not make every test look unstable together. Whoever mends a test changes the task, and its digest.
"""

from __future__ import annotations

import fcntl
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from pydantic import ValidationError

from adjudge.errors import StoreError, boundary
from adjudge.records.stability import StabilityMeasurement, StabilityRecord

__all__ = ["Measured", "find_stability", "keep_stability"]


class Measured(NamedTuple):
    """A measurement that was kept."""

    measurement: StabilityMeasurement
    record: StabilityRecord
    """This measurement and all earlier ones of the task."""
    file: Path
    """Where the record lies."""


def find_stability(task_digest: str, state_dir: Path) -> StabilityRecord | None:
    """What was measured for a task; None when nothing was.

    Raises:
        StoreError: There is a record, but it cannot be used.
    """
    file = _file_of(task_digest, state_dir)
    try:
        record = StabilityRecord.model_validate_json(file.read_bytes())
    except FileNotFoundError:
        return None
    except OSError as error:
        raise StoreError(f"{file} cannot be read: {error.strerror}") from error
    except ValidationError as error:
        raise StoreError(f"{file} is damaged", hint="remove it and measure again") from error
    if record.task_digest != task_digest:
        raise StoreError(f"{file} is of another task", hint="remove it and measure again")
    return record


def keep_stability(task_digest: str, measurement: StabilityMeasurement, state_dir: Path) -> Measured:
    """Add a measurement to what is known of a task."""
    file = _file_of(task_digest, state_dir)
    with boundary(StoreError, f"{file} cannot be written"):
        file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        with _locked(file.parent):
            before = find_stability(task_digest, state_dir)
            earlier = () if before is None else before.measurements
            record = StabilityRecord(task_digest=task_digest, measurements=(*earlier, measurement))
            descriptor, scratch = tempfile.mkstemp(prefix=".", dir=file.parent)
            try:
                with os.fdopen(descriptor, "w", encoding="utf-8") as stream:
                    stream.write(record.model_dump_json(indent=1) + "\n")
                os.replace(scratch, file)
            except BaseException:
                os.unlink(scratch)
                raise
    return Measured(measurement, record, file)


def _file_of(task_digest: str, state_dir: Path) -> Path:
    return state_dir / "stability" / f"{task_digest.removeprefix('sha256:')}.json"


@contextmanager
def _locked(folder: Path) -> Iterator[None]:
    """Two commands that measure at once both add to the record."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)
