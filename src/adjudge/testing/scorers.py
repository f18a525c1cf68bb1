"""The scorer conformance suite: what `contracts.Scorer` promises, one check per sentence.

For a scorer of your own, in a test module:

    from adjudge.testing.scorers import ScorerConformance

    class TestMyScorer(ScorerConformance):
        scorer = MyScorer
        configs = ({"limit": 0},)

pytest then runs every check as a test of its own, with the example of the docstring and with each of
`configs`, over attempts that mean harm: odd names, text that is none, floods, commands that end in every way
there is. `CHECKS` holds the same checks for use without pytest; each raises `AssertionError` with what is
wrong. Cases of what the scorer is *for* are yours to write, with `adjudge.testing.attempts`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, ClassVar

import pytest
import yaml

from adjudge.contracts import Scorer
from adjudge.formats.tasks.scorerdocs import docstring_sections
from adjudge.records.annotation import ErrorSource, ErrorTag
from adjudge.records.base import Record
from adjudge.records.differential import (
    Comparison,
    Culprit,
    Inventory,
    InventoryTest,
    LoadedModule,
    RedTest,
    SuiteInventories,
    TreeComparison,
    TreeRun,
)
from adjudge.records.evidence import (
    AnyRequest,
    CommandOutcome,
    CommandRun,
    Differential,
    OutputFile,
    ReportedTests,
    ReportRun,
    Routes,
    SecretFindings,
    SecretScan,
    SuiteInventory,
    TestRun,
    VerifierOutcome,
    VerifierRun,
)
from adjudge.records.outputs import CheckedOutput
from adjudge.records.routes import Arm, Route, RoutedFunction, TakenRoutes
from adjudge.records.sandbox import Ended
from adjudge.records.score import Finding, ScorerConfig, ScorerOutcome, Verdict
from adjudge.records.testreport import (
    Proof,
    TestCase,
    TestCounts,
    TestOutcome,
    TestReport,
    TrustedTest,
    TrustedTestRun,
)
from adjudge.records.verifier import RewardProblem, RewardReading, VerifierNotes
from adjudge.testing.attempts import (
    Attempt,
    Executable,
    Folder,
    Repository,
    Special,
    Symlink,
    Thing,
    Unreadable,
    exec_result,
    suite_session,
)

__all__ = ["CHECKS", "ScorerCheck", "ScorerConformance", "hostile_attempts"]

_SECTIONS = ("Measures", "Evidence", "How it is fooled", "Example")
_FLAGS = frozenset({"name", "type", "required", "weight", "gate"})
_MAX_ROW_BYTES = 1024 * 1024


@dataclass(frozen=True, slots=True)
class Bench:
    """A scorer with the configurations to try it with."""

    scorer: type[Scorer[Any]]
    configs: Sequence[ScorerConfig]

    def outcomes(self) -> Iterator[tuple[str, Callable[[], ScorerOutcome]]]:
        """Every combination of configuration and hostile evidence, with what tells it apart."""
        for config in self.configs:
            for name, attempt in hostile_attempts().items():
                needs = self.scorer().needs(config)
                for variant, answers in _variants(needs):

                    def score(
                        config: ScorerConfig = config,
                        attempt: Attempt = attempt,
                        answers: Mapping[AnyRequest, Record] = answers,
                    ) -> ScorerOutcome:
                        made = self.scorer()
                        return made.score(config, attempt.evidence(made.needs(config), answers))

                    yield f"{name}{variant}, {config!r}", score


@dataclass(frozen=True, slots=True)
class ScorerCheck:
    """One promise, and how it is tried."""

    name: str
    run: Callable[[Bench], None]


class ScorerConformance:
    """Subclass it in a test module as `Test…` and set `scorer`; pytest does the rest."""

    scorer: ClassVar[type[Scorer[Any]]]
    configs: ClassVar[Sequence[Mapping[str, object]]] = ()
    """The scorer's own fields, as recipes would write them, beside the example in its docstring."""

    def pytest_generate_tests(self, metafunc: pytest.Metafunc) -> None:
        """One test for each check."""
        if "scorer_check" in metafunc.fixturenames:
            metafunc.parametrize("scorer_check", [pytest.param(check, id=check.name) for check in CHECKS])

    def test_promise(self, scorer_check: ScorerCheck) -> None:
        """Try one promise on the scorer."""
        scorer_check.run(bench(self.scorer, self.configs))


def bench(scorer: type[Scorer[Any]], configs: Sequence[Mapping[str, object]] = ()) -> Bench:
    """A scorer ready to be tried."""
    written = [*_example_fields(scorer), *configs]
    return Bench(scorer, [scorer().Config.model_validate(dict(fields)) for fields in written])


@cache
def hostile_attempts() -> Mapping[str, Attempt]:
    """Attempts that scorers have to bear, by what is odd about them."""
    text = "def test_a():\n    assert 1 == 1\n"
    odd: dict[str, Thing] = {
        "new\nline.py": text,
        "tab\tand space .py": text,
        "not utf-8 \udcff\udcfe.py": text,
        '"quoted".py': text,
        "-rf": text,
        "[brackets]*.py": text,
        "é/ü.py": text,
        "e\u0301.py": text,
        "\u202eyp.txt": text,
        "very/" * 200 + "deep.py": text,
        "tests/" + "long" * 60 + ".py": text,
    }
    kinds: dict[str, Thing] = {
        "tests/test_link.py": Symlink("/etc/passwd"),
        "tests/test_dangling.py": Symlink("nowhere"),
        "tests/test_fifo.py": Special(),
        "tests/test_closed.py": Unreadable(10**12),
        "module": Repository("1" * 40),
        "empty": Folder(),
        "run.sh": Executable("#!/bin/sh\n"),
    }
    many: dict[str, Thing] = {f"tests/test_{number:05}.py": text for number in range(1000)}
    return {
        "nothing changed": Attempt({"a.py": text}, {"a.py": text}),
        "an empty workspace": Attempt(),
        "everything deleted": Attempt({"a.py": text, "tests/test_a.py": text}, {}),
        "odd names": Attempt({}, odd),
        "odd names deleted": Attempt(odd, {}),
        "kinds of entries": Attempt({}, kinds),
        "kinds of entries become files": Attempt(kinds, dict.fromkeys(kinds, text)),
        "files become kinds of entries": Attempt(dict.fromkeys(kinds, text), kinds),
        "a folder becomes a symlink": Attempt({"tests/test_a.py": text}, {"tests": Symlink("elsewhere")}),
        "not text": Attempt(
            {"tests/test_a.py": text}, {"tests/test_a.py": b"\x00\xff\xfe" * 100, "b.py": b"\xff\xfe\x80\n"}
        ),
        "one long line": Attempt({}, {"tests/test_a.py": "assert " + "x" * 200_000}),
        "only newlines": Attempt({}, {"tests/test_a.py": "\n" * 5000}),
        "a rename": Attempt({"tests/test_a.py": text}, {"src/a.py": text}),
        "a rename with edits": Attempt(
            {"tests/test_a.py": text}, {"b.py": text + "x\n"}, renamed={"tests/test_a.py": "b.py"}
        ),
        "all of it litter": Attempt({}, odd | kinds, litter=("*",)),
        "a flood": Attempt({}, many),
    }


def _variants(needs: Sequence[AnyRequest]) -> Iterator[tuple[str, dict[AnyRequest, Record]]]:
    """Answers no dictionary gives: commands that end in every way, and secrets found."""
    yield "", {}
    commands = [need for need in needs if isinstance(need, CommandRun)]
    if commands:
        for how in Ended:
            signal = 9 if how is Ended.SIGNALLED else None
            result = exec_result(3, ended=how, signal=signal, stdout="\ufffd\x1b[31m\0" * 2000, stderr="x\n")
            yield f", a command that ended: {how}", {need: CommandOutcome(result=result) for need in commands}
        flooded = CommandOutcome(result=exec_result(0, ended=Ended.SIGNALLED, signal=4711))
        yield ", an unknown signal", dict.fromkeys(commands, flooded)
    suites = [need for need in needs if isinstance(need, TestRun)]
    for variant, run in _suite_runs().items() if suites else ():
        yield f", a test run: {variant}", dict.fromkeys(suites, run)
    reports = [need for need in needs if isinstance(need, ReportRun)]
    for variant, reported in _reported_tests().items() if reports else ():
        yield f", a test report: {variant}", dict.fromkeys(reports, reported)
    verifiers = [need for need in needs if isinstance(need, VerifierRun)]
    for variant, verified in _verifier_runs().items() if verifiers else ():
        yield f", a verifier: {variant}", dict.fromkeys(verifiers, verified)
    trees = [need for need in needs if isinstance(need, Differential)]
    for variant, compared in _tree_comparisons().items() if trees else ():
        yield f", a comparison of trees: {variant}", dict.fromkeys(trees, compared)
    inventories = [need for need in needs if isinstance(need, SuiteInventory)]
    for variant, taken in _inventories().items() if inventories else ():
        yield f", inventories: {variant}", dict.fromkeys(inventories, taken)
    routes = [need for need in needs if isinstance(need, Routes)]
    for variant, routed in _taken_routes().items() if routes else ():
        yield f", routes: {variant}", dict.fromkeys(routes, routed)
    outputs = [need for need in needs if isinstance(need, OutputFile)]
    for variant, output in _outputs().items() if outputs else ():
        yield f", an output: {variant}", dict.fromkeys(outputs, output)
    if any(isinstance(need, SecretScan) for need in needs):
        findings = tuple(
            Finding(rule="secret-x", path=f"odd\n\udcff{number}", line=number + 1, message="redacted")
            for number in range(5000)
        )
        found = SecretFindings(findings=findings, scanned_bytes=10**15, unscanned=("a\udcff", "b"))
        yield ", many secrets", {SecretScan(): found}


_ODD_ID = "tests/a b.py::test_\N{SNOWMAN}[x::y]] z\x1b[31m\n"


def _suite_runs() -> Mapping[str, TrustedTestRun]:
    """Runs of suites that end in every way."""
    ended = [
        TrustedTest(
            id=f"{_ODD_ID}{outcome}",
            outcome=outcome,
            proof=Proof.UNPROVEN if outcome is TestOutcome.PASSED else None,
            reason="because\nof this",
            message="x" * 5000,
        )
        for outcome in TestOutcome
    ]
    broken = suite_session(complete=False, uncollected=("a.py: failed: x",), problems=("broke off",))
    finding = Finding(rule="unstable-test", message="odd", path="a\udcff")
    return {
        "no test": TrustedTestRun(tests=(), sessions=(broken,), seed="s"),
        "no session": TrustedTestRun(tests=(), sessions=(), seed="s"),
        "every outcome": TrustedTestRun(
            tests=tuple(ended), sessions=(broken,), seed="s", findings=(finding,) * 500, inverted=99
        ),
        "only skips": TrustedTestRun(tests=(ended[3],), sessions=(suite_session(),), seed="s"),
    }


def _tree_comparisons() -> Mapping[str, TreeComparison]:
    """Comparisons that end in every way, over odd paths."""
    odd = "tests/a\tb\udcff.py"
    run = TreeRun(green=False, ended="exit\n1", output_tail="\x1b[31m\0")
    red = [
        RedTest(
            id=f"{_ODD_ID}{outcome}", path=odd, baseline=outcome, clean=TestOutcome.FAILED, message="x\ny"
        )
        for outcome in TestOutcome
    ]
    culprits = [
        Culprit(paths=(odd, "tests/test_a.py"), groups=groups, broken=(_ODD_ID,) * 20, deaf=deaf)
        for groups in (("tests", "tests"), ("runner shims", "tests"))
        for deaf in (False, True)
    ]
    found = {
        f"{outcome}": TreeComparison(
            outcome=outcome,
            command="make\ntest",
            why="so\nit is",
            as_left=run,
            clean=run,
            baseline=run,
            red=tuple(red),
            known=True,
            culprits=tuple(culprits) * 50,
        )
        for outcome in Comparison
    }
    return {**found, "nothing known": TreeComparison(outcome=Comparison.DIFFERS)}


def _taken_routes() -> Mapping[str, TakenRoutes]:
    """Ways through odd functions, entered never, always and more often than is counted."""
    arms = tuple(
        Arm(
            line=1,
            text="\x1b[31m\0",
            visible=visible,
            hidden=hidden,
            came_visible=visible,
            came_hidden=hidden,
            above=0 if visible else None,
        )
        for visible, hidden in ((0, 0), (10**9, 0), (0, 10**9), (5, 1))
    )
    functions = tuple(
        RoutedFunction(
            path="a\udcff",
            line=1,
            text="x",
            visible=visible,
            hidden=hidden,
            arms=arms,
            routes=(Route(arms=(0, 3), visible=visible), Route(arms=(1,), hidden=hidden), Route(arms=())),
        )
        for visible, hidden in ((0, 0), (1, 0), (0, 1), (50, 50), (10**9, 10**9))
    )
    return {"nothing written": TakenRoutes(), "odd functions": TakenRoutes(functions=functions)}


def _inventories() -> Mapping[str, SuiteInventories]:
    """Inventories that have little to do with each other."""
    odd = "tests/a\tb\udcff.py"
    full = Inventory(
        tests=tuple(
            InventoryTest(id=f"{_ODD_ID}{outcome}", outcome=outcome, path=odd, ran=("a.py", odd))
            for outcome in TestOutcome
        ),
        modules=(LoadedModule(name="a", place="a.py"), LoadedModule(name=_ODD_ID, place=odd)),
        uncollected=("a.py: failed: x", ""),
    )
    other = full.model_copy(
        update={
            "tests": tuple(test.model_copy(update={"outcome": TestOutcome.SKIPPED}) for test in full.tests),
            "modules": tuple(module.model_copy(update={"place": "/tmp/\n"}) for module in full.modules),
        }
    )
    empty = Inventory(tests=())
    return {
        "nothing": SuiteInventories(why="so\nit is"),
        "no end": SuiteInventories(before=full, after=empty.model_copy(update={"complete": False})),
        "all lost": SuiteInventories(before=full, after=empty, watched=True),
        "all skipped": SuiteInventories(before=full, after=other, watched=True),
        "none after": SuiteInventories(before=full),
        "a flood": SuiteInventories(
            before=Inventory(
                tests=tuple(
                    InventoryTest(id=f"t::{number}", outcome=TestOutcome.PASSED, path="t")
                    for number in range(5000)
                )
            ),
            after=empty,
        ),
    }


def _outputs() -> Mapping[str, CheckedOutput]:
    """Output files that hold odd values, or cannot be read."""
    odd = "\x1b[31m\N{SNOWMAN}" * 500
    values: Mapping[str, Any] = {
        "nothing": None,
        "a text": odd,
        "a flood": [odd] * 1000,
        "odd keys": {odd: odd, "": {"": []}},
        "a huge number": 10**299,
        "every kind": [None, True, -0.0, 1e308, odd, [], {}],
    }
    found = {
        name: CheckedOutput(output_parseable=True, schema_valid=True, value=value)
        for name, value in values.items()
    }
    found["unreadable"] = CheckedOutput(output_parseable=False, schema_valid=False, errors=(odd,) * 20)
    found["of another shape"] = CheckedOutput(
        output_parseable=True, schema_valid=False, errors=(odd,), value={}
    )
    return found


def _verifier_runs() -> Mapping[str, VerifierOutcome]:
    """Verifiers that end in every way and say odd things."""
    odd = "\x1b[31m\N{SNOWMAN}" * 500
    tag = ErrorTag(category="odd", description=odd, source=ErrorSource.JUDGE)
    notes = VerifierNotes(breakdown={odd: [None, {"a": 1e300}]}, tags=(tag,) * 200, problems=(odd,) * 500)
    reading = RewardReading(
        reward=0.5, source="reward.json", rewards={odd: 0.5, "b": 7.0}, warnings=(odd,), disagreement=odd
    )
    unreadable = CheckedOutput(output_parseable=False, schema_valid=False, errors=(odd,) * 20)
    found = {
        f"problem: {problem}": VerifierOutcome(
            result=exec_result(1), reading=RewardReading(problem=problem, reason=odd), notes=notes
        )
        for problem in RewardProblem
    }
    for how in Ended:
        result = exec_result(3, ended=how, signal=9 if how is Ended.SIGNALLED else None, stdout=odd)
        found[f"ended: {how}"] = VerifierOutcome(
            result=result,
            reading=reading,
            notes=notes,
            output=unreadable,
            links=("a\udcff",) * 50,
            separate=True,
        )
    return found


def _reported_tests() -> Mapping[str, ReportedTests]:
    """Reports that say odd things."""
    cases = tuple(
        TestCase(id=f"{_ODD_ID}{outcome}", outcome=outcome, message="y\n" * 3000, file="a\tb", line=0)
        for outcome in TestOutcome
    )
    found = {
        "nothing": ReportedTests(result=exec_result(1), problems=("no report",)),
        "nothing at all": ReportedTests(result=exec_result(0)),
        "every outcome": ReportedTests(
            result=exec_result(1), report=TestReport(format="junit", cases=cases), source="files"
        ),
        "contradictions": ReportedTests(
            result=exec_result(0),
            report=TestReport(format="tap", cases=cases, complete=False, problems=("minus one passed",)),
            source="reporter",
        ),
        "printed": ReportedTests(
            result=exec_result(0),
            report=TestReport(format="console:pytest", cases=(), stated=TestCounts(passed=5)),
            source="console",
        ),
    }
    for how in Ended:
        result = exec_result(3, ended=how, signal=9 if how is Ended.SIGNALLED else None)
        found[f"ended: {how}"] = ReportedTests(
            result=result, report=TestReport(format="junit", cases=cases[:1]), source="files"
        )
    return found


def _example_fields(scorer: type[Scorer[Any]]) -> list[dict[str, object]]:
    """The scorer's own fields in its docstring's example."""
    text = docstring_sections(scorer).get("Example", "")
    try:
        document = yaml.safe_load(text)
    except yaml.YAMLError as error:
        raise AssertionError(f"the example of {scorer.__name__} is not YAML: {error}") from error
    lines = document.get("scorers", document.get("graders")) if isinstance(document, dict) else None
    assert isinstance(lines, list), f"the example of {scorer.__name__} has no list under `scorers:`"
    own = [line for line in lines if isinstance(line, dict) and line.get("type") == scorer.name]
    assert own, f"the example of {scorer.__name__} has no line of type {scorer.name}"
    return [{key: value for key, value in line.items() if key not in _FLAGS} for line in own]


def _says_what_it_is(bench: Bench) -> None:
    scorer = bench.scorer
    assert re.fullmatch(r"[a-z][a-z0-9_]*", scorer.name), f"name {scorer.name!r} is not lower_snake_case"
    assert isinstance(scorer.version, str), "version is not a text"
    assert scorer.version, "version is empty"
    assert isinstance(scorer.required_by_default, bool), "required_by_default is not a bool"
    assert isinstance(scorer.advisory_only, bool), "advisory_only is not a bool"
    assert issubclass(scorer().Config, ScorerConfig), "Config does not derive from ScorerConfig"


def _has_documentation(bench: Bench) -> None:
    sections = docstring_sections(bench.scorer)
    missing = [title for title in _SECTIONS if not sections.get(title, "").strip()]
    assert not missing, f"the docstring has no section {', '.join(missing)}"
    assert tuple(sections) == _SECTIONS, f"the sections are not in the order {', '.join(_SECTIONS)}"


def _documents_every_field(bench: Bench) -> None:
    fields = bench.scorer().Config.model_json_schema().get("properties", {})
    bare = [name for name, field in fields.items() if not field.get("description", "").strip()]
    assert not bare, f"no docstring under the fields {', '.join(bare)}"
    taken = sorted(_FLAGS & set(fields))
    assert not taken, f"these fields are flags of every scorer: {', '.join(taken)}"


def _refuses_unknown_fields(bench: Bench) -> None:
    for config in bench.configs:
        fields = {**config.model_dump(mode="json"), "no_such_field": 1}
        try:
            bench.scorer().Config.model_validate(fields)
        except ValueError:
            continue
        raise AssertionError("Config takes a field it does not know")


def _keeps_its_config(bench: Bench) -> None:
    for config in bench.configs:
        assert type(config).model_validate_json(config.model_dump_json()) == config, (
            f"{config!r} is another one after a round trip through JSON"
        )
        assert type(config).model_config.get("frozen"), "Config is not frozen"


def _asks_for_evidence(bench: Bench) -> None:
    for config in bench.configs:
        first, second = (list(bench.scorer().needs(config)) for _ in range(2))
        for need in first:
            assert isinstance(need, AnyRequest), f"needs() asks for {need!r}, which is no request"
        assert [need.digest for need in first] == [need.digest for need in second], (
            "needs() asks for something else the second time"
        )


def _bears_hostile_evidence(bench: Bench) -> None:
    for what, score in bench.outcomes():
        try:
            outcome = score()
        except Exception as error:
            raise AssertionError(f"score() raised on {what}: {type(error).__name__}: {error}") from error
        assert isinstance(outcome, ScorerOutcome), f"score() returned {outcome!r} on {what}"
        assert outcome.reason.strip(), f"no reason is given on {what}"
        assert "\n" not in outcome.reason, f"the reason is not one line on {what}: {outcome.reason!r}"
        for finding in outcome.findings:
            assert finding.rule, f"a finding has no rule on {what}"
            assert finding.message, f"a finding has no message on {what}"
            assert finding.line is None or finding.line >= 1, f"lines start at 1, on {what}: {finding.line}"


def _can_be_written_down(bench: Bench) -> None:
    for what, score in bench.outcomes():
        outcome = score()
        written = outcome.model_dump_json()
        assert len(written) < _MAX_ROW_BYTES, f"a row of {len(written)} bytes on {what}"
        assert ScorerOutcome.model_validate_json(written) == outcome, (
            f"another outcome once written, on {what}"
        )


def _scores_equal_evidence_equally(bench: Bench) -> None:
    for what, score in bench.outcomes():
        assert score() == score(), f"two outcomes for the same evidence on {what}"


def _never_gates_when_advisory_only(bench: Bench) -> None:
    for what, score in bench.outcomes() if bench.scorer.advisory_only else ():
        assert score().verdict is Verdict.NA, f"an advisory-only scorer concluded something on {what}"


def _explains_a_failure(bench: Bench) -> None:
    for what, score in bench.outcomes():
        outcome = score()
        if outcome.verdict is Verdict.FAIL:
            assert outcome.findings, f"a FAIL without a finding on {what}: {outcome.reason}"


CHECKS: tuple[ScorerCheck, ...] = tuple(
    ScorerCheck(run.__name__.lstrip("_"), run)
    for run in (
        _says_what_it_is,
        _has_documentation,
        _documents_every_field,
        _refuses_unknown_fields,
        _keeps_its_config,
        _asks_for_evidence,
        _bears_hostile_evidence,
        _can_be_written_down,
        _scores_equal_evidence_equally,
        _never_gates_when_advisory_only,
        _explains_a_failure,
    )
)
"""Every check."""
