"""A view that somebody gave a name to."""

from typing import Annotated

from pydantic import AwareDatetime, StringConstraints

from adjudge.records.base import Record

__all__ = ["SavedView"]


class SavedView(Record):
    """The address of a page, with a name."""

    id: str
    name: Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=80)]
    page: Annotated[str, StringConstraints(pattern=r"^[a-z-]{1,32}$")]
    query: Annotated[str, StringConstraints(pattern=r"^[!-~]*$", max_length=8000)]
    """What stands behind the question mark."""
    owner: str
    created_at: AwareDatetime
