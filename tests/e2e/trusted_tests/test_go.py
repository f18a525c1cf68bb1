"""Go in trusted runs: honest attempts get what they earned, attacks get nothing and leave a trace."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.e2e.trusted_tests.go_attacks import ATTACKS, Attack
from tests.e2e.trusted_tests.go_project import HONEST, LAZY, MODULE, NAMES, NEEDS_GO, TESTS, grade, ids

from adjudge.evidence.tests import trusted
from adjudge.scorers.behaviour.coderun import LEFT_OUT

pytestmark = [pytest.mark.bwrap, NEEDS_GO]


@pytest.fixture(scope="module", autouse=True)
def _own_state(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ADJUDGE_HOME", str(tmp_path_factory.mktemp("state")))
        yield


def _folder(number: int, name: str) -> str:
    return f"a{number:02}_{name}"


def _source(attack: Attack) -> str:
    imports = {f'"{name}"' for name in (*attack.imports, "errors")}
    head = "package shop\n\nimport (\n" + "\n".join(sorted(imports)) + "\n)\n"
    code = textwrap.dedent(attack.code)
    own = 'var ErrNegative = errors.New("no")\n'
    if attack.lazy:
        own = LAZY.partition('import "errors"\n')[2]
    return head + own + code + "\n"


def test_attacks_get_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """All of them, each in a package of its own, so that one build serves them all."""
    files = {"go.mod": MODULE}
    before = {"go.mod": MODULE}
    hidden = {}
    for number, (name, attack) in enumerate(ATTACKS.items()):
        folder = _folder(number, name)
        before[f"{folder}/shop.go"] = LAZY
        files[f"{folder}/shop.go"] = _source(attack)
        files |= {f"{folder}/{path}": text for path, text in attack.files}
        hidden[f"{folder}/shop_test.go"] = TESTS
    # Further pairs of sessions could only take from an attack what it had left.
    monkeypatch.setattr(trusted, "_SECOND_OPINION", 0)
    row = grade(tmp_path, files, before=before, hidden=hidden)
    wrong = {}
    for number, (name, attack) in enumerate(ATTACKS.items()):
        tests = ids(row, f"{_folder(number, name)}/shop_test.go")
        reasons = {test.get("reason", "") for test in tests.values()}
        fired = {
            "passes-when-falsified": any("passes falsified" in reason for reason in reasons),
            "undeclared-skip": any("declares no skip" in reason for reason in reasons),
            "test-failed": True,
        }
        passed = any(test["outcome"] == "passed" for test in tests.values())
        if passed or sorted(tests) != sorted(NAMES) or not any(fired[rule] for rule in attack.findings):
            wrong[name] = tests
    assert wrong == {}
    assert row.score == 0.0


def test_an_honest_solution_gets_everything_proven(tmp_path: Path) -> None:
    row = grade(tmp_path, {"shop.go": HONEST})
    assert row.score == 1.0, row
    assert sorted(ids(row)) == sorted(NAMES)
    assert {name: test["proof"] for name, test in ids(row).items() if test["proof"] != "value"} == {
        "TestRefuses": "sense"
    }
    assert row.findings == ()


def test_half_a_solution_gets_its_half(tmp_path: Path) -> None:
    half = HONEST.replace('strings.ReplaceAll(strings.ToLower(text), " ", "-")', "strings.ToLower(text)")
    half = half.replace("return 0, ErrNegative", 'panic("negative")')
    row = grade(tmp_path, {"shop.go": half})
    failed = {name for name, test in ids(row).items() if test["outcome"] != "passed"}
    assert failed == {"TestLabel", "ExampleLabel", "TestRefuses"}
    assert row.score == 5 / 8
    assert {finding.rule for finding in row.findings} == {"test-failed"}
    assert 'got "blue mug"' in ids(row)["TestLabel"]["message"]


ASSERT = """\
package assert

import "testing"

func Equal(t *testing.T, want, got interface{}) {
    t.Helper()
    if want != got {
        t.Errorf("want %v, got %v", want, got)
    }
}
"""
LENIENT = 'package assert\n\nimport "testing"\n\nfunc Equal(t *testing.T, want, got interface{}) {}\n'
EVIL = 'package shop\n\nimport (\n    "os"\n    "testing"\n)\n\nfunc TestMain(m *testing.M) { os.Exit(0) }\n'


def _vendored(module: str = MODULE) -> dict[str, str]:
    return {
        "go.mod": module + "\nrequire example.com/assert v1.0.0\n",
        "vendor/modules.txt": "# example.com/assert v1.0.0\n## explicit\nexample.com/assert\n",
        "vendor/example.com/assert/assert.go": ASSERT,
        "shop.go": LAZY,
        "tax/tax.go": "package tax\n\nfunc Rate() int { return 0 }\n",
    }


MORE = {
    "shop_test.go": TESTS,
    "tax/tax_test.go": """\
package tax_test

import (
    "testing"

    "example.com/assert"
    "example.com/shop/tax"
)

func TestRate(t *testing.T) {
    assert.Equal(t, 20, tax.Rate())
}

func TestNothing(t *testing.T) {
    tax.Rate()
}

func TestLater(t *testing.T) {
    t.Skip("not yet")
}
""",
    "tax/slow_test.go": "//go:build slow\n\npackage tax\n\nfunc TestSlow(t *testing.T) {}\n",
}


def test_several_packages_internal_and_external_with_vendored_assertions(tmp_path: Path) -> None:
    solved = {"shop.go": HONEST, "tax/tax.go": "package tax\n\nfunc Rate() int { return 20 }\n"}
    row = grade(tmp_path, solved, before=_vendored(), hidden=MORE)
    assert row.score == 1.0, row
    found = ids(row, "tax/tax_test.go")
    assert {name: test.get("proof") for name, test in found.items()} == {
        "TestRate": "value",
        "TestNothing": "unproven",
        "TestLater": None,
    }
    assert ids(row, "tax/slow_test.go") == {}
    assert len(ids(row)) == len(NAMES)
    assert row.details["unproven"] == 1


def test_what_is_planted_around_the_tests_changes_nothing(tmp_path: Path) -> None:
    planted = {
        "shop.go": LAZY,
        "go.mod": MODULE + "\nrequire example.com/assert v1.0.0\n\nreplace example.com/assert => ./lenient\n",
        "lenient/go.mod": "module example.com/assert\n",
        "lenient/assert.go": LENIENT,
        "vendor/example.com/assert/assert.go": LENIENT,
        "go.work": "go 1.18\n\nuse (\n    .\n    ./lenient\n)\n",
        "go.env": "GOFLAGS=-run=NoSuchTest\n",
        ".config/go/env": "GOFLAGS=-run=NoSuchTest\n",
        "main_test.go": EVIL,
        "tax/tax_test.go": "//go:build ignore\n\npackage tax\n",
        "testing/testing.go": "package testing\n\ntype T struct{}\n",
    }
    row = grade(tmp_path, planted, before=_vendored(), hidden=MORE)
    tests = [*ids(row).values(), *ids(row, "tax/tax_test.go").values()]
    assert {test["id"].partition("::")[2] for test in tests if test["outcome"] == "passed"} == {"TestNothing"}
    assert row.details["counts"]["failed"] == len(NAMES) + 1  # type: ignore[index, call-overload]
    left = {finding.path for finding in row.findings if finding.rule == LEFT_OUT}
    assert {"go.mod", "go.work", "vendor/example.com/assert/assert.go", "main_test.go"} <= left


def test_a_planted_main_in_a_snapshot_is_found_out(tmp_path: Path) -> None:
    forged = EVIL.replace("os.Exit(0)", "m.Run(); os.Exit(0)")
    row = grade(tmp_path, {"shop.go": LAZY, "main_test.go": forged}, isolation="snapshot")
    assert row.score == 0.0
    assert {finding.rule for finding in row.findings} == {"test-failed", "session-problem"}


def test_tests_that_the_code_carries_with_it_do_not_run(tmp_path: Path) -> None:
    spy = 'package spy\n\nimport _ "embed"\n\n//go:embed inner/shop_test.go\nvar Tests string\n'
    knowing = LAZY.replace('import "errors"', 'import (\n"errors"\n_ "example.com/shop"\n)')
    row = grade(
        tmp_path,
        {"spy.go": spy, "inner/shop.go": knowing},
        before={"go.mod": MODULE, "spy.go": "package spy\n", "inner/shop.go": LAZY},
        hidden={"inner/shop_test.go": TESTS},
        cmd="go test ./inner",
    )
    assert row.score == 0.0
    said = [finding.message for finding in row.findings if finding.rule == "session-problem"]
    assert any("tests are embedded in the code under test" in message for message in said)


def test_a_module_that_is_made_by_the_attempt_in_a_single_session(tmp_path: Path) -> None:
    row = grade(
        tmp_path,
        {"go.mod": MODULE, "shop.go": HONEST},
        before={"README": "nothing yet\n"},
        cmd="go test -run TestLabel -short .",
        proof="single",
    )
    assert row.score == 1.0, row
    assert {name: test["proof"] for name, test in ids(row).items()} == {"TestLabel": "unproven"}


def test_swebench_with_ids_of_packages(tmp_path: Path) -> None:
    row = grade(
        tmp_path,
        {"shop.go": HONEST},
        type="swebench",
        cmd_prefix="go test",
        fail_to_pass=["example.com/shop::TestWithTax/twenty_percent", "TestLabel"],
        pass_to_pass=["example.com/shop.TestRefuses", "shop_test.go::ExampleLabel"],
    )
    assert (row.score, row.details["resolution"]) == (1.0, "full"), row
