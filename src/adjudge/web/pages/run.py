"""The Agent Trace: everything on one run, part by part."""

from __future__ import annotations

import json
from contextlib import AbstractContextManager
from typing import Annotated, Any

from fastapi import APIRouter, HTTPException, Query, Request, Response
from fastapi.responses import RedirectResponse

from adjudge.records.run import Run
from adjudge.records.user import Role
from adjudge.web.access.identity import needs
from adjudge.web.agenttrace.cards import judge_card, reward_card, scorer_row, scorers_card
from adjudge.web.agenttrace.diffs import StoredDiff
from adjudge.web.agenttrace.documents import documents_of
from adjudge.web.agenttrace.fileviews import FILE_ROWS, file_view, file_views, row_of_finding
from adjudge.web.agenttrace.links import PageLinks
from adjudge.web.agenttrace.placing import notes_of
from adjudge.web.agenttrace.reading import RunReader
from adjudge.web.agenttrace.regrades import compare_evaluations
from adjudge.web.agenttrace.showing import shown_run
from adjudge.web.agenttrace.steps import KINDS
from adjudge.web.agenttrace.stepviews import step_view
from adjudge.web.agenttrace.timeline import MAX_QUERY, Timeline, TimelineQuery
from adjudge.web.dependencies import Store, found
from adjudge.web.live import answer_if_changed
from adjudge.web.rendering import render, render_part
from adjudge.workflows.inspecting import SeenRun, inspect_run

__all__ = ["reader_of", "router"]

router = APIRouter()

_FEW_RESPONSE = 4_000
_FEW_DOCUMENT = 20_000
_FILES = 40
"""Files of a diff on a page."""

Evaluated = Annotated[str | None, Query(max_length=64)]
Layout = Annotated[str, Query(max_length=10)]
Number = Annotated[int, Query(ge=0, le=10**9)]


def reader_of(request: Request) -> RunReader:
    """What opens traces and diffs."""
    reader: RunReader = request.app.state.reader
    return reader


class _Page:
    """A part of a run's page on its way to the reader."""

    def __init__(
        self, request: Request, store: Any, run_id: str, evaluation: str | None, *, split: bool = False
    ) -> None:
        self._request = request
        self.seen: SeenRun = found(inspect_run, store, run_id, evaluation)
        self.reader = reader_of(request)
        named = None if self.seen.is_current or self.seen.evaluation is None else self.seen.evaluation.id
        self.links = PageLinks(self.seen.run.id, named, split=split)

    @property
    def run(self) -> Run:
        return self.seen.run

    def context(self, tab: str, **more: Any) -> dict[str, Any]:
        shown = shown_run(self.seen)
        shown.tabs.extend(self._tabs())
        return {"shown": shown, "links": self.links, "tab": tab, **more}

    def render(self, template: str, tab: str, **more: Any) -> Response:
        return render(self._request, template, **self.context(tab, **more))

    def timeline(self) -> AbstractContextManager[Timeline]:
        if not self.reader.has_trace(self.run):
            raise HTTPException(404, f"run {self.run.id} has no trace")
        return self.reader.timeline(self.run)

    def diff(self) -> AbstractContextManager[StoredDiff]:
        if not self.reader.has_diff(self.run):
            raise HTTPException(404, f"run {self.run.id} had no workspace to change")
        return self.reader.diff(self.run)

    def _tabs(self) -> list[tuple[str, str, str]]:
        changes = self.run.attempt.change_set if self.run.attempt is not None else None
        tabs = [("overview", "Overview", self.links.to())]
        if self.reader.has_trace(self.run):
            tabs.append(("timeline", "Timeline", self.links.to("timeline")))
        if changes is not None:
            tabs.append(("diff", f"Diff ({len(changes.work)})", self.links.to("diff")))
        if self.run.attempt is not None:
            tabs.append(("response", "Response", self.links.to("response")))
        tabs.append(
            ("evaluations", f"Evaluations ({len(self.seen.evaluations)})", self.links.to("evaluations"))
        )
        tabs.append(("raw", "Raw", self.links.to("raw")))
        return tabs


@router.get("/runs/{run_id}", dependencies=[needs(Role.VIEWER)])
def show_run(request: Request, store: Store, run_id: str, evaluation: Evaluated = None) -> Response:
    """The cards of a run."""
    page = _Page(request, store, run_id, evaluation)
    seen = page.seen
    response = (seen.run.attempt.response if seen.run.attempt is not None else None) or ""
    context = page.context(
        "overview",
        scorers=None if seen.evaluation is None else scorers_card(seen.evaluation),
        judge=None if seen.evaluation is None else judge_card(seen.evaluation),
        reward=None if seen.evaluation is None else reward_card(seen.evaluation),
        response=response[:_FEW_RESPONSE],
        response_cut=len(response) > _FEW_RESPONSE,
    )
    return answer_if_changed(request, render_part(request, "run/overview.html", **context))


@router.get("/runs/{run_id}/timeline", dependencies=[needs(Role.VIEWER)])
def show_timeline(
    request: Request,
    store: Store,
    run_id: str,
    evaluation: Evaluated = None,
    start: Number = 1,
    kind: Annotated[str, Query(max_length=20)] = "",
    agent: Annotated[str, Query(max_length=600)] = "",
    q: Annotated[str, Query(max_length=MAX_QUERY)] = "",
    part: bool = False,
) -> Response:
    """A page of steps; `part`: without what is around them."""
    page = _Page(request, store, run_id, evaluation)
    query = TimelineQuery(start, kind if kind in KINDS else "", agent, q)
    with page.timeline() as timeline:
        steps = timeline.page(query)
        views = [step_view(shown, steps.started_s, query=q) for shown in steps.steps]
    context: dict[str, Any] = {"page": steps, "views": views, "query": query, "kinds": KINDS}
    if part and views:
        return render(request, "run/steplist.html", links=page.links, **context)
    return page.render("run/timeline.html", "timeline", **context)


@router.get("/runs/{run_id}/timeline/{step}", dependencies=[needs(Role.VIEWER)])
def show_step(
    request: Request, store: Store, run_id: str, step: int, evaluation: Evaluated = None
) -> Response:
    """One step in full."""
    page = _Page(request, store, run_id, evaluation)
    with page.timeline() as timeline:
        if not 1 <= step <= len(timeline.steps):
            raise HTTPException(404, f"there is no step {step}: the trace has {len(timeline.steps)}")
        view = step_view(timeline.step(step), timeline.started_s, full=True)
        total = len(timeline.steps)
    return page.render("run/step.html", "timeline", view=view, total=total)


@router.get("/runs/{run_id}/diff", dependencies=[needs(Role.VIEWER)])
def show_diff(
    request: Request,
    store: Store,
    run_id: str,
    evaluation: Evaluated = None,
    view: Layout = "unified",
    file: Annotated[int | None, Query(ge=0, le=10**9)] = None,
    start: Number = 0,
    files: Number = 0,
) -> Response:
    """What a run changed; `file`: one of the files, from a line on."""
    split = view == "split"
    page = _Page(request, store, run_id, evaluation, split=split)
    notes = notes_of(page.seen.evaluation)
    with page.diff() as diff:
        total = len(diff.files)
        if file is not None and file >= total:
            raise HTTPException(404, f"there is no file {file}: {total} were changed")
        if file is not None:
            views = [file_view(diff, diff.files[file], notes, split=split, start=start)]
        else:
            views = file_views(diff, diff.files[files : files + _FILES], notes, split=split)
        litter, incomplete = diff.litter, diff.incomplete
    layouts = [
        (
            name,
            title,
            page.links.to("diff", view="" if name == "unified" else name, file=file, files=files or None),
        )
        for name, title in (("unified", "Unified"), ("split", "Side by side"))
    ]
    alone = file is not None
    return page.render(
        "run/diff.html",
        "diff",
        views=views,
        view="split" if split else "unified",
        layouts=layouts,
        alone=alone,
        total=total,
        litter=litter,
        incomplete=incomplete,
        earlier=max(0, files - _FILES) if files and not alone else None,
        later=files + _FILES if not alone and files + _FILES < total else None,
    )


@router.get("/runs/{run_id}/scorers/{position}", dependencies=[needs(Role.VIEWER)])
def show_scorer(
    request: Request, store: Store, run_id: str, position: int, evaluation: Evaluated = None
) -> Response:
    """Everything on one scorer."""
    page = _Page(request, store, run_id, evaluation)
    row = scorer_row(position, _scorer(page.seen, position), few=False)
    recipe = () if page.seen.task is None else page.seen.task.scenario.recipe.scorers
    config = next((dict(spec.config) for spec in recipe if spec.name == row.result.name), None)
    written = json.dumps(config, indent=2, ensure_ascii=False) if config else ""
    return page.render("run/scorer.html", "overview", row=row, config=written)


@router.get("/runs/{run_id}/scorers/{position}/findings/{number}", dependencies=[needs(Role.VIEWER)])
def find_finding(
    request: Request,
    store: Store,
    run_id: str,
    position: int,
    number: int,
    evaluation: Evaluated = None,
    view: Layout = "unified",
) -> Response:
    """Lead to the line that a finding is about."""
    page = _Page(request, store, run_id, evaluation, split=view == "split")
    findings = _scorer(page.seen, position).findings
    if not 0 <= number < len(findings):
        raise HTTPException(404, f"scorer {position} has no finding {number}")
    path = findings[number].path
    note = next(
        (
            note
            for note in notes_of(page.seen.evaluation).get(path or "", ())
            if note[1:3] == (position, number)
        ),
        None,
    )
    with page.diff() as diff:
        file = None if path is None or note is None else diff.at_path(path)
        if file is None or note is None:
            # Found in a file that did not change.
            return RedirectResponse(page.links.to("diff"), 303)
        row, anchor = row_of_finding(diff, file, note)
    start = row // FILE_ROWS * FILE_ROWS
    return RedirectResponse(f"{page.links.file(file.index, start)}#{anchor}", 303)


@router.get("/runs/{run_id}/response", dependencies=[needs(Role.VIEWER)])
def show_response(request: Request, store: Store, run_id: str, evaluation: Evaluated = None) -> Response:
    """What the agent was asked, what it said last, and what it printed."""
    page = _Page(request, store, run_id, evaluation)
    attempt = page.run.attempt
    outcome = None if attempt is None else attempt.outcome
    printed = () if outcome is None else (("Output", outcome.stdout), ("Errors", outcome.stderr))
    return page.render(
        "run/response.html",
        "response",
        instruction="" if page.seen.task is None else page.seen.task.scenario.instruction,
        response="" if attempt is None else attempt.response or "",
        outputs=[(name, ref) for name, ref in printed if ref is not None and ref.size_bytes],
    )


@router.get("/runs/{run_id}/evaluations", dependencies=[needs(Role.VIEWER)])
def show_evaluations(
    request: Request,
    store: Store,
    run_id: str,
    evaluation: Evaluated = None,
    before: Evaluated = None,
    after: Evaluated = None,
) -> Response:
    """Every evaluation of a run, and what changed between two."""
    page = _Page(request, store, run_id, evaluation)
    listed = page.seen.evaluations
    by_id = {item.id: item for item in listed}
    for named in (before, after):
        if named is not None and named not in by_id:
            raise HTTPException(404, f"run {page.run.id} has no evaluation {named}")
    difference = None
    if len(listed) > 1:
        last = by_id[after] if after is not None else page.seen.current or listed[-1]
        earlier = [item for item in listed if item.id != last.id and item.started_at <= last.started_at]
        default = earlier[-1] if earlier else next(item for item in listed if item.id != last.id)
        difference = compare_evaluations(by_id[before] if before is not None else default, last)
    return page.render(
        "run/evaluations.html",
        "evaluations",
        evaluations=tuple(reversed(listed)),
        current=None if page.seen.current is None else page.seen.current.id,
        difference=difference,
        here=f"/runs/{page.run.id}/evaluations",
    )


@router.get("/runs/{run_id}/raw", dependencies=[needs(Role.VIEWER)])
def show_raw(request: Request, store: Store, run_id: str, evaluation: Evaluated = None) -> Response:
    """The documents of a run."""
    page = _Page(request, store, run_id, evaluation)
    chosen = f"?evaluation={page.seen.evaluation.id}" if page.seen.evaluation is not None else ""
    documents = [
        {
            "title": item.title,
            "said": item.said,
            "href": f"/api/v1/runs/{page.run.id}/documents/{item.name}{chosen}",
            "size_bytes": None if item.ref is None else item.ref.size_bytes,
            "digest": None if item.ref is None else item.ref.digest,
            "truncated": item.ref is not None and item.ref.truncated,
        }
        for item in documents_of(page.seen)
    ]
    document = "" if page.seen.evaluation is None else page.seen.evaluation.to_json()
    return page.render(
        "run/raw.html",
        "raw",
        documents=documents,
        document=document[:_FEW_DOCUMENT],
        document_cut=len(document) > _FEW_DOCUMENT,
    )


def _scorer(seen: SeenRun, position: int) -> Any:
    scorers = () if seen.evaluation is None else seen.evaluation.scorers
    if not 0 <= position < len(scorers):
        raise HTTPException(404, f"there is no scorer {position}: the evaluation has {len(scorers)}")
    return scorers[position]
