"""Hidden files: what a recipe adds to the workspace when it is graded, and not before."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated, Any

from pydantic import AfterValidator, Discriminator, Field, Tag

from adjudge.records.base import Record
from adjudge.records.paths import ScenarioFile, check_relative

__all__ = ["Hidden", "HiddenFile", "Inject", "place_hidden"]


def _check_dest(path: str) -> str:
    """A path in the workspace; with a slash at its end, the folder that the file goes into."""
    checked = check_relative(path)
    if checked.split("/")[0] == ".git":
        raise ValueError("nothing can be injected into .git")
    return f"{checked}/" if path.endswith("/") and checked != "." else checked


class HiddenFile(Record):
    """A file or folder of the scenario, and where it goes."""

    src: ScenarioFile
    """A file or folder, relative to the scenario's folder."""
    dest: Annotated[str, AfterValidator(_check_dest)] | None = None
    """Where it goes in the workspace: a path, or with a slash at its end the folder it goes into. The root,
    under its own name, when left out."""


def _kind(value: Any) -> str:
    return "path" if isinstance(value, str) else "mapping"


Hidden = Annotated[
    Annotated[ScenarioFile, Tag("path")] | Annotated[HiddenFile, Tag("mapping")], Discriminator(_kind)
]
"""One hidden file as a recipe writes it: `src`, or `{src, dest}`."""


def place_hidden(hidden: Iterable[str | HiddenFile]) -> tuple[HiddenFile, ...]:
    """Each with its place written out.

    Raises:
        ValueError: Two go to one place.
    """
    placed: dict[str, HiddenFile] = {}
    for one in hidden:
        file = HiddenFile(src=one) if isinstance(one, str) else one
        dest = file.dest or "./"
        if dest.endswith("/"):
            dest = _check_dest(dest + file.src.rpartition("/")[2])
        if dest in placed:
            raise ValueError(f"{placed[dest].src!r} and {file.src!r} are both injected as {dest!r}")
        placed[dest] = HiddenFile(src=file.src, dest=dest)
    return tuple(placed.values())


def _check_places(hidden: tuple[str | HiddenFile, ...]) -> tuple[str | HiddenFile, ...]:
    place_hidden(hidden)
    return hidden


Inject = Annotated[tuple[Hidden, ...], Field(max_length=1000), AfterValidator(_check_places)]
"""The hidden files of a scorer, as a field of its `Config`."""
