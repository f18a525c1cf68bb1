"""`adjudge trace`, and `adjudge grade` with a trace and a response, as a user would run them."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import adjudge
from adjudge.cli.main import main
from adjudge.errors import UsageError
from adjudge.records.score import Verdict

pytestmark = pytest.mark.anyone

SAMPLES = Path(__file__).parents[2] / "unit" / "formats" / "traces" / "samples"
CLAUDE = SAMPLES / "claude-code-stream.jsonl"

SCENARIO = """\
name: traced
instruction: Do it.
limits: {limits}
scorers:
  - name: small
    type: max_files_changed
    limit: 5
  - name: work
    type: trace
    require_tools: [{{kind: edit}}]
  - name: spend
    type: efficiency
    target_tokens: 10000
"""


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in ("before", "after"):
        (tmp_path / name).mkdir()
    (tmp_path / "after" / "a").write_text("x")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def grade(place: Path, limits: str = "{}", **more: object) -> adjudge.Evaluation:
    (place / "s.yaml").write_text(SCENARIO.format(limits=limits))
    evaluation: adjudge.Evaluation = adjudge.grade("s.yaml", workspace="after", baseline="before", **more)  # type: ignore[arg-type]  # one call for all arguments
    return evaluation


def test_traces_are_advisory_and_limits_are_checked(place: Path) -> None:
    evaluation = grade(place, "{tokens: 100}", trace=CLAUDE)
    assert [(row.verdict, row.required) for row in evaluation.scorers] == [
        (Verdict.PASS, True),
        (Verdict.FAIL, False),
        (Verdict.PASS, False),
    ]
    assert evaluation.gates.objective.verdict is Verdict.PASS
    assert (evaluation.gates.run.verdict, evaluation.gates.run.reason) == (
        Verdict.FAIL,
        "used 8435 tokens, limit 100, by the trace",
    )


def test_without_a_trace_nothing_is_concluded_from_one(place: Path) -> None:
    evaluation = grade(place, "{tokens: 100}")
    assert [row.verdict for row in evaluation.scorers] == [Verdict.PASS, Verdict.NA, Verdict.NA]
    assert evaluation.gates.run.reason == "workspace given, no agent ran"


def test_a_trace_that_is_none_fails_what_reads_it_and_only_that(place: Path) -> None:
    (place / "t.json").write_text('{"schema_version": "ATIF-v1.7", "steps": []}')
    evaluation = grade(place, "{tokens: 100}", trace="t.json")
    assert [row.verdict for row in evaluation.scorers] == [Verdict.PASS, Verdict.FAIL, Verdict.FAIL]
    assert evaluation.scorers[1].reason == "atif trajectory: agent: missing"
    assert evaluation.gates.run.verdict is Verdict.NA
    assert "atif trajectory: agent: missing" in evaluation.gates.run.reason


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ({"trace": "nowhere"}, "trace nowhere is not a file"),
        ({"trace": "after"}, "trace after is not a file"),
        ({"trace": ""}, "an empty trace was given"),
        ({"trace": "after/a", "trace_format": "claud"}, "no trace format is called 'claud'"),
        ({"trace_format": "codex"}, "a format of a trace was given, but no trace"),
        ({"response": "nowhere"}, "response nowhere is not a file"),
    ],
)
def test_what_cannot_be_asked_for(place: Path, more: dict[str, str], message: str) -> None:
    with pytest.raises(UsageError) as caught:
        grade(place, **more)
    assert message in caught.value.message


def test_the_options_of_grade(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    grade(place)
    (place / "said").write_text("done")
    code = main(
        [
            *("grade", "s.yaml", "--workspace", "after", "--baseline", "before", "--json"),
            *("--trace", str(CLAUDE), "--trace-format", "claude-code", "--response", "said"),
        ]
    )
    assert code == 0
    document = json.loads(capsys.readouterr().out)
    assert document["scorers"][2]["details"]["metrics"]["tokens"]["actual"] == 8435


def run(*arguments: str, stdin: bytes = b"") -> tuple[int, str, str]:
    done = subprocess.run(
        [sys.executable, "-m", "adjudge", "trace", *arguments], input=stdin, capture_output=True, check=False
    )
    return done.returncode, done.stdout.decode(), done.stderr.decode()


def test_a_timeline_with_totals() -> None:
    code, out, _ = run(str(CLAUDE), "--limit", "4")
    assert code == 0
    lines = out.splitlines()
    assert lines[3].endswith('call        Read (read) {"file_path":"/workspace/a.py"}')
    assert "16 more" in lines[4]
    assert "cost        $0.0421" in lines


def test_from_stdin_to_another_form_and_back() -> None:
    code, out, _ = run("-", "--to", "atif", stdin=CLAUDE.read_bytes())
    assert code == 0
    assert json.loads(out)["schema_version"] == "ATIF-v1.7"
    code, again, _ = run("-", "--json", stdin=out.encode())
    assert code == 0
    summary = json.loads(again)
    assert (summary["format"], summary["tool_calls"], summary["denied"]) == ("atif", 4, 1)
    assert summary["tokens"]["total"] == 8435


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["nowhere"], 2, "trace nowhere is not a file"),
        ([str(CLAUDE), "--format", "codx"], 2, "did you mean codex?"),
        ([str(CLAUDE), "--json", "--to", "atif"], 2, "exclude each other"),
        ([sys.executable], 3, "not a trace in a known format"),
    ],
)
def test_what_trace_refuses(
    arguments: list[str], code: int, message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["trace", *arguments]) == code
    assert message in capsys.readouterr().err


MEMORY = """
import re, sys
from adjudge.formats.traces.recorded import trace_file
summary = trace_file(sys.argv[1]).summary()
peak_kb = re.search(r"VmHWM:\\s+(\\d+) kB", open("/proc/self/status").read())[1]
print(int(peak_kb) // 1024, summary.format, summary.tool_calls)
"""
"""Not `ru_maxrss`, which begins with what the process had that started this one."""


def _lines(stream: io.BufferedWriter) -> None:
    text = "x" * 100_000
    block = json.dumps({"type": "tool_use", "id": "t", "name": "Bash", "input": {"command": text}})
    line = f'{{"type":"assistant","parent_tool_use_id":null,"message":{{"content":[{block}]}}}}\n'.encode()
    for _ in range(1000):
        stream.write(line)
    stream.write(b'{"broken":"' + b"y" * 50_000_000 + b"\n")


def _document(stream: io.BufferedWriter) -> None:
    stream.write(b'{"schema_version":"ATIF-v1.7","agent":{"name":"a","version":"1"},"steps":[')
    for number in range(1, 1001):
        call = {"tool_call_id": "c", "function_name": "bash", "arguments": {"x": "y" * 100_000}}
        step = {"step_id": number, "source": "agent", "message": "", "tool_calls": [call]}
        stream.write((b"," if number > 1 else b"") + json.dumps(step).encode())
    stream.write(b"]}")


@pytest.mark.parametrize(("make", "format_"), [(_lines, "claude-code"), (_document, "atif")])
def test_a_large_trace_takes_little_memory(tmp_path: Path, make: object, format_: str) -> None:
    """100 MB and more, read with less than that. What a reader of nothing takes is some 50 MB."""
    file = tmp_path / "trace"
    with file.open("wb") as stream:
        assert callable(make)
        make(stream)
    assert os.path.getsize(file) > 100_000_000
    done = subprocess.run([sys.executable, "-c", MEMORY, file], capture_output=True, text=True, check=True)
    peak_mb, format, calls = done.stdout.split()
    assert (format, calls) == (format_, "1000")
    assert int(peak_mb) < 200, done.stdout
