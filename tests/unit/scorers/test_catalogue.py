"""The catalogue of the first scorers: fields, ranges, defaults, and what is required."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import ValidationError

from adjudge import catalog
from adjudge.contracts import Scorer
from adjudge.scorers.behaviour.command import Command
from adjudge.scorers.change.allowed_paths import AllowedPaths
from adjudge.scorers.change.file_exists import FileExists
from adjudge.scorers.change.files import Files
from adjudge.scorers.change.forbid_paths import ForbidPaths
from adjudge.scorers.change.forbid_secrets import ForbidSecrets
from adjudge.scorers.change.implemented import Implemented
from adjudge.scorers.change.max_files_changed import MaxFilesChanged
from adjudge.scorers.external.llm_judge import LlmJudge
from adjudge.scorers.integrity.assertions_not_weakened import AssertionsNotWeakened
from adjudge.scorers.integrity.baseline_unmodified import BaselineUnmodified
from adjudge.scorers.integrity.no_new_skips import NoNewSkips
from adjudge.scorers.integrity.no_runtime_tricks import NoRuntimeTricks
from adjudge.scorers.integrity.no_special_casing import NoSpecialCasing
from adjudge.scorers.integrity.tests_unmodified import TestsUnmodified

pytestmark = pytest.mark.anyone

REQUIRED = {
    "command": True,
    "allowed_paths": True,
    "forbid_paths": True,
    "max_files_changed": True,
    "forbid_secrets": True,
    "file_exists": True,
    "tests_unmodified": True,
    "baseline_unmodified": True,
    "no_new_skips": False,
    "no_runtime_tricks": False,
    "no_special_casing": False,
    "harness_unmodified": False,
    "no_leaks": False,
    "workspace_confined": False,
    "assertions_not_weakened": False,
    "llm_judge": False,
}

FIELDS: dict[str, dict[str, Any]] = {
    "command": {
        "isolation": "snapshot",
        "inject": (),
        "allow": (),
        "protect": (),
        "command": ...,
        "expect_exit": 0,
        "timeout_s": 900,
    },
    "allowed_paths": {"patterns": ...},
    "forbid_paths": {"patterns": ...},
    "max_files_changed": {"limit": ...},
    "forbid_secrets": {},
    "file_exists": {"path": ...},
    "tests_unmodified": {"paths": ...},
    "baseline_unmodified": {"paths": ...},
    "no_new_skips": {"test_globset": None},
    "no_runtime_tricks": {"test_globset": None},
    "no_special_casing": {"test_globset": None},
    "harness_unmodified": {},
    "no_leaks": {},
    "workspace_confined": {},
    "assertions_not_weakened": {"test_globset": None},
    "llm_judge": {"rubric": ...},
}


@pytest.mark.parametrize("name", REQUIRED)
def test_required_by_default(name: str) -> None:
    scorer = catalog.load("scorers", name)
    assert scorer.required_by_default is REQUIRED[name]
    assert scorer.advisory_only is (name == "llm_judge")
    assert scorer.name == name


@pytest.mark.parametrize("name", FIELDS)
def test_fields_and_defaults(name: str) -> None:
    fields = catalog.load("scorers", name).Config.model_fields
    assert {key: ... if field.is_required() else field.default for key, field in fields.items()} == FIELDS[
        name
    ]


@pytest.mark.parametrize(
    ("name", "fields"),
    [
        ("allowed_paths", {"patterns": []}),
        ("allowed_paths", {"patterns": [""]}),
        ("allowed_paths", {"patterns": "src/*"}),
        ("allowed_paths", {}),
        ("forbid_paths", {"patterns": []}),
        ("forbid_paths", {"patterns": ["/etc/*"]}),
        ("forbid_paths", {"patterns": ["../x"]}),
        ("forbid_paths", {"patterns": [3]}),
        ("max_files_changed", {"limit": -1}),
        ("max_files_changed", {"limit": 1.5}),
        ("max_files_changed", {"limit": True}),
        ("max_files_changed", {"limit": "3"}),
        ("max_files_changed", {}),
        ("forbid_secrets", {"patterns": ["x"]}),
        ("file_exists", {"path": "../x"}),
        ("file_exists", {"path": "a/../../x"}),
        ("file_exists", {"path": "/etc/passwd"}),
        ("file_exists", {"path": ""}),
        ("file_exists", {"path": "."}),
        ("tests_unmodified", {"paths": []}),
        ("tests_unmodified", {"paths": ["../tests/a.py"]}),
        ("tests_unmodified", {"paths": ["/tests/a.py"]}),
        ("baseline_unmodified", {"paths": [""]}),
        ("no_new_skips", {"test_globset": []}),
        ("no_new_skips", {"test_globset": ["tests/"]}),
        ("no_runtime_tricks", {"test_globset": []}),
        ("no_special_casing", {"test_globset": ["tests/"]}),
        ("assertions_not_weakened", {"test_globset": []}),
        ("llm_judge", {"rubric": " "}),
        ("llm_judge", {}),
    ],
)
def test_what_is_refused(name: str, fields: dict[str, object]) -> None:
    with pytest.raises(ValidationError):
        catalog.load("scorers", name).Config.model_validate(fields)


def test_built_in_classes_satisfy_the_contract_for_type_checkers() -> None:
    # The annotation is the test: mypy refuses the assignment when a class does not fit.
    fitting: list[Scorer[Any]] = [
        Command(), AllowedPaths(), ForbidPaths(), MaxFilesChanged(), ForbidSecrets(), FileExists(), Files(),
        Implemented(), TestsUnmodified(), BaselineUnmodified(), NoNewSkips(), AssertionsNotWeakened(),
        NoRuntimeTricks(), NoSpecialCasing(), LlmJudge(),
    ]  # fmt: skip
    assert {scorer.name for scorer in fitting} <= set(catalog.BUILTINS["scorers"])
