"""Who uses the web view, and what they may do there."""

import re
from enum import StrEnum
from typing import Annotated

from pydantic import AfterValidator, AwareDatetime

from adjudge.records.base import Record

__all__ = ["Role", "User"]

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._@+-]{0,63}")


class Role(StrEnum):
    """What somebody may do. Each may do all that those before it may."""

    VIEWER = "viewer"
    """Look at everything."""
    REVIEWER = "reviewer"
    """Annotate evaluations, and save views."""
    EDITOR = "editor"
    """Change scenarios, and try recipes on stored runs."""
    ADMIN = "admin"
    """Everything."""

    def covers(self, needed: "Role") -> bool:
        """Whether this role may do what needs that one."""
        order = list(Role)
        return order.index(self) >= order.index(needed)


def _check_name(name: str) -> str:
    if not _NAME.fullmatch(name):
        raise ValueError("a name has letters, digits and . _ @ + -, at most 64 of them")
    return name


class User(Record):
    """Somebody who has a token."""

    name: Annotated[str, AfterValidator(_check_name)]
    role: Role
    created_at: AwareDatetime
