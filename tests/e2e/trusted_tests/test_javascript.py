"""Jest and Vitest in trusted runs: honest attempts get what they earned, attacks nothing but findings."""

from __future__ import annotations

import textwrap
from pathlib import Path
from typing import Any

import pytest
from tests.e2e.trusted_tests.javascript_attacks import ATTACKS, FORGER, PLANTED
from tests.e2e.trusted_tests.javascript_project import (
    HONEST,
    JEST,
    LAZY,
    NAMES,
    TESTS,
    VITEST,
    Runner,
    grade,
    ids,
    need,
)

from adjudge.records.score import ScorerResult

pytestmark = pytest.mark.bwrap


@pytest.fixture(autouse=True)
def _own_state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ADJUDGE_HOME", str(tmp_path / "state"))


@pytest.fixture(params=[JEST, VITEST], ids=lambda runner: runner.name)
def runner(request: pytest.FixtureRequest) -> Runner:
    """One of the two, where it is installed."""
    found: Runner = request.param
    need(found)
    return found


_MORE = """\
test('is truthy', () => { expect(shop.label('a')).toBeTruthy(); });
test('asserts nothing', () => { shop.label('a'); });
test.skip('later', () => {});
test('waits for nothing', () => { expect(Promise.resolve(1)).resolves.toBe(1); });
it.each([{ text: 'A b', slug: 'a-b' }])('makes $slug', ({ text, slug }) => {
  expect(shop.label(text)).toBe(slug);
});
test('refuses', () => { expect(() => shop.withTax(-1, 20)).toThrow(RangeError); });
test('refuses at all', () => { expect(() => shop.withTax(-1, 20)).toThrow(); });
test('is about', () => { expect(shop.withTax(0.1, 10)).toBeCloseTo(0.11); });
test('is more', () => { expect(shop.withTax(5, 10)).toBeGreaterThan(5); });
"""


def test_an_honest_solution_gets_everything_and_half_of_one_its_half(tmp_path: Path, runner: Runner) -> None:
    half = HONEST.replace(".replaceAll(' ', '-')", "").replace("(found[thing] || 0) + 1", "1")
    # One file is TypeScript where the runner understands that without help.
    typed, as_string = ("half.test.ts", " as string") if runner is VITEST else ("half.test.js", "")
    row = grade(
        tmp_path,
        runner,
        {"shop.js": runner.module(HONEST), "half.js": runner.module(half)},
        {
            "shop.test.js": runner.tests(TESTS),
            "more.test.js": runner.tests(_MORE),
            typed: runner.tests(TESTS, "half").replace("'Blue Mug'", f"'Blue Mug'{as_string}"),
        },
    )
    seen = ids(row)
    shop = {f"shop.test.js::{name}": (1, "value") for name in NAMES}
    more = {
        "is truthy": (1, "sense"),
        "asserts nothing": (1, "unproven"),
        "later": (0, None),
        "waits for nothing": (1, "unproven"),
        ("makes 'a-b'" if runner is VITEST else "makes a-b"): (1, "value"),
        "refuses": (1, "value"),
        "refuses at all": (1, "value"),
        "is about": (1, "value"),
        "is more": (1, "value"),
    }
    failed = ("labels", "basket > counts")
    expected = {
        **shop,
        **{f"more.test.js::{name}": what for name, what in more.items()},
        **{f"{typed}::{name}": (0, None) if name in failed else (1, "value") for name in NAMES},
    }
    assert {
        id_: (int(test["outcome"] == "passed"), test.get("proof")) for id_, test in seen.items()
    } == expected
    assert row.score == 18 / 20
    assert {finding.rule for finding in row.findings} == {"test-failed"}


def test_attacks(tmp_path: Path, runner: Runner) -> None:
    """All in one suite: every attack is a module with a test file of its own."""
    attacks = {f"attack{at}": attack for at, attack in enumerate(ATTACKS) if runner.name in attack.runners}
    names = ", ".join(repr(name) for name in NAMES)
    files = {
        f"{module}.js": runner.module(LAZY + textwrap.dedent(attack.code).replace("NAMES", names))
        for module, attack in attacks.items()
    }
    row = grade(
        tmp_path,
        runner,
        files,
        {f"{module}.test.js": runner.tests(TESTS, module) for module in attacks},
        timeout_s=300,
    )
    assert (row.score, row.details["expected"]) == (0.0, len(attacks) * len(NAMES)), _said(row)
    for module, attack in attacks.items():
        outcomes = {test["outcome"] for id_, test in ids(row).items() if id_.startswith(f"{module}.")}
        assert outcomes <= {"failed", "error"}, (attack.name, _said(row, module))
        reasons = [test["reason"] for id_, test in ids(row).items() if id_.startswith(f"{module}.")]
        assert any(attack.reason in reason for reason in reasons), (attack.name, _said(row, module))
    fired: Any = row.details["protections"]
    assert {"passes-when-falsified", "undeclared-skip"} <= set(fired), fired


def test_forged_reports_of_our_own_are_found_out(tmp_path: Path, runner: Runner) -> None:
    names = ", ".join(repr(name) for name in NAMES)
    code = LAZY + textwrap.dedent(FORGER).replace("NAMES", names)
    row = grade(
        tmp_path,
        runner,
        {"shop.js": runner.module(code), **PLANTED},
        {"shop.test.js": runner.tests(TESTS)},
        timeout_s=120,
    )
    assert row.score == 0.0, _said(row)
    # The stream of a sandbox that root made is another user's and cannot be opened at all.
    rules = {finding.rule for finding in row.findings}
    left_out = {finding.path for finding in row.findings if finding.rule == "left-out-of-clean"}
    # What package managers write is not listed file by file.
    assert left_out >= {path for path in PLANTED if not path.startswith("node_modules/")}, left_out
    assert rules & {"passes-when-falsified", "session-problem"}, _said(row)


def test_a_test_that_never_ends_does_not_take_the_session_with_it(tmp_path: Path, runner: Runner) -> None:
    tests = """\
        test('adds tax', () => { expect(shop.withTax(100, 20)).toBe(120); });
        test('never ends', () => { BODY });
    """
    # Vitest does not get to say that a test began which blocks its process; that takes a minute to find out.
    blocks = "Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);"
    tests = tests.replace("BODY", blocks if runner is JEST else "return new Promise(() => {});")
    row = grade(
        tmp_path,
        runner,
        {"shop.js": runner.module(HONEST)},
        {
            "a.test.js": runner.tests(TESTS),
            "b.test.js": runner.tests(textwrap.dedent(tests)),
        },
        test_timeout_s=5,
        timeout_s=120,
    )
    ended = {id_: test["outcome"] for id_, test in ids(row).items()}
    assert {id_ for id_, outcome in ended.items() if outcome == "passed"} >= {
        f"a.test.js::{name}" for name in NAMES
    }, _said(row)
    assert ended["b.test.js::never ends"] in ("failed", "error")


def test_ids_of_a_data_set(tmp_path: Path) -> None:
    need(VITEST)
    fixed = HONEST.replace("(price * rate) / 100", "price * rate")
    row = grade(
        tmp_path,
        VITEST,
        {"shop.js": VITEST.module(fixed)},
        {"shop.test.js": VITEST.tests(TESTS)},
        before={"shop.js": VITEST.module(LAZY)},
        type="swebench",
        cmd_prefix=VITEST.cmd,
        fail_to_pass=["shop.test.js::labels", "shop.test.js::50 at 10 is 55"],
        pass_to_pass=["shop.test.js::basket > counts"],
    )
    assert (row.score, row.details["resolution"]) == (0.5, "partial"), row


def _said(row: ScorerResult, start: str = "") -> str:
    tests = "\n".join(f"{id_}: {test}" for id_, test in ids(row).items() if id_.startswith(start))
    found = "\n".join(f"{finding.rule}: {finding.message}" for finding in row.findings)
    return f"{tests}\n{found}\n{row.details['sessions']}"
