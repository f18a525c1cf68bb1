"""Score a rubric from files, and write what a verifier is to leave behind."""

from __future__ import annotations

import json
import os
import tempfile
from contextlib import suppress
from pathlib import Path

from adjudge.errors import ConfigInvalid
from adjudge.formats.rubrics import parse_rubric, parse_scores
from adjudge.rollup.rubric import Criterion, Rubric, RubricScore

__all__ = ["score_rubric", "write_artifacts"]

_REWARD = "reward.json"
_DETAILS = "details.json"
_MAX_BYTES = 2 * 1024 * 1024


def score_rubric(rubric: Path, scores: Path) -> RubricScore:
    """Read both files and roll the scores up.

    Raises:
        UsageError: One of them cannot be used, or they do not fit each other.
    """
    written = parse_rubric(_read(rubric), file=str(rubric))
    given = parse_scores(_read(scores), file=str(scores), rubric=written)
    criteria = [
        Criterion(name, weight=dimension.weight, max_score=dimension.max_score)
        for name, dimension in written.dimensions.items()
    ]
    try:
        return Rubric(criteria, written.strategy).score(given)
    except ValueError as error:
        raise ConfigInvalid(f"{scores}: {error}") from None


def write_artifacts(folder: Path, scored: RubricScore) -> None:
    """Write `reward.json` and `details.json` into a folder, so that no reader takes one without the other.

    Both are complete on disk before either has its name. An older reward goes first and the new one comes
    last: whoever is interrupted on the way leaves no reward, never one beside other details.

    Raises:
        ConfigInvalid: The folder cannot be written.
    """
    texts = {_DETAILS: scored.details(), _REWARD: {"reward": scored.reward}}
    scratch: dict[str, str] = {}
    try:
        for name, value in texts.items():
            descriptor, scratch[name] = tempfile.mkstemp(prefix=f".{name}.", dir=folder)
            with os.fdopen(descriptor, "w", encoding="utf-8") as stream:
                json.dump(value, stream, indent=2, allow_nan=False)
                stream.write("\n")
                stream.flush()
                os.fchmod(stream.fileno(), 0o644)
                os.fsync(stream.fileno())
        for name in texts:
            # Found out now, while nothing was touched.
            if os.path.isdir(folder / name) and not os.path.islink(folder / name):
                raise IsADirectoryError(0, "a folder is in its place", str(folder / name))
        with suppress(FileNotFoundError):
            os.unlink(folder / _REWARD)
        for name in texts:
            os.replace(scratch[name], folder / name)
            del scratch[name]
    except OSError as error:
        raise ConfigInvalid(f"--write {folder}: {error.strerror}") from error
    finally:
        for left in scratch.values():
            with suppress(OSError):
                os.unlink(left)


def _read(file: Path) -> bytes:
    try:
        with file.open("rb") as stream:
            return stream.read(_MAX_BYTES)
    except OSError as error:
        raise ConfigInvalid(f"{file}: {error.strerror}") from None
