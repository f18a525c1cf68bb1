"""One run over the API: its records, its steps, its diff, and what is kept of it as downloads."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any, BinaryIO

from fastapi import APIRouter, HTTPException, Query, Request, Response
from fastapi.responses import StreamingResponse
from pydantic import BaseModel, JsonValue

from adjudge.records.paths import render_path
from adjudge.records.user import Role
from adjudge.web.access.identity import needs
from adjudge.web.agenttrace.diffs import DiffRow, describe_change
from adjudge.web.agenttrace.documents import JSON, documents_of, text_of
from adjudge.web.agenttrace.fileviews import FILE_ROWS, file_view
from adjudge.web.agenttrace.reading import RunReader
from adjudge.web.agenttrace.timeline import MAX_QUERY, ShownStep, TimelineQuery
from adjudge.web.dependencies import Store, found
from adjudge.workflows.inspecting import SeenRun, inspect_run

__all__ = ["router"]

router = APIRouter(tags=["runs"])

_CHUNK = 256 * 1024
_MISSING: dict[int | str, dict[str, Any]] = {404: {"description": "There is no such thing."}}
Evaluated = Annotated[
    str | None, Query(max_length=64, description="An evaluation of the run; left out, the current one.")
]


class RunDetail(BaseModel):
    """A run and its evaluations."""

    run: dict[str, JsonValue]
    current_evaluation: str | None
    evaluations: list[str]
    """Ids, oldest first."""
    documents: list[str]
    """Names of what can be downloaded."""


class StepRow(BaseModel):
    """A step of a trace."""

    number: int
    kind: str
    agent: str | None
    time_s: float | None
    failed: bool
    denied: bool
    tokens: int | None
    cost_usd: float | None
    events: list[dict[str, JsonValue]]


class StepPage(BaseModel):
    """Some steps of a trace."""

    steps: list[StepRow]
    total: int
    matching: int
    next: int | None
    """The number that the next page starts at; null on the last one."""
    first_error: int | None
    agents: list[str]


class ChangedFile(BaseModel):
    """A changed file."""

    index: int
    path: str
    change: str
    added_lines: int | None
    removed_lines: int | None
    binary: bool


class ChangedFiles(BaseModel):
    """What a run changed."""

    files: list[ChangedFile]
    litter: int
    """Ignored and built files, which are kept apart."""
    next: int | None


class DiffLine(BaseModel):
    """A line of a diff."""

    op: str
    """`+` added, `-` removed, a space for kept, `@` for the head of a hunk."""
    old: int | None
    new: int | None
    text: str
    cut: int
    """Characters of it that are left out."""


class FileDiff(BaseModel):
    """The diff of a file."""

    file: ChangedFile
    lines: list[DiffLine]
    notes: list[str]
    next: int | None


def _reader(request: Request) -> RunReader:
    reader: RunReader = request.app.state.reader
    return reader


@router.get("/runs/{run_id}", dependencies=[needs(Role.VIEWER)], responses=_MISSING)
def read_run(store: Store, run_id: str) -> RunDetail:
    """A run's record, and which evaluations and documents there are."""
    seen: SeenRun = found(inspect_run, store, run_id)
    return RunDetail(
        run=seen.run.model_dump(mode="json"),
        current_evaluation=None if seen.current is None else seen.current.id,
        evaluations=[item.id for item in seen.evaluations],
        documents=[item.name for item in documents_of(seen)],
    )


@router.get("/runs/{run_id}/evaluation", dependencies=[needs(Role.VIEWER)], responses=_MISSING)
def read_evaluation(store: Store, run_id: str, evaluation: Evaluated = None) -> dict[str, JsonValue]:
    """An evaluation document, annotations included."""
    seen: SeenRun = found(inspect_run, store, run_id, evaluation)
    if seen.evaluation is None:
        raise HTTPException(404, f"run {seen.run.id} was never graded")
    return seen.evaluation.model_dump(mode="json", by_alias=True)


@router.get("/runs/{run_id}/timeline", dependencies=[needs(Role.VIEWER)], responses=_MISSING)
def read_timeline(
    request: Request,
    store: Store,
    run_id: str,
    start: Annotated[int, Query(ge=1, le=10**9, description="The number of the first step.")] = 1,
    limit: Annotated[int, Query(ge=1, le=200)] = 40,
    kind: Annotated[
        str, Query(max_length=20, description="message, thought, tool, permission, error or subagent.")
    ] = "",
    agent: Annotated[str, Query(max_length=600, description="A sub-agent.")] = "",
    q: Annotated[str, Query(max_length=MAX_QUERY, description="A text that occurs.")] = "",
) -> StepPage:
    """Steps of the trace: a call with its result, a message with what it used."""
    run = found(store.run, run_id)
    reader = _reader(request)
    if not reader.has_trace(run):
        raise HTTPException(404, f"run {run.id} has no trace")
    with reader.timeline(run) as timeline:
        page = timeline.page(TimelineQuery(start, kind, agent, q, limit))
    return StepPage(
        steps=[_step(shown) for shown in page.steps],
        total=page.total,
        matching=page.matching,
        next=page.following,
        first_error=page.first_error,
        agents=list(page.agents),
    )


def _step(shown: ShownStep) -> StepRow:
    step = shown.step
    return StepRow(
        number=shown.number,
        kind=step.kind.value,
        agent=step.agent,
        time_s=step.time_s,
        failed=step.failed,
        denied=step.denied,
        tokens=step.tokens,
        cost_usd=step.cost_usd,
        events=[item.model_dump(mode="json") for item in shown.items],
    )


@router.get("/runs/{run_id}/diff", dependencies=[needs(Role.VIEWER)], responses=_MISSING)
def read_diff(
    request: Request,
    store: Store,
    run_id: str,
    start: Annotated[int, Query(ge=0, le=10**9, description="The index of the first file.")] = 0,
) -> ChangedFiles:
    """Which files were changed, 500 at a time."""
    with _diff(request, store, run_id) as diff:
        files = diff.files[start : start + 500]
        more = start + 500 < len(diff.files)
        return ChangedFiles(
            files=[_file(file) for file in files], litter=diff.litter, next=start + 500 if more else None
        )


@router.get("/runs/{run_id}/diff/{index}", dependencies=[needs(Role.VIEWER)], responses=_MISSING)
def read_file_diff(
    request: Request,
    store: Store,
    run_id: str,
    index: int,
    start: Annotated[int, Query(ge=0, le=10**9, description="The number of the first line, from 0.")] = 0,
) -> FileDiff:
    """The lines of one file's diff, 200 at a time."""
    with _diff(request, store, run_id) as diff:
        if not 0 <= index < len(diff.files):
            raise HTTPException(404, f"there is no file {index}: {len(diff.files)} were changed")
        file = diff.files[index]
        view = file_view(diff, file, {}, start=start, limit=FILE_ROWS)
    return FileDiff(
        file=_file(file),
        lines=[_line(noted.row) for noted in view.rows],
        notes=list(view.notes),
        next=view.later,
    )


def _diff(request: Request, store: Any, run_id: str) -> Any:
    run = found(store.run, run_id)
    reader = _reader(request)
    if not reader.has_diff(run):
        raise HTTPException(404, f"run {run.id} had no workspace to change")
    return reader.diff(run)


def _file(file: Any) -> ChangedFile:
    change = file.change
    return ChangedFile(
        index=file.index,
        path=render_path(change.path),
        change=describe_change(change),
        added_lines=change.added_lines,
        removed_lines=change.removed_lines,
        binary=change.binary,
    )


def _line(row: DiffRow) -> DiffLine:
    return DiffLine(op=row.op, old=row.old, new=row.new, text=row.text, cut=row.cut)


@router.get(
    "/runs/{run_id}/documents/{name}",
    dependencies=[needs(Role.VIEWER)],
    responses={**_MISSING, 200: {"description": "Its bytes, as a download.", "content": {"*/*": {}}}},
    response_class=Response,
)
def read_document(store: Store, run_id: str, name: str, evaluation: Evaluated = None) -> Response:
    """A document of a run: one of those that `/runs/{run_id}` names."""
    seen: SeenRun = found(inspect_run, store, run_id, evaluation)
    document = next((item for item in documents_of(seen) if item.name == name), None)
    if document is None:
        raise HTTPException(404, f"run {seen.run.id} has no document {name!r}")
    # The names are ours: letters, digits, dots and dashes.
    headers = {
        "content-disposition": f'attachment; filename="{document.filename}"',
        "x-content-type-options": "nosniff",
        "cache-control": "private, no-cache",
    }
    if document.ref is None:
        return Response(text_of(document, seen), media_type=JSON, headers=headers)
    return StreamingResponse(
        _chunks(store.blobs.open(document.ref)), media_type=document.kind, headers=headers
    )


def _chunks(stream: BinaryIO) -> Iterator[bytes]:
    with stream:
        while chunk := stream.read(_CHUNK):
            yield chunk
