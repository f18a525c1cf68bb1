"""Annotating an evaluation document in a file of its own, as `adjudge grade --json --output` writes it.

A document is read, added to and replaced under a lock on the file itself, so writers wait for each other and
readers see one version or the next. The lock goes with its holder, whatever ends it.
"""

from __future__ import annotations

import fcntl
import os
import stat
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from pydantic import ValidationError

from adjudge.errors import ConfigInvalid, StoreError, boundary
from adjudge.records.annotation import Annotation
from adjudge.records.evaluation import Evaluation
from adjudge.stats.reviews import with_reviews

__all__ = ["annotate_document", "read_document"]

_MAX_BYTES = 256 * 1024 * 1024


def annotate_document(file: Path, annotation: Annotation) -> Evaluation:
    """Add a person's verdict to a document, and return what it says now. Nothing else in it is taken away.

    Raises:
        ConfigInvalid: It is not an evaluation document.
        StoreError: It cannot be written.
    """
    place = Path(os.path.realpath(file))
    with _locked(place) as descriptor:
        evaluation = with_reviews(_parse(_read(descriptor), file), annotation)
        with boundary(StoreError, f"{file} cannot be written"):
            _replace(place, f"{evaluation.to_json()}\n", os.fstat(descriptor))
    return evaluation


def read_document(file: Path) -> Evaluation:
    """An evaluation document.

    Raises:
        ConfigInvalid: It is not one.
    """
    try:
        return with_reviews(_parse(file.read_bytes(), file))
    except OSError as error:
        raise ConfigInvalid(f"{file}: {error.strerror}") from None


def _parse(data: bytes, file: Path) -> Evaluation:
    try:
        return Evaluation.model_validate_json(data)
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(map(str, first["loc"])) or "the whole"
        raise ConfigInvalid(
            f"{file} is not an evaluation document: {where}: {first['msg']}",
            hint="`adjudge grade --json --output FILE` writes one",
        ) from None


def _read(descriptor: int) -> bytes:
    with os.fdopen(os.dup(descriptor), "rb") as stream:
        return stream.read(_MAX_BYTES)


@contextmanager
def _locked(file: Path) -> Iterator[int]:
    """The file, opened and locked, once it is certain that nobody replaced it on the way."""
    while True:
        try:
            descriptor = os.open(file, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        except OSError as error:
            raise ConfigInvalid(f"{file}: {error.strerror}") from None
        try:
            if not stat.S_ISREG(os.fstat(descriptor).st_mode):
                raise ConfigInvalid(f"{file} is not a file")
            fcntl.flock(descriptor, fcntl.LOCK_EX)
            with suppress(FileNotFoundError):
                if os.path.samestat(os.fstat(descriptor), os.stat(file)):
                    yield descriptor
                    return
        finally:
            os.close(descriptor)


def _replace(file: Path, text: str, before: os.stat_result) -> None:
    descriptor, scratch = tempfile.mkstemp(prefix=f".{file.name[:100]}.", dir=file.parent)
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8") as stream:
            stream.write(text)
            stream.flush()
            os.fchmod(stream.fileno(), stat.S_IMODE(before.st_mode))
            os.fsync(stream.fileno())
        os.replace(scratch, file)
    except BaseException:
        os.unlink(scratch)
        raise
