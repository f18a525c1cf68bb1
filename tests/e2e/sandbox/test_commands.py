"""`adjudge sandbox exec` and `adjudge doctor`, as a user runs them."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.bwrap

EATER = "import time; data = b'x' * (1 << 28); time.sleep(30)"


def adjudge(*arguments: str, stdin: str = "") -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "adjudge", *arguments],
        input=stdin,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


def test_output_goes_through_and_the_rest_is_told_beside_it(workspace: Path) -> None:
    script = "cat README; echo oops >&2; echo 2 >> README; rm src/module.py; echo new > new.txt"
    done = adjudge("sandbox", "exec", "--workspace", str(workspace), "--", "sh", "-c", script)
    assert done.returncode == 0, done.stderr
    assert done.stdout == "read me\n"
    for line in ("oops", "exit 0", "M README  (+1 -0)", "D src/module.py", "A new.txt", "network: none"):
        assert line in done.stderr
    assert "sandbox: bubblewrap, chosen automatically" in done.stderr
    assert (workspace / "README").read_text() == "read me\n"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--", "sh", "-c", "exit 3"], "exit 3"),
        (["--", "nowhere"], "exit 127"),
        (["--timeout", "0.3", "--", "sleep", "60"], "timed out: ran longer than 0.3 s"),
        (["--memory", "64M", "--", "python3", "-c", EATER], "out of memory: used "),
        (["--output", "1K", "--", "yes"], "output limit: wrote more than 1.0 KiB"),
        (
            ["--disk", "4M", "--", "sh", "-c", "head -c 30000000 /dev/zero > big; sleep 30"],
            "disk limit: added",
        ),
        (["--processes", "8", "--", "sh", "-c", "while :; do sleep 30 & done"], "process limit: "),
    ],
)
def test_a_command_that_fails_or_is_ended_is_exit_1(arguments: list[str], said: str) -> None:
    done = adjudge("sandbox", "exec", *arguments)
    assert (done.returncode, said in done.stderr) == (1, True), done.stderr


def test_a_document_is_all_there_is_on_stdout(workspace: Path) -> None:
    done = adjudge(
        "sandbox", "exec", "--json", "--env", "WHO=me", "--workspace", str(workspace), "--",
        "sh", "-c", "echo $WHO; echo x > src/y",
    )  # fmt: skip
    document = json.loads(done.stdout)
    assert document["schema"] == "adjudge.sandbox-exec/1"
    assert document["result"]["ended"] == "exited"
    assert document["result"]["stdout"]["head"] == "me\n"
    assert document["sandbox"]["backend"] == "bubblewrap"
    assert [change["path"] for change in document["changes"]["changes"]] == ["src/y"]
    assert "me\n" in done.stderr


def test_exposed_paths_and_stdin(workspace: Path, hostile_tmp: Path) -> None:
    out = hostile_tmp / "out"
    out.mkdir()
    done = adjudge(
        "sandbox", "exec", "--stdin", "--expose", f"{workspace}:/data", "--expose", f"{out}:/out:rw", "--",
        "sh", "-c", "cat /data/README; cat > /out/copy; echo x > /data/README", stdin="typed",
    )  # fmt: skip
    assert done.returncode == 1
    assert done.stdout == "read me\n"
    assert (out / "copy").read_text() == "typed"
    assert (workspace / "README").read_text() == "read me\n"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--workspace", "/nowhere/at/all", "--", "true"], "is not a directory"),
        (["--memory", "much", "--", "true"], "is not a size"),
        (["--env", "NOVALUE", "--", "true"], "expected NAME=VALUE"),
        (["--expose", "/a:/b:maybe", "--", "true"], "expected PATH[:INSIDE[:rw]]"),
        (["--expose", "/nowhere/at/all", "--", "true"], "does not exist"),
        (["--sandbox", "bublewrap", "--", "true"], "did you mean bubblewrap?"),
        ([], "Missing argument"),
    ],
)
def test_bad_input_is_a_message_and_exit_2(arguments: list[str], said: str) -> None:
    done = adjudge("sandbox", "exec", *arguments)
    assert done.returncode == 2, done.stderr
    assert said in done.stderr
    assert "Traceback" not in done.stderr


def test_without_isolation_it_says_so(workspace: Path) -> None:
    done = adjudge(
        "sandbox", "exec", "--sandbox", "process", "--workspace", str(workspace), "--", "cat", "README"
    )
    assert (done.returncode, done.stdout) == (0, "read me\n"), done.stderr
    assert "note: " in done.stderr


def test_the_doctor_finds_a_sandbox_and_tells_what_holds() -> None:
    done = adjudge("doctor")
    assert done.returncode == 0, done.stderr
    assert "bubblewrap: works: bwrap " in done.stdout
    assert done.stdout.endswith("--sandbox auto takes bubblewrap\n")
    document = json.loads(adjudge("doctor", "--json").stdout)
    assert document["automatic"] == "bubblewrap"
    facts = next(one["facts"] for one in document["sandboxes"] if one["backend"] == "bubblewrap")
    assert {"kernel", "user namespaces", "bwrap", "workspace", "cgroups", "memory limit"} <= facts.keys()
