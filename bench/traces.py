"""Traces, in MB/s of processor time and peak memory: lines, spans and steps of one trace of 50 MB each."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from pathlib import Path

SIZE = 50_000_000
READ = """
import re, sys, time
from adjudge.formats.traces.recorded import trace_file
began = time.process_time()
summary = trace_file(sys.argv[1]).summary()
cpu_s = time.process_time() - began
peak_kb = re.search(r"VmHWM:\\s+(\\d+) kB", open("/proc/self/status").read())[1]
print(cpu_s, int(peak_kb) // 1024, summary.events, summary.format)
"""


def claude_code_line() -> str:
    call = {"type": "tool_use", "id": "t", "name": "Bash", "input": {"command": "x" * 1000}}
    message = {"id": "m", "content": [call], "usage": {"input_tokens": 1}}
    return json.dumps({"type": "assistant", "parent_tool_use_id": None, "message": message})


def span() -> str:
    attributes = {
        "gen_ai.operation.name": {"stringValue": "chat"},
        "gen_ai.request.model": {"stringValue": "m"},
        "gen_ai.usage.input_tokens": {"intValue": "10"},
    }
    listed = [{"key": key, "value": value} for key, value in attributes.items()]
    return json.dumps({"name": "chat", "startTimeUnixNano": "1760000000000000000", "attributes": listed})


def step(number: int) -> str:
    call = {"tool_call_id": "c", "function_name": "bash", "arguments": {"command": "x" * 1000}}
    return json.dumps({"step_id": number, "source": "agent", "message": "", "tool_calls": [call]})


def write(file: Path, kind: str) -> None:
    with file.open("w") as stream:
        if kind == "lines":
            line = claude_code_line() + "\n"
            stream.writelines([line] * (SIZE // len(line)))
        elif kind == "spans":
            one = span()
            stream.write('{"resourceSpans":[{"scopeSpans":[{"spans":[')
            stream.write(",".join([one] * (SIZE // len(one))))
            stream.write("]}]}]}")
        else:
            stream.write('{"schema_version":"ATIF-v1.7","agent":{"name":"a","version":"1"},"steps":[')
            stream.write(",".join(step(number) for number in range(1, SIZE // len(step(10_000)) + 1)))
            stream.write("]}")


def run() -> None:
    for kind in ("lines", "spans", "steps"):
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "trace"
            write(file, kind)
            size = file.stat().st_size / 1e6
            done = subprocess.run(
                [sys.executable, "-c", READ, file], capture_output=True, text=True, check=True
            )
            cpu_s, peak_mb, events, format = done.stdout.split()
            rate = f"{size / float(cpu_s):6.1f} MB/s of processor time"
            print(
                f"{kind:6} ({format:11}) {size:5.1f} MB, {int(events):8,} events  {rate}, peak {peak_mb} MB"
            )
