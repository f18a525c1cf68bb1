import inspect
from contextlib import AbstractContextManager

import pytest

from adjudge import errors
from adjudge.errors import (
    AdjudgeError,
    InfraError,
    Problem,
    SandboxError,
    ScenarioInvalid,
    UsageError,
    boundary,
)


def test_the_hint_is_on_a_line_of_its_own() -> None:
    assert str(AdjudgeError("it broke", hint="mend it")) == "it broke\n  hint: mend it"
    assert str(AdjudgeError("it broke")) == "it broke"


def test_every_problem_of_a_scenario_is_told() -> None:
    error = ScenarioInvalid(
        [
            Problem("adjudge.yaml", 12, 5, "scorers[2].timeout_s", "7200 is above 3600"),
            Problem("adjudge.yaml", 14, 1, "", "not a mapping"),
        ]
    )
    assert str(error) == (
        "adjudge.yaml:12:5: scorers[2].timeout_s: 7200 is above 3600\nadjudge.yaml:14:1: not a mapping"
    )
    assert isinstance(error, UsageError)


def test_a_boundary_classifies_foreign_errors_and_keeps_the_cause() -> None:
    with pytest.raises(SandboxError, match=r"starting: \[Errno 2\] nothing there") as caught, _starting():
        raise FileNotFoundError(2, "nothing there")
    assert isinstance(caught.value.__cause__, FileNotFoundError)


def test_a_boundary_lets_our_own_errors_through() -> None:
    original = UsageError("asked for the impossible")
    with pytest.raises(UsageError) as caught, _starting():
        raise original
    assert caught.value is original


def test_a_nameless_error_is_told_by_its_type() -> None:
    with pytest.raises(SandboxError, match="starting: TimeoutError"), _starting():
        raise TimeoutError


def test_the_tree_in_the_docstring_is_the_tree_in_the_code() -> None:
    classes = [c for _, c in inspect.getmembers(errors, inspect.isclass) if issubclass(c, AdjudgeError)]
    drawn = errors.__doc__ or ""
    for cls in classes:
        assert cls.__name__ in drawn
        assert cls.__name__ in errors.__all__


def _starting() -> AbstractContextManager[None]:
    return boundary(SandboxError, "starting")


def test_infra_errors_are_not_the_attempts_fault() -> None:
    assert issubclass(SandboxError, InfraError)
    assert not issubclass(SandboxError, errors.SubjectError)
