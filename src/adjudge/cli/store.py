"""`adjudge store`: check, clear up, move and take over what is kept."""

from __future__ import annotations

import json
import re
import sys
from typing import Any

import click

from adjudge.cli.console import note
from adjudge.cli.main import ExitCode
from adjudge.errors import UsageError
from adjudge.reports.plain import plain
from adjudge.store.transfer import Copied
from adjudge.workflows.stores import adopt_folder, check, collect, export_to, import_from

__all__ = ["store"]

_UNITS = {"s": 1, "m": 60, "h": 3600, "d": 86_400}


@click.group()
def store() -> None:
    """Look after what is kept: runs, evaluations and blobs.

    The store is `.adjudge/` of the project, or what ADJUDGE_STORE and ADJUDGE_BLOBS name.
    """


@store.command("check")
@click.option("--json", "as_json", is_flag=True, help="Write what was found as JSON.")
def check_(as_json: bool) -> int:
    """Read everything and compare it with the digests it was kept under.

    Exits with 1 when anything is missing or not as it was.
    """
    found = check(_ticker("blobs read"))
    if as_json:
        _write(found._asdict())
    else:
        print(
            f"{found.experiments} experiments, {found.tasks} tasks, {found.runs} runs, "
            f"{found.evaluations} evaluations, {found.blobs} blobs"
        )
        for problem in found.problems:
            print(f"problem: {plain(problem)}")
        if not found.problems:
            print("everything is there, and as it was kept")
    return ExitCode.FAILED if found.problems else ExitCode.PASSED


@store.command()
@click.option(
    "--older-than",
    default="1d",
    metavar="TIME",
    show_default=True,
    help="Leave alone what was written more recently, such as 30m, 12h or 7d: it may be about to be used.",
)
@click.option("--dry-run", is_flag=True, help="Only say what would be removed.")
@click.option("--json", "as_json", is_flag=True, help="Write what was done as JSON.")
def gc(older_than: str, dry_run: bool, as_json: bool) -> None:
    """Remove blobs that no run and no evaluation refers to. Safe while others write."""
    found = collect(older_than_s=_seconds(older_than), dry_run=dry_run)
    if as_json:
        _write({**found._asdict(), "dry_run": dry_run})
        return
    done = "would be removed" if dry_run else f"removed, {found.freed_bytes} bytes freed"
    print(f"{found.removed} blobs {done}; {found.kept} are needed, {found.young} are too young to tell")


@store.command()
@click.argument("target")
@click.option("--blobs", metavar="PLACE", help="Where blobs go: a folder, or an address such as s3://….")
@click.option("--json", "as_json", is_flag=True, help="Write what was done as JSON.")
def export(target: str, blobs: str | None, as_json: bool) -> int:
    """Add everything to the store TARGET: a folder, or the URL of a PostgreSQL database.

    What TARGET has already is left alone, so an interrupted export is continued by starting it again.
    """
    return _tell(export_to(target, blobs, _ticker("runs")), as_json)


@store.command("import")
@click.argument("source", required=False)
@click.option("--blobs", metavar="PLACE", help="Where blobs of SOURCE are, when not beside it.")
@click.option("--json", "as_json", is_flag=True, help="Write what was done as JSON.")
def import_(source: str | None, blobs: str | None, as_json: bool) -> int:
    """Add everything of the store SOURCE: a folder, or the URL of a PostgreSQL database.

    Left out, it is what older versions kept as folders of documents in the state directory.
    """
    return _tell(import_from(source, blobs, _ticker("runs")), as_json)


@store.command()
@click.argument("folder", required=False)
def adopt(folder: str | None) -> None:
    """Believe the `.adjudge` in FOLDER (the current one), which was moved, copied or restored.

    A store that adjudge did not make for you is never used by itself: an agent may have left it there.
    """
    print(f"adopted {adopt_folder(folder)}")


def _tell(copied: Copied, as_json: bool) -> int:
    if as_json:
        _write(dict(vars(copied)))
    else:
        print(
            f"added {copied.experiments} experiments, {copied.tasks} tasks, {copied.runs} runs, "
            f"{copied.evaluations} evaluations, {copied.annotations} annotations, {copied.blobs} blobs"
        )
        for problem in copied.problems:
            print(f"problem: {plain(problem)}")
    return ExitCode.FAILED if copied.problems else ExitCode.PASSED


def _write(value: Any) -> None:
    print(json.dumps(value, indent=2))


def _ticker(what: str) -> Any:
    """Says now and then how far it is, to a person at a terminal."""
    if not sys.stderr.isatty():
        return lambda done: None
    return lambda done: note(f"{done} {what}") if done % 10_000 == 0 and done else None


def _seconds(text: str) -> float:
    match = re.fullmatch(r"(\d{1,9})([smhd]?)", text.strip())
    if match is None:
        raise UsageError(f"--older-than: {text!r} is not a time", hint="such as 30m, 12h or 7d; 0 for none")
    return float(int(match[1]) * _UNITS[match[2] or "s"])
