"""Attackers that have read adjudge's source, and what still gets through."""

from __future__ import annotations

import importlib.util
import marshal
import textwrap

import pytest
from tests.e2e.trusted_tests.attacks import FORGE
from tests.e2e.trusted_tests.project import EXPECTED, HONEST, LAZY, TESTS, grade

from adjudge.records.evidence import TestCommand
from adjudge.records.testreport import TestOutcome

pytestmark = pytest.mark.bwrap

COIN = (
    LAZY
    + FORGE
    + textwrap.dedent(
        """
        import hashlib
        # All that differs between the sessions is the text of the tests: a coin of its own for each.
        def coin(id_):
            text = source.encode() + id_.partition("[")[0].encode() + SALT
            return "passed" if hashlib.sha256(text).digest()[0] & 1 else "failed"
        forge(coin)
        os._exit(1)
        """
    )
)


def test_guessing_gains_nothing() -> None:
    """Per test and session a fair coin: right as often as exactly wrong, and never right for long."""
    credited = 0
    noticed = 0
    for salt in range(4):
        run = grade({"shop.py": f"SALT = b'{salt}'\n{COIN}"}, seed=f"seed {salt}")
        credited += run.credited
        rules = {finding.rule for finding in run.findings}
        noticed += bool(rules & {"passes-when-falsified", "passes-only-when-falsified", "unstable-test"})
    assert noticed == 4
    assert credited <= 4, "of 36"


def test_passing_everything_in_one_session_only_gains_nothing() -> None:
    """Right for half of the tests, exactly wrong for the other half: more sessions follow, and disagree."""
    whole = COIN.replace('id_.partition("[")[0].encode()', "b''")
    credited = [grade({"shop.py": f"SALT = b'{salt}'\n{whole}"}, seed="x").credited for salt in range(3)]
    assert max(credited) <= 1


def test_ids_do_not_tell_what_was_falsified() -> None:
    """Compares each id with the values behind it, and lets pass what agrees."""
    attack = textwrap.dedent(
        """
        import _pytest.python
        run = _pytest.python.Function.runtest
        def runtest(self):
            spec = getattr(self, "callspec", None)
            if spec is None:
                return run(self)
            if "-".join(str(v) for v in spec.params.values()) != spec.id:
                raise AssertionError("falsified")
        _pytest.python.Function.runtest = runtest
        """
    )
    run = grade({"shop.py": LAZY + attack})
    assert run.credited == 0


def test_planted_byte_code_is_not_read() -> None:
    """Byte code that never checks its source, where the interpreter would look for it."""
    code = compile(TESTS.replace("assert ", "0 and "), "tests/test_shop.py", "exec")
    unchecked = importlib.util.MAGIC_NUMBER + (1).to_bytes(4, "little") + bytes(8) + marshal.dumps(code)
    tag = importlib.util.cache_from_source("test_shop.py").rpartition("test_shop.")[2]
    run = grade({"shop.py": HONEST, f"tests/__pycache__/test_shop.{tag}": unchecked})
    assert run.credited == len(EXPECTED)
    run = grade({"shop.py": LAZY, f"tests/__pycache__/test_shop.{tag}": unchecked})
    assert run.credited == 0
    assert run.findings == ()


def test_nothing_in_the_process_says_what_is_expected_or_falsified() -> None:
    """Everything reachable from the launcher is searched for the two."""
    spy = textwrap.dedent(
        """
        import gc, os
        texts = [open("/proc/self/cmdline").read(), str(dict(os.environ))]
        for thing in gc.get_objects():
            if type(thing) in (dict, list, tuple, set):
                parts = [*thing, *thing.values()] if type(thing) is dict else list(thing)
                texts += [part for part in parts if type(part) is str]
        needles = ["deesterces"[::-1], "]021-02-001["[::-1]]
        print("SPY", [needle for needle in needles if any(needle in text for text in texts)])
        """
    )
    command = TestCommand(args=("tests", "-s"))
    run = grade({"shop.py": HONEST + spy}, command=command, seed="secretseed")
    said = [line.partition("SPY")[2] for line in run.sessions[0].result.stdout.text.splitlines()]
    assert "".join(said).strip() == "[]"


MEMORISED = (
    LAZY
    + textwrap.dedent(
        '''
        import ast
        import _pytest.python, _pytest.unittest
        KNOWN = """TESTS"""
        def shapes(text):
            found = {}
            for node in ast.walk(ast.parse(text)):
                if isinstance(node, ast.FunctionDef):
                    rows = [ast.unparse(d.args[1]) for d in node.decorator_list if isinstance(d, ast.Call)]
                    found[node.name] = ast.unparse(ast.Module(node.body, [])) + "".join(rows)
            return found
        known, now = shapes(KNOWN), shapes(open("tests/test_shop.py").read())
        def runtest(self):
            name = self.name.partition("[")[0]
            if known[name] != now[name]:
                raise AssertionError("falsified")
        _pytest.python.Function.runtest = runtest
        _pytest.unittest.TestCaseFunction.runtest = runtest
        '''
    )
).replace("TESTS", TESTS.replace("\\", "\\\\").replace('"""', ""))


def test_known_gap_tests_the_agent_could_read_can_be_told_from_falsified_ones() -> None:
    """Listed in docs/concepts/trusted-tests.md. Hidden tests are what closes it."""
    run = grade({"shop.py": MEMORISED})
    assert run.credited == len(EXPECTED)


def test_known_gap_unproven_tests_can_be_forged() -> None:
    """A test that asserts nothing passes whatever the code does; it counts, and says so."""
    smoke = "import shop\n\n\ndef test_smoke():\n    shop.with_tax(1, 2)\n"
    run = grade({"shop.py": LAZY}, tests={"tests/test_smoke.py": smoke}, expected=None)
    assert run.passed == run.unproven == 1
    assert run.tests[0].outcome is TestOutcome.PASSED
