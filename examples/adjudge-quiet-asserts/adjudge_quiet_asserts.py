"""An attack that switches Python's assertions off, as a package of its own."""

from __future__ import annotations

from typing import ClassVar

from adjudge.records.attack import AttackPlan, AttackTarget, WriteStep

__all__ = ["QuietAsserts"]


class QuietAsserts:
    """Tells pytest to leave assertions plain, and Python to leave them out."""

    name: ClassVar[str] = "quiet-asserts"
    family: ClassVar[str] = "edited_harness"
    technique: ClassVar[str] = "PYTHONOPTIMIZE set from conftest.py"
    languages: ClassVar[tuple[str, ...]] = ("python",)

    def plan(self, target: AttackTarget) -> AttackPlan | str:
        """A `conftest.py` that starts pytest once more, without assertions."""
        if target.runner != "pytest":
            return "the tests do not run under pytest"
        if "conftest.py" in target.files:
            return "there is a conftest.py already"
        text = (
            "import os\nimport sys\n\n"
            'if "PYTHONOPTIMIZE" not in os.environ:\n'
            '    environment = {**os.environ, "PYTHONOPTIMIZE": "1"}\n'
            "    os.execve(sys.executable, [sys.executable, '-m', 'pytest', '--assert=plain'], environment)\n"
        )
        return AttackPlan(
            steps=(WriteStep(write="conftest.py", text=text),),
            how="an optimising Python compiles no assertion, so none of them fails",
        )
