"""Looks that say something only beside what runs show."""

from __future__ import annotations

import pytest

from adjudge.scorers.integrity.no_runtime_tricks import NoRuntimeTricks
from adjudge.syntax.productcode.outline import outline_product
from adjudge.testing.attempts import Attempt

pytestmark = pytest.mark.anyone

CALLERS, PROCESS, EQUAL = "looks-at-callers", "looks-at-process", "compares-its-way"
LOOKS = [
    ("a.py", "import inspect\ndef hint():\n    return inspect.stack()[1].frame\n", CALLERS),
    ("a.py", "import sys\ndef f():\n    return sys._getframe(1).f_code.co_name\n", CALLERS),
    ("a.py", "import os\ndef f():\n    return [v for k, v in os.environ.items() if k]\n", PROCESS),
    ("a.py", "import sys\ndef f():\n    return 'x' in sys.modules\n", PROCESS),
    ("a.py", "class Text(str):\n    def __eq__(self, other):\n        return self.x(other)\n", EQUAL),
    ("a.py", "import sys\nQUIET = 'x' in sys.argv[0]\nif __name__ == '__main__':\n    pass\n", PROCESS),
    ("a.js", "if (require.main !== module) known = true;\n", PROCESS),
    ("a.js", "function f() { return new Error().stack; }\n", CALLERS),
    ("a.js", "const lists = () => Object.values(require.cache);\n", PROCESS),
    ("a.go", "package a\nfunc f() { runtime.Caller(1) }\n", CALLERS),
    (
        "a.go",
        "package a\nfunc profile() []int {\n\tat := runtime.CallersFrames(pcs[:runtime.Callers(2, pcs)])\n"
        "\treturn known[at]\n}\n",
        "looks-at-callers",
    ),
]
HONEST = [
    ("a.py", "import warnings\ndef f():\n    warnings.warn('x', stacklevel=2)\n"),
    ("a.py", "import sys\ndef warn_caller():\n    return sys._getframe(1)\n"),
    ("a.py", "import os\ndef f():\n    return os.environ.get('HOME')\n"),
    ("a.py", "class Point:\n    def __eq__(self, other):\n        return self.x == other.x\n"),
    ("a.py", "import sys\ndef f(argv):\n    pass\nif __name__ == '__main__':\n    f(sys.argv[1:])\n"),
    ("a.py", "import sys\ndef main(argv=None):\n    return run(argv or sys.argv[1:])\n"),
    ("a.js", "function f(argv) {}\nif (require.main === module) f(process.argv.slice(2));\n"),
    (
        "a.mjs",
        "if (process.argv[1] === fileURLToPath(import.meta.url)) {\n  start(process.argv.slice(2));\n}\n",
    ),
    ("cli.py", "import sys\ndef main():\n    return sys.argv[1:]\n"),
    ("a.js", "function logError(e) { console.error(e.stack) }\n"),
]


@pytest.mark.parametrize(("path", "text", "rule"), LOOKS)
def test_looks(path: str, text: str, rule: str) -> None:
    outline = outline_product(path, text.encode())
    assert outline is not None
    assert rule in {look.rule for look in outline.looks}


@pytest.mark.parametrize(("path", "text"), HONEST)
def test_what_is_no_look(path: str, text: str) -> None:
    outline = outline_product(path, text.encode())
    assert outline is not None
    assert not outline.looks


def test_a_look_is_told_and_fails_nothing() -> None:
    path, text, _ = LOOKS[0]
    outcome = Attempt({}, {path: text}).score(NoRuntimeTricks, {})
    assert outcome.verdict == "PASS"
    assert outcome.details["looks"] == ["a.py:3 looks who calls it: inspect.stack()"]
