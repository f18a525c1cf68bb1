"""The blocks of the weighted dialect as people write them, each loaded and graded as it stands."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

import adjudge

pytestmark = pytest.mark.bwrap

BLOCKS = """
- {type: command, cmd: "pytest -q", weight: 1.0, expect_exit: 0, timeout_s: 300}

- type: files
  weight: 1.0
  expect_dir: ./graders/expected     # each file here must exist & match byte-for-byte
  patterns: ["retry", "backoff"]     # each regex must appear somewhere in the sandbox

- {type: pytest, weight: 4.0, inject: ["./hidden/test_x.py"]}

- type: tests                        # any language
  weight: 4.0
  cmd: "node --test hidden.test.js"
  inject: ["./hidden/x.test.js"]
  # junit_xml: "target/surefire-reports/TEST-*.xml"   # parse JUnit XML for counts

- {type: tests, gate: true, cmd: "...", junit_xml: "..."}   # a regression gate

- type: swebench
  weight: 4.0
  inject: [{src: hidden/test_x.py, dest: testing/test_x.py}]
  fail_to_pass: ["testing/test_x.py::test_bug"]
  pass_to_pass: ["testing/test_x.py::test_unrelated"]
  # cmd_prefix: "python3 -m pytest -q -p no:cacheprovider"

- {type: implemented, gate: true}                    # scan all *.py (excludes test_*)
- {type: implemented, gate: true, files: ["a.py"]}   # scan specific files

- type: model_judge
  weight: 1.0
  rubric: ./graders/rubric.md
  model: claude-opus-4-8       # a single judge, or a jury:
  # models: [claude-opus-4-8, claude-sonnet-4-6]
  pass_threshold: 0.7

- type: trace
  weight: 1.0
  require_tools: [{kind: write}]     # ≥1 tool_call of each listed Tool Kind
  require_no_denied: true            # no permission request ended in a deny
  # max_tool_calls: 30               # budgets on tool calls / tokens / cost

- type: efficiency
  weight: 2.0
  target_cost_usd: 0.30      # full credit at/under; ramps down above
  target_tokens: 2000
  target_tool_calls: 20
  pass_threshold: 0.8
"""

USED = {"input_tokens": 3000, "output_tokens": 1000}
CALL = {"type": "tool_use", "id": "t1", "name": "Write", "input": {"file_path": "a.py"}}
MESSAGE = {"id": "m1", "role": "assistant", "content": [CALL], "usage": USED}
TRACE = (
    {"type": "assistant", "message": MESSAGE, "session_id": "s"},
    {"type": "result", "subtype": "success", "is_error": False, "total_cost_usd": 0.05, "usage": USED},
)

FILES = {
    "trace.jsonl": "".join(json.dumps(line) + "\n" for line in TRACE),
    "scenario/graders/rubric.md": "Is the backoff explained?\n",
    "scenario/graders/expected/VERSION": "1.0\n",
    "scenario/hidden/test_x.py": (
        "from a import wait\n\n\n"
        "def test_bug():\n    assert wait(3) == 8\n\n\n"
        "def test_unrelated():\n    assert wait(0) == 1\n"
    ),
    "scenario/hidden/x.test.js": "require('node:test')('adds', () => {});\n",
    "before/a.py": "def wait(attempt):\n    return 1\n",
    "before/VERSION": "1.0\n",
    "after/a.py": 'def wait(attempt):\n    """The backoff of a retry."""\n    return 2**attempt\n',
    "after/VERSION": "1.0\n",
    "after/test_a.py": "from a import wait\n\n\ndef test_wait():\n    assert wait(1) == 2\n",
}

EXPECTED = {
    "command": 1.0,
    "files": 1.0,
    "pytest": 1.0,
    # What is injected is called otherwise than what is run.
    "tests": 0.0,
    "swebench": 1.0,
    "implemented": 1.0,
    # Left out without a credential.
    "model_judge": None,
    "trace": 1.0,
    # Twice the tokens that it should have taken, within the other two.
    "efficiency": 2.5 / 3,
}


def blocks() -> list[Any]:
    written: list[dict[str, Any]] = yaml.safe_load(BLOCKS)
    return [pytest.param(block, id=f"{at}-{block['type']}") for at, block in enumerate(written)]


@pytest.mark.parametrize("block", blocks())
def test_a_block_grades_as_it_stands(
    block: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ADJUDGE_HOME", str(tmp_path / "state"))
    monkeypatch.delenv("ANTHROPIC_API_KEY", raising=False)
    for name, text in FILES.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    # A gate adds no credit, so a recipe needs something beside it that does.
    beside = [{"type": "command", "name": "beside", "cmd": "true"}] if block.get("gate") else []
    recipe = tmp_path / "scenario" / "adjudge.yaml"
    recipe.write_text(yaml.safe_dump({"graders": [block, *beside]}))

    evaluation = adjudge.grade(
        recipe,
        workspace=tmp_path / "after",
        baseline=tmp_path / "before",
        trace=tmp_path / "trace.jsonl" if block["type"] in ("trace", "efficiency") else None,
    )

    row = evaluation.scorers[0]
    expected = EXPECTED[block["type"]]
    assert (row.type, row.score) == (block["type"], expected and pytest.approx(expected)), row.reason
    assert evaluation.score == row.score
    assert evaluation.pass_threshold == 1.0
