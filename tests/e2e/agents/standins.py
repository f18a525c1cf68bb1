"""Programs that stand in for coding agents: they take the same flags and print in the same format.

Each writes what it was told into the workspace, so that a test sees what reached it. `TALK` in their
environment makes them misbehave.
"""

from __future__ import annotations

import sys
from pathlib import Path

_COMMON = """\
import json, os, sys, time

argv = sys.argv[1:]

def option(*names):
    for name in names:
        if name in argv:
            return argv[argv.index(name) + 1]
    return None

def say(**line):
    print(json.dumps(line), flush=True)

def note(text, message):
    with open("told.txt", "a") as file:
        file.write(json.dumps({"turn": text, "message": message, "argv": argv,
                               "env": {k: v for k, v in os.environ.items() if k.endswith("_KEY")}}) + "\\n")

talk = os.environ.get("TALK", "")
if talk == "garbage":
    os.write(1, os.urandom(5000)); sys.exit(0)
if talk == "crash":
    open("half.txt", "w").write("half\\n"); print("boom", file=sys.stderr); sys.exit(9)
"""

CLAUDE = """\
assert "-p" in argv and option("--output-format") == "stream-json" and "--verbose" in argv
message = sys.stdin.read()
resumed = option("--resume")
session = resumed or "11111111-2222-4333-8444-555555555555"
note("again" if resumed else "first", message)
calls = 50 if talk == "calls" else 1
say(type="system", subtype="init", cwd=os.getcwd(), session_id=session, tools=["Bash"],
    model=option("--model"), permissionMode="bypassPermissions", apiKeySource="ANTHROPIC_API_KEY")
for number in range(calls):
    say(type="assistant", parent_tool_use_id=None, session_id=session, message={
        "id": f"msg_{session[:4]}_{number}_{bool(resumed)}", "type": "message", "role": "assistant",
        "model": option("--model") or "claude-x",
        "content": [{"type": "tool_use", "id": f"toolu_{number}", "name": "Bash",
                     "input": {"command": "ls"}}],
        "usage": {"input_tokens": 10, "cache_read_input_tokens": 5, "cache_creation_input_tokens": 2,
                  "output_tokens": 7}})
    say(type="user", parent_tool_use_id=None, session_id=session, message={"role": "user", "content": [
        {"type": "tool_result", "tool_use_id": f"toolu_{number}", "content": "a.txt"}]})
    if talk == "calls":
        time.sleep(0.05)
say(type="result", subtype="success", is_error=talk == "error", duration_ms=1200, num_turns=2,
    result="Done: " + message.strip(), session_id=session, total_cost_usd=0.02,
    usage={"input_tokens": 10, "cache_read_input_tokens": 5, "cache_creation_input_tokens": 2,
           "output_tokens": 7}, permission_denials=[])
"""

CODEX = """\
assert argv[0] == "exec" and "--json" in argv and argv[-1] == "-"
message = sys.stdin.read()
resumed = argv[argv.index("resume") + 1] if "resume" in argv else None
thread = resumed or "0199a213-81c0-7800-8aa1-bbab2a035a53"
note("again" if resumed else "first", message)
say(type="thread.started", thread_id=thread)
say(type="turn.started")
say(type="item.started", item={"id": "item_0", "type": "command_execution", "command": "bash -lc ls",
                               "aggregated_output": "", "status": "in_progress"})
say(type="item.completed", item={"id": "item_0", "type": "command_execution", "command": "bash -lc ls",
                                 "aggregated_output": "a.txt\\n", "exit_code": 0, "status": "completed"})
say(type="item.completed", item={"id": "item_1", "type": "agent_message", "text": "Done: " + message.strip()})
if talk == "error":
    say(type="turn.failed", error={"message": "no credit"})
else:
    say(type="turn.completed", usage={"input_tokens": 24, "cached_input_tokens": 4, "output_tokens": 12})
"""

GEMINI = """\
assert option("--output-format") == "stream-json" and option("--approval-mode") == "yolo"
message = sys.stdin.read()
resumed = option("--resume")
session = resumed or "5f0a-gemini"
note("again" if resumed else "first", message)
say(type="init", timestamp="2026-01-01T00:00:00Z", session_id=session, model=option("--model") or "gemini-x")
say(type="message", role="user", content=message, timestamp="2026-01-01T00:00:01Z")
say(type="tool_use", tool_name="run_shell_command", tool_id="t1", parameters={"command": "ls"},
    timestamp="2026-01-01T00:00:02Z")
say(type="tool_result", tool_id="t1", status="success", output="a.txt", timestamp="2026-01-01T00:00:03Z")
for part in ("Done: ", message.strip()):
    say(type="message", role="assistant", content=part, delta=True, timestamp="2026-01-01T00:00:04Z")
say(type="result", status="error" if talk == "error" else "success",
    error={"type": "x", "message": "no credit"} if talk == "error" else None,
    timestamp="2026-01-01T00:00:05Z",
    stats={"total_tokens": 41, "input_tokens": 25, "output_tokens": 16, "cached": 5, "duration_ms": 900,
           "tool_calls": 1})
"""

AIDER = """\
assert "--yes-always" in argv and "--no-auto-commits" in argv
message = open(option("--message-file")).read()
note("again" if "--restore-chat-history" in argv else "first", message)
print("Aider v0.86.1")
print("Model:", option("--model") or "gpt-x", "with diff edit format")
print("Git repo: .git with 3 files")
print()
print("Done:", message.strip())
print()
print("Applied edit to a.txt")
print("Tokens: 2.5k sent, 120 received. Cost: $0.01 message, $0.01 session.")
if talk == "error":
    sys.exit(1)
"""

OPENCODE = """\
assert argv[0] == "run" and option("--format") == "json"
message = sys.stdin.read()
resumed = option("--session")
session = resumed or "ses_5c1a2b"
note("again" if resumed else "first", message)
def event(kind, **part):
    say(type=kind, timestamp=1767225600000, sessionID=session, part={"sessionID": session, **part})
event("step_start", id="prt_1", type="step-start")
event("tool_use", id="prt_2", type="tool", callID="call_1", tool="bash",
      state={"status": "completed", "input": {"command": "ls"}, "output": "a.txt", "title": "ls"})
event("text", id="prt_3", type="text", text="Done: " + message.strip())
if talk == "error":
    say(type="error", timestamp=1767225600000, sessionID=session,
        error={"name": "ProviderAuthError", "data": {"message": "no credit"}})
else:
    event("step_finish", id="prt_4", type="step-finish", reason="stop", cost=0.03,
          tokens={"input": 20, "output": 9, "reasoning": 1, "cache": {"read": 4, "write": 3}})
"""

PROGRAMS = {
    "claude-code": ("claude", CLAUDE),
    "codex": ("codex", CODEX),
    "gemini": ("gemini", GEMINI),
    "aider": ("aider", AIDER),
    "opencode": ("opencode", OPENCODE),
}


def install(folder: Path) -> dict[str, str]:
    """Write every program into a folder that everybody may enter; agent → path of its program."""
    folder.mkdir(parents=True, exist_ok=True)
    folder.chmod(0o755)
    placed = {}
    for agent, (name, source) in PROGRAMS.items():
        place = folder / name
        place.write_text(f"#!{sys.executable} -I\n{_COMMON}\n{source}")
        place.chmod(0o755)
        placed[agent] = str(place)
    return placed
