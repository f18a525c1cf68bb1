"""Go in trusted runs: honest attempts get what they earned, attacks get nothing and leave a trace."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.e2e.trusted_tests.go_attacks import ATTACKS, Attack
from tests.e2e.trusted_tests.go_project import HONEST, LAZY, MODULE, NAMES, NEEDS_GO, TESTS, grade, ids

from adjudge.evidence.tests import trusted
from adjudge.records.score import ScorerResult

pytestmark = [pytest.mark.bwrap, NEEDS_GO]


@pytest.fixture(scope="module", autouse=True)
def _own_state(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ADJUDGE_HOME", str(tmp_path_factory.mktemp("state")))
        yield


@pytest.fixture(scope="module")
def attacked(tmp_path_factory: pytest.TempPathFactory) -> ScorerResult:
    """All attacks, each in a package of its own, graded together."""
    files = {"go.mod": MODULE}
    hidden = {}
    for number, (name, attack) in enumerate(ATTACKS.items()):
        folder = _folder(number, name)
        files[f"{folder}/shop.go"] = _source(attack)
        files |= {f"{folder}/{path}": text for path, text in attack.files}
        hidden[f"{folder}/shop_test.go"] = TESTS
    before = {path: LAZY if path.endswith(".go") else text for path, text in files.items()}
    before = {path: text for path, text in before.items() if path.endswith(("shop.go", "go.mod"))}
    with pytest.MonkeyPatch.context() as patch:
        # Further pairs of sessions could only take from an attack what it had left.
        patch.setattr(trusted, "_SECOND_OPINION", 0)
        return grade(
            tmp_path_factory.mktemp("attacks"), files, before=before, hidden=hidden, test_timeout_s=5
        )


def _folder(number: int, name: str) -> str:
    return f"a{number:02}_{name}"


def _source(attack: Attack) -> str:
    imports = {f'"{name}"' for name in (*attack.imports, "errors")}
    head = "package shop\n\nimport (\n" + "\n".join(sorted(imports)) + "\n)\n"
    code = textwrap.dedent(attack.code)
    own = 'var ErrNegative = errors.New("no")\n'
    if attack.lazy:
        own = LAZY.partition('import "errors"\n')[2]
    if code.lstrip().startswith("import"):
        first, _, code = code.lstrip().partition("\n")
        head += first + "\n"
    return head + own + code + "\n"


@pytest.mark.parametrize("name", ATTACKS)
def test_attack(name: str, attacked: ScorerResult) -> None:
    file = f"{_folder(list(ATTACKS).index(name), name)}/shop_test.go"
    tests = ids(attacked, file)
    assert sorted(tests) == sorted(NAMES)
    passed = [test for test in tests.values() if test["outcome"] == "passed"]
    assert not passed, passed
    sessions = attacked.details["sessions"]
    assert isinstance(sessions, list)
    problems = [problem for session in sessions for problem in session["problems"]]
    fired = {
        "passes-when-falsified": any("passes falsified" in test.get("reason", "") for test in tests.values()),
        "undeclared-skip": any("declares no skip" in test.get("reason", "") for test in tests.values()),
        "test-failed": True,
        "session-problem": any(file.partition("/")[0] in problem for problem in problems),
    }
    assert any(fired[rule] for rule in ATTACKS[name].findings), (problems, tests)


def test_an_honest_solution_gets_everything_proven(tmp_path: Path) -> None:
    row = grade(tmp_path, {"shop.go": HONEST})
    assert row.score == 1.0, row
    assert sorted(ids(row)) == sorted(NAMES)
    assert {name: test["proof"] for name, test in ids(row).items() if test["proof"] != "value"} == {
        "TestRefuses": "sense"
    }
    assert row.findings == ()
