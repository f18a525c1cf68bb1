"""The application: which pages and resources there are, and what stands before them.

A new page is a module in `pages` with a `router`, its template, and a line in `PAGES`; a new resource of the
API is a module in `api` and a line in `RESOURCES`.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from fastapi import APIRouter, FastAPI
from fastapi.routing import APIRoute

from adjudge.records.user import Role
from adjudge.store.exploring import Explorer
from adjudge.store.runs import RunDatabase
from adjudge.version import __version__
from adjudge.web import failures, static
from adjudge.web.access.guard import Guard, Hosts
from adjudge.web.access.identity import Access, Need
from adjudge.web.agenttrace.reading import RunReader
from adjudge.web.api import evaluations as evaluations_api
from adjudge.web.api import experiments as experiments_api
from adjudge.web.api import explore as explore_api
from adjudge.web.api import run as run_api
from adjudge.web.api import runs as runs_api
from adjudge.web.api import scenarios as scenarios_api
from adjudge.web.api import session as session_api
from adjudge.web.api import tasks as tasks_api
from adjudge.web.api import views as views_api
from adjudge.web.api.models import Problem
from adjudge.web.pages import documentation, editor, experiments, explorer, review, run, runs, signin
from adjudge.web.rendering import make_environment
from adjudge.web.scenarios import ScenarioList

__all__ = ["PAGES", "REFUSALS", "RESOURCES", "NamedRoute", "create_app", "list_routes"]

PAGES: tuple[APIRouter, ...] = (
    runs.router,
    run.router,
    explorer.router,
    experiments.router,
    review.router,
    editor.router,
    signin.router,
    documentation.router,
    static.router,
)
RESOURCES: tuple[APIRouter, ...] = (
    runs_api.router,
    run_api.router,
    explore_api.router,
    views_api.router,
    scenarios_api.router,
    evaluations_api.router,
    experiments_api.router,
    tasks_api.router,
    session_api.router,
)

_API = "/api/v1"
REFUSALS: dict[int | str, dict[str, Any]] = {
    400: {"model": Problem, "description": "Something is asked for that cannot be."},
    401: {"model": Problem, "description": "No token, or not a valid one."},
    403: {"model": Problem, "description": "Not with this role, or not from there."},
    404: {"model": Problem, "description": "There is no such thing."},
    422: {"model": Problem, "description": "A parameter or the body is not as described."},
    429: {"model": Problem, "description": "Too many wrong tokens."},
}
"""What any operation of the API may answer instead."""

_DESCRIPTION = """\
What adjudge keeps: runs, evaluations, experiments, tasks and traces.

With users, send a token: `Authorization: Bearer …`. On a machine of one's own no token is needed; what
changes something then needs the header `X-CSRF-Token` with what `/api/v1/session` gives.
"""


def create_app(
    store: RunDatabase,
    access: Access,
    *,
    names: Sequence[str] = (),
    scenarios: Sequence[Path] = (),
) -> FastAPI:
    """The view of a store.

    Args:
        store: What is shown. Whoever made it closes it.
        access: How the view is reached, and by whom.
        names: Host names it is asked for under, beside the address it listens at.
        scenarios: Scenario files, and folders of them, that the editor may read and write.
    """
    app = _View(
        title="adjudge",
        version=__version__,
        description=_DESCRIPTION,
        # The pages that come with FastAPI load scripts from elsewhere.
        docs_url=None,
        redoc_url=None,
        openapi_url=None,
    )
    app.state.store = store
    app.state.explorer = Explorer(store.database)
    app.state.access = access
    app.state.reader = RunReader(store.blobs)
    app.state.static = static.StaticFiles()
    app.state.templates = make_environment(app.state.static)
    app.state.scenarios = ScenarioList(scenarios)
    list_routes()
    for page in PAGES:
        app.include_router(page, include_in_schema=False)
    for resource in RESOURCES:
        app.include_router(resource, prefix=_API, responses=REFUSALS)
    failures.install(app)
    app.add_middleware(Guard, hosts=Hosts(access.host, tuple(names)), https=access.https)
    return app


class _View(FastAPI):
    """The application, whose description also says how one gets in."""

    def openapi(self) -> dict[str, Any]:
        """The API as an OpenAPI document."""
        if self.openapi_schema is None:
            document = super().openapi()
            schemes = {"token": {"type": "http", "scheme": "bearer", "description": "From `adjudge users`."}}
            document.setdefault("components", {})["securitySchemes"] = schemes
            document["security"] = [{"token": []}]
        return super().openapi()


class NamedRoute(NamedTuple):
    """A route, and who may ask for it."""

    method: str
    path: str
    role: Role | None
    """None: anybody, signed in or not."""


def list_routes() -> list[NamedRoute]:
    """Every route there is.

    Raises:
        LookupError: One does not say who may ask for it.
    """
    found = []
    for prefix, routers in (("", PAGES), (_API, RESOURCES)):
        for route in (route for router in routers for route in router.routes):
            needs = [
                dependency.dependency
                for dependency in (route.dependencies if isinstance(route, APIRoute) else ())
                if isinstance(dependency.dependency, Need)
            ]
            if not isinstance(route, APIRoute) or len(needs) != 1:
                raise LookupError(f"{getattr(route, 'path', route)} does not say who may ask for it")
            found += [
                NamedRoute(method, prefix + route.path, needs[0].role)
                for method in sorted(route.methods or ())
            ]
    return found
