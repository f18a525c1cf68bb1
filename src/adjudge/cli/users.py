"""`adjudge users`: who may use the web view."""

from __future__ import annotations

import json
import sys

import click

from adjudge.cli.console import note
from adjudge.records.user import Role
from adjudge.workflows.users import add_user, list_users, remove_user, renew_token

__all__ = ["users"]

_ROLES = click.Choice([role.value for role in Role])


@click.group()
def users() -> None:
    """Say who may use the web view, and how much of it.

    As soon as there is anybody, everybody needs a token. Viewers look; reviewers annotate; editors change
    scenarios; admins may do everything.
    """


@users.command()
@click.argument("name")
@click.option("--role", type=_ROLES, default=Role.VIEWER.value, show_default=True, help="What they may do.")
def add(name: str, role: str) -> None:
    """Add NAME, and print their token. It is shown this once: only its digest is kept."""
    print(add_user(name, Role(role)))
    note(f"{name} signs in with this token; it cannot be shown again")


@users.command("list")
@click.option("--json", "as_json", is_flag=True, help="Write them as a JSON document.")
def list_(as_json: bool) -> None:
    """List everybody."""
    found = list_users()
    if as_json:
        rows = [user.model_dump(mode="json") for user in found]
        sys.stdout.write(json.dumps({"users": rows}, indent=2) + "\n")
        return
    for user in found:
        print(f"{user.role.value:<9} {user.created_at:%Y-%m-%d}  {user.name}")
    if not found:
        note("no users")


@users.command()
@click.argument("name")
def token(name: str) -> None:
    """Print a new token for NAME. The old one and what was signed in with it end."""
    print(renew_token(name))
    note(f"{name} signs in with this token; it cannot be shown again")


@users.command()
@click.argument("name")
def remove(name: str) -> None:
    """Remove NAME, and sign them out everywhere."""
    remove_user(name)
