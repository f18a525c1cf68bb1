"""Every built-in scorer keeps the promises of the contract."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from adjudge import catalog
from adjudge.testing.scorers import CHECKS, ScorerCheck, bench

pytestmark = pytest.mark.anyone

CONFIGS: Mapping[str, Sequence[Mapping[str, object]]] = {
    "allowed_paths": ({"patterns": ["nothing/like/it"]}, {"patterns": ["*"]}),
    "forbid_paths": ({"patterns": ["*"]}, {"patterns": ["very/**", "tests/*"]}),
    "max_files_changed": ({"limit": 0}, {"limit": 10**9}),
    "tests_unmodified": ({"paths": ["tests/test_a.py", "a.py"]}, {"paths": ["tests", "module", "empty"]}),
    "baseline_unmodified": ({"paths": ["tests/test_a.py", '"new\\nline.py"']}, {"paths": ["very", "b.py"]}),
    "file_exists": ({"path": "tests/test_link.py"}, {"path": "tests/test_dangling.py"}),
    "files": ({"patterns": ["nothing like it"]}, {"patterns": ["(?s).*", "a"], "pass_threshold": 0.5}),
    "rubric": (
        {"output": "a.json", "fields": [{"path": "[1]", "one_of": [True, None, 1]}], "rollup": "min"},
        {"output": "a", "output_format": "text", "fields": [{"path": "$", "matches": "(?s).*"}]},
    ),
    "implemented": ({}, {"files": ["tests/test_a.py", "a.py", "nothing.py"]}),
    "no_runtime_tricks": ({}, {"test_globset": ["*"]}),
    "no_special_casing": ({}, {"test_globset": ["tests/*"]}),
    "no_new_skips": ({}, {"test_globset": ["*"]}),
    "assertions_not_weakened": ({}, {"test_globset": ["*"]}),
    "command": ({"command": "true", "timeout_s": 1}, {"cmd": "make test", "isolation": "clean"}),
    "pytest": ({"proof": "single", "pass_threshold": 0.5}, {"cmd": "pytest -q a.py::test_b"}),
    "tests": ({"cmd": "make test", "trust_console": True, "isolation": "snapshot"}, {"cmd": "pytest -q"}),
    "verifier": ({"script": "tests/verify.py", "pass_threshold": 0.5, "categories": ["known"]},),
    "swebench": ({"fail_to_pass": ["a.py::test_b[x"], "pass_to_pass": ["test_c (a.B)"], "proof": "single"},),
}


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.name)
@pytest.mark.parametrize("name", catalog.BUILTINS["scorers"])
def test_built_in_scorer(name: str, check: ScorerCheck) -> None:
    scorer: Any = catalog.load("scorers", name)
    check.run(bench(scorer, CONFIGS.get(name, ())))


def test_configurations_are_for_scorers_that_exist() -> None:
    assert set(CONFIGS) <= set(catalog.BUILTINS["scorers"])
