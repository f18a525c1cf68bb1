"""Who may use the web view: add them, list them, give them another token, remove them."""

from __future__ import annotations

from adjudge.records.user import Role, User
from adjudge.store.users import UserTable
from adjudge.workflows.stores import opened

__all__ = ["add_user", "list_users", "remove_user", "renew_token"]


def add_user(name: str, role: Role) -> str:
    """Add somebody; returns their token, which is not kept and cannot be shown again."""
    with opened(create=True) as store:
        return UserTable(store.database).add(name, role)


def list_users() -> list[User]:
    """Everybody, by name."""
    with opened() as store:
        return UserTable(store.database).all()


def renew_token(name: str) -> str:
    """Another token for somebody; the old one and their sessions end."""
    with opened() as store:
        return UserTable(store.database).renew(name)


def remove_user(name: str) -> None:
    """Remove somebody, and end their sessions."""
    with opened() as store:
        UserTable(store.database).remove(name)
