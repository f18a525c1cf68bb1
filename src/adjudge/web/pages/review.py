"""Review: a queue of runs, the evidence of each, and what a person says of it.

Where somebody is in the queue is in the address: its filter, order, seed, and whether it is blinded. Blinded,
nothing is shown of what was concluded, of what others said, or of which agent it was.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, NamedTuple
from urllib.parse import urlencode

from fastapi import APIRouter, HTTPException, Request, Response
from fastapi.responses import RedirectResponse
from pydantic import ValidationError
from starlette.concurrency import run_in_threadpool
from starlette.datastructures import FormData

from adjudge.records.annotation import Annotation, Judgment
from adjudge.records.listing import RunFilter
from adjudge.records.score import Verdict
from adjudge.records.user import Role, User
from adjudge.store.runs import RunDatabase
from adjudge.web.access.identity import identity_of, needs
from adjudge.web.agenttrace.cards import judge_card, scorers_card
from adjudge.web.agenttrace.fileviews import FileView, file_views
from adjudge.web.agenttrace.links import DocumentLinks, PageLinks
from adjudge.web.agenttrace.placing import notes_of
from adjudge.web.agenttrace.reading import RunReader
from adjudge.web.dependencies import CurrentUser, Store, found
from adjudge.web.query import RunQuery, dump_filter
from adjudge.web.rendering import render
from adjudge.workflows.inspecting import inspect_run
from adjudge.workflows.reviewing import Queue, QueueOrder, agreements, make_queue

__all__ = ["router"]

router = APIRouter()

_OWN = ("order", "seed", "blind", "as")
_FEW = 20
_FILES = 20
_MAX_NOTES = 20_000
_MAX_CATEGORIES = 50


@dataclass(frozen=True, slots=True)
class _Place:
    """Where somebody is: which queue, as whom."""

    wanted: RunFilter
    order: QueueOrder
    seed: str
    blind: bool
    reviewer: str
    chosen_name: bool
    """Whether who reviews is said in the address: nobody is signed in."""

    @classmethod
    def parse(cls, request: Request, user: User) -> _Place:
        items = [(key, value) for key, value in request.query_params.multi_items() if value]
        own = {key: value for key, value in items if key in _OWN}
        try:
            order = QueueOrder(own.get("order", QueueOrder.NEWEST))
        except ValueError:
            raise HTTPException(400, f"order is one of {', '.join(QueueOrder)}") from None
        identity = identity_of(request)
        local = identity is not None and identity.by == "local"
        named = own.get("as", "").strip()[:64] if local else ""
        return cls(
            wanted=RunQuery.parse([(key, value) for key, value in items if key not in _OWN]).wanted,
            order=order,
            seed=own.get("seed", "")[:64],
            blind=own.get("blind") == "1",
            reviewer=named or user.name,
            chosen_name=local,
        )

    def queue(self, store: RunDatabase) -> Queue:
        return make_queue(store, self.wanted, reviewer=self.reviewer, order=self.order, seed=self.seed)

    def items(self) -> list[tuple[str, str]]:
        found = dump_filter(self.wanted)
        if self.order is not QueueOrder.NEWEST:
            found.append(("order", self.order.value))
        if self.seed:
            found.append(("seed", self.seed))
        if self.blind:
            found.append(("blind", "1"))
        if self.chosen_name and self.reviewer != "local":
            found.append(("as", self.reviewer))
        return found

    def url(self, path: str = "/review", **more: str) -> str:
        items = [*self.items(), *more.items()]
        return f"{path}?{urlencode(items)}" if items else path


class _Typed(NamedTuple):
    """What a form holds that could not be kept."""

    judgment: str = ""
    categories: Sequence[str] = ()
    others: str = ""
    notes: str = ""


@router.get("/review", dependencies=[needs(Role.REVIEWER)])
def queue(request: Request, store: Store, user: CurrentUser) -> Response:
    """The queue, and how far people agree."""
    place = _Place.parse(request, user)
    queued = place.queue(store)
    return render(
        request,
        "review/queue.html",
        place=place,
        chosen=dict(place.items()),
        queue=queued,
        shown=queued.left[:_FEW],
        orders=[(order.value, _ORDERS[order]) for order in QueueOrder],
        verdicts=[verdict.value for verdict in Verdict],
        agreements=agreements(store),
    )


_ORDERS = {
    QueueOrder.NEWEST: "newest first",
    QueueOrder.RANDOM: "random sample",
    QueueOrder.DISAGREEMENT: "disagreement first",
}


@router.get("/review/{evaluation_id}", dependencies=[needs(Role.REVIEWER)])
def look(request: Request, store: Store, user: CurrentUser, evaluation_id: str) -> Response:
    """The evidence of one run."""
    return _look(request, store, _Place.parse(request, user), evaluation_id)


@router.post("/review/{evaluation_id}", dependencies=[needs(Role.REVIEWER)])
async def say(request: Request, store: Store, user: CurrentUser, evaluation_id: str) -> Response:
    """Keep what somebody says, and go on to the next."""
    form = await request.form()
    return await run_in_threadpool(_say, request, store, _Place.parse(request, user), evaluation_id, form)


def _say(request: Request, store: RunDatabase, place: _Place, evaluation_id: str, form: FormData) -> Response:
    evaluation = found(store.load, evaluation_id)
    typed = _Typed(
        judgment=str(form.get("judgment", "")),
        categories=[str(value) for value in form.getlist("category")],
        others=str(form.get("others", "")),
        notes=str(form.get("notes", "")).replace("\r\n", "\n"),
    )
    queued = place.queue(store)
    following = queued.after(evaluation.id)
    if form.get("do") != "skip":
        categories = [*typed.categories, *(part.strip() for part in typed.others.split(","))]
        try:
            annotation = Annotation(
                reviewer_id=place.reviewer,
                timestamp=datetime.now(UTC),
                judgment=Judgment(typed.judgment),
                categories=list(dict.fromkeys(part[:200] for part in categories if part))[:_MAX_CATEGORIES],
                notes=typed.notes[:_MAX_NOTES].strip() or None,
            )
        except (ValidationError, ValueError):
            problem = "Choose pass, fail or defer first."
            return _look(request, store, place, evaluation_id, problem=problem, typed=typed)
        store.annotate(evaluation.id, annotation)
    if following is None:
        return RedirectResponse(place.url(), 303)
    return RedirectResponse(place.url(f"/review/{following.evaluation_id}"), 303)


def _look(
    request: Request,
    store: RunDatabase,
    place: _Place,
    evaluation_id: str,
    *,
    problem: str = "",
    typed: _Typed | None = None,
) -> Response:
    evaluation = found(store.load, evaluation_id)
    seen = found(inspect_run, store, store.run_of(evaluation.id), evaluation.id)
    reader: RunReader = request.app.state.reader
    blind = place.blind
    views: list[FileView] = []
    total, incomplete = 0, False
    if reader.has_diff(seen.run):
        with reader.diff(seen.run) as diff:
            total, incomplete = len(diff.files), diff.incomplete
            views = file_views(diff, diff.files[:_FILES], {} if blind else notes_of(evaluation))
    queued = place.queue(store)
    ids = [one.evaluation_id for one in queued.left]
    defined = list(seen.task.scenario.error_categories) if seen.task is not None else []
    used = dict.fromkeys(category for said in evaluation.annotations for category in said.categories)
    mine = [said for said in evaluation.annotations if said.reviewer_id == place.reviewer]
    context: dict[str, Any] = {
        "place": place,
        "evaluation": evaluation,
        "run": seen.run,
        "blind": blind,
        "instruction": seen.task.scenario.instruction if seen.task is not None else "",
        "response": (seen.run.attempt.response if seen.run.attempt is not None else None) or "",
        "has_trace": reader.has_trace(seen.run),
        # Pages of the run would say what is hidden here.
        "links": DocumentLinks("")
        if blind
        else PageLinks(seen.run.id, None if seen.is_current else evaluation.id),
        "views": views,
        "total": total,
        "incomplete": incomplete,
        "scorers": None if blind else scorers_card(evaluation),
        "judge": None if blind else judge_card(evaluation),
        "categories": list(dict.fromkeys([*defined, *(() if blind else used)]))[:_MAX_CATEGORIES],
        "mine": mine,
        "others": [] if blind else [said for said in evaluation.annotations if said not in mine],
        "position": ids.index(evaluation.id) + 1 if evaluation.id in ids else None,
        "left": len(ids),
        "problem": problem,
        "typed": typed or _Typed(),
        "judgments": [judgment.value for judgment in Judgment],
    }
    return render(request, "review/look.html", **context)
