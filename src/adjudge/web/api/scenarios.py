"""Scenarios over the API: read, check, try, save."""

from __future__ import annotations

from fastapi import APIRouter, HTTPException, Request
from pydantic import BaseModel, Field

from adjudge.errors import Problem, ScenarioInvalid
from adjudge.formats.tasks.document import MAX_BYTES
from adjudge.records.evaluation import Evaluation
from adjudge.records.user import Role
from adjudge.web.access.identity import needs
from adjudge.web.dependencies import Store
from adjudge.web.scenarios import ScenarioFile, ScenarioList
from adjudge.web.trying import try_on
from adjudge.workflows.editing import ScenarioChanged, check_text, open_scenario, save_scenario

__all__ = ["router"]

router = APIRouter(tags=["scenarios"])


class ScenarioPlace(BaseModel):
    """A scenario that the view was started with."""

    id: str
    file: str
    """Relative to what the view was started with."""


class ScenarioText(BaseModel):
    """A scenario's file."""

    id: str
    file: str
    text: str
    digest: str
    """Send it back as `made_from` when saving."""
    problems: list[ScenarioProblem]


class ScenarioProblem(BaseModel):
    """What is wrong, or worth a warning, and where."""

    line: int
    column: int
    where: str
    message: str
    warning: bool = False


class Draft(BaseModel):
    """A text that is not saved."""

    text: str = Field(max_length=MAX_BYTES)


class Trial(Draft):
    """A text that is not saved, and the run to try it on."""

    run: str = Field(min_length=1, max_length=200)


class Saving(Draft):
    """A text to save."""

    made_from: str = Field(max_length=100)
    """The digest of the text it was made from."""


class Outcome(BaseModel):
    """What a recipe says of a run. It is not kept."""

    run_id: str
    evaluation: Evaluation
    computed: list[str]
    """Scorers that were computed; all others kept their rows."""


class Saved(BaseModel):
    """What the file is now."""

    digest: str


@router.get("/scenarios", dependencies=[needs(Role.VIEWER)])
def list_scenarios(request: Request) -> list[ScenarioPlace]:
    """The scenarios that the view was started with."""
    listed: ScenarioList = request.app.state.scenarios
    return [ScenarioPlace(id=id_, file=listed.place(file)) for id_, file in listed.files().items()]


@router.get("/scenarios/{scenario}", dependencies=[needs(Role.VIEWER)])
def read_scenario(request: Request, scenario: str, file: ScenarioFile) -> ScenarioText:
    """A scenario's text, and what is wrong with it."""
    opened = open_scenario(file)
    listed: ScenarioList = request.app.state.scenarios
    return ScenarioText(
        id=scenario,
        file=listed.place(file),
        text=opened.text,
        digest=opened.digest,
        problems=_problems(file, opened.text),
    )


@router.post("/scenarios/{scenario}/check", dependencies=[needs(Role.EDITOR)])
def check_scenario(file: ScenarioFile, draft: Draft) -> list[ScenarioProblem]:
    """What `adjudge validate` would say of a text in the scenario's place; empty when it is valid."""
    return _problems(file, draft.text)


@router.post("/scenarios/{scenario}/try", dependencies=[needs(Role.EDITOR)])
def try_scenario(file: ScenarioFile, trial: Trial, store: Store) -> Outcome:
    """Grade a stored run with a text that is not saved. Nothing is kept."""
    tried = try_on(store, trial.run, file, trial.text)
    return Outcome(run_id=tried.run_id, evaluation=tried.after, computed=list(tried.computed))


@router.put("/scenarios/{scenario}", dependencies=[needs(Role.EDITOR)])
def write_scenario(file: ScenarioFile, saving: Saving) -> Saved:
    """Save a text, if it is valid and nobody else changed the file since it was read."""
    try:
        return Saved(digest=save_scenario(file, saving.text, made_from=saving.made_from))
    except ScenarioChanged as error:
        raise HTTPException(409, str(error)) from None
    except ScenarioInvalid as error:
        raise HTTPException(422, "; ".join(_shown(problem) for problem in error.problems)) from None


def _problems(file: ScenarioFile, text: str) -> list[ScenarioProblem]:
    checked = check_text(file, text)
    marked = [(one, False) for one in checked.problems] + [(one, True) for one in checked.warnings]
    return [
        ScenarioProblem(
            line=one.line, column=one.column, where=one.where, message=one.message, warning=warning
        )
        for one, warning in marked
    ]


def _shown(problem: Problem) -> str:
    where = f"{problem.where}: " if problem.where else ""
    return f"line {problem.line}: {where}{problem.message}"
