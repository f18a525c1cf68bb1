"""What a verifier finds around it, and what it does not."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from adjudge.errors import SandboxError
from adjudge.records.evaluation import Evaluation

pytestmark = pytest.mark.bwrap

Verify = Callable[..., Evaluation]
REWARD = "echo '{\"reward\": 1}' > /logs/verifier/reward.json"


def details(evaluation: Evaluation) -> dict[str, str]:
    assert evaluation.breakdown is not None, evaluation.scorers[0]
    return {key: str(value) for key, value in evaluation.breakdown.items()}


def _way_to_the_interpreter() -> list[str]:
    """What a sandbox has to show below its temporary folder, which stands for /var/tmp as well."""
    home = Path(sys.prefix)
    return [home.relative_to("/var/tmp").parts[0]] if home.is_relative_to("/var/tmp") else []


def test_paths_user_and_environment(verify: Verify, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GRADER_KEY", "hunter2-hunter2")
    monkeypatch.setenv("NOT_ASKED_FOR", "hunter3-hunter3")
    evaluation = verify(
        f"""{REWARD}
python3 - <<'END'
import json, os, socket
def tried(work):
    try:
        return str(work())
    except OSError as error:
        return type(error).__name__
found = {{
    "cwd": os.getcwd(), "uid": os.getuid(), "home": sorted(os.listdir(os.environ["HOME"])),
    "tmp": os.listdir("/tmp"), "logs": sorted(os.listdir("/logs")),
    "key": os.environ.get("KEY"), "plain": os.environ.get("PLAIN"), "fallback": os.environ.get("FALLBACK"),
    "other": os.environ.get("NOT_ASKED_FOR", "unset"), "app": os.listdir("/app"),
    "same": os.path.samefile("/app", "/workspace"),
    "tests": tried(lambda: open("/tests/more", "w")),
    "network": tried(lambda: socket.create_connection(("1.1.1.1", 53), 1)),
}}
json.dump(found, open("/logs/verifier/details.json", "w"))
END
echo "$KEY" >&2""",
        fields=(
            "    workdir: /app\n    env: {KEY: '${GRADER_KEY}', PLAIN: a b, FALLBACK: '${UNSET_HERE:-c}'}\n"
        ),
        attempt={"file": "x"},
    )
    found = details(evaluation)
    assert found == {
        **found,
        "cwd": "/app",
        "uid": "1000",
        "home": "[]",
        "tmp": str(_way_to_the_interpreter()),
        "logs": "['agent', 'artifacts', 'verifier']",
        "plain": "a b",
        "fallback": "c",
        "other": "unset",
        "app": "['file']",
        "same": "True",
    }
    assert found["tests"] in ("OSError", "PermissionError")
    assert found["network"].endswith("Error")
    # The value was there, and is in no document.
    assert "hunter2" not in evaluation.to_json()
    assert "redacted" in found["key"]


def test_a_variable_that_is_not_set_is_our_failure(verify: Verify) -> None:
    evaluation = verify(REWARD, fields="    env: {KEY: '${NOT_SET_ANYWHERE}'}\n")
    row = evaluation.scorers[0]
    assert (row.verdict, evaluation.reward) == ("ERROR", None)
    assert "NOT_SET_ANYWHERE" in row.reason
    assert not evaluation.validity.verifier_completed


def test_candidate_gives_back_what_a_command_does(verify: Verify) -> None:
    evaluation = verify(
        f"""{REWARD}
python3 - <<'END'
import json, subprocess
def run(*command, input=b"", **more):
    done = subprocess.run(["candidate", *command], input=input, capture_output=True, **more)
    return [done.returncode, done.stdout.decode(), done.stderr.decode()]
found = {{
    "echo": run("sh", "-c", "cat; echo err >&2; exit 3", input=b"in\\n"),
    "large": len(run("sh", "-c", "cat; cat /dev/zero | head -c 300000", input=b"x" * 200000)[1]),
    "signal": run("sh", "-c", "kill -11 $$")[0],
    "missing": run("no-such-program")[0],
    "none": run()[0],
    "state": [run("sh", "-c", "echo 1 > made")[0], run("cat", "made")[1]],
    "here": run("ls")[1],
    "blind": run("sh", "-c", "ls /tests /logs /opt/adjudge; env")[1:],
    "cwd": run("pwd", cwd="/tmp")[1],
}}
json.dump(found, open("/logs/verifier/details.json", "w"))
END
[ ! -e /workspace/made ] || rm /logs/verifier/reward.json""",
        fields="    env: {SECRET: s3cret}\n",
        attempt={"file": "x"},
    )
    found = json.loads(evaluation.to_json())["breakdown"]
    assert found["echo"] == [3, "in\n", "err\n"]
    assert found["large"] == 500000
    assert (found["signal"], found["missing"], found["none"]) == (139, 127, 2)
    assert found["state"] == [0, "1\n"]
    assert found["here"] == "file\nmade\n"
    assert found["blind"][1].count("No such file") == 3
    assert "SECRET" not in found["blind"][0]
    assert found["cwd"] == "/workspace\n"
    assert evaluation.reward == 1.0
    assert evaluation.scorers[0].details["reward_channel"] == "separate from candidate code"


def test_a_command_that_the_verifier_gives_up_on_is_ended(verify: Verify) -> None:
    script = f"timeout 1 candidate sleep 500; candidate echo next | grep -q next && {REWARD}"
    assert verify(script).reward == 1.0


def test_a_broken_sibling_is_our_failure(verify: Verify, monkeypatch: pytest.MonkeyPatch) -> None:
    desk = "adjudge.evidence.verifier.candidate.CandidateDesk._started"

    async def fail(self: object) -> None:
        raise SandboxError("the sibling died")

    monkeypatch.setattr(desk, fail)
    evaluation = verify(f"candidate true; {REWARD}")
    assert (evaluation.scorers[0].verdict, evaluation.reward) == ("ERROR", None)
    assert "the sibling died" in evaluation.scorers[0].reason


def test_nonsense_on_the_socket_is_answered(verify: Verify) -> None:
    evaluation = verify(
        f"""python3 - <<'END'
import json, socket, struct
def say(data, last=True):
    with socket.socket(socket.AF_UNIX) as s:
        s.connect("/opt/adjudge/bin/socket")
        s.sendall(data)
        if last:
            s.shutdown(socket.SHUT_WR)
        answer = b""
        while more := s.recv(4096):
            answer += more
        return answer[-3:] == b"126"
def header(value):
    data = json.dumps(value).encode()
    return struct.pack(">I", len(data)) + data + struct.pack(">I", 0)
found = [
    say(b"\\xff" * 8), say(b"\\0\\0\\0\\2[]"), say(header({{}})), say(header({{"argv": [], "cwd": "/"}})),
    say(header({{"argv": [1], "cwd": "/"}})), say(header({{"argv": ["a\\udc80"], "cwd": "/"}})),
    say(header({{"argv": ["a\\0b"], "cwd": "/"}}), last=False), not say(b""),
]
json.dump({{"found": found}}, open("/logs/verifier/details.json", "w"))
END
candidate true && {REWARD}"""
    )
    assert evaluation.breakdown == {"found": [True] * 8}
    assert evaluation.reward == 1.0


def test_git_starts_no_program_that_the_attempt_configured(verify: Verify, tmp_path: Path) -> None:
    after = tmp_path / "after"
    after.mkdir()
    subprocess.run(
        ["git", "init", "-q", str(after)], check=True, env={**os.environ, "GIT_CONFIG_GLOBAL": os.devnull}
    )
    forge = "#!/bin/sh\necho '{\"reward\": 1}' > /logs/verifier/reward.json\n"
    for name in ("fsmonitor", "pre-commit", "pager"):
        program = after / ".git" / name
        program.write_text(forge)
        program.chmod(0o755)
    with (after / ".git/config").open("a") as file:
        file.write("[core]\n\tfsmonitor = .git/fsmonitor\n\thooksPath = .git\n\tpager = .git/pager\n")
    evaluation = verify(
        """echo '{"reward": 0}' > /logs/verifier/reward.json
git status --short > /logs/verifier/status
git -c user.name=v -c user.email=v@example.invalid commit -q --allow-empty -m x
git --paginate log -1 --format=%s > /logs/verifier/subject
cat > /tmp/details.py <<'END'
import json
print(json.dumps({name: open("/logs/verifier/" + name).read() for name in ("status", "subject")}))
END
python3 /tmp/details.py > /logs/verifier/details.json""",
        attempt={"file": "x"},
    )
    assert evaluation.reward == 0.0
    assert details(evaluation) == {"status": "?? file\n", "subject": "x\n"}
