"""Scenarios: the list of them, and the editor.

The form holds everything that is not saved; the server keeps nothing of it. Each button, and with scripts
each change, sends the whole form and gets it back checked.
"""

from __future__ import annotations

import base64
import binascii
import difflib
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any
from urllib.parse import quote

from fastapi import APIRouter, HTTPException, Request, Response
from fastapi.responses import RedirectResponse
from starlette.concurrency import run_in_threadpool

from adjudge.errors import AdjudgeError, UsageError
from adjudge.formats.tasks.editing import EditedLine, NotEditable, read_lines
from adjudge.records.user import Role
from adjudge.reports.plain import UNSAFE
from adjudge.store.runs import RunDatabase
from adjudge.web.access.identity import identity_of, needs
from adjudge.web.dependencies import Store
from adjudge.web.recipeform import fresh_line, parse_rows, rows_of, types
from adjudge.web.rendering import render
from adjudge.web.scenarios import ScenarioFile, ScenarioList
from adjudge.web.trying import try_on
from adjudge.workflows.editing import (
    Checked,
    OpenedScenario,
    Tried,
    check_text,
    frozen_copies,
    open_scenario,
    runs_to_try,
    save_scenario,
    with_lines,
)

__all__ = ["router"]

router = APIRouter()


@dataclass(frozen=True, slots=True)
class _Draft:
    """What the form holds."""

    opened: OpenedScenario
    made_from: str
    """The digest of the file that the editing began with."""
    base: str
    """The text that the rows were made from."""
    lines: tuple[EditedLine, ...]
    fixed: str

    @property
    def text(self) -> str:
        return self.base if self.fixed else with_lines(self.base, self.lines)

    @property
    def changed(self) -> bool:
        return self.text != self.opened.text


@router.get("/scenarios", dependencies=[needs(Role.VIEWER)])
def list_scenarios(request: Request) -> Response:
    """The scenarios that the view was started with."""
    listed: ScenarioList = request.app.state.scenarios
    rows: list[dict[str, Any]] = []
    for id_, file in listed.files().items():
        try:
            opened = open_scenario(file)
        except UsageError as error:
            place = listed.place(file)
            rows.append({"id": id_, "place": place, "name": file.parent.name, "problem": str(error)})
            continue
        checked = check_text(file, opened.text)
        rows.append(
            {
                "id": id_,
                "place": listed.place(file),
                "name": checked.name or file.parent.name,
                "scorers": len(opened.lines),
                "problem": checked.problems[0].message if checked.problems else "",
            }
        )
    return render(request, "scenarios.html", rows=sorted(rows, key=lambda row: row["place"]))


@router.get("/scenarios/{scenario}", dependencies=[needs(Role.VIEWER)])
def edit(request: Request, scenario: str, file: ScenarioFile, store: Store) -> Response:
    """The editor, with what the file says."""
    opened = open_scenario(file)
    lines = tuple(EditedLine(line.values, index) for index, line in enumerate(opened.lines))
    draft = _Draft(opened, opened.digest, opened.text, lines, _why_fixed(opened))
    return _page(request, scenario, draft, store)


@router.post("/scenarios/{scenario}", dependencies=[needs(Role.EDITOR)])
async def change(request: Request, scenario: str, file: ScenarioFile, store: Store) -> Response:
    """Check, try or save what the form holds; which of them, its button says."""
    form = [(name, value) for name, value in (await request.form()).multi_items() if isinstance(value, str)]
    return await run_in_threadpool(_change, request, scenario, file, store, form)


def _change(
    request: Request, scenario: str, file: Path, store: RunDatabase, form: list[tuple[str, str]]
) -> Response:
    said = dict(form)
    what, _, argument = said.get("do", "check").partition(":")
    draft = _draft_of(file, form, said)
    problem = ""
    tried: Tried | None = None
    try:
        if what in ("up", "down", "remove"):
            draft = _moved(draft, what, argument)
        elif what == "add":
            draft = replace(draft, lines=(*draft.lines, fresh_line(said.get("new", ""))))
        elif what == "save":
            save_scenario(file, draft.text, made_from=draft.made_from)
            return RedirectResponse(f"/scenarios/{quote(scenario)}?saved=1", 303)
        elif what == "try":
            tried = try_on(store, said.get("run", ""), file, draft.text)
    except AdjudgeError as error:
        problem = str(error)
    chosen = said.get("run", "")
    return _page(request, scenario, draft, store, problem=problem, tried=tried, chosen=chosen)


def _draft_of(file: Path, form: list[tuple[str, str]], said: dict[str, str]) -> _Draft:
    opened = open_scenario(file)
    try:
        base = base64.b64decode(said.get("base", ""), validate=True).decode("utf-8", "surrogatepass")
    except (binascii.Error, UnicodeDecodeError):
        raise HTTPException(400, "the form is incomplete; reload the page") from None
    made_from = said.get("made_from", "")
    typed = said.get("text")
    if typed is not None:
        typed = typed.replace("\r\n", "\n")
    if typed is not None and typed.rstrip("\n") != base.rstrip("\n"):
        # Somebody changed the text itself: its lines are the rows now.
        base = typed if typed.endswith("\n") else f"{typed}\n"
        try:
            _, read = read_lines(base)
        except NotEditable as error:
            return _Draft(opened, made_from, base, (), str(error))
        lines = tuple(EditedLine(line.values, at) for at, line in enumerate(read))
        return _Draft(opened, made_from, base, lines, "")
    try:
        dialect, written = read_lines(base)
    except NotEditable as error:
        return _Draft(opened, made_from, base, (), str(error))
    return _Draft(opened, made_from, base, tuple(parse_rows(form, written, dialect)), "")


def _moved(draft: _Draft, what: str, argument: str) -> _Draft:
    lines = list(draft.lines)
    at = int(argument) if argument.isdecimal() and len(argument) < 5 else len(lines)
    if at >= len(lines):
        return draft
    line = lines.pop(at)
    if what != "remove":
        lines.insert(max(0, at - 1) if what == "up" else at + 1, line)
    return replace(draft, lines=tuple(lines))


def _why_fixed(opened: OpenedScenario) -> str:
    return opened.fixed or ("its lines end in CR LF" if "\r" in opened.text else "")


def _page(
    request: Request,
    scenario: str,
    draft: _Draft,
    store: RunDatabase,
    *,
    problem: str = "",
    tried: Tried | None = None,
    chosen: str = "",
) -> Response:
    identity = identity_of(request)
    try:
        text = draft.text
    except UsageError as error:
        text, problem = draft.base, problem or str(error)
    checked = check_text(draft.opened.file, text)
    name = checked.name or check_text(draft.opened.file, draft.opened.text).name
    dialect = _dialect(draft.base)
    listed: ScenarioList = request.app.state.scenarios
    saved = request.query_params.get("saved") == "1" and request.method == "GET"
    context: dict[str, Any] = {
        "scenario": scenario,
        "place": listed.place(draft.opened.file),
        "name": name or draft.opened.file.parent.name,
        "rows": rows_of(draft.lines, dialect),
        "types": types(),
        "dialect": dialect,
        "fixed": draft.fixed,
        "base": base64.b64encode(draft.base.encode("utf-8", "surrogatepass")).decode(),
        "made_from": draft.made_from,
        "text": text,
        "typable": UNSAFE.search(text.replace("\n", "").replace("\t", "")) is None,
        "changed_rows": _changed_rows(draft.opened.text, text),
        "changed": text != draft.opened.text,
        "checked": checked,
        "problems_of": _by_row(checked),
        "editable": identity is not None and identity.user.role.covers(Role.EDITOR),
        "note": "Saved." if saved else "",
        "problem": problem,
        "tried": tried,
        "chosen": chosen,
        "runs": runs_to_try(store, name) if name else [],
        "copies": frozen_copies(store, name, checked.scorers) if name else [],
    }
    return render(request, "scenario.html", **context)


def _dialect(text: str) -> str:
    try:
        return read_lines(text)[0]
    except NotEditable:
        return "scorers"


def _by_row(checked: Checked) -> dict[int, list[str]]:
    """Problems and warnings by the row they are about."""
    found: dict[int, list[str]] = {}
    for problem in (*checked.problems, *checked.warnings):
        head, bracket, rest = problem.where.partition("[")
        index = rest.partition("]")[0]
        if head in ("scorers", "graders") and bracket and index.isdecimal():
            field = rest.partition("]")[2].lstrip(".")
            found.setdefault(int(index), []).append(
                f"{field}: {problem.message}" if field else problem.message
            )
    return found


def _changed_rows(old: str, new: str) -> set[int]:
    """The rows of a text, from 0, that were not there before."""
    matcher = difflib.SequenceMatcher(a=old.splitlines(), b=new.splitlines(), autojunk=False)
    return {
        row for tag, _, _, start, end in matcher.get_opcodes() if tag != "equal" for row in range(start, end)
    }
