"""One attempt on a real sandbox: what an agent does is captured, what we fail at is said to be ours."""

from __future__ import annotations

import asyncio
import errno
from pathlib import Path
from typing import Any, ClassVar, cast

import pytest
from tests.e2e.agents.attempting import Arena, changed

from adjudge.capture.changes import capture_changes
from adjudge.errors import (
    ConfigInvalid,
    PluginNotFound,
    RunFault,
    SandboxUnavailable,
    StoreError,
    UsageError,
)
from adjudge.gates.run import run_gate
from adjudge.records.run import AgentStatus
from adjudge.records.sandbox import Network, SandboxSpec
from adjudge.records.task import RunLimits
from adjudge.workflows.agents import agent_ref
from adjudge.workflows.attempt import Attempted, AttemptOrder, run_attempt
from adjudge.workflows.storedchanges import restore_baseline, restore_workspace

pytestmark = pytest.mark.bwrap

PATCH = "--- a/a.txt\n+++ b/a.txt\n@@ -1 +1 @@\n-one\n+uno\n"


@pytest.fixture(scope="module")
def arena(tmp_path_factory: pytest.TempPathFactory) -> Arena:
    return Arena(tmp_path_factory.mktemp("arena"), "limits: {wall_s: 120}\n")


def shell(script: str) -> dict[str, object]:
    return {"argv": ["sh", "-c", script]}


def test_nothing_done_is_nothing_changed(arena: Arena) -> None:
    made = arena.attempt("noop")
    assert changed(made) == {}
    assert made.attempt.outcome is not None
    assert made.attempt.outcome.status is AgentStatus.COMPLETED
    assert made.attempt.baseline_digest == arena.start.baseline.ref.digest  # type: ignore[union-attr]


def test_a_program_works_on_the_workspace(arena: Arena) -> None:
    script = (
        "cat; pwd; git status --short; echo x >> a.txt; rm b.txt; mkdir new; echo y > new/z; mv dir moved"
    )
    made = arena.attempt("command", shell(script))
    outcome = made.attempt.outcome
    assert outcome is not None
    assert (outcome.status, outcome.exit_code, outcome.turns) == (AgentStatus.COMPLETED, 0, 1)
    assert outcome.response == "Do it./workspace"
    assert outcome.stdout is not None
    assert outcome.stdout.stored
    assert changed(made) == {
        "a.txt": "modified", "b.txt": "deleted", "new/z": "added", "moved/c.txt": "renamed",
    }  # fmt: skip
    assert run_gate(outcome, RunLimits()).verdict.value == "PASS"


def test_every_placeholder_is_filled(arena: Arena) -> None:
    argv = ["sh", "-c", 'cat "$1"; printf "|%s" "$@" "$KEY" "$FIXED" "$HOME_KEY"', "sh"]
    argv += ["{instruction_file}", "{workspace}", "-m={model}", "{instruction}", "{other} {}"]
    config = {"argv": argv, "credentials": ["KEY"], "env": {"FIXED": "f"}}
    environment = {"KEY": "k-1", "HOME_KEY": "not for it"}
    made = arena.attempt("command", config, model="m1", environment=environment)
    assert made.attempt.outcome is not None
    said = made.attempt.outcome.response
    assert said.startswith("Do it.|/tmp/instruction.md|/workspace|-m=m1|Do it.|{other} {}|k-1|f|")
    assert "not for it" not in said


@pytest.mark.parametrize(
    ("script", "status", "reason"),
    [
        ("echo x > new; exit 7", AgentStatus.CRASHED, "exit 7"),
        ("echo x > new; kill -SEGV $$", AgentStatus.CRASHED, "ended by signal 11"),
        ("echo x > new; head -c 4096 /dev/urandom", AgentStatus.COMPLETED, ""),
    ],
)
def test_a_bad_end_is_captured_all_the_same(
    arena: Arena, script: str, status: AgentStatus, reason: str
) -> None:
    made = arena.attempt("command", shell(script))
    assert made.attempt.outcome is not None
    assert (made.attempt.outcome.status, made.attempt.outcome.reason) == (status, reason)
    assert changed(made) == {"new": "added"}


def test_an_agent_that_does_not_stop_is_stopped(tmp_path: Path) -> None:
    arena = Arena(tmp_path, "limits: {wall_s: 1}\n")
    made = arena.attempt("command", shell("echo x > new; trap '' TERM INT; while :; do sleep 1; done"))
    assert made.attempt.outcome is not None
    assert made.attempt.outcome.status is AgentStatus.TIMED_OUT
    assert changed(made) == {"new": "added"}
    gate = run_gate(made.attempt.outcome, arena.start.task.scenario.limits)
    assert gate.verdict.value == "FAIL"
    assert "timed out" in gate.reason


def test_what_is_stored_makes_the_workspace_again(arena: Arena, tmp_path: Path) -> None:
    script = (
        "rm -r dir; echo file > dir; rm b.txt; mkdir -p b.txt/deep; echo x > b.txt/deep/y;"
        "ln -s /etc/passwd link;"
        "printf '#!/bin/sh\\n' > run; chmod +x run; mkfifo fifo; touch \"$(printf 'odd\\377\\nname')\""
    )
    made = arena.attempt("command", shell(script))
    attempt = made.attempt
    assert attempt.changes is not None
    assert attempt.baseline is not None
    assert attempt.change_set is not None
    assert attempt.changes.unreadable == ("fifo",)
    assert arena.start.baseline is not None
    assert arena.start.baseline.tree is not None
    restore_baseline(attempt.baseline, arena.blobs, tmp_path / "baseline")
    again = arena.start.baseline.tree.model_copy(update={"layers": (tmp_path / "baseline",)})
    assert (tmp_path / "baseline" / "dir" / "c.txt").read_text() == "three\n"
    tree = restore_workspace(again, attempt.changes, arena.blobs, tmp_path / "layer")
    baseline = arena.start.baseline.__class__(arena.start.baseline.ref, tree=again)
    restored = capture_changes(baseline, tree)
    wanted = [change for change in attempt.change_set.changes if change.path != "fifo"]
    assert [change.model_dump() for change in restored.changes] == [change.model_dump() for change in wanted]


def test_a_missing_credential_is_our_fault(arena: Arena) -> None:
    with pytest.raises(RunFault, match="KEY_OF_NOBODY") as caught:
        arena.attempt("command", {**shell("true"), "credentials": ["KEY_OF_NOBODY"]}, environment={})
    assert caught.value.hint is not None


def test_a_missing_program_is_our_fault(arena: Arena) -> None:
    with pytest.raises(RunFault, match="no-such-agent"):
        arena.attempt("command", {"argv": ["no-such-agent", "{instruction}"]})


def test_no_state_of_ours_is_to_be_seen(arena: Arena) -> None:
    made = arena.attempt("command", shell(f"ls {arena.state} {arena.folder}; cat {arena.file}; env"))
    assert made.attempt.outcome is not None
    assert "adjudge.yaml" not in made.attempt.outcome.response
    assert "scorers" not in made.attempt.outcome.response


class TestOracle:
    @pytest.mark.parametrize(
        ("solution", "wanted"),
        [
            ("fix.patch", {"a.txt": "modified"}),
            ("files", {"a.txt": "modified", "deep/new.txt": "added"}),
            ("solution/solve.sh", {"b.txt": "deleted", "d.txt": "added"}),
            ("plain.sh", {"a.txt": "deleted"}),
        ],
    )
    @pytest.mark.parametrize("sandbox", ["bubblewrap", "process"])
    def test_each_form_of_solution(
        self, tmp_path: Path, solution: str, wanted: dict[str, str], sandbox: str
    ) -> None:
        files = {
            "fix.patch": PATCH,
            "files/a.txt": "uno\n",
            "files/deep/new.txt": "new\n",
            "solution/solve.sh": '#!/bin/sh -e\ncat "$SOLUTION_DIR/help" > d.txt\nrm b.txt\n',
            "solution/help": "help\n",
            "plain.sh": "rm a.txt\n",
        }
        arena = Arena(tmp_path, f"solution: {solution}\n", files, sandbox)
        made = arena.attempt("oracle")
        assert made.attempt.outcome is not None
        assert made.attempt.outcome.reason == ""
        assert changed(made) == wanted

    def test_there_is_none(self, arena: Arena) -> None:
        with pytest.raises(UsageError, match="no reference solution"):
            arena.attempt("oracle")

    def test_only_the_oracle_sees_it(self, tmp_path: Path) -> None:
        arena = Arena(tmp_path, "solution: solution/solve.sh\n", {"solution/solve.sh": "true\n"})
        made = arena.attempt("command", shell("ls /solution /workspace"))
        assert made.attempt.outcome is not None
        assert "solve" not in made.attempt.outcome.response


class TestReplay:
    def test_patch_trace_and_words(self, arena: Arena, tmp_path: Path) -> None:
        (tmp_path / "small.patch").write_text(PATCH)
        (tmp_path / "trace.jsonl").write_bytes(b'{"type": "result"}\n')
        (tmp_path / "said").write_text("done\n")
        config = {name: str(tmp_path / file) for name, file in
                  (("patch", "{task}.patch"), ("trace", "trace.jsonl"), ("response", "said"))}  # fmt: skip
        made = arena.attempt("replay", config)
        outcome = made.attempt.outcome
        assert outcome is not None
        assert (outcome.status, outcome.response) == (AgentStatus.COMPLETED, "done\n")
        assert outcome.raw_trace is not None
        with arena.blobs.open(outcome.raw_trace) as kept:
            assert kept.read() == b'{"type": "result"}\n'
        assert changed(made) == {"a.txt": "modified"}

    def test_a_patch_that_does_not_apply(self, arena: Arena, tmp_path: Path) -> None:
        (tmp_path / "p").write_text(PATCH.replace("-one", "-eins"))
        made = arena.attempt("replay", {"patch": str(tmp_path / "p")})
        assert made.attempt.outcome is not None
        assert made.attempt.outcome.status is AgentStatus.GARBLED
        assert changed(made) == {}

    def test_a_file_that_is_not_there(self, arena: Arena) -> None:
        with pytest.raises(UsageError, match=r"nowhere\.patch"):
            arena.attempt("replay", {"patch": "nowhere.patch"})


def test_the_workspace_is_there_for_grading_and_gone_after(arena: Arena) -> None:
    seen: list[Path] = []

    async def inside(made: Attempted) -> None:
        assert made.subject is not None
        seen.extend(made.subject.workspace.layers)
        found = await asyncio.to_thread(made.subject.contents.read, "new", max_bytes=10)
        assert found == b"x\n"

    arena.attempt("command", shell("echo x > new"), inside=inside)
    assert not seen[-1].exists()


def test_wrong_names_and_fields() -> None:
    with pytest.raises(PluginNotFound, match="comand") as unknown:
        agent_ref("comand")
    assert "command" in (unknown.value.hint or "")
    with pytest.raises(ConfigInvalid, match="argv"):
        agent_ref("command", {"argw": ["x"]})
    with pytest.raises(ConfigInvalid, match="credentials"):
        agent_ref("command", {"argv": ["x"], "credentials": ["not a name"]})


class TestOurOwnFaults:
    def test_no_sandbox(self, arena: Arena) -> None:
        class Nowhere:
            name: ClassVar[str] = "nowhere"

            async def start(self, spec: SandboxSpec, **given: Any) -> Any:
                assert spec.network is Network.EGRESS
                raise SandboxUnavailable("nothing here connects a sandbox", hint="install passt")

        asked = AttemptOrder(
            start=arena.start,
            agent=agent_ref("command", {**shell("true"), "network": True}),
            backend=cast(Any, Nowhere()),
            blobs=arena.blobs,
        )

        async def run() -> None:
            async with run_attempt(asked):
                pass

        with pytest.raises(RunFault, match="nothing here connects") as caught:
            asyncio.run(run())
        assert caught.value.hint == "install passt"

    def test_a_full_disk(self, arena: Arena) -> None:
        class Full:
            def writer(self) -> Any:
                raise OSError(errno.ENOSPC, "No space left on device")

        async def run() -> None:
            asked = AttemptOrder(
                start=arena.start, agent=agent_ref("noop"), backend=arena.backend, blobs=cast(Any, Full())
            )
            async with run_attempt(asked):
                pass

        with pytest.raises(RunFault, match="the disk is full"):
            asyncio.run(run())

    def test_what_grading_raises_is_not_a_fault_of_the_run(self, arena: Arena) -> None:
        async def inside(_: Attempted) -> None:
            raise StoreError("grading failed")

        with pytest.raises(StoreError, match="grading failed"):
            arena.attempt("noop", inside=inside)


def test_what_is_written_outside_is_told(arena: Arena) -> None:
    made = arena.attempt("command", shell("echo 1234 > ~/kept; mkdir /tmp/there; ln -s x /tmp/there/link"))
    assert made.attempt.outside_writes is not None
    told = {write.path: (write.type, write.size_bytes) for write in made.attempt.outside_writes}
    assert told["/tmp/there/link"] == ("symlink", None)
    assert [size for path, (_, size) in told.items() if path.endswith("/kept")] == [5]


def test_credentials_are_kept_nowhere(arena: Arena) -> None:
    key = "k-" + "0123456789abcdef" * 3
    half = "?" * 25
    script = f'printf %s "${{KEY%{half}}}"; sleep 0.2; printf "%s\\n" "${{KEY#{half}}}"'
    script += '; printf %s "$KEY" >&2; echo "said $KEY"'
    made = arena.attempt("command", {**shell(script), "credentials": ["KEY"]}, environment={"KEY": key})
    outcome = made.attempt.outcome
    assert outcome is not None
    assert "said [KEY]" in outcome.response
    for ref in (outcome.stdout, outcome.stderr, outcome.trace):
        assert ref is not None
        with arena.blobs.open(ref) as kept:
            data = kept.read()
        assert key.encode() not in data
        assert b"[KEY]" in data
    assert outcome.stdout is not None
    assert outcome.stdout.text == "[KEY]\nsaid [KEY]\n"
