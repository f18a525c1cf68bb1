"""Unstable tests on real sandboxes: found on the baseline, left out when an attempt is graded."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from adjudge.cli.main import main
from adjudge.records.stability import StabilityMeasurement, SuiteStability, UnstableTest
from adjudge.tasks.stability import find_stability, keep_stability

pytestmark = pytest.mark.bwrap

WRONG = "def add(a, b):\n    return a - b\n"
RIGHT = "def add(a, b):\n    return a + b\n"
STABLE = """\
from calc import add


def test_add():
    assert add(1, 2) == 3


def test_zero():
    assert add(0, 0) == 0
"""
# Nothing is kept between runs, so each is a toss: that five runs agree on all ten has a chance of 1 in 10^12.
TOSSES = """

import time

import pytest


@pytest.mark.parametrize("number", range(10))
def test_toss(number):
    assert (time.time_ns() // 1000 >> number % 3) % 2 == 0
"""
ADD, ZERO = "test_calc.py::test_add", "test_calc.py::test_zero"


class Bench:
    """A scenario whose project has a suite, and the commands on it."""

    def __init__(self, root: Path, capsys: pytest.CaptureFixture[str]) -> None:
        self.state = root / "state"
        self.scenario = root / "scenario"
        self.place = root / "work"
        self._capsys = capsys
        (self.scenario / "project").mkdir(parents=True)
        self.write("calc.py", WRONG)
        self.write("test_calc.py", STABLE)
        self.recipe({"type": "pytest", "name": "suite", "proof": "single"})

    def write(self, name: str, text: str) -> None:
        (self.scenario / "project" / name).write_text(text)

    def recipe(self, *lines: dict[str, Any]) -> None:
        document = {"instruction": "Go.", "workspace": {"source": "directory", "path": "project"}}
        (self.scenario / "adjudge.yaml").write_text(json.dumps({**document, "scorers": lines}))

    def run(self, *args: str | Path) -> tuple[int, Any]:
        self._capsys.readouterr()
        code = main([str(arg) for arg in (*args, "--json")])
        out, self.stderr = self._capsys.readouterr()
        return code, json.loads(out) if out else None

    def doctor(self, *options: str, task: str | None = None) -> tuple[int, Any]:
        return self.run("doctor", task or self.scenario, *options)

    def seed(self, *options: str) -> Any:
        code, document = self.run("seed", self.scenario, self.place, *options)
        assert code == 0, self.stderr
        return document

    def row(self) -> dict[str, Any]:
        """The one row of a grading of the workspace."""
        code, document = self.run("grade", "--workspace", self.place)
        assert code in (0, 1), self.stderr
        (row,) = document["scorers"]
        assert isinstance(row, dict)
        return row

    def record(self, digest: str, *ids: str) -> None:
        """As if a measurement had found these to be unstable."""
        unstable = tuple(UnstableTest(id=id_, outcomes={"failed": 1, "passed": 1}) for id_ in ids)
        suites = (SuiteStability(scorer="suite", tests=len(ids), unstable=unstable),)
        measurement = StabilityMeasurement(
            measured_at="2026-01-01T00:00:00+00:00", baseline_digest=digest, repeats=2, suites=suites
        )
        keep_stability(digest, measurement, self.state)


@pytest.fixture
def bench(hostile_tmp: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Bench:
    monkeypatch.setenv("ADJUDGE_HOME", str(hostile_tmp / "state"))
    monkeypatch.delenv("ADJUDGE_SANDBOX", raising=False)
    monkeypatch.chdir(hostile_tmp)
    return Bench(hostile_tmp, capsys)


def unstable_rules(row: dict[str, Any]) -> list[str]:
    return [finding["message"] for finding in row["findings"] if finding["rule"] == "unstable-on-baseline"]


def test_unstable_tests_are_found_and_left_out(bench: Bench) -> None:
    bench.write("test_calc.py", STABLE + TOSSES)
    code, document = bench.doctor("--repeat", "5")
    assert code == 1, bench.stderr
    assert document["schema"] == "adjudge.stability/1"
    (suite,) = document["suites"]
    assert suite["tests"] == 12
    assert suite["broken_off"] == 0
    found = [test["id"] for test in suite["unstable"]]
    assert found
    assert all(id_.startswith("test_calc.py::test_toss[") for id_ in found)
    for test in suite["unstable"]:
        assert set(test["outcomes"]) == {"passed", "failed"}
        assert sum(test["outcomes"].values()) == 5
    assert sorted(path.name for path in bench.state.iterdir()) == ["stability"]

    seeded = bench.seed()
    assert "stability" not in seeded
    assert seeded["task"]["digest"] == document["task"]["digest"]
    (bench.place / "calc.py").write_text(RIGHT)
    row = bench.row()
    details = row["details"]
    assert sorted(test["id"] for test in details["unstable"]) == sorted(found)
    counted = {test["id"]: test["outcome"] for test in details["tests"]}
    assert len(counted) == 12 - len(found)
    assert counted.keys().isdisjoint(found)
    assert counted[ADD] == counted[ZERO] == "passed"
    passed = list(counted.values()).count("passed")
    assert row["score"] == pytest.approx(passed / len(counted))
    assert f"{len(found)} unstable one" in row["reason"]
    assert len(unstable_rules(row)) == len(found)


def test_a_stable_suite_has_none(bench: Bench) -> None:
    document = bench.seed("--repeat", "2")
    (suite,) = document["stability"]["suites"]
    # `test_add` fails each time: that is stable.
    assert (suite["tests"], suite["unstable"]) == (2, [])
    assert document["stability"]["left_out"] == {}
    (bench.place / "calc.py").write_text(RIGHT)
    row = bench.row()
    assert (row["verdict"], row["reason"]) == ("PASS", "2 of 2 tests passed (2 unproven)")
    assert row["details"]["unstable"] == unstable_rules(row) == []


def test_an_attempt_cannot_make_a_test_unstable(bench: Bench) -> None:
    digest = bench.seed()["task"]["digest"]
    hostile = "import time\n\n\ndef add(a, b):\n    return a + b + (time.time_ns() // 1000 % 2 or 100)\n"
    (bench.place / "calc.py").write_text(hostile)
    (bench.place / "test_calc.py").write_text(STABLE + TOSSES)
    forged = bench.place / "stability" / f"{digest.removeprefix('sha256:')}.json"
    forged.parent.mkdir()
    bench.record(digest, ADD)
    forged.write_bytes((bench.state / "stability" / forged.name).read_bytes())
    (bench.state / "stability" / forged.name).unlink()
    code, document = bench.doctor("--repeat", "3", task=digest)
    assert code == 0, bench.stderr
    assert document["suites"][0]["tests"] == 2
    row = bench.row()
    assert (row["score"], row["details"]["counts"]["failed"]) == (0.0, 2)
    assert row["details"]["unstable"] == []


INVERTED = """\
class AnythingElse:
    def __eq__(self, other):
        return other != 0


def add(a, b):
    return AnythingElse() if (a, b) == (0, 0) else a + b
"""


def test_twins_of_an_unstable_test_are_no_sign_of_guessing(bench: Bench) -> None:
    bench.recipe({"type": "pytest", "name": "suite"})
    digest = bench.seed()["task"]["digest"]
    # Wrong as written and right falsified: this is what guessing looks like, and it costs the other pass.
    (bench.place / "calc.py").write_text(INVERTED)
    row = bench.row()
    assert (row["score"], row["details"]["inverted"]) == (0.0, 1)
    bench.record(digest, ZERO)
    row = bench.row()
    assert (row["verdict"], row["score"]) == ("PASS", 1.0)
    assert row["details"]["inverted"] == 0
    assert [test["id"] for test in row["details"]["unstable"]] == [ZERO]
    assert [message.startswith(ZERO) for message in unstable_rules(row)] == [True]


def test_pass_to_pass_and_fail_to_pass(bench: Bench) -> None:
    line = {"type": "swebench", "name": "suite", "fail_to_pass": [ADD], "pass_to_pass": [ZERO]}
    bench.recipe({**line, "proof": "single"})
    digest = bench.seed()["task"]["digest"]
    (bench.place / "calc.py").write_text("def add(a, b):\n    return 3\n")
    row = bench.row()
    assert (row["verdict"], row["capped"]) == ("FAIL", True)
    bench.record(digest, ZERO)
    row = bench.row()
    assert (row["verdict"], row["score"], row["capped"]) == ("PASS", 1.0, False)
    assert row["details"]["pass_to_pass"] == {"success": [], "failure": []}
    assert len(unstable_rules(row)) == 1
    bench.record(digest, ADD)
    row = bench.row()
    assert (row["verdict"], row["score"], row["capped"]) == ("FAIL", 0.0, False)
    assert "no test is left" in row["reason"]


REPORTER = """\
import time
from calc import add

cases = {"sum": add(1, 2) == 3, "zero": add(0, 0) == 0}
cases |= {f"toss {n}": (time.time_ns() // 1000 >> n % 3) % 2 == 0 for n in range(10)}
with open("report.xml", "w") as file:
    file.write(f'<testsuite tests="{len(cases)}" failures="{list(cases.values()).count(False)}">')
    for name, passed in cases.items():
        file.write(f'<testcase name="{name}">{"" if passed else "<failure/>"}</testcase>')
    file.write("</testsuite>")
raise SystemExit(not all(cases.values()))
"""


def test_reports_of_other_runners(bench: Bench) -> None:
    bench.write("run.py", REPORTER)
    bench.recipe({"type": "tests", "name": "suite", "cmd": "python3 run.py", "junit_xml": "report.xml"})
    document = bench.seed("--repeat", "5")
    (suite,) = document["stability"]["suites"]
    assert suite["tests"] == 12
    found = [test["id"] for test in suite["unstable"]]
    assert found
    assert all("toss" in id_ for id_ in found)
    (bench.place / "calc.py").write_text(RIGHT)
    row = bench.row()
    assert sorted(row["details"]["unstable"]) == sorted(found)
    counted = [test for test in row["details"]["tests"] if test["id"] not in found]
    passed = sum(test["outcome"] == "passed" for test in counted)
    assert passed >= 2
    assert row["score"] == pytest.approx(passed / len(counted))
    assert len(unstable_rules(row)) == len(found)


@pytest.mark.parametrize(
    ("args", "problem"),
    [
        (("doctor", "scenario", "--repeat", "1"), "give at least 2"),
        (("doctor", "--repeat", "3"), "go with a TASK"),
        (("doctor", "nowhere"), "nowhere"),
        (("seed", "scenario", "work", "--repeat", "0"), "2<=x<=1000"),
    ],
)
def test_what_makes_no_sense_is_refused(bench: Bench, args: tuple[str, ...], problem: str) -> None:
    assert bench.run(*args) == (2, None)
    assert problem in bench.stderr


@pytest.mark.parametrize("command", [("doctor", "scenario"), ("seed", "scenario", "work")])
def test_without_tests_there_is_nothing_to_repeat(bench: Bench, command: tuple[str, ...]) -> None:
    bench.recipe({"type": "forbid_paths", "patterns": ["secret*"]})
    assert bench.run(*command, "--repeat", "2") == (2, None)
    assert "nothing to repeat" in bench.stderr
    assert not bench.place.exists()


@pytest.mark.parametrize("cmd", ["/nonexistent/python3 -m pytest", "sh nowhere.sh"])
def test_a_suite_that_cannot_be_run_is_not_called_stable(bench: Bench, cmd: str) -> None:
    bench.recipe({"type": "tests", "name": "suite", "cmd": cmd})
    code, document = bench.doctor("--repeat", "2")
    assert code == 3, bench.stderr
    (suite,) = document["suites"]
    assert (suite["tests"], suite["broken_off"]) == (0, 2)
    assert suite["problem"]


def test_tests_that_do_not_load_on_the_baseline_keep_no_others_from_running(bench: Bench) -> None:
    bench.write("test_more.py", "from calc import sub\n\n\ndef test_sub():\n    assert sub(2, 1) == 1\n")
    code, document = bench.doctor("--repeat", "2")
    assert code == 0, bench.stderr
    (suite,) = document["suites"]
    assert (suite["tests"], suite["unstable"], suite["broken_off"]) == (2, [], 0)


def test_a_damaged_record_is_not_passed_over(bench: Bench) -> None:
    digest = bench.seed()["task"]["digest"]
    bench.record(digest, ADD)
    assert find_stability(digest, bench.state) is not None
    (bench.state / "stability" / f"{digest.removeprefix('sha256:')}.json").write_text("{}")
    assert bench.run("grade", "--workspace", bench.place) == (3, None)
    assert "damaged" in bench.stderr


def test_what_people_are_told(bench: Bench, capsys: pytest.CaptureFixture[str]) -> None:
    digest = bench.seed()["task"]["digest"]
    bench.record(digest, ZERO)
    capsys.readouterr()
    assert main(["doctor", digest, "--repeat", "2"]) == 0
    shown = capsys.readouterr().out
    assert "suite: tests: 2 seen in 2 runs on the baseline, 0 unstable" in shown
    assert f"suite: unstable in an earlier measurement: {ZERO}" in shown
