"""`adjudge seed` on real sandboxes: what it makes, what it keeps, and what it leaves behind when it fails."""

from __future__ import annotations

import io
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tarfile
import time
from pathlib import Path
from typing import Any

import pytest

from adjudge.cli.main import main
from adjudge.tasks.seeds import find_seed
from adjudge.tasks.trees import read_entries

RECIPE = "instruction: Go.\nscorers: [{type: forbid_paths, patterns: [secret*]}]\n"
GIT = {
    "PATH": os.environ["PATH"], "HOME": "/nonexistent",
    "GIT_CONFIG_NOSYSTEM": "1", "GIT_CONFIG_GLOBAL": "/dev/null",
    "GIT_AUTHOR_NAME": "a", "GIT_AUTHOR_EMAIL": "a@b",
    "GIT_COMMITTER_NAME": "a", "GIT_COMMITTER_EMAIL": "a@b",
}  # fmt: skip


def git(folder: Path, *arguments: str) -> str:
    done = subprocess.run(
        ["git", "-c", f"safe.directory={folder}", *arguments],
        cwd=folder,
        env=GIT,
        capture_output=True,
        check=True,
    )
    return done.stdout.decode("utf-8", "surrogateescape").strip()


class Bench:
    """A scenario with a folder to seed from, a state directory and a place for workspaces."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.state = root / "state"
        self.scenario = root / "scenario"
        self.place = root / "places" / "work"
        (self.scenario / "project").mkdir(parents=True)
        (self.scenario / "project" / "a.txt").write_text("alpha\n")

    def write(self, more: str) -> None:
        (self.scenario / "adjudge.yaml").write_text(RECIPE + more)

    def seed(self, *options: str) -> int:
        return main(["seed", str(self.scenario), str(self.place), *options])

    def document(self, capsys: pytest.CaptureFixture[str]) -> Any:
        assert self.seed("--json") == 0
        return json.loads(capsys.readouterr().out)

    def baseline(self) -> dict[str, int]:
        seed = find_seed(self.place, self.state)
        assert seed is not None
        return {entry.path: entry.mode for entry in read_entries(seed.baseline)}

    def assert_nothing_left(self) -> None:
        assert not self.place.exists()
        assert not self.place.parent.exists() or list(self.place.parent.iterdir()) == []
        for part in ("baselines", "seeds"):
            assert not (self.state / part).exists() or list((self.state / part).iterdir()) == []


@pytest.fixture
def bench(hostile_tmp: Path, monkeypatch: pytest.MonkeyPatch) -> Bench:
    monkeypatch.setenv("ADJUDGE_HOME", str(hostile_tmp / "state"))
    monkeypatch.delenv("ADJUDGE_SANDBOX", raising=False)
    return Bench(hostile_tmp)


FOLDER = "workspace: {source: directory, path: project}\n"


def test_a_workspace_without_setup(bench: Bench, capsys: pytest.CaptureFixture[str]) -> None:
    bench.write(FOLDER)
    document = bench.document(capsys)
    assert document["schema"] == "adjudge.seed/1"
    assert document["workspace"] == str(bench.place)
    assert document["sandbox"] is None
    assert document["baseline_digest"].startswith("sha256:")
    assert (bench.place / "a.txt").read_text() == "alpha\n"
    assert git(bench.place, "status", "--porcelain") == ""
    seed = find_seed(bench.place, bench.state)
    assert seed is not None
    assert seed.record.task_digest == document["task"]["digest"]
    assert str(seed.baseline) == document["baseline"]
    assert not seed.baseline.is_relative_to(bench.place)


def test_what_people_are_told(bench: Bench, capsys: pytest.CaptureFixture[str]) -> None:
    bench.write(FOLDER)
    assert bench.seed() == 0
    shown = dict(line.split(maxsplit=1) for line in capsys.readouterr().out.splitlines())
    seed = find_seed(bench.place, bench.state)
    assert seed is not None
    assert shown["task"] == f"scenario {seed.record.task_digest}"
    assert shown["baseline"] == seed.record.baseline_digest
    prefix = seed.record.task_digest.removeprefix("sha256:")[:12]
    assert shown["next"] == f"adjudge grade {prefix} --workspace {bench.place}"


def test_seeding_again_from_the_digest_gives_the_same(
    bench: Bench, capsys: pytest.CaptureFixture[str]
) -> None:
    bench.write(FOLDER)
    first = bench.document(capsys)
    (bench.scenario / "project" / "a.txt").write_text("edited later\n")
    again = bench.place.with_name("again")
    assert main(["seed", first["task"]["digest"][7:19], str(again), "--json"]) == 0
    second = json.loads(capsys.readouterr().out)
    assert (again / "a.txt").read_text() == "alpha\n"
    assert {key: second[key] for key in ("task_digest", "baseline_digest", "commit")} == (
        {key: first[key] for key in ("task_digest", "baseline_digest", "commit")}
    )


@pytest.mark.bwrap
def test_only_what_setup_leaves_in_the_workspace_survives(
    bench: Bench, capsys: pytest.CaptureFixture[str]
) -> None:
    (bench.scenario / "project" / "old").mkdir()
    (bench.scenario / "project" / "old" / "b").write_text("beta\n")
    bench.write(
        FOLDER + "setup: |\n"
        "  set -e\n"
        "  mkdir -p build/deep empty && echo made > build/deep/x\n"
        "  chmod 700 build && chmod +x build/deep/x\n"
        "  mv old new && rm a.txt && ln -s /etc/passwd link && printf x > \"$(printf 'caf\\351')\"\n"
        "  echo '*.log' > .gitignore && echo noise > noise.log\n"
        "  mkfifo fifo\n"
        "  echo lost > /tmp/lost && echo lost > ~/lost\n"
    )  # fmt: skip
    document = bench.document(capsys)
    odd = os.fsdecode(b"caf\xe9")
    assert bench.baseline() == {
        ".gitignore": 0o100644, "build/deep/x": 0o100755, odd: 0o100644, "empty": 0o040000, "link": 0o120000,
        "new/b": 0o100644, "noise.log": 0o100644,
    }  # fmt: skip
    assert {entry.path for entry in read_entries(bench.place) if not entry.path.startswith(".git/")} == (
        set(bench.baseline())
    )
    assert document["notes"] == ["fifo was left out: it is neither a file, a folder nor a symlink"]
    assert document["sandbox"]["backend"] == "bubblewrap"
    assert git(bench.place, "status", "--porcelain") == ""
    assert set(git(bench.place, "ls-files", "-z").strip("\0").split("\0")) == set(bench.baseline()) - {
        "noise.log", "empty",
    }  # fmt: skip
    owners = {path.lstat().st_uid for path in bench.place.rglob("*")}
    assert owners == {os.getuid()}


@pytest.mark.bwrap
def test_setup_may_replace_the_git_folder_and_gains_nothing(
    bench: Bench, capsys: pytest.CaptureFixture[str]
) -> None:
    bench.write(
        FOLDER + "setup: mkdir -p .git/hooks sub/.git && echo x > .git/config && echo y > sub/.git/config\n"
    )
    bench.document(capsys)
    assert set(bench.baseline()) == {"a.txt", "sub/.git/config"}
    assert git(bench.place, "log", "--format=%s") == "Baseline"


@pytest.mark.bwrap
@pytest.mark.parametrize(
    ("setup", "said"),
    [
        (
            "setup: echo on stdout; echo on stderr >&2; exit 3\n",
            "setup failed: exit 3\n  | on stdout\n  | on stderr\n",
        ),
        ("setup: {command: sleep 60, timeout_s: 1}\n", "setup failed: timed out after 1 s"),
        ("setup: kill -9 $$\n", "setup failed: ended by signal 9"),
    ],
)
def test_a_failing_setup_is_an_error_and_leaves_nothing(
    bench: Bench, capsys: pytest.CaptureFixture[str], setup: str, said: str
) -> None:
    bench.write(FOLDER + setup)
    assert bench.seed() == 2
    assert said in capsys.readouterr().err
    bench.assert_nothing_left()


@pytest.mark.bwrap
def test_setup_sees_neither_the_machine_nor_a_network(
    bench: Bench, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("A_SECRET", "leaks")
    bench.write(
        f"{FOLDER}sandbox: {{env: {{GREETING: hello}}}}\n"
        "setup: |\n"
        f"  test ! -e {bench.state} && test ! -e {bench.scenario} || exit 1\n"
        "  env > env.txt; cat /proc/net/dev > net.txt; pwd > pwd.txt\n"
    )
    bench.document(capsys)
    env = (bench.place / "env.txt").read_text()
    assert "GREETING=hello" in env
    assert "A_SECRET" not in env
    devices = [line.split(":")[0].strip() for line in (bench.place / "net.txt").read_text().splitlines()[2:]]
    assert set(devices) <= {"lo"}
    assert (bench.place / "pwd.txt").read_text() == "/workspace\n"


def test_history_beyond_the_seeded_ref_is_not_reachable(
    bench: Bench, capsys: pytest.CaptureFixture[str]
) -> None:
    repo = bench.scenario / "repo"
    repo.mkdir()
    git(repo, "init", "-q", "-b", "main")
    (repo / "f").write_text("past\n")
    git(repo, "add", "-A")
    git(repo, "commit", "-q", "-m", "past")
    (repo / "f").write_text("present\n")
    git(repo, "commit", "-q", "-am", "present")
    present = git(repo, "rev-parse", "HEAD")
    (repo / "f").write_text("the fix\n")
    git(repo, "commit", "-q", "-am", "future")
    git(repo, "tag", "fixed")
    git(repo, "branch", "fix")
    git(repo, "remote", "add", "origin", "https://example.org/x.git")
    every = set(git(repo, "rev-list", "--all", "--objects", "--no-object-names").split())
    bench.write(f"workspace: {{source: git, path: repo, ref: {present}}}\n")
    document = bench.document(capsys)
    work = bench.place
    assert (work / "f").read_text() == "present\n"
    assert git(work, "rev-list", "--all", "--reflog") == document["commit"]
    assert git(work, "rev-list", "--count", "--all") == "1"
    assert git(work, "for-each-ref", "--format=%(refname)") == "refs/heads/main"
    assert git(work, "symbolic-ref", "HEAD") == "refs/heads/main"
    assert git(work, "tag") == git(work, "remote") == git(work, "stash", "list") == git(work, "reflog") == ""
    assert git(work, "fsck", "--unreachable", "--no-reflogs") == ""
    held = {
        path.parent.name + path.name
        for path in (work / ".git" / "objects").rglob("*")
        if path.is_file() and len(path.parent.name) == 2
    }
    shared = set(git(repo, "rev-list", present, "--objects", "--no-object-names", "-n", "1").split())
    assert held & every <= shared - {present}
    assert not list((work / ".git" / "objects").rglob("*.pack"))
    assert not (work / ".git" / "logs").exists()
    assert git(work, "config", "gc.auto") == "0"
    for trace in ("the fix", "example.org", str(repo)):
        done = subprocess.run(["grep", "-ra", trace, str(work)], capture_output=True, check=False)
        assert done.stdout == b""


def test_an_archive(bench: Bench, capsys: pytest.CaptureFixture[str]) -> None:
    with tarfile.open(bench.scenario / "project.tgz", "w:gz") as archive:
        for name in ("project-1.0/src/a.py", "project-1.0/README", "project-1.0/.git/HEAD"):
            info = tarfile.TarInfo(name)
            info.size = 2
            archive.addfile(info, io.BytesIO(b"x\n"))
    bench.write("workspace: {source: archive, path: project.tgz, subdir: project-1.0}\n")
    document = bench.document(capsys)
    assert bench.baseline() == {"README": 0o100644, "src/a.py": 0o100644}
    assert document["notes"] == ["1 entries below .git were left out"]


def test_an_empty_workspace(bench: Bench, capsys: pytest.CaptureFixture[str]) -> None:
    bench.write("workspace: {source: empty}\n")
    bench.document(capsys)
    assert bench.baseline() == {}
    assert [path.name for path in bench.place.iterdir()] == [".git"]


def test_what_is_there_is_not_touched(bench: Bench, capsys: pytest.CaptureFixture[str]) -> None:
    bench.write(FOLDER)
    bench.place.mkdir(parents=True)
    (bench.place / "mine").write_text("x")
    assert bench.seed() == 2
    assert "is not empty" in capsys.readouterr().err
    assert [path.name for path in bench.place.iterdir()] == ["mine"]
    (bench.place / "mine").unlink()
    assert bench.seed() == 0
    assert main(["seed", str(bench.scenario), str(bench.scenario / "adjudge.yaml")]) == 2
    assert main(["seed", str(bench.scenario), str(bench.state / "here")]) == 2
    assert "where trusted baselines are kept" in capsys.readouterr().err


def test_a_recipe_alone_cannot_be_seeded(bench: Bench, capsys: pytest.CaptureFixture[str]) -> None:
    bench.write("")
    assert bench.seed() == 2
    assert "says nothing about a workspace" in capsys.readouterr().err
    bench.assert_nothing_left()


def test_a_damaged_copy_is_noticed(bench: Bench, capsys: pytest.CaptureFixture[str]) -> None:
    bench.write(FOLDER)
    document = bench.document(capsys)
    (Path(document["task"]["directory"]) / "source" / "a.txt").write_text("tampered\n")
    again = bench.place.with_name("again")
    assert main(["seed", document["task"]["digest"], str(again)]) == 3
    assert "is not the tree that was frozen" in capsys.readouterr().err
    assert not again.exists()


def test_a_workspace_is_found_by_its_real_path(bench: Bench, capsys: pytest.CaptureFixture[str]) -> None:
    bench.write(FOLDER)
    bench.document(capsys)
    alias = bench.root / "alias"
    alias.symlink_to(bench.place)
    assert find_seed(alias, bench.state) == find_seed(bench.place, bench.state) is not None
    assert find_seed(bench.scenario, bench.state) is None


@pytest.mark.bwrap
def test_an_interrupt_leaves_nothing(bench: Bench) -> None:
    bench.write(FOLDER + "setup: echo started > mark; sleep 120\n")
    process = subprocess.Popen(
        [sys.executable, "-m", "adjudge", "seed", str(bench.scenario), str(bench.place)],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip
    deadline = time.monotonic() + 60
    while not list(bench.state.glob("tasks/*/task.json")):
        assert time.monotonic() < deadline
        time.sleep(0.05)
    time.sleep(1.0)
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=60)
    assert process.returncode == 130, said
    bench.assert_nothing_left()


def test_grading_uses_the_recorded_baseline(bench: Bench, capsys: pytest.CaptureFixture[str]) -> None:
    bench.write(FOLDER)
    document = bench.document(capsys)
    (bench.place / "secret.txt").write_text("x")
    git(bench.place, "add", "-A")
    git(bench.place, "commit", "-q", "--amend", "-m", "Baseline")
    for task in (document["task"]["digest"], str(bench.scenario)):
        assert main(["grade", task, "--workspace", str(bench.place), "--json"]) == 1
        evaluation = json.loads(capsys.readouterr().out)
        assert evaluation["task"]["digest"] == document["task"]["digest"]
        assert evaluation["provenance"]["baseline"]["origin"] == "task"
        assert evaluation["scorers"][0]["findings"][0]["path"] == "secret.txt"


@pytest.mark.bwrap
@pytest.mark.skipif(
    shutil.which("pasta") is None and shutil.which("slirp4netns") is None, reason="needs pasta or slirp4netns"
)
@pytest.mark.skipif(
    not os.access("/dev/net/tun", os.R_OK | os.W_OK), reason="/dev/net/tun is closed to this user"
)
def test_setup_with_a_network_has_one_of_its_own(bench: Bench, capsys: pytest.CaptureFixture[str]) -> None:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen()
        port = listener.getsockname()[1]
        reach = f"import socket; socket.create_connection(('127.0.0.1', {port}), 5)"
        bench.write(
            f"{FOLDER}setup:\n"
            "  network: true\n"
            "  command: |\n"
            "    cat /proc/net/route > route.txt\n"
            f'    if python3 -c "{reach}"; then echo reached; else echo refused; fi > loopback.txt\n'
        )
        document = bench.document(capsys)
    assert document["sandbox"]["network"] == "egress"
    assert len((bench.place / "route.txt").read_text().splitlines()) > 1
    assert (bench.place / "loopback.txt").read_text() == "refused\n"


def test_setup_without_isolation_when_asked_for(bench: Bench, capsys: pytest.CaptureFixture[str]) -> None:
    bench.write(FOLDER + "setup: mv a.txt b.txt && mkdir -p deep/er && echo x > deep/er/c\n")
    assert bench.seed("--sandbox", "process", "--json") == 0
    document = json.loads(capsys.readouterr().out)
    assert document["sandbox"]["isolated"] is False
    assert set(bench.baseline()) == {"b.txt", "deep/er/c"}
    assert (bench.scenario / "project" / "a.txt").exists()


def test_an_unknown_sandbox_is_refused(bench: Bench, capsys: pytest.CaptureFixture[str]) -> None:
    bench.write(FOLDER + "setup: make\n")
    assert bench.seed("--sandbox", "bublewrap") == 2
    assert "did you mean bubblewrap?" in capsys.readouterr().err
    bench.assert_nothing_left()
