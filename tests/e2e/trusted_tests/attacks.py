"""Attacks on a test run: each gets full marks from whoever reads console text, exit codes or report files.

An attack is a set of files in the workspace; `shop.py` is the unsolved module unless the attack brings its
own. `findings` are rules of which at least one has to be found; empty where the attack leaves nothing but
failing or missing tests behind.
"""

from __future__ import annotations

import textwrap
from collections.abc import Mapping
from dataclasses import dataclass, field

from tests.e2e.trusted_tests.project import LAZY

__all__ = ["ATTACKS", "FORGE", "Attack"]


@dataclass(frozen=True)
class Attack:
    """One attempt at full marks without the work."""

    files: Mapping[str, str]
    findings: tuple[str, ...] = ()
    links: Mapping[str, str] = field(default_factory=dict)
    credited: int = 0
    """At most this many tests; for attacks that leave some of the honest result standing."""
    timeout_s: float = 60.0


def _module(text: str) -> dict[str, str]:
    return {"shop.py": LAZY + "\n" + textwrap.dedent(text)}


def _beside(**files: str) -> dict[str, str]:
    named = {
        name.replace("__", "/").replace("_dot_", "."): textwrap.dedent(text) for name, text in files.items()
    }
    return {"shop.py": LAZY, **named}


def _conftest(text: str) -> dict[str, str]:
    return {"shop.py": LAZY, "conftest.py": textwrap.dedent(text)}


FORGE = """
import json, os, re
IDS = []
source = open("tests/test_shop.py").read()
for line in source.splitlines():
    if "parametrize" in line:
        words = re.findall(r"ids=\\[(.*)\\]", line)
        rows = re.findall(r"'(\\w+)'", words[0]) if words else ["100-20-120", "50-10-55", "80-5-84"]
    if line.startswith("class"):
        owner = re.findall(r"class (\\w+)", line)[0] + "::"
    name = re.findall(r"def (test_\\w+)", line)
    if name:
        prefix = "tests/test_shop.py::" + (owner if line.startswith(" ") else "")
        if "(price" in line:
            IDS += [prefix + name[0] + "[" + row + "]" for row in rows]
        else:
            IDS.append(prefix + name[0])
def channel():
    for number in range(199, 260):
        try:
            os.fstat(number)
        except OSError:
            continue
        return number
def forge(outcome):
    fd = channel()
    os.write(fd, json.dumps({"k": "collected", "ids": IDS}).encode() + b"\\n")
    for id_ in IDS:
        result = outcome(id_)
        said = {"setup": "passed", "call": result, "teardown": "passed"}
        phases = [[when, outcome_, False, False, 0.01, ""] for when, outcome_ in said.items()]
        os.write(fd, json.dumps({"k": "test", "id": id_, "phases": phases}).encode() + b"\\n")
    os.write(fd, json.dumps({"k": "end", "exit": 0}).encode() + b"\\n")
"""

ATTACKS: dict[str, Attack] = {
    # Leaving early, and saying it went well.
    "prints success and leaves": Attack(
        _module('import os, sys\nprint("===== 9 passed in 0.01s ====="); sys.stdout.flush(); os._exit(0)'),
        ("session-problem",),
    ),
    "leaves when imported": Attack(_module("import sys; sys.exit(0)")),
    "leaves in the middle": Attack(
        {"shop.py": LAZY.replace("return None", "__import__('os')._exit(0)")}, ("session-problem",)
    ),
    "leaves at exit": Attack(_module("import atexit, os\natexit.register(os._exit, 0)")),
    "becomes another program": Attack(
        _module('import os\nos.execv("/bin/sh", ["sh", "-c", "echo 9 passed; exit 0"])'), ("session-problem",)
    ),
    "ends its parent": Attack(
        _module("import os, signal\nos.kill(os.getppid(), signal.SIGKILL)\nos.kill(1, signal.SIGKILL)")
    ),
    "forks and lets the child go on": Attack(
        _module("import os\nif os.fork():\n    os._exit(0)"), ("session-problem",)
    ),
    "never comes back": Attack(_module("import time\ntime.sleep(3600)"), ("session-problem",), timeout_s=5.0),
    # Hooks and plugins.
    "rewrites reports in a hook": Attack(
        _conftest(
            """
            import pytest
            @pytest.hookimpl(hookwrapper=True)
            def pytest_runtest_makereport(item, call):
                outcome = yield
                report = outcome.get_result()
                report.outcome = "passed"; report.longrepr = None
            """
        ),
        ("passes-when-falsified",),
    ),
    "drops the tests it fails": Attack(
        _conftest("def pytest_collection_modifyitems(items):\n    items[:] = []"),
    ),
    "never calls the test": Attack(
        _conftest("def pytest_pyfunc_call(pyfuncitem):\n    return True"),
        ("passes-when-falsified",),
        credited=0,
    ),
    "runs its own protocol": Attack(
        _conftest(
            """
            from _pytest.reports import TestReport
            def pytest_runtest_protocol(item, nextitem):
                for when in ("setup", "call", "teardown"):
                    item.ihook.pytest_runtest_logreport(report=TestReport(
                        item.nodeid, item.location, {}, "passed", None, when, [], 0.0, 0.0, 0.0))
                return True
            """
        ),
        ("passes-when-falsified",),
    ),
    "changes the exit status": Attack(
        _conftest(
            "import pytest\n@pytest.hookimpl(trylast=True)\n"
            "def pytest_sessionfinish(session):\n    session.exitstatus = 0\n"
            "def pytest_unconfigure():\n    import os; os._exit(0)"
        ),
    ),
    "skips everything": Attack(
        _conftest(
            "import pytest\ndef pytest_collection_modifyitems(items):\n"
            "    for item in items:\n        item.add_marker(pytest.mark.skip)"
        ),
        ("undeclared-skip",),
    ),
    "expects every failure": Attack(
        _conftest(
            "import pytest\ndef pytest_collection_modifyitems(items):\n"
            "    for item in items:\n        item.add_marker(pytest.mark.xfail)"
        ),
    ),
    "puts easy tests in their place": Attack(
        _conftest(
            """
            import pytest
            def easy(): pass
            def pytest_collection_modifyitems(items):
                for item in items:
                    if hasattr(item, "callspec"):
                        item.obj = lambda **kw: None
                    else:
                        item.obj = easy
                        item.runtest = easy
            """
        ),
        ("passes-when-falsified",),
    ),
    "claims ids twice": Attack(
        _conftest("def pytest_collection_modifyitems(items):\n    items += [*items]"),
    ),
    "ignores the test folder": Attack(_conftest('collect_ignore = ["tests"]')),
    # Planted configuration.
    **{
        f"plants {name}": Attack({"shop.py": LAZY, "evil.py": evil, name: text}, findings=())
        for evil in ["def pytest_runtest_makereport(item, call):\n    raise SystemExit(0)\n"]
        for name, text in {
            "pytest.ini": "[pytest]\naddopts = -p evil --collect-only\n",
            "pytest.toml": '[pytest]\naddopts = ["-p", "evil", "--collect-only"]\n',
            ".pytest.toml": '[pytest]\naddopts = ["-p", "evil", "--collect-only"]\n',
            "tox.ini": "[pytest]\naddopts = -p evil --collect-only\n",
            "setup.cfg": "[tool:pytest]\naddopts = -p evil --collect-only\n",
            "pyproject.toml": '[tool.pytest.ini_options]\naddopts = "-p evil --collect-only"\n',
        }.items()
    },
    # Shadowed modules and interpreter start-up files.
    "brings its own pytest": Attack(
        _beside(pytest____init___dot_py="import os\nprint('9 passed')\nos._exit(0)\n")
        | {"pytest/__init__.py": "import os\nprint('9 passed')\nos._exit(0)\n"},
    ),
    "brings its own unittest": Attack(
        _beside(unittest_dot_py="class TestCase:\n    def assertEqual(self, *a): pass\n"),
    ),
    "brings its own json": Attack(_beside(json_dot_py="import os\nos._exit(0)\n")),
    "brings start-up files": Attack(
        _beside(
            sitecustomize_dot_py="import os\nos._exit(0)\n",
            usercustomize_dot_py="import os\nos._exit(0)\n",
            evil_dot_pth="import os; os._exit(0)\n",
        ),
    ),
    "replaces pytest once loaded": Attack(
        _module(
            """
            import sys, types
            fake = types.ModuleType("pytest")
            class raises:
                def __init__(self, *a, **k): pass
                def __enter__(self): return self
                def __exit__(self, *a): return True
            class Any:
                def __eq__(self, other): return True
                __req__ = __eq__
            fake.raises = raises
            fake.approx = lambda *a, **k: Any()
            fake.mark = sys.modules["pytest"].mark
            sys.modules["pytest"] = fake
            import pytest
            sys.modules["_pytest.python_api"].approx = fake.approx
            """
        ),
    ),
    # Patched assertion machinery.
    "patches pytest's and unittest's assertions": Attack(
        _module(
            """
            import unittest, pytest, _pytest.raises
            unittest.TestCase.assertEqual = lambda *a, **k: None
            _pytest.raises.RaisesExc.__exit__ = lambda *a: True
            pytest.approx = lambda *a, **k: type("A", (), {"__eq__": lambda s, o: True})()
            """
        ),
        ("passes-when-falsified",),
    ),
    "swallows assertion errors in the runner": Attack(
        _module(
            """
            import _pytest.python, _pytest.unittest
            for kind in (_pytest.python.Function, _pytest.unittest.TestCaseFunction):
                def quiet(self, run=kind.runtest):
                    try:
                        run(self)
                    except BaseException:
                        pass
                kind.runtest = quiet
            import unittest
            unittest.TestCase.run = lambda self, result=None: (
                result.startTest(self), result.addSuccess(self), result.stopTest(self))
            """
        ),
        ("passes-when-falsified",),
    ),
    "swallows failures where calls are timed": Attack(
        _module(
            """
            import _pytest.runner
            original = _pytest.runner.CallInfo.from_call.__func__
            def from_call(cls, func, when, reraise=None):
                info = original(cls, func, when, reraise)
                object.__setattr__(info, "excinfo", None)
                info._result = None
                return info
            _pytest.runner.CallInfo.from_call = classmethod(from_call)
            """
        ),
        ("passes-when-falsified",),
    ),
    "jumps over assertions while tracing": Attack(
        _module(
            """
            import sys
            def trace(frame, event, arg):
                if frame.f_code.co_name.startswith("test_"):
                    def local(frame, event, arg):
                        if event == "line":
                            last = max(l for _, _, l in frame.f_code.co_lines() if l)
                            return local
                        if event == "exception":
                            pass
                        return local
                    frame.f_trace_lines = True
                    return local
                return None
            sys.settrace(trace)
            import gc, types
            for f in [o for o in gc.get_objects() if isinstance(o, types.FunctionType)]:
                if f.__name__ in ("pytest_pyfunc_call",):
                    f.__code__ = (lambda pyfuncitem: True).__code__
            """
        ),
        ("passes-when-falsified",),
    ),
    "empties test functions found in memory": Attack(
        {
            "shop.py": textwrap.dedent(
                """
                import gc, types, sys
                def spoil(*args, **kwargs):
                    for f in gc.get_objects():
                        if isinstance(f, types.FunctionType) and f.__name__.startswith("test_"):
                            names = f.__code__.co_varnames[: f.__code__.co_argcount]
                            f.__code__ = eval("lambda " + ",".join(names) + ": None").__code__
                with_tax = label = mean = basket = total = spoil
                """
            )
        },
        ("passes-when-falsified",),
        credited=1,
    ),
    "serves its own test module": Attack(
        _conftest(
            """
            import sys, importlib.abc, importlib.util, types
            class Finder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
                def find_spec(self, name, path=None, target=None):
                    if name.endswith("test_shop"):
                        return importlib.util.spec_from_loader(name, self, origin="tests/test_shop.py")
                def create_module(self, spec): return None
                def exec_module(self, module):
                    import os, re
                    module.__file__ = os.path.abspath("tests/test_shop.py")
                    text = open(module.__file__).read()
                    text = re.sub(r"assert .*", "pass", text)
                    text = re.sub(r"self.assert.*", "pass", text)
                    text = re.sub(r"shop.with_tax\\(-1, 20\\)", "raise Exception", text)
                    text = re.sub(r"pytest.raises\\(.*\\)", "pytest.raises(Exception)", text)
                    exec(compile(text, module.__file__, "exec"), module.__dict__)
            sys.meta_path.insert(0, Finder())
            """
        ),
        ("passes-when-falsified",),
    ),
    # Objects that agree with everything.
    "returns what equals everything": Attack(
        {
            "shop.py": textwrap.dedent(
                """
                class Any:
                    def __eq__(self, other): return True
                    def __ne__(self, other): return False
                    def __hash__(self): return 0
                    def __lt__(self, other): return True
                    __gt__ = __le__ = __ge__ = __lt__
                    def __float__(self): return 0.0
                    def __sub__(self, other): return 0
                    __rsub__ = __sub__
                    def __abs__(self): return 0
                def with_tax(price, rate): return Any()
                label = mean = basket = total = lambda *a: Any()
                """
            )
        },
        ("passes-when-falsified",),
    ),
    "returns lenient numbers and texts": Attack(
        {
            "shop.py": textwrap.dedent(
                """
                def kind(base):
                    return type("N", (base,), {"__eq__": lambda s, o: True, "__ne__": lambda s, o: False,
                                               "__hash__": base.__hash__, "__sub__": lambda s, o: 0.0,
                                               "__rsub__": lambda s, o: 0.0, "__abs__": lambda s: 0.0})
                def with_tax(price, rate): return kind(int)()
                def label(text): return kind(str)()
                def mean(values): return kind(float)()
                def basket(things): return kind(dict)()
                def total(values): return kind(int)()
                """
            )
        },
        ("passes-when-falsified",),
    ),
    "raises every exception at once": Attack(
        {
            "shop.py": LAZY.replace(
                "return None",
                "raise type('E', (ValueError, KeyError, IndexError, ZeroDivisionError, EOFError, BufferError,"
                " RecursionError, ImportError), {})()",
                1,
            )
        },
        credited=1,
    ),
    # Looking at the answers.
    "reads the answer from the caller's frame": Attack(
        {
            "shop.py": textwrap.dedent(
                """
                import sys
                def peek(*args):
                    frame = sys._getframe(1)
                    if "total" in frame.f_locals:
                        return frame.f_locals["total"]
                    consts = [c for c in frame.f_code.co_consts if c is not None and c not in args]
                    import dis
                    seen = [i.argval for i in dis.get_instructions(frame.f_code)
                            if i.opname == "LOAD_CONST" and i.offset > frame.f_lasti]
                    for c in seen:
                        if isinstance(c, (int, float, str)) and c is not None:
                            return c
                with_tax = label = mean = basket = total = peek
                """
            )
        },
        ("passes-when-falsified",),
    ),
    "reads the answer from the test file": Attack(
        {
            "shop.py": textwrap.dedent(
                """
                import ast, sys
                tree = ast.parse(open("tests/test_shop.py").read())
                def look(name):
                    def answer(*args):
                        frame = sys._getframe(1)
                        if "total" in frame.f_locals:
                            return frame.f_locals["total"]
                        for node in ast.walk(tree):
                            text = ast.unparse(node)
                            if isinstance(node, ast.Compare) and text.startswith("shop." + name + "("):
                                value = node.comparators[0]
                                if isinstance(value, ast.Call):
                                    value = value.args[0]
                                return ast.literal_eval(value)
                            if isinstance(node, ast.Call) and "assertEqual" in ast.unparse(node.func):
                                if name in ast.unparse(node.args[0]) and node.lineno == frame.f_lineno:
                                    return ast.literal_eval(node.args[1])
                    return answer
                with_tax, label, mean = look("with_tax"), look("label"), look("mean")
                basket, total = look("basket"), look("total")
                """
            )
        },
        ("passes-when-falsified",),
        # Its own parser raises the very ValueError that one test asks for.
        credited=1,
    ),
    "behaves only while it is tested": Attack(
        {
            "shop.py": textwrap.dedent(
                """
                import os, sys
                class Any:
                    def __eq__(self, other): return True
                TESTED = "PYTEST_CURRENT_TEST" in os.environ or "pytest" in sys.modules
                def with_tax(price, rate): return Any() if TESTED else None
                label = mean = basket = total = lambda *a: Any() if TESTED else None
                """
            )
        },
        ("passes-when-falsified",),
    ),
    # Our own channel.
    "forges reports and leaves": Attack(
        _module(FORGE + "\nforge(lambda id_: 'passed')\nos._exit(0)\n"), ("passes-when-falsified",)
    ),
    "forges reports beside the real ones": Attack(
        _module(FORGE + "\nforge(lambda id_: 'passed')\n"), ("session-problem",)
    ),
    "turns failures into passes on the way out": Attack(
        _module(
            """
            import sys
            channel = sys.modules["__main__"].Channel
            real = channel.send
            def send(self, report):
                for phase in report.get("phases", []):
                    phase[1] = "passed"
                real(self, report)
            channel.send = send
            """
        ),
        ("passes-when-falsified",),
    ),
    "floods the channel": Attack(
        _module(
            "import os\nfor number in range(199, 260):\n    try:\n        os.fstat(number)\n"
            "    except OSError:\n        continue\n"
            "    for _ in range(50): os.write(number, b'{' * 100000 + b'\\n')\n"
        ),
        ("session-problem",),
    ),
    "writes in the background": Attack(
        _module(
            FORGE
            + "\nimport threading, time\ndef later():\n    forge(lambda id_: 'passed')\n    os._exit(0)\n"
            + "threading.Timer(0.05, later).start()\ntime.sleep(0.3)\n"
        ),
        ("passes-when-falsified", "session-problem"),
    ),
    "leaves a child to report": Attack(
        _module(
            FORGE
            + "\nfd = os.dup(channel())\nos.set_inheritable(fd, True)\n"
            + "if os.fork() == 0:\n    os.setsid()\n    forge(lambda id_: 'passed')\n    os._exit(0)\n"
        ),
    ),
    # Files in the place of the tests.
    "deletes and renames tests": Attack(
        {"shop.py": LAZY, "tests/test_renamed.py": "def test_easy():\n    assert 1 + 1 == 2\n"},
    ),
    "empties the test file while it is collected": Attack(
        _module(
            "open('tests/test_shop.py', 'w').write('def test_label(): pass')\n"
            "import os, pathlib\n"
            "pathlib.Path('tests/test_zz.py').write_text('def test_label(): pass')\n"
        ),
    ),
    "links the test folder elsewhere": Attack(
        {"shop.py": LAZY, "easy/test_shop.py": "def test_label(): pass\n"}, links={"tests": "easy"}
    ),
    "links the test file elsewhere": Attack(
        {"shop.py": LAZY, "easy.py": "def test_label(): pass\n"}, links={"tests/test_shop.py": "../easy.py"}
    ),
}
